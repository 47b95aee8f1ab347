//! The evidence of a run as the repository holds it: the links of `refs/evidence/<run token>`.
//!
//! Two items of a run can land the same tree; then a later link replaces the directory of the earlier. So the
//! chain is searched for the directory whose manifest the commit names, the newest first.

use std::collections::BTreeMap;

use cantus_proto::evidence::dossier::{evidence_ref, manifest};
use cantus_proto::evidence::dsse::ENVELOPE_BYTES_MAX;
use cantus_proto::ids::{Digest, RunId};
use git2::{ErrorCode, ObjectType, Oid, Repository};

use super::AuditError;

/// Most files of one landing: two for each criterion and a summary.
const FILES_MAX: usize = 2_001;

/// The chain of one run.
pub(super) struct Chain {
    pub(super) reference: String,
    /// Root trees, the newest first.
    roots: Vec<Oid>,
}

/// The files beside one landed tree.
#[derive(Debug, Clone)]
pub(super) struct Directory {
    pub(super) files: BTreeMap<String, Vec<u8>>,
    /// Of the manifest of all files.
    pub(super) digest: Digest,
    /// What cannot be part of any evidence, and is left out of `files`.
    pub(super) findings: Vec<String>,
}

impl Chain {
    /// Reads the chain of a run; nothing when the ref does not exist.
    pub(super) fn open(repo: &Repository, run: &RunId) -> Result<Option<Self>, AuditError> {
        Self::open_at(repo, evidence_ref(run))
    }

    /// The same, where a clone keeps the ref under another name.
    pub(super) fn open_at(
        repo: &Repository,
        reference: String,
    ) -> Result<Option<Self>, AuditError> {
        let read = AuditError::read("the evidence ref");
        let mut next = match repo.find_reference(&reference) {
            Ok(found) => Some(found.peel_to_commit().map_err(&read)?),
            Err(error) if error.code() == ErrorCode::NotFound => return Ok(None),
            Err(error) => return Err(read(error)),
        };
        let mut roots = Vec::new();
        while let Some(commit) = next {
            roots.push(commit.tree_id());
            next = match commit.parent_count() {
                0 => None,
                _ => Some(commit.parent(0).map_err(&read)?),
            };
        }
        Ok(Some(Self { reference, roots }))
    }

    /// The directory for a tree: that with this manifest digest, else the newest; nothing when there is none.
    pub(super) fn directory(
        &self,
        repo: &Repository,
        tree: Oid,
        digest: &Digest,
    ) -> Result<Option<Directory>, AuditError> {
        let read = AuditError::read("the evidence");
        let (mut newest, mut seen) = (None, None);
        for root in &self.roots {
            let root = repo.find_tree(*root).map_err(&read)?;
            let Some(entry) = root.get_name(&tree.to_string()) else { continue };
            if seen.replace(entry.id()) == Some(entry.id()) {
                continue;
            }
            let directory = read_directory(repo, entry.id())?;
            if directory.digest == *digest {
                return Ok(Some(directory));
            }
            newest.get_or_insert(directory);
        }
        Ok(newest)
    }

    /// The tree whose evidence has this manifest digest, whichever it is: to name it beside the right one.
    pub(super) fn tree_of(
        &self,
        repo: &Repository,
        digest: &Digest,
    ) -> Result<Option<String>, AuditError> {
        let read = AuditError::read("the evidence");
        let mut seen = std::collections::BTreeSet::new();
        for root in &self.roots {
            for entry in &repo.find_tree(*root).map_err(&read)? {
                if entry.kind() == Some(ObjectType::Tree)
                    && seen.insert(entry.id())
                    && read_directory(repo, entry.id())?.digest == *digest
                {
                    return Ok(Some(String::from_utf8_lossy(entry.name_bytes()).into_owned()));
                }
            }
        }
        Ok(None)
    }
}

fn read_directory(repo: &Repository, id: Oid) -> Result<Directory, AuditError> {
    let read = AuditError::read("the evidence");
    let (mut files, mut findings) = (BTreeMap::new(), Vec::new());
    let (odb, entries) = (repo.odb().map_err(&read)?, repo.find_tree(id).map_err(&read)?);
    for entry in entries.iter().take(FILES_MAX) {
        let shown = String::from_utf8_lossy(entry.name_bytes()).escape_debug().to_string();
        let Some(name) = entry.name().ok().filter(|_| entry.kind() == Some(ObjectType::Blob))
        else {
            findings.push(format!("the evidence has {shown}, which is no file of a dossier"));
            continue;
        };
        let (size, _) = odb.read_header(entry.id()).map_err(&read)?;
        if size > ENVELOPE_BYTES_MAX {
            findings.push(format!("{shown} has {size} bytes, the limit is {ENVELOPE_BYTES_MAX}"));
            continue;
        }
        let blob = repo.find_blob(entry.id()).map_err(&read)?;
        files.insert(name.to_owned(), blob.content().to_vec());
    }
    if entries.len() > FILES_MAX {
        findings
            .push(format!("the evidence has {} files, the limit is {FILES_MAX}", entries.len()));
    }
    let digest = manifest(&files).1;
    Ok(Directory { files, digest, findings })
}
