//! One item: its states, its history, and the table of what each record does to it.
//!
//! The table is [`Item::apply`]: a match on (state, fact). Every pair that is not in it is an error that names
//! both: either our bug or a journal that is not ours.

use std::sync::Arc;

use cantus_proto::contract::Contract;
use cantus_proto::ids::{AttemptNumber, CommitId, Digest, ItemId, RoleName, TreeId};
use cantus_proto::message::{AttemptKind, Candidate, Claim, Commits, Defect, WorkResult};

pub use super::attempt::{Attempt, Outcome};
use super::event::{ItemIndex, Millis, Proof};
use super::record::{Ending, Holder, ItemFact, Refuter};

/// Conflicts with the head that are redone by themselves; after one more, a person looks (W8).
const CONFLICTS_MAX: usize = 1;

/// A node of a run's graph with all that is known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// From the plan.
    pub id: ItemId,
    /// Items that must land before.
    pub needs: Box<[ItemIndex]>,
    /// Items that wait for this one.
    pub dependents: Vec<ItemIndex>,
    /// Who works on it.
    pub role: RoleName,
    /// Who verifies it.
    pub verifier: RoleName,
    /// Length of the longest chain from here, itself included.
    pub critical_path: u64,
    /// From the plan.
    pub priority: i32,
    /// Tries at most.
    pub tries_max: u32,
    /// Shared with items of the same contract.
    pub contract: Arc<Contract>,
    /// Where it is now.
    pub state: State,
    /// Since when.
    pub since: Millis,
    /// First lease.
    pub started: Option<Millis>,
    /// All attempts ever, oldest first; numbers are their place from 1.
    pub attempts: Vec<Attempt>,
    /// Attempts before the last requeue; they no longer count.
    pub attempts_before: usize,
    /// What the next producing attempt must mend.
    pub defect: Option<Box<Defect>>,
    /// The head that the refuted work conflicts with; the repair must begin from it or from a later one.
    pub redo_onto: Option<CommitId>,
    /// A person cancelled it while it was landing: what has landed cannot be taken back, what has not is over.
    pub cancel_wanted: bool,
    /// Set as soon as a tree of this result was verified.
    pub proof: Option<Box<Proof>>,
    /// Kept work that no longer counts.
    pub saved: Vec<SavedWork>,
    /// When its lease or its wait in the queue is over; moved by heartbeats, so never journaled.
    pub deadline: Option<Millis>,
}

/// Where an item is.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// Needs have not landed; so many are open.
    Waiting(u32),
    /// May be queued.
    Ready,
    /// On the bus.
    Queued,
    /// Somebody works on it.
    Working,
    /// The hub takes the result in, then the gates see it.
    Gating,
    /// Waits until its target can take one more verification.
    Gated,
    /// The hub merges it onto the head.
    Merging,
    /// A candidate that waits for its verification to be queued.
    Unverified(Box<Candidate>),
    /// The verification is on the bus.
    VerifyQueued(Box<Candidate>),
    /// Somebody verifies it.
    Verifying(Box<Candidate>),
    /// The hub moves the target.
    Landing(Box<Candidate>),
    /// The target contains it.
    Landed(Box<Landed>),
    /// Recorded; the run has nowhere to land.
    Reported,
    /// Needs a person, for this reason.
    Parked(Box<str>),
    /// An item that it needs, directly or not, is parked or cancelled.
    Blocked(ItemIndex),
    /// A person's decision.
    Cancelled,
}

/// See [`State::Landed`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landed {
    /// On the target.
    pub commit: CommitId,
    /// That was verified.
    pub tree: TreeId,
    /// As in its trailer.
    pub evidence: Digest,
}

/// See [`Item::saved`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedWork {
    /// Of which attempt.
    pub number: AttemptNumber,
    /// The work.
    pub commits: Commits,
    /// Why it was kept.
    pub reason: String,
}

/// A record that does not fit the state that it meets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("item {item} is {state}, which {fact} does not follow; the journal is damaged or of another program")]
pub struct Inconsistent {
    /// Which item.
    pub item: String,
    /// The state's name.
    pub state: &'static str,
    /// The fact's name.
    pub fact: String,
}

