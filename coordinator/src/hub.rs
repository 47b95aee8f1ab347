//! The coordinator's git side: one bare repository per upstream, in which results are checked, merged and landed.
//!
//! Two engines, as each is good at something. The git command line fetches, pushes, merges and packs (its
//! merge is the one that people know); git2 reads objects and moves refs of the hub by compare-and-swap. All
//! functions block and are bounded in time; calls on different repositories may run side by side, and calls
//! on one are safe side by side too. Deciding *what* is merged and landed is the core's; this module
//! leaves out policy, the journal and the bus.
//!
//! Layout of the directory: `<repository id>.git` (bare, ours alone), `gitconfig` (ours; a place for credential
//! helpers of the operator), `home` (empty), `scratch` (what does not survive a start).

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cantus_proto::ids::{CommitId, RepositoryId, TreeId};

mod bundle;
mod changes;
mod contents;
mod evidence;
mod git;
mod land;
mod merge;
mod message;
mod quarantine;
mod refs;
mod upstream;

pub use bundle::BundleFile;
pub use changes::{Change, ChangeKind, Offender, Patch, ResultLimits};
pub use evidence::{EvidenceError, EvidenceFile, EvidenceReadError, manifest_digest};
pub use git::GitError;
pub use land::{LandError, LandOutcome, LandRequest, LandedItem};
pub use merge::{MergeError, MergeOutcome, MergeRequest, Merged};
pub use message::{TRAILER_EVIDENCE, TRAILER_ITEM, TRAILER_RUN, trailer_value};
pub use quarantine::{InspectRequest, Inspection, Refusal};
pub use upstream::{Checkout, ConnectError, Connected, Landing};

use git::Git;

/// What can go wrong in any call on the hub and is nobody's work's fault.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// The git command line failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// libgit2 failed on the hub's own repository.
    #[error("{what} in the hub repository {repository} failed")]
    Store {
        /// What was tried.
        what: &'static str,
        /// Where.
        repository: RepositoryId,
        /// The reason.
        source: git2::Error,
    },
    /// libgit2 wrote an object and did not say that it failed.
    #[error("an object of {path:?} could not be written: free space on its disk and try again")]
    NotWritten {
        /// The hub repository.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("cannot {what} {path:?}")]
    Io {
        /// The verb and the kind of thing.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Nobody connected this repository.
    #[error(
        "repository {0} is not in the hub: submit against its location again, so that it is fetched"
    )]
    Unknown(RepositoryId),
    /// Upstream cannot be read any more.
    #[error(transparent)]
    Upstream(Box<ConnectError>),
    /// The target branch is gone upstream.
    #[error(
        "{reference} no longer exists in {location}: create it again or submit for another target"
    )]
    TargetGone {
        /// The full ref.
        reference: String,
        /// Upstream.
        location: String,
    },
}

/// All repositories that this coordinator works on.
#[derive(Debug)]
pub struct Hub {
    dir: PathBuf,
    /// Of this start alone: what a killed coordinator began may still be writing into its own.
    scratch: tempfile::TempDir,
    git: Git,
    /// One per repository: refs that follow upstream are written by one thread at a time.
    locks: Mutex<HashMap<RepositoryId, Arc<Mutex<()>>>>,
}

impl Hub {
    /// Opens or creates the hub in a directory and checks the git command line.
    ///
    /// # Errors
    /// [`GitError::Missing`] and [`GitError::TooOld`] say what to install; [`HubError::Io`] names the path.
    pub fn open(dir: &Path) -> Result<Self, HubError> {
        Self::open_with(dir, |name| std::env::var_os(name))
    }

