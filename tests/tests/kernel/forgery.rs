//! Q40: those who speak for others. Refused, logged, and the item completes through its owner.

use cantus_proto::bus::HeartbeatAnswer;
use cantus_proto::message::{LeaseEvent, Leased, Work as Task};
use cantus_proto::subjects::{BusUser, STREAM_WORK, work_consumer};
use cantus_tests::kernel::{
    Coordinator, Items, PATIENCE, Taker, Upstream, log_has, role, settings,
};
use cantus_tests::nats::Nats;
use tokio::time::Instant;

async fn until_logged(text: &str) {
    let deadline = Instant::now() + PATIENCE;
    while !log_has(text) {
        assert!(Instant::now() < deadline, "not in the log: {text}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

/// A worker acknowledges another's message.
#[tokio::test(flavor = "multi_thread")]
async fn an_acknowledgement_for_another_takes_nothing_from_it() {
    let nats = Nats::start(&["worker", "verifier"]);
    let coordinator = Coordinator::start(&nats, settings()).await;
    coordinator.submit("run", &Items::flat(&["a"])).await;
    let mut owner = Taker::worker(&nats, "owner").await;
    let delivery = owner.pull().await;
    let user = BusUser::Worker(role("worker"));
    let mallory = async_nats::ConnectOptions::with_user_and_password(user.name(), user.name())
        .custom_inbox_prefix(user.inbox_prefix())
        .connect(nats.url())
        .await
        .unwrap();
    let consumer = work_consumer(&role("worker"), "normal");
    mallory
        .publish(format!("$JS.ACK.{STREAM_WORK}.{consumer}.1.1.1.1.0"), "+ACK".into())
        .await
        .unwrap();
    mallory.flush().await.unwrap();
    let deadline = Instant::now() + PATIENCE;
    while coordinator.bus().oldest(&role("worker")).await.unwrap().is_some() {
        assert!(Instant::now() < deadline, "the server did not believe it");
    }
    let lease = owner.lease(&delivery).await;
    assert_eq!(lease.beat().await, HeartbeatAnswer::GoOn(vec![]));
    lease.done().await;
    let item = coordinator.until_state("run", "a", &["reported"]).await;
    assert_eq!(item.attempts[0].container, "owner");
}

/// A worker sends a result for a lease that it never had, and takes attempts in another role's name.
#[tokio::test(flavor = "multi_thread")]
async fn a_result_without_a_lease_does_not_count() {
    let nats = Nats::start(&["worker", "verifier", "other"]);
    let coordinator = Coordinator::start(&nats, settings()).await;
    coordinator.submit("run", &Items::flat(&["a"])).await;
    let mut owner = Taker::worker(&nats, "owner").await;
    let lease = owner.take().await;
    coordinator.until_state("run", "a", &["working"]).await;

    let colleague = Taker::worker(&nats, "colleague").await;
    let forged = colleague.claim(&lease.attempt);
    forged.done_with(b"forged").await;
    until_logged(&format!("lease {} does not hold attempt 1 of a in run", forged.id)).await;

    // One of another role says that it is a worker: its subject betrays it.
    let stranger = Taker::worker_of(&nats, "other", "stranger").await;
    let forged = stranger.claim(&lease.attempt);
    let claimed = Leased { role: role("worker"), ..forged.leased() };
    forged.say(LeaseEvent::Leased(claimed)).await;
    until_logged("a taker with the role of others").await;

    assert_eq!(lease.beat().await, HeartbeatAnswer::GoOn(vec![]));
    lease.done().await;
    let item = coordinator.until_state("run", "a", &["reported"]).await;
    assert_eq!((item.attempts.len(), item.saved.len()), (1, 0));
    assert_eq!(item.attempts[0].container, "owner");
    assert_eq!(item.attempts[0].bundle, None, "the forged bundle is nowhere");
}

/// A verifier replays evidence of another item, and one that holds no lease sends it too.
#[tokio::test(flavor = "multi_thread")]
async fn old_evidence_proves_nothing_new() {
    let nats = Nats::start(&["worker", "verifier"]);
    let upstream = Upstream::new();
    let coordinator = Coordinator::start_with_hub(&nats, &upstream.hub(), settings()).await;
    let answer =
        coordinator.submit_to("run", &upstream.path(), &Items::flat(&["a", "b"]).text()).await;
    assert_eq!(answer.run, "run");
    let mut worker = Taker::worker(&nats, "worker").await;
    let mut verifier = Taker::verifier(&nats, "verifier").await;
    // Both change the same file in the same way: the tree of the second is that of the first, once it landed.
    let clone = upstream.checkout();
    for _ in 0..2 {
        let lease = worker.take().await;
        let work = clone.work(|tree| {
            std::fs::create_dir_all(tree.join("out")).unwrap();
            std::fs::write(tree.join("out/same"), "same").unwrap();
        });
        lease.hand_in(&work).await;
    }
    let first = verifier.take().await;
    let second = verifier.take().await;
    assert_eq!(first.candidate().tree, second.candidate().tree);
    let old = first.evidence(first.candidate(), 0);
    first.say(LeaseEvent::Evidence(old.clone())).await;
    coordinator.until_state("run", first.attempt.item.as_str(), &["landed"]).await;

    let forged = verifier.claim(&second.attempt);
    forged.say(LeaseEvent::Evidence(old.clone())).await;
    until_logged(&format!("lease {} does not hold attempt", forged.id)).await;
    let id = second.attempt.item.as_str();
    assert_eq!(coordinator.item("run", id).await.summary.unwrap().state, "verifying");

    second.say(LeaseEvent::Evidence(old)).await;
    let third = verifier.take().await;
    assert!(matches!(third.attempt.work, Task::Verify(_)));
    let item = coordinator.item("run", id).await;
    let reason = &item.attempts[1].reason;
    assert!(reason.contains("evidence is for item"), "{reason}");
    third.verify(0).await;
    // The head moved by the first landing, so the tree is merged again; it is the same tree.
    coordinator.until_state("run", id, &["landed"]).await;
    upstream.assert_audited(2);
}
