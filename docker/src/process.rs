//! Members that are plain processes of this machine: for development and benchmarks, when asked for.
//!
//! There is no isolation here: the agent is this very user. What leases say of themselves (`Leased.isolation`)
//! keeps such work from landing under the default policy. The life of a member is that of a container.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cantus_proto::ids::ContainerName;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::process::{Child, Command};

use crate::container::{RoleKind, role_environment};
use crate::engine::Exit;
use crate::labels::PoolId;
use crate::member::{chain, report_exit};
use crate::pool::{Ground, Role};

/// Longest that salvage may take, as for containers.
const SALVAGE_MAX: Duration = Duration::from_secs(180);
/// Most of a log that is shown, in bytes.
const LAST_WORDS_BYTES_MAX: usize = 1_000;
/// File of a member's directory: who runs in it and for which role.
const NOTE: &str = "member";
/// File of a member's directory: what it said.
const LOG: &str = "log";

/// The processes of a pool.
#[derive(Debug, Clone)]
pub(crate) struct Processes {
    ground: Arc<Ground>,
    children: Arc<Mutex<BTreeMap<String, Child>>>,
    pids: Arc<Mutex<BTreeMap<String, Pid>>>,
}

impl Processes {
    pub(crate) fn new(ground: Arc<Ground>) -> Self {
        Self { ground, children: Arc::default(), pids: Arc::default() }
    }

    fn name(&self, role: &Role, number: u64) -> ContainerName {
        self.ground.owner.container_name(&role.config.name, number)
    }

    fn dir(&self, name: &str) -> PathBuf {
        self.ground.dir.join("process").join(name)
    }

    fn pid(&self, name: &str) -> Option<Pid> {
        self.pids.lock().expect("nobody panics while it is held").get(name).copied()
    }

    pub(crate) async fn launch(&self, role: &Role, number: u64) -> Result<(), String> {
        let name = self.name(role, number);
        self.ground.enlist(name.as_str());
        self.bring_up(role, name.as_str())
            .map_err(|error| format!("process {name} could not be launched: {error}"))
    }

    fn bring_up(&self, role: &Role, name: &str) -> std::io::Result<()> {
        let dir = self.dir(name);
        std::fs::create_dir_all(&dir)?;
        let child = self.command(role, name, &dir, "lease")?.spawn()?;
        let Some(pid) = child.id() else {
            return Err(std::io::Error::other("it ended before it began"));
        };
        let note = format!("{}\n{}\n", PoolId::of_process(pid)?, role.config.name);
        std::fs::write(dir.join(NOTE), note)?;
        let raw = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let mut pids = self.pids.lock().expect("nobody panics while it is held");
        pids.extend(raw.map(|pid| (name.to_owned(), pid)));
        let mut children = self.children.lock().expect("nobody panics while it is held");
        children.insert(name.to_owned(), child);
        Ok(())
    }

    fn command(&self, role: &Role, name: &str, dir: &Path, what: &str) -> std::io::Result<Command> {
        let log = File::options().create(true).append(true).open(dir.join(LOG))?;
        let mut command =
            Command::new(self.ground.containers.binaries.join(role.config.kind.binary()));
        command
            .arg("--isolation")
            .arg("process")
            .arg("--root")
            .arg(dir)
            .arg("--mirrors")
            .arg(&self.ground.containers.mirrors)
            .arg(what)
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .envs(role_environment(&self.ground.owner, &role.config, name))
            .env("CANTUS_BUS_URL", format!("nats://{}", self.ground.bus_address))
            .current_dir(dir)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            // A signal to the pool's terminal is the pool's to pass on.
            .process_group(0)
            .kill_on_drop(true);
        Ok(command)
    }

