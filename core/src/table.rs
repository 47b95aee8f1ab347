//! What each fact does to an item: the pair is looked up in its table first, then attempts change, then the item.
//!
//! The rows are in [`crate::state_machine::item`]; this file is the data that goes with them. What happens to attempts,
//! their leases and their wishes is in a file of its own.

mod attempt;

use std::sync::Arc;

use cantus_proto::ids::AttemptNumber;
use cantus_proto::message::{Candidate, Envelope, Proposal};

use crate::event::{Millis, Proof};
use crate::item::{Attempt, Item, Landed, SavedWork, State};
use crate::record::{Decision, ItemFact as F, Refutation, Refuter};
use crate::state_machine::attempt::{ATTEMPT, AttemptEvent};
use crate::state_machine::item::{ITEM, ItemEvent, ItemState};
use crate::state_machine::{Inconsistent, Word};

impl Item {
    /// Does what the fact says. `position` is the record's own.
    ///
    /// # Errors
    /// [`Inconsistent`] when the fact does not follow from the state of the item, of its attempt, or of that one's
    /// lease.
    pub fn apply(&mut self, at: Millis, position: u64, fact: &F) -> Result<(), Inconsistent> {
        let (from, event) = (ItemState::of(&self.state), ItemEvent::of(fact));
        let row = ITEM.follow(from, event, || self.id.to_string())?;
        if !self.fits(fact) {
            return Err(ITEM.refuse(from, event, || self.id.to_string()));
        }
        self.follow_attempts(at, position, fact)?;
        self.remark(fact);
        self.follow(at, fact);
        if fact.moves() {
            self.since = at;
        }
        let to = ItemState::of(&self.state);
        debug_assert!(row.leads(from, to), "{from:?} on {event:?} led to {to:?}");
        Ok(())
    }

    /// What follows from the graph alone, and is therefore no fact.
    pub(crate) fn follow_graph(&mut self, at: Millis, event: ItemEvent, state: State) {
        let (from, to) = (ItemState::of(&self.state), ItemState::of(&state));
        let row = ITEM.row(from, event).expect("the graph moves only what waits or is blocked");
        debug_assert!(row.leads(from, to), "{from:?} on {event:?} led to {to:?}");
        if from != to || from == ItemState::Blocked {
            self.since = at;
        }
        self.state = state;
    }

    /// The part of the guards that the item itself can answer, for decisions and replays alike.
    fn fits(&self, fact: &F) -> bool {
        let next = AttemptNumber(self.last_number().0 + 1);
        match fact {
            F::Queued(number, ..) => *number == next,
            F::Refuted(refutation) => match refutation.by {
                Refuter::Verdict(number) => number == self.last_number() && self.work().is_some(),
                Refuter::Inspection | Refuter::Gate | Refuter::Merge(_) => self.work().is_some(),
            },
            F::Approved(number, _) => self.kept_out() == Some(*number),
            F::Rechecked(_) => self.work().is_some(),
            F::Split(number, parts) => self.attempt(*number).is_some() && !parts.is_empty(),
            F::Proposed(number, proposal, Decision::Confirmed) if **proposal == Proposal::Done => {
                self.proof.is_some() && self.work().is_some_and(|(work, _)| work == *number)
            }
            _ => true,
        }
    }

    fn follow_attempts(&mut self, at: Millis, position: u64, fact: &F) -> Result<(), Inconsistent> {
        if let F::Queued(_, kind, dispatch) = fact {
            self.attempts.push(Attempt::new(*kind, at, Arc::clone(dispatch)));
            return Ok(());
        }
        for (number, event) in self.concerned(fact).into_iter().flatten() {
            let name = || format!("{number} of item {}", self.id);
            let place = (number.0 as usize).checked_sub(1);
            let Some(attempt) = place.and_then(|place| self.attempts.get_mut(place)) else {
                let what = format!("{} {}", ATTEMPT.of, name());
                return Err(Inconsistent {
                    what,
                    state: "unknown",
                    event: event.name(),
                    guard: "",
                });
            };
            attempt.apply(at, position, event, fact, name)?;
            // One name for all items of a role: large plans are mostly such repetitions.
            if let Some(holder) = &mut attempt.holder
                && holder.leased.role == self.role
            {
                holder.leased.role = self.role.clone();
            }
        }
        Ok(())
    }

    /// The attempts that the fact is about, and what it is for them.
    fn concerned(&self, fact: &F) -> [Option<(AttemptNumber, AttemptEvent)>; 2] {
        let open = self.attempts.last().filter(|attempt| attempt.outcome.is_none());
        let open = open.map(|_| self.last_number());
        let work = self.work().map(|(number, _)| number);
        let numbers = match fact {
            F::Leased(number, _)
            | F::Ended(number, ..)
            | F::Delivered(number, _)
            | F::Verified(number, _)
            | F::Logged(number, _)
            | F::Saved(number, ..)
            | F::Settled(number, _)
            | F::Demanded(number, _)
            | F::Proposed(number, ..)
            | F::Learned(number, _)
            | F::LearningsChecked(number, _) => [Some(*number), None],
            F::Refuted(_) => [open, work],
            F::Parked(_) | F::Cancelled | F::Recovered(_) => [open, None],
            F::Approved(number, _) => [open, Some(*number)],
            F::Rechecked(_) => [work, None],
            _ => [None, None],
        };
        let event = |number: AttemptNumber| {
            // What was begun to mend a result is over when that result is let through.
            let over = matches!(fact, F::Approved(..)) && Some(number) == open;
            let event = if over { Some(AttemptEvent::Closed) } else { AttemptEvent::of(fact) };
            Some((number, event?))
        };
        numbers.map(|number| number.and_then(event))
    }

