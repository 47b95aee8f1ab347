//! Events in, actions out: what a role decides, without a container.

use super::*;

const DIED: Exit = Exit { code: 127, out_of_memory: false };
const DONE: Exit = Exit { code: 0, out_of_memory: false };
const SECOND: Duration = Duration::from_secs(1);

fn slots(slots: u32, spares: u32) -> Slots {
    Slots::new(Target { slots, spares })
}

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// A role with all its members up at time zero.
fn warm(target_slots: u32, spares: u32) -> Slots {
    let mut slots = slots(target_slots, spares);
    let _ = slots.step(at(0), Event::Tick);
    for number in 1..=u64::from(target_slots + spares) {
        let _ = slots.step(at(0), Event::Launched(number));
    }
    slots
}

#[test]
fn slots_are_warm_before_they_are_needed() {
    let mut slots = slots(2, 1);
    assert_eq!(
        slots.step(at(0), Event::Tick),
        [Action::Launch(1), Action::Launch(2), Action::Launch(3)]
    );
    assert_eq!(slots.step(at(1), Event::Launched(2)), [Action::Open(2)]);
    assert_eq!(slots.step(at(1), Event::Launched(1)), [Action::Open(1)]);
    assert_eq!(slots.step(at(1), Event::Launched(3)), [], "no slot is free: it is held");
    assert_eq!((slots.open(), slots.held()), (2, 1));
    assert_eq!(slots.wake_at(), None, "nothing to do costs nothing");
}

#[test]
fn a_served_member_is_replaced_at_once_by_the_one_that_waited() {
    let mut slots = warm(2, 1);
    let actions = slots.step(at(9), Event::Exited(1, DONE));
    let clear = Action::Clear { number: 1, exit: Some(DONE), opened: true };
    assert_eq!(actions, [clear, Action::Open(3), Action::Launch(4)]);
    assert_eq!(slots.step(at(9), Event::Cleared(1)), []);
    assert_eq!(slots.step(at(9), Event::Launched(4)), []);
    assert_eq!((slots.open(), slots.held()), (2, 1));
}

#[test]
fn there_are_never_more_open_members_than_slots() {
    let mut slots = warm(3, 2);
    for next_exit in 1..=200 {
        let now = at(100 + next_exit * 10);
        for action in slots.step(now, Event::Exited(next_exit, DONE)) {
            if let Action::Launch(number) = action {
                let _ = slots.step(now, Event::Launched(number));
            }
        }
        let _ = slots.step(now, Event::Cleared(next_exit));
        assert_eq!((slots.open(), slots.held()), (3, 2), "after {next_exit}");
    }
    assert_eq!(slots.members.len(), 5, "nothing is kept of the ended ones");
}

#[test]
fn a_broken_image_is_tried_ever_more_slowly_and_one_at_a_time() {
    let mut slots = slots(4, 1);
    let mut now = Duration::ZERO;
    let mut launches = 0_u32;
    let mut complaints = 0;
    let mut queue = slots.step(now, Event::Tick);
    while now < Duration::from_secs(3_600) {
        let mut events = Vec::new();
        for action in queue.drain(..) {
            match action {
                Action::Launch(number) => {
                    launches += 1;
                    events.push(Event::LaunchFailed(number));
                }
                Action::Clear { number, .. } => events.push(Event::Cleared(number)),
                Action::Complain { .. } => complaints += 1,
                other => panic!("{other:?} of a broken image"),
            }
        }
        for event in events {
            queue.extend(slots.step(now, event));
        }
        if queue.is_empty() {
            now = slots.wake_at().expect("it is tried again");
            queue.extend(slots.step(now, Event::Tick));
        }
    }
    assert!((60..90).contains(&launches), "{launches} launches in an hour");
    assert!(complaints > 50);
    assert!(slots.members.len() <= 5);
}

