//! The project's own checks (SPEC E7, E13): one file at the root of the repository names its commands.
//!
//! The file is taken from the base commit, never from the workspace: an agent may edit it there, and what it is held
//! to must not be its own choice. Success is silent. Whether work is good is decided by the verifier alone; these
//! checks only tell an agent early.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;

pub mod point;
mod staged;

/// The file, at the root of the repository.
pub const FILE: &str = "cantus-checks.yaml";

/// Largest file, in bytes: four commands.
pub const FILE_BYTES_MAX: u64 = 32 * 1024;

/// Longest command, in bytes: what is longer belongs into a script of the repository.
const COMMAND_BYTES_MAX: usize = 4 * 1024;

/// Longest that a command may ask for, in seconds: more belongs to the verifier.
const TIMEOUT_SECONDS_MAX: u64 = 1_800;

/// Limit of lint and type check unless the file says otherwise (SPEC E7).
const QUICK: Duration = Duration::from_secs(60);

/// Limit of build and test unless the file says otherwise (SPEC E7).
const SLOW: Duration = Duration::from_secs(120);

/// One of the four.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckName {
    /// Do the types fit.
    Typecheck,
    /// Does it follow the project's rules.
    Lint,
    /// Does it build.
    Build,
    /// Do its tests pass.
    Test,
}

impl CheckName {
    /// All of them, in the order in which they run: what is quick goes first.
    pub const ALL: [Self; 4] = [Self::Typecheck, Self::Lint, Self::Build, Self::Test];

    /// The key in the file, and the purpose in a receipt.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Typecheck => "typecheck",
            Self::Lint => "lint",
            Self::Build => "build",
            Self::Test => "test",
        }
    }

    fn limit(self) -> Duration {
        match self {
            Self::Typecheck | Self::Lint => QUICK,
            Self::Build | Self::Test => SLOW,
        }
    }
}

impl fmt::Display for CheckName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One command of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Which.
    pub name: CheckName,
    /// For a shell.
    pub command: String,
    /// How long it may take.
    pub limit: Duration,
}

/// Why the file is refused.
#[derive(Debug, thiserror::Error)]
pub enum ChecksError {
    /// Too large.
    #[error("it has more than {FILE_BYTES_MAX} bytes")]
    Large,
    /// Not YAML of this shape.
    #[error("{0}")]
    Shape(String),
    /// Another version.
    #[error("version {0} is unknown, this program knows version 1")]
    Version(u32),
    /// A command that cannot be run.
    #[error("{name}: {problem}")]
    Command {
        /// Which.
        name: CheckName,
        /// What is wrong with it.
        problem: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    typecheck: Option<Entry>,
    lint: Option<Entry>,
    build: Option<Entry>,
    test: Option<Entry>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Command(String),
    Limited(Limited),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Limited {
    command: String,
    timeout_seconds: u64,
}

/// The checks that a file names, in the order in which they run.
///
/// # Errors
/// [`ChecksError`] says what is wrong with the file.
pub fn parse(bytes: &[u8]) -> Result<Vec<Check>, ChecksError> {
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(ChecksError::Large);
    }
    let text = std::str::from_utf8(bytes).map_err(|e| ChecksError::Shape(e.to_string()))?;
    let file: File =
        serde_saphyr::from_str(text).map_err(|error| ChecksError::Shape(error.to_string()))?;
    if file.version != 1 {
        return Err(ChecksError::Version(file.version));
    }
    let File { version: _, typecheck, lint, build, test } = file;
    let entries = CheckName::ALL.into_iter().zip([typecheck, lint, build, test]);
    entries.filter_map(|(name, entry)| Some(check(name, entry?))).collect()
}

fn check(name: CheckName, entry: Entry) -> Result<Check, ChecksError> {
    let (command, limit) = match entry {
        Entry::Command(command) => (command, name.limit()),
        Entry::Limited(Limited { command, timeout_seconds }) => {
            if !(1..=TIMEOUT_SECONDS_MAX).contains(&timeout_seconds) {
                let problem = format!("timeout_seconds must be 1 to {TIMEOUT_SECONDS_MAX}");
                return Err(ChecksError::Command { name, problem });
            }
            (command, Duration::from_secs(timeout_seconds))
        }
    };
    let problem = if command.trim().is_empty() {
        "its command is empty: name one, or leave the key out".to_owned()
    } else if command.contains('\0') {
        "its command has a zero byte".to_owned()
    } else if command.len() > COMMAND_BYTES_MAX {
        format!("its command has more than {COMMAND_BYTES_MAX} bytes: put it into a script")
    } else {
        return Ok(Check { name, command, limit });
    };
    Err(ChecksError::Command { name, problem })
}

#[cfg(test)]
mod tests;
