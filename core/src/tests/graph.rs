//! What one item means for its neighbours: parked, blocked, put back.

use cantus_proto::evidence::Ending;

use super::super::event::Event;
use super::super::item::State;
use super::super::run::RunState;
use super::world::{World, item_id, plan, run_id, submission};

fn blocked_by(world: &World, id: &str) -> String {
    match &world.item(id).state {
        State::Blocked(cause) => world.run().item(*cause).id.to_string(),
        other => panic!("{id} is {}", other.name()),
    }
}

#[test]
fn what_fails_every_attempt_is_parked_once_and_can_be_put_back_q10() {
    let mut world = World::of("a");
    world.exhaust("a");
    let parked = world.parked();
    assert_eq!(parked.len(), 1);
    assert_eq!(
        parked[0].attempts,
        [
            "1 Produce: failed: it does not compile",
            "2 Produce: failed: it does not compile",
            "3 Produce: failed: it does not compile"
        ]
    );
    assert_eq!(parked[0].reason, "3 of 3 tries are used up; the last: failed: it does not compile");
    assert_eq!(world.run_state(), RunState::Failed);
    world.requeue("a");
    assert_eq!((world.run_state(), world.item("a").tries()), (RunState::Running, 1));
    // All three tries are there again; the numbers go on.
    assert_eq!(world.published("a").last().unwrap().number.0, 4);
    world.exhaust("a");
    assert_eq!(world.parked().len(), 2);
    assert_eq!(world.parked()[1].attempts.len(), 6);
    world.requeue("a");
    world.complete("a");
    assert_eq!(world.run_state(), RunState::Completed);
}

#[test]
fn a_parked_item_blocks_all_behind_it_and_the_run_ends_q26() {
    let mut world = World::of("a, b: a, c: b, d: c a, free");
    world.complete("free");
    world.exhaust("a");
    assert_eq!(world.states(), "a Parked, b Blocked, c Blocked, d Blocked, free Landed");
    for id in ["b", "c", "d"] {
        assert_eq!(blocked_by(&world, id), "a");
    }
    assert_eq!((world.run_state(), world.run().ended), (RunState::Failed, Some(world.now)));
    world.requeue("a");
    assert_eq!(world.states(), "a Queued, b Waiting, c Waiting, d Waiting, free Landed");
    assert_eq!((world.run_state(), world.run().ended), (RunState::Running, None));
    for id in ["a", "b", "c", "d"] {
        world.complete(id);
    }
    assert_eq!(world.run_state(), RunState::Completed);
}

#[test]
fn a_diamond_with_two_causes_needs_both_back() {
    for (first, second) in [("b", "c"), ("c", "b")] {
        let mut world = World::of("a, b: a, c: a, d: b c, e: d");
        world.complete("a");
        world.exhaust("b");
        world.exhaust("c");
        assert_eq!((blocked_by(&world, "d"), blocked_by(&world, "e")), ("b".into(), "b".into()));
        world.requeue(first);
        assert_eq!(world.run_state(), RunState::Running);
        assert_eq!(
            (blocked_by(&world, "d"), blocked_by(&world, "e")),
            (second.into(), second.into())
        );
        world.requeue(second);
        assert_eq!((world.state("d"), world.state("e")), ("Waiting".into(), "Waiting".into()));
        for id in ["b", "c", "d", "e"] {
            world.complete(id);
        }
    }
}

#[test]
fn what_is_blocked_twice_over_stays_blocked_whatever_the_plans_order() {
    // `e` stands before `d`, through which its second cause comes.
    let mut world = World::of("e: d b, d: b c, b, c");
    world.exhaust("b");
    world.exhaust("c");
    world.requeue("b");
    assert_eq!((blocked_by(&world, "d"), blocked_by(&world, "e")), ("c".into(), "c".into()));
    world.complete("b");
    assert_eq!(world.run_state(), RunState::Failed, "nothing is left that could go on");
    world.requeue("c");
    for id in ["c", "d", "e"] {
        world.complete(id);
    }
    assert_eq!(world.run_state(), RunState::Completed);
}

#[test]
fn an_item_that_is_cancelled_while_blocked_blocks_by_itself_later() {
    let mut world = World::of("a, b: a, c: b");
    world.exhaust("a");
    world.cancel("b");
    assert_eq!(world.states(), "a Parked, b Cancelled, c Blocked");
    assert_eq!(blocked_by(&world, "c"), "a");
    world.requeue("a");
    assert_eq!(world.states(), "a Queued, b Cancelled, c Blocked");
    assert_eq!(blocked_by(&world, "c"), "b");
    world.complete("a");
    world.requeue("b");
    assert_eq!(world.states(), "a Landed, b Queued, c Waiting");
}

#[test]
fn an_item_is_blocked_also_when_its_other_needs_land_later() {
    let mut world = World::of("a, b, c: a b");
    world.exhaust("a");
    world.complete("b");
    assert_eq!(world.states(), "a Parked, b Landed, c Blocked");
    world.requeue("a");
    assert_eq!(world.item("c").state, State::Waiting(1));
    world.complete("a");
    assert_eq!(world.state("c"), "Queued");
}

#[test]
fn only_what_is_parked_or_cancelled_and_has_its_needs_is_put_back() {
    let mut world = World::of("a, b: a, c");
    world.complete("c");
    for id in ["a", "b", "c", "nobody"] {
        let refused = world.refused.len();
        world.requeue(id);
        assert!(world.refused[refused].contains(&format!("item {id} of run run is not parked")));
    }
    world.step(Event::Requeued(run_id("nowhere"), item_id("a")));
    world.step(Event::Cancelled(run_id("run"), None));
    world.requeue("b");
    assert_eq!(world.states(), "a Cancelled, b Cancelled, c Landed");
    world.requeue("a");
    assert_eq!(world.states(), "a Queued, b Cancelled, c Landed");
    world.complete("a");
    world.requeue("b");
    world.complete("b");
    assert_eq!(world.run_state(), RunState::Completed);
}

#[test]
fn runs_do_not_touch_each_other() {
    let mut world = World::of("a, b: a");
    world.step(submission("other", plan("a, b: a")));
    world.exhaust_other();
    assert_eq!(world.states(), "a Queued, b Waiting");
    assert_eq!(world.core.runs()[&run_id("other")].state(), RunState::Failed);
    // Its evidence is not this run's, either.
    world.actions.retain(|action| {
        !matches!(action, super::super::event::Action::Publish(attempt) if attempt.run == run_id("other"))
    });
    world.complete("a");
    world.offer("b");
    world.verify("b", Ending::Exit(0));
}

impl World {
    /// Fails item `a` of run `other` until it is parked.
    fn exhaust_other(&mut self) {
        for _ in 0..3 {
            let held = self.pull("a");
            assert_eq!(held.attempt.run, run_id("other"));
            self.step(held.leased());
            self.say(&held, super::world::failed("no"));
        }
    }
}