#[test]
fn containers_that_die_at_once_back_off_and_one_that_works_resets_it() {
    let mut slots = warm(1, 0);
    let actions = slots.step(SECOND, Event::Exited(1, DIED));
    assert_eq!(actions, [Action::Clear { number: 1, exit: Some(DIED), opened: true }]);
    assert_eq!(slots.wake_at(), Some(SECOND + BACKOFF_FIRST));
    assert_eq!(slots.step(SECOND, Event::Tick), [], "not before its time");
    assert_eq!(slots.step(at(2), Event::Tick), [Action::Launch(2)]);
    assert_eq!(slots.step(at(3), Event::Launched(2)), [Action::Open(2)]);
    let actions = slots.step(at(60), Event::Exited(2, DONE));
    assert_eq!(actions.last(), Some(&Action::Launch(3)), "no pause after a lease that was served");
    assert_eq!(slots.failures, 0);
}

#[test]
fn a_kill_after_a_while_is_no_failure_of_the_image() {
    let mut slots = warm(1, 0);
    let killed = Exit { code: 137, out_of_memory: true };
    let actions = slots.step(at(30), Event::Exited(1, killed));
    assert_eq!(
        actions,
        [Action::Clear { number: 1, exit: Some(killed), opened: true }, Action::Launch(2)]
    );
}

#[test]
fn a_clean_end_without_a_lease_is_a_failure_too() {
    let mut slots = warm(1, 0);
    let _ = slots.step(Duration::from_millis(5), Event::Exited(1, DONE));
    assert_eq!(slots.failures, 1, "else it would be a hot loop");
}

#[test]
fn a_held_member_that_ends_may_not_have_had_a_lease() {
    let mut slots = warm(1, 1);
    let actions = slots.step(at(60), Event::Exited(2, DIED));
    assert_eq!(actions, [Action::Clear { number: 2, exit: Some(DIED), opened: false }]);
    assert_eq!(slots.failures, 1);
}

#[test]
fn draining_lets_leases_finish_up_to_the_limit() {
    let mut slots = warm(2, 1);
    let _ = slots.step(at(5), Event::Exited(1, DONE));
    let actions = slots.step(at(10), Event::Drain(at(100)));
    assert_eq!(actions, [Action::Terminate(2), Action::Terminate(3)]);
    assert_eq!(
        warm(1, 1).step(at(1), Event::Drain(at(1))),
        [Action::Terminate(1), Action::Kill(2)]
    );
    assert_eq!(slots.step(at(11), Event::Launched(4)), [Action::Kill(4)], "it came up too late");
    let ended = Exit { code: 137, out_of_memory: false };
    assert_eq!(
        slots.step(at(11), Event::Exited(4, ended)),
        [Action::Clear { number: 4, exit: Some(ended), opened: false }]
    );
    assert_eq!(
        slots.step(at(12), Event::Exited(3, DONE)),
        [Action::Clear { number: 3, exit: Some(DONE), opened: true }],
        "no replacement"
    );
    for number in [1, 3, 4] {
        let _ = slots.step(at(13), Event::Cleared(number));
    }
    assert!(!slots.is_done());
    assert_eq!(slots.wake_at(), Some(at(110)));
    assert_eq!(slots.step(at(110), Event::Tick), [Action::Kill(2)]);
    let _ = slots.step(at(111), Event::Exited(2, DIED));
    let _ = slots.step(at(111), Event::Cleared(2));
    assert!(slots.is_done());
}

#[test]
fn stop_ends_everything_also_while_draining() {
    let mut slots = warm(1, 1);
    let _ = slots.step(at(1), Event::Drain(at(100)));
    assert_eq!(
        slots.step(at(2), Event::Stop),
        [Action::Kill(1), Action::Kill(2)],
        "held ones a second time"
    );
    assert_eq!(slots.step(at(3), Event::Stop), [], "once is enough");
    assert_eq!(slots.wake_at(), None);
}

#[test]
fn stale_and_repeated_events_change_nothing() {
    let mut slots = warm(1, 1);
    let before = format!("{slots:?}");
    for event in [
        Event::Launched(1),
        Event::Launched(99),
        Event::LaunchFailed(2),
        Event::Exited(99, DIED),
        Event::Cleared(1),
        Event::Tick,
    ] {
        assert_eq!(slots.step(at(5), event), [], "{event:?}");
    }
    assert_eq!(format!("{slots:?}"), before);
}
