//! The workspace of one lease: a repository of its own that borrows the objects of the host's mirror.
//!
//! Everything here runs as the user that owns the tree (in a container: the agent's), in a process of its own.
//! Only git2 is used: no filter, hook or program that a tree or a configuration names ever runs. What an agent
//! leaves behind is taken up in [`collect`]; checkouts under test are in [`crate::checkout`].

use std::path::{Path, PathBuf};

use cantus_proto::ids::CommitId;
use git2::build::CheckoutBuilder;
use git2::{Oid, Repository, RepositoryInitOptions, RepositoryOpenFlags};

use crate::bundle::{self, BundleError};

pub mod collect;
pub(crate) mod loose;
pub(crate) mod pulse;
mod snapshot;
mod tally;

/// Branch on which an agent finds itself.
pub const BRANCH: &str = "work";

/// Where refuted work is found in the workspace of its repair.
pub const DEFECT_REF: &str = "refs/cantus/defect";

/// Who commits what an agent left uncommitted.
pub const IDENTITY: (&str, &str) = ("Cantus", "cantus@localhost");

/// Why there is no usable workspace, or why it could not be read.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// A path that is not what it should be.
    #[error("{path}: {reason}")]
    Path {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The file system refused.
    #[error("{path} cannot be {action}")]
    Io {
        /// The path.
        path: PathBuf,
        /// What was tried, as a participle.
        action: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// Git refused.
    #[error("git failed at {action}")]
    Git {
        /// What was tried.
        action: &'static str,
        /// Why.
        source: git2::Error,
    },
    /// The bundle was refused.
    #[error("the work handed to the workspace cannot be unpacked")]
    Bundle(#[from] BundleError),
    /// The self-test at the start failed.
    #[error("the fresh workspace is not at {expected}: {found}")]
    SelfTest {
        /// What it should be at.
        expected: Oid,
        /// What it is at.
        found: String,
    },
    /// More or larger files than an artifact may have.
    #[error("{0}")]
    TooLarge(String),
}

pub(crate) fn git(action: &'static str) -> impl FnOnce(git2::Error) -> WorkspaceError {
    move |source| WorkspaceError::Git { action, source }
}

pub(crate) fn io<'a>(
    path: &'a Path,
    action: &'static str,
) -> impl FnOnce(std::io::Error) -> WorkspaceError + 'a {
    move |source| WorkspaceError::Io { path: path.to_owned(), action, source }
}

/// What a workspace is made from.
#[derive(Debug)]
pub struct Preparation<'a> {
    /// The only directory below which anything is made or removed.
    pub root: &'a Path,
    /// The tree, directly below `root`; whatever was there before is removed.
    pub tree: &'a Path,
    /// Objects of the host's mirror.
    pub objects: &'a Path,
    /// The commit to be at.
    pub commit: &'a CommitId,
    /// Work to unpack, and the ref that it gets (none for a checkout under test).
    pub bundle: Option<(&'a [u8], Option<&'a str>)>,
    /// What git runs, with the argument `commit`, before it commits.
    pub commit_check: Option<&'a Path>,
}

/// Makes the workspace, checks the commit out byte for byte and tests that it is there.
///
/// # Errors
/// [`WorkspaceError`] says which step failed; a tree that is half made is left for the volume's removal.
pub fn prepare(preparation: &Preparation<'_>) -> Result<Repository, WorkspaceError> {
    let Preparation { root, tree, objects, commit, bundle, commit_check } = *preparation;
    inside(root, tree)?;
    remove(tree)?;
    std::fs::create_dir(tree).map_err(io(tree, "made"))?;
    let mut options = RepositoryInitOptions::new();
    options.no_reinit(true).external_template(false).initial_head(BRANCH);
    Repository::init_opts(tree, &options).map_err(git("making the repository"))?;
    borrow(tree, objects)?;
    let repository = open(tree)?;
    configure(&repository).map_err(git("writing the configuration"))?;
    let id = Oid::from_str(commit.as_str()).map_err(git("reading the commit id"))?;
    if let Some((bytes, name)) = bundle {
        let header = bundle::unpack(&repository, bytes)?;
        if let (Some(name), Some((_, head))) = (name, header.refs.first()) {
            repository
                .reference(name, *head, true, "refuted work")
                .map_err(git("setting the ref of the refuted work"))?;
        }
    }
    check_out(&repository, id)?;
    self_test(&repository, id)?;
    if let Some(program) = commit_check {
        hook(tree, program)?;
    }
    Ok(repository)
}

