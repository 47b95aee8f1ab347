//! The table of transitions: what each record does to an item.
//!
//! A match on (state, fact), in four parts by what the fact is about. Every pair that is not in it is an error that
//! names both: either our bug or a journal that is not ours.

use std::sync::Arc;

use cantus_proto::ids::AttemptNumber;
use cantus_proto::message::{AttemptKind, Candidate, WorkResult};

use crate::event::{Millis, Proof};
use crate::item::{Attempt, Inconsistent, Item, Landed, Outcome, SavedWork, State};
use crate::record::{Dispatch, Holder, ItemFact as F, Refutation, Refuter};

impl Item {
    /// Does what the fact says. `position` is the record's own.
    ///
    /// # Errors
    /// [`Inconsistent`] when the fact does not follow from the state.
    pub fn apply(&mut self, at: Millis, position: u64, fact: &F) -> Result<(), Inconsistent> {
        let state = std::mem::replace(&mut self.state, State::Ready);
        let name = state.name();
        let next = match fact {
            F::Saved(..) | F::Logged(..) => self.keep(state, fact),
            F::Settled(..)
            | F::Demanded(..)
            | F::Proposed(..)
            | F::Learned(..)
            | F::LearningsChecked(..)
            | F::Warned(_) => self.remark(at, fact).map(|()| state),
            F::Queued(..) | F::Leased(..) | F::Ended(..) | F::Delivered(..) | F::Verified(..) => {
                self.follow_attempt(state, at, position, fact)
            }
            F::Gated
            | F::MergeBegan
            | F::Merged(_)
            | F::Refuted(_)
            | F::HeadMoved(_)
            | F::Landed(..)
            | F::Reported => self.follow_result(state, at, fact),
            F::Parked(_)
            | F::Requeued
            | F::Cancelled
            | F::Approved(..)
            | F::Rechecked(_)
            | F::Split(..) => self.stop_or_begin_anew(state, at, fact),
        };
        let Some(next) = next else {
            return Err(self.inconsistent(name, fact));
        };
        if fact.moves() {
            self.since = at;
        }
        self.state = next;
        Ok(())
    }

    /// What is kept changes no state.
    fn keep(&mut self, state: State, fact: &F) -> Option<State> {
        match fact {
            F::Saved(number, commits, reason) => {
                let (commits, reason) = (commits.clone(), reason.clone());
                self.saved.push(SavedWork { number: *number, commits, reason });
            }
            F::Logged(number, log) => {
                self.numbered(*number)?.log = Some(log.clone());
            }
            _ => return None,
        }
        Some(state)
    }

    /// What rules and agents said changes no state either.
    fn remark(&mut self, at: Millis, fact: &F) -> Option<()> {
        match fact {
            F::Warned(warning) => self.remarks_mut().warnings.push(*warning),
            F::Settled(number, spent) => self.numbered(*number)?.spent = Some(spent.clone()),
            F::Demanded(number, demand) => {
                let demand = (at, (**demand).clone());
                self.numbered(*number)?.exchange_mut().demands.push(demand);
            }
            F::Proposed(number, proposal, decision) => {
                let proposals = &mut self.numbered(*number)?.exchange_mut().proposals;
                match proposals.iter_mut().find(|(known, _)| *known == **proposal) {
                    Some(known) => known.1 = decision.clone(),
                    None => proposals.push(((**proposal).clone(), decision.clone())),
                }
            }
            F::Learned(number, learning) => {
                self.numbered(*number)?.exchange_mut().learned.push(learning.id.clone());
            }
            F::LearningsChecked(number, checks) => {
                self.numbered(*number)?.exchange_mut().checked.clone_from(checks);
            }
            _ => return None,
        }
        Some(())
    }

    fn numbered(&mut self, number: AttemptNumber) -> Option<&mut Attempt> {
        self.attempts.get_mut((number.0 as usize).checked_sub(1)?)
    }

