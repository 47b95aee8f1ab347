//! Whatever comes twice, late or in another order decides nothing anew.

use std::collections::VecDeque;

use cantus_proto::evidence::Ending;
use cantus_proto::message::LeaseEvent;

use super::super::event::{Event, Inspection};
use super::super::record::Fact;
use super::super::run::RunState;
use super::super::{Core, Settings};
use super::random::Random;
use super::world::{LEASE_MS, START, World, failed, plan, settings, work};

/// A run with something of everything in it: repairs, a conflict, losses, a head that moves, an end that is
/// bad for one and good for the others.
fn eventful() -> World {
    let mut world =
        World::of("repaired, conflicting, moved: repaired, poison, waits: poison, gone, late");
    world.offer("repaired");
    world.verify("repaired", Ending::Exit(1));
    world.complete("repaired");
    world.produce("conflicting");
    world.conflict("conflicting", "other", &["src/file"]);
    world.complete("conflicting");
    world.offer("moved");
    world.verify("moved", Ending::TimedOut);
    world.verify("moved", Ending::Exit(0));
    world.moved("moved", "head");
    world.merge("moved", "another", "head");
    world.verify("moved", Ending::Exit(0));
    world.land("moved");
    world.exhaust("poison");
    world.requeue("poison");
    world.exhaust("poison");
    world.take("gone");
    world.cancel("gone");
    let late = world.take("late");
    world.advance(LEASE_MS);
    let superseded = world.take("late");
    world.complete("late");
    for held in [late, superseded] {
        world.say(&held, LeaseEvent::Result(work(held.lease.as_str())));
    }
    assert_eq!(
        world.states(),
        "repaired Landed, conflicting Landed, moved Landed, poison Parked, waits Blocked, gone Cancelled, \
         late Landed"
    );
    assert_eq!((world.run_state(), world.item("late").saved.len()), (RunState::Failed, 2));
    world
}

#[test]
fn an_event_that_comes_twice_decides_once() {
    let world = eventful();
    let mut core = Core::new(settings());
    for (at, event) in &world.events {
        let _ = core.step(*at, event.clone());
        let again = core.step(*at, event.clone());
        assert!(again.records.is_empty() && again.actions.is_empty(), "{event:?}: {again:?}");
        assert_eq!(core.check(), Vec::<String>::new());
    }
    assert_eq!(core.difference(&world.core), None);
}

#[test]
fn a_fact_that_comes_twice_is_refused_because_no_table_has_it() {
    let world = eventful();
    let mut core = Core::new(settings());
    for record in &world.journal {
        core.apply(record).unwrap();
        let moves = match &record.fact {
            Fact::Submitted(_) => true,
            Fact::RunCancelled | Fact::RunWarned(_) => false,
            Fact::Item(_, fact) => fact.moves(),
        };
        if moves {
            let before = core.runs().clone();
            let error = core.apply(record).unwrap_err();
            assert!(error.to_string().contains("does not follow"), "{error}");
            assert!(*core.runs() == before, "{error}");
            assert_eq!(core.check(), Vec::<String>::new());
        }
    }
}

#[test]
fn everything_once_more_in_any_order_changes_nothing() {
    let mut world = eventful();
    let mut events: Vec<Event> = world.events.iter().map(|(_, event)| event.clone()).collect();
    // A person may put the parked item back as often as they like.
    events.retain(|event| !matches!(event, Event::Requeued(..)));
    let before = world.journal.len();
    for seed in 0..20 {
        let mut random = Random(seed);
        for place in (1..events.len()).rev() {
            events.swap(place, random.place(place + 1));
        }
        for event in &events {
            assert_eq!(world.step(event.clone()), 0, "seed {seed}: {event:?}");
        }
    }
    assert_eq!(world.journal.len(), before);
}

#[test]
fn what_does_not_count_is_told() {
    let mut world = eventful();
    let events: Vec<Event> = world.events.iter().map(|(_, event)| event.clone()).collect();
    for event in events {
        let refused = world.refused.len();
        let silent = matches!(event, Event::Woken | Event::Requeued(..));
        world.step(event.clone());
        assert!(silent || world.refused.len() > refused, "{event:?}");
    }
}

#[test]
fn an_answer_about_earlier_work_is_not_about_the_present_one() {
    let mut world = World::of("a");
    let held = world.take("a");
    world.say(&held, LeaseEvent::Result(work("first")));
    let first = world.effect("a");
    world.inspect("a", &["elsewhere"]);
    let held = world.take("a");
    world.say(&held, LeaseEvent::Result(work("second")));
    assert_eq!(world.state("a"), "Gating");
    let passed = Event::Inspected(first.clone(), Inspection::Read(vec![]));
    let gone = Event::EffectFailed(first, "no space left on device".to_owned());
    for late in [passed, gone] {
        assert_eq!(world.step(late), 0);
        assert!(
            world.refused.last().unwrap().contains("nothing waits for this answer about attempt 1")
        );
    }
}

/// Three items that have nothing to do with each other, and the events of each.
fn independent() -> (World, [VecDeque<Event>; 3]) {
    let settings = Settings { verify_ahead: 100, ..settings() };
    let mut world = World::with(settings, plan("a, b, c"));
    let mut events = [const { VecDeque::new() }; 3];
    for (id, events) in ["a", "b", "c"].into_iter().zip(&mut events) {
        let before = world.events.len();
        match id {
            "a" => world.complete(id),
            "b" => {
                world.offer(id);
                world.verify(id, Ending::Exit(1));
                world.produce(id);
                world.conflict(id, "other", &["src/file"]);
                world.complete(id);
            }
            _ => {
                world.take(id);
                let held = world.take(id);
                world.say(&held, failed("no idea"));
                world.exhaust(id);
            }
        }
        events.extend(world.events[before..].iter().map(|(_, event)| event.clone()));
    }
    (world, events)
}

#[test]
fn the_order_of_what_is_independent_does_not_matter() {
    let (expected, events) = independent();
    for seed in 0..50 {
        let mut random = Random(seed);
        let mut world = World::with(expected.core.settings().clone(), plan("a, b, c"));
        let mut left = events.clone();
        while left.iter().any(|events| !events.is_empty()) {
            if let Some(event) = left[random.place(3)].pop_front() {
                world.step(event.clone());
                if random.chance(30) {
                    assert_eq!(world.step(event), 0);
                }
            }
        }
        assert_eq!(world.states(), expected.states(), "seed {seed}");
        for id in ["a", "b", "c"] {
            assert_eq!(world.outcomes(id), expected.outcomes(id), "seed {seed}");
            assert_eq!(world.item(id).work(), expected.item(id).work(), "seed {seed}");
        }
        assert_eq!((world.now, world.run_state()), (START, expected.run_state()));
    }
}
