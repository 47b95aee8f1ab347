//! The table of a wish: what a model proposes, and what alone confirms it.
//!
//! A wish changes nothing by itself. It is journaled with what was decided about it; confirmed and refused are final.

use ProposalEvent as E;
use ProposalState as S;
use cantus_proto::message::{Proposal, Remedy};

use super::{Row, Table, Word};
use crate::record::Decision;

/// Where a wish is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProposalState {
    Said,
    Pending,
    Confirmed,
    Refused,
}

/// What can be decided about a wish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProposalEvent {
    Deferred,
    Confirmed,
    Refused,
}

/// What a model can wish for, each with the evidence by which alone it is confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    Note,
    Done,
    Partial,
    Retry,
    Split,
    Escalate,
    Skip,
}

/// See the module.
pub(crate) const PROPOSAL: Table<ProposalState, ProposalEvent> = Table { of: "wish", rows: ROWS };

const fn row(
    from: &'static [S],
    event: E,
    guard: &'static str,
    to: &'static [S],
) -> Row<ProposalState, ProposalEvent> {
    Row { from, event, guard, to }
}

const ROWS: &[Row<ProposalState, ProposalEvent>] = &[
    row(&[S::Said], E::Deferred, "its exit evidence can still come", &[S::Pending]),
    row(&[S::Said, S::Pending], E::Confirmed, "its exit evidence is there", &[S::Confirmed]),
    row(&[S::Said, S::Pending], E::Refused, "its exit evidence will not come", &[S::Refused]),
];

impl ProposalState {
    /// Where a wish is about which this was decided last.
    #[must_use]
    pub(crate) fn of(decision: Option<&Decision>) -> Self {
        match decision {
            None => Self::Said,
            Some(Decision::Pending) => Self::Pending,
            Some(Decision::Confirmed) => Self::Confirmed,
            Some(Decision::Refused(_)) => Self::Refused,
        }
    }
}

impl ProposalEvent {
    /// The kind of this decision.
    #[must_use]
    pub(crate) fn of(decision: &Decision) -> Self {
        match decision {
            Decision::Pending => Self::Deferred,
            Decision::Confirmed => Self::Confirmed,
            Decision::Refused(_) => Self::Refused,
        }
    }
}

impl Wish {
    /// The kind of this proposal.
    #[must_use]
    pub(crate) fn of(proposal: &Proposal) -> Self {
        match proposal {
            Proposal::Note(_) => Self::Note,
            Proposal::Done => Self::Done,
            Proposal::Partial(_) => Self::Partial,
            Proposal::Diagnosis(diagnosis) => match diagnosis.remedy {
                Remedy::Retry => Self::Retry,
                Remedy::Split(_) => Self::Split,
                Remedy::Escalate => Self::Escalate,
                Remedy::Skip => Self::Skip,
            },
        }
    }
}

impl Word for ProposalState {
    const ALL: &'static [Self] = &[S::Said, S::Pending, S::Confirmed, S::Refused];

    fn word(self) -> (&'static str, &'static str) {
        match self {
            S::Said => ("said", "nothing is decided"),
            S::Pending => ("pending", "its exit evidence is not there yet"),
            S::Confirmed => ("confirmed", "it is so; final"),
            S::Refused => ("refused", "it is not; final"),
        }
    }
}

impl Word for ProposalEvent {
    const ALL: &'static [Self] = &[E::Deferred, E::Confirmed, E::Refused];

    fn word(self) -> (&'static str, &'static str) {
        match self {
            E::Deferred => ("deferred", "journaled as a wish"),
            E::Confirmed => ("confirmed", "by evidence"),
            E::Refused => ("refused", "with the reason"),
        }
    }
}

/// The second of a wish's words is its exit evidence.
impl Word for Wish {
    const ALL: &'static [Self] = &[
        Self::Note,
        Self::Done,
        Self::Partial,
        Self::Retry,
        Self::Split,
        Self::Escalate,
        Self::Skip,
    ];

    fn word(self) -> (&'static str, &'static str) {
        match self {
            Self::Note => ("note", "none is needed: it is for people, and nothing follows from it"),
            Self::Done => {
                ("done", "the verdict on its result: verified; the wish is half of a completion")
            }
            Self::Partial => ("partial", "its own word: nothing lands while it stands"),
            Self::Retry => ("retry", "two failures of the item, and tries are left"),
            Self::Split => (
                "split",
                "two failures of the item; parts that make a valid graph within its scope",
            ),
            Self::Escalate => ("escalate", "two failures of the item, and a stronger route"),
            Self::Skip => {
                ("skip", "two failures of the item; it is parked, and its dependants are blocked")
            }
        }
    }
}
