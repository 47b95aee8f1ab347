//! Lands a verified tree: one commit with exactly that tree and its evidence, in one atomic push or not at all.
//!
//! Upstream's answer is not what counts but its state: after a push that failed, or of which nothing is known, the
//! target is read again. Whether the tree is verified is the core's knowledge.

use cantus_proto::evidence::dossier::evidence_ref;
use cantus_proto::ids::{CommitId, Digest, ItemId, RepositoryId, RunId, TreeId};
use cantus_proto::plan::LandingStyle;

use super::evidence::{EvidenceError, EvidenceFile, Link, manifest_digest};
use super::git::{GitError, OUTPUT_BYTES_MAX, REMOTE_WALL};
use super::upstream::Upstream;
use super::{Hub, HubError, Store, commit_id, hold, message, refs, tree_id, upstream};
use crate::audit::trailers;

/// How far back the target is searched for a landing that a crash made us forget: other landings since then are few.
const LANDED_SEARCH_MAX: usize = 1_000;
/// How often a landing is tried when only the evidence ref was moved under it.
const EVIDENCE_TRIES: usize = 3;

/// Who makes candidates, landings and evidence commits.
pub(super) fn signature(unix_s: i64) -> Result<git2::Signature<'static>, git2::Error> {
    git2::Signature::new("Cantus", "cantus@localhost", &git2::Time::new(unix_s, 0))
}

/// A verified candidate to land.
#[derive(Debug, Clone, Copy)]
pub struct LandRequest<'a> {
    /// Whose run.
    pub run: &'a RunId,
    /// Which item.
    pub item: &'a ItemId,
    /// Which parents.
    pub style: LandingStyle,
    /// The full ref to move.
    pub reference: &'a str,
    /// Where it must stand: the head that the candidate was merged onto.
    pub onto: &'a CommitId,
    /// The result that was merged.
    pub head: &'a CommitId,
    /// The verified tree.
    pub tree: &'a TreeId,
    /// The evidence for it.
    pub evidence: &'a [EvidenceFile],
    /// The contract's goal, for the commit's first line.
    pub title: &'a str,
    /// The date of the commits: seconds since 1970.
    pub now_unix_s: i64,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LandOutcome {
    /// The target contains it. Also the answer when an earlier call had landed it already.
    Landed {
        /// The landing commit.
        commit: CommitId,
    },
    /// Somebody was faster; nothing was changed.
    Moved {
        /// Where the target stands now.
        head: CommitId,
    },
}

/// Why nothing landed although the target stands where it was.
#[derive(Debug, thiserror::Error)]
pub enum LandError {
    /// A hook or a rule of upstream said no.
    #[error(
        "{location} refused the landing on {reference}: {reason}; see its hooks and branch rules"
    )]
    Refused {
        /// Upstream.
        location: String,
        /// The ref.
        reference: String,
        /// Its words.
        reason: String,
    },
    /// Upstream cannot be written.
    #[error(
        "{location} cannot be written: {reason}; give this user the right to push, or free its disk"
    )]
    ReadOnly {
        /// Upstream.
        location: String,
        /// Its words.
        reason: String,
    },
    /// The target was checked out meanwhile.
    #[error(
        "{reference} is checked out in {checkout} and is not moved under its owner: switch that checkout to another branch"
    )]
    CheckedOut {
        /// The ref.
        reference: String,
        /// Where.
        checkout: String,
    },
    /// Somebody else writes the run's evidence.
    #[error(
        "{reference} of {location} is written by somebody else at the same time: run one coordinator per run"
    )]
    EvidenceContended {
        /// The evidence ref.
        reference: String,
        /// Upstream.
        location: String,
    },
    /// Unfit evidence.
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    /// Trouble of the hub.
    #[error(transparent)]
    Hub(#[from] HubError),
}

impl From<GitError> for LandError {
    fn from(error: GitError) -> Self {
        Self::Hub(error.into())
    }
}

