//! The table of transitions, row by row: what is not in it is refused by name.

use std::sync::Arc;

use cantus_proto::evidence::Ending as CheckerEnding;
use cantus_proto::ids::AttemptNumber;
use cantus_proto::message::{AttemptKind, Commits, Defect};

use super::super::event::ItemIndex;
use super::super::item::{Item, Landed, State};
use super::super::record::{Ending, Holder, ItemFact, Refutation, Refuter};
use super::world::{START, World, blob, candidate, commit, digest, tree, work};

/// Each state, and all that may follow.
const TABLE: [(&str, &str); 16] = [
    ("Waiting", "Parked Cancelled"),
    ("Ready", "Queued Parked Cancelled"),
    ("Queued", "Leased Ended Parked Cancelled"),
    ("Working", "Leased Ended Delivered Parked Cancelled"),
    ("Gating", "Gated Refuted Reported Parked Cancelled"),
    ("Gated", "MergeBegan Parked Cancelled"),
    ("Merging", "Merged Refuted Parked Cancelled"),
    ("Unverified", "QueuedToVerify Parked Cancelled"),
    ("VerifyQueued", "Leased Ended Parked Cancelled"),
    ("Verifying", "Leased Ended Verified Refuted Parked Cancelled"),
    ("Landing", "HeadMoved Landed Parked Cancelled"),
    ("Landed", ""),
    ("Reported", ""),
    ("Parked", "Requeued Cancelled"),
    ("Blocked", "Cancelled"),
    ("Cancelled", "Requeued"),
];

fn state(name: &str) -> State {
    let merged = || Box::new(candidate("t", "start"));
    match name {
        "Waiting" => State::Waiting(1),
        "Ready" => State::Ready,
        "Queued" => State::Queued,
        "Working" => State::Working,
        "Gating" => State::Gating,
        "Gated" => State::Gated,
        "Merging" => State::Merging,
        "Unverified" => State::Unverified(merged()),
        "VerifyQueued" => State::VerifyQueued(merged()),
        "Verifying" => State::Verifying(merged()),
        "Landing" => State::Landing(merged()),
        "Landed" => State::Landed(Box::new(Landed {
            commit: commit("landed"),
            tree: tree("t"),
            evidence: digest("evidence"),
        })),
        "Reported" => State::Reported,
        "Parked" => State::Parked("why".into()),
        "Blocked" => State::Blocked(ItemIndex(0)),
        "Cancelled" => State::Cancelled,
        other => panic!("{other} is no state"),
    }
}

/// One fact of each kind, about this attempt where it is about one.
fn facts(number: u32, holder: &Holder) -> Vec<(&'static str, ItemFact)> {
    let (number, next) = (AttemptNumber(number), AttemptNumber(number + 1));
    let defect = Defect { summary: "no".to_owned(), findings: vec![], work: None };
    let refutation = Refutation { by: Refuter::Verdict(number), defect, out_of_scope: vec![] };
    vec![
        ("Queued", ItemFact::Queued(next, AttemptKind::Produce, Arc::default())),
        ("QueuedToVerify", ItemFact::Queued(next, AttemptKind::Verify, Arc::default())),
        ("Leased", ItemFact::Leased(number, Box::new(holder.clone()))),
        ("Ended", ItemFact::Ended(number, Ending::Lost, "gone".to_owned())),
        ("Delivered", ItemFact::Delivered(number, Box::new(work("w")))),
        ("Gated", ItemFact::Gated),
        ("MergeBegan", ItemFact::MergeBegan),
        ("Merged", ItemFact::Merged(Box::new(candidate("t", "start")))),
        ("Verified", ItemFact::Verified(number, vec![])),
        ("Refuted", ItemFact::Refuted(Box::new(refutation))),
        ("HeadMoved", ItemFact::HeadMoved(commit("moved"))),
        ("Landed", ItemFact::Landed(commit("landed"), digest("evidence"))),
        ("Reported", ItemFact::Reported),
        ("Parked", ItemFact::Parked("why".to_owned())),
        ("Requeued", ItemFact::Requeued),
        ("Cancelled", ItemFact::Cancelled),
    ]
}

/// An item with a result and a verification under way: attempts 1 and 2.
fn verifying() -> (Item, Holder) {
    let mut world = World::of("a");
    world.offer("a");
    world.take("a");
    let item = world.item("a").clone();
    let holder = item.attempts[1].holder.clone().unwrap();
    (item, *holder)
}

#[test]
fn only_what_is_in_the_table_follows() {
    let (item, holder) = verifying();
    for (name, follows) in TABLE {
        for (fact_name, fact) in facts(2, &holder) {
            let mut item = Item { state: state(name), ..item.clone() };
            let applied = item.apply(START, 99, &fact);
            let expected = follows.split(' ').any(|word| word == fact_name);
            assert_eq!(applied.is_ok(), expected, "{name} then {fact_name}: {applied:?}");
            if let Err(error) = applied {
                let text = error.to_string();
                assert!(
                    text.starts_with(&format!("item a is {}, which ", state(name).name())),
                    "{text}"
                );
                assert!(fact_name.starts_with(error.fact.as_str()), "{text}");
            }
        }
    }
}

#[test]
fn what_is_about_another_attempt_does_not_follow() {
    let (item, holder) = verifying();
    for wrong in [0, 1, 3] {
        for (name, follows) in TABLE {
            for (fact_name, fact) in facts(wrong, &holder) {
                let numbered =
                    ["Queued", "QueuedToVerify", "Leased", "Ended", "Delivered", "Verified"];
                if follows.contains(fact_name) && numbered.contains(&fact_name) {
                    let mut item = Item { state: state(name), ..item.clone() };
                    assert!(
                        item.apply(START, 99, &fact).is_err(),
                        "{name} then {fact_name} of {wrong}"
                    );
                }
            }
        }
    }
}

#[test]
fn what_is_kept_follows_everywhere_and_moves_nothing() {
    let (item, _) = verifying();
    let commits = Commits { bundle: blob("s"), base: commit("start"), head: commit("s") };
    let kept = [
        ItemFact::Saved(AttemptNumber(1), commits, "swept".to_owned()),
        ItemFact::Logged(AttemptNumber(1), blob("log")),
    ];
    for (name, _) in TABLE {
        for fact in &kept {
            let mut item = Item { state: state(name), ..item.clone() };
            item.apply(START.plus(7), 99, fact).unwrap();
            assert_eq!((item.state, item.since), (state(name), START));
        }
    }
}

#[test]
fn a_record_about_nothing_that_exists_is_refused() {
    let mut world = World::of("a");
    let mut record = world.journal[1].clone();
    record.fact = super::super::record::Fact::Item(ItemIndex(7), ItemFact::Gated);
    let error = world.core.apply(&record).unwrap_err();
    assert!(error.to_string().contains("item 7 of run run is unknown"), "{error}");
}

#[test]
fn every_way_an_attempt_ends_has_its_words() {
    let mut world = World::of("a");
    world.offer("a");
    world.verify("a", CheckerEnding::Exit(0));
    assert_eq!(world.outcomes("a"), ["handed in", "verified"]);
    world.cancel("a");
    world.moved("a", "moved");
    world.requeue("a");
    world.cancel("a");
    assert_eq!(world.outcomes("a")[2], "closed with its item");
}
