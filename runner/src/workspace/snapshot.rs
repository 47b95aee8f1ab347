//! Builds a git tree from the working files, byte for byte, without trusting what an agent may have configured.
//!
//! What counts is the files and the `.gitignore` files among them. Not honoured: filters, attributes,
//! `info/exclude`, `core.excludesFile`, assume-unchanged and the index's stat data.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use git2::{ObjectType, Oid, Repository, Tree};

use super::tally::{Limits, Tally};
use super::{WorkspaceError, git, io};
use crate::text::shown;

/// Deepest directory that is walked: deeper paths exceed what a path may have anyway.
const DEPTH_MAX: usize = 200;

/// Most findings that are kept: past it, one more says how many.
const FINDINGS_MAX: usize = 50;

const MODE_FILE: i32 = 0o100_644;
const MODE_EXECUTABLE: i32 = 0o100_755;
const MODE_LINK: i32 = 0o120_000;
const MODE_TREE: i32 = 0o040_000;
const MODE_SUBMODULE: i32 = 0o160_000;

/// The working files as a tree.
pub(super) struct Snapshot {
    /// Absent when there are no files at all.
    pub(super) tree: Option<Oid>,
    /// What was left out, and why.
    pub(super) findings: Vec<String>,
}

/// Takes the snapshot; `tracked` are paths that the index knows, `parent` the tree that changes are relative to.
///
/// Objects are written to `store`, whose working directory must be `root`.
pub(super) fn take(
    store: &Repository,
    root: &Path,
    parent: &Tree<'_>,
    tracked: &BTreeSet<Vec<u8>>,
    limits: Limits,
) -> Result<Snapshot, WorkspaceError> {
    let mut walk = Walk {
        store,
        root,
        tracked,
        limits,
        tally: Tally::default(),
        findings: Vec::new(),
        findings_more: 0,
    };
    let tree = walk.directory(&[], Some(parent), 0)?;
    if let Some(refusal) = walk.tally.refusal(limits) {
        return Err(WorkspaceError::TooLarge(refusal));
    }
    if walk.findings_more > 0 {
        walk.findings.push(format!("{} more paths were left out", walk.findings_more));
    }
    Ok(Snapshot { tree, findings: walk.findings })
}

struct Walk<'a> {
    store: &'a Repository,
    root: &'a Path,
    tracked: &'a BTreeSet<Vec<u8>>,
    limits: Limits,
    tally: Tally,
    findings: Vec<String>,
    findings_more: u64,
}

/// One entry of a tree.
type Entry = (i32, Oid);

