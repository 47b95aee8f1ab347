//! What the core decided: the records of the journal, from which all its state is rebuilt.
//!
//! A record says what is so from now on and not why the code thought so; applying one never decides.

use cantus_proto::ids::{AttemptNumber, Blob, CommitId, Digest, LeaseId, RunId};
use cantus_proto::message::{
    AttemptKind, Candidate, Commits, Defect, Envelope, FailureKind, Leased, WorkResult,
};

use crate::event::{ItemIndex, Millis, Submission};

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
    /// Something about one item.
    Item(ItemIndex, ItemFact),
}

/// What became of an item.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemFact {
    /// An attempt exists and goes to its role's queue.
    Queued(AttemptNumber, AttemptKind),
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
}

impl ItemFact {
    /// Whether the item is somewhere else afterwards, and not only richer by something that was kept.
    #[must_use]
    pub fn moves(&self) -> bool {
        !matches!(self, Self::Saved(..) | Self::Logged(..))
    }
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
}

/// Why a result does not count, and what the next attempt may know of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refutation {
    /// Which step found it.
    pub by: Refuter,
    /// For the repair.
    pub defect: Defect,
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
