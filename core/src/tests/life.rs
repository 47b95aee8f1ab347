//! From a plan to landed work, and in which order.

use cantus_proto::evidence::Ending;
use cantus_proto::message::{LeaseEvent, Work};
use cantus_proto::plan::Complexity;

use super::super::event::{Action, Event};
use super::super::item::State;
use super::super::record::{Fact, ItemFact, Record};
use super::super::run::RunState;
use super::super::{Core, Settings};
use super::world::{START, World, commit, plan, role, settings, submission, tree, work};

#[test]
fn an_item_goes_from_the_plan_to_the_target() {
    let mut world = World::of("a");
    assert_eq!(world.states(), "a Queued");
    let attempt = world.published("a")[0];
    assert_eq!((attempt.number.0, attempt.role.clone()), (1, role("worker")));
    assert_eq!(attempt.work, Work::Produce);
    assert_eq!(attempt.base_min, commit("start"));

    let worker = world.take("a");
    assert_eq!(world.state("a"), "Working");
    world.say(&worker, LeaseEvent::Result(work("w")));
    assert_eq!(world.state("a"), "Gating");
    assert!(
        matches!(world.actions.last(), Some(Action::Inspect(inspect)) if inspect.head == commit("w"))
    );
    world.inspect("a", &["src/lib.rs"]);
    assert_eq!(world.state("a"), "Merging");
    assert!(
        matches!(world.actions.last(), Some(Action::Merge(merge)) if merge.head == commit("w"))
    );
    world.merge("a", "t", "start");

    let attempt = world.published("a")[1].clone();
    assert_eq!((attempt.number.0, attempt.role.clone()), (2, role("verifier")));
    assert_eq!(attempt.base_min, commit("start"));
    let Work::Verify(verification) = &attempt.work else { panic!("{:?}", attempt.work) };
    assert_eq!(verification.worker_excluded, Some(worker.container.clone()));
    let verifier = world.take("a");
    assert_eq!(world.state("a"), "Verifying");
    world.say(&verifier, LeaseEvent::Evidence(verifier.checked(Ending::Exit(0))));
    let Some(Action::Land(land)) = world.actions.last() else {
        panic!("{:?}", world.actions.last())
    };
    assert_eq!((&land.candidate.tree, land.envelopes.len()), (&tree("t"), 1));
    assert_eq!((land.head.clone(), land.at), (commit("w"), world.now));

    world.land("a");
    let State::Landed(landed) = &world.item("a").state else { panic!("{}", world.states()) };
    assert_eq!((&landed.commit, &landed.tree), (&commit("landed a"), &tree("t")));
    assert_eq!(world.run_state(), RunState::Completed);
    assert_eq!(world.run().ended, Some(world.now));
    assert_eq!(world.core.wake_at(), None);
    assert!(world.refused.is_empty(), "{:?}", world.refused);
}

#[test]
fn an_empty_plan_completes_at_once_q24() {
    let world = World::of("");
    assert_eq!((world.run_state(), world.run().ended), (RunState::Completed, Some(START)));
    assert!(world.actions.is_empty());
}

#[test]
fn needs_come_first_and_their_landing_is_in_the_base() {
    let mut world = World::of("a, b: a, c: a b");
    assert_eq!(world.states(), "a Queued, b Waiting, c Waiting");
    world.complete("a");
    assert_eq!(world.states(), "a Landed, b Queued, c Waiting");
    assert_eq!(world.published("b")[0].base_min, commit("landed a"));
    world.now = world.now.plus(1);
    world.complete("b");
    assert_eq!(world.published("c")[0].base_min, commit("landed b"));
    world.complete("c");
    assert_eq!(world.run_state(), RunState::Completed);
}

#[test]
fn a_run_without_a_repository_only_reports() {
    let mut world = World::empty(settings());
    let Event::Submitted(mut submission) = submission("run", plan("a, b: a")) else { panic!() };
    submission.repository = None;
    world.step(Event::Submitted(submission));
    let worker = world.take("a");
    world.say(&worker, LeaseEvent::Result(work("w")));
    assert_eq!(world.states(), "a Reported, b Queued");
    let worker = world.take("b");
    world.say(&worker, LeaseEvent::Result(work("w")));
    assert_eq!(world.run_state(), RunState::Completed);
}

