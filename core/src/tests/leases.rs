//! Leases: who may go on, who is lost, and what a late one is worth.

use cantus_proto::evidence::Ending;
use cantus_proto::message::{
    Commits, ContainerExited, HeartbeatReply, Isolation, LeaseEvent, Leased, Report, Saved,
};

use super::super::Settings;
use super::super::event::Event;
use super::super::run::RunState;
use super::world::{
    Held, LEASE_MS, QUEUE_WAIT_MS, World, blob, commit, container, failed, lease_id, plan, role,
    settings, submission, work,
};

fn stopped(reply: &HeartbeatReply) -> &str {
    match reply {
        HeartbeatReply::Stop(why) => why,
        HeartbeatReply::GoOn(_) => panic!("it may go on"),
    }
}

fn exited(held: &Held, exit_code: i64, out_of_memory: bool) -> Event {
    let container = held.container.clone();
    Event::Reported(Box::new(Report::ContainerExited(ContainerExited {
        container,
        exit_code,
        out_of_memory,
    })))
}

#[test]
fn a_worker_that_never_beats_is_lost_and_its_attempts_are_capped_q3() {
    let mut world = World::of("a, b: a, c: a");
    for attempt in 1..=3 {
        assert_eq!(world.published("a").len(), attempt);
        world.take("a");
        world.advance(LEASE_MS);
    }
    assert_eq!(world.states(), "a Parked, b Blocked, c Blocked");
    world.requeue("a");
    world.complete("a");
    assert_eq!((world.published("b").len(), world.published("c").len()), (1, 1));
}

#[test]
fn a_lease_ends_one_lease_after_the_last_beat_by_the_coordinators_clock_q4() {
    let mut world = World::of("a");
    let worker = world.take("a");
    world.advance(LEASE_MS - 1);
    assert_eq!(world.state("a"), "Working");
    assert_eq!(world.beat(&worker), HeartbeatReply::GoOn(vec![]));
    world.advance(LEASE_MS - 1);
    assert_eq!(world.state("a"), "Working");
    world.advance(1);
    assert_eq!(world.states(), "a Queued");
    assert_eq!(world.outcomes("a"), ["worker lost: nothing heard for 15 s", "open"]);
    // No message carries a time: there is no second clock to differ.
    assert!(stopped(&world.beat(&worker)).contains("attempt 1 is over"));
}

#[test]
fn a_death_before_the_first_beat_costs_one_lease_q15() {
    let mut world = World::of("a");
    world.take("a");
    world.advance(LEASE_MS);
    assert_eq!((world.state("a"), world.published("a").len()), ("Queued".to_owned(), 2));
    assert_eq!(world.published("a")[1].number.0, 2);
}

#[test]
fn signs_of_life_carry_a_lease_up_to_the_hard_end_and_no_further_w20() {
    for progress in [false, true] {
        let mut world = World::of("a");
        let worker = world.take("a");
        // Three quarters of ten minutes are for work, then one lease for the hand-in.
        let end = world.now.plus(450_000 + LEASE_MS);
        while world.state("a") == "Working" {
            assert!(world.now <= end, "it goes on beyond the end");
            world.advance(1_000);
            if progress {
                world.say(&worker, LeaseEvent::Progress("still at it".to_owned()));
            } else {
                let _ = world.beat(&worker);
            }
        }
        assert_eq!(world.now, end, "progress: {progress}");
        stopped(&world.beat(&worker));
    }
}

#[test]
fn a_late_result_is_refused_and_kept_w20() {
    let mut world = World::of("a");
    let late = world.take("a");
    world.advance(LEASE_MS);
    world.say(&late, LeaseEvent::Result(work("late")));
    assert!(world.refused[0].contains("does not hold attempt 1 of a"), "{:?}", world.refused);
    assert_eq!(world.state("a"), "Queued");
    let saved = &world.item("a").saved;
    assert_eq!((saved.len(), saved[0].number.0, &saved[0].commits.head), (1, 1, &commit("late")));
    // Once is enough.
    assert_eq!(world.say(&late, LeaseEvent::Result(work("late"))), 0);
    world.complete("a");
    assert_eq!(world.run_state(), RunState::Completed);
}

#[test]
fn the_salvage_of_a_lost_workspace_is_kept_and_disturbs_nobody() {
    let mut world = World::of("a");
    let lost = world.take("a");
    world.advance(LEASE_MS);
    let next = world.take("a");
    world.advance(LEASE_MS - 1);
    assert_eq!(world.beat(&next), HeartbeatReply::GoOn(vec![]));
    world.advance(1);
    let commits = Commits { bundle: blob("s"), base: commit("start"), head: commit("s") };
    let saved = Saved { commits, reason: "swept".to_owned() };
    assert_eq!(world.say(&lost, LeaseEvent::Saved(saved.clone())), 1);
    assert_eq!(world.say(&lost, LeaseEvent::Saved(saved)), 0);
    // The beat of the living worker still counts.
    world.advance(LEASE_MS - 2);
    assert_eq!(world.state("a"), "Working");
    world.say(&next, failed("no idea"));
    assert_eq!(world.item("a").saved[0].reason, "swept");
}

