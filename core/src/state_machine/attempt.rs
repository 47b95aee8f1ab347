//! The table of an attempt: one try, from the bus to what came of it.
//!
//! [`Attempt::apply`](crate::item::Attempt::apply) looks a pair up here before it changes anything.

use AttemptEvent as E;
use AttemptState as S;

use super::{Row, Table, Word};
use crate::attempt::Outcome;
use crate::record::{ItemFact, Refuter};

/// Where an attempt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AttemptState {
    Queued,
    Leased,
    HandedIn,
    KeptOut,
    Conflict,
    Refuted,
    Verified,
    InVain,
    Closed,
}

/// What can happen to an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AttemptEvent {
    Queued,
    Leased,
    Delivered,
    KeptOut,
    Conflicted,
    Refuted,
    Verified,
    Ended,
    Closed,
    Approved,
    Rechecked,
    Logged,
    Saved,
    Settled,
    Demanded,
    Proposed,
    Learned,
    LearningsChecked,
}

/// Somebody has or had it, or nobody will.
const TAKEN: [S; 8] = [
    S::Leased,
    S::HandedIn,
    S::KeptOut,
    S::Conflict,
    S::Refuted,
    S::Verified,
    S::InVain,
    S::Closed,
];

/// See the module.
pub(crate) const ATTEMPT: Table<AttemptState, AttemptEvent> = Table { of: "attempt", rows: ROWS };

const fn row(
    from: &'static [S],
    event: E,
    guard: &'static str,
    to: &'static [S],
) -> Row<AttemptState, AttemptEvent> {
    Row { from, event, guard, to }
}

const ROWS: &[Row<AttemptState, AttemptEvent>] = &[
    row(&[], E::Queued, "its number is the next; its budget is reserved", &[S::Queued]),
    row(&[S::Queued, S::Leased], E::Leased, "as the lease's table says", &[S::Leased]),
    row(&[S::Leased], E::Delivered, "it produces or repairs", &[S::HandedIn]),
    row(&[S::Leased], E::Verified, "it verifies; exit evidence", &[S::Verified]),
    row(&[S::Leased], E::Refuted, "it verifies; evidence against a criterion", &[S::Refuted]),
    row(&[S::HandedIn], E::Refuted, "its result is the one that was verified", &[S::Refuted]),
    row(&[S::HandedIn], E::KeptOut, "not taken in, or the gate has findings", &[S::KeptOut]),
    row(&[S::HandedIn], E::Conflicted, "", &[S::Conflict]),
    row(&[S::Queued, S::Leased], E::Ended, "", &[S::InVain]),
    row(&[S::Queued, S::Leased], E::Closed, "", &[S::Closed]),
    row(&[S::KeptOut], E::Approved, "the gate has findings", &[S::HandedIn]),
    row(
        &[S::HandedIn, S::Conflict, S::Refuted],
        E::Rechecked,
        "its result is the newest; the hypothesis is new",
        &[S::HandedIn],
    ),
    row(&TAKEN, E::Logged, "", &[]),
    row(&TAKEN, E::Saved, "the lease was once its", &[]),
    row(&TAKEN, E::Settled, "", &[]),
    row(&[S::Leased], E::Demanded, "", &[]),
    row(&TAKEN, E::Proposed, "as the wish's table says", &[]),
    row(&TAKEN, E::Learned, "", &[]),
    row(&TAKEN, E::LearningsChecked, "it verifies", &[]),
];

impl AttemptState {
    /// What its outcome says; while it has none, whether anybody holds it.
    #[must_use]
    pub(crate) fn of(outcome: Option<&Outcome>, held: bool) -> Self {
        match outcome {
            None if held => Self::Leased,
            None => Self::Queued,
            Some(Outcome::HandedIn) => Self::HandedIn,
            Some(Outcome::KeptOut(_)) => Self::KeptOut,
            Some(Outcome::Conflict(_)) => Self::Conflict,
            Some(Outcome::Refuted(_)) => Self::Refuted,
            Some(Outcome::Verified) => Self::Verified,
            Some(Outcome::InVain(..)) => Self::InVain,
            Some(Outcome::Closed) => Self::Closed,
        }
    }
}

