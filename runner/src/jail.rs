//! Runs one command as another user, in a process group of its own, with a clean environment and a clock.
//!
//! In a container the entry process is root with no capability but changing user and sending signals; the child
//! has another uid, no groups, no capabilities and (inherited) no way to new privileges. In `process` isolation the
//! child is the same user, which is why such work is marked and does not land by default.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cantus_proto::ids::Digest;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::capture::{Log, SharedLog, StreamDigest, read};

/// Between the polite signal and the one that cannot be refused.
pub const GRACE: Duration = Duration::from_secs(5);

/// How long the pipes of an ended command are still read: a process that left its group may hold them open.
const DRAIN: Duration = Duration::from_secs(1);

/// How long killed processes may take to go: one that writes to a slow disk cannot go before.
const REAP_MAX: Duration = Duration::from_secs(10);

/// Pause between two looks.
const REAP_LOOK: Duration = Duration::from_millis(10);

/// User and group of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
}

/// A command and all that it may see.
#[derive(Debug, Clone)]
pub struct Jail {
    /// Program and arguments.
    pub argv: Vec<OsString>,
    /// Where it starts.
    pub directory: PathBuf,
    /// Its whole environment.
    pub environment: BTreeMap<OsString, OsString>,
    /// Absent in `process` isolation: the same user.
    pub identity: Option<Identity>,
    /// Hard wall clock.
    pub limit: Duration,
    /// Kept of its output.
    pub log_bytes_max: u64,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this code.
    Exit(i32),
    /// By this signal, of its own or another's making.
    Signal(i32),
}

/// What is known of a command that ran.
#[derive(Debug)]
pub struct Ran {
    /// How it ended.
    pub ending: Ending,
    /// Whether the wall clock ended it.
    pub timed_out: bool,
    /// Whether it was ended because the lease was.
    pub stopped: bool,
    /// Of all of its standard output.
    pub stdout_sha256: Digest,
    /// Of all of its standard error.
    pub stderr_sha256: Digest,
    /// Both, as they came, within the limit.
    pub log: Vec<u8>,
    /// Whether the log lacks something.
    pub log_truncated: bool,
    /// From start to end.
    pub duration: Duration,
}

