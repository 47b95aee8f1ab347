//! Rules at work in the core: demands, breakers, wishes, splits, learnings, and what a poison item costs others.

use cantus_proto::evidence::Ending;
use cantus_proto::ids::{CriterionId, LearningId};
use cantus_proto::message::{
    Diagnosis, Failed, FailureKind, HeartbeatReply, Learning, LearningCheck, LeaseEvent, Part,
    Proposal, Pulse, Remedy, Usage, WorkResult,
};
use cantus_proto::plan::Effort;

use super::super::Settings;
use super::super::item::State;
use super::super::record::{Breaker, Decision, DemandKind};
use super::super::rules::{Routing, Rules};
use super::world::{Held, World, item_id, plan, settings, work};

const WINDOW_MS: u64 = 120_000;

fn nothing() -> Pulse {
    Pulse { usage: Some(Usage::default()), ..Pulse::default() }
}

fn changed(fingerprint: &str) -> Pulse {
    Pulse {
        changed: vec![b"src/file".to_vec()],
        changed_count: 1,
        fingerprint: fingerprint.to_owned(),
        ..nothing()
    }
}

/// Beats every ten seconds with the same pulse until something is answered that was not before.
fn beat_until(world: &mut World, held: &Held, pulse: &Pulse, most_ms: u64) -> HeartbeatReply {
    let first = world.beat_with(held, pulse.clone());
    for _ in 0..most_ms / 10_000 {
        world.advance(10_000);
        let reply = world.beat_with(held, pulse.clone());
        if reply != first {
            return reply;
        }
    }
    first
}

fn kinds(world: &World, id: &str) -> Vec<DemandKind> {
    let last = world.item(id).attempts.last().unwrap();
    last.demands().iter().map(|(_, demand)| demand.kind).collect()
}

#[test]
fn who_shows_nothing_is_asked_then_ended_b4() {
    let mut world = World::of("a");
    let held = world.take("a");
    let HeartbeatReply::GoOn(asked) = beat_until(&mut world, &held, &nothing(), 300_000) else {
        panic!("it is asked first")
    };
    assert_eq!(kinds(&world, "a")[0], DemandKind::FirstArtifact, "{asked:?}");
    let HeartbeatReply::Stop(why) = beat_until(&mut world, &held, &nothing(), 300_000) else {
        panic!("it ends")
    };
    assert!(why.contains("stalled"), "{why}");
    assert_eq!(world.outcomes("a")[0].split(':').next(), Some("stalled"));
    assert_eq!(world.state("a"), "Queued", "another worker tries");
}

#[test]
fn an_artifact_in_time_is_all_that_is_asked_b4() {
    let mut world = World::of("a");
    let held = world.take("a");
    beat_until(&mut world, &held, &nothing(), 300_000);
    world.advance(10_000);
    assert!(matches!(world.beat_with(&held, changed("1")), HeartbeatReply::GoOn(_)));
    assert_eq!(world.state("a"), "Working");
}

#[test]
fn windows_without_progress_change_the_approach_b8() {
    let mut world = World::of("a");
    let held = world.take("a");
    let still = changed("1");
    let mut asked = vec![];
    for _ in 0..45 {
        if let HeartbeatReply::Stop(_) = world.beat_with(&held, still.clone()) {
            break;
        }
        asked = kinds(&world, "a");
        world.advance(10_000);
    }
    assert!(asked.contains(&DemandKind::NewApproach), "{asked:?} in windows of {WINDOW_MS} ms");
}

#[test]
fn a_blocker_is_a_persons_to_decide_b8() {
    let mut world = World::of("a");
    let held = world.take("a");
    let blocked = Pulse { blocker: Some("the licence server".to_owned()), ..changed("1") };
    beat_until(&mut world, &held, &blocked, 400_000);
    assert_eq!(world.state("a"), "Parked");
    assert_eq!(world.parked()[0].reason, "its agent is blocked: the licence server");
}