impl State {
    /// The word for people; one of the words of `ItemSummary.state`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Waiting(_) => "waiting",
            Self::Ready => "ready",
            Self::Queued => "queued",
            Self::Working => "working",
            Self::Gating => "gating",
            Self::Gated | Self::Merging | Self::Unverified(_) | Self::VerifyQueued(_) => "gated",
            Self::Verifying(_) => "verifying",
            Self::Landing(_) => "landing",
            Self::Landed(_) => "landed",
            Self::Reported => "reported",
            Self::Parked(_) => "parked",
            Self::Blocked(_) => "blocked",
            Self::Cancelled => "cancelled",
        }
    }

    /// Nothing automatic will change it any more.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        matches!(
            self,
            Self::Landed(_) | Self::Reported | Self::Parked(_) | Self::Blocked(_) | Self::Cancelled
        )
    }

    /// It takes one of its target's places for verification and landing.
    #[must_use]
    pub fn holds_place(&self) -> bool {
        matches!(
            self,
            Self::Merging
                | Self::Unverified(_)
                | Self::VerifyQueued(_)
                | Self::Verifying(_)
                | Self::Landing(_)
        )
    }
}

impl Item {
    /// Producing and repairing attempts since the last requeue.
    #[must_use]
    pub fn tries(&self) -> u32 {
        let work = |a: &&Attempt| a.kind != AttemptKind::Verify;
        u32::try_from(self.attempts[self.attempts_before..].iter().filter(work).count()).unwrap_or(u32::MAX)
    }

    /// The attempt with this number.
    #[must_use]
    pub fn attempt(&self, number: AttemptNumber) -> Option<&Attempt> {
        self.attempts.get((number.0 as usize).checked_sub(1)?)
    }

    /// The number of the newest attempt; 0 before the first.
    #[must_use]
    pub fn last_number(&self) -> AttemptNumber {
        AttemptNumber(u32::try_from(self.attempts.len()).unwrap_or(u32::MAX))
    }

    /// The newest attempt that handed in work, with its number.
    #[must_use]
    pub fn work(&self) -> Option<(AttemptNumber, &WorkResult)> {
        let place = self.attempts.iter().rposition(|a| a.result.is_some())?;
        let number = AttemptNumber(u32::try_from(place + 1).unwrap_or(u32::MAX));
        Some((number, self.attempts[place].result.as_deref()?))
    }

    /// Who produced the work under consideration.
    #[must_use]
    pub fn producer(&self) -> Option<&Holder> {
        self.attempts.iter().rfind(|a| a.result.is_some())?.holder.as_deref()
    }

    /// Verifications of the present work that decided nothing.
    #[must_use]
    pub fn checks_in_vain(&self) -> u32 {
        let since_work = self.attempts.iter().rev().take_while(|a| a.kind == AttemptKind::Verify);
        let vain = since_work.filter(|a| matches!(a.outcome, Some(Outcome::InVain(..)))).count();
        u32::try_from(vain).unwrap_or(u32::MAX)
    }

    /// Results since the last requeue that conflicted with the head.
    #[must_use]
    pub fn conflicts(&self) -> usize {
        let conflict = |a: &&Attempt| matches!(a.outcome, Some(Outcome::Conflict(_)));
        self.attempts[self.attempts_before..].iter().filter(conflict).count()
    }

    /// Why no further attempt follows by itself, if a limit says so. It follows from the state alone, so that a
    /// journal which ends between two records of one decision loses nothing.
    #[must_use]
    pub fn used_up(&self, checks_max: u32) -> Option<String> {
        let outcome = self.attempts[self.attempts_before..].last()?.outcome.as_ref()?;
        let (tries, tries_max, checks) = (self.tries(), self.tries_max, self.checks_in_vain());
        match (&self.state, outcome) {
            (State::Ready | State::Unverified(_), Outcome::InVain(Ending::Unclaimed, why)) => Some(why.clone()),
            (State::Unverified(_), last) if checks >= checks_max => {
                Some(format!("{checks} verifications decided nothing; the last: {last}"))
            }
            (State::Ready, last) if self.conflicts() > CONFLICTS_MAX => {
                Some(format!("redo it by hand or requeue it; the last try: {last}"))
            }
            (State::Ready, last) if tries >= tries_max => {
                Some(format!("{tries} of {tries_max} tries are used up; the last: {last}"))
            }
            _ => None,
        }
    }

    /// Claims of the present work.
    #[must_use]
    pub fn claims(&self) -> &[Claim] {
        self.work().map_or(&[], |(_, result)| &result.claims)
    }

