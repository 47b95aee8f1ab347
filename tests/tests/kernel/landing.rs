//! From a result to the target, on real git: verified on the very tree that lands, or not landed.

use cantus_coordinator::kernel::KernelError;
use cantus_core::Settings;
use cantus_proto::bus::BlobError;
use cantus_proto::ids::TreeId;
use cantus_proto::message::{AttemptKind, FailureKind, LeaseEvent, Work as Task};
use cantus_tests::installation::git;
use cantus_tests::kernel::{
    Coordinator, Crew, Habits, Items, PATIENCE, Taker, Upstream, settings, settings_with_lease,
};
use cantus_tests::nats::Nats;
use serde_json::json;

struct Stage {
    nats: Nats,
    upstream: Upstream,
    coordinator: Coordinator,
    worker: Taker,
    verifier: Taker,
}

async fn stage(settings: Settings) -> Stage {
    let nats = Nats::start(&["worker", "verifier"]);
    let upstream = Upstream::new();
    let coordinator = Coordinator::start_with_hub(&nats, &upstream.hub(), settings).await;
    let worker = Taker::worker(&nats, "worker").await;
    let verifier = Taker::verifier(&nats, "verifier").await;
    Stage { nats, upstream, coordinator, worker, verifier }
}

impl Stage {
    async fn submit(&self, run: &str, items: &Items) {
        let answer = self.coordinator.submit_to(run, &self.upstream.path(), &items.text()).await;
        assert_eq!(answer.run, run, "{:#?}", answer.diagnostics);
    }

    fn tree(&self, commit: &str) -> TreeId {
        TreeId::new(self.upstream.git(&["rev-parse", &format!("{commit}^{{tree}}")])).unwrap()
    }

    /// The hub's own repository.
    fn hub(&self) -> std::path::PathBuf {
        let entries = std::fs::read_dir(self.upstream.hub()).unwrap().flatten();
        let mut found =
            entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "git"));
        found.next().unwrap()
    }
}

