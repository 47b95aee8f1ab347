//! Reads the host's bare mirror, which is mounted read-only and belongs to another user.
//!
//! The mirror is opened through its object store alone: git's owner check would refuse it, and its configuration
//! is none of our business. Nothing here writes.

use std::path::{Path, PathBuf};

use cantus_proto::ids::{CommitId, RepositoryId};
use git2::{Odb, Oid, Repository};

/// Largest `packed-refs` that is read, in bytes: about 100,000 refs.
const PACKED_REFS_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Why the mirror could not be read.
#[derive(Debug, thiserror::Error)]
pub enum MirrorError {
    /// There is no such directory.
    #[error("the host has no mirror {0}: its pool has not received the repository yet")]
    Absent(PathBuf),
    /// A ref file could not be read.
    #[error("the mirror's ref {name} cannot be read")]
    Ref {
        /// Full name.
        name: String,
        /// Why.
        source: std::io::Error,
    },
    /// Git refused.
    #[error("git cannot read the mirror {path}")]
    Git {
        /// The mirror.
        path: PathBuf,
        /// Why.
        source: git2::Error,
    },
}

/// Directory of a repository's mirror below the directory of all mirrors.
#[must_use]
pub fn path(mirrors: &Path, repository: &RepositoryId) -> PathBuf {
    mirrors.join(format!("{repository}.git"))
}

/// Directory of the mirror's objects: what workspaces borrow from.
#[must_use]
pub fn objects(mirror: &Path) -> PathBuf {
    mirror.join("objects")
}

/// The head of `target` (a full ref name) if it contains `base_min`; nothing while the mirror lags behind.
///
/// # Errors
/// A mirror that is absent or unreadable.
pub fn base(
    mirror: &Path,
    target: &str,
    base_min: &CommitId,
) -> Result<Option<CommitId>, MirrorError> {
    if !objects(mirror).is_dir() {
        return Err(MirrorError::Absent(mirror.to_owned()));
    }
    let Some(head) = head(mirror, target)? else { return Ok(None) };
    let contained = contains(mirror, &head, base_min)
        .map_err(|source| MirrorError::Git { path: mirror.to_owned(), source })?;
    Ok(contained.then_some(head))
}

/// Whether the mirror has this commit at all.
///
/// # Errors
/// An object store that cannot be opened.
pub fn has(mirror: &Path, commit: &CommitId) -> Result<bool, MirrorError> {
    let exists = open(mirror).and_then(|odb| Ok(odb.exists(Oid::from_str(commit.as_str())?)));
    exists.map_err(|source| MirrorError::Git { path: mirror.to_owned(), source })
}

/// The content of a plain file at the root of a commit's tree; nothing when there is none.
///
/// # Errors
/// A mirror that cannot be read, or a file of more than `bytes_max`.
pub fn file(
    mirror: &Path,
    commit: &CommitId,
    name: &str,
    bytes_max: u64,
) -> Result<Option<Vec<u8>>, MirrorError> {
    let read = || -> Result<Option<Vec<u8>>, git2::Error> {
        let repository = Repository::from_odb(open(mirror)?)?;
        let tree = repository.find_commit(Oid::from_str(commit.as_str())?)?.tree()?;
        let Some(entry) = tree.get_name(name) else { return Ok(None) };
        if !matches!(entry.filemode(), 0o100_644 | 0o100_755 | 0o100_664) {
            return Err(git2::Error::from_str(&format!("{name} is not a plain file")));
        }
        let (size, _) = repository.odb()?.read_header(entry.id())?;
        if size as u64 > bytes_max {
            let reason = format!("{name} has {size} bytes, the limit is {bytes_max}");
            return Err(git2::Error::from_str(&reason));
        }
        Ok(Some(repository.find_blob(entry.id())?.content().to_vec()))
    };
    read().map_err(|source| MirrorError::Git { path: mirror.to_owned(), source })
}

fn open<'a>(mirror: &Path) -> Result<Odb<'a>, git2::Error> {
    let odb = Odb::new()?;
    let objects = objects(mirror);
    let objects = objects.to_str().ok_or_else(|| git2::Error::from_str("the path is not UTF-8"))?;
    odb.add_disk_alternate(objects)?;
    Ok(odb)
}

fn contains(mirror: &Path, head: &CommitId, base_min: &CommitId) -> Result<bool, git2::Error> {
    let odb = open(mirror)?;
    let (head, base) = (Oid::from_str(head.as_str())?, Oid::from_str(base_min.as_str())?);
    if !odb.exists(base) || !odb.exists(head) {
        return Ok(false);
    }
    let repository = Repository::from_odb(odb)?;
    Ok(head == base || repository.graph_descendant_of(head, base)?)
}

/// A ref of the mirror: the loose file, else its line in `packed-refs`.
fn head(mirror: &Path, name: &str) -> Result<Option<CommitId>, MirrorError> {
    let failed = |source| MirrorError::Ref { name: name.to_owned(), source };
    if name.split('/').any(|part| part.is_empty() || part.starts_with('.')) {
        return Ok(None);
    }
    if let Some(text) = read_if_there(&mirror.join(name)).map_err(failed)? {
        return Ok(CommitId::new(text.trim_end()).ok());
    }
    let packed = mirror.join("packed-refs");
    let size = std::fs::metadata(&packed).map_or(0, |metadata| metadata.len());
    if size > PACKED_REFS_BYTES_MAX {
        return Err(failed(std::io::Error::other("packed-refs is larger than 16 MiB")));
    }
    let Some(text) = read_if_there(&packed).map_err(failed)? else { return Ok(None) };
    let found = text
        .lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(_, packed_name)| *packed_name == name);
    Ok(found.and_then(|(id, _)| CommitId::new(id).ok()))
}

fn read_if_there(path: &Path) -> Result<Option<String>, std::io::Error> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::NotFound
                    | std::io::ErrorKind::IsADirectory
                    | std::io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