    /// What is kept beside the states.
    fn remark(&mut self, fact: &F) {
        match fact {
            F::Saved(number, commits, reason) => {
                let (commits, reason) = (commits.clone(), reason.clone());
                self.saved.push(SavedWork { number: *number, commits, reason });
            }
            F::Leased(..) => {
                let leased = self.attempts.last().and_then(|attempt| attempt.leased);
                self.started = self.started.or(leased);
            }
            F::Warned(warning) => self.remarks_mut().warnings.push(*warning),
            F::Approved(number, by) => {
                self.defect = None;
                self.remarks_mut().approvals.push((*number, by.clone()));
            }
            F::Rechecked(hypothesis) => {
                let number = self.work().map_or(AttemptNumber(0), |(number, _)| number);
                self.remarks_mut().hypotheses.push((number, hypothesis.clone()));
            }
            F::Requeued => {
                self.attempts_before = self.attempts.len();
                self.defect = None;
                self.redo_onto = None;
                let attempts = self.attempts.len();
                let remarks = self.remarks_mut();
                remarks.requeues += 1;
                remarks.attempts_before_requeue = attempts;
            }
            F::Split(..) => self.attempts_before = self.attempts.len(),
            F::Refuted(refutation) => self.owe(refutation),
            F::Delivered(..) => self.proof = None,
            F::Landed(..) | F::Recovered(_) => {
                self.defect = None;
                self.cancel_wanted = false;
                if matches!(fact, F::Recovered(_)) {
                    self.remarks_mut().recovered = true;
                }
            }
            _ => {}
        }
    }

    /// The next attempt must mend this.
    fn owe(&mut self, refutation: &Refutation) {
        self.redo_onto = match &refutation.by {
            Refuter::Merge(onto) => Some(onto.clone()),
            Refuter::Inspection | Refuter::Gate | Refuter::Verdict(_) => None,
        };
        self.defect = Some(Box::new(refutation.defect.clone()));
    }

    /// The next state. Whatever has no arm stays where it is, as its row says.
    fn follow(&mut self, at: Millis, fact: &F) {
        let state = std::mem::replace(&mut self.state, State::Ready);
        self.state = match (state, fact) {
            (State::Unverified(candidate), F::Queued(..)) => State::VerifyQueued(candidate),
            (_, F::Queued(..)) => State::Queued,
            (State::VerifyQueued(candidate) | State::Verifying(candidate), F::Leased(..)) => {
                State::Verifying(candidate)
            }
            (_, F::Leased(..)) => State::Working,
            (State::VerifyQueued(candidate) | State::Verifying(candidate), F::Ended(..)) => {
                State::Unverified(candidate)
            }
            (_, F::Ended(..) | F::Refuted(_) | F::Requeued) => State::Ready,
            (_, F::Delivered(..)) => State::Gating,
            (_, F::Gated | F::Approved(..) | F::Rechecked(_)) => State::Gated,
            (_, F::Reported) => State::Reported,
            (_, F::MergeBegan | F::HeadMoved(_)) => State::Merging,
            (_, F::Merged(candidate)) => self.merged(candidate),
            (State::Verifying(candidate), F::Verified(_, envelopes)) => {
                self.proof = Some(proof(at, &candidate, envelopes));
                State::Landing(candidate)
            }
            (State::Landing(candidate), F::Landed(commit, evidence)) => {
                State::Landed(Box::new(Landed {
                    commit: commit.clone(),
                    tree: candidate.tree,
                    evidence: evidence.clone(),
                }))
            }
            (_, F::Recovered(landed)) => State::Landed(landed.clone()),
            (_, F::Parked(reason)) => State::Parked(reason.as_str().into()),
            (State::Landing(candidate), F::Cancelled) if !self.cancel_wanted => {
                self.cancel_wanted = true;
                State::Landing(candidate)
            }
            (_, F::Cancelled) => {
                self.cancel_wanted = false;
                State::Cancelled
            }
            (_, F::Split(_, parts)) => State::Waiting(parts.len().try_into().unwrap_or(u32::MAX)),
            (state, _) => state,
        };
    }

    /// The same tree needs no second verification; a new one does.
    fn merged(&self, candidate: &Candidate) -> State {
        let candidate = Box::new(candidate.clone());
        match &self.proof {
            Some(proof)
                if proof.tree == candidate.tree && proof.listing == candidate.listing_sha256 =>
            {
                State::Landing(candidate)
            }
            _ => State::Unverified(candidate),
        }
    }
}

fn proof(at: Millis, candidate: &Candidate, envelopes: &[Envelope]) -> Box<Proof> {
    let (tree, listing) = (candidate.tree.clone(), candidate.listing_sha256.clone());
    Box::new(Proof { tree, listing, envelopes: envelopes.to_vec(), at })
}
