//! What there is of the work so far (SPEC B8), read without disturbing who works: no lock, no write (W17).
//!
//! Only git2 reads, and it is told to leave the index as it is. What it sees may be half done; the next look sees more.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use cantus_proto::ids::{CommitId, hex};
use git2::{Delta, DiffOptions, ObjectType, Oid, Repository};
use sha2::Digest as _;

use super::{WorkspaceError, git, open};

/// Most changed paths that are named.
pub(crate) const CHANGED_MAX: usize = 64;

/// Most commits that are counted: more is no progress.
const COMMITS_MAX: usize = 10_000;

/// Most files whose content goes into the fingerprint; of those beyond, only the names do.
const HASHED_MAX: usize = 1_000;

/// Largest file whose content goes into the fingerprint, in bytes; of a larger one, size and time do.
const HASHED_BYTES_MAX: u64 = 1024 * 1024;

/// One look at a workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// Since the base.
    pub commits: u32,
    /// At most 64 of the paths that differ from the base.
    pub changed: Vec<Vec<u8>>,
    /// How many do.
    pub changed_count: u32,
    /// Of head and changed files.
    pub fingerprint: String,
}

/// Looks at the tree.
///
/// # Errors
/// A repository that git cannot read, perhaps only at this moment.
pub(crate) fn look(tree: &Path, base: &CommitId) -> Result<Look, WorkspaceError> {
    let repository = open(tree)?;
    let base = Oid::from_str(base.as_str()).map_err(git("reading the base"))?;
    let head = repository.head().and_then(|head| head.peel_to_commit()).ok();
    let head = head.map(|commit| commit.id());
    let mut print = sha2::Sha256::new();
    print.update(head.unwrap_or(Oid::ZERO_SHA1).as_bytes());
    let commits = match head {
        Some(head) => commits(&repository, base, head).map_err(git("counting the commits"))?,
        None => 0,
    };
    let changed = changed(&repository, base).map_err(git("comparing with the base"))?;
    for (at, (path, delta)) in changed.iter().enumerate() {
        print.update((path.len() as u64).to_le_bytes());
        print.update(path);
        if *delta != Delta::Deleted && at < HASHED_MAX {
            print.update(content(&tree.join(OsStr::from_bytes(path))));
        }
    }
    let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    Ok(Look {
        commits: count(commits),
        changed_count: count(changed.len()),
        changed: changed.into_iter().take(CHANGED_MAX).map(|(path, _)| path).collect(),
        fingerprint: hex(&print.finalize()),
    })
}

fn commits(repository: &Repository, base: Oid, head: Oid) -> Result<usize, git2::Error> {
    let mut walk = repository.revwalk()?;
    walk.push(head)?;
    walk.hide(base)?;
    Ok(walk.take(COMMITS_MAX).count())
}

/// Paths that differ between the base and the working files, in order.
fn changed(repository: &Repository, base: Oid) -> Result<Vec<(Vec<u8>, Delta)>, git2::Error> {
    let base = repository.find_commit(base)?.tree()?;
    let mut options = DiffOptions::new();
    options
        .include_untracked(true)
        .recurse_untracked_dirs(true)
        .ignore_submodules(true)
        .skip_binary_check(true)
        .update_index(false);
    // Through the index, whose stat data spare reading what did not change.
    let diff = repository.diff_tree_to_workdir_with_index(Some(&base), Some(&mut options))?;
    let mut paths: Vec<(Vec<u8>, Delta)> = diff
        .deltas()
        .filter_map(|delta| {
            let path = delta.new_file().path_bytes().or_else(|| delta.old_file().path_bytes())?;
            Some((path.to_vec(), delta.status()))
        })
        .collect();
    paths.sort_by(|a, b| a.0.cmp(&b.0));
    paths.dedup_by(|a, b| a.0 == b.0);
    Ok(paths)
}

/// What tells one state of a file from another.
fn content(path: &Path) -> Vec<u8> {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(metadata) = std::fs::symlink_metadata(path) else { return Vec::new() };
    let mut print = metadata.mode().to_le_bytes().to_vec();
    if metadata.is_symlink() {
        let target = std::fs::read_link(path).unwrap_or_default();
        print.extend_from_slice(target.as_os_str().as_bytes());
    } else if metadata.is_file() && metadata.len() <= HASHED_BYTES_MAX {
        let id = Oid::hash_file(ObjectType::Blob, path).unwrap_or(Oid::ZERO_SHA1);
        print.extend_from_slice(id.as_bytes());
    } else {
        print.extend_from_slice(&metadata.len().to_le_bytes());
        print.extend_from_slice(&metadata.mtime().to_le_bytes());
        print.extend_from_slice(&metadata.mtime_nsec().to_le_bytes());
    }
    print
}

#[cfg(test)]
mod tests;