fn write(path: &'static str, text: &'static str) -> impl Fn(&std::path::Path) {
    move |tree| {
        let path = tree.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// G1: evidence for tree X, the candidate is Y.
#[tokio::test(flavor = "multi_thread")]
async fn evidence_for_another_tree_proves_nothing() {
    let mut stage = stage(settings()).await;
    stage.submit("run", &Items::flat(&["a"])).await;
    let lease = stage.worker.take().await;
    lease.hand_in(&stage.upstream.checkout().work(write("out/a", "a"))).await;
    let check = stage.verifier.take().await;
    let mut other = check.candidate().clone();
    other.tree = stage.tree("main");
    let wrong = check.evidence(&other, 0);
    check.say(LeaseEvent::Evidence(wrong)).await;
    let second = stage.verifier.take().await;
    let item = stage.coordinator.item("run", "a").await;
    let reason = &item.attempts[1].reason;
    assert!(reason.contains(other.tree.as_str()), "{reason}");
    assert!(reason.contains(second.candidate().tree.as_str()), "{reason}");
    second.verify(0).await;
    stage.coordinator.until_state("run", "a", &["landed"]).await;
    stage.upstream.assert_audited(1);
}

/// G14, W9: the target moves by five commits during verification.
#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_moved_means_another_verification() {
    let mut stage = stage(settings()).await;
    stage.submit("run", &Items::flat(&["a"])).await;
    let lease = stage.worker.take().await;
    lease.hand_in(&stage.upstream.checkout().work(write("out/a", "a"))).await;
    let first = stage.verifier.take().await;
    let pushed = stage.upstream.push_by_hand("outside", 5);
    first.verify(0).await;
    let second = stage.verifier.take().await;
    assert_eq!(second.candidate().base, pushed);
    assert_ne!(second.candidate().tree, first.candidate().tree);
    assert_eq!(stage.upstream.head(), pushed, "nothing landed on the old evidence");
    second.verify(0).await;
    let item = stage.coordinator.until_state("run", "a", &["landed"]).await;
    assert_eq!(stage.tree("main"), second.candidate().tree);
    let kinds: Vec<&str> = item.attempts.iter().map(|attempt| attempt.kind.as_str()).collect();
    assert_eq!(kinds, ["produce", "verify", "verify"]);
    stage.upstream.assert_audited(1);
    assert_eq!(stage.upstream.git(&["cat-file", "-t", "main:outside-4.txt"]), "blob");
}

/// W5, G8: work is pinned until the target contains it, also when the coordinator is killed in mid-verification.
#[tokio::test(flavor = "multi_thread")]
async fn a_kill_in_mid_verification_loses_nothing_and_lands_once() {
    let mut stage = stage(settings()).await;
    stage.submit("run", &Items::flat(&["a", "b"])).await;
    let mut heads = Vec::new();
    for name in ["out/1", "out/2"] {
        let work = stage.upstream.checkout().work(write(name, "x"));
        heads.push(work.head.clone());
        stage.worker.take().await.hand_in(&work).await;
    }
    let check = stage.verifier.take().await;
    for item in ["a", "b"] {
        stage.coordinator.until_state("run", item, &["gated", "verifying"]).await;
    }
    stage.coordinator.until_state("run", check.attempt.item.as_str(), &["verifying"]).await;
    let hub = stage.hub();
    stage.coordinator.kill();
    git(&hub, &["reflog", "expire", "--expire=now", "--all"]);
    git(&hub, &["gc", "-q", "--prune=now"]);
    for head in &heads {
        assert_eq!(git(&hub, &["cat-file", "-t", head.as_str()]), "commit", "it was pruned");
    }
    // What a verifier says while nobody coordinates counts afterwards.
    check.verify(0).await;
    stage.coordinator =
        Coordinator::start_with_hub(&stage.nats, &stage.upstream.hub(), settings()).await;
    stage.coordinator.until_state("run", check.attempt.item.as_str(), &["landed"]).await;
    let crew = Crew::landing(&stage.nats, &stage.upstream, (0, 1), &Habits::default()).await;
    assert_eq!(stage.coordinator.until_ended("run").await.state, "completed");
    crew.dismiss().await;
    let mut landed = stage.upstream.trailers("Cantus-Item");
    landed.sort();
    assert_eq!(landed, ["a", "b"]);
    for head in &heads {
        let _ = stage.upstream.git(&["merge-base", "--is-ancestor", head.as_str(), "main"]);
    }
    stage.upstream.assert_audited(2);
}

/// W8: three items edit one line. The first lands; the second is redone on the new base; the third conflicts twice.
#[tokio::test(flavor = "multi_thread")]
async fn a_conflict_is_redone_once_and_then_a_persons() {
    let mut stage = stage(settings()).await;
    let start = stage.upstream.head();
    stage.submit("run", &Items::flat(&["a", "b", "c"]).each("attempts_max", &json!(5))).await;
    let clone = stage.upstream.checkout();
    let mut works = Vec::new();
    for text in ["A\ntwo\nthree\n", "B\ntwo\nthree\n", "C\ntwo\nthree\n"] {
        let lease = stage.worker.take().await;
        let work = clone.work(write("shared/list.txt", text));
        lease.hand_in(&work).await;
        works.push((lease.attempt.item.as_str().to_owned(), work));
    }
    let first = stage.verifier.take().await;
    let landed = first.attempt.item.as_str().to_owned();
    first.verify(0).await;
    stage.coordinator.until_state("run", &landed, &["landed"]).await;
    // Others that were merged onto the old head are verified for nothing; whatever they show, they do not land.
    let mut redone = Vec::new();
    let crew = Crew::landing(&stage.nats, &stage.upstream, (0, 1), &Habits::default()).await;
    for _ in 0..2 {
        let lease = stage.worker.take().await;
        let Task::Repair(defect) = &lease.attempt.work else { panic!("{:?}", lease.attempt.work) };
        assert!(defect.summary.contains("shared/list.txt"), "{}", defect.summary);
        let kept = defect.work.clone().unwrap();
        let (_, work) = works.iter().find(|(id, _)| id == lease.attempt.item.as_str()).unwrap();
        assert_eq!((&kept.base, &kept.head), (&work.base, &work.head), "its own work is kept");
        assert_eq!(lease.attempt.base_min, stage.upstream.head(), "the redo begins on what landed");
        redone.push(lease);
    }
    // One mends it, the other does not listen.
    let mended = clone.work(write("shared/list.txt", "A and B\ntwo\nthree\n"));
    redone[0].hand_in(&mended).await;
    stage.coordinator.until_state("run", redone[0].attempt.item.as_str(), &["landed"]).await;
    let stubborn = clone.work_at(start.as_str(), write("shared/list.txt", "mine\ntwo\nthree\n"));
    redone[1].hand_in(&stubborn).await;
    let item =
        stage.coordinator.until_state("run", redone[1].attempt.item.as_str(), &["parked"]).await;
    assert!(item.summary.as_ref().unwrap().reason.contains("conflict"), "{item:#?}");
    let conflicts: Vec<_> = item.attempts.iter().filter(|a| a.state == "conflict").collect();
    assert_eq!(conflicts.len(), 2);
    assert!(conflicts.iter().all(|attempt| attempt.bundle.is_some()), "work was lost");
    let record = stage.coordinator.until_parked("run", redone[1].attempt.item.as_str()).await;
    assert!(record.contains(stubborn.head.as_str()), "{record}");
    assert_eq!(stage.coordinator.until_ended("run").await.state, "failed");
    stage.upstream.assert_audited(2);
    crew.dismiss().await;
}

/// A refuted result is repaired from its findings; the repair lands.
#[tokio::test(flavor = "multi_thread")]
async fn a_refuted_result_comes_back_as_a_repair() {
    let mut stage = stage(settings()).await;
    stage.submit("run", &Items::flat(&["a"])).await;
    let clone = stage.upstream.checkout();
    stage.worker.take().await.hand_in(&clone.work(write("out/a", "wrong"))).await;
    stage.verifier.take().await.verify(1).await;
    let repair = stage.worker.take().await;
    let Task::Repair(defect) = &repair.attempt.work else { panic!("{:?}", repair.attempt.work) };
    assert_eq!(defect.findings, ["AC-01: exit code 1"]);
    repair.hand_in(&clone.work(write("out/a", "right"))).await;
    stage.verifier.take().await.verify(0).await;
    stage.coordinator.until_state("run", "a", &["landed"]).await;
    assert_eq!(stage.upstream.git(&["show", "main:out/a"]), "right");
    // Out of scope is kept out before anybody verifies it.
    stage.submit("next", &Items::flat(&["b"]).each("attempts_max", &json!(1))).await;
    stage.worker.take().await.hand_in(&clone.work(write("elsewhere/b", "b"))).await;
    let item = stage.coordinator.until_state("next", "b", &["parked"]).await;
    assert_eq!(item.attempts[0].state, "kept out");
    assert!(item.summary.unwrap().reason.contains("elsewhere/b"));
    stage.upstream.assert_audited(1);
}

/// A fast-forward run leaves a straight history.
#[tokio::test(flavor = "multi_thread")]
async fn a_fast_forward_run_leaves_a_straight_line() {
    let stage = stage(settings()).await;
    let items = Items::flat(&["a", "b"]).needing("c", &["a", "b"]);
    let text = items.text_fast_forward();
    stage.coordinator.submit_to("run", &stage.upstream.path(), &text).await;
    let crew = Crew::landing(&stage.nats, &stage.upstream, (2, 2), &Habits::default()).await;
    assert_eq!(stage.coordinator.until_ended("run").await.state, "completed");
    crew.dismiss().await;
    assert_eq!(stage.upstream.git(&["rev-list", "--merges", "main"]), "");
    let landed = stage.upstream.trailers("Cantus-Item");
    assert_eq!((landed.len(), landed[2].as_str()), (3, "c"));
    assert_eq!(stage.upstream.git(&["rev-list", "--count", "main"]), "4");
    stage.upstream.assert_audited(3);
}

/// Bytes that do not compress.
fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    };
    std::iter::repeat_with(next).take(bytes).collect()
}

