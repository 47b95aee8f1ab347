//! Compares two trees entry by entry, and stops in time.
//!
//! Git's own `diff-tree` gathers everything before it prints: a few objects that name each other many times over would
//! take all memory. Names, modes and ids are taken as they stand; there are no renames here.

use std::collections::BTreeMap;

use cantus_proto::ids::CommitId;
use git2::Oid;

use super::super::{HubError, Store};
use super::{Change, ChangeKind, TYPE_BITS, TYPE_GITLINK, TYPE_LINK};

/// Most entries looked at, changed or not: far above any limit on files, and done in a second.
const ENTRIES_MAX: usize = 200_000;
/// Longest path in bytes: no system checks out a longer one.
const PATH_BYTES_MAX: usize = 4_096;
/// Longest target of a symbolic link that is read, in bytes: no system takes a longer one.
const LINK_BYTES_MAX: u64 = 4_096;
/// Type of a directory.
const TYPE_TREE: u32 = 0o040_000;

/// What differs, perhaps only a part of it.
pub(in crate::hub) struct Difference {
    /// Sorted by path.
    pub(in crate::hub) changes: Vec<Change>,
    /// There is more than could be looked at.
    pub(in crate::hub) cut: bool,
}

/// A pair of directories still to be compared; one of them may not be there.
struct Pair {
    path: Vec<u8>,
    old: Option<Oid>,
    new: Option<Oid>,
}

/// Mode and id.
type Entry = (u32, Oid);

/// An entry before and after, by name.
type Sides = BTreeMap<Vec<u8>, (Option<Entry>, Option<Entry>)>;

/// By type bits, as git has it: an odd mode does not hide what is below.
fn is_directory((mode, _): &Entry) -> bool {
    mode & TYPE_BITS == TYPE_TREE
}

/// Lists all changed entries between two commits.
pub(in crate::hub) fn list(
    store: &Store,
    from: &CommitId,
    to: &CommitId,
) -> Result<Difference, HubError> {
    let failed = |source| store.failed("comparing trees")(source);
    let odb = store.git2.odb().map_err(failed)?;
    let root = |commit| Ok::<_, HubError>(Some(store.commit(commit)?.tree_id()));
    let mut pairs = vec![Pair { path: Vec::new(), old: root(from)?, new: root(to)? }];
    let mut difference = Difference { changes: Vec::new(), cut: false };
    let mut entries = 0;
    while let Some(pair) = pairs.pop() {
        if pair.old == pair.new {
            continue;
        }
        let both = read(store, &pair).map_err(failed)?;
        // A directory counts too: a tree of nothing but empty directories is as endless.
        entries += 1 + both.len();
        if entries > ENTRIES_MAX || pair.path.len() > PATH_BYTES_MAX {
            difference.cut = true;
            break;
        }
        for (name, (old, new)) in both {
            let path = [pair.path.as_slice(), &name].concat();
            let is_tree = |entry: &Option<Entry>| entry.filter(is_directory);
            let (old_tree, new_tree) = (is_tree(&old), is_tree(&new));
            if old_tree.is_some() || new_tree.is_some() {
                let below = [path.as_slice(), b"/"].concat();
                let id = |tree: Option<Entry>| tree.map(|(_, id)| id);
                pairs.push(Pair { path: below, old: id(old_tree), new: id(new_tree) });
            }
            let not_tree = |entry: Option<Entry>| entry.filter(|entry| !is_directory(entry));
            let (old, new) = (not_tree(old), not_tree(new));
            if old != new {
                difference.changes.push(change(&odb, path, old, new).map_err(failed)?);
            }
        }
    }
    difference.changes.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(difference)
}

/// The entries of both directories by name.
fn read(store: &Store, pair: &Pair) -> Result<Sides, git2::Error> {
    let mut both = Sides::new();
    for (id, is_new) in [(pair.old, false), (pair.new, true)] {
        let Some(id) = id else { continue };
        for entry in &store.git2.find_tree(id)? {
            let mode = u32::try_from(entry.filemode_raw()).unwrap_or_default();
            let sides = both.entry(entry.name_bytes().to_vec()).or_default();
            let side = if is_new { &mut sides.1 } else { &mut sides.0 };
            *side = Some((mode, entry.id()));
        }
    }
    Ok(both)
}

fn change(
    odb: &git2::Odb<'_>,
    path: Vec<u8>,
    old: Option<Entry>,
    new: Option<Entry>,
) -> Result<Change, git2::Error> {
    let kind = match (old, new) {
        (None, _) => ChangeKind::Added,
        (_, None) => ChangeKind::Deleted,
        _ => ChangeKind::Modified,
    };
    let mode = |entry: Option<Entry>| entry.map_or(0, |(mode, _)| mode);
    let mut size_bytes = 0;
    let mut link_target = None;
    if let Some((new_mode, id)) = new.filter(|(mode, _)| mode & TYPE_BITS != TYPE_GITLINK) {
        size_bytes = odb.read_header(id)?.0 as u64;
        if new_mode & TYPE_BITS == TYPE_LINK && size_bytes <= LINK_BYTES_MAX {
            link_target = Some(odb.read(id)?.data().to_vec());
        }
    }
    let id = |entry: Option<Entry>| entry.map(|(_, id)| id);
    Ok(Change {
        path,
        kind,
        old_mode: mode(old),
        new_mode: mode(new),
        size_bytes,
        link_target,
        old_id: id(old),
        new_id: id(new),
    })
}
