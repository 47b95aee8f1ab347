//! Submission through the API, as gRPC has it: whole or not at all; and the stream of views that follows.

use cantus_coordinator::grpc::service;
use cantus_proto::ids::NAME_BYTES_MAX;
use cantus_proto::subjects::{
    BusUser, STREAM_BLOBS, STREAM_JOURNAL, STREAM_PARKED, STREAM_REPORTS, STREAM_SOURCES,
    STREAM_WORK, token,
};
use cantus_proto::wire::v1::cantus_client::CantusClient;
use cantus_proto::wire::v1::{RunView, SubmitRequest, WatchRequest};
use cantus_tests::kernel::{Coordinator, Crew, Habits, Items, PATIENCE, Upstream, item, settings};
use cantus_tests::nats::Nats;
use serde_json::json;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::transport::Channel;

/// Messages that any stream ever stored.
async fn stored(nats: &Nats) -> u64 {
    let user = BusUser::Coordinator;
    let client = async_nats::ConnectOptions::with_user_and_password(user.name(), user.name())
        .custom_inbox_prefix(user.inbox_prefix())
        .connect(nats.url())
        .await
        .unwrap();
    let jetstream = async_nats::jetstream::new(client);
    let mut stored = 0;
    for name in
        [STREAM_WORK, STREAM_REPORTS, STREAM_JOURNAL, STREAM_PARKED, STREAM_SOURCES, STREAM_BLOBS]
    {
        stored += jetstream.get_stream(name).await.unwrap().cached_info().state.last_sequence;
    }
    stored
}

/// Q25, Q34: refused plans leave no run and no message behind, and every cause is named.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_plan_leaves_nothing_behind() {
    let nats = Nats::start(&["worker", "verifier"]);
    let upstream = Upstream::new();
    let coordinator = Coordinator::start_with_hub(&nats, &upstream.hub(), settings()).await;
    let ring = (0..1000).fold(Items::none(), |items, number| {
        items.needing(&format!("r{number}"), &[&format!("r{}", (number + 1) % 1000)])
    });
    let long = "x".repeat(NAME_BYTES_MAX + 1);
    let plans = [
        ("P012", Items::none().needing("a", &["a"]), "\"a\""),
        ("P013", Items::none().needing("a", &["b"]).needing("b", &["a"]), "a"),
        ("P013", ring, "r0"),
        ("P011", Items::none().needing("a", &["nobody"]), "nobody"),
        ("P010", Items::flat(&["twice", "twice"]), "twice"),
        ("P008", Items::flat(&["", ""]), "empty"),
        ("P009", Items::flat(&[&long]), "81 bytes"),
        ("P009", Items::flat(&["a\u{7}b"]), "control character"),
    ];
    for (code, items, named) in plans {
        let answer = coordinator.submit_to("run", &upstream.path(), &items.text()).await;
        assert_eq!(answer.run, "", "{code} was taken");
        let found = answer.diagnostics.iter().find(|d| d.error && d.code == code);
        let found = found.unwrap_or_else(|| panic!("{code}: {:#?}", answer.diagnostics));
        assert!(found.message.contains(named), "{code}: {}", found.message);
        assert!(found.line >= 1 && !found.hint.is_empty(), "{found:?}");
    }
    assert_eq!(coordinator.everything().await, []);
    assert_eq!(stored(&nats).await, 0, "something was published");
}

/// Q24: an empty plan, and needs on an empty set.
#[tokio::test(flavor = "multi_thread")]
async fn an_empty_plan_is_complete_at_once() {
    let nats = Nats::start(&["worker", "verifier"]);
    let upstream = Upstream::new();
    let coordinator = Coordinator::start_with_hub(&nats, &upstream.hub(), settings()).await;
    let answer = coordinator.submit_to("empty", &upstream.path(), &Items::none().text()).await;
    assert_eq!((answer.run.as_str(), answer.diagnostics.len()), ("empty", 0));
    let mut client = serve(&coordinator, &upstream).await;
    let request = WatchRequest { run: "empty".to_owned() };
    let mut views = client.watch(request).await.unwrap().into_inner();
    let first = views.message().await.unwrap().unwrap();
    assert_eq!((first.state.as_str(), first.items.len()), ("completed", 0));
    assert!(first.ended_ms >= first.started_ms && first.ended_ms > 0);
    assert_eq!(views.message().await.unwrap(), None, "the stream ends with the run");

    let answer = coordinator
        .submit_to("one", &upstream.path(), &Items::none().needing("a", &[]).text())
        .await;
    assert_eq!(answer.run, "one");
    coordinator.until_state("one", "a", &["queued"]).await;
}

/// A client on the unix socket, as the command line has it.
pub(super) async fn serve(coordinator: &Coordinator, upstream: &Upstream) -> CantusClient<Channel> {
    let path = upstream.path().with_file_name("api.sock");
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    let server = tonic::transport::Server::builder().add_service(service(coordinator.api.clone()));
    tokio::spawn(server.serve_with_incoming(UnixListenerStream::new(listener)));
    CantusClient::connect(format!("unix://{}", path.display())).await.unwrap()
}

