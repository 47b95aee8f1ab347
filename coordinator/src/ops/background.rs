//! Processes of `cantus up` in the background: started apart from the terminal, found again by a file with
//! their id and start time, so that another process that got the same id is never ended.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use cantus_docker::labels::PoolId;
use rustix::process::{Pid, Signal, kill_process};

use crate::config::Home;

/// Pause between two looks at a process that is to end.
const LOOK_PAUSE: Duration = Duration::from_millis(50);
/// Lines of a log that are shown when a start fails.
const LOG_LINES_SHOWN: usize = 12;

/// One background process of an installation.
#[derive(Debug, Clone)]
pub struct Background {
    file: PathBuf,
    log: PathBuf,
}

impl Background {
    /// The process with this name, running or not.
    #[must_use]
    pub fn new(home: &Home, name: &str) -> Self {
        Self { file: home.processes().join(name), log: home.logs().join(format!("{name}.log")) }
    }

    /// All that were started and not cleared away.
    #[must_use]
    pub fn all(home: &Home) -> Vec<Self> {
        let entries = fs::read_dir(home.processes()).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names.iter().map(|name| Self::new(home, name)).collect()
    }

    /// Whether this is its name.
    #[must_use]
    pub fn is_named(&self, name: &str) -> bool {
        self.file.file_name().is_some_and(|file| file == name)
    }

    /// Its id, if it runs.
    #[must_use]
    pub fn running(&self) -> Option<Pid> {
        let text = fs::read_to_string(&self.file).ok()?;
        let id = PoolId::from_label(text.trim());
        id.pid().filter(|_| id.is_alive())
    }

    /// Starts `program arguments` apart from this process, its output in its log.
    ///
    /// # Errors
    /// When it runs already, or cannot be started.
    pub fn start(&self, program: &Path, arguments: &[String]) -> anyhow::Result<()> {
        use std::os::unix::process::CommandExt as _;
        if let Some(pid) = self.running() {
            anyhow::bail!(
                "{} runs already as process {}",
                self.file.display(),
                pid.as_raw_nonzero()
            );
        }
        let log = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.log)
            .with_context(|| format!("cannot write {}", self.log.display()))?;
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let id = PoolId::of_process(child.id())?;
        fs::write(&self.file, id.as_str())
            .with_context(|| format!("cannot write {}", self.file.display()))?;
        Ok(())
    }

    /// Sends a signal, if it runs.
    pub fn signal(&self, signal: Signal) {
        if let Some(pid) = self.running() {
            let _ = kill_process(pid, signal);
        }
    }

    /// Waits until it has ended, at most so long; answers whether it has.
    pub async fn ended(&self, limit: Duration) -> bool {
        let looks = limit.as_millis() / LOOK_PAUSE.as_millis();
        for _ in 0..looks {
            if self.running().is_none() {
                return true;
            }
            tokio::time::sleep(LOOK_PAUSE).await;
        }
        self.running().is_none()
    }

    /// Forgets it.
    pub fn clear(&self) {
        let _ = fs::remove_file(&self.file);
    }

    /// The end of its log.
    #[must_use]
    pub fn last_words(&self) -> String {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(LOG_LINES_SHOWN)..].join("\n")
    }

    /// Where its log is.
    #[must_use]
    pub fn log(&self) -> &Path {
        &self.log
    }
}