    fn follow_attempt(
        &mut self,
        state: State,
        at: Millis,
        position: u64,
        fact: &F,
    ) -> Option<State> {
        Some(match (state, fact) {
            (State::Ready, F::Queued(number, kind, dispatch)) if *kind != AttemptKind::Verify => {
                self.open_attempt(at, *number, *kind, dispatch)?;
                State::Queued
            }
            (State::Unverified(candidate), F::Queued(number, AttemptKind::Verify, dispatch)) => {
                self.open_attempt(at, *number, AttemptKind::Verify, dispatch)?;
                State::VerifyQueued(candidate)
            }
            (State::Queued | State::Working, F::Leased(number, holder)) => {
                self.lease(at, position, *number, holder)?;
                State::Working
            }
            (
                State::VerifyQueued(candidate) | State::Verifying(candidate),
                F::Leased(number, holder),
            ) => {
                self.lease(at, position, *number, holder)?;
                State::Verifying(candidate)
            }
            (State::Queued | State::Working, F::Ended(number, ending, reason)) => {
                self.end_attempt(at, *number, Outcome::InVain(*ending, reason.clone()))?;
                State::Ready
            }
            (
                State::VerifyQueued(candidate) | State::Verifying(candidate),
                F::Ended(number, ending, reason),
            ) => {
                self.end_attempt(at, *number, Outcome::InVain(*ending, reason.clone()))?;
                State::Unverified(candidate)
            }
            (State::Working, F::Delivered(number, result)) => {
                self.end_attempt(at, *number, Outcome::HandedIn)?;
                self.attempts.last_mut()?.result = Some(shared(result));
                self.proof = None;
                State::Gating
            }
            (State::Verifying(candidate), F::Verified(number, envelopes)) => {
                self.end_attempt(at, *number, Outcome::Verified)?;
                let (tree, listing) = (candidate.tree.clone(), candidate.listing_sha256.clone());
                let proof = Proof { tree, listing, envelopes: envelopes.clone(), at };
                self.proof = Some(Box::new(proof));
                State::Landing(candidate)
            }
            _ => return None,
        })
    }

    fn follow_result(&mut self, state: State, at: Millis, fact: &F) -> Option<State> {
        Some(match (state, fact) {
            (State::Gating, F::Gated) => State::Gated,
            (State::Gating, F::Reported) => State::Reported,
            (State::Gated, F::MergeBegan) => State::Merging,
            (State::Merging, F::Merged(candidate)) => self.merged(candidate),
            (State::Gating | State::Merging | State::Verifying(_), F::Refuted(refutation)) => {
                self.refute(at, refutation);
                State::Ready
            }
            (State::Landing(_), F::HeadMoved(_)) => State::Merging,
            (State::Landing(candidate), F::Landed(commit, evidence)) => {
                self.defect = None;
                self.cancel_wanted = false;
                State::Landed(Box::new(Landed {
                    commit: commit.clone(),
                    tree: candidate.tree,
                    evidence: evidence.clone(),
                }))
            }
            _ => return None,
        })
    }

