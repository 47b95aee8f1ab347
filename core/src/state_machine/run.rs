//! The table of a run. How it stands follows from its items; this says which way that may go.
//!
//! [`Core::apply`](crate::Core::apply) looks a pair up here before it changes anything.

use RunEvent as E;
use RunState as S;

use super::{Row, Table, Word};
use crate::record::{Fact, ItemFact};
use crate::run::RunState;

/// What can happen to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunEvent {
    Submitted,
    ItemMoved,
    ItemStopped,
    ItemReopened,
    ItemSplit,
    ItemNoted,
    Cancelled,
    Warned,
}

/// See the module.
pub(crate) const RUN: Table<RunState, RunEvent> = Table { of: "run", rows: ROWS };

const fn row(
    from: &'static [S],
    event: E,
    guard: &'static str,
    to: &'static [S],
) -> Row<RunState, RunEvent> {
    Row { from, event, guard, to }
}

const ROWS: &[Row<RunState, RunEvent>] = &[
    row(&[], E::Submitted, "the plan compiles; the name is new", &[S::Running]),
    row(&[S::Running], E::ItemMoved, "", &[]),
    row(
        &[S::Running],
        E::ItemStopped,
        "ends when no item is open: failed if one is parked, else cancelled if one is cancelled, else completed",
        &[S::Running, S::Completed, S::Failed, S::Cancelled],
    ),
    row(
        &[S::Failed, S::Cancelled],
        E::ItemStopped,
        "a person cancels what is parked or blocked",
        &[S::Failed, S::Cancelled],
    ),
    row(
        &[S::Running, S::Failed, S::Cancelled],
        E::ItemReopened,
        "as the item's table says",
        &[S::Running],
    ),
    row(&[S::Running], E::ItemSplit, "", &[]),
    row(S::ALL, E::ItemNoted, "", &[]),
    row(
        &[S::Running],
        E::Cancelled,
        "running while something is landing",
        &[S::Running, S::Failed, S::Cancelled],
    ),
    row(S::ALL, E::Warned, "", &[]),
];

impl RunEvent {
    /// What a fact is for its run.
    #[must_use]
    pub(crate) fn of(fact: &Fact) -> Self {
        match fact {
            Fact::Submitted(_) => Self::Submitted,
            Fact::RunCancelled => Self::Cancelled,
            Fact::RunWarned(_) => Self::Warned,
            Fact::Item(_, fact) => match fact {
                ItemFact::Landed(..)
                | ItemFact::Recovered(_)
                | ItemFact::Reported
                | ItemFact::Parked(_)
                | ItemFact::Cancelled => Self::ItemStopped,
                ItemFact::Requeued | ItemFact::Approved(..) | ItemFact::Rechecked(_) => {
                    Self::ItemReopened
                }
                ItemFact::Split(..) => Self::ItemSplit,
                fact if fact.moves() => Self::ItemMoved,
                _ => Self::ItemNoted,
            },
        }
    }
}

impl Word for RunState {
    const ALL: &'static [Self] = &[S::Running, S::Completed, S::Failed, S::Cancelled];

    fn word(self) -> (&'static str, &'static str) {
        match self {
            S::Running => ("running", "items are open"),
            S::Completed => ("completed", "every item landed or reported"),
            S::Failed => ("failed", "an item is parked"),
            S::Cancelled => ("cancelled", "ended by a person, and nothing else is wrong"),
        }
    }
}

impl Word for RunEvent {
    const ALL: &'static [Self] = &[
        E::Submitted,
        E::ItemMoved,
        E::ItemStopped,
        E::ItemReopened,
        E::ItemSplit,
        E::ItemNoted,
        E::Cancelled,
        E::Warned,
    ];

    fn word(self) -> (&'static str, &'static str) {
        match self {
            E::Submitted => ("submitted", "by a person"),
            E::ItemMoved => ("item moved", "and is not at an end"),
            E::ItemStopped => ("item stopped", "it landed, reported, is parked or cancelled"),
            E::ItemReopened => ("item reopened", "requeued, approved or rechecked by a person"),
            E::ItemSplit => ("item split", "into items of the same run"),
            E::ItemNoted => ("item noted", "something was kept of an item that stays where it is"),
            E::Cancelled => ("cancelled", "by a person: all that is open"),
            E::Warned => ("warned", "most of a budget of the run is spent"),
        }
    }
}
