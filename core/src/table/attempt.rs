//! What a fact about an item does to an attempt of it, to that one's lease, and to what it wished.
//!
//! Each pair is looked up in its table before anything changes; what is refused changes nothing.

use cantus_proto::ids::LeaseId;
use cantus_proto::message::{Proposal, WorkResult};

use crate::attempt::{Attempt, Outcome};
use crate::event::Millis;
use crate::record::{Decision, Holder, ItemFact as F, Refutation, Refuter};
use crate::state_machine::attempt::{ATTEMPT, AttemptEvent};
use crate::state_machine::lease::{LEASE, LeaseEvent, LeaseState};
use crate::state_machine::proposal::{PROPOSAL, ProposalEvent, Wish};
use crate::state_machine::{Inconsistent, Word as _};

impl Attempt {
    /// Does what the fact about its item is for it.
    ///
    /// # Errors
    /// [`Inconsistent`] when that does not follow from its state, its lease's or its wish's.
    pub(crate) fn apply(
        &mut self,
        at: Millis,
        position: u64,
        event: AttemptEvent,
        fact: &F,
        name: impl Fn() -> String,
    ) -> Result<(), Inconsistent> {
        let from = self.state();
        let row = ATTEMPT.follow(from, event, &name)?;
        match fact {
            F::Leased(_, holder) => self.take(at, position, holder, name)?,
            F::Ended(_, ending, why) => {
                self.end(at, Outcome::InVain(*ending, why.clone()), name)?;
            }
            F::Delivered(_, result) => {
                self.end(at, Outcome::HandedIn, name)?;
                self.result = Some(shared(result));
            }
            F::Verified(..) => self.end(at, Outcome::Verified, name)?,
            F::Refuted(refutation) => self.refute(at, refutation, name)?,
            F::Parked(_) | F::Cancelled | F::Recovered(_) => self.end(at, Outcome::Closed, name)?,
            F::Approved(..) if event == AttemptEvent::Closed => {
                self.end(at, Outcome::Closed, name)?;
            }
            F::Approved(..) | F::Rechecked(_) => self.outcome = Some(Outcome::HandedIn),
            F::Logged(_, log) => self.log = Some(log.clone()),
            F::Settled(_, spent) => self.spent = Some(spent.clone()),
            F::Demanded(_, demand) => self.exchange_mut().demands.push((at, (**demand).clone())),
            F::Proposed(_, proposal, decision) => self.weigh(proposal, decision, name)?,
            F::Learned(_, learning) => self.exchange_mut().learned.push(learning.id.clone()),
            F::LearningsChecked(_, checks) => self.exchange_mut().checked.clone_from(checks),
            _ => {}
        }
        let to = self.state();
        debug_assert!(row.leads(from, to), "{from:?} on {event:?} led to {to:?}");
        Ok(())
    }

    /// A lease begins; the one before it, if any, is superseded.
    fn take(
        &mut self,
        at: Millis,
        position: u64,
        holder: &Holder,
        name: impl Fn() -> String,
    ) -> Result<(), Inconsistent> {
        let lease_name = |lease: &LeaseId| format!("{lease} of attempt {}", name());
        let lease = &holder.lease;
        LEASE.follow(self.lease_state(lease), LeaseEvent::Taken, || lease_name(lease))?;
        if let Some(before) = &self.holder {
            let before = &before.lease;
            LEASE
                .follow(self.lease_state(before), LeaseEvent::AnotherTook, || lease_name(before))?;
        }
        self.superseded.extend(self.holder.take().map(|before| before.lease));
        self.holder = Some(Box::new(holder.clone()));
        self.leased = Some(at);
        self.token = position;
        Ok(())
    }

    /// It is over, and with it the lease that holds it or the offer of one.
    fn end(
        &mut self,
        at: Millis,
        outcome: Outcome,
        name: impl Fn() -> String,
    ) -> Result<(), Inconsistent> {
        let held = self.holder.as_deref().map(|holder| &holder.lease);
        let state = held.map_or(LeaseState::Offered, |lease| self.lease_state(lease));
        LEASE.follow(state, LeaseEvent::of(&outcome), || {
            format!("{}of attempt {}", held.map_or(String::new(), |l| format!("{l} ")), name())
        })?;
        self.ended = Some(at);
        self.outcome = Some(outcome);
        Ok(())
    }

    /// Its result does not count, or it is the verification that says so of another's.
    fn refute(
        &mut self,
        at: Millis,
        refutation: &Refutation,
        name: impl Fn() -> String,
    ) -> Result<(), Inconsistent> {
        let Refutation { by, defect, out_of_scope } = refutation;
        let summary = defect.summary.clone();
        let outcome = match by {
            Refuter::Merge(_) => Outcome::Conflict(summary),
            Refuter::Inspection | Refuter::Gate => Outcome::KeptOut(summary),
            Refuter::Verdict(_) => Outcome::Refuted(summary),
        };
        if self.outcome.is_none() {
            return self.end(at, outcome, name);
        }
        self.outcome = Some(outcome);
        if !out_of_scope.is_empty() {
            self.exchange_mut().out_of_scope.clone_from(out_of_scope);
        }
        Ok(())
    }

    /// What was decided about a wish.
    fn weigh(
        &mut self,
        proposal: &Proposal,
        decision: &Decision,
        name: impl Fn() -> String,
    ) -> Result<(), Inconsistent> {
        PROPOSAL.follow(self.proposal_state(proposal), ProposalEvent::of(decision), || {
            format!("{} of attempt {}", Wish::of(proposal).name(), name())
        })?;
        let proposals = &mut self.exchange_mut().proposals;
        match proposals.iter_mut().find(|(known, _)| known == proposal) {
            Some(known) => known.1 = decision.clone(),
            None => proposals.push((proposal.clone(), decision.clone())),
        }
        Ok(())
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
