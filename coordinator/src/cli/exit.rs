//! Exit codes, all in one place; `docs/CLI.md` lists the same ones, and a test holds the two together.

use std::process::ExitCode;

use super::error::CliError;
use crate::export::ExportError;

/// What a command's exit code says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done, and nothing is wrong.
    Ok,
    /// The run failed, evidence is missing, or the coordinator refused what was asked.
    Failed,
    /// The command cannot be carried out as it was written.
    Usage,
    /// The plan has errors; nothing was started.
    RefusedPlan,
    /// The run was cancelled.
    Cancelled,
    /// No coordinator answers, or not in time.
    Unreachable,
    /// Cantus itself or its surroundings failed.
    Internal,
    /// The person pressed Ctrl-C; runs go on without a watcher.
    Interrupted,
    /// Whoever read the output has gone, as in `cantus status | head -1`.
    PipeClosed,
}

impl Exit {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Ok,
        Self::Failed,
        Self::Usage,
        Self::RefusedPlan,
        Self::Cancelled,
        Self::Unreachable,
        Self::Internal,
        Self::Interrupted,
        Self::PipeClosed,
    ];

    /// The number that the shell sees. 130 and 141 are what shells use for SIGINT and SIGPIPE; 2 is clap's.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::RefusedPlan => 3,
            Self::Cancelled => 4,
            Self::Unreachable => 5,
            Self::Internal => 6,
            Self::Interrupted => 130,
            Self::PipeClosed => 141,
        }
    }

    /// The code for an error that ended a command.
    #[must_use]
    pub fn of(error: &anyhow::Error) -> Self {
        if let Some(error) = error.downcast_ref::<CliError>() {
            return error.exit();
        }
        if error.is::<ExportError>() {
            return Self::Usage;
        }
        let pipe_closed = error.chain().any(|cause| {
            let cause = cause.downcast_ref::<std::io::Error>();
            cause.is_some_and(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
        });
        if pipe_closed { Self::PipeClosed } else { Self::Internal }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_lists_every_code() {
        let docs = include_str!("../../../docs/CLI.md");
        for exit in Exit::ALL {
            let row = format!("\n| {} |", exit.code());
            assert!(docs.contains(&row), "docs/CLI.md has no row for exit code {}", exit.code());
        }
    }

    #[test]
    fn a_closed_pipe_is_no_failure_of_ours() {
        let closed = std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        let error = anyhow::Error::from(closed).context("writing");
        assert_eq!(Exit::of(&error), Exit::PipeClosed);
        assert_eq!(Exit::of(&anyhow::anyhow!("something")), Exit::Internal);
    }
}
