//! The person's repository: finding it, saying what is wrong with it, following its refs, choosing where to land.
//!
//! It is read and pushed to by the git command line alone, so that whatever git can open can be upstream, as long
//! as its objects fit the hub. Its files are never touched by us. What a run does with it is decided elsewhere.

use std::collections::BTreeMap;
use std::io::Write as _;

use cantus_proto::ids::{CommitId, RepositoryId};

use super::git::{GitError, OUTPUT_BYTES_MAX, REMOTE_WALL, TRANSFER_WALL};
use super::{Hub, HubError, Store, commit_id, hold, quarantine, refs};

mod checkout;
mod error;
mod location;

pub use checkout::{Checkout, Landing};
pub use error::ConnectError;

use location::{full_ref, most_alike};

/// The file in a hub repository with its upstream's location.
const LOCATION_FILE: &str = "cantus-upstream";
/// A repository that the hub follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connected {
    /// Its id in the hub, in mirrors and on the bus.
    pub repository: RepositoryId,
    /// The address in the form that is kept: an absolute path, or the URL.
    pub location: String,
    /// The target as a full ref.
    pub target: String,
    /// Where the target stands.
    pub head: CommitId,
    /// Where the target is checked out, if it is.
    pub checkout: Option<Checkout>,
}

/// An upstream as git takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Upstream {
    pub(super) location: String,
    local: bool,
}

impl Upstream {
    pub(super) fn new(location: String) -> Self {
        let local = location.starts_with('/');
        Self { location, local }
    }

    /// For messages. There is no secret in it: [`ConnectError::Password`].
    pub(super) fn shown(&self) -> String {
        self.location.clone()
    }
}

impl Hub {
    /// Finds a repository, fetches a branch of it into the hub, and sees whether it is checked out.
    ///
    /// `location` is an absolute path or a URL; `target` a branch name, short or full.
    ///
    /// # Errors
    /// [`ConnectError`] has a case for each thing that can be wrong. Nothing half done is left in the hub.
    pub fn connect(&self, location: &str, target: &str) -> Result<Connected, ConnectError> {
        let reference = full_ref(target)?;
        let upstream = self.resolve(location)?;
        let heads = self.list_refs(&upstream, &["refs/heads/*"])?;
        if heads.is_empty() {
            return Err(ConnectError::Empty(upstream.shown()));
        }
        if !heads.contains_key(&reference) {
            return Err(ConnectError::TargetMissing {
                location: upstream.shown(),
                target: target.to_owned(),
                suggestions: most_alike(target, heads.keys()),
            });
        }
        let repository = RepositoryId::of(&upstream.location);
        let lock = self.lock_of(&repository);
        let _held = hold(&lock);
        let path = self.path(&repository);
        let fresh = !path.exists();
        let connected = self.create(&repository, &upstream).and_then(|store| {
            let mut found = self.follow(&store, &upstream, &[&reference])?;
            if store.git2.is_shallow() {
                return Err(ConnectError::Shallow(upstream.shown()));
            }
            let gone =
                HubError::TargetGone { reference: reference.clone(), location: upstream.shown() };
            Ok(found.remove(&reference).ok_or(gone)?)
        });
        let head = connected.inspect_err(|_| {
            if fresh {
                // The error at hand says more than one about tidying up would.
                let _ = std::fs::remove_dir_all(&path);
            }
        })?;
        let checkout = self.find_checkout(&upstream, &reference)?;
        Ok(Connected { repository, location: upstream.location, target: reference, head, checkout })
    }

    /// Reads where a ref stands upstream, and fetches it.
    ///
    /// # Errors
    /// [`HubError::TargetGone`] when it was deleted; [`HubError::Git`] when upstream cannot be read.
    pub fn head(&self, repository: &RepositoryId, reference: &str) -> Result<CommitId, HubError> {
        let store = self.store(repository)?;
        let upstream = self.upstream(&store)?;
        let lock = self.lock_of(repository);
        let _held = hold(&lock);
        self.follow(&store, &upstream, &[reference])
            .map_err(into_hub_error)?
            .remove(reference)
            .ok_or_else(|| HubError::TargetGone {
                reference: reference.to_owned(),
                location: upstream.shown(),
            })
    }