    /// Opens it with the environment from which the little that git is given gets picked.
    fn open_with(
        dir: &Path,
        environment: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, HubError> {
        let io = |what, path: &Path| {
            let path = path.to_owned();
            move |source| HubError::Io { what, path, source }
        };
        std::fs::create_dir_all(dir).map_err(io("create the hub directory", dir))?;
        let dir = dir.canonicalize().map_err(io("resolve the hub directory", dir))?;
        let scratches = dir.join("scratch");
        for path in [&scratches, &dir.join("home")] {
            std::fs::create_dir_all(path).map_err(io("create the hub directory", path))?;
        }
        clear(&scratches);
        let scratch = tempfile::tempdir_in(&scratches)
            .map_err(io("create a scratch directory in", &scratches))?;
        let git = Git::new(&dir, environment)?;
        Ok(Self { dir, scratch, git, locks: Mutex::default() })
    }

    fn path(&self, repository: &RepositoryId) -> PathBuf {
        self.dir.join(format!("{repository}.git"))
    }

    /// For files that nobody needs after this start.
    pub(crate) fn scratch(&self) -> PathBuf {
        self.scratch.path().to_owned()
    }

    /// Opens the repository with libgit2 and keeps its name for errors.
    fn store(&self, repository: &RepositoryId) -> Result<Store, HubError> {
        let path = self.path(repository);
        if !path.is_dir() {
            return Err(HubError::Unknown(repository.clone()));
        }
        Store::open(&path, repository)
    }

    fn lock_of(&self, repository: &RepositoryId) -> Arc<Mutex<()>> {
        // A thread that panicked while it held the lock left no half-written state in the map.
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(locks.entry(repository.clone()).or_default())
    }
}

/// Removes what earlier starts left behind. What is still written to stays for the next start.
fn clear(scratches: &Path) {
    for entry in std::fs::read_dir(scratches).into_iter().flatten().flatten() {
        if let Err(error) = std::fs::remove_dir_all(entry.path()) {
            tracing::debug!(path = ?entry.path(), %error, "an old scratch directory stays for now");
        }
    }
}

/// Waits for one repository's lock. Poison means nothing here: what it guards is on disk and written atomically.
fn hold(lock: &Mutex<()>) -> MutexGuard<'_, ()> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One repository in libgit2, with the name that errors need.
struct Store {
    git2: git2::Repository,
    path: PathBuf,
    repository: RepositoryId,
}

impl Store {
    fn open(path: &Path, repository: &RepositoryId) -> Result<Self, HubError> {
        let git2 = git2::Repository::open_bare(path).map_err(|source| HubError::Store {
            what: "opening it",
            repository: repository.clone(),
            source,
        })?;
        Ok(Self { git2, path: path.to_owned(), repository: repository.clone() })
    }

    /// Turns a libgit2 error into ours, saying what was tried.
    fn failed(&self, what: &'static str) -> impl FnOnce(git2::Error) -> HubError {
        let repository = self.repository.clone();
        move |source| HubError::Store { what, repository, source }
    }

    /// The id of a commit just made, after a look that it is there: on a full disk libgit2 reports success. What it
    /// names, libgit2 itself looked for before.
    fn written(&self, id: git2::Oid) -> Result<CommitId, HubError> {
        match self.git2.find_commit(id) {
            Ok(commit) => Ok(commit_id(commit.id())),
            Err(_) => Err(HubError::NotWritten { path: self.path.clone() }),
        }
    }

    /// Whether a commit is there, whole or not.
    fn has_commit(&self, commit: &CommitId) -> bool {
        oid(commit.as_str()).is_ok_and(|id| self.git2.find_commit(id).is_ok())
    }

    fn commit(&self, commit: &CommitId) -> Result<git2::Commit<'_>, HubError> {
        oid(commit.as_str())
            .and_then(|id| self.git2.find_commit(id))
            .map_err(self.failed("reading a commit"))
    }

    fn tree(&self, tree: &TreeId) -> Result<git2::Tree<'_>, HubError> {
        oid(tree.as_str())
            .and_then(|id| self.git2.find_tree(id))
            .map_err(self.failed("reading a tree"))
    }
}

fn oid(text: &str) -> Result<git2::Oid, git2::Error> {
    git2::Oid::from_str(text)
}

fn commit_id(id: git2::Oid) -> CommitId {
    CommitId::new(id.to_string()).expect("libgit2 prints an id as 40 lower-case hex digits")
}

fn tree_id(id: git2::Oid) -> TreeId {
    TreeId::new(id.to_string()).expect("libgit2 prints an id as 40 lower-case hex digits")
}

#[cfg(test)]
mod tests;
