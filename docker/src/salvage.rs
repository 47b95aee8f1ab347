//! Keeps what a worker left behind: `cantus-worker salvage` in a container of the same image, on its volume.
//!
//! Whether there is anything to keep is the binary's business; here it only gets its chance, bounded.

use std::time::Duration;

use crate::container::Purpose;
use crate::engine::EngineError;
use crate::member::Containers;
use crate::pool::Role;
use crate::relay::{Relay, RelayError};

/// Longest that saving may take: it commits a tree and sends one bundle.
const SALVAGE_MAX: Duration = Duration::from_secs(180);

/// Why the work in a volume is not saved.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SalvageError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Relay(#[from] RelayError),
    #[error("salvage took more than {} s", SALVAGE_MAX.as_secs())]
    Timeout,
    #[error("salvage ended with exit code {code}: {words}")]
    Failed { code: i64, words: String },
}

/// Saves the work in a volume, or finds that there is none.
pub(crate) async fn run(
    containers: &Containers,
    role: &Role,
    volume: &str,
) -> Result<(), SalvageError> {
    let name = format!("{volume}-salvage");
    containers.ground.enlist(&name);
    let result = attempt(containers, role, &name, volume).await;
    containers.remove_container(&name).await;
    containers.ground.discharge(&name);
    result
}

async fn attempt(
    containers: &Containers,
    role: &Role,
    name: &str,
    volume: &str,
) -> Result<(), SalvageError> {
    let relay =
        Relay::listen(&containers.ground.sockets.join(name), &containers.ground.bus_address)?;
    relay.release();
    // An earlier one that failed half way has old sockets.
    containers.engine.remove(name).await?;
    containers.create(role, name, volume, Purpose::Salvage, &relay).await?;
    containers.engine.start(name).await?;
    let exit = tokio::time::timeout(SALVAGE_MAX, containers.engine.wait(name))
        .await
        .map_err(|_| SalvageError::Timeout)??;
    if exit.code == 0 {
        return Ok(());
    }
    let words = containers.engine.last_words(name).await;
    Err(SalvageError::Failed { code: exit.code, words })
}