impl Hub {
    /// Lands a tree and its evidence. Safe to call again after a crash at any point.
    ///
    /// # Errors
    /// [`LandError`] says what upstream objects to; the target then stands where it was.
    pub fn land(
        &self,
        repository: &RepositoryId,
        request: &LandRequest<'_>,
    ) -> Result<LandOutcome, LandError> {
        let digest = manifest_digest(request.evidence)?;
        let store = self.store(repository)?;
        let upstream = self.upstream(&store)?;
        let lock = self.lock_of(repository);
        let _held = hold(&lock);
        let evidence_ref = evidence_ref(request.run);
        let commit = write_landing(&store, request, &digest)?;
        for _ in 0..EVIDENCE_TRIES {
            let state = self.read_state(&store, &upstream, request, &evidence_ref)?;
            if let Some(outcome) = outcome_of(&store, request, &state)? {
                return Ok(outcome);
            }
            self.check_not_checked_out(&upstream, request.reference)?;
            let link = Link {
                run: request.run,
                item: request.item,
                tree: request.tree,
                landing: &commit,
                files: request.evidence,
                now_unix_s: request.now_unix_s,
            };
            let evidence = store.append_evidence(state.evidence.as_ref(), &link)?;
            let Err(error) = self.push(&store, &upstream, request, &state, &commit, &evidence)
            else {
                store.pin(&refs::upstream(request.reference), &commit)?;
                store.pin(&refs::upstream(&evidence_ref), &evidence)?;
                return Ok(LandOutcome::Landed { commit });
            };
            let after = self.read_state(&store, &upstream, request, &evidence_ref)?;
            if let Some(outcome) = outcome_of(&store, request, &after)? {
                return Ok(outcome);
            }
            if after.evidence == state.evidence {
                return Err(error);
            }
        }
        let location = upstream.shown();
        Err(LandError::EvidenceContended { reference: evidence_ref, location })
    }

    /// The items of a run that the target contains, oldest first.
    ///
    /// # Errors
    /// [`HubError`] when upstream cannot be read.
    pub fn landings(
        &self,
        repository: &RepositoryId,
        reference: &str,
        run: &RunId,
    ) -> Result<Vec<LandedItem>, HubError> {
        let store = self.store(repository)?;
        let upstream = self.upstream(&store)?;
        let lock = self.lock_of(repository);
        let _held = hold(&lock);
        let (head, evidence) = self.fetch_pair(&store, &upstream, reference, &evidence_ref(run))?;
        let Some(evidence) = evidence else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        walk(&store, &head, |commit| {
            let trailers = trailers::parse(commit.message_raw_bytes()).ok().flatten();
            let own = trailers.filter(|trailers| trailers.run == *run);
            let proven = own.filter(|_| store.has_evidence(&evidence, commit.tree_id()));
            found.extend(proven.map(|trailers| LandedItem {
                item: trailers.item,
                commit: commit_id(commit.id()),
                tree: tree_id(commit.tree_id()),
                evidence: trailers.evidence,
            }));
            None::<()>
        })?;
        found.reverse();
        Ok(found)
    }

    fn read_state(
        &self,
        store: &Store,
        upstream: &Upstream,
        request: &LandRequest<'_>,
        evidence_ref: &str,
    ) -> Result<State, HubError> {
        let (head, evidence) = self.fetch_pair(store, upstream, request.reference, evidence_ref)?;
        Ok(State { head, evidence })
    }

    /// The state of the target, which must be there, and of the evidence, which may not be; both fetched.
    fn fetch_pair(
        &self,
        store: &Store,
        upstream: &Upstream,
        reference: &str,
        evidence_ref: &str,
    ) -> Result<(CommitId, Option<CommitId>), HubError> {
        let mut found = self
            .follow(store, upstream, &[reference, evidence_ref])
            .map_err(upstream::into_hub_error)?;
        let head = found.remove(reference).ok_or_else(|| HubError::TargetGone {
            reference: reference.to_owned(),
            location: upstream.shown(),
        })?;
        Ok((head, found.remove(evidence_ref)))
    }

    fn push(
        &self,
        store: &Store,
        upstream: &Upstream,
        request: &LandRequest<'_>,
        before: &State,
        commit: &CommitId,
        evidence: &CommitId,
    ) -> Result<(), LandError> {
        let (target, evidence_ref) = (request.reference, evidence_ref(request.run));
        let old = before.evidence.as_ref().map_or("", CommitId::as_str);
        let output = self
            .git
            .call_in(&store.path, "push")
            .args(["--atomic", "--porcelain", "--no-verify", "--no-follow-tags"])
            .arg("--no-signed")
            .arg(format!("--force-with-lease={target}:{}", request.onto))
            .arg(format!("--force-with-lease={evidence_ref}:{old}"))
            .args(["--", &upstream.location])
            .args([format!("{commit}:{target}"), format!("{evidence}:{evidence_ref}")])
            .remote()
            .wall(REMOTE_WALL)
            .run_any(OUTPUT_BYTES_MAX)?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let rejected = said.lines().filter(|line| line.starts_with('!'));
        let reasons: Vec<_> = rejected.filter_map(|line| line.split('\t').nth(2)).collect();
        let (location, reference) = (upstream.shown(), target.to_owned());
        let all =
            super::git::escape(format!("{}\n{}", reasons.join("\n"), output.complaint).as_bytes());
        let has = |words: &[&str]| words.iter().any(|word| all.contains(word));
        Err(if has(&["currently checked out"]) {
            LandError::CheckedOut { reference, checkout: location }
        } else if has(&["hook declined", "protected branch", "prohibited", "deny updating"]) {
            LandError::Refused { location, reference, reason: all }
        } else if has(UNWRITABLE) {
            LandError::ReadOnly { location, reason: all }
        } else if reasons.iter().any(|reason| reason.starts_with("[remote rejected]")) {
            LandError::Refused { location, reference, reason: all }
        } else {
            output.failed("push").into()
        })
    }

