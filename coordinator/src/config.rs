//! The home of an installation: where its configuration, keys, state and sockets are.
//!
//! The configuration is one YAML file; unknown keys are refused. Keys and passwords are files that only their
//! owner can read, made once. What the core needs of it, it gets as values.

mod file;
mod prices;
mod rules;
mod secrets;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use file::{
    BusSection, Config, CoordinatorSection, Mount, RoleKindName, RoleSection, SAMPLE_AGENT,
    TEMPLATE, UsageName,
};
pub use rules::RoutingSection;
pub use secrets::Secrets;

/// Why an installation's home cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// A file or directory.
    #[error("cannot {what} {}: check its rights and the space on its disk", path.display())]
    Io {
        /// The verb.
        what: &'static str,
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Nothing was set up.
    #[error("there is no configuration at {}: make one with `cantus init`", path.display())]
    NoConfig {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The configuration is not valid.
    #[error("{}: {problem}", path.display())]
    Config {
        /// Which file.
        path: PathBuf,
        /// What is wrong, with its place.
        problem: String,
    },
    /// A key or password file is damaged.
    #[error("{} cannot be used: {problem}; restore it, or move it away and run `cantus init`", path.display())]
    Secret {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Nothing says where the home is.
    #[error("neither CANTUS_HOME, XDG_STATE_HOME nor HOME is set: name the directory with --home")]
    Nowhere,
}

/// The directory of an installation.
#[derive(Debug, Clone)]
pub struct Home {
    dir: PathBuf,
}

impl Home {
    /// The home at `dir`, or at the place that the environment names.
    ///
    /// # Errors
    /// [`HomeError::Nowhere`].
    pub fn find(
        dir: Option<PathBuf>,
        environment: impl Fn(&str) -> Option<std::ffi::OsString>,
    ) -> Result<Self, HomeError> {
        let variable =
            |name: &str| environment(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let dir = dir
            .or_else(|| variable("CANTUS_HOME"))
            .or_else(|| variable("XDG_STATE_HOME").map(|dir| dir.join("cantus")))
            .or_else(|| variable("HOME").map(|dir| dir.join(".local/state/cantus")))
            .ok_or(HomeError::Nowhere)?;
        let dir = std::path::absolute(&dir).map_err(|source| HomeError::Io {
            what: "resolve",
            path: dir,
            source,
        })?;
        Ok(Self { dir })
    }

    /// The directory itself.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The configuration file.
    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.dir.join("cantus.yaml")
    }

    /// Where agents may be kept, to be mounted into workers.
    #[must_use]
    pub fn agent(&self) -> PathBuf {
        self.dir.join("agent")
    }

    /// The socket of the API.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.dir.join("cantus.sock")
    }

    /// Whose signatures count.
    #[must_use]
    pub fn trust_file(&self) -> PathBuf {
        self.dir.join("trust.json")
    }

    /// The coordinator's repositories.
    #[must_use]
    pub fn hub(&self) -> PathBuf {
        self.dir.join("hub")
    }

    /// The directories of pools, one per host name.
    #[must_use]
    pub fn pools(&self) -> PathBuf {
        self.dir.join("pool")
    }

    /// Configuration of the bus container.
    #[must_use]
    pub fn bus(&self) -> PathBuf {
        self.dir.join("bus")
    }

    /// Logs of the background processes.
    #[must_use]
    pub fn logs(&self) -> PathBuf {
        self.dir.join("logs")
    }

    /// Keys and passwords.
    #[must_use]
    pub fn keys(&self) -> PathBuf {
        self.dir.join("keys")
    }

    /// Who runs in the background: one file per process.
    #[must_use]
    pub fn processes(&self) -> PathBuf {
        self.dir.join("run")
    }

    /// Makes the directories, readable by their owner only.
    ///
    /// # Errors
    /// [`HomeError::Io`].
    pub fn make(&self) -> Result<(), HomeError> {
        use std::os::unix::fs::DirBuilderExt as _;
        for path in
            [self.dir.clone(), self.keys(), self.logs(), self.processes(), self.pools(), self.bus()]
        {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&path)
                .map_err(|source| HomeError::Io { what: "create", path, source })?;
        }
        Ok(())
    }

    /// The id that labels everything of this installation; drawn once.
    ///
    /// # Errors
    /// [`HomeError`].
    pub fn instance(&self) -> Result<String, HomeError> {
        let path = self.dir.join("instance");
        match fs::read_to_string(&path) {
            Ok(text) => Ok(text.trim().to_owned()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let id = format!(
                    "c{}",
                    secrets::draw(6)
                        .map_err(|problem| HomeError::Secret { path: path.clone(), problem })?
                );
                secrets::write_private(&path, id.as_bytes())?;
                Ok(id)
            }
            Err(source) => Err(HomeError::Io { what: "read", path, source }),
        }
    }

    /// Reads and checks the configuration.
    ///
    /// # Errors
    /// [`HomeError::NoConfig`], or what is wrong in it.
    pub fn config(&self) -> Result<Config, HomeError> {
        Config::read(&self.config_file())
    }

    /// Keys and passwords; those that are missing are made.
    ///
    /// # Errors
    /// [`HomeError`].
    pub fn secrets(&self, config: &Config) -> Result<Secrets, HomeError> {
        self.make()?;
        Secrets::open(self, config)
    }
}
