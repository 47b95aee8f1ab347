//! What a result changes, read from tree entries as bytes, and the limits on how much that may be.
//!
//! Nothing here looks at a file system, at attributes or at what a file means; whether a change is allowed is
//! the gate's question.

use std::collections::BTreeMap;

use cantus_proto::ids::{CommitId, RepositoryId};

use super::git::to_path;
use super::{Hub, HubError};

mod walk;

pub(super) use walk::{Difference, list};

/// Most offenders named in a refusal: the rest would not be read.
const OFFENDERS_MAX: usize = 10;
/// The bits of a mode that say what an entry is; git reads the others as permissions.
const TYPE_BITS: u32 = 0o170_000;
/// Type of a symbolic link.
const TYPE_LINK: u32 = 0o120_000;
/// Type of a submodule entry.
const TYPE_GITLINK: u32 = 0o160_000;

/// How one path changed. A rename is a deletion and an addition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// It was not there.
    Added,
    /// Content, mode or type are other.
    Modified,
    /// It is gone.
    Deleted,
}

/// One changed entry of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path from the root, as git has it: bytes, `/` between components.
    pub path: Vec<u8>,
    /// How it changed.
    pub kind: ChangeKind,
    /// The mode before, 0 if it was not there.
    pub old_mode: u32,
    /// The mode after, 0 if it is gone.
    pub new_mode: u32,
    /// Size of the new content; 0 for what is gone and for submodules.
    pub size_bytes: u64,
    /// Where a new or changed symbolic link points to, as bytes; not read if longer than any system takes.
    pub link_target: Option<Vec<u8>>,
    /// The object before, unless there was none.
    pub(in crate::hub) old_id: Option<git2::Oid>,
    /// The object after, unless there is none.
    pub(in crate::hub) new_id: Option<git2::Oid>,
}

impl Change {
    /// The new entry is a symbolic link.
    #[must_use]
    pub fn is_symlink(&self) -> bool {
        self.new_mode & TYPE_BITS == TYPE_LINK
    }

    /// The new or the old entry is a submodule.
    #[must_use]
    pub fn is_gitlink(&self) -> bool {
        [self.new_mode, self.old_mode].iter().any(|mode| mode & TYPE_BITS == TYPE_GITLINK)
    }
}

/// How much one result may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultLimits {
    /// Largest bundle, and largest sum of new contents, in bytes.
    pub artifact_bytes_max: u64,
    /// Most changed paths.
    pub files_max: u32,
}

/// What makes a result too large: a file, or a directory with many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offender {
    /// The path, as bytes; a directory ends in `/`.
    pub path: Vec<u8>,
    /// How many changed files it stands for.
    pub files: u64,
    /// Their size.
    pub size_bytes: u64,
}

/// A diff as text, for people and for repair attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// The patch as git writes it, in whatever encoding the files have.
    pub bytes: Vec<u8>,
    /// There was more than the limit; `bytes` is a beginning.
    pub cut: bool,
}

/// The biggest new contents.
pub(super) fn biggest_files(changes: &[Change]) -> Vec<Offender> {
    let all = changes.iter().map(|change| Offender {
        path: change.path.clone(),
        files: 1,
        size_bytes: change.size_bytes,
    });
    biggest(all.collect(), |offender| offender.size_bytes)
}

/// The directories (at most two deep: below that a generator's output looks like many) with most changed files.
pub(super) fn fullest_directories(changes: &[Change]) -> Vec<Offender> {
    let mut by_directory: BTreeMap<&[u8], (u64, u64)> = BTreeMap::new();
    for change in changes {
        let ends = change.path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let end = ends.map(|(at, _)| at + 1).take(2).last().unwrap_or(0);
        let sum = by_directory.entry(&change.path[..end]).or_default();
        *sum = (sum.0 + 1, sum.1 + change.size_bytes);
    }
    let all = by_directory.into_iter().map(|(path, (files, size_bytes))| Offender {
        path: if path.is_empty() { b"./".to_vec() } else { path.to_vec() },
        files,
        size_bytes,
    });
    biggest(all.collect(), |offender| offender.files)
}

fn biggest(mut offenders: Vec<Offender>, measure: impl Fn(&Offender) -> u64) -> Vec<Offender> {
    offenders.sort_by(|a, b| measure(b).cmp(&measure(a)).then_with(|| a.path.cmp(&b.path)));
    offenders.truncate(OFFENDERS_MAX);
    offenders
}

impl std::fmt::Display for Offender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} ({} files, {} bytes)", to_path(&self.path), self.files, self.size_bytes)
    }
}

impl Hub {
    /// The difference between two commits of the hub as a patch, cut at a size.
    ///
    /// # Errors
    /// [`HubError`] when the repository or a commit is unknown, or git fails.
    pub fn patch(
        &self,
        repository: &RepositoryId,
        from: &CommitId,
        to: &CommitId,
        bytes_max: u64,
    ) -> Result<Patch, HubError> {
        let store = self.store(repository)?;
        store.commit(from)?;
        store.commit(to)?;
        let output = self
            .git
            .call_in(&store.path, "diff-tree")
            .args(["-p", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv"])
            .args(["--ignore-submodules=none", "--no-color", from.as_str(), to.as_str(), "--"])
            .hostile_input()
            .run_any(bytes_max)?;
        if !output.cut && !output.status.success() {
            return Err(output.failed("diff-tree").into());
        }
        Ok(Patch { bytes: output.stdout, cut: output.cut })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &str, size_bytes: u64) -> Change {
        Change {
            path: path.into(),
            kind: ChangeKind::Added,
            old_mode: 0,
            new_mode: 0o100_644,
            size_bytes,
            link_target: None,
            old_id: None,
            new_id: None,
        }
    }

    #[test]
    fn the_biggest_come_first_and_ties_end_in_the_path() {
        let changes: Vec<_> = (0..30).map(|n| change(&format!("f{n:02}"), n % 3)).collect();
        let named = biggest_files(&changes);
        assert_eq!(named.len(), OFFENDERS_MAX);
        assert_eq!(named[0].path, b"f02");
        assert_eq!(named[1].path, b"f05");
    }

    #[test]
    fn directories_are_named_two_deep() {
        let changes =
            [change("a/b/c/d", 1), change("a/b/e", 2), change("a/f", 4), change("top", 8)];
        let named = fullest_directories(&changes);
        let shown: Vec<_> = named.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "\"a/b/\" (2 files, 3 bytes)",
                "\"./\" (1 files, 8 bytes)",
                "\"a/\" (1 files, 4 bytes)"
            ]
        );
    }
}
