//! The git command line, with an environment of its own: nothing of the person's configuration decides here.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

/// Longest that one git command may take: a complete bundle of a large repository is indexed.
const GIT_MAX: Duration = Duration::from_secs(600);
/// Most of git's complaint that is shown, in characters.
const COMPLAINT_MAX: usize = 400;

/// Why a git command did not do what it should.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no git.
    #[error("git is not installed: install it (for example: sudo apt-get install git)")]
    Missing,
    /// It could not be run.
    #[error("git {what} could not be run in {}", repository.display())]
    Run {
        /// The subcommand.
        what: String,
        /// Where.
        repository: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It failed.
    #[error("git {what} failed in {}: {complaint}", repository.display())]
    Failed {
        /// The subcommand.
        what: String,
        /// Where.
        repository: PathBuf,
        /// What it said.
        complaint: String,
    },
    /// It took too long.
    #[error("git {what} took more than {} s in {}", GIT_MAX.as_secs(), repository.display())]
    Timeout {
        /// The subcommand.
        what: String,
        /// Where.
        repository: PathBuf,
    },
}

/// Runs git on a bare repository; answers what it wrote.
pub(crate) async fn git(repository: &Path, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
    let what = || arguments.first().copied().unwrap_or_default().to_owned();
    let repository_path = || repository.to_owned();
    let running = command(repository, arguments).output();
    let output = match tokio::time::timeout(GIT_MAX, running).await {
        Err(_) => return Err(GitError::Timeout { what: what(), repository: repository_path() }),
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(GitError::Missing);
        }
        Ok(Err(source)) => {
            return Err(GitError::Run { what: what(), repository: repository_path(), source });
        }
        Ok(Ok(output)) => output,
    };
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let complaint: String = said
        .trim()
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(COMPLAINT_MAX)
        .collect();
    Err(GitError::Failed { what: what(), repository: repository_path(), complaint })
}

fn command(repository: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .envs([
            ("HOME", "/nonexistent"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("LC_ALL", "C"),
        ])
        .arg("--git-dir")
        .arg(repository)
        .args(["-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.hooksPath=/dev/null"])
        .args(["-c", "fetch.fsckObjects=true", "-c", "transfer.fsckObjects=true"])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}
