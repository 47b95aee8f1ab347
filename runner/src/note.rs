//! What a workspace volume remembers of its lease, for the salvage that may have to follow.
//!
//! Both files are in a directory that only the entry process's user can enter, so that no agent can say that its
//! work was handed in.

use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use cantus_proto::message::LeaseNote;
use cantus_proto::wire::WireError;

/// Directory below the workspace root.
const DIRECTORY: &str = "entry";
/// The note, from the moment the lease is stored.
const LEASE: &str = "lease.pb";
/// There as soon as the coordinator has everything.
const HANDED_IN: &str = "handed-in";

/// Why note or marker cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum NoteError {
    /// The file system refused.
    #[error("{path} cannot be read or written")]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Not a note of ours.
    #[error("{path} is no lease note of this version")]
    Wire {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: WireError,
    },
}

/// The notes of one workspace root.
#[derive(Debug, Clone)]
pub struct Notes(PathBuf);

impl Notes {
    /// Below this workspace root.
    #[must_use]
    pub fn of(work: &Path) -> Self {
        Self(work.join(DIRECTORY))
    }

    /// Writes the note; it is on disk when this returns.
    ///
    /// # Errors
    /// [`NoteError`].
    pub fn write(&self, note: &LeaseNote) -> Result<(), NoteError> {
        let path = self.0.join(LEASE);
        let bytes = note.encode().map_err(|source| NoteError::Wire { path, source })?;
        self.put(LEASE, &bytes)
    }

    /// Notes that everything was handed in.
    ///
    /// # Errors
    /// [`NoteError`].
    pub fn mark_handed_in(&self) -> Result<(), NoteError> {
        self.put(HANDED_IN, b"")
    }

    /// The lease whose work is still here and nowhere else; nothing when there is none.
    ///
    /// # Errors
    /// [`NoteError`], also for a damaged note: then a person has to look.
    pub fn unsaved(&self) -> Result<Option<LeaseNote>, NoteError> {
        let path = self.0.join(LEASE);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(NoteError::Io { path, source }),
        };
        if self.0.join(HANDED_IN).exists() {
            return Ok(None);
        }
        let note = LeaseNote::decode(&bytes).map_err(|source| NoteError::Wire { path, source })?;
        Ok(Some(note))
    }

    /// Forgets a lease that was handed in, before the next one begins in the same place.
    ///
    /// # Errors
    /// [`NoteError`].
    pub fn clear(&self) -> Result<(), NoteError> {
        // The note goes first: a marker without a note means nothing, a note without its marker would.
        for name in [LEASE, HANDED_IN] {
            let path = self.0.join(name);
            match std::fs::remove_file(&path) {
                Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                    return Err(NoteError::Io { path, source });
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), NoteError> {
        let path = self.0.join(name);
        let io = |source| NoteError::Io { path: path.clone(), source };
        let made = std::fs::DirBuilder::new().mode(0o700).recursive(true).create(&self.0);
        made.map_err(io)?;
        let mut options = std::fs::OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o600).open(&path);
        let mut file = file.map_err(io)?;
        file.write_all(bytes).and_then(|()| file.sync_all()).map_err(io)
    }
}

#[cfg(test)]
mod tests {
    use cantus_proto::ids::{AttemptNumber, CommitId, ItemId, LeaseId, RepositoryId, RunId};
    use cantus_proto::message::{AttemptKind, LeaseNote};

    use super::Notes;

    #[test]
    fn unsaved_until_handed_in() {
        let root = tempfile::TempDir::new().unwrap();
        let notes = Notes::of(root.path());
        assert_eq!(notes.unsaved().unwrap(), None);
        let note = LeaseNote {
            lease: LeaseId::from_bytes([1; 16]),
            run: RunId::new("r").unwrap(),
            item: ItemId::new("i").unwrap(),
            attempt: AttemptNumber(1),
            kind: AttemptKind::Produce,
            repository: RepositoryId::of("x"),
            base: CommitId::new("a".repeat(40)).unwrap(),
            artifact_bytes_max: 1,
            files_max: 1,
        };
        notes.write(&note).unwrap();
        assert_eq!(notes.unsaved().unwrap(), Some(note));
        notes.mark_handed_in().unwrap();
        assert_eq!(notes.unsaved().unwrap(), None);
    }

    #[test]
    fn a_damaged_note_is_an_error_and_not_nothing() {
        let root = tempfile::TempDir::new().unwrap();
        std::fs::create_dir(root.path().join("entry")).unwrap();
        std::fs::write(root.path().join("entry/lease.pb"), b"\xff").unwrap();
        assert!(Notes::of(root.path()).unsaved().is_err());
    }
}
