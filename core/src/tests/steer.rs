//! People let findings through and have results checked again; the rules hold all the same.

use cantus_proto::evidence::Ending;
use cantus_proto::message::{Defect, LeaseEvent, Work};

use super::super::event::{Action, Event};
use super::super::item::State;
use super::super::record::{Fact, ItemFact, Record, Refutation, Refuter};
use super::super::run::RunState;
use super::super::scope_delta::{Finding, Rule};
use super::world::{Held, World, failed, item_id, run_id, work};

fn approve(world: &mut World, id: &str, by: &str) -> usize {
    world.step(Event::Approved { run: run_id("run"), item: item_id(id), by: by.to_owned() })
}

fn recheck(world: &mut World, id: &str, hypothesis: &str) -> usize {
    let hypothesis = hypothesis.to_owned();
    world.step(Event::Rechecked { run: run_id("run"), item: item_id(id), hypothesis })
}

fn refused(world: &World) -> &str {
    world.refused.last().map_or("", String::as_str)
}

/// A worker hands in, and a gate keeps the result out for a finding.
fn keep_out(world: &mut World, id: &str) -> Held {
    let held = world.take(id);
    world.say(&held, LeaseEvent::Result(work(&format!("{id} {}", held.attempt.number))));
    let finding = Finding {
        rule: Rule::TestSkipped,
        path: b"tests/a.rs".to_vec(),
        line: Some(7),
        text: "is skipped".to_owned(),
    };
    let summary = finding.to_string();
    let refutation = Refutation {
        by: Refuter::Gate,
        defect: Defect { findings: vec![summary.clone()], summary, work: None },
        out_of_scope: vec![finding],
    };
    let fact = ItemFact::Refuted(Box::new(refutation));
    let fact = Fact::Item(world.place(id), fact);
    let record = Record { at: world.now, run: run_id("run"), fact };
    world.core.apply(&record).unwrap();
    world.journal.push(record);
    // What follows from it is asked for as after any other event.
    let step = world.core.resume(world.now);
    world.journal.extend(step.records);
    world.actions.extend(step.actions);
    held
}

fn merges(world: &World) -> usize {
    world.actions.iter().filter(|action| matches!(action, Action::Merge(_))).count()
}

#[test]
fn what_is_let_through_is_verified_and_lands() {
    let mut world = World::of("a");
    keep_out(&mut world, "a");
    assert_eq!(world.state("a"), "Queued", "a repair is offered meanwhile");
    assert_eq!(approve(&mut world, "a", "kim"), 2, "approved, and its merge began");
    let withdrawn =
        |action: &Action| matches!(action, Action::Withdraw { number, .. } if number.0 == 2);
    assert!(world.actions.iter().any(withdrawn), "the repair is off the bus");
    assert_eq!((world.state("a").as_str(), merges(&world)), ("Merging", 1));
    world.restart();
    assert_eq!((world.state("a").as_str(), merges(&world)), ("Merging", 1));
    world.merge("a", "t", "start");
    world.verify("a", Ending::Exit(0));
    world.land("a");
    assert_eq!(world.run_state(), RunState::Completed);
    assert_eq!(world.item("a").approval(world.item("a").work().unwrap().0), Some("kim"));
    assert_eq!(approve(&mut world, "a", "kim"), 0);
    assert_eq!(refused(&world), "attempt 1 of item a of run run was let through by kim already");
}

#[test]
fn what_is_let_through_still_needs_its_evidence() {
    let mut world = World::of("a");
    keep_out(&mut world, "a");
    approve(&mut world, "a", "kim");
    world.merge("a", "t", "start");
    world.verify("a", Ending::Exit(1));
    let repair = world.published("a").last().unwrap().work.clone();
    assert!(matches!(repair, Work::Repair(_)), "{repair:?}");
    assert_eq!(approve(&mut world, "a", "kim"), 0, "a verdict is not let through");
}

#[test]
fn a_running_repair_gives_way_and_its_late_work_is_kept() {
    let mut world = World::of("a");
    keep_out(&mut world, "a");
    let repair = world.take("a");
    approve(&mut world, "a", "kim");
    assert_eq!(world.state("a"), "Merging");
    assert!(matches!(world.beat(&repair), cantus_proto::message::HeartbeatReply::Stop(_)));
    world.say(&repair, LeaseEvent::Result(work("late")));
    assert_eq!((world.state("a").as_str(), world.item("a").saved.len()), ("Merging", 1));
}

#[test]
fn a_parked_item_and_what_it_blocks_go_on() {
    let mut world = World::of("a, b: a");
    keep_out(&mut world, "a");
    while world.state("a") != "Parked" {
        let held = world.take("a");
        world.say(&held, failed("it does not compile"));
    }
    assert_eq!(world.states(), "a Parked, b Blocked");
    assert!(approve(&mut world, "a", "kim") > 0, "{}", refused(&world));
    assert_eq!(world.states(), "a Merging, b Waiting");
    world.merge("a", "t", "start");
    world.restart();
    assert_eq!(world.state("a"), "VerifyQueued", "old failures do not park it again");
}

