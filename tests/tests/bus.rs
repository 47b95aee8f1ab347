//! The bus on a real server: what each user may do, and what survives which fault.

#![expect(clippy::unwrap_used, reason = "a test ends where it is surprised")]

use std::time::Duration;

use bytes::Bytes;
use cantus_proto::bus::{
    AppendError, BlobError, BlobOrphans, Bus, BusError, ConnectError, Enqueued, HeartbeatAnswer,
};
use cantus_proto::contract::{AllowedScope, Budgets, Contract, Criterion};
use cantus_proto::ids::{
    AttemptNumber, Blob, CommitId, CriterionId, Digest, ItemId, LeaseId, RepositoryId, RoleName,
    RunId,
};
use cantus_proto::message::{
    Attempt, AttemptKind, AttemptLimits, Heartbeat, HeartbeatReply, LeaseEvent, LeaseReport,
    Report, SourceUpdate, Work,
};
use cantus_proto::subjects::{BusUser, STREAM_REPORTS, STREAM_WORK};
use cantus_tests::nats::Nats;
use futures::StreamExt as _;
use tokio::time::{Instant, timeout};

/// Longer than anything here may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// For waits that are to end empty.
const SHORT: Duration = Duration::from_millis(300);

const MIB: u64 = 1024 * 1024;

fn role(name: &str) -> RoleName {
    RoleName::new(name).unwrap()
}

fn run() -> RunId {
    RunId::new("run.1").unwrap()
}

fn attempt(item: &str, number: u32) -> Attempt {
    let criterion = Criterion {
        id: CriterionId::new("tests").unwrap(),
        statement: "they pass".into(),
        checker: "true".into(),
    };
    Attempt {
        run: run(),
        item: ItemId::new(item).unwrap(),
        number: AttemptNumber(number),
        role: role("coder"),
        contract: Contract {
            goal: "goal".into(),
            deliverables: vec![],
            acceptance_criteria: vec![criterion],
            non_goals: vec![],
            allowed_scope: AllowedScope { paths: vec!["src/".into()], tools: vec![] },
            budgets: Budgets {
                wall_clock_minutes: 5,
                token_budget: Some(1),
                cost_budget: None,
                max_agents: 1,
                verification_ratio: 0.2,
                first_artifact_ratio: 0.30,
            },
            forbidden_actions: vec![],
        },
        repository: RepositoryId::of("/repo"),
        target: "refs/heads/main".into(),
        base_min: CommitId::new("a".repeat(40)).unwrap(),
        work: Work::Produce,
        route: cantus_proto::message::Route::default(),
        preamble: None,
        learnings: vec![],
        limits: AttemptLimits {
            heartbeat_ms: 2000,
            lease_ms: 15_000,
            wall_clock_ms: 60_000,
            artifact_bytes_max: MIB,
            files_max: 10,
            tokens_max: None,
            cost_max: None,
            window_ms: 60_000,
        },
    }
}

fn progress(text: &str) -> Report {
    Report::Lease(LeaseReport {
        lease: LeaseId::from_bytes([1; 16]),
        run: run(),
        item: ItemId::new("a").unwrap(),
        attempt: AttemptNumber(1),
        kind: AttemptKind::Produce,
        body: LeaseEvent::Progress(text.into()),
    })
}

fn text_of(report: &Report) -> String {
    match report {
        Report::Lease(LeaseReport { body: LeaseEvent::Progress(text), .. }) => text.clone(),
        other => panic!("not progress: {other:?}"),
    }
}

fn beat() -> Heartbeat {
    Heartbeat {
        lease: LeaseId::from_bytes([1; 16]),
        run: run(),
        item: ItemId::new("a").unwrap(),
        attempt: AttemptNumber(1),
        note: String::new(),
        pulse: None,
    }
}

/// A connection that is not held to our own code, and what the server refused on it.
async fn raw(
    nats: &Nats,
    user: &BusUser,
) -> (async_nats::Client, tokio::sync::mpsc::UnboundedReceiver<String>) {
    let (refusals_tx, refusals) = tokio::sync::mpsc::unbounded_channel();
    let options = async_nats::ConnectOptions::with_user_and_password(user.name(), user.name())
        .custom_inbox_prefix(user.inbox_prefix())
        .event_callback(move |event| {
            let refusals_tx = refusals_tx.clone();
            async move {
                if let async_nats::Event::ServerError(error) = event {
                    let _ = refusals_tx.send(error.to_string());
                }
            }
        });
    (options.connect(nats.url()).await.unwrap(), refusals)
}