#[test]
fn the_critical_path_goes_first_then_priority_then_the_id() {
    // Each of z, y, x has the longest chain behind it; urgent goes before its equals.
    let mut plan = plan("b, a, urgent, z, late: z, long");
    plan.items[2].priority = 5;
    plan.items[5].complexity = Complexity::Large;
    let world = World::with(settings(), plan);
    assert_eq!(world.order(), ["long", "z", "urgent", "a", "b"]);
}

#[test]
fn among_runs_the_order_is_total() {
    let mut world = World::empty(Settings { queue_window: 1, ..settings() });
    for name in ["two", "one"] {
        world.step(submission(name, plan("b, a")));
    }
    // What is on the bus stays there; of what waits the first is first.
    let mut seen = vec![];
    for _ in 0..4 {
        let Some(Action::Publish(attempt)) = world.actions.pop() else {
            panic!("nothing published")
        };
        seen.push(format!("{} {}", attempt.run, attempt.item));
        world.step(Event::Cancelled(attempt.run.clone(), Some(attempt.item.clone())));
    }
    assert_eq!(seen, ["two a", "one a", "one b", "two b"]);
}

#[test]
fn no_more_than_the_window_is_on_the_bus() {
    let mut world = World::with(Settings { queue_window: 2, ..settings() }, plan("a, b, c, d"));
    assert_eq!(world.order(), ["a", "b"]);
    let queue = |core: &Core| {
        let (_, queue) = core.roles().find(|(name, _)| **name == role("worker")).unwrap();
        (queue.ready_count(), queue.queued.len(), queue.leased)
    };
    assert_eq!(queue(&world.core), (2, 2, 0));
    world.take("b");
    assert_eq!(world.order(), ["a", "b", "c"]);
    assert_eq!(queue(&world.core), (1, 2, 1));
}

#[test]
fn no_more_than_so_many_verify_ahead() {
    let mut world = World::with(Settings { verify_ahead: 1, ..settings() }, plan("a, b, c"));
    for id in ["c", "b", "a"] {
        world.produce(id);
    }
    assert_eq!(world.states(), "a Gated, b Gated, c Merging");
    world.merge("c", "c", "start");
    world.verify("c", Ending::Exit(0));
    world.land("c");
    assert_eq!(world.states(), "a Merging, b Gated, c Landed");
    // A place is free again also when its holder is parked, cancelled or refuted.
    world.cancel("a");
    assert_eq!(world.states(), "a Cancelled, b Merging, c Landed");
}

#[test]
fn an_outrun_candidate_lands_before_anything_new_begins() {
    let mut world = World::with(Settings { verify_ahead: 2, ..settings() }, plan("a, b, c, d"));
    for id in ["a", "b", "c", "d"] {
        world.produce(id);
    }
    for id in ["a", "b"] {
        world.merge(id, id, "start");
        world.verify(id, Ending::Exit(0));
    }
    world.land("a");
    // Until b has tried to land, nobody knows that it was outrun: a place is free for c.
    assert_eq!(world.states(), "a Landed, b Landing, c Merging, d Gated");
    world.moved("b", "a landed");
    world.merge("c", "c", "a landed");
    world.verify("c", Ending::Exit(0));
    world.land("c");
    world.merge("b", "b again", "c landed");
    assert_eq!(world.states(), "a Landed, b VerifyQueued, c Landed, d Gated");
    world.verify("b", Ending::Exit(0));
    world.land("b");
    assert_eq!(world.states(), "a Landed, b Landed, c Landed, d Merging");
}

#[test]
fn a_run_of_that_name_is_refused() {
    let mut world = World::of("a");
    assert_eq!(world.step(submission("run", plan("b"))), 0);
    assert_eq!(world.refused, ["run run exists already"]);
    assert_eq!(world.states(), "a Queued");
}

#[test]
fn the_token_of_a_lease_is_the_place_of_its_record() {
    let mut world = World::of("a");
    world.take("a");
    let token = world.item("a").attempts[0].token;
    let leased = |record: &Record| matches!(&record.fact, Fact::Item(_, ItemFact::Leased(..)));
    let place = world.journal.iter().position(leased).unwrap();
    assert_eq!(token, place as u64 + 1);
    world.take("a");
    assert!(world.item("a").attempts[0].token > token);
}
