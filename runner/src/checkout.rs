//! Sees that a checkout is exactly the candidate's tree, and that it still is after a checker ran.
//!
//! The record is the tree's listing, the bytes of `git ls-tree -r -z --full-tree`: the verifier keeps it, so that
//! nothing in the checkout, its own `.git` included, decides what the checkout should hold.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use cantus_proto::ids::{Digest, TreeId};
use git2::{ObjectType, Oid, Repository, Tree};

use crate::text::{chain, shown};

/// Most changed paths that are named: enough to find the cause.
const NAMED_MAX: usize = 20;

/// Why a candidate is not what the coordinator said.
#[derive(Debug, thiserror::Error)]
pub enum CheckoutError {
    /// Its commit has another tree.
    #[error("the candidate's commit has tree {found}, the attempt names {expected}")]
    Tree {
        /// From the attempt.
        expected: TreeId,
        /// From the commit.
        found: Oid,
    },
    /// Its listing has another digest.
    #[error("the listing of tree {tree} has sha256 {found}, the attempt names {expected}")]
    Listing {
        /// The tree.
        tree: TreeId,
        /// From the attempt.
        expected: Digest,
        /// Computed.
        found: Digest,
    },
    /// A listing that no tree has.
    #[error("the listing of the tree is damaged: {0}")]
    Damaged(&'static str),
    /// Git refused.
    #[error("git cannot read the candidate's tree")]
    Git(#[from] git2::Error),
}

/// The listing of the head's tree, when it is the tree and listing that the attempt names.
///
/// # Errors
/// [`CheckoutError`] names both sides of a difference.
pub fn listing_of_head(
    repository: &Repository,
    tree: &TreeId,
    sha256: &Digest,
) -> Result<Vec<u8>, CheckoutError> {
    let found = repository.head()?.peel_to_commit()?.tree()?;
    if found.id().to_string() != tree.as_str() {
        return Err(CheckoutError::Tree { expected: tree.clone(), found: found.id() });
    }
    let listing = listing(repository, &found)?;
    let digest = Digest::of(&listing);
    if digest != *sha256 {
        return Err(CheckoutError::Listing {
            tree: tree.clone(),
            expected: sha256.clone(),
            found: digest,
        });
    }
    Ok(listing)
}

/// The bytes of `git ls-tree -r -z --full-tree`.
///
/// # Errors
/// A tree that cannot be read.
pub fn listing(repository: &Repository, tree: &Tree<'_>) -> Result<Vec<u8>, git2::Error> {
    let mut listing = Vec::new();
    list(repository, tree, &mut Vec::new(), &mut listing)?;
    Ok(listing)
}

fn list(
    repository: &Repository,
    tree: &Tree<'_>,
    prefix: &mut Vec<u8>,
    listing: &mut Vec<u8>,
) -> Result<(), git2::Error> {
    for entry in tree {
        let depth = prefix.len();
        prefix.extend_from_slice(entry.name_bytes());
        if entry.kind() == Some(ObjectType::Tree) {
            prefix.push(b'/');
            list(repository, &repository.find_tree(entry.id())?, prefix, listing)?;
        } else {
            let kind = match entry.kind() {
                Some(ObjectType::Commit) => "commit",
                _ => "blob",
            };
            let head = format!("{:06o} {kind} {}\t", entry.filemode_raw(), entry.id());
            listing.extend_from_slice(head.as_bytes());
            listing.extend_from_slice(prefix);
            listing.push(0);
        }
        prefix.truncate(depth);
    }
    Ok(())
}

/// Compares every tracked file with the listing, by its bytes and mode; returns what differs, in words.
///
/// Files beside the tracked ones are what checkers leave (caches, build output) and do not count.
///
/// # Errors
/// [`CheckoutError::Damaged`] for a listing that is none.
pub fn changed(root: &Path, listing: &[u8]) -> Result<Vec<String>, CheckoutError> {
    let mut changed = Vec::new();
    let mut more = 0_usize;
    let mut directories = BTreeSet::new();
    for line in listing.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
        let (mode, id, path) = parse(line)?;
        let Some(difference) = difference(root, mode, id, path, &mut directories) else { continue };
        if changed.len() < NAMED_MAX {
            changed.push(format!("{} {difference}", shown(path)));
        } else {
            more += 1;
        }
    }
    if more > 0 {
        changed.push(format!("and {more} more"));
    }
    Ok(changed)
}

/// Mode, object and path of one line of a listing.
type Line<'a> = (&'a [u8], Oid, &'a [u8]);

fn parse(line: &[u8]) -> Result<Line<'_>, CheckoutError> {
    let damaged = || CheckoutError::Damaged("a line is not `mode type object path`");
    let tab = line.iter().position(|byte| *byte == b'\t').ok_or_else(damaged)?;
    let mut fields = line[..tab].split(|byte| *byte == b' ');
    let (Some(mode), Some(_), Some(id), None) =
        (fields.next(), fields.next(), fields.next(), fields.next())
    else {
        return Err(damaged());
    };
    let id = std::str::from_utf8(id).map_err(|_| damaged())?;
    Ok((mode, Oid::from_str(id)?, &line[tab + 1..]))
}

fn difference(
    root: &Path,
    mode: &[u8],
    id: Oid,
    path: &[u8],
    directories: &mut BTreeSet<Vec<u8>>,
) -> Option<String> {
    if let Some(replaced) = replaced_directory(root, path, directories) {
        return Some(format!("is gone: {replaced} is no directory any more"));
    }
    let absolute = root.join(OsStr::from_bytes(path));
    let Ok(metadata) = std::fs::symlink_metadata(&absolute) else {
        return Some("was removed".to_owned());
    };
    let found = match mode {
        b"160000" if metadata.is_dir() => return None,
        b"120000" if metadata.is_symlink() => match std::fs::read_link(&absolute) {
            Ok(target) => Oid::hash_object(ObjectType::Blob, target.as_os_str().as_bytes()),
            Err(error) => return Some(format!("cannot be read: {error}")),
        },
        b"100644" | b"100755" | b"100664" if metadata.is_file() => {
            let executable = metadata.permissions().mode() & 0o100 != 0;
            if executable != (mode == b"100755") {
                return Some("has another mode".to_owned());
            }
            Oid::hash_file(ObjectType::Blob, &absolute)
        }
        _ => return Some("is of another kind".to_owned()),
    };
    match found {
        Ok(found) if found == id => None,
        Ok(_) => Some("has other content".to_owned()),
        Err(error) => Some(format!("cannot be read: {}", chain(&error))),
    }
}

/// The first directory on the way to `path` that is none: a link there would show files from elsewhere.
fn replaced_directory(root: &Path, path: &[u8], known: &mut BTreeSet<Vec<u8>>) -> Option<String> {
    for (at, _) in path.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
        let directory = &path[..at];
        if known.contains(directory) {
            continue;
        }
        let absolute = root.join(OsStr::from_bytes(directory));
        match std::fs::symlink_metadata(&absolute) {
            Ok(metadata) if metadata.is_dir() => {
                known.insert(directory.to_vec());
            }
            _ => return Some(shown(directory)),
        }
    }
    None
}

#[cfg(test)]
mod tests;
