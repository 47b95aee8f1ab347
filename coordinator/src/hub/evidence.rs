//! The evidence of one landing as files of a directory, and its place in the chain of `refs/evidence/<run>`.
//!
//! What the files say, and who signed them, is not looked at here.

use std::collections::BTreeMap;

use cantus_proto::evidence::dossier::{evidence_ref, manifest};
use cantus_proto::ids::{CommitId, Digest, ItemId, RepositoryId, RunId, TreeId};

use super::{Hub, HubError, Store, land, message, oid, refs};
use crate::audit::{AuditError, landed_files};

/// Longest name of an evidence file in bytes, as file systems take it.
const NAME_BYTES_MAX: usize = 255;

/// One file of a landing's evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceFile {
    /// Its name: letters, digits and `_ - = .`, not beginning with a dot.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// Why files cannot be evidence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvidenceError {
    /// There is none: nothing may land so.
    #[error("there is no evidence: a landing needs at least one file")]
    None,
    /// A name that could mean something else than a file in that directory.
    #[error("{0:?} is no name for an evidence file: use letters, digits and _ - = . (not first)")]
    Name(String),
    /// The same name twice.
    #[error("the evidence has two files named {0:?}: name them apart")]
    Twice(String),
}

/// The digest of the [`manifest`] of these files, after a look at their names.
///
/// # Errors
/// [`EvidenceError`] when there are no files, or a name is unfit or there twice.
pub fn manifest_digest(files: &[EvidenceFile]) -> Result<Digest, EvidenceError> {
    if files.is_empty() {
        return Err(EvidenceError::None);
    }
    let mut by_name = BTreeMap::new();
    for file in files {
        if !is_name(&file.name) {
            return Err(EvidenceError::Name(file.name.chars().take(NAME_BYTES_MAX).collect()));
        }
        if by_name.insert(file.name.clone(), file.bytes.clone()).is_some() {
            return Err(EvidenceError::Twice(file.name.clone()));
        }
    }
    Ok(manifest(&by_name).1)
}

/// Why landed evidence cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum EvidenceReadError {
    /// Trouble of the hub.
    #[error(transparent)]
    Hub(#[from] HubError),
    /// The evidence ref is damaged.
    #[error(transparent)]
    Chain(#[from] AuditError),
}

impl Hub {
    /// The files that landed beside a tree, by name; nothing when the hub has not seen them land.
    ///
    /// # Errors
    /// [`EvidenceReadError`] when the hub's repository cannot be read.
    pub fn evidence(
        &self,
        repository: &RepositoryId,
        run: &RunId,
        tree: &TreeId,
        digest: &Digest,
    ) -> Result<Option<BTreeMap<String, Vec<u8>>>, EvidenceReadError> {
        let store = self.store(repository)?;
        Ok(landed_files(&store.git2, refs::upstream(&evidence_ref(run)), tree, digest)?)
    }
}

fn is_name(name: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'=' | b'.');
    !name.is_empty()
        && name.len() <= NAME_BYTES_MAX
        && !name.starts_with('.')
        && name.bytes().all(fits)
}

/// What one link of the chain records.
pub(super) struct Link<'a> {
    pub(super) run: &'a RunId,
    pub(super) item: &'a ItemId,
    pub(super) tree: &'a TreeId,
    pub(super) landing: &'a CommitId,
    pub(super) files: &'a [EvidenceFile],
    pub(super) now_unix_s: i64,
}

impl Store {
    /// Appends one commit to a chain: the tree of the last one, with the directory of this tree id replaced.
    ///
    /// Two items can land one tree; then the later link holds the later evidence, and the earlier link keeps
    /// what it had, which is why a reader looks through the chain.
    pub(super) fn append_evidence(
        &self,
        last: Option<&CommitId>,
        link: &Link<'_>,
    ) -> Result<CommitId, HubError> {
        let failed = |source| self.failed("writing evidence")(source);
        let parent = last.map(|last| self.commit(last)).transpose()?;
        let files = {
            let mut directory = self.git2.treebuilder(None).map_err(failed)?;
            for file in link.files {
                let blob = self.git2.blob(&file.bytes).map_err(failed)?;
                directory.insert(&file.name, blob, 0o100_644).map_err(failed)?;
            }
            directory.write().map_err(failed)?
        };
        let before = parent.as_ref().map(git2::Commit::tree).transpose().map_err(failed)?;
        let mut root = self.git2.treebuilder(before.as_ref()).map_err(failed)?;
        root.insert(link.tree.as_str(), files, 0o040_000).map_err(failed)?;
        let tree = root.write().and_then(|id| self.git2.find_tree(id)).map_err(failed)?;
        let text = format!(
            "Evidence for {}\n\n{}Cantus-Landing: {}\n",
            link.tree,
            message::run_and_item(link.run, link.item),
            link.landing
        );
        let signature = land::signature(link.now_unix_s).map_err(failed)?;
        let parents: Vec<_> = parent.iter().collect();
        self.git2
            .commit(None, &signature, &signature, &text, &tree, &parents)
            .map_err(failed)
            .and_then(|id| self.written(id))
    }

    /// Whether the last link of a chain has a directory for this tree.
    pub(super) fn has_evidence(&self, last: &CommitId, tree: git2::Oid) -> bool {
        oid(last.as_str())
            .and_then(|id| self.git2.find_commit(id))
            .and_then(|commit| commit.tree())
            .is_ok_and(|root| root.get_name(&tree.to_string()).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> EvidenceFile {
        EvidenceFile { name: name.to_owned(), bytes: text.as_bytes().to_vec() }
    }

    #[test]
    fn the_manifest_is_what_sha256sum_prints_sorted() {
        let digest = manifest_digest(&[file("b.json", "hello\n"), file("a.json", "")]).unwrap();
        let expected = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a.json\n\
             5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03  b.json\n";
        assert_eq!(digest, Digest::of(expected.as_bytes()));
    }

    #[test]
    fn names_that_are_no_file_are_refused() {
        for name in ["", ".", "..", ".git", "a/b", "a b", "a\n", "é"] {
            let refused = manifest_digest(&[file(name, "")]);
            assert_eq!(refused, Err(EvidenceError::Name(name.to_owned())), "{name:?}");
        }
        assert_eq!(manifest_digest(&[]), Err(EvidenceError::None));
        let twice = manifest_digest(&[file("a", "1"), file("a", "2")]);
        assert_eq!(twice, Err(EvidenceError::Twice("a".to_owned())));
    }
}
