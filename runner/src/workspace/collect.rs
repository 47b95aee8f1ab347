//! Takes up what an agent left: its commits, and as one more commit whatever it did not commit.
//!
//! Nothing is written into the agent's repository. New objects go to a scratch repository of ours that borrows the
//! agent's and the mirror's objects, so that collecting twice gives the same commit, and a workspace whose `.git`
//! is gone still gives its files (W1, W4).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cantus_proto::ids::CommitId;
use git2::{Oid, Repository, Signature};

use super::snapshot;
pub use super::tally::Limits;
use super::tally::Tally;
use super::{BRANCH, IDENTITY, WorkspaceError, git, inside, io, open};
use crate::bundle::{self, BundleError, WORK_REF};
use crate::text::{chain, shown};

/// Message of the commit that we make.
const MESSAGE: &str = "Work left uncommitted\n";

/// Most branches beside the work that are kept: more is a repository and not a result.
const KEPT_MAX: usize = 16;

/// What to collect.
#[derive(Debug)]
pub struct Collection<'a> {
    /// The workspace root.
    pub root: &'a Path,
    /// The tree, directly below it.
    pub tree: &'a Path,
    /// Objects of the host's mirror.
    pub objects: &'a Path,
    /// Where the attempt began.
    pub base: &'a CommitId,
    /// What the result may carry.
    pub limits: Limits,
    /// An empty directory of our own.
    pub scratch: &'a Path,
}

/// What an attempt leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collected {
    /// A descendant of the base, or the base itself.
    pub head: CommitId,
    /// Tip of the first branch kept beside the result.
    pub kept: Option<CommitId>,
    /// `base..head` and the branches kept beside it; absent when there is nothing but the base.
    pub bundle: Option<Vec<u8>>,
    /// Whether we made the last commit.
    pub committed: bool,
    /// What was left out or kept aside.
    pub findings: Vec<String>,
    /// Why the agent's repository could not be used; its files were saved nevertheless.
    pub broken: Option<String>,
}

/// What the agent's repository says.
#[derive(Default)]
struct Left {
    head: Option<Oid>,
    /// Other branches and their commits.
    branches: Vec<(String, Oid)>,
    tracked: BTreeSet<Vec<u8>>,
    objects: Option<PathBuf>,
}

/// Collects the work.
///
/// # Errors
/// [`WorkspaceError::TooLarge`] names the biggest offenders; nothing is ever cut short.
pub fn collect(collection: &Collection<'_>) -> Result<Collected, WorkspaceError> {
    inside(collection.root, collection.tree)?;
    if !collection.tree.is_dir() {
        return Err(WorkspaceError::Path {
            path: collection.tree.to_owned(),
            reason: "the workspace is gone",
        });
    }
    let (left, broken) = match look(collection.tree) {
        Ok(left) => (left, None),
        Err(error) => (Left::default(), Some(chain(&error))),
    };
    let store = scratch(collection, left.objects.as_deref())?;
    let base = Oid::from_str(collection.base.as_str()).map_err(git("reading the base"))?;
    let mut findings = Vec::new();
    let parent = parent(&store, base, &left, &mut findings);
    let (head, committed) = commit_rest(&store, collection, parent, &left, &mut findings)?;
    let kept = kept(&store, base, head, &left, &mut findings);
    tally(&store, base, head, collection.limits)?;
    let (bundle, kept) = bundle(&store, base, head, kept, collection.limits, &mut findings)?;
    let id = |id: Oid| CommitId::new(id.to_string()).expect("git prints commit ids in hex");
    Ok(Collected { head: id(head), kept: kept.map(id), bundle, committed, findings, broken })
}