/// Q31: results of no bytes, of 5 MB, and over the limit.
#[tokio::test(flavor = "multi_thread")]
async fn results_are_carried_or_refused_with_size_and_limit() {
    const LIMIT: u64 = 6 << 20;
    let mut stage = stage(Settings { artifact_bytes_max: LIMIT, ..settings() }).await;
    let clone = stage.upstream.checkout();
    let crew = Crew::landing(&stage.nats, &stage.upstream, (0, 1), &Habits::default()).await;

    stage.submit("nothing", &Items::flat(&["a"])).await;
    let nothing = clone.work(|_| ());
    assert!(nothing.bundle.is_none());
    stage.worker.take().await.hand_in(&nothing).await;
    stage.coordinator.until_state("nothing", "a", &["landed"]).await;

    stage.submit("large", &Items::flat(&["a"])).await;
    let large = clone.work(|tree| {
        std::fs::create_dir_all(tree.join("out")).unwrap();
        std::fs::write(tree.join("out/large"), noise(5_000_000)).unwrap();
    });
    stage.worker.take().await.hand_in(&large).await;
    stage.coordinator.until_state("large", "a", &["landed"]).await;
    assert_eq!(stage.upstream.git(&["cat-file", "-s", "main:out/large"]), "5000000");

    // An honest worker finds out by itself, and says so.
    let once = Items::flat(&["a"]).each("attempts_max", &json!(1));
    stage.submit("over", &once).await;
    let over = clone.work(|tree| std::fs::write(tree.join("out/over"), noise(7_000_000)).unwrap());
    let bytes = over.bundle.clone().unwrap();
    let lease = stage.worker.take().await;
    let limit = lease.attempt.limits.artifact_bytes_max;
    let refused = stage.worker.bus.put_blob(&bytes, limit, PATIENCE).await.unwrap_err();
    assert!(matches!(refused, BlobError::TooLarge { limit: LIMIT, .. }), "{refused}");
    lease.fail(FailureKind::TooLarge, &refused.to_string()).await;
    assert_names(&stage.coordinator, "over", bytes.len()).await;

    // One that hands it in all the same is kept out at once, without fetching it.
    stage.submit("cheat", &once).await;
    let lease = stage.worker.take().await;
    let mut result = lease.result(&nothing).await;
    let blob = stage.worker.bus.put_blob(&bytes, 2 * LIMIT, PATIENCE).await.unwrap();
    (result.bundle, result.head) = (Some(blob), over.head.clone());
    lease.say(LeaseEvent::Result(result.clone())).await;
    assert_names(&stage.coordinator, "cheat", bytes.len()).await;

    // And so is one that names a bundle which it never stored.
    stage.submit("missing", &once).await;
    let lease = stage.worker.take().await;
    result.bundle = Some(cantus_proto::ids::Blob {
        sha256: cantus_proto::ids::Digest::of(b"never stored"),
        size_bytes: 12,
    });
    lease.say(LeaseEvent::Result(result)).await;
    let item = stage.coordinator.until_state("missing", "a", &["parked"]).await;
    assert!(item.summary.unwrap().reason.contains("is not in the store"));
    crew.dismiss().await;
    stage.upstream.assert_audited(2);
}

