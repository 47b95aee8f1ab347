//! Steps on a workspace in which somebody works: looking at it, and clearing away what we ourselves left there.

use cantus_proto::ids::CommitId;

use super::{COMPLAINT_BYTES_MAX, HelperError, Helpers, LookJson, flag};
use crate::workspace::loose::split;
use crate::workspace::pulse::Look;

/// Room for the names of loose files, in bytes: 100,000 of 600 bytes.
const NAMES_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Room for a look: a line, and at most 64 paths of 4 KiB.
const LOOK_BYTES_MAX: u64 = 512 * 1024;

/// The loose files of a workspace at one moment.
#[derive(Debug)]
pub struct LooseFiles(Vec<u8>);

impl Helpers<'_> {
    /// What there is of the work so far.
    ///
    /// # Errors
    /// [`HelperError`]; the next look may succeed.
    pub async fn look(&self, base: &CommitId) -> Result<Look, HelperError> {
        let step = "workspace-pulse";
        let mut arguments = flag("tree", &self.rooms.tree).to_vec();
        arguments.extend(flag("base", base.as_str()));
        let answer = self.call(step, &arguments, Vec::new(), LOOK_BYTES_MAX).await?;
        parse_look(&answer).map_err(|reason| HelperError::Answer { step, reason })
    }

    /// The files that nobody tracks or ignores.
    ///
    /// # Errors
    /// [`HelperError`].
    pub async fn loose_files(&self) -> Result<LooseFiles, HelperError> {
        let arguments = flag("tree", &self.rooms.tree);
        let answer = self.call("workspace-loose", &arguments, Vec::new(), NAMES_BYTES_MAX).await;
        answer.map(LooseFiles)
    }

    /// Removes the loose files that were not there before.
    ///
    /// # Errors
    /// [`HelperError`].
    pub async fn remove_new(&self, before: LooseFiles) -> Result<(), HelperError> {
        let mut arguments = flag("tree", &self.rooms.tree).to_vec();
        arguments.push("--remove-new".into());
        let answer = self.call("workspace-loose", &arguments, before.0, COMPLAINT_BYTES_MAX).await;
        answer.map(|_| ())
    }
}

pub(super) fn parse_look(answer: &[u8]) -> Result<Look, String> {
    let end = answer.iter().position(|byte| *byte == b'\n').ok_or("there is no first line")?;
    let json: LookJson =
        serde_json::from_slice(&answer[..end]).map_err(|error| error.to_string())?;
    Ok(Look {
        commits: json.commits,
        changed: split(&answer[end + 1..]).into_iter().collect(),
        changed_count: json.changed_count,
        fingerprint: json.fingerprint,
    })
}
