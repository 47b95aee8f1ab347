//! What a start clears away: pins of runs that landed whole, and chunks of uploads that were cut off.
//!
//! It happens once after a start and then rests, so that an idle coordinator does nothing.

use std::sync::Arc;
use std::time::Duration;

use cantus_proto::bus::{BlobError, BlobOrphans, Bus};
use cantus_proto::ids::{RepositoryId, RunId};

use super::{Handle, chain};
use crate::hub::Hub;
use cantus_core::run::RunState;

/// Pause before what looked like an orphan is taken for one: longer than any upload takes.
const UPLOAD_MAX: Duration = Duration::from_secs(10 * 60);

/// Clears away once; what fails is logged and left for the next start.
pub async fn after_start(handle: Handle, bus: Bus, hub: Arc<Hub>) {
    if let Ok(runs) = handle.ask(|core| core.runs().values().filter_map(whole).collect()).await {
        prune(hub, runs).await;
    }
    let reclaimed = async {
        let suspects = bus.reclaim_blobs(&BlobOrphans::default()).await?;
        tokio::time::sleep(UPLOAD_MAX).await;
        bus.reclaim_blobs(&suspects).await?;
        Ok::<(), BlobError>(())
    };
    if let Err(error) = reclaimed.await {
        tracing::warn!("orphaned chunks not reclaimed: {}", chain(&error));
    }
}

/// A run of which everything landed: its work is on the target, and its other attempts are in the blob store.
fn whole(run: &cantus_core::run::Run) -> Option<(RepositoryId, RunId)> {
    let repository = run.repository.as_ref().filter(|_| run.state() == RunState::Completed)?;
    Some((repository.id.clone(), run.id.clone()))
}

async fn prune(hub: Arc<Hub>, runs: Vec<(RepositoryId, RunId)>) {
    let pruned = tokio::task::spawn_blocking(move || {
        for (repository, run) in runs {
            match hub.prune(&repository, &run) {
                Ok(0) => {}
                Ok(pins) => tracing::info!(%run, pins, "pruned"),
                Err(error) => tracing::warn!(%run, "not pruned: {}", chain(&error)),
            }
        }
    });
    if let Err(error) = pruned.await {
        tracing::warn!("pruning ended badly: {error}");
    }
}
