//! Every failure has a cause, and each row of the table is held.

use cantus_proto::ids::AttemptNumber;
use cantus_proto::message::AttemptKind::{Produce, Verify};
use cantus_proto::message::{Diagnosis, FailureKind, Proposal, Remedy};

use super::super::words::*;
use super::story::Story;
use crate::record::ItemFact::{self, Cancelled, Proposed};
use crate::record::{Decision, Ending, Refuter};
use crate::report::Cause;
use crate::scope_delta::Rule;

/// Attempt (0: the item) and cause of each failure.
fn causes(story: &Story) -> Vec<(u32, Cause)> {
    let failures = story.report().failures;
    failures.iter().map(|f| (f.attempt.map_or(0, |number| number.0), f.cause)).collect()
}

#[test]
fn every_way_to_end_a_try_has_its_cause() {
    for (kind, cause) in [
        (FailureKind::Agent, Cause::Agent),
        (FailureKind::Workspace, Cause::Infrastructure),
        (FailureKind::TooLarge, Cause::Agent),
        (FailureKind::Timeout, Cause::Budget),
        (FailureKind::Stopped, Cause::Infrastructure),
    ] {
        let mut story = Story::of("a");
        story.fail("a", kind, "why");
        assert_eq!(causes(&story), [(1, cause)], "{kind:?}");
        assert_eq!(story.report().failures[0].reason, "why");
    }
    for (ending, cause) in [
        (Ending::Lost, Cause::Infrastructure),
        (Ending::Unclaimed, Cause::Infrastructure),
        (Ending::Inconclusive, Cause::Verifier),
        (Ending::OverBudget, Cause::Budget),
        (Ending::Unmeasured, Cause::Budget),
        (Ending::Stalled, Cause::Agent),
    ] {
        let mut story = Story::of("a");
        story.begin_for("a", Produce, ending).end("a", ending, "why");
        assert_eq!(causes(&story), [(1, cause)], "{ending:?}");
    }
}

#[test]
fn every_way_to_end_a_verification_in_vain_has_its_cause() {
    for (ending, cause) in [
        (Ending::Lost, Cause::Infrastructure),
        (Ending::Unclaimed, Cause::Infrastructure),
        (Ending::Inconclusive, Cause::Verifier),
        (Ending::Failed(FailureKind::Agent), Cause::Verifier),
        (Ending::Failed(FailureKind::Timeout), Cause::Verifier),
        (Ending::Failed(FailureKind::TooLarge), Cause::Verifier),
        (Ending::Failed(FailureKind::Workspace), Cause::Infrastructure),
        (Ending::Failed(FailureKind::Stopped), Cause::Infrastructure),
    ] {
        let mut story = Story::of("a");
        story.offer("a", Produce).begin_for("a", Verify, ending).end("a", ending, "why");
        assert_eq!(causes(&story), [(2, cause)], "{ending:?}");
    }
}

#[test]
fn every_rule_of_the_gates_has_its_cause() {
    for rule in Rule::ALL {
        let cause = match rule {
            Rule::OutOfScope
            | Rule::NestedRepository
            | Rule::SymbolicLink
            | Rule::DependencyAdded
            | Rule::DependencyForbidden
            | Rule::CheckEdited => Cause::Permission,
            _ => Cause::Agent,
        };
        let mut story = Story::of("a");
        story.begin("a", Produce).deliver("a", work("a")).refute("a", Refuter::Gate, &[rule]);
        assert_eq!(causes(&story), [(1, cause)], "{rule:?}");
    }
    // What was reached for weighs more, wherever it stands.
    let mut both = Story::of("a");
    both.begin("a", Produce).deliver("a", work("a"));
    both.refute("a", Refuter::Gate, &[Rule::TestRemoved, Rule::OutOfScope, Rule::LargeRefactor]);
    assert_eq!(causes(&both), [(1, Cause::Permission)]);
    // And a result that the hub cannot read is its author's.
    let mut unreadable = Story::of("a");
    unreadable.begin("a", Produce).deliver("a", work("a")).refute("a", Refuter::Inspection, &[]);
    assert_eq!(causes(&unreadable), [(1, Cause::Agent)]);
}

#[test]
fn a_verification_that_refutes_has_done_its_work() {
    let mut story = Story::of("a");
    story.offer("a", Produce).begin("a", Verify);
    story.refute("a", Refuter::Verdict(AttemptNumber(2)), &[]);
    assert_eq!(causes(&story), [(1, Cause::Agent)]);
    story.park("a", "3 of 3 tries are used up; the last: refuted: it is not so");
    assert_eq!(causes(&story), [(1, Cause::Agent), (0, Cause::Agent)]);

    let mut conflict = Story::of("a");
    conflict.begin("a", Produce).deliver("a", work("a")).fact("a", ItemFact::Gated);
    conflict.fact("a", ItemFact::MergeBegan).refute("a", Refuter::Merge(commit("head")), &[]);
    conflict.park("a", "redo it by hand or requeue it; the last try: conflict");
    assert_eq!(causes(&conflict), [(1, Cause::Contract), (0, Cause::Contract)]);
}

#[test]
fn a_parked_item_is_caused_by_what_its_reason_says_or_by_its_last_attempt() {
    let parked = |reason: &str, tell: fn(&mut Story)| {
        let mut story = Story::of("a");
        tell(&mut story);
        story.park("a", reason);
        causes(&story).last().copied().unwrap().1
    };
    let nothing: fn(&mut Story) = |_| ();
    assert_eq!(parked("the token budget of 10 is used up: 12 spent", nothing), Cause::Budget);
    assert_eq!(parked("the run's wall clock of 1 min is used up", nothing), Cause::Budget);
    assert_eq!(parked("no price is known", nothing), Cause::Contract);
    let failed: fn(&mut Story) = |story| {
        story.fail("a", FailureKind::Agent, "the budget is used up");
    };
    let used_up = "1 of 1 tries are used up; the last: failed: the budget is used up";
    assert_eq!(parked(used_up, failed), Cause::Agent);
    let handed_in: fn(&mut Story) = |story| {
        story.begin("a", Produce).deliver("a", work("a"));
    };
    assert_eq!(parked("upstream refuses the push", handed_in), Cause::Infrastructure);
    let open: fn(&mut Story) = |story| {
        story.begin("a", Produce);
    };
    assert_eq!(parked("the bus does not take it", open), Cause::Infrastructure);
}

#[test]
fn a_skip_is_the_agents_own_wish_once_it_is_confirmed() {
    for (decision, cause) in
        [(Decision::Confirmed, Cause::Agent), (Decision::Pending, Cause::Infrastructure)]
    {
        let mut story = Story::of("a");
        let wish = Diagnosis { reason: "cannot be".to_owned(), remedy: Remedy::Skip };
        story.begin("a", Produce);
        let proposal = Box::new(Proposal::Diagnosis(wish));
        story.fact("a", Proposed(AttemptNumber(1), proposal, decision));
        story.end("a", Ending::Lost, "gone").park("a", "skipped");
        assert_eq!(causes(&story), [(1, Cause::Infrastructure), (0, cause)]);
    }
}

#[test]
fn what_people_close_is_no_failure() {
    let mut story = Story::of("a, b: a");
    story.begin("a", Produce).fact("a", Cancelled);
    assert_eq!(causes(&story), []);
    let mut landed = Story::of("a");
    landed.complete("a");
    assert_eq!(causes(&landed), []);
}