async fn assert_names(coordinator: &Coordinator, run: &str, bytes: usize) {
    let item = coordinator.until_state(run, "a", &["parked"]).await;
    assert_eq!(item.attempts.len(), 1, "it was tried again");
    let reason = item.summary.unwrap().reason;
    let named = reason.contains(&bytes.to_string()) && reason.contains(&(6 << 20).to_string());
    assert!(named, "{reason}");
}

/// A verifier that dies is replaced, and the item verified by another.
#[tokio::test(flavor = "multi_thread")]
async fn a_verifier_that_dies_does_not_refute() {
    let mut stage = stage(settings_with_lease(2000)).await;
    stage.submit("run", &Items::flat(&["a"])).await;
    let work = stage.upstream.checkout().work(write("out/a", "a"));
    stage.worker.take().await.hand_in(&work).await;
    let first = stage.verifier.take().await;
    let second = stage.verifier.take().await;
    assert_eq!(second.attempt.work.kind(), AttemptKind::Verify);
    assert!(first.attempt.number < second.attempt.number);
    // Too late: its evidence is right and no longer asked for.
    first.verify(1).await;
    second.verify(0).await;
    stage.coordinator.until_state("run", "a", &["landed"]).await;
    stage.upstream.assert_audited(1);
}

/// A push waits in this hook until the file `go` is there.
const HOOK: &str = "#!/bin/sh\nwhile [ ! -e go ]; do sleep 0.02; done\n";

