//! What a member is made of: a container or a plain process. One match, no decisions.

use std::sync::Arc;

use super::{Ground, Role};
use crate::engine::Exit;
use crate::member::Containers;
use crate::process::Processes;

/// Launches, watches and clears away the members of a pool.
#[derive(Debug, Clone)]
pub(crate) enum Backend {
    Containers(Containers),
    Processes(Processes),
}

impl Backend {
    pub(crate) fn new(ground: Arc<Ground>) -> Self {
        match ground.engine.clone() {
            Some(engine) => Self::Containers(Containers::new(ground, engine)),
            None => Self::Processes(Processes::new(ground)),
        }
    }

    /// Brings a member up, held; the error says why it could not.
    pub(crate) async fn launch(&self, role: &Role, number: u64) -> Result<(), String> {
        match self {
            Self::Containers(containers) => containers.launch(role, number).await,
            Self::Processes(processes) => processes.launch(role, number).await,
        }
    }

    /// Waits for the end of a launched member; with it what it said last, if it failed.
    pub(crate) async fn watch(&self, role: &Role, number: u64) -> (Exit, Option<String>) {
        match self {
            Self::Containers(containers) => containers.watch(role, number).await,
            Self::Processes(processes) => processes.watch(role, number).await,
        }
    }

    /// Connects a held member to the bus.
    pub(crate) fn open(&self, role: &Role, number: u64) {
        match self {
            Self::Containers(containers) => containers.open(role, number),
            // A process dials the bus by itself: it is launched only when a slot is free.
            Self::Processes(_) => {}
        }
    }

    /// Asks a member to finish, or ends it.
    pub(crate) async fn end(&self, role: &Role, number: u64, hard: bool) {
        match self {
            Self::Containers(containers) => containers.end(role, number, hard).await,
            Self::Processes(processes) => processes.end(role, number, hard).await,
        }
    }

    /// Reports and keeps what an ended member leaves, and removes it.
    pub(crate) async fn clear(&self, role: &Role, number: u64, exit: Option<Exit>, opened: bool) {
        match self {
            Self::Containers(containers) => containers.clear(role, number, exit, opened).await,
            Self::Processes(processes) => processes.clear(role, number, exit, opened).await,
        }
    }

    /// Clears away what pools that are gone have left.
    pub(crate) async fn sweep(&self, roles: &[Arc<Role>]) {
        match self {
            Self::Containers(containers) => containers.sweep(roles).await,
            Self::Processes(processes) => processes.sweep(roles).await,
        }
    }
}
