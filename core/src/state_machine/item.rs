//! The table of an item: its states, what may happen in each, and where that leads.
//!
//! [`Item::apply`](crate::item::Item::apply) looks a pair up here before it changes anything.

use ItemEvent as E;
use ItemState as S;
use cantus_proto::message::AttemptKind;

use super::{Row, Table, Word};
use crate::item::State;
use crate::record::{ItemFact, Refuter};

/// Where an item is, without what it holds there: the kinds of [`State`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemState {
    Waiting,
    Ready,
    Queued,
    Working,
    Gating,
    Gated,
    Merging,
    Unverified,
    VerifyQueued,
    Verifying,
    Landing,
    Landed,
    Reported,
    Parked,
    Blocked,
    Cancelled,
}

/// What can happen to an item: the kinds of [`ItemFact`], and what follows from the graph alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemEvent {
    NeedLanded,
    NeedStopped,
    NeedReleased,
    Queued,
    VerificationQueued,
    Leased,
    Ended,
    Delivered,
    Gated,
    KeptOut,
    Reported,
    MergeBegan,
    Merged,
    Conflicted,
    Verified,
    Refuted,
    HeadMoved,
    Landed,
    Recovered,
    Parked,
    Cancelled,
    Requeued,
    Approved,
    Rechecked,
    Split,
    Logged,
    Saved,
    Settled,
    Demanded,
    Proposed,
    Learned,
    LearningsChecked,
    Warned,
}

/// States in which something automatic goes on.
const OPEN: [S; 11] = [
    S::Waiting,
    S::Ready,
    S::Queued,
    S::Working,
    S::Gating,
    S::Gated,
    S::Merging,
    S::Unverified,
    S::VerifyQueued,
    S::Verifying,
    S::Landing,
];

/// States of an item that a journal which lost its end may still be in although it has landed. What waits is
/// released by the recovery of what it needs.
const BEGUN: [S; 10] = [
    S::Ready,
    S::Queued,
    S::Working,
    S::Gating,
    S::Gated,
    S::Merging,
    S::Unverified,
    S::VerifyQueued,
    S::Verifying,
    S::Landing,
];

/// States in which a person's cancel is final at once.
const CANCELLED_AT_ONCE: [S; 12] = [
    S::Waiting,
    S::Ready,
    S::Queued,
    S::Working,
    S::Gating,
    S::Gated,
    S::Merging,
    S::Unverified,
    S::VerifyQueued,
    S::Verifying,
    S::Parked,
    S::Blocked,
];

/// See the module.
pub(crate) const ITEM: Table<ItemState, ItemEvent> = Table { of: "item", rows: ROWS };

const fn row(
    from: &'static [S],
    event: E,
    guard: &'static str,
    to: &'static [S],
) -> Row<ItemState, ItemEvent> {
    Row { from, event, guard, to }
}

