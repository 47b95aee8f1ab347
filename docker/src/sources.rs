//! Follows the source updates of the bus and applies them to the host's mirrors, for as long as the pool runs.
//!
//! What cannot be applied is tried again from the start of the stream, where the last complete bundle is.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use cantus_proto::bus::{BlobError, Bus, BusError, SourceEntry};
use cantus_proto::message::SourceUpdate;
use tokio::time::Instant;

use crate::member::chain;
use crate::mirror::{MirrorError, Mirrors, Need};

/// Largest bundle of a source update, in bytes: a complete one holds all history of a large repository.
const SOURCE_BYTES_MAX: u64 = 8 * 1024 * 1024 * 1024;
/// How long fetching a bundle may wait for a bus that is away.
const FETCH_PATIENCE: Duration = Duration::from_secs(60);
/// First and longest pause until everything is read again after a failure.
const AGAIN_PAUSE: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));

/// Why one update is not applied.
#[derive(Debug, thiserror::Error)]
enum ApplyError {
    #[error(transparent)]
    Mirror(#[from] MirrorError),
    #[error(transparent)]
    Blob(#[from] BlobError),
}

/// Applies updates until the connection to the bus is closed for good.
pub(crate) async fn follow(mirrors: Mirrors, dir: PathBuf, bus: Bus) {
    let follower = Follower { mirrors, incoming: dir.join("incoming.bundle"), bus };
    let mut pause = AGAIN_PAUSE.0;
    loop {
        match follower.read_all(pause).await {
            Ok(recovered) => {
                pause = if recovered { AGAIN_PAUSE.0 } else { (pause * 2).min(AGAIN_PAUSE.1) }
            }
            Err(error) => {
                tracing::error!("mirrors no longer follow: {}", chain(&error));
                return;
            }
        }
    }
}

struct Follower {
    mirrors: Mirrors,
    incoming: PathBuf,
    bus: Bus,
}

impl Follower {
    /// Reads all updates that there are, then what comes, until `pause` after one failed; answers whether all
    /// mirrors were up to date in between.
    async fn read_all(&self, pause: Duration) -> Result<bool, BusError> {
        let mut sources = self.bus.sources(1).await?;
        let mut behind = BTreeSet::new();
        let mut recovered = false;
        let mut again: Option<Instant> = None;
        loop {
            let entry = tokio::select! {
                entry = sources.next() => entry?,
                () = due(again) => return Ok(recovered),
            };
            let Some(update) = readable(entry) else { continue };
            match self.apply(&update).await {
                Ok(()) if behind.remove(&update.repository) && behind.is_empty() => {
                    recovered = true;
                    again = None;
                }
                Ok(()) => {}
                // What follows a failed update fails too: one complaint per repository and pass.
                Err(error) => {
                    if behind.insert(update.repository.clone()) {
                        tracing::warn!(repository = %update.repository, "source update: {}", chain(&error));
                    }
                    again.get_or_insert_with(|| Instant::now() + pause);
                }
            }
        }
    }

    async fn apply(&self, update: &SourceUpdate) -> Result<(), ApplyError> {
        match self.mirrors.need(update).await? {
            Need::Nothing => self.mirrors.point(update).await?,
            Need::Bundle => {
                let fetched = self
                    .bus
                    .get_blob_file(&update.bundle, &self.incoming, SOURCE_BYTES_MAX, FETCH_PATIENCE)
                    .await;
                let applied = match fetched {
                    Ok(()) => {
                        self.mirrors.apply(update, &self.incoming).await.map_err(ApplyError::from)
                    }
                    Err(error) => Err(error.into()),
                };
                match std::fs::remove_file(&self.incoming) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                        tracing::warn!(path = %self.incoming.display(), %error, "could not be removed");
                    }
                    _ => {}
                }
                applied?;
            }
        }
        tracing::debug!(repository = %update.repository, target = update.target, head = %update.head, "mirrored");
        Ok(())
    }
}

/// What an entry says; one that says nothing is passed over, for it will never say more.
fn readable(entry: SourceEntry) -> Option<SourceUpdate> {
    entry
        .update
        .inspect_err(|error| {
            tracing::error!(sequence = entry.sequence, "source update: {}", chain(error))
        })
        .ok()
}

async fn due(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