/// Q29: cancelled twice while it lands. What has landed cannot be taken back; what has not is over.
#[tokio::test(flavor = "multi_thread")]
async fn a_landing_that_is_cancelled_lands_whole_or_not_at_all() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut stage = stage(settings()).await;
    let hook = stage.upstream.path().join("hooks/pre-receive");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    let clone = stage.upstream.checkout();
    for (run, head_moves, state) in [("lands", false, "landed"), ("moves", true, "cancelled")] {
        let outside = stage.upstream.git(&[
            "-c",
            "user.name=p",
            "-c",
            "user.email=p@localhost",
            "commit-tree",
            "-p",
            "main",
            "-m",
            "outside",
            "main^{tree}",
        ]);
        std::fs::write(&hook, HOOK).unwrap();
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
        stage.submit(run, &Items::flat(&["a"])).await;
        let path = if head_moves { "out/2" } else { "out/1" };
        stage.worker.take().await.hand_in(&clone.work(write(path, "x"))).await;
        stage.verifier.take().await.verify(0).await;
        stage.coordinator.until_state(run, "a", &["landing"]).await;
        for _ in 0..2 {
            assert_eq!(stage.coordinator.cancel(run, "").await, Vec::<String>::new());
            assert_eq!(stage.coordinator.cancel(run, "a").await, Vec::<String>::new());
        }
        if head_moves {
            let _ = stage.upstream.git(&["update-ref", "refs/heads/main", &outside]);
        }
        std::fs::write(stage.upstream.path().join("go"), "").unwrap();
        let view = stage.coordinator.until_ended(run).await;
        assert_eq!(view.items[0].state, state, "{run}");
        std::fs::remove_file(stage.upstream.path().join("go")).unwrap();
        std::fs::remove_file(&hook).unwrap();
    }
    assert_eq!(stage.upstream.trailers("Cantus-Run"), ["lands"]);
    let refs = git(&stage.hub(), &["for-each-ref", "--format=%(refname)", "refs/cantus/candidate"]);
    assert!(!refs.contains("lands"), "the candidate of what landed is still pinned: {refs}");
}

/// Q10: a parked item is requeued by a person: its record goes, its attempts begin at one again.
#[tokio::test(flavor = "multi_thread")]
async fn a_parked_item_can_be_put_back() {
    use cantus_proto::wire::v1::{RequeueRequest, cantus_server::Cantus as _};
    let mut stage = stage(settings()).await;
    stage
        .submit("run", &Items::flat(&["a"]).needing("b", &["a"]).each("attempts_max", &json!(1)))
        .await;
    let lease = stage.worker.take().await;
    lease.fail(FailureKind::Agent, "it broke").await;
    let run = stage.coordinator.until_ended("run").await;
    assert_eq!((run.items[0].state.as_str(), run.items[1].state.as_str()), ("parked", "blocked"));
    let id = lease.attempt.item.clone();
    let record = stage.coordinator.until_parked("run", "a").await;
    assert!(record.contains("it broke") && record.contains("1 Produce: failed"), "{record}");
    let request = RequeueRequest { run: "run".to_owned(), item: "a".to_owned() };
    stage.coordinator.api.requeue(tonic::Request::new(request)).await.unwrap();
    assert_eq!(stage.coordinator.bus().parked(&lease.attempt.run, &id).await.unwrap(), None);
    let item = stage.coordinator.until_state("run", "a", &["queued"]).await;
    assert_eq!(item.summary.unwrap().attempt, 1);
    assert_eq!(stage.coordinator.item("run", "b").await.summary.unwrap().state, "waiting");
    let crew = Crew::landing(&stage.nats, &stage.upstream, (1, 1), &Habits::default()).await;
    assert_eq!(stage.coordinator.until_ended("run").await.state, "completed");
    crew.dismiss().await;
    stage.upstream.assert_audited(2);
}

/// Q7: the bus comes back with a store that is older than what was done: the coordinator sees it, and its successor
/// finds what landed in git; nothing lands twice, and what was lost goes out again.
#[tokio::test(flavor = "multi_thread")]
async fn a_bus_with_an_older_store_lands_nothing_twice() {
    let mut stage = stage(settings_with_lease(3000)).await;
    stage.submit("run", &Items::flat(&["a", "b"]).needing("c", &["a"])).await;
    stage.coordinator.until_state("run", "a", &["queued"]).await;
    stage.nats.kill();
    stage.nats.snapshot();
    stage.nats.restart();
    let crew = Crew::landing(&stage.nats, &stage.upstream, (1, 1), &Habits::default()).await;
    stage.coordinator.until_state("run", "a", &["landed"]).await;
    stage.nats.kill();
    stage.nats.restore();
    stage.nats.restart();
    let error = stage.coordinator.failed().await;
    assert!(
        matches!(error, KernelError::Older { expected, found } if found < expected),
        "{error:?}"
    );
    let again =
        Coordinator::start_with_hub(&stage.nats, &stage.upstream.hub(), settings_with_lease(3000))
            .await;
    assert_eq!(again.item("run", "a").await.summary.unwrap().state, "landed", "found in git");
    let run = again.until_ended("run").await;
    assert!(run.items.iter().all(|item| item.state == "landed"), "{run:#?}");
    crew.dismiss().await;
    let mut landed = stage.upstream.trailers("Cantus-Item");
    landed.sort();
    assert_eq!(landed, ["a", "b", "c"]);
    stage.upstream.assert_audited(3);
}
