//! Leases in time: who may go on, and what becomes of an attempt whose holder is gone.

use std::time::Duration;

use cantus_core::Settings;
use cantus_proto::bus::HeartbeatAnswer;
use cantus_proto::ids::AttemptNumber;
use cantus_tests::kernel::{
    Coordinator, Crew, Habits, Items, Taker, run_id, settings, settings_with_lease,
};
use cantus_tests::nats::Nats;
use serde_json::json;
use tokio::time::Instant;

/// More than a busy machine adds to what is due after a lease.
const GRACE: Duration = Duration::from_secs(3);

/// Q1: an attempt runs for five leases while it heartbeats.
#[tokio::test(flavor = "multi_thread")]
async fn a_lease_holds_as_long_as_it_is_heard_of() {
    const LEASE: Duration = Duration::from_millis(1200);
    let nats = Nats::start(&["worker", "verifier"]);
    let coordinator = Coordinator::start(&nats, settings_with_lease(1200)).await;
    coordinator.submit("run", &Items::flat(&["long"])).await;
    let mut worker = Taker::worker(&nats, "holder").await;
    let lease = worker.take().await;
    let mut idle = Taker::worker(&nats, "idle").await;
    let waiting = tokio::spawn(async move { idle.try_pull(5 * LEASE).await.map(|d| d.attempt) });
    let begun = Instant::now();
    while begun.elapsed() < 5 * LEASE {
        assert_eq!(lease.beat().await, HeartbeatAnswer::GoOn(vec![]));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(waiting.await.unwrap(), None, "it was delivered a second time");
    lease.done().await;
    let item = coordinator.until_state("run", "long", &["reported"]).await;
    assert_eq!(item.attempts.len(), 1);
    assert_eq!(item.attempts[0].state, "handed in");
}

/// Q11: all workers are killed with items in flight.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_shows_as_working_when_all_workers_are_gone() {
    let nats = Nats::start(&["worker", "verifier"]);
    let coordinator = Coordinator::start(&nats, settings_with_lease(1000)).await;
    coordinator.submit("run", &Items::flat(&["a", "b", "c", "d"])).await;
    let mut workers = Vec::new();
    for name in ["1", "2", "3", "4"] {
        workers.push(Taker::worker(&nats, name).await);
    }
    for mut worker in workers {
        worker.take().await;
        worker.die();
    }
    let died = Instant::now();
    coordinator
        .until("nobody works", |core| {
            let items = || core.runs()[&run_id("run")].items.iter();
            let attempts = items().flat_map(|item| &item.attempts);
            let lost = attempts.filter(|attempt| attempt.ended.is_some()).count();
            let working = items().any(|item| item.state.name() == "working");
            (lost == 4 && !working).then_some(())
        })
        .await;
    assert!(died.elapsed() < Duration::from_secs(1) + GRACE, "{:?}", died.elapsed());
    let queue = coordinator.queue("worker").await;
    assert_eq!((queue.depth, queue.in_flight), (4, 0));
    assert!(queue.retries > 0);
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert!(
        coordinator.queue("worker").await.oldest_ms > queue.oldest_ms,
        "the oldest age shows it"
    );
}

/// Q15: a taker dies between pull and `Leased`.
#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_that_was_pulled_and_never_leased_comes_back_within_a_lease() {
    let nats = Nats::start(&["worker", "verifier"]);
    let coordinator = Coordinator::start(&nats, settings_with_lease(1000)).await;
    coordinator.submit("run", &Items::flat(&["a"])).await;
    let mut first = Taker::worker(&nats, "first").await;
    first.pull().await;
    let pulled = Instant::now();
    first.die();
    let mut second = Taker::worker(&nats, "second").await;
    let lease = second.take().await;
    assert!(pulled.elapsed() < Duration::from_secs(1) + GRACE, "{:?}", pulled.elapsed());
    assert_eq!(lease.attempt.number, AttemptNumber(1), "no attempt was lost on it");
    lease.done().await;
    coordinator.until_state("run", "a", &["reported"]).await;
}

/// Q15: a taker dies between `Leased` and its first heartbeat.
#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_that_was_leased_and_never_heard_of_comes_back_within_a_lease() {
    let nats = Nats::start(&["worker", "verifier"]);
    let coordinator = Coordinator::start(&nats, settings_with_lease(1000)).await;
    coordinator.submit("run", &Items::flat(&["a"])).await;
    let mut first = Taker::worker(&nats, "first").await;
    let dead = first.take().await;
    let leased = Instant::now();
    first.die();
    let mut second = Taker::worker(&nats, "second").await;
    let lease = second.take().await;
    assert!(leased.elapsed() < Duration::from_secs(1) + GRACE, "{:?}", leased.elapsed());
    assert_eq!(lease.attempt.number, AttemptNumber(2));
    assert!(matches!(dead.beat().await, HeartbeatAnswer::Stop(_)), "its owner would be told");
    lease.done().await;
    let item = coordinator.until_state("run", "a", &["reported"]).await;
    assert_eq!(item.attempts[0].state, "worker lost");
}