const ROWS: &[Row<ItemState, ItemEvent>] = &[
    row(
        &[S::Waiting],
        E::NeedLanded,
        "ready when it was the last open one",
        &[S::Waiting, S::Ready],
    ),
    row(&[S::Waiting], E::NeedStopped, "", &[S::Blocked]),
    row(
        &[S::Blocked],
        E::NeedReleased,
        "waiting when nothing else blocks it",
        &[S::Waiting, S::Blocked],
    ),
    row(
        &[S::Ready],
        E::Queued,
        "time, tokens and money are left to item and run, and are reserved; tries are left; the role's queue has room",
        &[S::Queued],
    ),
    row(
        &[S::Unverified],
        E::VerificationQueued,
        "the verification budget is not spent; the same check runs at most twice; the role's queue has room",
        &[S::VerifyQueued],
    ),
    row(&[S::Queued, S::Working], E::Leased, "the taker has the role", &[S::Working]),
    row(
        &[S::VerifyQueued, S::Verifying],
        E::Leased,
        "the taker has the role and did not produce the work",
        &[S::Verifying],
    ),
    row(&[S::Queued, S::Working], E::Ended, "", &[S::Ready]),
    row(&[S::VerifyQueued, S::Verifying], E::Ended, "", &[S::Unverified]),
    row(&[S::Working], E::Delivered, "its lease holds the attempt", &[S::Gating]),
    row(&[S::Gating], E::Gated, "the gate on its tree has no finding", &[S::Gated]),
    row(&[S::Gating], E::KeptOut, "not taken in, or the gate has findings", &[S::Ready]),
    row(&[S::Gating], E::Reported, "the run has nowhere to land", &[S::Reported]),
    row(&[S::Gated], E::MergeBegan, "its target has a free place", &[S::Merging]),
    row(
        &[S::Merging],
        E::Merged,
        "landing when this very tree was verified before",
        &[S::Unverified, S::Landing],
    ),
    row(&[S::Merging], E::Conflicted, "", &[S::Ready]),
    row(
        &[S::Verifying],
        E::Verified,
        "exit evidence: every criterion passes on this very tree, by trusted keys",
        &[S::Landing],
    ),
    row(&[S::Verifying], E::Refuted, "evidence against a criterion", &[S::Ready]),
    row(&[S::Landing], E::HeadMoved, "no cancel is wanted", &[S::Merging]),
    row(
        &[S::Landing],
        E::Landed,
        "exit evidence: the target contains the verified tree",
        &[S::Landed],
    ),
    row(
        &BEGUN,
        E::Recovered,
        "exit evidence: the target contains a commit of this item whose tree has evidence",
        &[S::Landed],
    ),
    row(&OPEN, E::Parked, "a limit is used up, or an effect failed for good", &[S::Parked]),
    row(&CANCELLED_AT_ONCE, E::Cancelled, "", &[S::Cancelled]),
    row(
        &[S::Landing],
        E::Cancelled,
        "a wish at first; it holds when the landing did not come about",
        &[S::Landing, S::Cancelled],
    ),
    row(&[S::Parked, S::Cancelled], E::Requeued, "all its needs have landed", &[S::Ready]),
    row(
        &[S::Ready, S::Queued, S::Working, S::Parked],
        E::Approved,
        "the gate kept out its newest result",
        &[S::Gated],
    ),
    row(
        &[S::Parked],
        E::Rechecked,
        "there is a result that was not kept out; the hypothesis is new",
        &[S::Gated],
    ),
    row(
        &[S::Ready],
        E::Split,
        "two failures, and a diagnosis whose parts make a valid graph",
        &[S::Waiting],
    ),
    row(S::ALL, E::Logged, "", &[]),
    row(S::ALL, E::Saved, "", &[]),
    row(S::ALL, E::Settled, "", &[]),
    row(&[S::Working, S::Verifying], E::Demanded, "its lease holds the attempt", &[]),
    row(S::ALL, E::Proposed, "a done is confirmed only when its result is proven", &[]),
    row(S::ALL, E::Learned, "", &[]),
    row(S::ALL, E::LearningsChecked, "", &[]),
    row(S::ALL, E::Warned, "", &[]),
];

impl ItemState {
    /// The kind of this state.
    #[must_use]
    pub(crate) fn of(state: &State) -> Self {
        match state {
            State::Waiting(_) => Self::Waiting,
            State::Ready => Self::Ready,
            State::Queued => Self::Queued,
            State::Working => Self::Working,
            State::Gating => Self::Gating,
            State::Gated => Self::Gated,
            State::Merging => Self::Merging,
            State::Unverified(_) => Self::Unverified,
            State::VerifyQueued(_) => Self::VerifyQueued,
            State::Verifying(_) => Self::Verifying,
            State::Landing(_) => Self::Landing,
            State::Landed(_) => Self::Landed,
            State::Reported => Self::Reported,
            State::Parked(_) => Self::Parked,
            State::Blocked(_) => Self::Blocked,
            State::Cancelled => Self::Cancelled,
        }
    }
}

impl ItemEvent {
    /// The kind of this fact.
    #[must_use]
    pub(crate) fn of(fact: &ItemFact) -> Self {
        match fact {
            ItemFact::Queued(_, AttemptKind::Verify, _) => Self::VerificationQueued,
            ItemFact::Queued(..) => Self::Queued,
            ItemFact::Leased(..) => Self::Leased,
            ItemFact::Ended(..) => Self::Ended,
            ItemFact::Delivered(..) => Self::Delivered,
            ItemFact::Gated => Self::Gated,
            ItemFact::MergeBegan => Self::MergeBegan,
            ItemFact::Merged(_) => Self::Merged,
            ItemFact::Verified(..) => Self::Verified,
            ItemFact::Refuted(refutation) => match refutation.by {
                Refuter::Inspection | Refuter::Gate => Self::KeptOut,
                Refuter::Merge(_) => Self::Conflicted,
                Refuter::Verdict(_) => Self::Refuted,
            },
            ItemFact::HeadMoved(_) => Self::HeadMoved,
            ItemFact::Landed(..) => Self::Landed,
            ItemFact::Recovered(_) => Self::Recovered,
            ItemFact::Reported => Self::Reported,
            ItemFact::Parked(_) => Self::Parked,
            ItemFact::Requeued => Self::Requeued,
            ItemFact::Cancelled => Self::Cancelled,
            ItemFact::Logged(..) => Self::Logged,
            ItemFact::Saved(..) => Self::Saved,
            ItemFact::Settled(..) => Self::Settled,
            ItemFact::Demanded(..) => Self::Demanded,
            ItemFact::Proposed(..) => Self::Proposed,
            ItemFact::Learned(..) => Self::Learned,
            ItemFact::LearningsChecked(..) => Self::LearningsChecked,
            ItemFact::Warned(_) => Self::Warned,
            ItemFact::Approved(..) => Self::Approved,
            ItemFact::Rechecked(_) => Self::Rechecked,
            ItemFact::Split(..) => Self::Split,
        }
    }
}