    pub(crate) async fn watch(&self, role: &Role, number: u64) -> (Exit, Option<String>) {
        let name = self.name(role, number);
        let child =
            self.children.lock().expect("nobody panics while it is held").remove(name.as_str());
        let Some(mut child) = child else { return (Exit::VANISHED, None) };
        let status = child.wait().await;
        self.pids.lock().expect("nobody panics while it is held").remove(name.as_str());
        let code = match status {
            Ok(status) => status.code().or_else(|| status.signal().map(|signal| 128 + signal)),
            Err(_) => None,
        };
        let exit = Exit { code: code.map_or(Exit::VANISHED.code, i64::from), out_of_memory: false };
        let note = (exit.code != 0).then(|| {
            format!(
                "process {name} ended with exit code {}: {}",
                exit.code,
                last_words(&self.dir(name.as_str()))
            )
        });
        (exit, note)
    }

    pub(crate) async fn end(&self, role: &Role, number: u64, hard: bool) {
        let name = self.name(role, number);
        let Some(pid) = self.pid(name.as_str()) else { return };
        let sent = if hard {
            kill_process_group(pid, Signal::KILL)
        } else {
            kill_process(pid, Signal::TERM)
        };
        if let Err(error) = sent {
            tracing::debug!(%name, %error, "has ended already");
        }
    }

    pub(crate) async fn clear(&self, role: &Role, number: u64, exit: Option<Exit>, opened: bool) {
        let name = self.name(role, number);
        let died = exit.filter(|exit| opened && exit.code != 0);
        if let Some(exit) = died {
            report_exit(&self.ground, role, &name, exit).await;
        }
        if died.is_none() || self.save(role, name.as_str()).await {
            remove(&self.dir(name.as_str()));
        }
        self.ground.discharge(name.as_str());
    }

    /// Saves what a directory holds; whether it may go now.
    async fn save(&self, role: &Role, name: &str) -> bool {
        if role.config.kind == RoleKind::Verifier {
            return true;
        }
        let dir = self.dir(name);
        let salvage = async { self.command(role, name, &dir, "salvage")?.status().await };
        match tokio::time::timeout(SALVAGE_MAX, salvage).await {
            Ok(Ok(status)) if status.success() => true,
            outcome => {
                let words = last_words(&dir);
                tracing::error!(
                    dir = %dir.display(), ?outcome,
                    "the work in it is not saved; it is kept and a sweep tries again: {words}"
                );
                false
            }
        }
    }

    pub(crate) async fn sweep(&self, roles: &[Arc<Role>]) {
        let Ok(found) = std::fs::read_dir(self.ground.dir.join("process")) else { return };
        for entry in found.flatten() {
            let Ok(name) = entry.file_name().into_string() else { continue };
            if !self.ground.is_live(&name) {
                self.sweep_one(roles, &name).await;
            }
        }
    }

    async fn sweep_one(&self, roles: &[Arc<Role>], name: &str) {
        let dir = self.dir(name);
        let note = std::fs::read_to_string(dir.join(NOTE)).unwrap_or_default();
        let mut lines = note.lines();
        let process = PoolId::from_label(lines.next().unwrap_or_default());
        if process.is_alive()
            && let Some(pid) = process.pid()
        {
            tracing::info!(name, "ending a process of a pool that is gone");
            if let Err(error) = kill_process_group(pid, Signal::KILL) {
                tracing::warn!(name, %error, "it could not be ended");
                return;
            }
        }
        let role_name = lines.next();
        let role = roles.iter().find(|role| Some(role.config.name.as_str()) == role_name);
        match role {
            Some(role) if !self.save(role, name).await => {}
            None if role_name.is_some() => {
                tracing::error!(dir = %dir.display(), "it may hold work of a role that is not configured here: kept");
            }
            _ => remove(&dir),
        }
    }
}

fn remove(dir: &Path) {
    match std::fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            tracing::warn!(dir = %dir.display(), "not removed yet: {}", chain(&error));
        }
        _ => {}
    }
}

/// The end of a member's log, as text that is safe to show.
fn last_words(dir: &Path) -> String {
    let log = std::fs::read(dir.join(LOG)).unwrap_or_default();
    let end = &log[log.len().saturating_sub(LAST_WORDS_BYTES_MAX)..];
    String::from_utf8_lossy(end)
        .trim()
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}