/// Q21: dead workers hold every message that the window allows.
#[tokio::test(flavor = "multi_thread")]
async fn a_fresh_worker_gets_what_dead_ones_hold_within_a_lease() {
    const WINDOW: usize = 8;
    let nats = Nats::start(&["worker", "verifier"]);
    let settings = Settings { queue_window: WINDOW as u32, ..settings_with_lease(1000) };
    let coordinator = Coordinator::start(&nats, settings).await;
    coordinator.submit("run", &Items::many(WINDOW)).await;
    for number in 0..WINDOW {
        let mut worker = Taker::worker(&nats, &format!("dead-{number}")).await;
        worker.pull().await;
        worker.die();
    }
    let dead = Instant::now();
    let mut fresh = Taker::worker(&nats, "fresh").await;
    let lease = fresh.take().await;
    assert!(dead.elapsed() < Duration::from_secs(1) + GRACE, "{:?}", dead.elapsed());
    lease.done().await;
    let crew = Crew::reporting(&nats, 1, &Habits::default()).await;
    assert_eq!(coordinator.until_ended("run").await.state, "completed");
    crew.dismiss().await;
}

/// Q29: cancelled while queued; nobody gets it any more.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_cancelled_in_the_queue_is_never_taken() {
    let nats = Nats::start(&["worker", "verifier"]);
    let coordinator = Coordinator::start(&nats, settings()).await;
    coordinator.submit("run", &Items::flat(&["a", "b"])).await;
    coordinator.until_state("run", "a", &["queued"]).await;
    assert_eq!(coordinator.cancel("run", "a").await, ["a"]);
    let item = coordinator.item("run", "a").await;
    assert_eq!(item.summary.unwrap().state, "cancelled");
    let mut worker = Taker::worker(&nats, "worker").await;
    // The withdrawal is on its way: whoever is faster than it is told to stop.
    for _ in 0..2 {
        let lease = worker.take().await;
        if lease.attempt.item.as_str() == "b" {
            lease.done().await;
            break;
        }
        assert!(matches!(lease.beat().await, HeartbeatAnswer::Stop(_)));
    }
    let run = coordinator.until_ended("run").await;
    assert_eq!(run.state, "cancelled");
    assert_eq!(run.items[1].state, "reported");
    assert!(worker.try_pull(Duration::from_millis(300)).await.is_none(), "the queue is empty");
}

/// Q29: cancelled while leased; the worker stops at its next heartbeat, and what it did is kept.
#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_worker_is_stopped_and_its_late_result_is_kept() {
    let nats = Nats::start(&["worker", "verifier"]);
    let coordinator = Coordinator::start(&nats, settings()).await;
    coordinator.submit("run", &Items::flat(&["a"]).needing("b", &["a"])).await;
    let mut worker = Taker::worker(&nats, "worker").await;
    let lease = worker.take().await;
    coordinator.until_state("run", "a", &["working"]).await;
    assert_eq!(lease.beat().await, HeartbeatAnswer::GoOn(vec![]));
    assert_eq!(coordinator.cancel("run", "").await, ["a", "b"]);
    let HeartbeatAnswer::Stop(reason) = lease.beat().await else { panic!("it goes on") };
    assert!(reason.contains("cancelled"), "{reason}");
    let late = lease.done_with(b"not even a bundle").await;
    let item = coordinator
        .until("the work is kept", |core| {
            let run = &core.runs()[&run_id("run")];
            run.items[0].saved.first().cloned()
        })
        .await;
    assert_eq!((item.commits, item.number), (late, AttemptNumber(1)));
    assert_eq!(coordinator.until_ended("run").await.state, "cancelled");
}

/// An attempt allowed once ends with its worker; the rest of the run ends too (Q13, Q26).
#[tokio::test(flavor = "multi_thread")]
async fn the_only_attempt_is_parked_with_its_worker_and_its_dependents_blocked() {
    let nats = Nats::start(&["worker", "verifier"]);
    let coordinator = Coordinator::start(&nats, settings_with_lease(300)).await;
    let items = Items::flat(&["a"]).needing("b", &["a"]).each("attempts_max", &json!(1));
    coordinator.submit("run", &items).await;
    let mut worker = Taker::worker(&nats, "worker").await;
    worker.take().await;
    worker.die();
    let run = coordinator.until_ended("run").await;
    assert_eq!(run.state, "failed");
    assert_eq!((run.items[0].state.as_str(), run.items[1].state.as_str()), ("parked", "blocked"));
    assert!(run.items[0].reason.contains("worker lost"), "{}", run.items[0].reason);
    assert!(run.items[1].reason.contains('a'), "{}", run.items[1].reason);
    coordinator.submit("again", &items).await;
    coordinator.until_state("again", "a", &["queued"]).await;
}
