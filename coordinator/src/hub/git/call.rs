//! One command: put together, run to its end or its limit, its output collected.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use tokio::time::Instant;

use super::{GitError, HOSTILE_ALLOCATION, OUTPUT_BYTES_MAX, escape};

/// Most of a command's complaints kept, in bytes: the reason is in the first lines.
const STDERR_BYTES_MAX: u64 = 16 * 1024;
/// Most bytes written to a command's input from memory: a pipe takes that many without a reader.
const STDIN_BYTES_MAX: usize = 4_096;
/// How long the pipes of a killed group may stay open (a process may have left the group) before they are given up.
const KILLED_PIPES_WAIT: Duration = Duration::from_secs(2);
/// What a command left behind.
#[derive(Debug)]
pub(in crate::hub) struct Output {
    pub(in crate::hub) status: ExitStatus,
    pub(in crate::hub) stdout: Vec<u8>,
    /// Cut to the first lines, control characters escaped.
    pub(in crate::hub) complaint: String,
    /// More than the limit was written; the command was killed and `stdout` is a beginning.
    pub(in crate::hub) cut: bool,
}

/// One command, put together by its caller.
#[derive(Debug)]
pub(in crate::hub) struct Call {
    pub(super) name: &'static str,
    pub(super) command: Command,
    pub(super) wall: Duration,
    pub(super) stdin: Vec<u8>,
    pub(super) config: PathBuf,
}

impl Call {
    pub(in crate::hub) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    pub(in crate::hub) fn args<S: AsRef<OsStr>>(
        mut self,
        args: impl IntoIterator<Item = S>,
    ) -> Self {
        self.command.args(args);
        self
    }

    pub(in crate::hub) fn wall(mut self, wall: Duration) -> Self {
        self.wall = wall;
        self
    }

    /// A few lines for its input.
    pub(in crate::hub) fn input(mut self, bytes: Vec<u8>) -> Self {
        assert!(bytes.len() <= STDIN_BYTES_MAX, "longer input goes through a file");
        self.command.stdin(Stdio::piped());
        self.stdin = bytes;
        self
    }

    /// The rest of a file for its input, from where the file stands.
    pub(in crate::hub) fn input_file(mut self, file: File) -> Self {
        self.command.stdin(Stdio::from(file));
        self
    }

    /// Sends its output to a file; nothing is kept in memory.
    pub(in crate::hub) fn output_file(mut self, file: File) -> Self {
        self.command.stdout(Stdio::from(file));
        self
    }

    /// It speaks to upstream: the operator's own settings for that hold.
    pub(in crate::hub) fn remote(mut self) -> Self {
        self.command.env("GIT_CONFIG_GLOBAL", &self.config);
        self
    }

    /// It reads what an agent made: a single allocation is bounded.
    pub(in crate::hub) fn hostile_input(mut self) -> Self {
        self.command.env("GIT_ALLOC_LIMIT", HOSTILE_ALLOCATION);
        self
    }

    /// Runs it and demands success.
    pub(in crate::hub) fn run(self) -> Result<Vec<u8>, GitError> {
        let name = self.name;
        let output = self.run_any(OUTPUT_BYTES_MAX)?;
        if output.cut {
            return Err(GitError::OutputTooLarge { command: name.to_owned() });
        }
        if !output.status.success() {
            return Err(output.failed(name));
        }
        Ok(output.stdout)
    }

    /// Runs it and hands on however it ended; its output is cut at a limit.
    pub(in crate::hub) fn run_any(mut self, output_bytes_max: u64) -> Result<Output, GitError> {
        let name = self.name;
        let io = |source| GitError::Io { command: name.to_owned(), source };
        let deadline = Instant::now() + self.wall;
        let mut child = self.command.spawn().map_err(io)?;
        // The command keeps the ends of files and pipes that were made for the child.
        drop(self.command);
        let group = rustix::process::Pid::from_child(&child);
        let (send, events) = mpsc::channel();
        let stdin = child.stdin.take();
        let pipes = start_readers(&mut child, output_bytes_max, &send);
        std::thread::spawn(move || send.send(Event::Ended(child.wait())));
        if let Some(mut stdin) = stdin
            && let Err(error) = stdin.write_all(&self.stdin)
            && error.kind() != std::io::ErrorKind::BrokenPipe
        {
            kill(group);
            return Err(io(error));
        }
        let end = collect(&events, deadline, pipes, || kill(group));
        if end.timed_out {
            return Err(GitError::TimedOut { command: name.to_owned(), wall: self.wall });
        }
        let status =
            end.status.expect("without a time-out the end of the child was seen").map_err(io)?;
        let complaint = escape(&end.stderr);
        if complaint.contains("No space left on device") {
            return Err(GitError::DiskFull { command: name.to_owned() });
        }
        Ok(Output { status, stdout: end.stdout, complaint, cut: end.cut })
    }
}

impl Output {
    pub(in crate::hub) fn failed(self, command: &str) -> GitError {
        GitError::Failed {
            command: command.to_owned(),
            status: self.status.to_string(),
            complaint: self.complaint,
        }
    }
}

enum Event {
    Stdout { bytes: Vec<u8>, cut: bool },
    Stderr(Vec<u8>),
    Ended(std::io::Result<ExitStatus>),
}

#[derive(Default)]
struct End {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    status: Option<std::io::Result<ExitStatus>>,
    cut: bool,
    timed_out: bool,
}

/// Reads each pipe in a thread of its own, so that neither can block the child. Answers how many there are.
fn start_readers(child: &mut Child, stdout_bytes_max: u64, send: &mpsc::Sender<Event>) -> usize {
    let mut pipes = 0;
    if let Some(mut pipe) = child.stdout.take() {
        pipes += 1;
        let send = send.clone();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            // A read error ends like the end of the file: the exit status tells what happened.
            let _ = pipe.by_ref().take(stdout_bytes_max).read_to_end(&mut bytes);
            let cut = pipe.read(&mut [0]).is_ok_and(|more| more > 0);
            send.send(Event::Stdout { bytes, cut })
        });
    }
    if let Some(mut pipe) = child.stderr.take() {
        pipes += 1;
        let send = send.clone();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = pipe.by_ref().take(STDERR_BYTES_MAX).read_to_end(&mut bytes);
            let _ = std::io::copy(&mut pipe, &mut std::io::sink());
            send.send(Event::Stderr(bytes))
        });
    }
    pipes
}

/// Waits for the pipes and the end; kills the group once at the deadline, or when the output is cut.
fn collect(
    events: &mpsc::Receiver<Event>,
    deadline: Instant,
    pipes: usize,
    kill: impl Fn(),
) -> End {
    let mut end = End::default();
    let mut deadline = deadline;
    let mut open = pipes + 1;
    while open > 0 {
        let event = match events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(event) => event,
            Err(_) if end.timed_out => return end,
            Err(_) => {
                end.timed_out = true;
                kill();
                deadline = Instant::now() + KILLED_PIPES_WAIT;
                continue;
            }
        };
        open -= 1;
        match event {
            Event::Stdout { bytes, cut } => {
                end.stdout = bytes;
                end.cut = cut;
                if cut {
                    kill();
                }
            }
            Event::Stderr(bytes) => end.stderr = bytes,
            Event::Ended(status) => end.status = Some(status),
        }
    }
    end
}

/// Ends the whole group. It may be gone already, which is as good.
fn kill(group: rustix::process::Pid) {
    let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
}