#[tokio::test]
async fn a_worker_may_do_its_work_and_nothing_else() {
    let nats = Nats::start(&["coder", "other"]);
    let coordinator = nats.coordinator(&["coder", "other"]).await;
    coordinator.publish_attempt(&attempt("a", 1)).await.unwrap();
    let user = BusUser::Worker(role("coder"));
    let (hostile, mut refusals) = raw(&nats, &user).await;
    let forbidden = [
        "$JS.API.STREAM.MSG.GET.CANTUS_JOURNAL",
        "$JS.API.DIRECT.GET.CANTUS_JOURNAL",
        "$JS.API.STREAM.DELETE.CANTUS_WORK",
        "$JS.API.STREAM.PURGE.OBJ_CANTUS_BLOBS",
        "$JS.API.STREAM.MSG.DELETE.CANTUS_REPORTS",
        "$JS.API.STREAM.UPDATE.CANTUS_JOURNAL",
        "$JS.API.CONSUMER.CREATE.OBJ_CANTUS_BLOBS.x",
        "$JS.API.CONSUMER.CREATE.CANTUS_JOURNAL.x",
        "$JS.API.CONSUMER.MSG.NEXT.CANTUS_WORK.normal-other",
        "$JS.API.CONSUMER.DELETE.CANTUS_WORK.normal-coder",
        "$JS.ACK.CANTUS_WORK.normal-other.1.1.1.1.0",
        "cantus.journal.r",
        "cantus.work.coder.normal.r.i.1",
        "cantus.report.other",
        "cantus.heartbeat.other",
        "cantus.source.x",
        "cantus.parked.r.i",
        "_INBOX.coordinator.x",
        "$SYS.REQ.SERVER.PING",
    ];
    for subject in forbidden {
        hostile.publish(subject, Bytes::from_static(b"{}")).await.unwrap();
        let refusal = timeout(PATIENCE, refusals.recv()).await.unwrap().unwrap().to_lowercase();
        assert!(refusal.contains(&subject.to_lowercase()), "{subject}: {refusal}");
    }
    let (host, mut host_refusals) = raw(&nats, &BusUser::Pool).await;
    for subject in [
        "$JS.API.CONSUMER.CREATE.CANTUS_SOURCES.x",
        "$JS.API.DIRECT.GET.CANTUS_JOURNAL",
        "$JS.API.CONSUMER.MSG.NEXT.CANTUS_WORK.normal-coder",
        "cantus.source.x",
        "cantus.journal.r",
        "cantus.work.coder.normal.r.i.1",
    ] {
        host.publish(subject, Bytes::from_static(b"{}")).await.unwrap();
        let refusal = timeout(PATIENCE, host_refusals.recv()).await.unwrap().unwrap();
        assert!(refusal.to_lowercase().contains(&subject.to_lowercase()), "{subject}: {refusal}");
    }
    for subject in
        [">", "cantus.>", "_INBOX.>", "_INBOX.coordinator.>", "_INBOX.worker-other.>", "$JS.ACK.>"]
    {
        let _subscription = hostile.subscribe(subject).await.unwrap();
        let refusal = timeout(PATIENCE, refusals.recv()).await.unwrap().unwrap().to_lowercase();
        assert!(refusal.contains("permissions violation"), "{subject}: {refusal}");
    }
    assert_eq!(coordinator.stream_names().await.unwrap().len(), 6);
    assert_eq!(coordinator.journal_last_sequence().await.unwrap(), 0);

    let worker = nats.worker("coder").await;
    let taken = worker.lease_next(&role("coder"), PATIENCE).await.unwrap().unwrap();
    assert_eq!(taken.attempt, attempt("a", 1));
    worker.report(&role("coder"), &progress("1"), PATIENCE).await.unwrap();
    taken.ack().await.unwrap();
    let blob = worker.put_blob(b"log", MIB, PATIENCE).await.unwrap();
    assert_eq!(worker.get_blob(&blob, MIB, PATIENCE).await.unwrap(), b"log");
    let entry = coordinator.reports(1).next().await.unwrap();
    assert_eq!((entry.role, text_of(&entry.report.unwrap()).as_str()), (Some(role("coder")), "1"));
}

