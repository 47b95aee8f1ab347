//! What a worker or verifier is told at its start: flags and environment, read once and validated once.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;

use cantus_proto::ids::{ContainerName, HostName, NameError, RoleName};
use cantus_proto::limits::{AGENT_UID, paths};
use cantus_proto::message::{Isolation, UsageSource};

use crate::cli::{Cli, IsolationArg};
use crate::jail::Identity;

/// Variables that are ours alone: none of them reaches an agent or checker.
const OURS: &str = "CANTUS_";

/// Variables that every command gets anew.
const RENEWED: [&str; 3] = ["HOME", "TMPDIR", "HOSTNAME"];

/// Where things are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// All mirrors of the host.
    pub mirrors: PathBuf,
    /// The workspace root.
    pub work: PathBuf,
    /// Temporary files.
    pub temporary: PathBuf,
    /// Directory of `bus.sock`.
    pub sockets: PathBuf,
}

/// A text that no log shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Everything that one process needs to know.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Whose work it takes.
    pub role: RoleName,
    /// Name of the machine in the pool.
    pub host: HostName,
    /// Its own name.
    pub container: ContainerName,
    /// Image of the container; empty when there is none.
    pub image: String,
    /// How the agent is kept apart.
    pub isolation: Isolation,
    /// Where things are.
    pub places: Places,
    /// The role's user on the bus.
    pub bus_user: String,
    /// See [`Settings::bus_user`].
    pub bus_password: Secret,
    /// Where the bus is, in `process` isolation.
    pub bus_url: Option<String>,
    /// What agent and checkers get: the image's variables, then the role's.
    pub environment: BTreeMap<OsString, OsString>,
    /// argv of the adapter.
    pub command: Option<Vec<String>>,
    /// Where it is measured what the command uses of models.
    pub usage: UsageSource,
    /// The verifier's key.
    pub signing_key: Option<Secret>,
    /// This very program, to be run again as the agent's user.
    pub executable: PathBuf,
}

