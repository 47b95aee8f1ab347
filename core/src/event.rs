//! What the core is told, and what it asks for: both are data.
//!
//! Events come from reports, from the git hub, from people and from the clock. Actions are carried out by the
//! shell after the records of the same step are stored; each may be carried out twice without harm.

use std::sync::Arc;

use cantus_proto::contract::Contract;
use cantus_proto::ids::{
    AttemptNumber, Blob, CommitId, Digest, ItemId, RepositoryId, RoleName, RunId, TreeId,
};
use cantus_proto::message::{Attempt, Candidate, Commits, Report};
use cantus_proto::plan::{Complexity, LandingStyle, Plan};

use crate::item::Landed;
use crate::scope_delta::Finding;

/// Milliseconds since the Unix epoch, on the coordinator's clock: the only one that decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Millis(pub u64);

impl Millis {
    /// Later by so many milliseconds.
    #[must_use]
    pub fn plus(self, milliseconds: u64) -> Self {
        Self(self.0.saturating_add(milliseconds))
    }
}

/// An item of a run by its place in the plan: small, and stable for the life of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemIndex(pub u32);

/// Everything that starts a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Submission {
    /// Chosen or drawn by the shell; unique.
    pub run: RunId,
    /// Compiled.
    pub plan: Arc<Plan>,
    /// The plan as it is kept in the blob store, for replay.
    pub plan_blob: Blob,
    /// Where results land; nothing for a run that only reports.
    pub repository: Option<Repository>,
    /// Something that the submitter should know.
    pub notice: String,
}

/// The repository side of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// As mirrors know it.
    pub id: RepositoryId,
    /// Path or URL of upstream.
    pub location: String,
    /// Full name of the ref that the run lands on.
    pub target: String,
    /// Where that ref was at submission.
    pub head: CommitId,
    /// Shape of the landing commits.
    pub style: LandingStyle,
}

/// Something happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A person submitted a compiled plan; the repository was found and announced to the mirrors.
    Submitted(Box<Submission>),
    /// A pool, worker or verifier said something.
    Reported(Box<Report>),
    /// The hub has read a result.
    Inspected(Effect, Inspection),
    /// The hub has merged a result onto the head.
    Merged(Effect, Merge),
    /// The hub has tried to land.
    LandingTried(Effect, LandingTry),
    /// The target was found to contain an item of a run (after a start, in the order of its history).
    Found(RunId, ItemId, Box<Landed>),
    /// An effect could not be carried out, and trying again did not help.
    EffectFailed(Effect, String),
    /// A person cancels a whole run, or one item with what needs it.
    Cancelled(RunId, Option<ItemId>),
    /// A person puts a parked item back.
    Requeued(RunId, ItemId),
    /// A person lets through what the gates kept out of an item's newest result (SPEC B6).
    Approved {
        /// Whose item.
        run: RunId,
        /// Which item.
        item: ItemId,
        /// Who it is, for the record.
        by: String,
    },
    /// A person has an item's present result checked again (SPEC B5).
    Rechecked {
        /// Whose item.
        run: RunId,
        /// Which item.
        item: ItemId,
        /// What another run of the checks would tell apart.
        hypothesis: String,
    },
    /// A deadline may have passed.
    Woken,
}

/// Which item an effect was for, and which attempt's work it was about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// Whose item.
    pub run: RunId,
    /// Which item.
    pub item: ItemIndex,
    /// The attempt whose result it is about.
    pub work: AttemptNumber,
}

/// What the hub found in a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inspection {
    /// Well-formed; this is what the gates found in what differs from its base.
    Read(Vec<Finding>),
    /// Not taken in, for these reasons.
    Refused(Vec<String>),
}

/// What a merge onto the head gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merge {
    /// A tree to verify.
    Clean(Candidate),
    /// Both sides changed the same lines.
    Conflict {
        /// The head that it conflicts with.
        onto: CommitId,
        /// Raw paths.
        paths: Vec<Vec<u8>>,
    },
}

/// What a landing gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LandingTry {
    /// The target contains it.
    Landed {
        /// The commit on the target.
        commit: CommitId,
        /// As in its trailer.
        evidence: Digest,
    },
    /// The target moved since the merge.
    Moved {
        /// Where it is now.
        head: CommitId,
    },
}

/// Something to be done by the shell.
#[must_use]
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Put an attempt on the bus.
    Publish(Box<Attempt>),
    /// Take a queued attempt off the bus.
    Withdraw {
        /// The role it was published for.
        role: RoleName,
        /// Whose item.
        run: RunId,
        /// Which item.
        item: ItemId,
        /// Which attempt.
        number: AttemptNumber,
    },
    /// Take a result into the hub and say what it changes; answered by [`Event::Inspected`].
    Inspect(Box<Inspect>),
    /// Merge an inspected result onto the head; answered by [`Event::Merged`].
    Merge(Box<MergeWork>),
    /// Move the target; answered by [`Event::LandingTried`].
    Land(Box<Land>),
    /// Write the dead-letter record.
    Park(Box<ParkedRecord>),
}

/// See [`Action::Inspect`].
#[derive(Debug, Clone, PartialEq)]
pub struct Inspect {
    /// For the answer.
    pub effect: Effect,
    /// The item's id, for refs.
    pub item: ItemId,
    /// Which hub repository.
    pub repository: RepositoryId,
    /// Base and head of the work; its bundle when head differs from base.
    pub base: CommitId,
    /// See `base`.
    pub head: CommitId,
    /// See `base`.
    pub bundle: Option<Blob>,
    /// What the gates hold it against.
    pub contract: Arc<Contract>,
    /// See `contract`.
    pub complexity: Complexity,
}

/// See [`Action::Merge`].
#[derive(Debug, Clone, PartialEq)]
pub struct MergeWork {
    /// For the answer.
    pub effect: Effect,
    /// The item's id, for refs.
    pub item: ItemId,
    /// Which hub repository.
    pub repository: Repository,
    /// What to merge.
    pub head: CommitId,
}

/// See [`Action::Land`].
#[derive(Debug, Clone, PartialEq)]
pub struct Land {
    /// For the answer.
    pub effect: Effect,
    /// The item's id, for trailers and refs.
    pub item: ItemId,
    /// The contract's goal, for the commit's title.
    pub goal: String,
    /// Each criterion with the digest of its checker, as the evidence must name it.
    pub checkers: std::collections::BTreeMap<cantus_proto::ids::CriterionId, Digest>,
    /// Which hub repository and target.
    pub repository: Repository,
    /// What was verified.
    pub candidate: Candidate,
    /// The result's head: second parent of a merge.
    pub head: CommitId,
    /// What verified it.
    pub envelopes: Vec<cantus_proto::message::Envelope>,
    /// When the verdict was reached: the commit's date, so that a second try makes the same commit.
    pub at: Millis,
}

/// What is kept of an item that needs a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParkedRecord {
    /// Whose item.
    pub run: RunId,
    /// Which item.
    pub item: ItemId,
    /// The last error.
    pub reason: String,
    /// All attempts, one line each.
    pub attempts: Vec<String>,
    /// Work that was kept.
    pub kept: Vec<Commits>,
    /// When.
    pub at: Millis,
}

/// A tree that was verified before; it need not be verified again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// Evidence binds to it.
    pub tree: TreeId,
    /// And to this: sha256 of `git ls-tree -r -z --full-tree`.
    pub listing: Digest,
    /// For every criterion of the contract.
    pub envelopes: Vec<cantus_proto::message::Envelope>,
    /// The verdict's time.
    pub at: Millis,
}