#[tokio::test]
async fn each_way_of_not_connecting_has_its_message() {
    let nats = Nats::start(&[]);
    nats.coordinator(&[]).await;
    let mut wrong = nats.config(&BusUser::Coordinator);
    wrong.password = "guess".into();
    let error = Bus::connect(wrong).await.unwrap_err();
    assert!(matches!(error, ConnectError::Refused { .. }), "{error}");
    let mut nobody = nats.config(&BusUser::Coordinator);
    nobody.url = "nats://127.0.0.1:1".into();
    nobody.wait = Duration::ZERO;
    let error = Bus::connect(nobody).await.unwrap_err();
    assert!(error.to_string().contains("nats://127.0.0.1:1 cannot be reached"), "{error}");

    let off = Nats::start_changed(&[BusUser::Coordinator], |config| {
        config.lines().filter(|line| !line.starts_with("jetstream")).collect::<Vec<_>>().join("\n")
    });
    let error = off.connect(&BusUser::Coordinator).await.ensure_streams().await.unwrap_err();
    assert!(error.to_string().contains("JetStream is off"), "{error}");
    let small = Nats::start_changed(&[BusUser::Coordinator], |config| {
        config.replace("jetstream {", "jetstream { max_file_store: 10MB,")
    });
    let error = small.connect(&BusUser::Coordinator).await.ensure_streams().await.unwrap_err();
    assert!(error.to_string().contains("no space left"), "{error}");
    let role = role("coder");
    let unready = Nats::start(&["coder"]);
    let error = unready.worker("coder").await.lease_next(&role, SHORT).await.unwrap_err();
    assert!(matches!(error, BusError::NotServed { .. }), "{error}");
}

/// Q23: a coordinator that starts again and again, without an orderly end.
#[tokio::test]
async fn restarts_leave_streams_and_consumers_constant() {
    let nats = Nats::start(&["coder"]);
    for _ in 0..50 {
        let bus = nats.coordinator(&["coder", "check"]).await;
        let _left_open = timeout(Duration::from_millis(20), bus.reports(1).next()).await;
    }
    let bus = nats.coordinator(&["coder", "check"]).await;
    assert_eq!(bus.stream_names().await.unwrap().len(), 6);
    assert_eq!(bus.consumer_names(STREAM_WORK).await.unwrap(), ["normal-check", "normal-coder"]);
    let none_left = async {
        while !bus.consumer_names(STREAM_REPORTS).await.unwrap().is_empty() {
            tokio::time::sleep(SHORT).await;
        }
    };
    timeout(PATIENCE, none_left).await.expect("readers that went away are dropped");
}

#[tokio::test]
async fn one_attempt_is_queued_once() {
    let nats = Nats::start(&["coder"]);
    let bus = nats.coordinator(&["coder"]).await;
    let Enqueued::Queued { sequence } = bus.publish_attempt(&attempt("a", 1)).await.unwrap() else {
        panic!("it is the first")
    };
    // Within the window the id tells; afterwards, or for another id, the subject does.
    let again = bus.publish_attempt(&attempt("a", 1)).await.unwrap();
    assert_eq!(again, Enqueued::Duplicate { sequence });
    let (raw, _) = raw(&nats, &BusUser::Coordinator).await;
    let store = async_nats::jetstream::new(raw);
    let refused =
        store.publish("cantus.work.coder.normal.run=2E1.a.1", "x".into()).await.unwrap().await;
    assert!(refused.unwrap_err().to_string().contains("maximum messages per subject"));
    assert_eq!(bus.queue_depth(&role("coder")).await.unwrap().waiting, 1);
    assert_eq!(bus.oldest(&role("coder")).await.unwrap().unwrap().attempt, attempt("a", 1));
    assert_eq!(bus.queued_attempt(&attempt("a", 1)).await.unwrap().unwrap().sequence, sequence);
    bus.withdraw(sequence).await.unwrap();
    bus.withdraw(sequence).await.unwrap();
    assert_eq!(bus.oldest(&role("coder")).await.unwrap(), None);
    let none = nats.worker("coder").await.lease_next(&role("coder"), SHORT).await.unwrap();
    assert!(none.is_none());
}

