//! One container from launch to removal.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cantus_proto::ids::ContainerName;
use cantus_proto::message::{ContainerExited, Report};

use crate::container::{Purpose, RoleKind, Spec, create_body};
use crate::engine::{Engine, EngineError, Exit};
use crate::pool::{Ground, Role};
use crate::relay::{Relay, RelayError};
use crate::salvage;

/// First and longest pause while the engine is away.
const ENGINE_PAUSE: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(5));
/// Tries to remove something before it is left to the sweeper.
const REMOVAL_TRIES_MAX: u32 = 5;
/// How long to keep trying to report an exit: longer than a lease is of no use, for then it has run out by itself.
const REPORT_PATIENCE: Duration = Duration::from_secs(15);
/// The same when the pool ends.
const REPORT_PATIENCE_ENDING: Duration = Duration::from_secs(3);
/// Tries to save work before it is left to the sweeper, which tries for ever.
const SALVAGE_TRIES_MAX: u32 = 3;

/// The containers of a pool.
#[derive(Debug, Clone)]
pub(crate) struct Containers {
    pub(crate) ground: Arc<Ground>,
    pub(crate) engine: Engine,
    relays: Arc<Mutex<BTreeMap<String, Relay>>>,
}

/// Why a container did not come up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LaunchError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Relay(#[from] RelayError),
}

impl Containers {
    pub(crate) fn new(ground: Arc<Ground>, engine: Engine) -> Self {
        Self { ground, engine, relays: Arc::default() }
    }

    fn name(&self, role: &Role, number: u64) -> ContainerName {
        self.ground.owner.container_name(&role.config.name, number)
    }

    fn relays(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Relay>> {
        self.relays.lock().expect("nobody panics while it is held")
    }

    pub(crate) async fn launch(&self, role: &Role, number: u64) -> Result<(), String> {
        let name = self.name(role, number);
        self.ground.enlist(name.as_str());
        let _permit = self.ground.launches.acquire().await.expect("the semaphore is never closed");
        self.bring_up(role, name.as_str())
            .await
            .map_err(|error| format!("container {name} could not be launched: {}", chain(&error)))
    }

    async fn bring_up(&self, role: &Role, name: &str) -> Result<(), LaunchError> {
        let relay = Relay::listen(&self.ground.sockets.join(name), &self.ground.bus_address)?;
        self.create(role, name, name, Purpose::Lease, &relay).await?;
        self.relays().insert(name.to_owned(), relay);
        self.engine.start(name).await?;
        Ok(())
    }

    /// Creates a container on a volume, which need not exist yet.
    pub(crate) async fn create(
        &self,
        role: &Role,
        name: &str,
        volume: &str,
        purpose: Purpose,
        relay: &Relay,
    ) -> Result<(), EngineError> {
        let image_id = self.engine.image_id(&role.config.image).await?;
        let body = create_body(&Spec {
            owner: &self.ground.owner,
            role: &role.config,
            mounts: &role.mounts,
            purpose,
            image_id: &image_id,
            volume,
            sockets: relay.dir(),
            ground: &self.ground.containers,
        });
        self.engine.create(name, body).await
    }

    pub(crate) fn open(&self, role: &Role, number: u64) {
        if let Some(relay) = self.relays().get(self.name(role, number).as_str()) {
            relay.release();
        }
    }

    pub(crate) async fn watch(&self, role: &Role, number: u64) -> (Exit, Option<String>) {
        let name = self.name(role, number);
        let exit = self.ended(name.as_str()).await;
        self.relays().remove(name.as_str());
        if exit.code == 0 {
            return (exit, None);
        }
        let words = self.engine.last_words(name.as_str()).await;
        let memory = if exit.out_of_memory { ", out of memory" } else { "" };
        (
            exit,
            Some(format!("container {name} ended with exit code {}{memory}: {words}", exit.code)),
        )
    }

    /// Waits for the end of a container, also over an engine that goes away meanwhile.
    async fn ended(&self, name: &str) -> Exit {
        let mut pause = ENGINE_PAUSE.0;
        loop {
            match self.engine.wait(name).await {
                Ok(exit) => return exit,
                Err(error) => tracing::warn!(name, "watching again: {}", chain(&error)),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(ENGINE_PAUSE.1);
        }
    }

    pub(crate) async fn end(&self, role: &Role, number: u64, hard: bool) {
        let name = self.name(role, number);
        let signal = if hard { "SIGKILL" } else { "SIGTERM" };
        if let Err(error) = self.engine.signal(name.as_str(), signal).await {
            tracing::warn!(%name, "could not be signalled: {}", chain(&error));
        }
    }

    pub(crate) async fn clear(&self, role: &Role, number: u64, exit: Option<Exit>, opened: bool) {
        let name = self.name(role, number);
        self.relays().remove(name.as_str());
        let died = exit.filter(|exit| opened && exit.code != 0);
        if let Some(exit) = died {
            report_exit(&self.ground, role, &name, exit).await;
        }
        self.remove_container(name.as_str()).await;
        if died.is_none() || self.save(role, name.as_str()).await {
            self.remove_volume(name.as_str()).await;
        }
        // From here on a leftover is the sweeper's.
        self.ground.discharge(name.as_str());
    }

    /// Saves what a volume holds; whether it may go now.
    pub(crate) async fn save(&self, role: &Role, volume: &str) -> bool {
        if role.config.kind == RoleKind::Verifier {
            return true; // it made nothing: what it found out, it signed and sent
        }
        for attempt in 1..=SALVAGE_TRIES_MAX {
            match salvage::run(self, role, volume).await {
                Ok(()) => return true,
                Err(error) => tracing::warn!(volume, attempt, "not saved yet: {}", chain(&error)),
            }
            self.ground.pause(Duration::from_secs(u64::from(attempt))).await;
        }
        tracing::error!(
            volume,
            "the work in it is not saved; the volume is kept and a sweep tries again"
        );
        false
    }

    pub(crate) async fn remove_container(&self, name: &str) {
        retried(&self.ground, name, || self.engine.remove(name)).await;
    }

    pub(crate) async fn remove_volume(&self, name: &str) {
        retried(&self.ground, name, || self.engine.remove_volume(name)).await;
    }
}

/// Tries a removal a few times; what stays is the sweeper's.
async fn retried<F: Future<Output = Result<(), EngineError>>>(
    ground: &Ground,
    name: &str,
    mut remove: impl FnMut() -> F,
) {
    for attempt in 1..=REMOVAL_TRIES_MAX {
        match remove().await {
            Ok(()) => return,
            Err(error) => tracing::warn!(name, attempt, "not removed yet: {}", chain(&error)),
        }
        ground.pause(Duration::from_secs(u64::from(attempt))).await;
    }
}

/// Tells the coordinator that a member died, so that it need not wait for the lease to run out.
pub(crate) async fn report_exit(ground: &Ground, role: &Role, name: &ContainerName, exit: Exit) {
    let report = Report::ContainerExited(ContainerExited {
        container: name.clone(),
        exit_code: exit.code,
        out_of_memory: exit.out_of_memory,
    });
    let patience = if ground.is_ending() { REPORT_PATIENCE_ENDING } else { REPORT_PATIENCE };
    if let Err(error) = ground.bus.report(&role.config.name, &report, patience).await {
        tracing::warn!(%name, "its end is not reported, its lease runs out by itself: {}", chain(&error));
    }
}

/// An error with all its causes, on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
