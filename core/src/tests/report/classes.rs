//! Each run has one class, and none of them by luck.

use cantus_proto::ids::AttemptNumber;
use cantus_proto::message::AttemptKind::{Produce, Verify};

use super::super::words::*;
use super::story::Story;
use crate::record::ItemFact::{
    Approved, Cancelled, Gated, HeadMoved, Rechecked, Reported, Requeued,
};
use crate::record::{Ending, Fact, Refuter};
use crate::report::Class;
use crate::scope_delta::Rule;

fn class(story: &Story) -> Option<Class> {
    story.report().class
}

#[track_caller]
fn is_unsafe(story: &Story, reason: &str) {
    let report = story.report();
    assert_eq!(report.class, Some(Class::UnsafeInvalid));
    assert_eq!(report.reasons, [reason]);
}

#[test]
fn a_run_that_goes_on_has_no_class() {
    let mut story = Story::of("a, b: a");
    story.complete("a");
    assert_eq!(class(&story), None);
    assert_eq!(story.report().reasons, ["1 of 2 items are open"]);
    story.complete("b");
    assert_eq!(class(&story), Some(Class::AutonomousVerifiedSuccess));
    let reason = "all 2 items landed on evidence, and no person had a hand in it";
    assert_eq!(story.report().reasons, [reason]);
}

#[test]
fn whatever_a_person_does_makes_it_assisted() {
    let mut requeued = Story::of("a");
    requeued.park("a", "why").fact("a", Requeued).complete("a");
    assert_eq!(class(&requeued), Some(Class::AssistedVerifiedSuccess));

    let mut approved = Story::of("a");
    approved.begin("a", Produce).deliver("a", work("a"));
    approved.refute("a", Refuter::Gate, &[Rule::OutOfScope]);
    approved.fact("a", Approved(AttemptNumber(1), "ada".to_owned())).merge("a", "a").prove("a");
    assert_eq!(class(&approved), Some(Class::AssistedVerifiedSuccess));
    let reasons = [
        "1 of 1 items landed on evidence, with a person's help",
        "a: ada let through what the gates found in attempt 1",
    ];
    assert_eq!(approved.report().reasons, reasons);

    let mut rechecked = Story::of("a");
    rechecked.offer("a", Produce).begin("a", Verify).end("a", Ending::Inconclusive, "no");
    rechecked.park("a", "why").fact("a", Rechecked("a full disk".to_owned()));
    rechecked.merge("a", "a").prove("a");
    assert_eq!(class(&rechecked), Some(Class::AssistedVerifiedSuccess));

    let mut cancelled = Story::of("a, b, c: b");
    cancelled.complete("a").fact("b", Cancelled);
    assert_eq!(cancelled.run().open, 0, "c is blocked by what was cancelled");
    assert_eq!(class(&cancelled), Some(Class::AssistedVerifiedSuccess));
}

#[test]
fn what_lands_nothing_or_parks_anything_has_failed() {
    let mut parked = Story::of("a, b, c: b");
    parked.complete("a").park("b", "why");
    assert_eq!(class(&parked), Some(Class::Failed));
    assert_eq!(parked.report().reasons, ["1 of 3 items are parked, 1 wait for them"]);
    // A cancelled leaf does not excuse a parked one.
    parked.fact("c", Cancelled);
    assert_eq!(class(&parked), Some(Class::Failed));

    let mut cancelled = Story::of("a, b");
    cancelled.record(Fact::RunCancelled);
    assert_eq!(class(&cancelled), Some(Class::Failed));
    assert_eq!(cancelled.report().reasons, ["nothing landed: all of it was cancelled"]);
}

#[test]
fn what_nothing_verified_is_no_verified_success() {
    let mut reports = Story::with(plan("a"), |submission| submission.repository = None);
    reports.begin("a", Produce).deliver("a", work("a")).fact("a", Reported);
    assert_eq!(class(&reports), Some(Class::UnverifiedSuccess));
    assert_eq!(class(&Story::of("")), Some(Class::UnverifiedSuccess));
}

#[test]
fn a_landing_that_the_state_cannot_account_for_is_unsafe() {
    let mut missing = Story::of("a, b");
    missing.complete("b").offer("a", Produce);
    missing.begin("a", Verify).verified_with("a", &["AC-02"]).land("a");
    is_unsafe(&missing, "a landed without evidence for AC-01");

    let mut own = Story::of("a");
    own.queue("a", Produce).lease_by("a", "one").deliver("a", work("a"));
    own.fact("a", Gated).merge("a", "a").queue("a", Verify).lease_by("a", "one");
    own.verified("a").land("a");
    is_unsafe(&own, "a was verified by the container that produced it, or by nobody");

    let mut nobody = Story::of("a");
    nobody.offer("a", Produce).queue("a", Verify);
    // A verdict about an attempt that nobody took does not follow from the state at all.
    let verdict = crate::record::ItemFact::Verified(AttemptNumber(2), vec![]);
    let place = nobody.run().by_id[&item_id("a")];
    let record =
        crate::record::Record { at: START, run: run_id("run"), fact: Fact::Item(place, verdict) };
    let mut core = crate::Core::new(settings());
    assert!(core.apply(&record).is_err());
}

#[test]
fn a_state_that_contradicts_itself_is_unsafe_too() {
    // Such states cannot be told by records: they are what a bug of ours would look like.
    let mut story = Story::of("a");
    story.complete("a");
    let mut item = story.item("a").clone();
    assert_eq!(crate::report::violations(&item), [""; 0]);
    item.proof.as_mut().unwrap().tree = tree("other");
    let reason = format!("a landed as tree {}, its evidence is for {}", tree("a"), tree("other"));
    assert_eq!(crate::report::violations(&item), [reason]);
    item.proof = None;
    assert_eq!(crate::report::violations(&item), ["a landed and its evidence is not there"]);
    item.attempts.truncate(1);
    let reason = "a landed although no verification proved attempt 1";
    assert_eq!(crate::report::violations(&item), [reason]);
    item.attempts[0].outcome = Some(crate::item::Outcome::KeptOut("scope".to_owned()));
    let kept_out = "a landed although attempt 1 was kept out and nobody let it through";
    assert_eq!(crate::report::violations(&item), [kept_out, reason]);
    item.attempts.clear();
    assert_eq!(crate::report::violations(&item), ["a landed without a result"]);
}

#[test]
fn a_landing_that_was_found_on_the_target_is_accounted_for_there() {
    let mut story = Story::of("a");
    story.begin("a", Produce);
    let landed = crate::item::Landed {
        commit: commit("found"),
        tree: tree("found"),
        evidence: digest("found"),
    };
    story.fact("a", crate::record::ItemFact::Recovered(Box::new(landed)));
    assert_eq!(class(&story), Some(Class::AutonomousVerifiedSuccess));
    assert_eq!(
        story.report().reasons[1],
        "1 of them were found on the target: cantus audit checks them"
    );
}

#[test]
fn a_head_that_moved_is_not_held_against_the_landing() {
    let mut story = Story::of("a");
    story.offer("a", Produce).begin("a", Verify).verified("a");
    story.fact("a", HeadMoved(commit("later")));
    let merged = crate::record::ItemFact::Merged(Box::new(candidate("a", "later")));
    story.fact("a", merged).land("a");
    assert_eq!(class(&story), Some(Class::AutonomousVerifiedSuccess));
}