/// Q27: whatever an id is, it is one token.
#[tokio::test]
async fn ids_inject_nothing_into_subjects() {
    let nats = Nats::start(&["coder"]);
    let bus = nats.coordinator(&["coder"]).await;
    let items = [
        "a", "a.b", "*", ">", "a b", "..", "/", "%41", "=41", "A", "\"", "🎼", "é", "e\u{301}", ":",
    ];
    for item in items {
        let queued = bus.publish_attempt(&attempt(item, 1)).await.unwrap();
        assert!(matches!(queued, Enqueued::Queued { .. }), "{item}: {queued:?}");
    }
    let worker = nats.worker("coder").await;
    let mut queue = worker.work_queue(&role("coder")).await.unwrap();
    for item in items {
        let taken = queue.next(PATIENCE).await.unwrap().unwrap();
        assert_eq!(taken.attempt.item.as_str(), item);
        taken.ack().await.unwrap();
    }
    for (sequence, name) in ["r.*", "r.>", "r"].into_iter().enumerate() {
        let run = RunId::new(name).unwrap();
        let appended = bus.journal_append(&run, Bytes::new(), sequence as u64, name).await.await;
        assert_eq!(appended.unwrap(), sequence as u64 + 1);
    }
    let (_, entries) = bus.journal_replay().await.unwrap();
    let runs: Vec<_> = entries.map(|entry| entry.unwrap().run.to_string()).collect().await;
    assert_eq!(runs, ["r.*", "r.>", "r"]);
}

#[tokio::test]
async fn two_appenders_fence_each_other() {
    let nats = Nats::start(&[]);
    let first = nats.coordinator(&[]).await;
    let second = nats.coordinator(&[]).await;
    let append = |bus: Bus, text: &'static str, expected: u64| async move {
        bus.journal_append(&run(), Bytes::from_static(text.as_bytes()), expected, text).await
    };
    assert_eq!(append(first.clone(), "a1", 0).await.await.unwrap(), 1);
    assert_eq!(append(second.clone(), "b1", 1).await.await.unwrap(), 2);
    // The first does not know of the second, and has three under way.
    let mut under_way = Vec::new();
    for (text, expected) in [("a2", 1), ("a3", 2), ("a4", 3)] {
        under_way.push(append(first.clone(), text, expected).await);
    }
    let error = under_way.remove(0).await.unwrap_err();
    assert!(matches!(error, AppendError::Fenced { expected: 1, .. }), "{error}");
    // Its own append, whose acknowledgement it lost, is not somebody else's.
    assert_eq!(append(second, "b1", 1).await.await.unwrap(), 2);
}