    /// The upstream of a hub repository.
    pub(super) fn upstream(&self, store: &Store) -> Result<Upstream, HubError> {
        let path = store.path.join(LOCATION_FILE);
        match std::fs::read_to_string(&path) {
            Ok(location) => Ok(Upstream::new(location)),
            Err(source) => {
                Err(HubError::Io { what: "read the upstream's location from", path, source })
            }
        }
    }

    /// Makes the bare repository if it is not there.
    pub(super) fn create(
        &self,
        repository: &RepositoryId,
        upstream: &Upstream,
    ) -> Result<Store, ConnectError> {
        let path = self.path(repository);
        let file = path.join(LOCATION_FILE);
        if !file.exists() {
            git2::Repository::init_opts(&path, &quarantine::bare_options()).map_err(|source| {
                let what = "creating it";
                HubError::Store { what, repository: repository.clone(), source }
            })?;
            let write = || {
                let mut temporary = tempfile::NamedTempFile::new_in(&path)?;
                temporary.write_all(upstream.location.as_bytes())?;
                temporary.persist(&file).map(drop).map_err(std::io::Error::from)
            };
            write().map_err(|source| HubError::Io { what: "write", path: file.clone(), source })?;
        }
        Ok(Store::open(&path, repository)?)
    }

    /// Where these refs stand upstream; those that are not there are left out. What moved is fetched.
    pub(super) fn follow(
        &self,
        store: &Store,
        upstream: &Upstream,
        references: &[&str],
    ) -> Result<BTreeMap<String, CommitId>, ConnectError> {
        let mut found = self.list_refs(upstream, references)?;
        found.retain(|name, _| references.contains(&name.as_str()));
        let tracked = |name: &str| store.git2.refname_to_id(&refs::upstream(name)).map(commit_id);
        let moved: Vec<_> = found
            .iter()
            .filter(|(name, head)| tracked(name).ok().as_ref() != Some(head))
            .map(|(name, _)| name.clone())
            .collect();
        if moved.is_empty() {
            return Ok(found);
        }
        let output = self
            .git
            .call_in(&store.path, "fetch")
            .args(["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"])
            .args(["--no-auto-maintenance", "--refmap=", "--", &upstream.location])
            .args(moved.iter().map(|name| format!("+{name}:{}", refs::upstream(name))))
            .remote()
            .wall(TRANSFER_WALL)
            .run_any(OUTPUT_BYTES_MAX)?;
        // Git leaves out a ref whose history is cut with no more than a warning.
        if output.complaint.contains("shallow") {
            return Err(ConnectError::Shallow(upstream.shown()));
        }
        if !output.status.success() {
            return Err(unreachable(upstream, output.complaint));
        }
        // Upstream may have moved on between the two questions: what was fetched is the answer.
        for name in moved {
            let head = tracked(&name).map_err(store.failed("reading a fetched ref"))?;
            found.insert(name, head);
        }
        Ok(found)
    }

    /// Asks upstream for refs. Their names have no control characters, so lines are safe to split.
    fn list_refs(
        &self,
        upstream: &Upstream,
        patterns: &[&str],
    ) -> Result<BTreeMap<String, CommitId>, ConnectError> {
        let output = self
            .git
            .call("ls-remote")
            .args(["--quiet", "--", &upstream.location])
            .args(patterns)
            .remote()
            .wall(REMOTE_WALL)
            .run_any(OUTPUT_BYTES_MAX)?;
        if !output.status.success() {
            return Err(unreachable(upstream, output.complaint));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let mut found = BTreeMap::new();
        for line in text.lines() {
            let Some((id, name)) = line.split_once('\t') else { continue };
            if id.len() == 64 {
                return Err(ConnectError::ObjectFormat(upstream.shown(), "sha256".to_owned()));
            }
            let id = CommitId::new(id).map_err(|error| GitError::Answer {
                command: "ls-remote",
                what: error.to_string(),
            })?;
            found.insert(name.to_owned(), id);
        }
        Ok(found)
    }
}

/// Inside other calls only the hub's own kind of error is known.
pub(super) fn into_hub_error(error: ConnectError) -> HubError {
    match error {
        ConnectError::Hub(error) => error,
        other => HubError::Upstream(Box::new(other)),
    }
}

fn unreachable(upstream: &Upstream, reason: String) -> ConnectError {
    ConnectError::Unreachable { location: upstream.shown(), reason }
}
