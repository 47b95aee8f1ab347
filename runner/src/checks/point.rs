//! What runs while an agent works: `check write` after it wrote something, `check commit` before it commits (SPEC E7).
//!
//! This is the same binary, started by the agent or its git as the agent. It is advice at the right moment: an agent can
//! pass it by, and gains nothing by that, because the hand-in runs all checks again.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use cantus_proto::evidence::receipt::checker_argv;
use tokio::sync::watch;
use tokio::time::Instant;

use super::{Check, CheckName, ChecksError, FILE, FILE_BYTES_MAX, parse, staged};
use crate::cli::{CheckArgs, Point};
use crate::jail::{self, Ending, Jail, JailError, Ran};
use crate::text::{chain, tail};

/// All checks at a write together (SPEC E7).
const WRITE_MAX: Duration = Duration::from_secs(60);

/// All checks at a commit together (SPEC E7).
const COMMIT_MAX: Duration = Duration::from_secs(120);

/// Most of a failed check's output that is shown, in bytes: the end says why.
const SHOWN_BYTES_MAX: usize = 8 * 1024;

/// Exit code for a check that failed: agents that run hooks take this one for "stop, and read why".
const EXIT_FAILED: u8 = 2;
/// Exit code when nothing could be checked.
const EXIT_NOT_CHECKED: u8 = 3;

#[derive(Debug, thiserror::Error)]
enum PointError {
    #[error("{path} cannot be read")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{FILE} is refused")]
    Checks(#[from] ChecksError),
    #[error("the staged change cannot be read")]
    Staged(#[source] git2::Error),
    #[error("the check cannot run")]
    Run(#[source] JailError),
    #[error("no timers can be had")]
    Runtime(#[source] std::io::Error),
}

/// Checks; silent when all is well, the reasons on standard error when not.
#[must_use]
pub fn serve(arguments: &CheckArgs) -> ExitCode {
    let complaints = match complaints(arguments) {
        Ok(complaints) => complaints,
        Err(error) => {
            // The pipe may be closed already; then nobody asks any more.
            let _ = writeln!(std::io::stderr(), "nothing was checked: {}", chain(&error));
            return EXIT_NOT_CHECKED.into();
        }
    };
    if complaints.is_empty() {
        return ExitCode::SUCCESS;
    }
    let _ = writeln!(std::io::stderr(), "{}", complaints.join("\n\n"));
    EXIT_FAILED.into()
}

fn complaints(arguments: &CheckArgs) -> Result<Vec<String>, PointError> {
    let checks = parse(&read(&arguments.checks)?)?;
    let (mut complaints, limit) = match arguments.point {
        Point::Write => (Vec::new(), WRITE_MAX),
        Point::Commit => (staged::markers().map_err(PointError::Staged)?, COMMIT_MAX),
    };
    let quick = |check: &Check| matches!(check.name, CheckName::Typecheck | CheckName::Lint);
    let checks: Vec<Check> = checks.into_iter().filter(quick).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(PointError::Runtime)?;
    complaints.extend(runtime.block_on(run_all(&checks, limit))?);
    Ok(complaints)
}

fn read(path: &Path) -> Result<Vec<u8>, PointError> {
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path)
        .and_then(|file| file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes));
    read.map_err(|source| PointError::Read { path: path.to_owned(), source })?;
    Ok(bytes)
}

async fn run_all(checks: &[Check], limit: Duration) -> Result<Vec<String>, PointError> {
    let until = Instant::now() + limit;
    // Git tells its hooks where its own index is; a check that uses git itself must not take that for its own.
    let environment: BTreeMap<OsString, OsString> = std::env::vars_os()
        .filter(|(name, _)| !name.as_encoded_bytes().starts_with(b"GIT_"))
        .collect();
    let directory = std::env::current_dir()
        .map_err(|source| PointError::Read { path: PathBuf::from("."), source })?;
    let mut complaints = Vec::new();
    for check in checks {
        let left = until.saturating_duration_since(Instant::now());
        let jail = Jail {
            argv: checker_argv(&check.command).into_iter().map(OsString::from).collect(),
            directory: directory.clone(),
            environment: environment.clone(),
            identity: None,
            limit: check.limit.min(left),
            log_bytes_max: SHOWN_BYTES_MAX as u64 * 2,
        };
        // Nobody tells this process to stop but by a signal.
        let (_sender, stop) = watch::channel(false);
        let ran = jail::run(&jail, stop).await.map_err(PointError::Run)?;
        complaints.extend(failure(check, &ran).map(|failure| {
            let end = tail(&ran.log, SHOWN_BYTES_MAX);
            format!("{failure}: {}\n{}", check.command, end.trim_end())
        }));
    }
    Ok(complaints)
}

/// How a check failed, in words; nothing when it did not.
#[must_use]
pub fn failure(check: &Check, ran: &Ran) -> Option<String> {
    let how = match (ran.timed_out, ran.ending) {
        (true, _) => format!("took longer than {} s", ran.duration.as_secs()),
        (false, Ending::Exit(0)) => return None,
        (false, Ending::Exit(code)) => format!("exited with code {code}"),
        (false, Ending::Signal(signal)) => format!("was ended by signal {signal}"),
    };
    Some(format!("{} {how}", check.name))
}
