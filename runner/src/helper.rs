//! The other side of the wall: this binary, run again as the agent's user, for all that touches the agent's files.
//!
//! [`Helpers`] is used by the entry process; [`serve`] is what the other process does. Between them: arguments,
//! bytes on stdin, and on stdout one line of JSON followed by bytes.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use cantus_proto::ids::{CommitId, Digest, RepositoryId, TreeId};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use crate::jail::{self, Jail, JailError};
use crate::mirror;
use crate::rooms::{Room, Rooms, RoomsError};
use crate::settings::Settings;
use crate::text;
use crate::workspace::DEFECT_REF;
use crate::workspace::collect::Limits;

mod look;
mod serve;

pub use crate::workspace::pulse::Look;
pub use serve::serve;

/// Longest that one step on a workspace may take: a large repository on a slow disk takes a minute.
const STEP_MAX: Duration = Duration::from_secs(300);

/// Most that is read of a helper's complaints, in bytes.
const COMPLAINT_BYTES_MAX: u64 = 64 * 1024;

/// Room for the JSON line and a listing besides an artifact, in bytes: 100,000 paths of 600 bytes.
const ANSWER_BYTES_EXTRA: u64 = 64 * 1024 * 1024;

/// Tries to end the agent's processes: one that forks quickly can take the last free process id.
const REAP_TRIES: u32 = 5;

/// Exit code for a result that is over its limits.
const EXIT_TOO_LARGE: u8 = 10;
/// Exit code for a workspace that cannot be used.
const EXIT_WORKSPACE: u8 = 11;

/// Why a step on the workspace failed.
#[derive(Debug, thiserror::Error)]
pub enum HelperError {
    /// The work is over its limits; the text names the biggest.
    #[error("{0}")]
    TooLarge(String),
    /// The workspace cannot be used.
    #[error("{0}")]
    Workspace(String),
    /// The workspace's directory cannot be opened or closed.
    #[error("the workspace's directory cannot be made ready")]
    Rooms(#[from] RoomsError),
    /// It could not run.
    #[error("the step {step} cannot be run as the agent's user")]
    Run {
        /// Which.
        step: &'static str,
        /// Why.
        source: JailError,
    },
    /// Its pipes broke.
    #[error("the step {step} cannot be talked to")]
    Pipe {
        /// Which.
        step: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// It took too long.
    #[error("the step {step} took longer than {} s", STEP_MAX.as_secs())]
    Slow {
        /// Which.
        step: &'static str,
    },
    /// It answered with something else.
    #[error("the step {step} gave no valid answer: {reason}")]
    Answer {
        /// Which.
        step: &'static str,
        /// What is wrong.
        reason: String,
    },
}

/// What collecting a workspace gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collected {
    /// A descendant of the base, or the base.
    pub head: CommitId,
    /// Tip of a branch kept beside the result.
    pub kept: Option<CommitId>,
    /// Absent when there is nothing but the base.
    pub bundle: Option<Vec<u8>>,
    /// What was left out or kept aside.
    pub findings: Vec<String>,
    /// Why the agent's repository could not be used.
    pub broken: Option<String>,
}

/// The JSON line of `workspace-collect`.
#[derive(Serialize, Deserialize)]
struct CollectedJson {
    head: String,
    kept: Option<String>,
    findings: Vec<String>,
    broken: Option<String>,
    bundle: bool,
}

/// The JSON line of `workspace-pulse`.
#[derive(Serialize, Deserialize)]
struct LookJson {
    commits: u32,
    changed_count: u32,
    fingerprint: String,
}

/// A workspace to make.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// Whose mirror it borrows from.
    pub repository: &'a RepositoryId,
    /// The commit to check out.
    pub commit: &'a CommitId,
    /// HOME and TMPDIR of the command that follows.
    pub room: &'a Room,
    /// A bundle to unpack before.
    pub bundle: Option<Vec<u8>>,
    /// See [`crate::workspace::Preparation`].
    pub commit_check: Option<&'a Path>,
    /// What to answer.
    pub answer: Answer<'a>,
}