fn diagnosed(remedy: Remedy) -> LeaseEvent {
    let diagnosis = Diagnosis { reason: "too much at once".to_owned(), remedy };
    LeaseEvent::Failed(Failed {
        usage: Some(Usage::default()),
        proposals: vec![Proposal::Diagnosis(diagnosis)],
        ..Failed::new(FailureKind::Agent, "no")
    })
}

fn part(id: &str, needs: &[&str]) -> Part {
    Part {
        id: item_id(id),
        goal: format!("half of it, {id}"),
        deliverables: vec!["src/file".to_owned()],
        criteria: vec![CriterionId::new("AC-01").unwrap()],
        paths: vec!["src/".to_owned()],
        needs: needs.iter().map(|need| item_id(need)).collect(),
    }
}

/// Two failures, the second with a diagnosis.
fn fail_twice(world: &mut World, id: &str, remedy: Remedy) {
    let held = world.take(id);
    world.say(&held, diagnosed(Remedy::Retry));
    let held = world.take(id);
    world.say(&held, diagnosed(remedy));
}

#[test]
fn a_split_is_done_in_parts_and_the_whole_decides_e8() {
    let mut world = World::of("a, z: a");
    fail_twice(&mut world, "a", Remedy::Split(vec![part("a1", &[]), part("a2", &["a1"])]));
    assert_eq!(world.states(), "a Waiting, z Waiting, a1 Queued, a2 Waiting");
    let given: Vec<_> = ["a1", "a2"]
        .iter()
        .map(|id| world.item(id).contract.budgets.token_budget.unwrap())
        .collect();
    assert_eq!(given, [250, 250], "shares of what was left, one is kept");
    world.complete("a1");
    world.complete("a2");
    assert_eq!(world.state("a"), "Queued", "the whole is tried again");
    assert_eq!(world.published("a").last().unwrap().limits.tokens_max, Some(250));
    world.complete("a");
    world.complete("z");
    assert_eq!(world.states(), "a Landed, z Landed, a1 Landed, a2 Landed");
    let before = world.item("a").clone();
    world.restart();
    assert_eq!(world.item("a").state, before.state);
}

#[test]
fn a_split_into_a_cycle_is_refused_and_the_item_goes_on_e8() {
    let mut world = World::of("a");
    fail_twice(&mut world, "a", Remedy::Split(vec![part("a1", &["a2"]), part("a2", &["a1"])]));
    let proposals = world.item("a").attempts[1].proposals();
    let Decision::Refused(why) = &proposals[0].1 else { panic!("{proposals:?}") };
    assert!(why.contains("a1 → a2 → a1"), "{why}");
    assert_eq!(world.state("a"), "Queued");
    let first = &world.item("a").attempts[0].proposals()[0].1;
    assert!(matches!(first, Decision::Refused(why) if why.contains("attempt 2")), "{first:?}");
}

#[test]
fn skip_parks_and_blocks_and_is_no_success_e8() {
    let mut world = World::of("a, b: a");
    fail_twice(&mut world, "a", Remedy::Skip);
    assert_eq!(world.states(), "a Parked, b Blocked");
    assert!(world.parked()[0].reason.starts_with("its agent asks for a person: too much"));
}

#[test]
fn failures_escalate_model_and_effort_e3() {
    let routing = Routing { fast: "fast".to_owned(), strong: "strong".to_owned() };
    let settings = Settings { rules: Rules { routing, ..Rules::default() }, ..settings() };
    let mut world = World::with(settings, plan("a"));
    let route = |world: &World| {
        let route = &world.published("a").last().unwrap().route;
        (route.model.clone(), route.effort)
    };
    assert_eq!(route(&world), ("fast".to_owned(), Effort::Medium));
    fail_twice(&mut world, "a", Remedy::Escalate);
    assert_eq!(route(&world), ("strong".to_owned(), Effort::High));
    let third = world.published("a").last().copied().unwrap();
    assert!(third.preamble.as_ref().is_some_and(|text| text.contains("attempt")), "{third:?}");
    assert_eq!(world.item("a").attempts[2].dispatch.breaker, Some(Breaker::Diagnosis));
}