/// Opens the tree's own repository and never one above it.
pub(crate) fn open(tree: &Path) -> Result<Repository, WorkspaceError> {
    let nothing: [&Path; 0] = [];
    Repository::open_ext(tree, RepositoryOpenFlags::NO_SEARCH, nothing)
        .map_err(git("opening the repository of the workspace"))
}

/// Refuses a tree that is not a plain directory directly below the root (W2).
pub(crate) fn inside(root: &Path, tree: &Path) -> Result<(), WorkspaceError> {
    let refused = |reason| WorkspaceError::Path { path: tree.to_owned(), reason };
    if tree.parent() != Some(root) || tree.file_name().is_none() {
        return Err(refused("this is not directly below the workspace root, so it is not touched"));
    }
    match std::fs::symlink_metadata(tree) {
        Ok(metadata) if !metadata.is_dir() => {
            Err(refused("this is not a directory, so it is not touched"))
        }
        _ => Ok(()),
    }
}

fn remove(tree: &Path) -> Result<(), WorkspaceError> {
    match std::fs::remove_dir_all(tree) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(io(tree, "removed")(error))
        }
        _ => Ok(()),
    }
}

fn borrow(tree: &Path, objects: &Path) -> Result<(), WorkspaceError> {
    let refused = |reason| WorkspaceError::Path { path: objects.to_owned(), reason };
    let text = objects.to_str().ok_or_else(|| refused("this path is not UTF-8"))?;
    if text.contains('\n') || text.starts_with(['#', '"']) || !objects.is_absolute() {
        return Err(refused("git cannot borrow objects from such a path"));
    }
    let alternates = tree.join(".git/objects/info/alternates");
    std::fs::write(&alternates, format!("{text}\n")).map_err(io(&alternates, "written"))
}

fn configure(repository: &Repository) -> Result<(), git2::Error> {
    let mut config = repository.config()?.open_level(git2::ConfigLevel::Local)?;
    config.set_str("user.name", IDENTITY.0)?;
    config.set_str("user.email", IDENTITY.1)?;
    // The mirror's objects are borrowed: a collection here could only lose something.
    config.set_i32("gc.auto", 0)
}

/// Lets git run the program before each commit of the agent. What we do ourselves is done with git2, which runs no
/// hooks.
fn hook(tree: &Path, program: &Path) -> Result<(), WorkspaceError> {
    use std::os::unix::fs::PermissionsExt as _;
    let text = program.to_str().ok_or_else(|| WorkspaceError::Path {
        path: program.to_owned(),
        reason: "this path is not UTF-8",
    })?;
    let quoted = text.replace('\'', "'\\''");
    let hooks = tree.join(".git/hooks");
    std::fs::create_dir_all(&hooks).map_err(io(&hooks, "made"))?;
    let path = hooks.join("pre-commit");
    std::fs::write(&path, format!("#!/bin/sh\nexec '{quoted}' commit\n"))
        .map_err(io(&path, "written"))?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))
        .map_err(io(&path, "made executable"))
}

/// Checks the commit out on the branch, without filters: every byte as in the object store.
fn check_out(repository: &Repository, id: Oid) -> Result<(), WorkspaceError> {
    let commit = repository.find_commit(id).map_err(git("finding the commit to check out"))?;
    repository
        .reference(&format!("refs/heads/{BRANCH}"), id, true, "base of the lease")
        .map_err(git("setting the branch"))?;
    let mut options = CheckoutBuilder::new();
    options.force().disable_filters(true);
    let tree = commit.as_object();
    repository.checkout_tree(tree, Some(&mut options)).map_err(git("the checkout"))
}

/// The head is the commit, and the index its tree (W34).
fn self_test(repository: &Repository, id: Oid) -> Result<(), WorkspaceError> {
    let head = repository.head().and_then(|head| head.peel_to_commit());
    let head = head.map_err(git("reading the head"))?;
    if head.id() != id {
        return Err(WorkspaceError::SelfTest {
            expected: id,
            found: format!("the head is {}", head.id()),
        });
    }
    let mut index = repository.index().map_err(git("reading the index"))?;
    let tree = index.write_tree_to(repository).map_err(git("hashing the index"))?;
    if tree != head.tree_id() {
        return Err(WorkspaceError::SelfTest {
            expected: id,
            found: format!("the index is tree {tree}, the commit has {}", head.tree_id()),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests;