/// The watch stream shows every run from its first state to its end, then ends.
#[tokio::test(flavor = "multi_thread")]
async fn a_watcher_sees_changes_and_the_end() {
    let nats = Nats::start(&["worker", "verifier"]);
    let upstream = Upstream::new();
    let coordinator = Coordinator::start_with_hub(&nats, &upstream.hub(), settings()).await;
    let mut client = serve(&coordinator, &upstream).await;
    let unknown = client.watch(WatchRequest { run: "nobody".to_owned() }).await.unwrap_err();
    assert_eq!(unknown.code(), tonic::Code::NotFound, "{unknown}");

    let items = Items::flat(&["a"]).needing("b", &["a"]);
    coordinator.submit_to("run", &upstream.path(), &items.text()).await;
    let request = WatchRequest { run: "run".to_owned() };
    let mut views = client.watch(request).await.unwrap().into_inner();
    let first = views.message().await.unwrap().unwrap();
    assert_eq!(first.state, "running");
    assert_eq!(first.items[1].needs, ["a"]);
    assert_eq!(first.target, "refs/heads/main");
    let crew = Crew::landing(&nats, &upstream, (1, 1), &Habits::default()).await;
    let mut seen: Vec<RunView> = vec![first];
    while let Some(view) = tokio::time::timeout(PATIENCE, views.message()).await.unwrap().unwrap() {
        assert_ne!(seen.last(), Some(&view), "a view came that shows nothing new");
        seen.push(view);
    }
    let last = seen.last().unwrap();
    assert_eq!(last.state, "completed");
    assert!(last.items.iter().all(|item| item.state == "landed" && item.evidence.len() == 71));
    assert!(seen.len() > 3, "only {} views", seen.len());
    crew.dismiss().await;
    assert_eq!(upstream.trailers("Cantus-Item"), ["a", "b"]);
}

/// A plan of several megabytes fits through the socket.
#[tokio::test(flavor = "multi_thread")]
async fn a_large_plan_can_be_submitted() {
    let nats = Nats::start(&["worker", "verifier"]);
    let upstream = Upstream::new();
    let coordinator = Coordinator::start_with_hub(&nats, &upstream.hub(), settings()).await;
    let mut client = serve(&coordinator, &upstream).await;
    let comment = format!("\n# {}\n", "x".repeat(9 << 20));
    let request = SubmitRequest {
        file: "plan.yaml".to_owned(),
        text: Items::flat(&["a"]).text() + &comment,
        repository: upstream.path().to_string_lossy().into_owned(),
        ..Default::default()
    };
    let answer = client.submit(request).await.unwrap().into_inner();
    assert!(answer.run.starts_with('r'), "{answer:?}");
    assert_eq!(answer.target, "refs/heads/main");
}

/// Q27: ids with everything in them, through subjects, journal, refs and trailers.
#[tokio::test(flavor = "multi_thread")]
async fn nasty_ids_land_and_stay_apart() {
    const RUN: &str = "run ../*.>:%é\"🎼";
    let ids = [
        "a.b*c>d:e/f%g h",
        "\"q\" 'p' \\ $(touch x) `y`",
        "🎼",
        "é",
        "e\u{301}",
        "..",
        ".",
        "-rf",
        "HEAD.lock",
        "a",
        "A",
        "a/b",
        "=2E",
        &"x".repeat(NAME_BYTES_MAX),
    ];
    let nats = Nats::start(&["worker", "verifier"]);
    let upstream = Upstream::new();
    let coordinator = Coordinator::start_with_hub(&nats, &upstream.hub(), settings()).await;
    // Each needs the one before: what lands is in order, and nothing is verified twice.
    let mut items = Items::none();
    for (number, id) in ids.iter().enumerate() {
        let needs: Vec<&str> =
            number.checked_sub(1).map(|before| ids[before]).into_iter().collect();
        items = items.needing(id, &needs);
    }
    let answer = coordinator.submit_to(RUN, &upstream.path(), &items.text()).await;
    assert_eq!(answer.run, RUN, "{:#?}", answer.diagnostics);
    let crew = Crew::landing(&nats, &upstream, (1, 1), &Habits::default()).await;
    let run = coordinator.until_ended(RUN).await;
    assert_eq!(run.state, "completed", "{run:#?}");
    crew.dismiss().await;
    assert_eq!(run.items.iter().map(|item| item.id.as_str()).collect::<Vec<_>>(), ids);
    assert_eq!(upstream.trailers("Cantus-Item").len(), ids.len());
    let names = upstream.git(&["ls-tree", "-z", "--name-only", "main", "out/"]);
    let mut found: Vec<&str> = names.split_terminator('\0').collect();
    let mut expected: Vec<String> = ids.iter().map(|id| format!("out/{}.txt", token(id))).collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    let refs = upstream.git(&["for-each-ref", "--format=%(refname)"]);
    assert_eq!(refs, format!("refs/evidence/{}\nrefs/heads/main", token(RUN)));
    upstream.assert_audited(ids.len());
    // What comes out of the journal is what went in.
    let all = coordinator.everything().await;
    coordinator.kill();
    let again = Coordinator::start_with_hub(&nats, &upstream.hub(), settings()).await;
    assert_eq!(again.everything().await, all);
}

/// A plan whose repository is not there is refused with the reason, and leaves nothing behind either.
#[tokio::test(flavor = "multi_thread")]
async fn a_repository_that_is_not_there_is_named() {
    let nats = Nats::start(&["worker", "verifier"]);
    let upstream = Upstream::new();
    let coordinator = Coordinator::start_with_hub(&nats, &upstream.hub(), settings()).await;
    let mut client = serve(&coordinator, &upstream).await;
    let request = SubmitRequest {
        file: "plan.yaml".to_owned(),
        text: Items::none().with(item("a")).each("priority", &json!(1)).text(),
        repository: "/nowhere/at/all".to_owned(),
        ..Default::default()
    };
    let refused = client.submit(request).await.unwrap_err();
    assert_eq!(refused.code(), tonic::Code::FailedPrecondition);
    assert!(refused.message().contains("/nowhere/at/all"), "{}", refused.message());
    assert_eq!(coordinator.everything().await, []);
    assert_eq!(stored(&nats).await, 0, "something was published");
}