    fn check_not_checked_out(&self, upstream: &Upstream, reference: &str) -> Result<(), LandError> {
        match self.find_checkout(upstream, reference)? {
            Some(checkout) => Err(LandError::CheckedOut {
                reference: reference.to_owned(),
                checkout: format!("{:?}", checkout.path),
            }),
            None => Ok(()),
        }
    }
}

/// Words of a git that cannot write.
const UNWRITABLE: &[&str] = &[
    "Permission denied",
    "insufficient permission",
    "Read-only file system",
    "read-only",
    "unable to create temporary",
    "unpacker error",
    "unable to migrate",
    "Disk quota exceeded",
];

/// What upstream has.
struct State {
    head: CommitId,
    evidence: Option<CommitId>,
}

/// The outcome if the state decides it: landed before, or moved; `None` when a push may be tried.
fn outcome_of(
    store: &Store,
    request: &LandRequest<'_>,
    state: &State,
) -> Result<Option<LandOutcome>, HubError> {
    if let Some(evidence) = &state.evidence {
        let found = find_landing(store, &state.head, evidence, request.run, request.item)?;
        if let Some(commit) = found {
            return Ok(Some(LandOutcome::Landed { commit }));
        }
    }
    if state.head == *request.onto {
        return Ok(None);
    }
    Ok(Some(LandOutcome::Moved { head: state.head.clone() }))
}

/// An item that the target contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LandedItem {
    /// Which item.
    pub item: ItemId,
    /// On the target.
    pub commit: CommitId,
    /// For which there is evidence.
    pub tree: TreeId,
    /// As in the commit's trailer.
    pub evidence: Digest,
}

/// A commit counts if its trailers name the item and the evidence has
/// its tree: words alone anybody could have written.
fn find_landing(
    store: &Store,
    head: &CommitId,
    evidence: &CommitId,
    run: &RunId,
    item: &ItemId,
) -> Result<Option<CommitId>, HubError> {
    walk(store, head, |commit| {
        let says_so = message::lands(commit.message_raw_bytes(), run, item);
        let proven = says_so && store.has_evidence(evidence, commit.tree_id());
        proven.then(|| commit_id(commit.id()))
    })
}

/// Looks along the target's own line, newest first, until something is found, and not for ever.
fn walk<T>(
    store: &Store,
    head: &CommitId,
    mut look: impl FnMut(&git2::Commit<'_>) -> Option<T>,
) -> Result<Option<T>, HubError> {
    let failed = |source| store.failed("searching the target for a landing")(source);
    let mut commit = store.commit(head)?;
    for _ in 0..LANDED_SEARCH_MAX {
        let found = look(&commit);
        if found.is_some() || commit.parent_count() == 0 {
            return Ok(found);
        }
        commit = commit.parent(0).map_err(failed)?;
    }
    Ok(None)
}

/// The landing commit, unreferenced: same request, same commit.
fn write_landing(
    store: &Store,
    request: &LandRequest<'_>,
    digest: &cantus_proto::ids::Digest,
) -> Result<CommitId, HubError> {
    let failed = |source| store.failed("writing the landing commit")(source);
    let tree = store.tree(request.tree)?;
    let (onto, head) = (store.commit(request.onto)?, store.commit(request.head)?);
    let (onto_id, head_id) = (onto.id(), head.id());
    // A result without a commit of its own would only name the target's history twice.
    let has_own =
        onto_id != head_id && !store.git2.graph_descendant_of(onto_id, head_id).map_err(failed)?;
    let parents = match request.style {
        LandingStyle::Merge if has_own => vec![&onto, &head],
        LandingStyle::Merge | LandingStyle::FastForward => vec![&onto],
    };
    let text = message::landing(request.title, request.run, request.item, digest);
    signature(request.now_unix_s)
        .and_then(|who| store.git2.commit(None, &who, &who, &text, &tree, &parents))
        .map_err(failed)
        .and_then(|id| store.written(id))
}
