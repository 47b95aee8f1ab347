//! One item: its states, its history, and what follows from them.
//!
//! What each record does to it is [`Item::apply`], in a file of its own.

use std::sync::Arc;

use cantus_proto::contract::Contract;
use cantus_proto::ids::{AttemptNumber, CommitId, Digest, ItemId, LeaseId, RoleName, TreeId};
use cantus_proto::message::{AttemptKind, Candidate, Claim, Commits, Defect, Proposal, WorkResult};
use cantus_proto::plan::{Complexity, Effort, PlanItem};

pub use crate::attempt::{Attempt, Exchange, Outcome};
use crate::event::{ItemIndex, Millis, Proof};
use crate::record::{Dispatch, Ending, Holder, Warning};
pub use crate::state_machine::Inconsistent;
use crate::verification_budget::{hypotheses, needs_hypothesis};

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
    /// From the plan.
    pub complexity: Complexity,
    /// From the plan; nothing: as routed.
    pub effort: Option<Effort>,
    /// The item that this one is a part of, if a split made it.
    pub whole: Option<ItemIndex>,
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
    /// What people and budgets said about it; nothing for most.
    pub remarks: Option<Box<Remarks>>,
    /// When its lease or its wait in the queue is over; moved by heartbeats, so never journaled.
    pub deadline: Option<Millis>,
}

/// What people and budgets said about an item.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Remarks {
    /// Whose gate findings were let through, by the attempt, and by whom.
    pub approvals: Vec<(AttemptNumber, String)>,
    /// Why the result of an attempt was checked again: what another run would tell apart.
    pub hypotheses: Vec<(AttemptNumber, String)>,
    /// Budgets of which most is spent.
    pub warnings: Vec<Warning>,
    /// How often a person put it back.
    pub requeues: u32,
    /// Attempts before the last time: budgets begin anew with it.
    pub attempts_before_requeue: usize,
    /// Items that do parts of it.
    pub parts: Vec<ItemIndex>,
    /// Its landing was found on the target; what the journal knew of it was lost.
    pub recovered: bool,
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
    /// A node of a plan before anything happened to it.
    #[must_use]
    pub(crate) fn new(
        at: Millis,
        node: &PlanItem,
        contract: Arc<Contract>,
        (needs, state): (Box<[ItemIndex]>, State),
        critical_path: u64,
    ) -> Self {
        Self {
            id: node.id.clone(),
            needs,
            dependents: Vec::new(),
            role: node.role.clone(),
            verifier: node.verifier.clone(),
            critical_path,
            priority: node.priority,
            complexity: node.complexity,
            effort: node.effort,
            whole: None,
            tries_max: node.attempts_max,
            contract,
            state,
            since: at,
            started: None,
            attempts: Vec::new(),
            attempts_before: 0,
            defect: None,
            redo_onto: None,
            cancel_wanted: false,
            proof: None,
            saved: Vec::new(),
            remarks: None,
            deadline: None,
        }
    }

    /// Producing and repairing attempts since the last requeue.
    #[must_use]
    pub fn tries(&self) -> u32 {
        let work = |a: &&Attempt| a.kind != AttemptKind::Verify;
        u32::try_from(self.attempts[self.attempts_before..].iter().filter(work).count())
            .unwrap_or(u32::MAX)
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

    /// The lease that holds the open attempt.
    #[must_use]
    pub fn open_lease(&self) -> Option<&LeaseId> {
        let open = self.attempts.last().filter(|attempt| attempt.ended.is_none())?;
        open.holder.as_ref().map(|holder| &holder.lease)
    }

    /// The newest attempt's dispatch is like this one: one of them is enough.
    pub(crate) fn share_dispatch(&mut self, dispatch: &Arc<Dispatch>) {
        if let Some(newest) = self.attempts.last_mut() {
            newest.dispatch = Arc::clone(dispatch);
        }
    }

    /// See [`Remarks`]; made when first needed.
    pub(crate) fn remarks_mut(&mut self) -> &mut Remarks {
        self.remarks.get_or_insert_default()
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

    /// Whether the newest attempt is a verification that decided nothing.
    #[must_use]
    pub fn ended_undecided(&self) -> bool {
        let last = self.attempts.last().filter(|a| a.kind == AttemptKind::Verify);
        last.is_some_and(|a| matches!(a.outcome, Some(Outcome::InVain(..))))
    }

    /// Verifications of the present work that nobody took.
    fn checks_unclaimed(&self) -> u32 {
        let since_work = self.attempts.iter().rev().take_while(|a| a.kind == AttemptKind::Verify);
        let unclaimed =
            |a: &&Attempt| matches!(a.outcome, Some(Outcome::InVain(Ending::Unclaimed, _)));
        u32::try_from(since_work.filter(unclaimed).count()).unwrap_or(u32::MAX)
    }

    /// The attempt whose result the gates kept out, if that is the newest result.
    #[must_use]
    pub fn kept_out(&self) -> Option<AttemptNumber> {
        let (number, _) = self.work()?;
        let found = self.attempt(number)?.out_of_scope();
        (!found.is_empty() && self.approval(number).is_none()).then_some(number)
    }

    /// The author of the present work says that it is not whole.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        let attempt = self.work().and_then(|(number, _)| self.attempt(number));
        let proposals = attempt.map_or(&[][..], Attempt::proposals);
        proposals.iter().any(|(wish, _)| matches!(wish, Proposal::Partial(_)))
    }

    /// Who let through what the gates found in this attempt's result.
    #[must_use]
    pub fn approval(&self, number: AttemptNumber) -> Option<&str> {
        let approvals = &self.remarks.as_deref()?.approvals;
        approvals.iter().find(|(of, _)| *of == number).map(|(_, by)| by.as_str())
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
        let granted = u32::try_from(hypotheses(self).count()).unwrap_or(u32::MAX);
        match (&self.state, outcome) {
            (State::Ready, Outcome::InVain(Ending::Unclaimed, why)) => Some(why.clone()),
            (State::Unverified(_), Outcome::InVain(Ending::Unclaimed, why))
                if self.checks_unclaimed() > granted =>
            {
                Some(why.clone())
            }
            (State::Ready, Outcome::InVain(Ending::Unmeasured, why)) => Some(why.clone()),
            (State::Unverified(_), last) if needs_hypothesis(self, checks_max) => Some(format!(
                "{checks} verifications decided nothing; another needs a hypothesis that says what it \
                 would tell apart; the last: {last}"
            )),
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
}