#[test]
fn a_later_lease_supersedes_and_one_result_counts_q8() {
    let mut world = World::of("a");
    let first = world.take("a");
    let second = world.take("a");
    assert_eq!(world.beat(&second), HeartbeatReply::GoOn(vec![]));
    assert_eq!(stopped(&world.beat(&first)), "another worker has taken this attempt");
    // The bus says once more what it said before: that takes nothing back.
    assert_eq!(world.step(first.leased()), 0);
    world.say(&first, LeaseEvent::Result(work("first")));
    assert_eq!(world.state("a"), "Working");
    world.say(&second, LeaseEvent::Result(work("second")));
    assert_eq!(world.state("a"), "Gating");
    assert_eq!(world.item("a").work().unwrap().1.head, commit("second"));
    assert_eq!(world.item("a").saved[0].commits.head, commit("first"));
    assert_eq!(world.outcomes("a"), ["handed in"]);
    // The end of the superseded container says nothing about the item.
    assert_eq!(world.step(exited(&first, 0, false)), 0);
}

#[test]
fn a_redelivered_poison_item_goes_on_counting_q8() {
    let mut plan = plan("poison, other");
    plan.items[0].attempts_max = 4;
    let mut world = World::with(settings(), plan);
    for _ in 0..2 {
        let held = world.take("poison");
        world.step(exited(&held, 137, true));
    }
    // The bus dies in the third attempt and hands everything out once more.
    world.take("poison");
    let again = world.take("poison");
    assert_eq!(again.attempt.number.0, 3);
    world.step(exited(&again, 137, true));
    assert_eq!(world.published("poison").last().unwrap().number.0, 4);
    let held = world.take("poison");
    world.step(exited(&held, 137, true));
    assert_eq!(world.states(), "poison Parked, other Queued");
}

#[test]
fn an_attempt_is_leased_so_often_and_no_more() {
    let mut world = World::of("a");
    for _ in 0..5 {
        world.take("a");
        assert_eq!(world.item("a").attempts.len(), 1);
    }
    world.take("a");
    assert_eq!(world.outcomes("a"), ["worker lost: leased 5 times without an end", "open"]);
}

#[test]
fn when_all_workers_vanish_nothing_shows_as_working_q11() {
    let mut world = World::of("a, b, c");
    for id in ["a", "b", "c"] {
        world.take(id);
    }
    world.advance(LEASE_MS);
    assert_eq!(world.states(), "a Queued, b Queued, c Queued");
    let (_, queue) = world.core.roles().find(|(name, _)| **name == role("worker")).unwrap();
    assert_eq!((queue.leased, queue.queued.len()), (0, 3));
    // The oldest of them is as old as the loss.
    assert_eq!(queue.queued.first().unwrap().0, world.now);
}

#[test]
fn one_attempt_allowed_and_the_worker_lost_q13() {
    let mut once = plan("a");
    once.items[0].attempts_max = 1;
    let mut world = World::with(settings(), once.clone());
    world.take("a");
    world.advance(LEASE_MS);
    assert_eq!(world.state("a"), "Parked");
    assert!(world.parked()[0].reason.contains("worker lost"), "{:?}", world.parked());
    assert_eq!(world.run_state(), RunState::Failed);
    // The same plan again is another run, and the parked item can be put back.
    world.step(submission("again", once));
    assert_eq!(world.published("a").len(), 2);
    world.requeue("a");
    world.complete("a");
    assert_eq!(world.run_state(), RunState::Completed);
}

#[test]
fn an_item_that_kills_its_container_is_counted_and_parked_q16() {
    let mut world = World::of("a, b");
    for _ in 0..3 {
        let held = world.take("a");
        world.step(exited(&held, 137, false));
    }
    assert_eq!(world.state("a"), "Parked");
    let record = world.parked()[0];
    assert_eq!(record.attempts.len(), 3);
    assert!(record.reason.contains("container worker-3 ended with code 137"), "{}", record.reason);
    world.complete("b");
    assert_eq!(world.run_state(), RunState::Failed);
}

#[test]
fn a_process_that_holds_several_leases_loses_all_of_them() {
    let mut world = World::of("a, b");
    let mut held = [world.pull("a"), world.pull("b")];
    for one in &mut held {
        one.container = container("shared");
        world.step(one.leased());
    }
    world.say(&held[0], LeaseEvent::Result(work("w")));
    world.step(exited(&held[0], 1, false));
    assert_eq!(world.states(), "a Gating, b Queued");
}

#[test]
fn dead_workers_do_not_starve_a_fresh_one_q21() {
    let mut world = World::with(Settings { queue_window: 2, ..settings() }, plan("a, b, c, d"));
    for id in ["a", "b", "c", "d"] {
        world.take(id);
    }
    world.advance(LEASE_MS);
    assert_eq!(world.published("a").len(), 2);
    world.complete("a");
}

