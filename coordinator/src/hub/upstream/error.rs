//! All that can be wrong with a person's repository, each with its way out.

use super::super::{GitError, HubError};

/// Why a repository cannot be worked on.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// No such path.
    #[error("repository {0:?} does not exist: check the path in the plan")]
    Missing(String),
    /// A path, but no repository.
    #[error(
        "{0:?} is not the top of a git repository: name that directory, or make one with `git init` and a commit"
    )]
    NotRepository(String),
    /// Git distrusts its owner.
    #[error(
        "{0:?} belongs to another user: run the coordinator as its owner, or name a clone of your own"
    )]
    NotOwned(String),
    /// No commits.
    #[error("{0:?} has no commits: make a first commit")]
    Empty(String),
    /// History is cut.
    #[error("{0:?} is a shallow clone: complete it with `git fetch --unshallow`")]
    Shallow(String),
    /// Objects are elsewhere.
    #[error("{0:?} is a partial clone: name a full clone, made without `--filter`")]
    Partial(String),
    /// Another hash.
    #[error("{0:?} uses {1} object ids, which Cantus cannot read: name a repository with sha1 ids")]
    ObjectFormat(String, String),
    /// Landing would fail.
    #[error(
        "{0:?} cannot be written ({1}): give the coordinator's user the right to, or name a clone of your own"
    )]
    NotWritable(String, String),
    /// Not a branch name at all.
    #[error("{0:?} is no branch name: use one that `git branch` accepts")]
    TargetName(String),
    /// No such branch.
    #[error("{location:?} has no branch {target:?}: {}", suggest(.suggestions))]
    TargetMissing {
        /// Upstream.
        location: String,
        /// What was asked for.
        target: String,
        /// Branches that are there, most alike first.
        suggestions: Vec<String>,
    },
    /// A secret where it would be recorded.
    #[error(
        "the address {0:?} holds a password, which would be recorded: use a credential helper, set in the hub's gitconfig"
    )]
    Password(String),
    /// Git could not read it.
    #[error(
        "cannot read {location:?}: {reason}; check the address, the network and the credentials"
    )]
    Unreachable {
        /// Upstream.
        location: String,
        /// Git's words.
        reason: String,
    },
    /// The branch for landing could not be made.
    #[error(
        "cannot create {reference} in {location:?}: {reason}; free that name, or switch the checkout of the target to another branch"
    )]
    LandingBranch {
        /// The full ref.
        reference: String,
        /// Upstream.
        location: String,
        /// Git's words.
        reason: String,
    },
    /// Trouble of the hub.
    #[error(transparent)]
    Hub(#[from] HubError),
}

impl From<GitError> for ConnectError {
    fn from(error: GitError) -> Self {
        Self::Hub(error.into())
    }
}

fn suggest(names: &[String]) -> String {
    if names.is_empty() {
        return "it has no branches, create one".to_owned();
    }
    format!("use one of {}, or create it", names.join(", "))
}