/// Reads the agent's repository; an error means that only its files can be used.
fn look(tree: &Path) -> Result<Left, WorkspaceError> {
    let directory = tree.join(".git");
    let refused = |reason| WorkspaceError::Path { path: directory.clone(), reason };
    match std::fs::symlink_metadata(&directory) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return Err(refused("the repository of the workspace was replaced by a pointer")),
        Err(_) => return Err(refused("the repository of the workspace has vanished")),
    }
    let objects = directory.join("objects");
    if std::fs::symlink_metadata(directory.join("commondir")).is_ok()
        || !std::fs::symlink_metadata(&objects).is_ok_and(|metadata| metadata.is_dir())
    {
        return Err(refused("the repository of the workspace points at another one"));
    }
    let repository = open(tree)?;
    let head = repository.head().and_then(|head| head.peel_to_commit()).map(|commit| commit.id());
    let mut left = Left { head: head.ok(), objects: Some(objects), ..Left::default() };
    if let Ok(index) = repository.index() {
        left.tracked = index.iter().map(|entry| entry.path).collect();
    }
    for glob in ["refs/heads/*", "refs/stash"] {
        let Ok(references) = repository.references_glob(glob) else { continue };
        for reference in references.flatten() {
            if let Ok(commit) = reference.peel_to_commit() {
                left.branches.push((shown(reference.name_bytes()), commit.id()));
            }
        }
    }
    Ok(left)
}

fn scratch(
    collection: &Collection<'_>,
    objects: Option<&Path>,
) -> Result<Repository, WorkspaceError> {
    let mut options = git2::RepositoryInitOptions::new();
    options.bare(true).external_template(false).initial_head(BRANCH);
    let store = Repository::init_opts(collection.scratch, &options)
        .map_err(git("making the scratch repository"))?;
    store.set_workdir(collection.tree, false).map_err(git("pointing at the working files"))?;
    let odb = store.odb().map_err(git("opening the object store"))?;
    for path in [Some(collection.objects), objects].into_iter().flatten() {
        let text = path.to_str().ok_or_else(|| WorkspaceError::Path {
            path: path.to_owned(),
            reason: "this path is not UTF-8",
        })?;
        odb.add_disk_alternate(text).map_err(git("borrowing objects"))?;
    }
    drop(odb);
    Ok(store)
}

/// The agent's head when it builds on the base, else the base.
fn parent(store: &Repository, base: Oid, left: &Left, findings: &mut Vec<String>) -> Oid {
    let Some(head) = left.head else { return base };
    if head == base {
        return base;
    }
    match store.graph_descendant_of(head, base) {
        Ok(true) => head,
        Ok(false) => {
            findings.push(format!(
                "the head {head} does not build on the base {base}; its files were committed on the base"
            ));
            base
        }
        Err(error) => {
            findings.push(format!(
                "the history of the head {head} cannot be read ({}); its files were committed on the base",
                error.message()
            ));
            base
        }
    }
}

fn commit_rest(
    store: &Repository,
    collection: &Collection<'_>,
    parent: Oid,
    left: &Left,
    findings: &mut Vec<String>,
) -> Result<(Oid, bool), WorkspaceError> {
    let parent = store.find_commit(parent).map_err(git("reading the commit to build on"))?;
    let before = parent.tree().map_err(git("reading the tree to build on"))?;
    let taken = snapshot::take(store, collection.tree, &before, &left.tracked, collection.limits)?;
    findings.extend(taken.findings);
    let empty = || store.treebuilder(None).and_then(|builder| builder.write());
    let tree = match taken.tree {
        Some(tree) => tree,
        None => empty().map_err(git("writing the empty tree"))?,
    };
    if tree == before.id() {
        return Ok((parent.id(), false));
    }
    let tree = store.find_tree(tree).map_err(git("reading the new tree"))?;
    // The parent's time and not the clock's, so that collecting again gives the same commit.
    let identity = Signature::new(IDENTITY.0, IDENTITY.1, &parent.time())
        .map_err(git("forming the identity"))?;
    let id = store
        .commit(None, &identity, &identity, MESSAGE, &tree, &[&parent])
        .map_err(git("committing what was left"))?;
    Ok((id, true))
}