#[test]
fn who_never_leased_it_changes_nothing_q40() {
    let mut world = World::of("a, b");
    let (owner, other) = (world.take("a"), world.take("b"));
    let before = format!("{:?}", world.core);
    // A lease that nobody has, another item's lease, and the owner's for another attempt.
    let mut stranger = owner.clone();
    stranger.lease = lease_id(999);
    let mut foreign = owner.clone();
    foreign.lease = other.lease.clone();
    let mut later = owner.clone();
    later.attempt.number.0 = 2;
    let commits = Commits { bundle: blob("x"), base: commit("start"), head: commit("x") };
    for liar in [&stranger, &foreign, &later] {
        for body in [
            LeaseEvent::Result(work("stolen")),
            failed("stolen"),
            LeaseEvent::Progress("stolen".to_owned()),
            LeaseEvent::Saved(Saved { commits: commits.clone(), reason: String::new() }),
        ] {
            let refused = world.refused.len();
            assert_eq!(world.say(liar, body), 0);
            assert!(world.refused.len() > refused);
        }
    }
    assert_eq!(format!("{:?}", world.core), before);
    world.say(&owner, LeaseEvent::Result(work("mine")));
    assert_eq!(world.item("a").work().unwrap().1.head, commit("mine"));
}

#[test]
fn only_the_role_of_an_attempt_may_lease_it_and_never_its_producer() {
    let mut world = World::of("a");
    let producer = world.produce("a");
    world.merge("a", "t", "start");
    let mut verifier = world.pull("a");
    verifier.attempt.role = role("worker");
    assert_eq!(world.step(verifier.leased()), 0);
    assert!(world.refused[0].contains("has role worker, the attempt is for verifier"));
    verifier.attempt.role = role("verifier");
    verifier.container = producer.container;
    assert_eq!(world.step(verifier.leased()), 0);
    assert!(world.refused[1].contains("produced the work and does not verify it"));
    verifier.container = container("independent");
    assert_eq!(world.step(verifier.leased()), 1);
    assert_eq!(world.state("a"), "Verifying");
}

#[test]
fn a_lease_that_is_still_on_its_way_goes_on() {
    let mut world = World::of("a");
    let held = world.pull("a");
    assert_eq!(world.beat(&held), HeartbeatReply::GoOn(vec![]));
    world.cancel("a");
    assert!(stopped(&world.beat(&held)).contains("the item is cancelled"));
    let mut lost = held.clone();
    lost.attempt.item = super::world::item_id("nobody");
    assert!(stopped(&world.beat(&lost)).contains("no item nobody"));
}

#[test]
fn what_nobody_takes_is_parked_with_the_missing_role_q36_g11() {
    let mut world = World::of("a, b: a");
    world.advance(QUEUE_WAIT_MS - 1);
    assert_eq!(world.state("a"), "Queued");
    world.advance(1);
    assert_eq!(world.states(), "a Parked, b Blocked");
    let reason = &world.parked()[0].reason;
    assert!(reason.contains("no worker took it within 10 min; start a pool"), "{reason}");
    assert_eq!(world.run_state(), RunState::Failed);
    assert_eq!(world.core.wake_at(), None, "an idle core sleeps");
    // The same for a verifier that is not there.
    world.requeue("a");
    world.offer("a");
    world.advance(QUEUE_WAIT_MS);
    assert!(world.parked()[1].reason.contains("no verifier took it"), "{:?}", world.parked()[1]);
    // Whoever comes late is told.
    let late = world.pull("a");
    assert_eq!(world.step(late.leased()), 0);
    assert!(stopped(&world.beat(&late)).contains("the item is parked"));
}

#[test]
fn a_lost_verifier_is_replaced_and_the_work_stays() {
    let mut world = World::of("a");
    world.offer("a");
    world.take("a");
    world.advance(LEASE_MS);
    assert_eq!(world.states(), "a VerifyQueued");
    world.verify("a", Ending::Exit(0));
    world.land("a");
    assert_eq!(
        world.outcomes("a"),
        ["handed in", "worker lost: nothing heard for 15 s", "verified"]
    );
}

#[test]
fn after_a_restart_leases_run_anew() {
    let mut world = World::of("a, b");
    let held = world.take("a");
    world.advance(LEASE_MS - 1);
    world.restart();
    assert_eq!(world.order(), ["b"], "what is on the bus is published again");
    world.advance(LEASE_MS - 1);
    assert_eq!(world.state("a"), "Working");
    assert_eq!(world.beat(&held), HeartbeatReply::GoOn(vec![]));
    world.say(&held, LeaseEvent::Result(work("w")));
    assert_eq!(world.state("a"), "Gating");
}

#[test]
fn what_a_taker_says_of_itself_is_recorded() {
    let mut world = World::of("a");
    let held = world.pull("a");
    world.step(held.report(LeaseEvent::Leased(Leased {
        role: role("worker"),
        host: cantus_proto::ids::HostName::new("far").unwrap(),
        container: held.container.clone(),
        isolation: Isolation::Process,
        base: Some(commit("five commits later")),
        image: "image".to_owned(),
    })));
    let leased = &world.item("a").attempts[0].holder.as_ref().unwrap().leased;
    assert_eq!(leased.base, Some(commit("five commits later")));
    assert_eq!(leased.isolation, Isolation::Process);
}