/// What making a workspace answers.
#[derive(Debug, Clone, Copy)]
pub enum Answer<'a> {
    /// Nothing.
    Nothing,
    /// The diff from this commit to the bundle's work, which is kept as a ref.
    Diff(&'a CommitId),
    /// The listing of the commit's tree, if it is this tree and listing.
    Listing(&'a TreeId, &'a Digest),
}

/// Runs steps as the agent's user.
#[derive(Debug, Clone, Copy)]
pub struct Helpers<'a> {
    settings: &'a Settings,
    rooms: &'a Rooms,
}

impl<'a> Helpers<'a> {
    /// For one process.
    #[must_use]
    pub fn new(settings: &'a Settings, rooms: &'a Rooms) -> Self {
        Self { settings, rooms }
    }

    /// Makes a workspace; returns the diff or listing that was asked for.
    ///
    /// # Errors
    /// [`HelperError`].
    pub async fn prepare(&self, wanted: Wanted<'_>) -> Result<Vec<u8>, HelperError> {
        let mut arguments = self.places(wanted.repository);
        arguments.extend(flag("commit", wanted.commit.as_str()));
        arguments.extend(flag("room", &wanted.room.0));
        if wanted.bundle.is_some() {
            arguments.push("--bundle".into());
        }
        if let Some(program) = wanted.commit_check {
            arguments.extend(flag("commit-check", program));
        }
        match wanted.answer {
            Answer::Nothing => {}
            Answer::Diff(base) => {
                arguments.extend(flag("bundle-ref", DEFECT_REF));
                arguments.extend(flag("diff-base", base.as_str()));
            }
            Answer::Listing(tree, sha256) => {
                arguments.extend(flag("listing-tree", tree.as_str()));
                arguments.extend(flag("listing-sha256", sha256.as_str()));
            }
        }
        self.rooms.open_work()?;
        let bundle = wanted.bundle.unwrap_or_default();
        let step = "workspace-prepare";
        let answer = self.call(step, &arguments, bundle, ANSWER_BYTES_EXTRA).await;
        self.rooms.close_work()?;
        answer
    }

    /// Collects the work.
    ///
    /// # Errors
    /// [`HelperError::TooLarge`] names the biggest offenders.
    pub async fn collect(
        &self,
        repository: &RepositoryId,
        base: &CommitId,
        limits: Limits,
    ) -> Result<Collected, HelperError> {
        let step = "workspace-collect";
        let mut arguments = self.places(repository);
        arguments.extend(flag("base", base.as_str()));
        arguments.extend(flag("bytes-max", limits.bytes_max.to_string()));
        arguments.extend(flag("files-max", limits.files_max.to_string()));
        arguments.extend(flag("scratch", self.rooms.scratch()));
        let bytes_max = limits.bytes_max + ANSWER_BYTES_EXTRA;
        let answer = self.call(step, &arguments, Vec::new(), bytes_max).await?;
        parse_collected(answer).map_err(|reason| HelperError::Answer { step, reason })
    }

    fn places(&self, repository: &RepositoryId) -> Vec<OsString> {
        let mirror = mirror::path(&self.settings.places.mirrors, repository);
        let mut arguments = Vec::new();
        arguments.extend(flag("work", &self.rooms.work));
        arguments.extend(flag("tree", &self.rooms.tree));
        arguments.extend(flag("objects", mirror::objects(&mirror)));
        arguments
    }

    /// Compares a checkout with its listing; what differs.
    ///
    /// # Errors
    /// [`HelperError`].
    pub async fn compare(&self, listing: Vec<u8>) -> Result<Vec<String>, HelperError> {
        let step = "workspace-compare";
        let arguments = flag("tree", &self.rooms.tree);
        let answer = self.call(step, &arguments, listing, ANSWER_BYTES_EXTRA).await?;
        serde_json::from_slice(&answer)
            .map_err(|error| HelperError::Answer { step, reason: error.to_string() })
    }