impl AttemptEvent {
    /// What a fact about an item is for an attempt of it, if anything.
    #[must_use]
    pub(crate) fn of(fact: &ItemFact) -> Option<Self> {
        Some(match fact {
            ItemFact::Queued(..) => Self::Queued,
            ItemFact::Leased(..) => Self::Leased,
            ItemFact::Ended(..) => Self::Ended,
            ItemFact::Delivered(..) => Self::Delivered,
            ItemFact::Verified(..) => Self::Verified,
            ItemFact::Refuted(refutation) => match refutation.by {
                Refuter::Inspection | Refuter::Gate => Self::KeptOut,
                Refuter::Merge(_) => Self::Conflicted,
                Refuter::Verdict(_) => Self::Refuted,
            },
            ItemFact::Parked(_) | ItemFact::Cancelled | ItemFact::Recovered(_) => Self::Closed,
            ItemFact::Approved(..) => Self::Approved,
            ItemFact::Rechecked(_) => Self::Rechecked,
            ItemFact::Logged(..) => Self::Logged,
            ItemFact::Saved(..) => Self::Saved,
            ItemFact::Settled(..) => Self::Settled,
            ItemFact::Demanded(..) => Self::Demanded,
            ItemFact::Proposed(..) => Self::Proposed,
            ItemFact::Learned(..) => Self::Learned,
            ItemFact::LearningsChecked(..) => Self::LearningsChecked,
            ItemFact::Gated
            | ItemFact::MergeBegan
            | ItemFact::Merged(_)
            | ItemFact::HeadMoved(_)
            | ItemFact::Landed(..)
            | ItemFact::Reported
            | ItemFact::Requeued
            | ItemFact::Warned(_)
            | ItemFact::Split(..) => return None,
        })
    }
}

impl Word for AttemptState {
    const ALL: &'static [Self] = &[
        S::Queued,
        S::Leased,
        S::HandedIn,
        S::KeptOut,
        S::Conflict,
        S::Refuted,
        S::Verified,
        S::InVain,
        S::Closed,
    ];

    fn word(self) -> (&'static str, &'static str) {
        match self {
            S::Queued => ("queued", "nobody has it"),
            S::Leased => ("leased", "somebody has it"),
            S::HandedIn => ("handed in", "its result is under consideration, or landed"),
            S::KeptOut => ("kept out", "its result was kept out before anything ran"),
            S::Conflict => ("conflict", "its result does not merge onto the head"),
            S::Refuted => {
                ("refuted", "its result failed its verification, or it refuted another's")
            }
            S::Verified => ("verified", "it proved its tree"),
            S::InVain => ("in vain", "it brought nothing that counts"),
            S::Closed => ("closed", "its item was parked, cancelled or went on without it"),
        }
    }
}

impl Word for AttemptEvent {
    const ALL: &'static [Self] = &[
        E::Queued,
        E::Leased,
        E::Delivered,
        E::KeptOut,
        E::Conflicted,
        E::Refuted,
        E::Verified,
        E::Ended,
        E::Closed,
        E::Approved,
        E::Rechecked,
        E::Logged,
        E::Saved,
        E::Settled,
        E::Demanded,
        E::Proposed,
        E::Learned,
        E::LearningsChecked,
    ];

    fn word(self) -> (&'static str, &'static str) {
        match self {
            E::Queued => ("queued", "it exists and goes to its role's queue"),
            E::Leased => ("leased", "somebody took it, for the first time or once more"),
            E::Delivered => ("handed in", "a worker's result"),
            E::KeptOut => ("kept out", "by the hub or by the gate"),
            E::Conflicted => ("conflicted", "with the head"),
            E::Refuted => ("refuted", "the verdict"),
            E::Verified => ("verified", "the verdict"),
            E::Ended => ("ended in vain", "lost, failed, inconclusive or unclaimed"),
            E::Closed => ("closed", "its item was parked, cancelled or let through"),
            E::Approved => ("approved", "a person lets the findings of the gate through"),
            E::Rechecked => ("rechecked", "a person has the result checked again"),
            E::Logged => ("logged", "output was kept"),
            E::Saved => ("saved", "work that does not count was kept"),
            E::Settled => ("settled", "what it cost"),
            E::Demanded => ("demanded", "a rule asks something of it"),
            E::Proposed => ("proposed", "a model's wish, and what was decided"),
            E::Learned => ("learned", "something for later attempts"),
            E::LearningsChecked => ("learnings checked", "which the tree shows to be applied"),
        }
    }
}
