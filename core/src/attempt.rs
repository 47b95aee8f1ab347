//! One try at an item: who had it, what came of it, and the word for how it ended.
//!
//! What facts do to it is in [`crate::table`].

use std::sync::Arc;

use cantus_proto::ids::{Blob, LearningId, LeaseId};
use cantus_proto::message::{AttemptKind, LearningCheck, Proposal, WorkResult};

use crate::event::Millis;
use crate::record::{Decision, Demand, Dispatch, Ending, Holder, Spent};
use crate::scope_delta::Finding;
use crate::state_machine::attempt::AttemptState;
use crate::state_machine::lease::LeaseState;
use crate::state_machine::proposal::ProposalState;

/// One try at an item, or at verifying it.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// What it is for.
    pub kind: AttemptKind,
    /// When it was made.
    pub queued: Millis,
    /// Who has or had it.
    pub holder: Option<Box<Holder>>,
    /// When they took it.
    pub leased: Option<Millis>,
    /// Position of the lease's record: the fencing token.
    pub token: u64,
    /// Leases of this attempt that a later one superseded.
    pub superseded: Vec<LeaseId>,
    /// When it was over.
    pub ended: Option<Millis>,
    /// How it ended; nothing while it goes on.
    pub outcome: Option<Outcome>,
    /// What a worker handed in.
    pub result: Option<Box<WorkResult>>,
    /// Output of what ran.
    pub log: Option<Blob>,
    /// What it was given; attempts that are alike share it.
    pub dispatch: Arc<Dispatch>,
    /// What it cost, once that is settled.
    pub spent: Option<Box<Spent>>,
    /// What kernel and agent said to each other; most attempts are silent.
    pub exchange: Option<Box<Exchange>>,
}

/// What kernel and agent said to each other during an attempt, and what gates found in its result.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Exchange {
    /// What rules asked of it, and when.
    pub demands: Vec<(Millis, Demand)>,
    /// What it wished, and what was decided.
    pub proposals: Vec<(Proposal, Decision)>,
    /// What it found out that was new.
    pub learned: Vec<LearningId>,
    /// Of a verification: which learnings the tree shows to be applied.
    pub checked: Vec<LearningCheck>,
    /// What the gates found in its result.
    pub out_of_scope: Vec<Finding>,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A worker's result is under consideration.
    HandedIn,
    /// A worker's result was kept out before anything ran.
    KeptOut(String),
    /// A worker's result does not merge onto the head.
    Conflict(String),
    /// A worker's result failed its verification, or this verification refuted it.
    Refuted(String),
    /// This verification proved its tree.
    Verified,
    /// It brought nothing.
    InVain(Ending, String),
    /// The item was parked or cancelled meanwhile.
    Closed,
}

impl Outcome {
    /// One word or two for tables.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::HandedIn => "handed in",
            Self::KeptOut(_) => "kept out",
            Self::Conflict(_) => "conflict",
            Self::Refuted(_) => "refuted",
            Self::Verified => "verified",
            Self::InVain(Ending::Lost, _) => "worker lost",
            Self::InVain(Ending::Failed(_), _) => "failed",
            Self::InVain(Ending::Inconclusive, _) => "inconclusive",
            Self::InVain(Ending::Unclaimed, _) => "not leased",
            Self::InVain(Ending::OverBudget, _) => "over budget",
            Self::InVain(Ending::Stalled, _) => "stalled",
            Self::InVain(Ending::Unmeasured, _) => "not measured",
            Self::Closed => "closed with its item",
        }
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::HandedIn | Self::Verified | Self::Closed => Ok(()),
            Self::KeptOut(why)
            | Self::Conflict(why)
            | Self::Refuted(why)
            | Self::InVain(_, why) => {
                write!(f, ": {why}")
            }
        }
    }
}

impl Attempt {
    /// On the bus, and nobody has it.
    #[must_use]
    pub(crate) fn new(kind: AttemptKind, queued: Millis, dispatch: Arc<Dispatch>) -> Self {
        Self {
            kind,
            queued,
            holder: None,
            leased: None,
            token: 0,
            superseded: Vec::new(),
            ended: None,
            outcome: None,
            log: None,
            result: None,
            dispatch,
            spent: None,
            exchange: None,
        }
    }

    /// Where it is.
    #[must_use]
    pub(crate) fn state(&self) -> AttemptState {
        AttemptState::of(self.outcome.as_ref(), self.holder.is_some())
    }

    /// Where this lease is. One that the attempt does not know is as good as offered while the attempt goes on.
    #[must_use]
    pub(crate) fn lease_state(&self, lease: &LeaseId) -> LeaseState {
        let holds = self.holder.as_deref().is_some_and(|holder| holder.lease == *lease);
        match &self.outcome {
            _ if self.superseded.contains(lease) => LeaseState::Superseded,
            Some(outcome) => LeaseState::after(outcome),
            None if holds => LeaseState::Held,
            None => LeaseState::Offered,
        }
    }

    /// Where this wish is.
    #[must_use]
    pub(crate) fn proposal_state(&self, proposal: &Proposal) -> ProposalState {
        let known = self.proposals().iter().find(|(known, _)| known == proposal);
        ProposalState::of(known.map(|(_, decision)| decision))
    }

    /// See [`Exchange`]; made when first needed.
    pub(crate) fn exchange_mut(&mut self) -> &mut Exchange {
        self.exchange.get_or_insert_default()
    }

    /// What rules asked of it.
    #[must_use]
    pub fn demands(&self) -> &[(Millis, Demand)] {
        self.exchange.as_deref().map_or(&[], |exchange| &exchange.demands)
    }

    /// What it wished.
    #[must_use]
    pub fn proposals(&self) -> &[(Proposal, Decision)] {
        self.exchange.as_deref().map_or(&[], |exchange| &exchange.proposals)
    }

    /// What gates found in its result.
    #[must_use]
    pub fn out_of_scope(&self) -> &[Finding] {
        self.exchange.as_deref().map_or(&[], |exchange| &exchange.out_of_scope)
    }

    /// How long it was in somebody's hands, in milliseconds; up to now while it still is.
    #[must_use]
    pub fn busy_ms(&self, now: Millis) -> u64 {
        let end = self.ended.unwrap_or(now);
        self.leased.map_or(0, |leased| end.0.saturating_sub(leased.0))
    }

    /// Whether this lease was ever this attempt's, also when a later one superseded it.
    #[must_use]
    pub fn was_held_by(&self, lease: &LeaseId) -> bool {
        self.holder.as_ref().is_some_and(|holder| holder.lease == *lease)
            || self.superseded.contains(lease)
    }
}