    /// Ends every process that the agent left behind and removes what it left in `wipe`; only in a container,
    /// where nobody else has its user.
    ///
    /// # Errors
    /// The last of [`REAP_TRIES`] failures.
    pub async fn reap(&self, wipe: &[&Path]) -> Result<(), HelperError> {
        if self.settings.agent().is_none() {
            return Ok(());
        }
        let mut arguments: Vec<OsString> = Vec::new();
        for directory in wipe {
            arguments.extend(flag("wipe", directory));
        }
        let mut tried = 1;
        loop {
            match self.call("reap", &arguments, Vec::new(), COMPLAINT_BYTES_MAX).await {
                Ok(_) => return Ok(()),
                Err(error) if tried == REAP_TRIES => return Err(error),
                Err(error) => tracing::warn!(error = text::chain(&error), "reaping again"),
            }
            tried += 1;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn call(
        &self,
        step: &'static str,
        arguments: &[OsString],
        input: Vec<u8>,
        answer_bytes_max: u64,
    ) -> Result<Vec<u8>, HelperError> {
        let mut argv = vec![self.settings.executable.clone().into_os_string(), step.into()];
        argv.extend_from_slice(arguments);
        let jail = Jail {
            argv,
            directory: "/".into(),
            // No HOME: git2 finds no configuration of a person's.
            environment: [(OsString::from("HOME"), OsString::from("/nonexistent"))].into(),
            identity: self.settings.agent(),
            limit: STEP_MAX,
            log_bytes_max: COMPLAINT_BYTES_MAX,
        };
        match timeout(STEP_MAX, exchange(step, &jail, input, answer_bytes_max)).await {
            Ok(answer) => answer,
            Err(_) => Err(HelperError::Slow { step }),
        }
    }
}

async fn exchange(
    step: &'static str,
    jail: &Jail,
    input: Vec<u8>,
    answer_bytes_max: u64,
) -> Result<Vec<u8>, HelperError> {
    let pipe = |source| HelperError::Pipe { step, source };
    let mut command = jail::command(jail).map_err(|source| HelperError::Run { step, source })?;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|source| {
        let (program, directory) = (jail.argv[0].clone(), jail.directory.clone());
        HelperError::Run { step, source: JailError::Spawn { program, directory, source } }
    })?;
    let mut stdin = child.stdin.take().expect("stdin was asked for");
    let stdout = child.stdout.take().expect("stdout was asked for");
    let stderr = child.stderr.take().expect("stderr was asked for");
    let write = async move {
        // A step that needs no input, or has failed, closes early: its exit code tells.
        let _ = stdin.write_all(&input).await;
        let _ = stdin.shutdown().await;
    };
    let (mut answer, mut complaint) = (Vec::new(), Vec::new());
    let mut stdout = stdout.take(answer_bytes_max + 1);
    let mut stderr = stderr.take(COMPLAINT_BYTES_MAX);
    let ((), answered, complained) =
        tokio::join!(write, stdout.read_to_end(&mut answer), stderr.read_to_end(&mut complaint));
    answered.map_err(pipe)?;
    complained.map_err(pipe)?;
    if answer.len() as u64 > answer_bytes_max {
        let reason = format!("it has more than {answer_bytes_max} bytes");
        return Err(HelperError::Answer { step, reason });
    }
    let status = child.wait().await.map_err(pipe)?;
    let reason = String::from_utf8_lossy(&complaint).trim().to_owned();
    match status.code() {
        Some(0) => Ok(answer),
        Some(code) if code == i32::from(EXIT_TOO_LARGE) => Err(HelperError::TooLarge(reason)),
        Some(code) if code == i32::from(EXIT_WORKSPACE) => Err(HelperError::Workspace(reason)),
        _ => Err(HelperError::Answer { step, reason: format!("{status}: {reason}") }),
    }
}

fn parse_collected(mut answer: Vec<u8>) -> Result<Collected, String> {
    let end = answer.iter().position(|byte| *byte == b'\n').ok_or("there is no first line")?;
    let bundle = answer.split_off(end + 1);
    let json: CollectedJson = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
    let commit = |text: &str| CommitId::new(text).map_err(|error| error.to_string());
    Ok(Collected {
        head: commit(&json.head)?,
        kept: json.kept.as_deref().map(commit).transpose()?,
        bundle: json.bundle.then_some(bundle),
        findings: json.findings,
        broken: json.broken,
    })
}

/// Arguments as the command line wants them.
fn flag(name: &str, value: impl AsRef<OsStr>) -> [OsString; 2] {
    [OsString::from(format!("--{name}")), value.as_ref().to_owned()]
}

#[cfg(test)]
mod tests;
