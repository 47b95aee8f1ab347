//! Coordinators come and go, and at most one of them counts.

use std::collections::BTreeMap;
use std::time::Duration;

use cantus_coordinator::kernel::KernelError;
use cantus_proto::bus::{AppendError, Bus, HeartbeatAnswer};
use cantus_tests::kernel::{
    Coordinator, Crew, Habits, Items, PATIENCE, Taker, settings, settings_with_lease,
};
use cantus_tests::nats::Nats;
use tokio::time::Instant;

async fn consumers(bus: &Bus) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for stream in bus.stream_names().await.unwrap() {
        let names = bus.consumer_names(&stream).await.unwrap();
        found.insert(stream, names.len());
    }
    found
}

/// Q23: the coordinator restarts 50 times, two of three by kill.
#[tokio::test(flavor = "multi_thread")]
async fn fifty_restarts_leave_streams_and_consumers_as_they_were() {
    let nats = Nats::start(&["worker", "verifier"]);
    let mut coordinator = Coordinator::start(&nats, settings()).await;
    coordinator.submit("run", &Items::many(120)).await;
    coordinator.until_state("run", "i000", &["queued"]).await;
    let before = consumers(coordinator.bus()).await;
    let crew = Crew::reporting(&nats, 2, &Habits::slow(Duration::from_millis(25))).await;
    for number in 0..50 {
        if number % 3 == 0 {
            coordinator.stop().await;
        } else {
            coordinator.kill();
        }
        coordinator = Coordinator::start(&nats, settings()).await;
    }
    let run = coordinator.until_ended("run").await;
    assert_eq!(run.state, "completed");
    crew.dismiss().await;
    // Readers of coordinators that were killed are kept by the server for a few seconds.
    let deadline = Instant::now() + PATIENCE;
    loop {
        let after = consumers(coordinator.bus()).await;
        if after == before {
            break;
        }
        assert!(Instant::now() < deadline, "before: {before:?}, after: {after:?}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Two coordinators on one bus: the one that appends second is fenced and ends.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_coordinators_the_one_that_knows_less_ends() {
    let nats = Nats::start(&["worker", "verifier"]);
    let first = Coordinator::start(&nats, settings()).await;
    first.submit("one", &Items::flat(&["a"])).await;
    let second = Coordinator::start(&nats, settings()).await;
    second.submit("two", &Items::flat(&["b"])).await;
    let refused = first.try_submit("three", &Items::flat(&["c"])).await;
    assert!(refused.is_err(), "it answered as if it were durable: {refused:?}");
    let error = first.failed().await;
    assert!(
        matches!(error, KernelError::Append(AppendError::Fenced { expected, found }) if expected < found),
        "{error:?}"
    );
    assert!(!second.knows("three", "c").await);
    let crew = Crew::reporting(&nats, 1, &Habits::default()).await;
    for run in ["one", "two"] {
        assert_eq!(second.until_ended(run).await.state, "completed");
    }
    crew.dismiss().await;
}

/// A coordinator that was replaced stops no worker of its successor's.
#[tokio::test(flavor = "multi_thread")]
async fn a_replaced_coordinator_stops_nobody() {
    let nats = Nats::start(&["worker", "verifier"]);
    let first = Coordinator::start(&nats, settings()).await;
    let second = Coordinator::start(&nats, settings()).await;
    second.submit("run", &Items::flat(&["a"])).await;
    let mut worker = Taker::worker(&nats, "worker").await;
    let lease = worker.take().await;
    second.until_state("run", "a", &["working"]).await;
    for _ in 0..10 {
        let answer = lease.beat().await;
        assert!(!matches!(answer, HeartbeatAnswer::Stop(_)), "{answer:?}");
    }
    let error = first.failed().await;
    assert!(matches!(error, KernelError::Append(AppendError::Fenced { .. })), "{error:?}");
    lease.done().await;
    second.until_state("run", "a", &["reported"]).await;
}

/// A stop is graceful: what was told is durable, who asks later hears that it is over, and work goes on after it.
#[tokio::test(flavor = "multi_thread")]
async fn a_stop_loses_nothing() {
    let nats = Nats::start(&["worker", "verifier"]);
    let coordinator = Coordinator::start(&nats, settings_with_lease(5000)).await;
    coordinator.submit("run", &Items::flat(&["a"]).needing("b", &["a"])).await;
    let mut worker = Taker::worker(&nats, "worker").await;
    let lease = worker.take().await;
    coordinator.until_state("run", "a", &["working"]).await;
    let (before, handle) = (coordinator.everything().await, coordinator.handle.clone());
    coordinator.stop().await;
    let stopped = handle.ask(|_| ()).await.unwrap_err();
    assert!(stopped.to_string().contains("ask again when it is back"), "{stopped}");
    assert_eq!(lease.beat().await, HeartbeatAnswer::NoAnswer, "it works on");
    lease.done().await;
    let again = Coordinator::start(&nats, settings_with_lease(5000)).await;
    assert_ne!(again.everything().await, before, "the result was read at the start");
    again.until_state("run", "a", &["reported"]).await;
    worker.take().await.done().await;
    assert_eq!(again.until_ended("run").await.state, "completed");
    let all = again.everything().await;
    again.stop().await;
    assert_eq!(Coordinator::start(&nats, settings()).await.everything().await, all);
}
