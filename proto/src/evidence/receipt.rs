//! The receipt predicate: the record that one checker ran, and how it ended.
//!
//! What follows from a receipt is in [`super::attest`]. Outputs are digests here; the texts are artifacts.

use serde::{Deserialize, Serialize};

use super::counts::TestCounts;
use super::statement::{self, Binding, BindingJson, Sha256Json, StatementError, Subject};
use crate::contract::Criterion;
use crate::ids::Digest;

/// The predicate's type: ours, as in-toto has none for it.
pub const PREDICATE_TYPE: &str = "urn:cantus:receipt:v1";

/// How every checker is started; its text follows.
const SHELL: [&str; 2] = ["/bin/sh", "-c"];

/// Most changed files that a receipt names: the first ones are enough to find the cause.
pub const CHANGED_FILES_MAX: usize = 20;

/// The command of a checker.
#[must_use]
pub fn checker_argv(checker: &str) -> Vec<String> {
    SHELL.iter().copied().chain([checker]).map(str::to_owned).collect()
}

/// The digest that evidence is bound to, so that it holds for this very checker and no other.
#[must_use]
pub fn checker_digest(criterion: &Criterion) -> Digest {
    Digest::of(criterion.checker.as_bytes())
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// With this exit code.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// Its limit ended it.
    TimedOut,
}

/// The record that one checker ran on one tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The tree that it ran on.
    pub subject: Subject,
    /// For which work.
    pub binding: Binding,
    /// See [`checker_argv`].
    pub argv: Vec<String>,
    /// How it ended.
    pub ending: Ending,
    /// Of the whole standard output.
    pub stdout: Digest,
    /// Of the whole standard error.
    pub stderr: Digest,
    /// Whether less than all of the output was kept as an artifact.
    pub output_truncated: bool,
    /// From start to end.
    pub duration_ms: u64,
    /// Image of the container, as a digest where there is one; a word of the host's for mere processes.
    pub image: String,
    /// The machine's name in the pool.
    pub host: String,
    /// From the output, where it has a summary that is known.
    pub counts: Option<TestCounts>,
    /// Tracked files that the checker changed, at most [`CHANGED_FILES_MAX`].
    pub changed_files: Vec<String>,
}

impl Receipt {
    /// Whether the argv is that of the checker which the receipt is bound to.
    #[must_use]
    pub fn ran_its_checker(&self) -> bool {
        match self.argv.as_slice() {
            [program, option, text] => {
                [program.as_str(), option.as_str()] == SHELL
                    && Digest::of(text.as_bytes()) == self.binding.checker
            }
            _ => false,
        }
    }

    /// The statement's JSON, to be signed.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let (exit_code, signal) = match self.ending {
            Ending::Exit(code) => (Some(code), None),
            Ending::Signal(signal) => (None, Some(signal)),
            Ending::TimedOut => (None, None),
        };
        let predicate = PredicateJson {
            bound_to: BindingJson::of(&self.binding),
            checker: Sha256Json::of(&self.binding.checker),
            argv: self.argv.clone(),
            exit_code,
            signal,
            timed_out: self.ending == Ending::TimedOut,
            stdout: Sha256Json::of(&self.stdout),
            stderr: Sha256Json::of(&self.stderr),
            output_truncated: self.output_truncated,
            duration_ms: self.duration_ms,
            environment: EnvironmentJson { image: self.image.clone(), host: self.host.clone() },
            counts: self.counts.map(CountsJson::of),
            changed_files: self.changed_files.clone(),
        };
        statement::encode(&self.subject, PREDICATE_TYPE, predicate)
    }

    /// Reads what [`Receipt::encode`] writes.
    ///
    /// # Errors
    /// [`StatementError`] names the field.
    pub fn decode(payload: &[u8]) -> Result<Self, StatementError> {
        let (subject, predicate): (Subject, PredicateJson) =
            statement::decode(payload, PREDICATE_TYPE)?;
        let ending = match (predicate.exit_code, predicate.signal, predicate.timed_out) {
            (Some(code), None, false) => Ending::Exit(code),
            (None, Some(signal), false) => Ending::Signal(signal),
            (None, None, true) => Ending::TimedOut,
            other => {
                let reason = "exactly one of exitCode, signal and timedOut must be given";
                return Err(StatementError::value("ending", &format!("{other:?}"), reason));
            }
        };
        Ok(Self {
            subject,
            binding: predicate.bound_to.read(predicate.checker)?,
            argv: predicate.argv,
            ending,
            stdout: Digest::new(predicate.stdout.sha256)?,
            stderr: Digest::new(predicate.stderr.sha256)?,
            output_truncated: predicate.output_truncated,
            duration_ms: predicate.duration_ms,
            image: predicate.environment.image,
            host: predicate.environment.host,
            counts: predicate.counts.map(CountsJson::read),
            changed_files: predicate.changed_files,
        })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PredicateJson {
    bound_to: BindingJson,
    checker: Sha256Json,
    argv: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    timed_out: bool,
    stdout: Sha256Json,
    stderr: Sha256Json,
    output_truncated: bool,
    duration_ms: u64,
    environment: EnvironmentJson,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    counts: Option<CountsJson>,
    changed_files: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct EnvironmentJson {
    image: String,
    host: String,
}

#[derive(Serialize, Deserialize)]
struct CountsJson {
    passed: u64,
    failed: u64,
    errors: u64,
    skipped: u64,
}

impl CountsJson {
    fn of(counts: TestCounts) -> Self {
        let TestCounts { passed, failed, errors, skipped } = counts;
        Self { passed, failed, errors, skipped }
    }

    fn read(self) -> TestCounts {
        let Self { passed, failed, errors, skipped } = self;
        TestCounts { passed, failed, errors, skipped }
    }
}