/// Why the settings are refused.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A variable is not there.
    #[error("{0} is not set: the pool sets it for every container")]
    Missing(&'static str),
    /// A name that is not valid.
    #[error("{variable} is not valid")]
    Name {
        /// The variable.
        variable: &'static str,
        /// Why.
        source: NameError,
    },
    /// Not the JSON that it should be.
    #[error("{variable} is not {expected}")]
    Json {
        /// The variable.
        variable: &'static str,
        /// What it should be.
        expected: &'static str,
        /// Why.
        source: serde_json::Error,
    },
    /// A word that is not known.
    #[error("{variable} is {found:?}, it must be one of {known}")]
    Word {
        /// The variable.
        variable: &'static str,
        /// What it says.
        found: String,
        /// What it may say.
        known: String,
    },
    /// Text that is not UTF-8.
    #[error("{0} is not UTF-8")]
    Encoding(&'static str),
    /// Flags that contradict each other.
    #[error("{0}")]
    Flags(&'static str),
}

impl Settings {
    /// Reads flags and environment.
    ///
    /// # Errors
    /// [`SettingsError`] names the variable or flag and what to do about it.
    pub fn read(
        cli: &Cli,
        variables: &BTreeMap<OsString, OsString>,
        executable: PathBuf,
    ) -> Result<Self, SettingsError> {
        let (isolation, places) = places(cli)?;
        let text = |name| text(variables, name);
        let required = |name| text(name)?.ok_or(SettingsError::Missing(name));
        let name = |variable| move |source| SettingsError::Name { variable, source };
        let command = text("CANTUS_COMMAND")?;
        let command = command.map(|json| parse("CANTUS_COMMAND", "a JSON array of strings", &json));
        Ok(Self {
            role: RoleName::new(required("CANTUS_ROLE")?).map_err(name("CANTUS_ROLE"))?,
            host: HostName::new(required("CANTUS_HOST")?).map_err(name("CANTUS_HOST"))?,
            container: ContainerName::new(required("CANTUS_CONTAINER")?)
                .map_err(name("CANTUS_CONTAINER"))?,
            image: text("CANTUS_IMAGE")?.unwrap_or_default(),
            bus_url: match isolation {
                Isolation::Container => None,
                Isolation::Process => Some(required("CANTUS_BUS_URL")?),
            },
            bus_user: required("CANTUS_BUS_USER")?,
            bus_password: Secret(required("CANTUS_BUS_PASSWORD")?),
            environment: environment(isolation, variables, text("CANTUS_ENVIRONMENT")?)?,
            command: command.transpose()?,
            usage: usage(text("CANTUS_USAGE")?)?,
            signing_key: text("CANTUS_SIGNING_KEY")?.map(Secret),
            isolation,
            places,
            executable,
        })
    }

    /// The user of agent and checkers; nothing when it is our own.
    #[must_use]
    pub fn agent(&self) -> Option<Identity> {
        (self.isolation == Isolation::Container)
            .then_some(Identity { uid: AGENT_UID, gid: AGENT_UID })
    }
}

fn places(cli: &Cli) -> Result<(Isolation, Places), SettingsError> {
    match (cli.isolation, &cli.root) {
        (IsolationArg::Container, None) => Ok((
            Isolation::Container,
            Places {
                mirrors: cli.mirrors.clone().unwrap_or_else(|| PathBuf::from(paths::MIRRORS)),
                work: PathBuf::from(paths::WORK),
                temporary: PathBuf::from("/tmp"),
                sockets: PathBuf::from(paths::SOCKETS),
            },
        )),
        (IsolationArg::Container, Some(_)) => Err(SettingsError::Flags(
            "--root belongs to --isolation process: add it, or leave --root out",
        )),
        (IsolationArg::Process, None) => {
            Err(SettingsError::Flags("--isolation process needs --root DIR for its workspace"))
        }
        (IsolationArg::Process, Some(root)) if !root.is_absolute() => {
            Err(SettingsError::Flags("--root must be an absolute path"))
        }
        (IsolationArg::Process, Some(root)) => Ok((
            Isolation::Process,
            Places {
                mirrors: cli.mirrors.clone().unwrap_or_else(|| root.join("mirror")),
                work: root.join("work"),
                temporary: root.join("tmp"),
                sockets: root.join("sockets"),
            },
        )),
    }
}

/// The image's variables (in a container), or just the path; then the role's own.
fn environment(
    isolation: Isolation,
    variables: &BTreeMap<OsString, OsString>,
    role: Option<String>,
) -> Result<BTreeMap<OsString, OsString>, SettingsError> {
    let passed = |name: &OsStr| match isolation {
        Isolation::Container => {
            !name.as_encoded_bytes().starts_with(OURS.as_bytes())
                && !RENEWED.iter().any(|renewed| name == *renewed)
        }
        Isolation::Process => name == "PATH",
    };
    let mut environment: BTreeMap<OsString, OsString> = variables
        .iter()
        .filter(|(name, _)| passed(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    environment
        .entry("PATH".into())
        .or_insert_with(|| "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".into());
    if isolation == Isolation::Container {
        // The agent's user is in no password file; many programs ask here first.
        for name in ["USER", "LOGNAME"] {
            environment.insert(name.into(), "agent".into());
        }
    }
    environment.insert("LANG".into(), "C.UTF-8".into());
    environment.insert("TERM".into(), "dumb".into());
    if let Some(json) = role {
        let role: BTreeMap<String, String> =
            parse("CANTUS_ENVIRONMENT", "a JSON object of strings", &json)?;
        environment.extend(role.into_iter().map(|(name, value)| (name.into(), value.into())));
    }
    Ok(environment)
}

fn usage(word: Option<String>) -> Result<UsageSource, SettingsError> {
    let Some(found) = word else { return Ok(UsageSource::default()) };
    UsageSource::ALL.into_iter().find(|source| source.as_str() == found).ok_or_else(|| {
        let known = UsageSource::ALL.map(UsageSource::as_str).join(", ");
        SettingsError::Word { variable: "CANTUS_USAGE", found, known }
    })
}

fn text(
    variables: &BTreeMap<OsString, OsString>,
    name: &'static str,
) -> Result<Option<String>, SettingsError> {
    let Some(value) = variables.get(OsStr::new(name)) else { return Ok(None) };
    let value = value.to_str().ok_or(SettingsError::Encoding(name))?;
    Ok((!value.is_empty()).then(|| value.to_owned()))
}

fn parse<T: serde::de::DeserializeOwned>(
    variable: &'static str,
    expected: &'static str,
    json: &str,
) -> Result<T, SettingsError> {
    serde_json::from_str(json).map_err(|source| SettingsError::Json { variable, expected, source })
}

#[cfg(test)]
mod tests;
