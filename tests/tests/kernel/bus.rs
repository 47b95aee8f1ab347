//! The bus is killed and comes back, and what was going on goes on.

use std::time::Duration;

use cantus_core::Core;
use cantus_core::event::Event;
use cantus_proto::bus::HeartbeatAnswer;
use cantus_proto::ids::AttemptNumber;
use cantus_proto::message::FailureKind;
use cantus_tests::kernel::{
    Coordinator, Crew, Habits, Items, PATIENCE, Taker, item, run_id, settings_with_lease,
};
use cantus_tests::nats::Nats;
use serde_json::json;
use tokio::time::Instant;

async fn until_reported(coordinator: &Coordinator, run: &'static str, count: usize) {
    coordinator
        .until(&format!("{count} items of {run} are reported"), move |core| {
            let items = core.runs()[&run_id(run)].items.iter();
            let reported = items.filter(|item| item.state.name() == "reported").count();
            (reported >= count).then_some(())
        })
        .await;
}

/// Q6: the bus is killed twice while 500 items are published and run.
#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_items_end_once_over_a_killed_bus() {
    const ITEMS: usize = 500;
    let mut nats = Nats::start(&["worker", "verifier"]);
    let coordinator = Coordinator::start(&nats, settings_with_lease(3000)).await;
    let crew = Crew::reporting(&nats, 4, &Habits::default()).await;
    coordinator.submit("run", &Items::many(ITEMS)).await;
    for reported in [40, 250] {
        until_reported(&coordinator, "run", reported).await;
        nats.kill();
        nats.restart();
    }
    let run = coordinator.until_ended("run").await;
    assert_eq!(run.state, "completed");
    assert!(run.items.iter().all(|item| item.state == "reported"));
    let accepted = coordinator.handle.ask(|core| {
        let items = core.runs()[&run_id("run")].items.iter();
        items.map(|item| item.attempts.iter().filter(|a| a.result.is_some()).count()).max()
    });
    assert_eq!(accepted.await.unwrap(), Some(1), "an item was accepted twice");
    assert!(crew.dismiss().await as usize >= ITEMS);
    let depth = coordinator.queue("worker").await;
    assert_eq!((depth.depth, depth.in_flight, depth.ready), (0, 0, 0));
}

fn attempts(core: &Core) -> usize {
    let run = &core.runs()[&run_id("run")];
    run.items.last().map_or(0, |poison| poison.attempts.len())
}

/// Q8: the bus is killed in a burst while a poison item is at attempt 3 of 4.
#[tokio::test(flavor = "multi_thread")]
async fn attempts_are_counted_over_a_killed_bus() {
    let mut nats = Nats::start(&["worker", "verifier", "careful"]);
    let coordinator = Coordinator::start(&nats, settings_with_lease(5000)).await;
    let mut poison = item("poison");
    (poison["role"], poison["attempts_max"]) = (json!("careful"), json!(4));
    let crew = Crew::reporting(&nats, 2, &Habits::default()).await;
    coordinator.submit("run", &Items::many(100).with(poison)).await;
    let mut careful = Taker::worker_of(&nats, "careful", "careful").await;
    for number in 1..=2 {
        let lease = careful.take().await;
        assert_eq!(lease.attempt.number, AttemptNumber(number));
        lease.fail(FailureKind::Agent, "poison").await;
    }
    let third = careful.take().await;
    until_reported(&coordinator, "run", 10).await;
    nats.kill();
    nats.restart();
    // Its holder lives, and is still its holder.
    let deadline = Instant::now() + PATIENCE;
    loop {
        match third.beat().await {
            HeartbeatAnswer::GoOn(_) => break,
            HeartbeatAnswer::NoAnswer => assert!(Instant::now() < deadline, "never answered"),
            HeartbeatAnswer::Stop(reason) => panic!("told to stop: {reason}"),
        }
    }
    third.fail(FailureKind::Agent, "poison").await;
    coordinator.until("there is an attempt 4", |core| (attempts(core) == 4).then_some(())).await;
    // A server that was killed may deliver again what was acknowledged: such a taker is told at once.
    let mut fourth = careful.take().await;
    while fourth.attempt.number < AttemptNumber(4) {
        assert!(matches!(fourth.beat().await, HeartbeatAnswer::Stop(_)), "it is accepted twice");
        fourth = careful.take().await;
    }
    assert_eq!(fourth.attempt.number, AttemptNumber(4), "neither lost nor counted twice");
    fourth.fail(FailureKind::Agent, "poison").await;
    let parked = coordinator.until_state("run", "poison", &["parked"]).await;
    assert_eq!(parked.attempts.len(), 4);
    let reason = parked.summary.unwrap().reason;
    assert!(reason.contains("4 of 4 tries") && reason.contains("poison"), "{reason}");
    let run = coordinator.until_ended("run").await;
    assert_eq!(run.items.iter().filter(|item| item.state == "reported").count(), 100);
    crew.dismiss().await;
}

