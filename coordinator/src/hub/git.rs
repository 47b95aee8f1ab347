//! Runs the git command line in an environment where nothing but our own settings counts.
//!
//! No configuration of the system or of a person, no hooks, no prompts, no replace refs, no lazy fetches,
//! no discovery of repositories above; a wall limit per command, after which its whole process group is
//! killed; output bounded and handed on as bytes. What the output means is for the callers.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

mod call;
mod error;

pub(super) use call::{Call, Output};
pub use error::GitError;

/// The first version with `merge-tree --write-tree`.
pub(super) const VERSION_MIN: (u32, u32) = (2, 38);
/// For commands that touch only local objects: a merge or a diff of a large repository fits many times over.
pub(super) const LOCAL_WALL: Duration = Duration::from_secs(120);
/// For one question to, or one push to, upstream.
pub(super) const REMOTE_WALL: Duration = Duration::from_secs(120);
/// For a first fetch or a complete bundle of a large repository over a slow line.
pub(super) const TRANSFER_WALL: Duration = Duration::from_secs(3_600);
/// Most output of one command kept, in bytes: a listing of half a million files.
pub(super) const OUTPUT_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// One allocation of git while it reads what an agent made, in bytes: a small pack can ask for terabytes.
const HOSTILE_ALLOCATION: &str = "1g";

/// What reaches git from our own environment: where programs are, who called `sudo`, how to get out to a remote.
const PASSED_ON: &[&str] = &[
    "PATH",
    "SUDO_UID",
    "SSH_AUTH_SOCK",
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "NO_PROXY",
    "no_proxy",
    "SSL_CERT_FILE",
];

/// Settings that hold for every command, above any file.
///
/// Old histories have commits with odd dates, modes and authors that every server took in; those kinds, and
/// only those, are let through when the person's own upstream is fetched. Results are checked without them.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "core.logAllRefUpdates=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "fetch.fsckObjects=true",
    "transfer.fsckObjects=true",
    "fetch.fsck.zeroPaddedFilemode=ignore",
    "fetch.fsck.missingSpaceBeforeDate=ignore",
    "fetch.fsck.missingSpaceBeforeEmail=ignore",
    "fetch.fsck.missingNameBeforeEmail=ignore",
    "fetch.fsck.missingEmail=ignore",
    "fetch.fsck.badTimezone=ignore",
    "fetch.fsck.badDateOverflow=ignore",
    "protocol.ext.allow=never",
    "submodule.recurse=false",
    "advice.detachedHead=false",
    "user.useConfigOnly=true",
];

const CONFIG_FILE_START: &str = "# Read by Cantus's git commands only. A place for credential helpers and \
     proxies of remote upstreams;\n# what Cantus needs for safety is set above this file and cannot be changed here.\n";

/// How to call git: environment and settings, fixed at start.
#[derive(Debug)]
pub(super) struct Git {
    environment: Vec<(OsString, OsString)>,
    /// The operator's file, for commands that speak to upstream and no others.
    config: PathBuf,
}

impl Git {
    /// Picks what is passed on from the environment, writes the configuration file if there is none, checks
    /// the version.
    pub(super) fn new(
        dir: &Path,
        get: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, GitError> {
        let config = dir.join("gitconfig");
        match File::create_new(&config) {
            Ok(mut file) => file.write_all(CONFIG_FILE_START.as_bytes()),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
        .map_err(|source| GitError::Io {
            command: "(its configuration file)".to_owned(),
            source,
        })?;
        let set = |name: &str, value: &OsStr| (OsString::from(name), value.to_owned());
        let mut environment: Vec<_> =
            PASSED_ON.iter().filter_map(|name| Some((OsString::from(name), get(name)?))).collect();
        environment.extend([
            set("HOME", dir.join("home").as_os_str()),
            set("GIT_CEILING_DIRECTORIES", dir.as_os_str()),
        ]);
        environment.extend(
            [
                ("GIT_CONFIG_NOSYSTEM", "1"),
                ("GIT_CONFIG_GLOBAL", "/dev/null"),
                ("GIT_ATTR_NOSYSTEM", "1"),
                ("GIT_TERMINAL_PROMPT", "0"),
                ("GIT_OPTIONAL_LOCKS", "0"),
                ("GIT_NO_REPLACE_OBJECTS", "1"),
                ("GIT_NO_LAZY_FETCH", "1"),
                ("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh"),
                ("GIT_SSH_COMMAND", "ssh -o BatchMode=yes -o ConnectTimeout=20"),
                ("LC_ALL", "C"),
            ]
            .map(|(name, value)| set(name, OsStr::new(value))),
        );
        let git = Self { environment, config };
        git.check_version()?;
        Ok(git)
    }

    fn check_version(&self) -> Result<(), GitError> {
        let output = match self.call("version").run() {
            Err(GitError::Io { source, .. }) => return Err(GitError::Missing { source }),
            other => other?,
        };
        let text = String::from_utf8_lossy(&output).trim().to_owned();
        match parse_version(&text) {
            Some(version) if version >= VERSION_MIN => Ok(()),
            _ => Err(GitError::TooOld { found: text }),
        }
    }

    /// A command in no repository.
    pub(super) fn call(&self, name: &'static str) -> Call {
        self.start(name, &[])
    }

    /// A command on one of the hub's own bare repositories.
    pub(super) fn call_in(&self, git_dir: &Path, name: &'static str) -> Call {
        let mut option = OsString::from("--git-dir=");
        option.push(git_dir);
        self.start(name, &[option.as_os_str()])
    }

    /// A command in a directory of a person's, found only if it is the top of a repository.
    pub(super) fn call_at(&self, dir: &Path, name: &'static str) -> Call {
        let mut call = self.start(name, &[OsStr::new("-C"), dir.as_os_str()]);
        if let Some(above) = dir.parent() {
            call.command.env("GIT_CEILING_DIRECTORIES", above);
        }
        call
    }

    fn start(&self, name: &'static str, global: &[&OsStr]) -> Call {
        let mut command = Command::new("git");
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.arg("--no-replace-objects").arg("--no-pager");
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command.args(global).arg(name);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let config = self.config.clone();
        Call { name, command, wall: LOCAL_WALL, stdin: Vec::new(), config }
    }
}

/// Major and minor of `git version 2.47.3 (some vendor)`.
fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.strip_prefix("git version ")?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Text of unknown origin made fit for one line of a message: control characters escaped, lines joined.
pub(super) fn escape(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("; ").chars().fold(String::new(), |mut line, c| {
        if c.is_control() {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
        line
    })
}

/// The bytes of a path as the system takes them.
pub(super) fn to_path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(OsStr::from_bytes(bytes))
}

#[cfg(test)]
mod tests;
