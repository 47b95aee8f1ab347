//! The names of the hub's refs, and the pins that keep work alive.
//!
//! Work is pinned from the moment it is taken in until its run is pruned; a candidate until it is released.
//! Which run is pruned when is decided elsewhere.

use cantus_proto::ids::{AttemptNumber, CommitId, ItemId, RepositoryId, RunId};
use cantus_proto::subjects::token;

use super::{Hub, HubError, Store, hold, oid};

/// Packs above which a release folds the small ones together: git looks into each pack for each object.
const PACKS_MAX: usize = 20;

/// Where the hub keeps what it last saw of an upstream ref. Encoded whole, so that `a` and a later `a/b` can
/// both exist.
pub(super) fn upstream(reference: &str) -> String {
    format!("refs/cantus/upstream/{}", token(reference))
}

/// Each result of an attempt has a pin of its own: a second hand-in never unpins the first.
pub(super) fn work(run: &RunId, item: &ItemId, attempt: AttemptNumber, head: &CommitId) -> String {
    format!("{}{}/{attempt}/{head}", work_of(run), token(item.as_str()))
}

fn work_of(run: &RunId) -> String {
    format!("refs/cantus/work/{}/", token(run.as_str()))
}

pub(super) fn candidate(run: &RunId, item: &ItemId) -> String {
    format!("{}{}", candidates_of(run), token(item.as_str()))
}

fn candidates_of(run: &RunId) -> String {
    format!("refs/cantus/candidate/{}/", token(run.as_str()))
}

impl Store {
    /// Points a ref of the hub's own at a commit, whatever it was before.
    pub(super) fn pin(&self, reference: &str, commit: &CommitId) -> Result<(), HubError> {
        oid(commit.as_str())
            .and_then(|id| self.git2.reference(reference, id, true, "cantus"))
            .map(drop)
            .map_err(self.failed("writing a ref"))
    }

    fn unpin_matching(&self, glob: &str) -> Result<usize, HubError> {
        let failed = |source| self.failed("deleting refs")(source);
        let mut count = 0;
        for reference in self.git2.references_glob(glob).map_err(failed)? {
            reference.and_then(|mut reference| reference.delete()).map_err(failed)?;
            count += 1;
        }
        Ok(count)
    }
}

impl Hub {
    /// Lets go of an item's candidate; its work stays pinned. Nothing to let go of is fine.
    ///
    /// # Errors
    /// [`HubError`] when the repository is unknown or the ref cannot be deleted.
    pub fn release(
        &self,
        repository: &RepositoryId,
        run: &RunId,
        item: &ItemId,
    ) -> Result<(), HubError> {
        let store = self.store(repository)?;
        store.unpin_matching(&candidate(run, item))?;
        self.fold_packs(&store)
    }

    /// Lets go of all work and candidates of a run; answers how many pins went. Evidence stays.
    ///
    /// # Errors
    /// [`HubError`] when the repository is unknown or a ref cannot be deleted.
    pub fn prune(&self, repository: &RepositoryId, run: &RunId) -> Result<usize, HubError> {
        let store = self.store(repository)?;
        let work = store.unpin_matching(&format!("{}*", work_of(run)))?;
        let candidates = store.unpin_matching(&format!("{}*", candidates_of(run)))?;
        Ok(work + candidates)
    }

    /// Folds small packs and loose objects into few packs. Drops no object, reachable or not.
    fn fold_packs(&self, store: &Store) -> Result<(), HubError> {
        let path = store.path.join("objects/pack");
        let packs = std::fs::read_dir(&path)
            .map_err(|source| HubError::Io { what: "list", path: path.clone(), source })?
            .filter_map(Result::ok)
            .filter(|entry| entry.path().extension().is_some_and(|e| e == "pack"))
            .count();
        if packs <= PACKS_MAX {
            return Ok(());
        }
        let lock = self.lock_of(&store.repository);
        let _held = hold(&lock);
        self.git
            .call_in(&store.path, "repack")
            .args(["--geometric=2", "-d", "-q", "--no-write-bitmap-index"])
            .run()?;
        Ok(())
    }
}