/// Q17: the bus is away for two leases; that says nothing about those who work.
#[tokio::test(flavor = "multi_thread")]
async fn no_lease_ends_because_the_bus_was_away() {
    let mut nats = Nats::start(&["worker", "verifier"]);
    let coordinator = Coordinator::start(&nats, settings_with_lease(1500)).await;
    coordinator.submit("run", &Items::flat(&["a", "b"]).each("attempts_max", &json!(1))).await;
    let mut worker = Taker::worker(&nats, "worker").await;
    let (living, dead) = (worker.take().await, worker.take().await);
    coordinator.until_state("run", dead.attempt.item.as_str(), &["working"]).await;
    nats.kill();
    tokio::time::sleep(Duration::from_secs(3)).await;
    nats.restart();
    let deadline = Instant::now() + PATIENCE;
    while !coordinator.bus().is_connected() {
        assert!(Instant::now() < deadline, "it never came back");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // Workers come back when they do: each has a whole lease for it.
    tokio::time::sleep(Duration::from_millis(300)).await;
    loop {
        match living.beat().await {
            HeartbeatAnswer::GoOn(_) => break,
            HeartbeatAnswer::NoAnswer => assert!(Instant::now() < deadline, "never answered"),
            HeartbeatAnswer::Stop(reason) => panic!("told to stop: {reason}"),
        }
    }
    living.done().await;
    let item = coordinator.until_state("run", living.attempt.item.as_str(), &["reported"]).await;
    assert_eq!(item.attempts.len(), 1);
    // Whoever is silent although the bus is there is lost as ever.
    let silent = coordinator.until_state("run", dead.attempt.item.as_str(), &["parked"]).await;
    assert!(silent.summary.unwrap().reason.contains("worker lost"));
}

/// Resident memory of this process in KiB.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Q35: the bus is away under load. What people ask waits or is refused, in bounded room, and all goes on afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn a_bus_that_is_away_under_load_costs_no_memory() {
    let mut nats = Nats::start(&["worker", "verifier"]);
    let coordinator = Coordinator::start(&nats, settings_with_lease(3000)).await;
    coordinator.submit("run", &Items::many(200)).await;
    coordinator.until_state("run", "i000", &["queued"]).await;
    nats.kill();
    let before = resident_kib();
    let asked = (0..2_000).map(|_| {
        let handle = coordinator.handle.clone();
        tokio::spawn(async move {
            let cancel = Event::Cancelled(run_id("none"), None);
            tokio::time::timeout(Duration::from_secs(4), handle.tell(cancel)).await.is_ok()
        })
    });
    let asked: Vec<_> = asked.collect();
    let mut answered = 0;
    for one in asked {
        answered += usize::from(one.await.unwrap());
    }
    assert!(answered < 2_000, "nothing waited although nothing can be stored");
    let grown = resident_kib().saturating_sub(before);
    assert!(grown < 64 * 1024, "{grown} KiB more");
    nats.restart();
    let crew = Crew::reporting(&nats, 4, &Habits::default()).await;
    assert_eq!(coordinator.until_ended("run").await.state, "completed");
    crew.dismiss().await;
}
