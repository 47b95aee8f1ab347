//! The table of a lease: who may work on an attempt, and until when.
//!
//! [`Attempt::apply`](crate::item::Attempt::apply) looks a pair up here when an attempt is taken or ends. A heartbeat
//! is the one event that is no fact: it moves a deadline and nothing else.

use LeaseEvent as E;
use LeaseState as S;

use super::{Row, Table, Word};
use crate::attempt::Outcome;
use crate::record::Ending;

/// Where a lease is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeaseState {
    Offered,
    Held,
    Superseded,
    Ended,
    Expired,
    Released,
    Withdrawn,
}

/// What can happen to a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeaseEvent {
    Taken,
    HeartbeatCame,
    AnotherTook,
    HolderAnswered,
    HolderLost,
    NobodyCame,
    KernelEnded,
}

/// See the module.
pub(crate) const LEASE: Table<LeaseState, LeaseEvent> = Table { of: "lease", rows: ROWS };

const fn row(
    from: &'static [S],
    event: E,
    guard: &'static str,
    to: &'static [S],
) -> Row<LeaseState, LeaseEvent> {
    Row { from, event, guard, to }
}

const ROWS: &[Row<LeaseState, LeaseEvent>] = &[
    row(
        &[S::Offered],
        E::Taken,
        "the attempt is the current one; the taker has its role, and does not verify its own work; five leases at most",
        &[S::Held],
    ),
    row(
        &[S::Offered, S::Held],
        E::HeartbeatCame,
        "prolongs a held one, never beyond the attempt's hard end",
        &[],
    ),
    row(&[S::Held], E::AnotherTook, "", &[S::Superseded]),
    row(&[S::Held], E::HolderAnswered, "", &[S::Ended]),
    row(&[S::Held], E::HolderLost, "its deadline is over, or its container", &[S::Expired]),
    row(&[S::Offered], E::NobodyCame, "the limit of the queue is over", &[S::Withdrawn]),
    row(&[S::Offered, S::Held], E::KernelEnded, "", &[S::Released]),
];

impl LeaseState {
    /// What is left of a lease whose attempt ended like this.
    #[must_use]
    pub(crate) fn after(outcome: &Outcome) -> Self {
        match LeaseEvent::of(outcome) {
            E::HolderLost => Self::Expired,
            E::NobodyCame => Self::Withdrawn,
            E::KernelEnded => Self::Released,
            _ => Self::Ended,
        }
    }
}

impl LeaseEvent {
    /// What the end of an attempt is for its lease.
    #[must_use]
    pub(crate) fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::HandedIn
            | Outcome::KeptOut(_)
            | Outcome::Conflict(_)
            | Outcome::Refuted(_)
            | Outcome::Verified
            | Outcome::InVain(Ending::Failed(_) | Ending::Inconclusive | Ending::Unmeasured, _) => {
                Self::HolderAnswered
            }
            Outcome::InVain(Ending::Lost, _) => Self::HolderLost,
            Outcome::InVain(Ending::Unclaimed, _) => Self::NobodyCame,
            Outcome::InVain(Ending::OverBudget | Ending::Stalled, _) | Outcome::Closed => {
                Self::KernelEnded
            }
        }
    }
}

impl Word for LeaseState {
    const ALL: &'static [Self] =
        &[S::Offered, S::Held, S::Superseded, S::Ended, S::Expired, S::Released, S::Withdrawn];

    fn word(self) -> (&'static str, &'static str) {
        match self {
            S::Offered => ("offered", "the attempt is on the bus; this lease is not known"),
            S::Held => ("held", "its holder's word counts"),
            S::Superseded => ("superseded", "another lease of the same attempt counts"),
            S::Ended => ("ended", "its holder said how it ended"),
            S::Expired => ("expired", "its holder was not heard of again"),
            S::Released => ("released", "the kernel ended it"),
            S::Withdrawn => ("withdrawn", "nobody took it"),
        }
    }
}

impl Word for LeaseEvent {
    const ALL: &'static [Self] = &[
        E::Taken,
        E::HeartbeatCame,
        E::AnotherTook,
        E::HolderAnswered,
        E::HolderLost,
        E::NobodyCame,
        E::KernelEnded,
    ];

    fn word(self) -> (&'static str, &'static str) {
        match self {
            E::Taken => ("taken", "its record's position is the fencing token"),
            E::HeartbeatCame => ("heartbeat", "no fact; in all other states the answer is: stop"),
            E::AnotherTook => ("another took it", "the bus delivered the attempt again"),
            E::HolderAnswered => ("holder answered", "a result, evidence, or a failure"),
            E::HolderLost => ("holder lost", "silence, or the end of its container"),
            E::NobodyCame => ("nobody came", "no pool has the role"),
            E::KernelEnded => (
                "ended by the kernel",
                "its item was parked, cancelled or let through; its budget is spent; or it stalls",
            ),
        }
    }
}