#[test]
fn who_says_that_it_is_partial_does_not_land_e10() {
    let mut world = World::of("a");
    let held = world.take("a");
    let proposals = vec![Proposal::Partial("the parser is missing".to_owned())];
    world.say(&held, LeaseEvent::Result(WorkResult { proposals, ..work("a 1") }));
    world.inspect("a", &["src/file"]);
    assert_eq!(world.state("a"), "Queued", "it is repaired");
    let decision = &world.item("a").attempts[0].proposals()[0].1;
    assert_eq!(*decision, Decision::Confirmed, "the kernel says so too");
    let findings = &world.item("a").defect.as_ref().unwrap().findings;
    assert!(!findings.iter().any(|finding| finding.contains("parser")), "no word of its author");
}

#[test]
fn done_is_confirmed_by_the_verdict_alone_e10() {
    for (ending, confirmed) in [(Ending::Exit(0), true), (Ending::Exit(1), false)] {
        let mut world = World::of("a");
        let held = world.take("a");
        let proposals = vec![Proposal::Done, Proposal::Done];
        world.say(&held, LeaseEvent::Result(WorkResult { proposals, ..work("a 1") }));
        world.inspect("a", &["src/file"]);
        world.merge("a", "a", "start");
        assert_eq!(world.item("a").attempts[0].proposals()[0].1, Decision::Pending);
        world.verify("a", ending);
        let decision = &world.item("a").attempts[0].proposals()[0].1;
        assert_eq!(*decision == Decision::Confirmed, confirmed, "{decision:?}");
    }
}

fn learning(rule: &str) -> Learning {
    Learning {
        id: LearningId::of(rule),
        context: "tests".to_owned(),
        discovery: "found".to_owned(),
        rule: rule.to_owned(),
        check: Some("true".to_owned()),
    }
}

#[test]
fn what_one_learns_the_next_are_told_and_verifiers_look_for_e5() {
    let mut world = World::of("a, b: a");
    let held = world.take("a");
    let learnings = vec![learning("use make"), learning("Use  MAKE")];
    world.say(&held, LeaseEvent::Result(WorkResult { learnings, ..work("a 1") }));
    world.inspect("a", &["src/file"]);
    world.merge("a", "a", "start");
    world.verify("a", Ending::Exit(0));
    world.land("a");
    let told = world.take("b");
    assert_eq!(told.attempt.learnings, [learning("use make")]);
    world.say(&told, LeaseEvent::Result(work("b 1")));
    world.inspect("b", &["src/file"]);
    world.merge("b", "b", "start");
    let check = world.take("b");
    assert_eq!(check.attempt.learnings, [learning("use make")]);
    let mut evidence = check.checked(Ending::Exit(0));
    let unknown = LearningCheck { id: LearningId::of("never told"), applied: true };
    let applied = LearningCheck { id: LearningId::of("use make"), applied: true };
    evidence.learnings = vec![unknown, applied.clone()];
    world.say(&check, LeaseEvent::Evidence(evidence));
    let exchange = world.item("b").attempts[1].exchange.as_deref().unwrap();
    assert_eq!(exchange.checked, [applied], "only what it was told to look for");
}

#[test]
fn one_poison_item_in_five_is_ejected_once_and_the_others_land_g4_g6() {
    let mut world = World::of("a, b, poison, c, d, after: poison");
    for id in ["a", "b", "c", "d"] {
        world.complete(id);
    }
    for _ in 0..3 {
        world.offer("poison");
        world.verify("poison", Ending::Exit(1));
    }
    assert_eq!(
        world.states(),
        "a Landed, b Landed, poison Parked, c Landed, d Landed, after Blocked"
    );
    assert_eq!(world.parked().len(), 1, "the culprit, by name");
    assert_eq!(world.published("poison").len(), 6, "bounded runs");
    world.advance(24 * 3_600_000);
    assert_eq!(world.published("poison").len(), 6, "not queued again by itself");
    assert!(matches!(world.item("poison").state, State::Parked(_)));
}
