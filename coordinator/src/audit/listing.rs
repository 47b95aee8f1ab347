//! Walks a git tree for its listing digest, as `git ls-tree -r -z --full-tree | sha256sum` gives it.

use cantus_proto::evidence::Listing;
use cantus_proto::evidence::listing::EntryKind;
use cantus_proto::ids::Digest;

/// Most entries of one tree: a few small objects can describe more files than there are atoms.
const ENTRIES_MAX: usize = 10_000_000;
/// Deepest directory, as git's own `core.maxTreeDepth`.
const DEPTH_MAX: usize = 2_048;

/// Why a tree has no listing.
#[derive(Debug, thiserror::Error)]
pub enum ListingError {
    /// An object is missing or damaged.
    #[error("tree {tree} cannot be read: run `git fsck`")]
    Read {
        /// The tree that was walked.
        tree: git2::Oid,
        /// Why.
        source: git2::Error,
    },
    /// Over [`ENTRIES_MAX`] or [`DEPTH_MAX`].
    #[error(
        "tree {tree} has more than {ENTRIES_MAX} files or is deeper than {DEPTH_MAX} directories"
    )]
    TooLarge {
        /// The tree that was walked.
        tree: git2::Oid,
    },
}

struct Level<'repo> {
    tree: git2::Tree<'repo>,
    next: usize,
    /// Length of the path of the directory above.
    path_bytes: usize,
}

/// The listing digest of a tree in this repository.
///
/// # Errors
/// [`ListingError`] when it cannot be read or is unreasonably large.
pub fn listing_sha256(repo: &git2::Repository, tree: git2::Oid) -> Result<Digest, ListingError> {
    let read = |source| ListingError::Read { tree, source };
    let mut listing = Listing::new();
    let mut path = Vec::new();
    let mut entries = 0;
    let mut levels =
        vec![Level { tree: repo.find_tree(tree).map_err(read)?, next: 0, path_bytes: 0 }];
    loop {
        let depth = levels.len();
        let Some(level) = levels.last_mut() else { return Ok(listing.finish()) };
        let Some(entry) = level.tree.get(level.next).map(|entry| entry.to_owned()) else {
            path.truncate(level.path_bytes);
            levels.pop();
            continue;
        };
        level.next += 1;
        entries += 1;
        if entries > ENTRIES_MAX || depth > DEPTH_MAX {
            return Err(ListingError::TooLarge { tree });
        }
        let path_bytes = path.len();
        path.extend_from_slice(entry.name_bytes());
        let kind = match entry.kind() {
            Some(git2::ObjectType::Tree) => {
                path.push(b'/');
                let subtree = repo.find_tree(entry.id()).map_err(read)?;
                levels.push(Level { tree: subtree, next: 0, path_bytes });
                continue;
            }
            Some(git2::ObjectType::Commit) => EntryKind::Commit,
            _ => EntryKind::Blob,
        };
        let mode = u32::try_from(entry.filemode()).expect("git modes are positive");
        listing.push(mode, kind, &entry.id().to_string(), &path);
        path.truncate(path_bytes);
    }
}