/// Why a command did not start.
#[derive(Debug, thiserror::Error)]
pub enum JailError {
    /// No program.
    #[error("the command is empty")]
    Empty,
    /// The system refused.
    #[error("{program:?} cannot be started in {directory}")]
    Spawn {
        /// What was to be run.
        program: OsString,
        /// Where.
        directory: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It was started and then lost.
    #[error("the command cannot be waited for")]
    Wait(#[source] std::io::Error),
}

/// Runs the command to its end, its wall clock, or the moment `stop` turns true.
///
/// Whatever of its process group is left is killed. stdin is `/dev/null`.
///
/// # Errors
/// [`JailError`] when it never ran.
pub async fn run(jail: &Jail, mut stop: watch::Receiver<bool>) -> Result<Ran, JailError> {
    let mut command = command(jail)?;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = Instant::now();
    let mut child = command.spawn().map_err(|source| JailError::Spawn {
        program: jail.argv[0].clone(),
        directory: jail.directory.clone(),
        source,
    })?;
    let group = group(&child);
    let log: SharedLog = Arc::new(Mutex::new(Log::new(jail.log_bytes_max)));
    let (stdout, stderr) = (StreamDigest::default(), StreamDigest::default());
    let readers = readers(&mut child, &log, &stdout, &stderr);
    let (mut timed_out, mut stopped) = (false, false);
    let status = tokio::select! {
        status = child.wait() => status.map_err(JailError::Wait)?,
        () = tokio::time::sleep(jail.limit) => {
            timed_out = true;
            end(&mut child, group).await?
        }
        () = told(&mut stop) => {
            stopped = true;
            end(&mut child, group).await?
        }
    };
    let duration = started.elapsed();
    signal(group, Signal::KILL);
    for mut reader in readers {
        if timeout(DRAIN, &mut reader).await.is_err() {
            reader.abort();
        }
    }
    let log =
        std::mem::replace(&mut *log.lock().unwrap_or_else(PoisonError::into_inner), Log::new(0));
    Ok(Ran {
        ending: ending(status),
        timed_out,
        stopped,
        stdout_sha256: stdout.digest(),
        stderr_sha256: stderr.digest(),
        log_truncated: log.truncated(),
        log: log.into_bytes(),
        duration,
    })
}

/// The command as the system will start it, streams apart.
pub(crate) fn command(jail: &Jail) -> Result<Command, JailError> {
    let (program, arguments) = jail.argv.split_first().ok_or(JailError::Empty)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(&jail.directory)
        .env_clear()
        .envs(&jail.environment)
        .process_group(0)
        .kill_on_drop(true);
    if let Some(Identity { uid, gid }) = jail.identity {
        // Changing the user from root drops all supplementary groups as well.
        command.uid(uid).gid(gid);
    }
    Ok(command)
}

/// The group that a child leads; gone already when it has no id.
pub(crate) fn group(child: &Child) -> Option<Pid> {
    child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
}

/// Signals a group; one that is gone already needs nothing.
pub(crate) fn signal(group: Option<Pid>, signal: Signal) {
    if let Some(group) = group {
        let _ = kill_process_group(group, signal);
    }
}

fn readers(
    child: &mut Child,
    log: &SharedLog,
    stdout: &StreamDigest,
    stderr: &StreamDigest,
) -> Vec<JoinHandle<()>> {
    let mut readers = Vec::new();
    if let Some(stream) = child.stdout.take() {
        readers.push(tokio::spawn(read(stream, Arc::clone(log), stdout.clone())));
    }
    if let Some(stream) = child.stderr.take() {
        readers.push(tokio::spawn(read(stream, Arc::clone(log), stderr.clone())));
    }
    readers
}

/// Resolves when told to stop; never when nobody can tell any more.
async fn told(stop: &mut watch::Receiver<bool>) {
    if stop.wait_for(|stop| *stop).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// The polite signal, the grace, then the other one.
async fn end(child: &mut Child, group: Option<Pid>) -> Result<ExitStatus, JailError> {
    signal(group, Signal::TERM);
    // A stopped process would sit out the grace without a chance to use it.
    signal(group, Signal::CONT);
    if let Ok(status) = timeout(GRACE, child.wait()).await {
        return status.map_err(JailError::Wait);
    }
    signal(group, Signal::KILL);
    child.wait().await.map_err(JailError::Wait)
}

fn ending(status: ExitStatus) -> Ending {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Exit(code),
        (None, signal) => Ending::Signal(signal.unwrap_or_default()),
    }
}

/// Kills every process of the user that this process runs as, itself excepted, and waits until none is left.
///
/// Only for a process that runs as the agent in its own container: there, nothing else has that user.
///
/// # Errors
/// When run as root, which would end the machine; when some are still there after [`REAP_MAX`].
pub async fn reap_own_user() -> Result<(), std::io::Error> {
    if rustix::process::getuid().is_root() || rustix::process::geteuid().is_root() {
        return Err(std::io::Error::other("reap runs as the agent's user and never as root"));
    }
    let until = Instant::now() + REAP_MAX;
    loop {
        // To the group of init means to every process that may be signalled (kill(2), pid -1), all at once, so
        // that none can fork itself away.
        match kill_process_group(Pid::INIT, Signal::KILL) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => {}
            Err(error) => return Err(error.into()),
        }
        if !others_of_own_user()? {
            return Ok(());
        }
        if Instant::now() >= until {
            return Err(std::io::Error::other("processes of the agent do not end"));
        }
        tokio::time::sleep(REAP_LOOK).await;
    }
}

/// Whether another process of this user still runs; one that only waits to be seen by its parent does not.
fn others_of_own_user() -> Result<bool, std::io::Error> {
    let own = rustix::process::getpid().as_raw_nonzero().get().to_string();
    let uid = format!("Uid:\t{}\t", rustix::process::getuid().as_raw());
    for entry in std::fs::read_dir("/proc")?.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| name.bytes().all(|b| b.is_ascii_digit()))
        else {
            continue;
        };
        // One that is gone by now is no other process.
        let status = std::fs::read_to_string(format!("/proc/{name}/status")).unwrap_or_default();
        if name != own && status.contains(&uid) && !status.contains("State:\tZ") {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What every process of ours gives up before it does anything else: new privileges, core dumps, being looked into.
///
/// # Errors
/// When the system refuses.
pub fn shut_in() -> Result<(), std::io::Error> {
    use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
    rustix::thread::set_no_new_privs(true)?;
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    Ok(())
}

/// Whether a path is a directory and no link.
#[must_use]
pub fn is_directory(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

#[cfg(test)]
mod tests;
