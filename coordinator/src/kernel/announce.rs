//! Source on its way to the mirrors: one chain of bundles per repository on CANTUS_SOURCES.
//!
//! The first link of a chain is complete and replaces what was on the bus before; each further link needs the
//! one before it. A chain that has grown long starts anew, so that a host that comes late reads little.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use cantus_proto::bus::Bus;
use cantus_proto::ids::{Blob, CommitId, RepositoryId};
use cantus_proto::message::SourceUpdate;
use tokio::sync::Mutex;

use crate::hub::{BundleFile, Hub};
use cantus_core::event::Repository;

/// Links after which a chain starts anew.
const LINKS_MAX: u32 = 128;
/// Largest source bundle in bytes: a repository whose whole history is larger needs a mirror by other means.
const SOURCE_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// How long one bundle may take to reach the blob store.
const PATIENCE: Duration = Duration::from_secs(300);

/// Announces heads of targets to the mirrors.
pub struct Announcer {
    bus: Bus,
    hub: Option<Arc<Hub>>,
    chains: Mutex<BTreeMap<RepositoryId, Chain>>,
}

#[derive(Default)]
struct Chain {
    /// The newest commit and its bundle.
    end: Option<(CommitId, Blob)>,
    links: u32,
    /// Where each target was announced to be.
    targets: BTreeMap<String, CommitId>,
}

impl Announcer {
    pub(super) fn new(bus: Bus, hub: Option<Arc<Hub>>) -> Self {
        Self { bus, hub, chains: Mutex::default() }
    }

    /// Largest bundle that travels on the bus in bytes.
    pub(super) fn bundle_bytes_max(&self) -> u64 {
        SOURCE_BYTES_MAX
    }

    /// Makes sure that mirrors get `head` as the target's. Does nothing when they have been told.
    ///
    /// # Errors
    /// When it cannot be bundled or published.
    pub async fn announce(&self, repository: &Repository, head: &CommitId) -> anyhow::Result<()> {
        let mut chains = self.chains.lock().await;
        let chain = chains.entry(repository.id.clone()).or_default();
        if chain.targets.get(&repository.target) == Some(head) {
            return Ok(());
        }
        if chain.links >= LINKS_MAX {
            let targets = std::mem::take(chain).targets;
            for (target, head) in targets.iter().filter(|(target, _)| **target != repository.target)
            {
                self.link(chain, &repository.id, target, head).await?;
            }
        }
        self.link(chain, &repository.id, &repository.target, head).await
    }

    async fn link(
        &self,
        chain: &mut Chain,
        repository: &RepositoryId,
        target: &str,
        head: &CommitId,
    ) -> anyhow::Result<()> {
        let prerequisite = chain.end.as_ref().map(|(end, _)| end.clone());
        let made = self.bundle(repository, target, head, prerequisite).await?;
        let (bundle, prerequisite) = match (made, &chain.end) {
            (Some(file), _) => {
                let blob = self.bus.put_blob_file(&file.path, SOURCE_BYTES_MAX, PATIENCE).await?;
                (blob, file.prerequisite)
            }
            // The commit is there already; only the target is new to the mirrors.
            (None, Some((end, blob))) => (blob.clone(), Some(end.clone())),
            (None, None) => anyhow::bail!("{target} of repository {repository} gave no bundle"),
        };
        let update = SourceUpdate {
            repository: repository.clone(),
            target: target.to_owned(),
            head: head.clone(),
            prerequisite,
            bundle: bundle.clone(),
        };
        let id = format!("{repository}/{target}/{head}/{}", chain.links);
        self.bus.publish_source(&update, &id).await?;
        chain.end = Some((head.clone(), bundle));
        chain.links += 1;
        chain.targets.insert(target.to_owned(), head.clone());
        Ok(())
    }

    async fn bundle(
        &self,
        repository: &RepositoryId,
        target: &str,
        head: &CommitId,
        prerequisite: Option<CommitId>,
    ) -> anyhow::Result<Option<BundleFile>> {
        let hub =
            self.hub.clone().ok_or_else(|| anyhow::anyhow!("this coordinator has no git hub"))?;
        let (repository, target, head) = (repository.clone(), target.to_owned(), head.clone());
        let bundle = tokio::task::spawn_blocking(move || {
            hub.source_bundle(&repository, &target, &head, prerequisite.as_ref())
        });
        Ok(bundle.await??)
    }
}