/// Commits that the head does not reach: kept beside the work, because no work is destroyed.
fn kept(
    store: &Repository,
    base: Oid,
    head: Oid,
    left: &Left,
    findings: &mut Vec<String>,
) -> Vec<(String, Oid)> {
    let mut kept: Vec<(String, Oid)> = Vec::new();
    let former = left.head.map(|id| ("HEAD".to_owned(), id));
    for (name, id) in former.into_iter().chain(left.branches.iter().cloned()) {
        let reached =
            |from: Oid| from == id || store.graph_descendant_of(from, id).unwrap_or(false);
        if reached(head) || reached(base) || kept.iter().any(|(_, other)| *other == id) {
            continue;
        }
        if kept.len() == KEPT_MAX {
            findings.push(format!("{name} at {id} is one branch too many and was not kept"));
            continue;
        }
        let kept_name = format!("refs/cantus/kept/{}", kept.len());
        findings.push(format!("{name} has commits beside the result; kept as {kept_name} ({id})"));
        kept.push((kept_name, id));
    }
    kept
}

/// Counts what the whole result changes, the agent's own commits included.
fn tally(store: &Repository, base: Oid, head: Oid, limits: Limits) -> Result<(), WorkspaceError> {
    let tree = |id| store.find_commit(id).and_then(|commit| commit.tree());
    let (before, after) = (tree(base), tree(head));
    let (before, after) = (
        before.map_err(git("reading the tree of the base"))?,
        after.map_err(git("reading the tree of the head"))?,
    );
    let diff = store
        .diff_tree_to_tree(Some(&before), Some(&after), None)
        .map_err(git("comparing base and head"))?;
    let odb = store.odb().map_err(git("opening the object store"))?;
    let mut tally = Tally::default();
    for delta in diff.deltas() {
        let new = delta.new_file();
        let path = new.path_bytes().or_else(|| delta.old_file().path_bytes()).unwrap_or_default();
        let size = match new.id() {
            id if id.is_zero() => 0,
            id => odb.read_header(id).map_or(0, |(size, _)| size as u64),
        };
        tally.add(path, size);
    }
    tally.refusal(limits).map_or(Ok(()), |refusal| Err(WorkspaceError::TooLarge(refusal)))
}

/// The bundle, and the first branch kept in it. Branches beside the result never cost the result.
fn bundle(
    store: &Repository,
    base: Oid,
    head: Oid,
    kept: Vec<(String, Oid)>,
    limits: Limits,
    findings: &mut Vec<String>,
) -> Result<(Option<Vec<u8>>, Option<Oid>), WorkspaceError> {
    let mut refs = vec![(WORK_REF.to_owned(), head)];
    if !kept.is_empty() {
        let first = kept[0].1;
        let all: Vec<(String, Oid)> = refs.iter().cloned().chain(kept).collect();
        match bundle::write(store, base, &all, limits.bytes_max) {
            Ok(bundle) => return Ok((Some(bundle), Some(first))),
            Err(error) => findings.push(format!(
                "the branches beside the result could not be kept: {}",
                chain(&error)
            )),
        }
    }
    if head == base {
        return Ok((None, None));
    }
    refs.truncate(1);
    let bundle = written(bundle::write(store, base, &refs, limits.bytes_max))?;
    Ok((Some(bundle), None))
}

fn written(result: Result<Vec<u8>, BundleError>) -> Result<Vec<u8>, WorkspaceError> {
    result.map_err(|error| match error {
        BundleError::TooLarge { .. } => WorkspaceError::TooLarge(format!(
            "{error}: the history of the result holds more than its last state, commit less in between, or \
             raise the limit"
        )),
        other => WorkspaceError::Bundle(other),
    })
}

/// Removes a scratch directory; what cannot be removed goes with the volume.
///
/// # Errors
/// When it is there and cannot be removed.
pub fn discard(scratch: &Path) -> Result<(), WorkspaceError> {
    match std::fs::remove_dir_all(scratch) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(io(scratch, "removed")(error))
        }
        _ => Ok(()),
    }
}
