//! Cancelling in every state (Q29): it holds, the worker is told, and a late result never lands.

use cantus_proto::evidence::Ending;
use cantus_proto::message::{HeartbeatReply, LeaseEvent};

use super::super::event::{Action, Event, LandingTry, Merge};
use super::super::item::State;
use super::super::run::RunState;
use super::world::{Held, World, candidate, commit, digest, run_id, work};

/// Brings the first item so far, and says who holds it then.
type Begin = fn(&mut World) -> Option<Held>;

const BEFORE_LANDING: [(&str, Begin); 9] = [
    ("Queued", |_| None),
    ("Working", |world| Some(world.take("a"))),
    ("Gating", |world| {
        let held = world.take("a");
        world.say(&held, LeaseEvent::Result(work("w")));
        Some(held)
    }),
    ("Gated", |world| {
        for id in ["x", "y", "a"] {
            world.produce(id);
        }
        None
    }),
    ("Merging", |world| Some(world.produce("a"))),
    ("VerifyQueued", |world| {
        world.offer("a");
        None
    }),
    ("Verifying", |world| {
        world.offer("a");
        Some(world.take("a"))
    }),
    ("Parked", |world| {
        world.exhaust("a");
        None
    }),
    ("Queued", |world| {
        // On its way through the bus when it is cancelled.
        Some(world.pull("a"))
    }),
];

fn withdrawn(world: &World) -> usize {
    world.actions.iter().filter(|action| matches!(action, Action::Withdraw { .. })).count()
}

#[test]
fn before_its_landing_an_item_is_cancelled_for_good() {
    for (state, begin) in BEFORE_LANDING {
        let mut world = World::of("a, b: a, x, y");
        let held = begin(&mut world);
        assert_eq!(world.state("a"), state);
        let effect = world.effect("a");
        world.cancel("a");
        assert_eq!((world.state("a"), world.state("b")), ("Cancelled".into(), "Blocked".into()));
        assert_eq!(withdrawn(&world), usize::from(state.ends_with("Queued")), "{state}");
        world.restart();
        assert_eq!(world.state("a"), "Cancelled");
        if let Some(held) = held {
            let HeartbeatReply::Stop(why) = world.beat(&held) else {
                panic!("{state}: it goes on")
            };
            assert!(why.ends_with("the item is cancelled"), "{why}");
            world.step(held.leased());
            world.say(&held, LeaseEvent::Result(work("late")));
            if state == "Verifying" {
                world.say(&held, LeaseEvent::Evidence(held.checked(Ending::Exit(0))));
            }
        }
        let answers = [
            Event::Inspected(effect.clone(), super::super::event::Inspection::Read(vec![])),
            Event::Merged(effect.clone(), Merge::Clean(candidate("t", "start"))),
            Event::LandingTried(effect.clone(), LandingTry::Moved { head: commit("moved") }),
            Event::EffectFailed(effect, "late".to_owned()),
        ];
        for answer in answers {
            assert_eq!(world.step(answer), 0, "{state}");
        }
        assert_eq!(world.state("a"), "Cancelled");
        assert!(!world.actions.iter().any(|action| matches!(action, Action::Land(_))), "{state}");
    }
}

#[test]
fn a_cancelled_item_can_be_put_back() {
    let mut world = World::of("a, b: a");
    let held = world.take("a");
    world.cancel("a");
    world.requeue("a");
    assert_eq!(world.states(), "a Queued, b Waiting");
    world.say(&held, LeaseEvent::Result(work("late")));
    world.complete("a");
    world.complete("b");
    assert_eq!(world.run_state(), RunState::Completed);
    assert_eq!(world.item("a").saved.len(), 1);
}

/// The item is landing, and somebody cancels it.
fn cancelled_in_landing() -> World {
    let mut world = World::of("a, b: a");
    world.offer("a");
    world.verify("a", Ending::Exit(0));
    world.cancel("a");
    assert_eq!(world.states(), "a Landing, b Waiting");
    // The wish outlives the coordinator, and once is enough.
    world.restart();
    world.cancel("a");
    assert!(world.refused.last().unwrap().contains("is landing and not to be cancelled"));
    world
}

#[test]
fn a_landing_under_way_is_not_taken_back_and_told_as_it_is() {
    let mut world = cancelled_in_landing();
    world.land("a");
    assert_eq!(world.states(), "a Landed, b Queued");
}

#[test]
fn a_landing_that_does_not_come_about_is_cancelled() {
    let mut world = cancelled_in_landing();
    world.moved("a", "moved");
    assert_eq!(world.states(), "a Cancelled, b Blocked");
    let mut world = cancelled_in_landing();
    world.step(Event::EffectFailed(world.effect("a"), "upstream is away".to_owned()));
    assert_eq!(world.states(), "a Cancelled, b Blocked");
    assert!(world.parked().is_empty());
    world.requeue("a");
    world.complete("a");
}

#[test]
fn a_whole_run_is_cancelled_with_all_that_is_open() {
    let mut world = World::of("done, lost, landing, working, queued, late: working, never: lost");
    world.complete("done");
    world.exhaust("lost");
    world.offer("landing");
    world.verify("landing", Ending::Exit(0));
    let held = world.take("working");
    world.step(Event::Cancelled(run_id("run"), None));
    assert_eq!(
        world.states(),
        "done Landed, lost Parked, landing Landing, working Cancelled, queued Cancelled, \
         late Cancelled, never Blocked"
    );
    assert!(matches!(world.beat(&held), HeartbeatReply::Stop(_)));
    assert_eq!(world.run_state(), RunState::Running, "until it is known what landed");
    // Once more is not more: a wish stays a wish.
    assert_eq!(world.step(Event::Cancelled(run_id("run"), None)), 0);
    assert_eq!(world.state("landing"), "Landing");
    world.restart();
    world.moved("landing", "moved");
    assert_eq!((world.state("landing"), world.run_state()), ("Cancelled".into(), RunState::Failed));
    // Nothing is open any more.
    assert_eq!(world.step(Event::Cancelled(run_id("run"), None)), 0);
    assert_eq!(world.step(Event::Cancelled(run_id("nowhere"), None)), 0);
    assert!(world.refused.last().unwrap().contains("nothing open to cancel"));
}

#[test]
fn without_any_worker_a_run_can_be_cancelled() {
    let mut world = World::of("a, b: a");
    world.step(Event::Cancelled(run_id("run"), None));
    assert_eq!((world.run_state(), withdrawn(&world)), (RunState::Cancelled, 1));
    assert_eq!(world.core.wake_at(), None);
}

#[test]
fn what_has_ended_well_is_not_cancelled() {
    let mut world = World::of("a, b: a");
    world.complete("a");
    for id in ["a", "nobody"] {
        world.cancel(id);
    }
    assert!(world.refused[0].contains("item a of run run is landed and not to be cancelled"));
    assert!(world.refused[1].contains("there is no item nobody"));
    assert_eq!(world.states(), "a Landed, b Queued");
    let State::Landed(landed) = &world.item("a").state else { panic!() };
    assert_eq!(landed.evidence, digest("a"));
}
