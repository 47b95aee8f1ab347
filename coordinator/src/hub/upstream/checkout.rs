//! Where a run lands: on its target, or beside it when somebody has the target checked out.
//!
//! A branch that is checked out is never moved under its owner.

use std::path::{Path, PathBuf};

use cantus_proto::ids::{CommitId, RunId};
use cantus_proto::subjects::token;

use super::super::git::{OUTPUT_BYTES_MAX, REMOTE_WALL, to_path};
use super::super::{Hub, HubError, Store, hold, refs};
use super::{ConnectError, Connected, Upstream};

/// A checkout that holds a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// The work tree.
    pub path: PathBuf,
    /// It has changes to tracked files that are not committed.
    pub dirty: bool,
}

/// Where a run lands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landing {
    /// The full ref.
    pub reference: String,
    /// Where it stands.
    pub head: CommitId,
    /// What to tell the person, if it is not the target itself.
    pub notice: Option<String>,
}

impl Hub {
    /// Where a run lands: on the target, or, if that is checked out, on a branch of the run's own, made here.
    ///
    /// Asking again for the same run answers with the branch as it stands.
    ///
    /// # Errors
    /// [`ConnectError::LandingBranch`] when the branch cannot be made.
    pub fn landing_ref(&self, connected: &Connected, run: &RunId) -> Result<Landing, ConnectError> {
        let Some(checkout) = &connected.checkout else {
            let (reference, head) = (connected.target.clone(), connected.head.clone());
            return Ok(Landing { reference, head, notice: None });
        };
        let store = self.store(&connected.repository)?;
        let upstream = self.upstream(&store)?;
        let lock = self.lock_of(&connected.repository);
        let _held = hold(&lock);
        let branch = format!("cantus/{}", token(run.as_str()));
        let reference = format!("refs/heads/{branch}");
        let mut found = self.follow(&store, &upstream, &[&reference])?;
        let head = match found.remove(&reference) {
            Some(head) => head,
            None => self.make_branch(&store, &upstream, &reference, &connected.head)?,
        };
        let notice = Some(notice(&connected.target, checkout, &branch));
        Ok(Landing { reference, head, notice })
    }

    fn make_branch(
        &self,
        store: &Store,
        upstream: &Upstream,
        reference: &str,
        head: &CommitId,
    ) -> Result<CommitId, ConnectError> {
        let output = self
            .git
            .call_in(&store.path, "push")
            .args(["--no-verify", "--no-follow-tags", &format!("--force-with-lease={reference}:")])
            .args(["--", &upstream.location, &format!("{head}:{reference}")])
            .remote()
            .wall(REMOTE_WALL)
            .run_any(OUTPUT_BYTES_MAX)?;
        if !output.status.success() {
            return Err(ConnectError::LandingBranch {
                reference: reference.to_owned(),
                location: upstream.shown(),
                reason: output.complaint,
            });
        }
        store.pin(&refs::upstream(reference), head)?;
        Ok(head.clone())
    }

    /// The work tree of a local upstream, main or linked, that has this branch checked out.
    pub(in crate::hub) fn find_checkout(
        &self,
        upstream: &Upstream,
        reference: &str,
    ) -> Result<Option<Checkout>, HubError> {
        if !upstream.local {
            return Ok(None);
        }
        let at = Path::new(&upstream.location);
        let list = self.git.call_at(at, "worktree").args(["list", "--porcelain", "-z"]).run()?;
        let mut path = None;
        for field in list.split(|&byte| byte == 0) {
            if let Some(found) = field.strip_prefix(b"worktree ") {
                path = Some(to_path(found));
            } else if field.strip_prefix(b"branch ") == Some(reference.as_bytes())
                && let Some(path) = path.take()
            {
                let dirty = self.is_dirty(&path)?;
                return Ok(Some(Checkout { path, dirty }));
            }
        }
        Ok(None)
    }

    fn is_dirty(&self, path: &Path) -> Result<bool, HubError> {
        if !path.is_dir() {
            return Ok(false);
        }
        let status = self.git.call_at(path, "status").args(["--porcelain", "-z"]);
        let changed = status.args(["--untracked-files=no", "--ignore-submodules=all"]).run()?;
        Ok(!changed.is_empty())
    }
}

fn notice(target: &str, checkout: &Checkout, branch: &str) -> String {
    let target = target.strip_prefix("refs/heads/").unwrap_or(target);
    let first = if checkout.dirty {
        " That checkout has uncommitted changes: commit or stash them first."
    } else {
        ""
    };
    format!(
        "{target} is checked out in {:?} and is not moved under its owner: the run lands on {branch}. \
         Take it over there with `git merge --ff-only {branch}`.{first}",
        checkout.path
    )
}