#[tokio::test]
async fn appends_and_reports_survive_kills_once_and_in_order() {
    const MESSAGES: u64 = 2000;
    let mut nats = Nats::start(&["coder"]);
    let bus = nats.coordinator(&["coder"]).await;
    let worker = nats.worker("coder").await;
    let reader = tokio::spawn({
        let reports = bus.reports(1).into_stream();
        let reports = reports.map(|entry| (entry.sequence, text_of(&entry.report.unwrap())));
        reports.take(MESSAGES as usize).collect::<Vec<_>>()
    });
    let (reported, mut reported_so_far) = tokio::sync::watch::channel(0);
    let reporter = tokio::spawn(async move {
        for number in 0..MESSAGES {
            let report = progress(&number.to_string());
            worker.report(&role("coder"), &report, PATIENCE).await.unwrap();
            reported.send(number).unwrap();
        }
        reported
    });
    let (appended, mut appended_so_far) = tokio::sync::watch::channel(0);
    let appender = tokio::spawn({
        let bus = bus.clone();
        async move {
            let mut under_way = futures::stream::FuturesOrdered::new();
            for expected in 0..MESSAGES {
                let payload = Bytes::from(expected.to_string());
                let id = format!("append {expected}");
                let pending = bus.journal_append(&run(), payload, expected, &id).await;
                under_way.push_back(pending.into_future());
                if under_way.len() >= 32 {
                    appended.send(under_way.next().await.unwrap().unwrap()).unwrap();
                }
            }
            while let Some(appended) = under_way.next().await {
                appended.unwrap();
            }
            appended
        }
    });
    // In the middle of both, three times.
    for quarter in 1..4 {
        let far = |so_far: &u64| *so_far >= quarter * MESSAGES / 4;
        if quarter % 2 == 1 {
            timeout(PATIENCE, reported_so_far.wait_for(far)).await.unwrap().unwrap();
        } else {
            timeout(PATIENCE, appended_so_far.wait_for(far)).await.unwrap().unwrap();
        }
        nats.kill();
        nats.restart();
    }
    timeout(PATIENCE * 3, reporter).await.unwrap().unwrap();
    timeout(PATIENCE * 3, appender).await.unwrap().unwrap();
    let reports = timeout(PATIENCE, reader).await.unwrap().unwrap();
    let expected: Vec<_> = (0..MESSAGES).map(|number| (number + 1, number.to_string())).collect();
    assert_eq!(reports, expected);
    let (last, entries) = bus.journal_replay().await.unwrap();
    let payloads: Vec<_> = entries.map(|entry| entry.unwrap().payload).collect().await;
    assert_eq!(last, MESSAGES);
    assert_eq!(
        payloads,
        (0..MESSAGES).map(|number| Bytes::from(number.to_string())).collect::<Vec<_>>()
    );
}

/// Q15, Q21: dead takers hold messages for one lease, and nothing else.
#[tokio::test]
async fn dead_takers_do_not_starve_the_living() {
    const LEASE: Duration = Duration::from_secs(2);
    let nats = Nats::start(&["coder"]);
    let bus = nats.coordinator(&["coder"]).await;
    bus.ensure_consumers_with(&[role("coder")], LEASE).await.unwrap();
    for item in 0..40 {
        bus.publish_attempt(&attempt(&item.to_string(), 1)).await.unwrap();
    }
    let dead = nats.worker("coder").await;
    let mut queue = dead.work_queue(&role("coder")).await.unwrap();
    for _ in 0..39 {
        queue.next(PATIENCE).await.unwrap().unwrap();
    }
    drop((queue, dead));
    assert_eq!(bus.queue_depth(&role("coder")).await.unwrap().taken, 39);
    let worker = nats.worker("coder").await;
    let mut queue = worker.work_queue(&role("coder")).await.unwrap();
    let fresh = queue.next(SHORT).await.unwrap().unwrap();
    assert_eq!(fresh.attempt.item.as_str(), "39");
    fresh.ack().await.unwrap();
    let began = Instant::now();
    let mut again = std::collections::BTreeSet::new();
    while again.len() < 39 {
        let taken = queue.next(LEASE * 3).await.unwrap().expect("it comes back within the lease");
        again.insert(taken.attempt.item.to_string());
        taken.ack().await.unwrap();
    }
    assert!(began.elapsed() < LEASE * 3, "{:?}", began.elapsed());
    assert!(queue.next(SHORT).await.unwrap().is_none());
}

