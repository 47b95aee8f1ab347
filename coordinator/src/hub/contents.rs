//! What changed files hold, for the gates: bytes from the object store, within limits.

use cantus_core::scope_delta::{Content, FileChange, wants_content};
use cantus_proto::ids::RepositoryId;

use super::changes::Change;
use super::{Hub, HubError};

/// Largest file that is read, in bytes: nobody reviews a larger one.
const FILE_BYTES_MAX: u64 = 2 * 1024 * 1024;
/// Most that is read of one result, in bytes; what is beyond counts as too large.
const TOTAL_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Type bits of a mode, and those of files.
const TYPE_BITS: u32 = 0o170_000;
/// See [`TYPE_BITS`].
const TYPE_FILE: u32 = 0o100_000;

impl Hub {
    /// The changes with what the files held and hold, as far as the gates want to see it.
    ///
    /// # Errors
    /// [`HubError`] when the repository is unknown or an object cannot be read.
    pub fn contents(
        &self,
        repository: &RepositoryId,
        changes: &[Change],
    ) -> Result<Vec<FileChange>, HubError> {
        let store = self.store(repository)?;
        let failed = |source| store.failed("reading changed files")(source);
        let odb = store.git2.odb().map_err(failed)?;
        let mut left = TOTAL_BYTES_MAX;
        let mut read = |mode: u32, id: Option<git2::Oid>, wanted: bool| {
            let Some(id) = id.filter(|_| mode & TYPE_BITS == TYPE_FILE) else {
                return Ok::<_, git2::Error>(Content::Absent);
            };
            let size = odb.read_header(id)?.0 as u64;
            if !wanted || size > FILE_BYTES_MAX || size > left {
                return Ok(Content::TooLarge(size));
            }
            left -= size;
            Ok(Content::Bytes(odb.read(id)?.data().to_vec()))
        };
        let change = |change: &Change| {
            let wanted = wants_content(&change.path);
            Ok::<_, git2::Error>(FileChange {
                path: change.path.clone(),
                mode_old: change.old_mode,
                mode_new: change.new_mode,
                old: read(change.old_mode, change.old_id, wanted)?,
                new: read(change.new_mode, change.new_id, wanted)?,
            })
        };
        changes.iter().map(change).collect::<Result<_, _>>().map_err(failed)
    }
}