    /// Does what the fact says: the table of transitions. `position` is the record's own.
    ///
    /// # Errors
    /// [`Inconsistent`] when the fact does not follow from the state.
    pub fn apply(&mut self, at: Millis, position: u64, fact: &ItemFact) -> Result<(), Inconsistent> {
        let state = std::mem::replace(&mut self.state, State::Ready);
        let name = state.name();
        let next = self.next(state, at, position, fact);
        let Some(next) = next else {
            return Err(self.inconsistent(name, fact));
        };
        if fact.moves() {
            self.since = at;
        }
        self.state = next;
        Ok(())
    }

    fn next(&mut self, state: State, at: Millis, position: u64, fact: &ItemFact) -> Option<State> {
        use ItemFact as F;
        Some(match (state, fact) {
            (state, F::Saved(number, commits, reason)) => {
                self.saved.push(SavedWork { number: *number, commits: commits.clone(), reason: reason.clone() });
                state
            }
            (state, F::Logged(number, log)) => {
                let place = (number.0 as usize).checked_sub(1)?;
                self.attempts.get_mut(place)?.log = Some(log.clone());
                state
            }
            (State::Ready, F::Queued(number, kind)) if *kind != AttemptKind::Verify => {
                self.open_attempt(at, *number, *kind)?;
                State::Queued
            }
            (State::Unverified(candidate), F::Queued(number, AttemptKind::Verify)) => {
                self.open_attempt(at, *number, AttemptKind::Verify)?;
                State::VerifyQueued(candidate)
            }
            (State::Queued | State::Working, F::Leased(number, holder)) => {
                self.lease(at, position, *number, holder)?;
                State::Working
            }
            (State::VerifyQueued(candidate) | State::Verifying(candidate), F::Leased(number, holder)) => {
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
                self.attempts.last_mut()?.result = Some(result.clone());
                self.proof = None;
                State::Gating
            }
            (State::Gating, F::Gated) => State::Gated,
            (State::Gating, F::Reported) => State::Reported,
            (State::Gated, F::MergeBegan) => State::Merging,
            (State::Merging, F::Merged(candidate)) => self.merged(candidate),
            (State::Verifying(candidate), F::Verified(number, envelopes)) => {
                self.end_attempt(at, *number, Outcome::Verified)?;
                let (tree, listing) = (candidate.tree.clone(), candidate.listing_sha256.clone());
                let proof = Proof { tree, listing, envelopes: envelopes.clone(), at };
                self.proof = Some(Box::new(proof));
                State::Landing(candidate)
            }
            (State::Gating | State::Merging | State::Verifying(_), F::Refuted(refutation)) => {
                self.refute(at, &refutation.by, &refutation.defect);
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
            (state, F::Parked(reason)) if !state.is_terminal() => {
                self.close_open_attempt(at);
                State::Parked(reason.as_str().into())
            }
            (State::Landing(candidate), F::Cancelled) if !self.cancel_wanted => {
                self.cancel_wanted = true;
                State::Landing(candidate)
            }
            (state, F::Cancelled)
                if !matches!(state, State::Landed(_) | State::Reported | State::Cancelled) =>
            {
                self.cancel_wanted = false;
                self.close_open_attempt(at);
                State::Cancelled
            }
            (State::Parked(_) | State::Cancelled, F::Requeued) => {
                self.attempts_before = self.attempts.len();
                self.defect = None;
                self.redo_onto = None;
                State::Ready
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

    fn open_attempt(&mut self, at: Millis, number: AttemptNumber, kind: AttemptKind) -> Option<()> {
        let expected = self.attempts.len() + 1;
        (number.0 as usize == expected).then_some(())?;
        self.attempts.push(Attempt::new(kind, at));
        Some(())
    }

    fn lease(&mut self, at: Millis, position: u64, number: AttemptNumber, holder: &Holder) -> Option<()> {
        self.started.get_or_insert(at);
        let attempt = self.newest(number)?;
        if let Some(before) = attempt.holder.take() {
            attempt.superseded.push(before.lease);
        }
        attempt.holder = Some(Box::new(holder.clone()));
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

    fn refute(&mut self, at: Millis, by: &Refuter, defect: &Defect) {
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
        }
        self.redo_onto = match by {
            Refuter::Merge(onto) => Some(onto.clone()),
            Refuter::Inspection | Refuter::Gate | Refuter::Verdict(_) => None,
        };
        self.defect = Some(Box::new(defect.clone()));
    }

    fn inconsistent(&self, state: &'static str, fact: &ItemFact) -> Inconsistent {
        let fact = format!("{fact:?}");
        let name = fact.split(['(', ' ', '{']).next().unwrap_or_default().to_owned();
        Inconsistent { item: self.id.to_string(), state, fact: name }
    }
}
