//! Merges a result onto a target head: the tree that is verified, and that alone lands.
//!
//! `git merge-tree` decides, without a work tree. No attributes are read and no configuration names a
//! program, so nothing in the trees has a say in how they are merged. A merge can be done again on a moved head,
//! without the bundle.

use std::collections::BTreeSet;

use cantus_proto::ids::{CommitId, Digest, ItemId, RepositoryId, RunId, TreeId};

use super::git::{GitError, OUTPUT_BYTES_MAX, Output, escape};
use super::{BundleFile, Hub, HubError, Store, land, refs};

/// The ref in a candidate's bundle.
const BUNDLE_REF: &str = "refs/heads/candidate";

/// A result in the hub, and where it shall go.
#[derive(Debug, Clone, Copy)]
pub struct MergeRequest<'a> {
    /// Whose run.
    pub run: &'a RunId,
    /// Which item.
    pub item: &'a ItemId,
    /// The result, as it was inspected.
    pub head: &'a CommitId,
    /// The target's head, read fresh.
    pub onto: &'a CommitId,
    /// The date of the candidate commit: seconds since 1970.
    pub now_unix_s: i64,
}

/// What came of a merge.
#[derive(Debug)]
pub enum MergeOutcome {
    /// A person or a repair has to bring the two together.
    Conflict {
        /// The paths in conflict, as bytes, sorted.
        paths: Vec<Vec<u8>>,
        /// The head that it was merged onto.
        onto: CommitId,
    },
    /// A candidate.
    Merged(Merged),
}

/// A candidate, pinned until it is released.
#[derive(Debug)]
pub struct Merged {
    /// The head that it was merged onto.
    pub onto: CommitId,
    /// One commit on `onto` with the merged tree. It carries no history and no words of the worker.
    pub candidate: CommitId,
    /// The merged tree.
    pub tree: TreeId,
    /// The sha256 of `git ls-tree -r -z --full-tree` of it.
    pub listing: Digest,
    /// `onto..candidate`, for verifiers.
    pub bundle: BundleFile,
}

/// Why there is neither a merge nor a conflict.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// Nothing in common.
    #[error(
        "{head} and {onto} have no common history: the target was replaced, submit the plan again"
    )]
    Unrelated {
        /// The result.
        head: CommitId,
        /// The target's head.
        onto: CommitId,
    },
    /// Trouble of the hub.
    #[error(transparent)]
    Hub(#[from] HubError),
}

impl From<GitError> for MergeError {
    fn from(error: GitError) -> Self {
        Self::Hub(error.into())
    }
}

impl Hub {
    /// Merges an inspected result onto a head of the target and makes the candidate.
    ///
    /// The same request gives the same candidate.
    ///
    /// # Errors
    /// [`MergeError`] when the histories are unrelated, a commit is unknown, or git fails.
    pub fn merge(
        &self,
        repository: &RepositoryId,
        request: &MergeRequest<'_>,
    ) -> Result<MergeOutcome, MergeError> {
        let store = self.store(repository)?;
        for commit in [request.head, request.onto] {
            store.commit(commit)?;
        }
        let output = self
            .git
            .call_in(&store.path, "merge-tree")
            .args(["--write-tree", "-z", "--name-only", "--messages"])
            .args([request.onto.as_str(), request.head.as_str()])
            .hostile_input()
            .run_any(OUTPUT_BYTES_MAX)?;
        let onto = request.onto.clone();
        match output.status.code() {
            _ if output.cut => {
                Err(GitError::OutputTooLarge { command: "merge-tree".into() }.into())
            }
            Some(0) => {
                let tree = tree_of(&output)?;
                Ok(MergeOutcome::Merged(self.make_candidate(&store, request, tree)?))
            }
            Some(1) => Ok(MergeOutcome::Conflict { paths: conflicts(&output)?, onto }),
            _ if output.complaint.contains("unrelated histories") => {
                Err(MergeError::Unrelated { head: request.head.clone(), onto })
            }
            _ => Err(output.failed("merge-tree").into()),
        }
    }

    fn make_candidate(
        &self,
        store: &Store,
        request: &MergeRequest<'_>,
        tree: TreeId,
    ) -> Result<Merged, HubError> {
        let onto = store.commit(request.onto)?;
        let text = format!("Candidate of {}\n", super::trailer_value(request.item.as_str()));
        let content = store.tree(&tree)?;
        let candidate = land::signature(request.now_unix_s)
            .and_then(|who| store.git2.commit(None, &who, &who, &text, &content, &[&onto]))
            .map_err(store.failed("writing the candidate"))
            .and_then(|id| store.written(id))?;
        store.pin(&refs::candidate(request.run, request.item), &candidate)?;
        let listing = self
            .git
            .call_in(&store.path, "ls-tree")
            .args(["-r", "-z", "--full-tree", tree.as_str()])
            .run()?;
        let bundle = self.write_bundle(store, BUNDLE_REF, &candidate, Some(request.onto))?;
        let listing = Digest::of(&listing);
        Ok(Merged { onto: request.onto.clone(), candidate, tree, listing, bundle })
    }
}

fn unreadable(what: impl Into<String>) -> GitError {
    GitError::Answer { command: "merge-tree", what: what.into() }
}

fn tree_of(output: &Output) -> Result<TreeId, GitError> {
    let first = output.stdout.split(|&b| b == 0).next().unwrap_or_default();
    TreeId::new(String::from_utf8_lossy(first)).map_err(|error| unreadable(error.to_string()))
}

/// The conflicted paths: those with stages, and those that only a message names.
///
/// The answer is the tree, the paths with stages, an empty field, then for each message the number of its paths, the
/// paths, its kind and its text, all ended by NUL.
fn conflicts(output: &Output) -> Result<Vec<Vec<u8>>, GitError> {
    let mut fields = output.stdout.split(|&b| b == 0).skip(1);
    let mut paths: BTreeSet<_> =
        fields.by_ref().take_while(|field| !field.is_empty()).map(<[u8]>::to_vec).collect();
    while let Some(count) = fields.next().filter(|field| !field.is_empty()) {
        let count: usize = std::str::from_utf8(count)
            .ok()
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| unreadable(format!("the count {}", escape(count))))?;
        let named: Vec<_> = fields.by_ref().take(count).map(<[u8]>::to_vec).collect();
        let kind = fields.next().ok_or_else(|| unreadable("a message without a kind"))?;
        fields.next().ok_or_else(|| unreadable("a message without a text"))?;
        if kind.starts_with(b"CONFLICT") {
            paths.extend(named);
        }
    }
    if paths.is_empty() {
        return Err(unreadable("a conflict without a path"));
    }
    Ok(paths.into_iter().collect())
}