/// Q19: a taker that waits is served soon after the bus is back.
#[tokio::test]
async fn a_waiting_taker_survives_a_restart() {
    let mut nats = Nats::start(&["coder"]);
    let bus = nats.coordinator(&["coder"]).await;
    let worker = nats.worker("coder").await;
    let taker = tokio::spawn(async move { worker.lease_next(&role("coder"), PATIENCE).await });
    tokio::time::sleep(SHORT).await;
    nats.kill();
    nats.restart();
    let mut published = bus.publish_attempt(&attempt("a", 1)).await;
    while published.is_err() {
        published = bus.publish_attempt(&attempt("a", 1)).await;
    }
    let began = Instant::now();
    assert_eq!(taker.await.unwrap().unwrap().unwrap().attempt, attempt("a", 1));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

/// Q31: sizes at the edges.
#[tokio::test]
async fn blobs_of_all_sizes_are_carried_or_refused() {
    let nats = Nats::start(&["coder"]);
    nats.coordinator(&["coder"]).await;
    let bus = nats.worker("coder").await;
    let directory = tempfile::tempdir().unwrap();
    let limit = 5 * MIB;
    for size in [0, 1, 128 * 1024 - 1, 128 * 1024, 128 * 1024 + 1, limit - 1, limit] {
        let bytes: Vec<u8> = (0..size).map(|at| (at * 31 % 251) as u8).collect();
        let blob = bus.put_blob(&bytes, limit, PATIENCE).await.unwrap();
        assert_eq!(blob, Blob { sha256: Digest::of(&bytes), size_bytes: size });
        assert_eq!(
            bus.put_blob(&bytes, limit, PATIENCE).await.unwrap(),
            blob,
            "a second time it is there"
        );
        let path = directory.path().join("fetched");
        bus.get_blob_file(&blob, &path, limit, PATIENCE).await.unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
        assert_eq!(bus.put_blob_file(&path, limit, PATIENCE).await.unwrap(), blob);
    }
    let error =
        bus.put_blob(&vec![0; limit as usize + 1], limit, PATIENCE).await.unwrap_err().to_string();
    assert!(error.contains("5242881 bytes, the limit is 5242880"), "{error}");
    let big = bus.put_blob(&vec![7; 2000], limit, PATIENCE).await.unwrap();
    let error = bus.get_blob(&big, 1999, PATIENCE).await.unwrap_err();
    assert!(matches!(error, BlobError::TooLarge { size: 2000, limit: 1999 }), "{error}");
}

/// Q32: lost and flipped chunks, uploads broken off, and many at once.
#[tokio::test]
async fn damaged_blobs_are_refused_in_bounded_time() {
    let nats = Nats::start(&["coder"]);
    let coordinator = nats.coordinator(&["coder"]).await;
    let bus = nats.worker("coder").await;
    let (raw, _) = raw(&nats, &BusUser::Coordinator).await;
    let store = async_nats::jetstream::new(raw);
    let chunks = store.get_stream("OBJ_CANTUS_BLOBS").await.unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("fetched");

    let lost = bus.put_blob(&vec![1; 400_000], MIB, PATIENCE).await.unwrap();
    chunks.delete_message(2).await.unwrap();
    let began = Instant::now();
    let error = bus.get_blob_file(&lost, &path, MIB, PATIENCE).await.unwrap_err();
    assert!(matches!(error, BlobError::Damaged { .. }), "{error}");
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(
        std::fs::read_dir(directory.path()).unwrap().count(),
        0,
        "nothing half done is left"
    );
    coordinator.delete_blob(&lost).await.unwrap();
    assert!(matches!(
        bus.get_blob(&lost, MIB, PATIENCE).await.unwrap_err(),
        BlobError::Missing { .. }
    ));
    assert_eq!(bus.put_blob(&vec![1; 400_000], MIB, PATIENCE).await.unwrap(), lost);
    assert_eq!(bus.get_blob(&lost, MIB, PATIENCE).await.unwrap().len(), 400_000);

    // Flipped: the same description, other content.
    let flipped = bus.put_blob(b"good", MIB, PATIENCE).await.unwrap();
    let description = chunks.get_last_raw_message_by_subject("$O.CANTUS_BLOBS.M.*").await.unwrap();
    let text = String::from_utf8(description.payload.to_vec()).unwrap();
    let nuid = text.split("\"nuid\":\"").nth(1).unwrap().split('"').next().unwrap();
    chunks.delete_message(description.sequence - 1).await.unwrap();
    store.publish(format!("$O.CANTUS_BLOBS.C.{nuid}"), "evil".into()).await.unwrap().await.unwrap();
    let error = bus.get_blob(&flipped, MIB, PATIENCE).await.unwrap_err();
    assert!(error.to_string().contains("its content has the digest"), "{error}");

    // A description is data: it may name anything.
    let subject = description.subject.to_string();
    let hostile = text.replace(nuid, "*");
    store.publish(subject, hostile.into()).await.unwrap().await.unwrap();
    let error = bus.get_blob(&flipped, MIB, PATIENCE).await.unwrap_err();
    assert!(error.to_string().contains("names no upload"), "{error}");
    coordinator.delete_blob(&flipped).await.unwrap();

    // Broken off: chunks without a description. Now also those of the hostile description.
    store.publish("$O.CANTUS_BLOBS.C.0123abc", "half".into()).await.unwrap().await.unwrap();
    let orphans = coordinator.reclaim_blobs(&BlobOrphans::default()).await.unwrap();
    assert_eq!(orphans.count(), 2);
    let orphans = coordinator.reclaim_blobs(&orphans).await.unwrap();
    assert_eq!(coordinator.reclaim_blobs(&orphans).await.unwrap().count(), 0);
    assert_eq!(bus.get_blob(&lost, MIB, PATIENCE).await.unwrap().len(), 400_000);

    let uploads = (0..20_u8).map(|seed| {
        let bus = bus.clone();
        async move {
            let bytes = vec![seed / 2; 300_000];
            let blob = bus.put_blob(&bytes, MIB, PATIENCE).await.unwrap();
            assert_eq!(bus.get_blob(&blob, MIB, PATIENCE).await.unwrap(), bytes);
        }
    });
    futures::future::join_all(uploads).await;
}

#[tokio::test]
async fn heartbeats_are_answered_by_the_coordinator_alone() {
    let nats = Nats::start(&["coder"]);
    let coordinator = nats.coordinator(&["coder"]).await;
    let worker = nats.worker("coder").await;
    let coder = role("coder");
    assert_eq!(worker.heartbeat(&coder, &beat()).await.unwrap(), HeartbeatAnswer::NoAnswer);
    let mut heartbeats = coordinator.heartbeats().await.unwrap();
    let answers = tokio::spawn(async move {
        for reply in [HeartbeatReply::GoOn(vec![]), HeartbeatReply::Stop("superseded".into())] {
            let request = heartbeats.next().await.unwrap();
            assert_eq!(
                (request.role.as_str(), request.heartbeat.as_ref().unwrap()),
                ("coder", &beat())
            );
            request.answer(&reply).await.unwrap();
        }
        heartbeats
    });
    assert_eq!(worker.heartbeat(&coder, &beat()).await.unwrap(), HeartbeatAnswer::GoOn(vec![]));
    let stop = worker.heartbeat(&coder, &beat()).await.unwrap();
    assert_eq!(stop, HeartbeatAnswer::Stop("superseded".into()));
    let mut heartbeats = answers.await.unwrap();

    // Q40: an answer is not led where the asker could not publish by itself.
    let (hostile, _) = raw(&nats, &BusUser::Worker(coder)).await;
    let payload = beat().encode().unwrap();
    for reply in [
        "cantus.journal.r",
        "_INBOX.worker-coderx.y",
        "_INBOX.coordinator.y",
        "$JS.API.STREAM.DELETE.X",
    ] {
        hostile.publish_with_reply("cantus.heartbeat.coder", reply, payload.clone()).await.unwrap();
    }
    hostile.flush().await.unwrap();
    assert!(timeout(SHORT, heartbeats.next()).await.is_err());
}

/// Q40: what a worker may send and should not.
#[tokio::test]
async fn forged_messages_are_told_apart() {
    let nats = Nats::start(&["coder"]);
    let coordinator = nats.coordinator(&["coder"]).await;
    let (hostile, _) = raw(&nats, &BusUser::Worker(role("coder"))).await;
    hostile.publish("cantus.report.coder", Bytes::from_static(b"\xff\xff")).await.unwrap();
    hostile.publish("cantus.report.coder", Bytes::new()).await.unwrap();
    // The store's answer to a report is led into the journal: it is there, and no record.
    let payload = progress("1").encode().unwrap();
    hostile.publish_with_reply("cantus.report.coder", "cantus.journal.r", payload).await.unwrap();
    hostile.flush().await.unwrap();
    let mut reports = coordinator.reports(1);
    assert!(reports.next().await.unwrap().report.is_err());
    assert!(reports.next().await.unwrap().report.is_err());
    assert_eq!(text_of(&reports.next().await.unwrap().report.unwrap()), "1");
    let led = async {
        while coordinator.journal_last_sequence().await.unwrap() == 0 {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, led).await.expect("the server leads its answers anywhere");
    let (last, entries) = coordinator.journal_replay().await.unwrap();
    assert_eq!((last, entries.count().await), (1, 0));
    // A forged acknowledgement takes a message off the queue, and the queue says so.
    coordinator.publish_attempt(&attempt("a", 1)).await.unwrap();
    let worker = nats.worker("coder").await;
    let taken = worker.lease_next(&role("coder"), PATIENCE).await.unwrap().unwrap();
    hostile.publish("$JS.ACK.CANTUS_WORK.normal-coder.1.1.1.1.0", "+ACK".into()).await.unwrap();
    hostile.flush().await.unwrap();
    let gone = async {
        while coordinator.queued_attempt(&taken.attempt).await.unwrap().is_some() {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, gone).await.unwrap();
}

#[tokio::test]
async fn sources_reach_a_pool_in_order() {
    let mut nats = Nats::start(&["coder"]);
    let coordinator = nats.coordinator(&["coder"]).await;
    let pool = nats.connect(&BusUser::Pool).await;
    let blob = Blob { sha256: Digest::of(b"x"), size_bytes: 1 };
    let update = |head: &str, prerequisite: Option<&str>| SourceUpdate {
        repository: RepositoryId::of("/repo"),
        target: "refs/heads/main".into(),
        head: CommitId::new(head.repeat(40)).unwrap(),
        prerequisite: prerequisite.map(|digit| CommitId::new(digit.repeat(40)).unwrap()),
        bundle: blob.clone(),
    };
    let mut sources = pool.sources(1).await.unwrap();
    assert!(timeout(SHORT, sources.next()).await.is_err());
    coordinator.publish_source(&update("a", None), "1").await.unwrap();
    let began = Instant::now();
    assert_eq!(sources.next().await.unwrap().update.unwrap(), update("a", None));
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    coordinator.publish_source(&update("b", Some("a")), "2").await.unwrap();
    assert_eq!(sources.next().await.unwrap().update.unwrap(), update("b", Some("a")));
    nats.kill();
    nats.restart();
    let mut published = coordinator.publish_source(&update("c", None), "3").await;
    while published.is_err() {
        published = coordinator.publish_source(&update("c", None), "3").await;
    }
    assert_eq!(
        timeout(PATIENCE, sources.next()).await.unwrap().unwrap().update.unwrap(),
        update("c", None)
    );
    // A new mirror begins with the last complete bundle.
    let mut fresh = pool.sources(1).await.unwrap();
    assert_eq!(fresh.next().await.unwrap().sequence, published.unwrap());
}

#[tokio::test]
async fn parked_records_are_kept_once() {
    let nats = Nats::start(&[]);
    let bus = nats.coordinator(&[]).await;
    let item = ItemId::new("a.*").unwrap();
    bus.park(&run(), &item, Bytes::from_static(b"first"), "1").await.unwrap();
    bus.park(&run(), &item, Bytes::from_static(b"second"), "2").await.unwrap();
    assert_eq!(bus.parked(&run(), &item).await.unwrap().unwrap(), "second");
    bus.unpark(&run(), &item).await.unwrap();
    assert_eq!(bus.parked(&run(), &item).await.unwrap(), None);
}

#[tokio::test]
async fn a_long_journal_is_replayed_fast() {
    const MESSAGES: u64 = 100_000;
    let nats = Nats::start(&[]);
    let bus = nats.coordinator(&[]).await;
    let mut under_way = futures::stream::FuturesOrdered::new();
    for expected in 0..MESSAGES {
        let payload = Bytes::from(vec![b'x'; 100]);
        let pending = bus.journal_append(&run(), payload, expected, &expected.to_string()).await;
        under_way.push_back(pending.into_future());
        if under_way.len() >= 1000 {
            under_way.next().await.unwrap().unwrap();
        }
    }
    while let Some(appended) = under_way.next().await {
        appended.unwrap();
    }
    let began = Instant::now();
    let (last, entries) = bus.journal_replay().await.unwrap();
    assert_eq!((last, entries.count().await as u64), (MESSAGES, MESSAGES));
    let took = began.elapsed();
    println!("replayed {MESSAGES} messages in {took:?}");
    // A second on a quiet machine; the bound is for one that is shared.
    assert!(took < Duration::from_secs(5), "{took:?}");
}