    fn stop_or_begin_anew(&mut self, state: State, at: Millis, fact: &F) -> Option<State> {
        Some(match (state, fact) {
            (state, F::Parked(reason)) if !state.is_terminal() => {
                self.close_open_attempt(at);
                State::Parked(reason.as_str().into())
            }
            (State::Landing(candidate), F::Cancelled) if !self.cancel_wanted => {
                self.cancel_wanted = true;
                State::Landing(candidate)
            }
            (State::Landed(_) | State::Reported | State::Cancelled, F::Cancelled) => return None,
            (_, F::Cancelled) => {
                self.cancel_wanted = false;
                self.close_open_attempt(at);
                State::Cancelled
            }
            (State::Parked(_) | State::Cancelled, F::Requeued) => {
                self.attempts_before = self.attempts.len();
                self.defect = None;
                self.redo_onto = None;
                let attempts = self.attempts.len();
                let remarks = self.remarks_mut();
                remarks.requeues += 1;
                remarks.attempts_before_requeue = attempts;
                State::Ready
            }
            (
                State::Ready | State::Queued | State::Working | State::Parked(_),
                F::Approved(number, by),
            ) if self.kept_out() == Some(*number) => {
                self.close_open_attempt(at);
                self.defect = None;
                self.remarks_mut().approvals.push((*number, by.clone()));
                State::Gated
            }
            (State::Parked(_), F::Rechecked(hypothesis)) => {
                let (number, _) = self.work()?;
                self.remarks_mut().hypotheses.push((number, hypothesis.clone()));
                State::Gated
            }
            (State::Ready, F::Split(_, parts)) if !parts.is_empty() => {
                self.attempts_before = self.attempts.len();
                State::Waiting(u32::try_from(parts.len()).ok()?)
            }
            _ => return None,
        })
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

    fn open_attempt(
        &mut self,
        at: Millis,
        number: AttemptNumber,
        kind: AttemptKind,
        dispatch: &Arc<Dispatch>,
    ) -> Option<()> {
        let expected = self.attempts.len() + 1;
        (number.0 as usize == expected).then_some(())?;
        self.attempts.push(Attempt::new(kind, at, Arc::clone(dispatch)));
        Some(())
    }

    fn lease(
        &mut self,
        at: Millis,
        position: u64,
        number: AttemptNumber,
        holder: &Holder,
    ) -> Option<()> {
        self.started.get_or_insert(at);
        let role = self.role.clone();
        let attempt = self.newest(number)?;
        if let Some(before) = attempt.holder.take() {
            attempt.superseded.push(before.lease);
        }
        let mut holder = holder.clone();
        // One name for all items of a role: large plans are mostly such repetitions.
        if holder.leased.role == role {
            holder.leased.role = role;
        }
        attempt.holder = Some(Box::new(holder));
        attempt.leased = Some(at);
        attempt.token = position;
        Some(())
    }

    fn newest(&mut self, number: AttemptNumber) -> Option<&mut Attempt> {
        let newest = self.last_number();
        self.attempts.last_mut().filter(|_| newest == number)
    }

    fn end_attempt(&mut self, at: Millis, number: AttemptNumber, outcome: Outcome) -> Option<()> {
        let attempt = self.newest(number)?;
        attempt.ended = Some(at);
        attempt.outcome = Some(outcome);
        Some(())
    }

    fn close_open_attempt(&mut self, at: Millis) {
        if let Some(open) = self.attempts.last_mut().filter(|a| a.ended.is_none()) {
            open.ended = Some(at);
            open.outcome = Some(Outcome::Closed);
        }
    }

    fn refute(&mut self, at: Millis, refutation: &Refutation) {
        let Refutation { by, defect, out_of_scope } = refutation;
        let summary = defect.summary.clone();
        let outcome = match by {
            Refuter::Merge(_) => Outcome::Conflict(summary),
            Refuter::Inspection | Refuter::Gate => Outcome::KeptOut(summary),
            Refuter::Verdict(_) => Outcome::Refuted(summary),
        };
        if let Some(check) = self.attempts.last_mut().filter(|a| a.ended.is_none()) {
            check.ended = Some(at);
            check.outcome = Some(outcome.clone());
        }
        if let Some(work) = self.attempts.iter_mut().rfind(|a| a.result.is_some()) {
            work.outcome = Some(outcome);
            if !out_of_scope.is_empty() {
                work.exchange_mut().out_of_scope.clone_from(out_of_scope);
            }
        }
        self.redo_onto = match by {
            Refuter::Merge(onto) => Some(onto.clone()),
            Refuter::Inspection | Refuter::Gate | Refuter::Verdict(_) => None,
        };
        self.defect = Some(Box::new(defect.clone()));
    }

    fn inconsistent(&self, state: &'static str, fact: &F) -> Inconsistent {
        let fact = format!("{fact:?}");
        let name = fact.split(['(', ' ', '{']).next().unwrap_or_default().to_owned();
        Inconsistent { item: self.id.to_string(), state, fact: name }
    }
}

/// A result of which nothing came has one name for its two ends.
fn shared(result: &WorkResult) -> Box<WorkResult> {
    let mut result = Box::new(result.clone());
    if result.head == result.base {
        result.head = result.base.clone();
    }
    result
}
