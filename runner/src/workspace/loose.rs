//! Files that git neither tracks nor ignores: what the project's checks leave beside the agent's work is removed, so
//! that it does not become part of the result.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use git2::{Status, StatusOptions};

use super::{WorkspaceError, git, io, open};

/// The loose files of a tree.
///
/// # Errors
/// A repository that git cannot read.
pub(crate) fn loose(tree: &Path) -> Result<BTreeSet<Vec<u8>>, WorkspaceError> {
    let repository = open(tree)?;
    let mut options = StatusOptions::new();
    options
        .include_untracked(true)
        .recurse_untracked_dirs(true)
        .include_ignored(false)
        .exclude_submodules(true)
        .update_index(false)
        .no_refresh(true);
    let statuses = repository.statuses(Some(&mut options)).map_err(git("looking for files"))?;
    let new = statuses.iter().filter(|entry| entry.status().contains(Status::WT_NEW));
    Ok(new.map(|entry| entry.path_bytes().to_vec()).collect())
}

/// Removes the loose files that were not there before, and the directories that only they were in.
///
/// # Errors
/// A repository that git cannot read, or a file that cannot be removed.
pub(crate) fn remove_new(tree: &Path, before: &BTreeSet<Vec<u8>>) -> Result<(), WorkspaceError> {
    for path in loose(tree)?.difference(before) {
        let relative = Path::new(OsStr::from_bytes(path));
        let absolute = tree.join(relative);
        // A path with a slash at its end is a repository of its own, which is left alone.
        let Ok(metadata) = std::fs::symlink_metadata(&absolute) else { continue };
        if metadata.is_dir() {
            continue;
        }
        std::fs::remove_file(&absolute).map_err(io(&absolute, "removed"))?;
        let parents = relative.ancestors().skip(1).take_while(|p| !p.as_os_str().is_empty());
        for parent in parents {
            // The first that still holds something ends it.
            if std::fs::remove_dir(tree.join(parent)).is_err() {
                break;
            }
        }
    }
    Ok(())
}

/// Names on the pipe between entry and helper: each ends with a zero byte.
pub(crate) fn join(names: &BTreeSet<Vec<u8>>) -> Vec<u8> {
    names.iter().flat_map(|name| name.iter().copied().chain([0])).collect()
}

/// See [`join`].
pub(crate) fn split(bytes: &[u8]) -> BTreeSet<Vec<u8>> {
    bytes.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::{join, loose, remove_new, split};
    use crate::testing::{Fixture, write};

    #[test]
    fn only_what_came_after_is_removed() {
        let fixture = Fixture::new();
        let tree = fixture.prepare();
        write(&tree, "mine/new.txt", "mine");
        write(&tree, "src/a.txt", "changed");
        let before = loose(&tree).unwrap();
        assert_eq!(before, [b"mine/new.txt".to_vec()].into());
        assert_eq!(split(&join(&before)), before);
        write(&tree, "src/__pycache__/a.pyc", "x");
        write(&tree, "mine/deep/er/b.pyc", "x");
        write(&tree, "mine/new.txt", "mine, changed");
        write(&tree, "build/ignored", "kept: git ignores it");
        remove_new(&tree, &before).unwrap();
        assert!(!tree.join("src/__pycache__").exists());
        assert!(!tree.join("mine/deep").exists());
        assert_eq!(std::fs::read(tree.join("mine/new.txt")).unwrap(), b"mine, changed");
        assert_eq!(std::fs::read(tree.join("src/a.txt")).unwrap(), b"changed");
        assert!(tree.join("build/ignored").exists());
    }
}
