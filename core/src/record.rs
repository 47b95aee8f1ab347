//! What the core decided: the records of the journal, from which all its state is rebuilt.
//!
//! A record says what is so from now on and not why the code thought so; applying one never decides.

use std::sync::Arc;

use cantus_proto::ids::{AttemptNumber, Blob, CommitId, Digest, LearningId, LeaseId, RunId};
use cantus_proto::message::{
    AttemptKind, Candidate, Commits, Defect, Envelope, FailureKind, Learning, LearningCheck,
    Leased, Phase, Proposal, Route, WorkResult,
};
use cantus_proto::plan::PlanItem;
use cantus_proto::units::MicroUsd;

use crate::event::{ItemIndex, Millis, Submission};
use crate::item::Landed;
use crate::scope_delta::Finding;

/// One entry of the journal.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// When it was decided.
    pub at: Millis,
    /// Which run it is about.
    pub run: RunId,
    /// What is so from now on.
    pub fact: Fact,
}

/// See [`Record`].
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// The run exists.
    Submitted(Box<Submission>),
    /// No further item of the run starts; what is open is cancelled.
    RunCancelled,
    /// Most of a budget of the run is spent.
    RunWarned(Warning),
    /// Something about one item.
    Item(ItemIndex, ItemFact),
}

/// What became of an item.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemFact {
    /// An attempt exists and goes to its role's queue, with what was reserved for it.
    Queued(AttemptNumber, AttemptKind, Arc<Dispatch>),
    /// Somebody took it. The position of this record is the fencing token.
    Leased(AttemptNumber, Box<Holder>),
    /// An attempt is over and brought nothing that counts.
    Ended(AttemptNumber, Ending, String),
    /// A worker handed in.
    Delivered(AttemptNumber, Box<WorkResult>),
    /// The result passed the gates on its tree.
    Gated,
    /// It is being merged onto the head.
    MergeBegan,
    /// The merge is clean.
    Merged(Box<Candidate>),
    /// Evidence for every criterion of the candidate's tree.
    Verified(AttemptNumber, Vec<Envelope>),
    /// The result is not what the contract asks for.
    Refuted(Box<Refutation>),
    /// The head moved before the landing.
    HeadMoved(CommitId),
    /// The target contains the work; the last is the digest of its evidence.
    Landed(CommitId, Digest),
    /// The target was found to contain it, with evidence for its tree: what the journal knew of it was lost.
    Recovered(Box<Landed>),
    /// The run has nowhere to land; the result is recorded.
    Reported,
    /// No automatic step will touch it again.
    Parked(String),
    /// A person put it back.
    Requeued,
    /// A person cancelled it. While it lands it is a wish: it holds if the landing does not come about.
    Cancelled,
    /// The output of what an attempt ran.
    Logged(AttemptNumber, Blob),
    /// Work that was kept of an attempt that no longer counts.
    Saved(AttemptNumber, Commits, String),
    /// What an attempt cost in the end; replaces its reservation.
    Settled(AttemptNumber, Box<Spent>),
    /// A rule asks something of a running attempt.
    Demanded(AttemptNumber, Box<Demand>),
    /// A model's wish, and what was decided about it.
    Proposed(AttemptNumber, Box<Proposal>, Decision),
    /// An attempt found out something that later ones should know.
    Learned(AttemptNumber, Box<Learning>),
    /// Which learnings the verified tree shows to be applied.
    LearningsChecked(AttemptNumber, Vec<LearningCheck>),
    /// Most of a budget of the item is spent.
    Warned(Warning),
    /// A person lets through what the gates kept out of this attempt's result.
    Approved(AttemptNumber, String),
    /// A person has the present result checked again: what another run would tell apart (SPEC B5).
    Rechecked(String),
    /// New items do parts of this one first; they are appended to the run's items.
    Split(AttemptNumber, Vec<PlanItem>),
}

impl ItemFact {
    /// Whether the item is somewhere else afterwards, and not only richer by something that was kept.
    #[must_use]
    pub fn moves(&self) -> bool {
        !matches!(
            self,
            Self::Saved(..)
                | Self::Logged(..)
                | Self::Settled(..)
                | Self::Demanded(..)
                | Self::Proposed(..)
                | Self::Learned(..)
                | Self::LearningsChecked(..)
                | Self::Warned(_)
        )
    }
}