impl Word for ItemState {
    const ALL: &'static [Self] = &[
        S::Waiting,
        S::Ready,
        S::Queued,
        S::Working,
        S::Gating,
        S::Gated,
        S::Merging,
        S::Unverified,
        S::VerifyQueued,
        S::Verifying,
        S::Landing,
        S::Landed,
        S::Reported,
        S::Parked,
        S::Blocked,
        S::Cancelled,
    ];

    fn word(self) -> (&'static str, &'static str) {
        match self {
            S::Waiting => ("waiting", "needs have not landed, or parts of it"),
            S::Ready => ("ready", "may be queued"),
            S::Queued => ("queued", "on the bus"),
            S::Working => ("working", "somebody works on it"),
            S::Gating => ("gating", "the hub takes the result in, then the gates see it"),
            S::Gated => ("gated", "waits for a place of its target"),
            S::Merging => ("merging", "the hub merges it onto the head"),
            S::Unverified => ("unverified", "a candidate that waits for its verification's queue"),
            S::VerifyQueued => ("verify-queued", "the verification is on the bus"),
            S::Verifying => ("verifying", "somebody verifies it"),
            S::Landing => ("landing", "the hub moves the target"),
            S::Landed => ("landed", "the target contains it; final"),
            S::Reported => ("reported", "recorded, the run has nowhere to land; final"),
            S::Parked => ("parked", "a person must look"),
            S::Blocked => ("blocked", "something that it needs is parked or cancelled"),
            S::Cancelled => ("cancelled", "a person's decision"),
        }
    }
}

impl Word for ItemEvent {
    const ALL: &'static [Self] = &[
        E::NeedLanded,
        E::NeedStopped,
        E::NeedReleased,
        E::Queued,
        E::VerificationQueued,
        E::Leased,
        E::Ended,
        E::Delivered,
        E::Gated,
        E::KeptOut,
        E::Reported,
        E::MergeBegan,
        E::Merged,
        E::Conflicted,
        E::Verified,
        E::Refuted,
        E::HeadMoved,
        E::Landed,
        E::Recovered,
        E::Parked,
        E::Cancelled,
        E::Requeued,
        E::Approved,
        E::Rechecked,
        E::Split,
        E::Logged,
        E::Saved,
        E::Settled,
        E::Demanded,
        E::Proposed,
        E::Learned,
        E::LearningsChecked,
        E::Warned,
    ];

    fn word(self) -> (&'static str, &'static str) {
        match self {
            E::NeedLanded => ("need landed", "by the graph: an item that it needs is done"),
            E::NeedStopped => ("need stopped", "by the graph: one is parked, cancelled or blocked"),
            E::NeedReleased => ("need released", "by the graph: one was put back"),
            E::Queued => ("queued", "an attempt to produce or repair exists"),
            E::VerificationQueued => ("verification queued", "an attempt to verify exists"),
            E::Leased => ("leased", "somebody took the attempt"),
            E::Ended => ("ended in vain", "the attempt brought nothing that counts"),
            E::Delivered => ("handed in", "a worker's result"),
            E::Gated => ("gated", "the result passed"),
            E::KeptOut => ("kept out", "the result did not pass; a defect"),
            E::Reported => ("reported", "the result is recorded"),
            E::MergeBegan => ("merge began", "the hub was asked to merge"),
            E::Merged => ("merged", "without conflict: a candidate"),
            E::Conflicted => ("conflicted", "the result conflicts with the head; a defect"),
            E::Verified => ("verified", "the verdict"),
            E::Refuted => ("refuted", "the verdict; a defect"),
            E::HeadMoved => ("head moved", "before the landing"),
            E::Landed => ("landed", "the push went through"),
            E::Recovered => ("recovered", "the target was found to contain it already"),
            E::Parked => ("parked", "nothing automatic will touch it again"),
            E::Cancelled => ("cancelled", "by a person"),
            E::Requeued => ("requeued", "by a person; tries and budgets begin anew"),
            E::Approved => ("approved", "a person lets the findings of the gate through"),
            E::Rechecked => ("rechecked", "a person has the present result checked again"),
            E::Split => ("split", "new items do parts of it first"),
            E::Logged => ("logged", "output was kept"),
            E::Saved => ("saved", "work that does not count was kept"),
            E::Settled => ("settled", "what an attempt cost"),
            E::Demanded => ("demanded", "a rule asks something of the running attempt"),
            E::Proposed => ("proposed", "a model's wish, and what was decided"),
            E::Learned => ("learned", "something for later attempts"),
            E::LearningsChecked => ("learnings checked", "which the tree shows to be applied"),
            E::Warned => ("warned", "most of a budget is spent"),
        }
    }
}