impl Walk<'_> {
    fn directory(
        &mut self,
        path: &[u8],
        parent: Option<&Tree<'_>>,
        depth: usize,
    ) -> Result<Option<Oid>, WorkspaceError> {
        if depth > DEPTH_MAX {
            self.finding(path, "is nested too deeply and was left out");
            return Ok(None);
        }
        let absolute = self.absolute(path);
        let mut builder = self.store.treebuilder(None).map_err(git("starting a tree"))?;
        for name in names(&absolute)? {
            if name == b".git" {
                if !path.is_empty() {
                    self.finding(
                        path,
                        "holds a repository of its own; its files were kept as files",
                    );
                }
                continue;
            }
            let entry_path = join(path, &name);
            let Some((mode, id)) = self.entry(&entry_path, &name, parent, depth)? else { continue };
            if builder.insert(name.as_slice(), id, mode).is_err() {
                self.finding(&entry_path, "has a name that git refuses and was left out");
            }
        }
        if builder.is_empty() {
            return Ok(None);
        }
        builder.write().map(Some).map_err(git("writing a tree"))
    }

    fn entry(
        &mut self,
        path: &[u8],
        name: &[u8],
        parent: Option<&Tree<'_>>,
        depth: usize,
    ) -> Result<Option<Entry>, WorkspaceError> {
        let before = parent.and_then(|tree| tree.get_name_bytes(name));
        let before: Option<Entry> = before.map(|entry| (entry.filemode_raw(), entry.id()));
        let absolute = self.absolute(path);
        let metadata = match std::fs::symlink_metadata(&absolute) {
            Ok(metadata) => metadata,
            // Gone since it was listed: somebody still cleans up.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(io(&absolute, "looked at")(error)),
        };
        if metadata.is_dir() {
            return self.subdirectory(path, before, depth);
        }
        let known = before.is_some() || self.tracked.contains(path);
        if !known && self.ignored(path, false) {
            return Ok(None);
        }
        if metadata.is_symlink() {
            let target = std::fs::read_link(&absolute).map_err(io(&absolute, "read"))?;
            return self.blob(path, MODE_LINK, target.as_os_str().as_bytes(), before).map(Some);
        }
        if !metadata.is_file() {
            self.finding(path, "is neither file, directory nor link and was left out");
            return Ok(None);
        }
        self.file(path, &absolute, &metadata, before)
    }

    fn subdirectory(
        &mut self,
        path: &[u8],
        before: Option<Entry>,
        depth: usize,
    ) -> Result<Option<Entry>, WorkspaceError> {
        let tree = match before {
            // A submodule stays what it was: its content is another repository's.
            Some((MODE_SUBMODULE, id)) => return Ok(Some((MODE_SUBMODULE, id))),
            Some((MODE_TREE, id)) => {
                Some(self.store.find_tree(id).map_err(git("reading a tree of the base"))?)
            }
            _ => None,
        };
        if tree.is_none() && !self.tracked_below(path) && self.ignored(path, true) {
            return Ok(None);
        }
        let id = self.directory(path, tree.as_ref(), depth + 1)?;
        Ok(id.map(|id| (MODE_TREE, id)))
    }

    fn file(
        &mut self,
        path: &[u8],
        absolute: &Path,
        metadata: &Metadata,
        before: Option<Entry>,
    ) -> Result<Option<Entry>, WorkspaceError> {
        let mode = match metadata.permissions().mode() & 0o100 {
            0 => MODE_FILE,
            _ => MODE_EXECUTABLE,
        };
        if metadata.permissions().mode() & 0o400 == 0 {
            // Its owner can have it back: an unreadable file must not cost the whole result.
            let readable = std::fs::Permissions::from_mode(metadata.permissions().mode() | 0o400);
            std::fs::set_permissions(absolute, readable).map_err(io(absolute, "made readable"))?;
        }
        if let Some((_, id)) = before {
            let same = Oid::hash_file(ObjectType::Blob, absolute).map_err(git("hashing a file"))?;
            if same == id {
                return Ok(Some((mode, id)));
            }
        }
        if metadata.len() > self.limits.bytes_max {
            // Only counted: the refusal that names it is certain now.
            self.tally.add(path, metadata.len());
            return Ok(None);
        }
        let bytes = std::fs::read(absolute).map_err(io(absolute, "read"))?;
        self.blob(path, mode, &bytes, before).map(Some)
    }

    fn blob(
        &mut self,
        path: &[u8],
        mode: i32,
        bytes: &[u8],
        before: Option<Entry>,
    ) -> Result<Entry, WorkspaceError> {
        let id = Oid::hash_object(ObjectType::Blob, bytes).map_err(git("hashing a file"))?;
        if before.is_some_and(|(_, known)| known == id) {
            return Ok((mode, id));
        }
        self.tally.add(path, bytes.len() as u64);
        if self.tally.fits(self.limits) {
            self.store.blob(bytes).map_err(git("storing a file"))?;
            return Ok((mode, id));
        }
        // Past the limit nothing is stored; the walk goes on only to name the biggest. The tree is never used.
        let empty = self.store.blob(b"").map_err(git("storing a file"))?;
        Ok((mode, empty))
    }

    fn ignored(&self, path: &[u8], directory: bool) -> bool {
        let mut path = path.to_vec();
        if directory {
            path.push(b'/');
        }
        self.store.is_path_ignored(Path::new(OsStr::from_bytes(&path))).unwrap_or(false)
    }

    fn tracked_below(&self, path: &[u8]) -> bool {
        let prefix = join(path, b"");
        self.tracked.range(prefix.clone()..).next().is_some_and(|first| first.starts_with(&prefix))
    }

    fn finding(&mut self, path: &[u8], what: &str) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(format!("{} {what}", shown(path)));
        } else {
            self.findings_more += 1;
        }
    }

    fn absolute(&self, path: &[u8]) -> PathBuf {
        match path {
            [] => self.root.to_owned(),
            path => self.root.join(OsStr::from_bytes(path)),
        }
    }
}

fn names(directory: &Path) -> Result<Vec<Vec<u8>>, WorkspaceError> {
    let mode =
        std::fs::symlink_metadata(directory).map_err(io(directory, "looked at"))?.permissions();
    if mode.mode() & 0o500 != 0o500 {
        let readable = std::fs::Permissions::from_mode(mode.mode() | 0o700);
        std::fs::set_permissions(directory, readable).map_err(io(directory, "made readable"))?;
    }
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(io(directory, "listed"))? {
        names.push(entry.map_err(io(directory, "listed"))?.file_name().as_bytes().to_vec());
    }
    names.sort();
    Ok(names)
}

fn join(path: &[u8], name: &[u8]) -> Vec<u8> {
    match path {
        [] => name.to_vec(),
        path => [path, b"/", name].concat(),
    }
}
