//! The one class of a run that has ended (SPEC B17).
//!
//! Strict on purpose: no breaker, no budget stop and no parked item is ever a success, and landed work whose
//! evidence does not hold by the state's own account makes the whole run invalid, however much landed.

use std::fmt;

use cantus_proto::message::AttemptKind;

use crate::item::{Item, Outcome, State};
use crate::run::{Run, RunState};

/// What a run came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Every item landed on evidence, and no person had a hand in it.
    AutonomousVerifiedSuccess,
    /// As above, but a person approved, requeued, rechecked or cancelled something; at least one item landed, and
    /// what did not land is cancelled or waited for what is.
    AssistedVerifiedSuccess,
    /// It ended well and nothing was verified: the run only reports, or its plan is empty.
    UnverifiedSuccess,
    /// Something is parked, or nothing landed.
    Failed,
    /// Something landed that the state cannot account for: see [`violations`].
    UnsafeInvalid,
}

impl Class {
    /// All of them, the best first.
    pub const ALL: [Self; 5] = [
        Self::AutonomousVerifiedSuccess,
        Self::AssistedVerifiedSuccess,
        Self::UnverifiedSuccess,
        Self::Failed,
        Self::UnsafeInvalid,
    ];

    /// The word in views and exports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AutonomousVerifiedSuccess => "autonomous_verified_success",
            Self::AssistedVerifiedSuccess => "assisted_verified_success",
            Self::UnverifiedSuccess => "unverified_success",
            Self::Failed => "failed",
            Self::UnsafeInvalid => "unsafe_invalid",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The class, nothing while the run goes on, and why.
pub(super) fn of(run: &Run) -> (Option<Class>, Vec<String>) {
    let violations: Vec<String> = run.items.iter().flat_map(violations).collect();
    if run.state() == RunState::Running {
        let open = format!("{} of {} items are open", run.open, run.items.len());
        return (None, violations.into_iter().chain([open]).collect());
    }
    if !violations.is_empty() {
        return (Some(Class::UnsafeInvalid), violations);
    }
    let count = |test: &dyn Fn(&Item) -> bool| run.items.iter().filter(|item| test(item)).count();
    let landed = count(&|item| matches!(item.state, State::Landed(_)));
    let reported = count(&|item| matches!(item.state, State::Reported));
    let parked = count(&|item| matches!(item.state, State::Parked(_)));
    let stuck = count(&|item| is_stuck(run, item));
    let all = run.items.len();
    if parked + stuck > 0 {
        let waiting = format!("{parked} of {all} items are parked, {stuck} wait for them");
        return (Some(Class::Failed), vec![waiting]);
    }
    if landed + reported == 0 && all > 0 {
        return (Some(Class::Failed), vec!["nothing landed: all of it was cancelled".to_owned()]);
    }
    if all == 0 {
        let empty = "the plan has no items, so nothing was verified".to_owned();
        return (Some(Class::UnverifiedSuccess), vec![empty]);
    }
    if reported > 0 {
        let nowhere = format!("{reported} of {all} items reported; the run has nowhere to land");
        return (Some(Class::UnverifiedSuccess), vec![nowhere]);
    }
    let hands: Vec<String> = run.items.iter().flat_map(interventions).collect();
    let found = match count(&is_recovered) {
        0 => None,
        found => {
            Some(format!("{found} of them were found on the target: cantus audit checks them"))
        }
    };
    if hands.is_empty() {
        let alone = format!("all {all} items landed on evidence, and no person had a hand in it");
        return (
            Some(Class::AutonomousVerifiedSuccess),
            [alone].into_iter().chain(found).collect(),
        );
    }
    let some = format!("{landed} of {all} items landed on evidence, with a person's help");
    let reasons = [some].into_iter().chain(found).chain(hands).collect();
    (Some(Class::AssistedVerifiedSuccess), reasons)
}

/// Its landing was found on the target, and the journal knows no more of it.
fn is_recovered(item: &Item) -> bool {
    item.remarks.as_deref().is_some_and(|remarks| remarks.recovered)
}

/// It waits for something that nobody decided to leave out.
fn is_stuck(run: &Run, item: &Item) -> bool {
    match item.state {
        State::Blocked(cause) => !matches!(run.item(cause).state, State::Cancelled),
        _ => false,
    }
}

/// What people did about an item, in words; empty when nothing.
pub(super) fn interventions(item: &Item) -> Vec<String> {
    let id = &item.id;
    let mut done = Vec::new();
    if let Some(remarks) = item.remarks.as_deref() {
        for (number, by) in &remarks.approvals {
            done.push(format!("{id}: {by} let through what the gates found in attempt {number}"));
        }
        for (number, hypothesis) in &remarks.hypotheses {
            done.push(format!("{id}: attempt {number} was checked again: {hypothesis}"));
        }
        if remarks.requeues > 0 {
            done.push(format!("{id}: put back {} times", remarks.requeues));
        }
    }
    if item.cancel_wanted || matches!(item.state, State::Cancelled) {
        done.push(format!("{id}: cancelled"));
    }
    done
}

/// Why a landing is not accounted for by the state; empty for what has not landed and for what is sound.
///
/// Sound is a landing whose newest result was not kept out (or was let through by a person), that a later
/// verification proved on the very tree that landed, with evidence for every criterion, by another container
/// than the one that produced it. Of a landing that was recovered from the target, the journal's account was lost, and
/// the evidence beside it was looked at when it was found.
pub(crate) fn violations(item: &Item) -> Vec<String> {
    let State::Landed(landed) = &item.state else { return Vec::new() };
    let id = &item.id;
    if is_recovered(item) {
        return Vec::new();
    }
    let Some((work, _)) = item.work() else {
        return vec![format!("{id} landed without a result")];
    };
    let mut found = Vec::new();
    let kept_out =
        item.attempt(work).is_some_and(|a| matches!(a.outcome, Some(Outcome::KeptOut(_))));
    if kept_out && item.approval(work).is_none() {
        found.push(format!(
            "{id} landed although attempt {work} was kept out and nobody let it through"
        ));
    }
    let later = &item.attempts[work.0 as usize..];
    let proof = later
        .iter()
        .rfind(|a| a.kind == AttemptKind::Verify && a.outcome == Some(Outcome::Verified));
    let Some(verification) = proof else {
        found.push(format!("{id} landed although no verification proved attempt {work}"));
        return found;
    };
    let container = |holder: &crate::record::Holder| holder.leased.container.clone();
    let verifier = verification.holder.as_deref().map(container);
    if verifier.is_none() || verifier == item.producer().map(container) {
        found.push(format!("{id} was verified by the container that produced it, or by nobody"));
    }
    match item.proof.as_deref() {
        None => found.push(format!("{id} landed and its evidence is not there")),
        Some(proof) if proof.tree != landed.tree => {
            found.push(format!(
                "{id} landed as tree {}, its evidence is for {}",
                landed.tree, proof.tree
            ));
        }
        Some(proof) => {
            let shown = |criterion: &cantus_proto::contract::Criterion| {
                proof.envelopes.iter().any(|envelope| envelope.criterion == criterion.id)
            };
            let missing = item.contract.acceptance_criteria.iter().filter(|c| !shown(c));
            found.extend(missing.map(|c| format!("{id} landed without evidence for {}", c.id)));
        }
    }
    found
}
