//! Who or what caused each failure (SPEC B20): one table, and every failure has its row.
//!
//! A failure is an attempt that brought nothing that counts, or an item that is parked. A verification that
//! refutes has done its work and is none; what a person closed is a decision and is none; a blocked item names
//! the item that it waits for.

use std::fmt;

use cantus_proto::ids::AttemptNumber;
use cantus_proto::message::{AttemptKind, FailureKind, Proposal, Remedy};

use crate::attempt::{Attempt, Outcome};
use crate::event::ItemIndex;
use crate::item::{Item, State};
use crate::record::{Decision, Ending};
use crate::run::{Run, index};
use crate::scope_delta::{Finding, Rule};

/// Who or what caused a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// What the agent did, or did not do.
    Agent,
    /// The verifier or a checker could not decide.
    Verifier,
    /// Hosts, containers, workspaces, the bus, or the repository.
    Infrastructure,
    /// What was asked does not fit together: two items change the same lines, or an item cannot begin.
    Contract,
    /// Time, tokens or money.
    Budget,
    /// It reached for something that it may not touch.
    Permission,
}

impl Cause {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Agent,
        Self::Verifier,
        Self::Infrastructure,
        Self::Contract,
        Self::Budget,
        Self::Permission,
    ];

    /// The word in views and exports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Verifier => "verifier",
            Self::Infrastructure => "infrastructure",
            Self::Contract => "contract",
            Self::Budget => "budget",
            Self::Permission => "permission",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failure and its cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Of which item.
    pub item: ItemIndex,
    /// Which attempt; nothing when the item itself is parked.
    pub attempt: Option<AttemptNumber>,
    /// Who or what.
    pub cause: Cause,
    /// As it was told when it happened.
    pub reason: String,
}

/// All failures of a run, those of an item in the order in which they happened.
pub(super) fn failures(run: &Run) -> Vec<Failure> {
    let mut failures = Vec::new();
    for (place, item) in run.items.iter().enumerate() {
        let place = index(place);
        for (attempt, number) in item.attempts.iter().zip(1..) {
            if let Some((cause, reason)) = of_attempt(attempt) {
                let attempt = Some(AttemptNumber(number));
                failures.push(Failure { item: place, attempt, cause, reason });
            }
        }
        if let State::Parked(reason) = &item.state {
            let (cause, reason) = (of_parked(item, reason), reason.to_string());
            failures.push(Failure { item: place, attempt: None, cause, reason });
        }
    }
    failures
}

/// The table for attempts; nothing when it is no failure.
fn of_attempt(attempt: &Attempt) -> Option<(Cause, String)> {
    let verifies = attempt.kind == AttemptKind::Verify;
    let (cause, reason) = match attempt.outcome.as_ref()? {
        Outcome::HandedIn | Outcome::Verified | Outcome::Closed => return None,
        Outcome::Refuted(_) | Outcome::KeptOut(_) | Outcome::Conflict(_) if verifies => {
            return None;
        }
        Outcome::KeptOut(why) => (of_findings(attempt.out_of_scope()), why),
        Outcome::Conflict(why) => (Cause::Contract, why),
        Outcome::Refuted(why) => (Cause::Agent, why),
        Outcome::InVain(ending, why) => (of_ending(*ending, verifies), why),
    };
    Some((cause, reason.clone()))
}

fn of_ending(ending: Ending, verifies: bool) -> Cause {
    match (ending, verifies) {
        (ending, _) if ending.is_infrastructure() => Cause::Infrastructure,
        (Ending::OverBudget | Ending::Unmeasured, _) => Cause::Budget,
        (Ending::Inconclusive, _) | (_, true) => Cause::Verifier,
        (Ending::Failed(FailureKind::Timeout), _) => Cause::Budget,
        // What is left of the infrastructure's endings was the first row.
        (Ending::Stalled | Ending::Failed(_) | Ending::Lost | Ending::Unclaimed, _) => Cause::Agent,
    }
}

/// What was reached for weighs more than what was done badly. Without findings the hub could not read the result,
/// which is what the agent handed in.
fn of_findings(findings: &[Finding]) -> Cause {
    findings.iter().map(|finding| of_rule(finding.rule)).max().unwrap_or(Cause::Agent)
}

fn of_rule(rule: Rule) -> Cause {
    match rule {
        Rule::OutOfScope
        | Rule::NestedRepository
        | Rule::SymbolicLink
        | Rule::DependencyAdded
        | Rule::DependencyForbidden
        | Rule::CheckEdited => Cause::Permission,
        Rule::TestRemoved
        | Rule::TestSkipped
        | Rule::TestWeakened
        | Rule::LargeRefactor
        | Rule::ExplanationOnly => Cause::Agent,
    }
}

/// The table for parked items: what its reason names first, or what ended its newest attempt.
fn of_parked(item: &Item, reason: &str) -> Cause {
    if names_budget(reason) {
        return Cause::Budget;
    }
    let newest = item.attempts.get(item.attempts_before..).and_then(<[Attempt]>::last);
    let Some(newest) = newest else {
        // Nothing ran, so nobody failed: it cannot begin as it was asked for.
        return Cause::Contract;
    };
    if was_skipped(newest) {
        return Cause::Agent;
    }
    match newest.outcome {
        // A verification that refuted says what is wrong with the work before it.
        Some(Outcome::Refuted(_)) => Cause::Agent,
        // Handed in, verified or still at it, and then something else could not go on.
        _ => of_attempt(newest).map_or(Cause::Infrastructure, |(cause, _)| cause),
    }
}

/// The kernel's own words begin a reason; what others said follows behind a colon.
fn names_budget(reason: &str) -> bool {
    let own = reason.split(':').next().unwrap_or_default();
    own.contains("used up") && (own.contains("budget") || own.contains("wall clock"))
}

/// The agent's own diagnosis was to leave it to a person (SPEC E8).
fn was_skipped(attempt: &Attempt) -> bool {
    attempt.proposals().iter().any(|(proposal, decision)| {
        matches!(proposal, Proposal::Diagnosis(diagnosis) if diagnosis.remedy == Remedy::Skip)
            && *decision == Decision::Confirmed
    })
}