#[test]
fn what_nobody_kept_out_is_not_let_through() {
    let mut world = World::of("a");
    for (id, by, said) in [
        ("nobody", "kim", "there is no item nobody in a run run"),
        ("a", " ", "the name of who approves is empty"),
        ("a", &"k".repeat(201), "the name of who approves has 201 bytes, 200 are allowed"),
        (
            "a",
            "kim",
            "no gate keeps the newest result of item a of run run out; there is nothing to let through",
        ),
    ] {
        assert_eq!(approve(&mut world, id, by), 0);
        assert_eq!(refused(&world), said);
    }
    keep_out(&mut world, "a");
    world.cancel("a");
    assert_eq!(approve(&mut world, "a", "kim"), 0);
    assert_eq!(refused(&world), "item a of run run is cancelled: nothing is let through now");
}

/// Verifications that decide nothing, until the item is parked.
fn undecided(world: &mut World, id: &str) {
    while world.state(id) != "Parked" {
        let held = world.take(id);
        world.say(&held, LeaseEvent::Evidence(held.evidence(&[])));
    }
}

#[test]
fn each_hypothesis_buys_one_more_check_b5() {
    let mut world = World::of("a");
    world.offer("a");
    undecided(&mut world, "a");
    assert_eq!(world.item("a").checks_in_vain(), 2);
    for (checks, hypothesis) in [(3, "the disk was full"), (4, "the port was taken")] {
        assert!(recheck(&mut world, "a", hypothesis) > 0, "{}", refused(&world));
        assert_eq!(world.state("a"), "Merging");
        world.merge("a", "a", "start");
        world.restart();
        assert_eq!(world.state("a"), "VerifyQueued");
        let held = world.take("a");
        world.say(&held, LeaseEvent::Evidence(held.evidence(&[])));
        assert_eq!(world.item("a").checks_in_vain(), checks);
        let State::Parked(why) = &world.item("a").state else { panic!("{}", world.state("a")) };
        assert!(why.starts_with(&format!("{checks} verifications decided nothing")), "{why}");
    }
    recheck(&mut world, "a", "the clock was wrong");
    world.merge("a", "a", "start");
    world.verify("a", Ending::Exit(0));
    world.land("a");
    assert_eq!(world.state("a"), "Landed");
    let told = &world.item("a").remarks.as_ref().unwrap().hypotheses;
    assert_eq!(told.len(), 3);
    assert_eq!((told[1].0.0, told[1].1.as_str()), (1, "the port was taken"));
}

#[test]
fn a_check_that_nobody_took_may_be_tried_again() {
    let mut world = World::of("a");
    world.offer("a");
    let wait = world.core.settings().queue_wait_ms;
    world.advance(wait + 1);
    assert_eq!(world.state("a"), "Parked");
    assert!(recheck(&mut world, "a", "there is a verifier now") > 0, "{}", refused(&world));
    world.merge("a", "a", "start");
    world.restart();
    assert_eq!(world.state("a"), "VerifyQueued", "it waits anew");
    world.advance(wait + 1);
    assert_eq!(world.state("a"), "Parked", "and not for ever");
}

#[test]
fn what_was_decided_is_not_checked_again() {
    let mut world = World::of("a, b");
    world.exhaust("a");
    world.offer("b");
    world.take("b");
    for (id, hypothesis, said) in [
        (
            "a",
            "luck",
            "item a of run run is parked for another reason than checks that decided nothing: put it back with requeue",
        ),
        ("b", "luck", "item b of run run is verifying; only what is parked is checked again"),
        ("d", "luck", "there is no item d in a run run"),
    ] {
        assert_eq!(recheck(&mut world, id, hypothesis), 0);
        assert_eq!(refused(&world), said);
    }
}

#[test]
fn a_hypothesis_says_something_new() {
    let mut world = World::of("a");
    world.offer("a");
    let undecided = |world: &mut World| {
        let check = world.take("a");
        world.say(&check, LeaseEvent::Evidence(check.evidence(&[])));
    };
    undecided(&mut world);
    undecided(&mut world);
    assert_eq!(recheck(&mut world, "a", "\n"), 0);
    assert!(refused(&world).starts_with("the hypothesis is empty"));
    assert_eq!(recheck(&mut world, "a", &"x".repeat(2_001)), 0);
    assert!(refused(&world).starts_with("the hypothesis has 2001 bytes, the limit is 2000"));
    assert!(recheck(&mut world, "a", "a slow disk") > 0);
    world.merge("a", "a", "start");
    undecided(&mut world);
    assert_eq!(recheck(&mut world, "a", " A slow  DISK "), 0);
    assert!(refused(&world).starts_with("the hypothesis was tested already"));
}