/// What an attempt was given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Dispatch {
    /// Hard wall clock, in milliseconds; reserved from the item's and the run's time.
    pub wall_clock_ms: u64,
    /// Reserved tokens; nothing where neither item nor run limits them.
    pub tokens: Option<u64>,
    /// Reserved money; nothing where neither item nor run limits it.
    pub cost: Option<MicroUsd>,
    /// Model and effort.
    pub route: Route,
    /// Why the route is another than the item's first.
    pub breaker: Option<Breaker>,
    /// What it is told of earlier attempts.
    pub learnings: Vec<LearningId>,
}

/// Why an attempt is not like the ones before it (SPEC E8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Breaker {
    /// Rounds without a commit, or the same defect again.
    Stuck,
    /// At its pace the budget would end before the work.
    Predicted,
    /// The item failed repeatedly.
    Failures,
    /// The agent's own diagnosis.
    Diagnosis,
}

/// What an attempt cost.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spent {
    /// Nothing when it is not known, which is not zero.
    pub tokens: Option<u64>,
    /// Nothing when no price is known.
    pub cost: Option<MicroUsd>,
    /// Its holder was lost: the larger of what it last told and its reservation's share of the time it had.
    pub estimated: bool,
    /// What its time went into.
    pub phases: Vec<Phase>,
}

/// Something that a rule asks of a running attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demand {
    /// Which rule.
    pub kind: DemandKind,
    /// For the agent.
    pub text: String,
    /// Where an answer counts; empty: anywhere in the scope.
    pub paths: Vec<String>,
}

/// See [`Demand`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DemandKind {
    /// A minimal artifact now (SPEC B4).
    FirstArtifact,
    /// Another approach: windows went by without progress (SPEC B8).
    NewApproach,
    /// What there is, now (SPEC B8).
    PartialResult,
    /// A commit: rounds went by without one (SPEC E8).
    Commit,
    /// A budget is nearly spent (SPEC E9).
    Budget,
}

/// What the kernel made of a wish (SPEC B2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Its exit evidence is not there yet.
    Pending,
    /// It is so.
    Confirmed,
    /// It is not, for this reason.
    Refused(String),
}

/// Most of a budget is spent (SPEC E9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Warning {
    /// Of what.
    pub resource: Resource,
    /// In the resource's unit.
    pub spent: u64,
    /// In the resource's unit.
    pub budget: u64,
}

/// What budgets limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// In milliseconds.
    WallClock,
    /// In tokens.
    Tokens,
    /// In millionths of a US dollar.
    Cost,
}

/// Who holds a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Drawn by the holder.
    pub lease: LeaseId,
    /// What it said of itself.
    pub leased: Leased,
}

/// How an attempt ended that brought nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Its holder was not heard of again, or its container ended.
    Lost,
    /// Its holder said so.
    Failed(FailureKind),
    /// A verification that could decide nothing.
    Inconclusive,
    /// Nobody took it within the limit.
    Unclaimed,
    /// What was reserved for it, or what the run has, is spent (SPEC E9).
    OverBudget,
    /// A rule on running attempts ended it: no first artifact, no progress, a blocker.
    Stalled,
    /// Its use of models is not known, and a budget must be kept.
    Unmeasured,
}

impl Ending {
    /// Whether machines are to blame and not the attempt: it costs no time of the budget and is no failure.
    #[must_use]
    pub fn is_infrastructure(self) -> bool {
        matches!(
            self,
            Self::Lost
                | Self::Unclaimed
                | Self::Failed(FailureKind::Workspace | FailureKind::Stopped)
        )
    }
}

/// Why a result does not count, and what the next attempt may know of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refutation {
    /// Which step found it.
    pub by: Refuter,
    /// For the repair.
    pub defect: Defect,
    /// What the gates found, if they did.
    pub out_of_scope: Vec<Finding>,
}

/// The step that refuted a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refuter {
    /// The hub did not take it in.
    Inspection,
    /// A gate on its tree.
    Gate,
    /// It conflicts with this head.
    Merge(CommitId),
    /// The evidence of this attempt.
    Verdict(AttemptNumber),
}
