//! Why a git command gave no answer.

use std::time::Duration;

use super::{OUTPUT_BYTES_MAX, VERSION_MIN};

/// Why a git command gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no git.
    #[error("cannot run git: install git {}.{} or newer and put it on PATH", VERSION_MIN.0, VERSION_MIN.1)]
    Missing {
        /// The reason.
        source: std::io::Error,
    },
    /// It cannot do what we need.
    #[error("git is too old ({found}): install {}.{} or newer", VERSION_MIN.0, VERSION_MIN.1)]
    TooOld {
        /// What it says of itself.
        found: String,
    },
    /// It said no.
    #[error("git {command} failed ({status}): {complaint}")]
    Failed {
        /// The subcommand.
        command: String,
        /// How it ended.
        status: String,
        /// What it wrote to stderr, cut and escaped.
        complaint: String,
    },
    /// It did not end in time and was killed.
    #[error("git {command} did not end within {} s and was stopped: see what the disk or the upstream is busy with", .wall.as_secs())]
    TimedOut {
        /// The subcommand.
        command: String,
        /// Its limit.
        wall: Duration,
    },
    /// It wrote more than [`OUTPUT_BYTES_MAX`].
    #[error(
        "git {command} wrote more than {OUTPUT_BYTES_MAX} bytes: the repository is too large for Cantus"
    )]
    OutputTooLarge {
        /// The subcommand.
        command: String,
    },
    /// No space left.
    #[error("git {command} failed because the disk is full: free space and try again")]
    DiskFull {
        /// The subcommand.
        command: String,
    },
    /// The answer is not what git's documentation says.
    #[error(
        "git {command} gave an answer that cannot be read ({what}): this is a defect, report it with the git version"
    )]
    Answer {
        /// The subcommand.
        command: &'static str,
        /// What is wrong with it.
        what: String,
    },
    /// The system could not start it or move its bytes.
    #[error("cannot run git {command}")]
    Io {
        /// The subcommand.
        command: String,
        /// The reason.
        source: std::io::Error,
    },
}
