//! People steer over gRPC: findings let through, checks that run once more; and replays tell it.

use cantus_coordinator::replay::{History, Until};
use cantus_coordinator::view;
use cantus_proto::message::LeaseEvent;
use cantus_proto::wire::v1::{ApproveRequest, RetryRequest};
use cantus_tests::kernel::{Coordinator, Items, Taker, Upstream, settings};
use cantus_tests::nats::Nats;

use super::submission::serve;

/// A result outside its scope is kept out; a person lets it through, it is verified, and it lands as any other.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_person_lets_through_is_verified_and_lands() {
    let nats = Nats::start(&["worker", "verifier"]);
    let upstream = Upstream::new();
    let coordinator = Coordinator::start_with_hub(&nats, &upstream.hub(), settings()).await;
    let answer = coordinator.submit_to("run", &upstream.path(), &Items::flat(&["a"]).text()).await;
    assert_eq!(answer.run, "run", "{:#?}", answer.diagnostics);
    let mut client = serve(&coordinator, &upstream).await;
    let request = |item: &str, by: &str| ApproveRequest {
        run: "run".to_owned(),
        item: item.to_owned(),
        by: by.to_owned(),
    };
    let nothing = client.approve(request("a", "kim")).await.unwrap_err();
    assert_eq!(nothing.code(), tonic::Code::FailedPrecondition);
    assert!(nothing.message().contains("there is nothing to let through"), "{nothing}");
    let nobody = client.approve(request("b", "kim")).await.unwrap_err();
    assert_eq!(nobody.code(), tonic::Code::NotFound, "{nobody}");

    let mut worker = Taker::worker(&nats, "worker").await;
    let work = upstream.checkout().work(|tree| {
        std::fs::create_dir_all(tree.join("out")).unwrap();
        std::fs::write(tree.join("out/a"), "a").unwrap();
        std::fs::write(tree.join("outside.md"), "outside").unwrap();
    });
    worker.take().await.hand_in(&work).await;
    let kept = coordinator
        .until("a gate keeps it out", |core| {
            let (run, place) = view::find(core, "run", "a").ok()?;
            Some(view::item(run, place)).filter(|view| view.kept_out)
        })
        .await;
    assert_eq!(kept.out_of_scope_findings[0].path, b"outside.md");
    let empty = client.approve(request("a", "")).await.unwrap_err();
    assert!(empty.message().contains("the name of who approves is empty"), "{empty}");
    let through = client.approve(request("a", "kim")).await.unwrap().into_inner();
    assert_eq!((through.attempt, &through.findings), (1, &kept.out_of_scope_findings));

    let mut verifier = Taker::verifier(&nats, "verifier").await;
    verifier.take().await.verify(0).await;
    let landed = coordinator.until_state("run", "a", &["landed"]).await;
    assert!(!landed.kept_out);
    assert_eq!((landed.approvals[0].attempt, landed.approvals[0].by.as_str()), (1, "kim"));
    assert_eq!(upstream.git(&["show", "main:outside.md"]), "outside");
    upstream.assert_audited(1);
    let history = History::fetch(client, "run").await.unwrap();
    let core = history.core_at(Until::End).unwrap();
    let (run, place) = view::find(&core, "run", "a").unwrap();
    assert_eq!(view::item(run, place), landed);
}

/// SPEC B5: two checks that decide nothing park the item; another needs a hypothesis, and each only once.
#[tokio::test(flavor = "multi_thread")]
async fn a_check_runs_again_only_for_a_hypothesis() {
    let nats = Nats::start(&["worker", "verifier"]);
    let upstream = Upstream::new();
    let coordinator = Coordinator::start_with_hub(&nats, &upstream.hub(), settings()).await;
    coordinator.submit_to("run", &upstream.path(), &Items::flat(&["a"]).text()).await;
    let mut client = serve(&coordinator, &upstream).await;
    let request = |hypothesis: &str| RetryRequest {
        run: "run".to_owned(),
        item: "a".to_owned(),
        hypothesis: hypothesis.to_owned(),
    };
    let early = client.retry(request("luck")).await.unwrap_err();
    assert!(early.message().contains("only what is parked is checked again"), "{early}");
    let mut worker = Taker::worker(&nats, "worker").await;
    let mut verifier = Taker::verifier(&nats, "verifier").await;
    let work = upstream.checkout().work(|tree| {
        std::fs::create_dir_all(tree.join("out")).unwrap();
        std::fs::write(tree.join("out/a"), "a").unwrap();
    });
    worker.take().await.hand_in(&work).await;
    for _ in 0..2 {
        let check = verifier.take().await;
        let mut evidence = check.evidence(check.candidate(), 0);
        evidence.envelopes.clear();
        evidence.inconclusive = Some("the disk is full".to_owned());
        check.say(LeaseEvent::Evidence(evidence)).await;
    }
    let parked = coordinator.until_state("run", "a", &["parked"]).await;
    let reason = parked.summary.unwrap().reason;
    assert!(reason.contains("2 verifications decided nothing"), "{reason}");
    coordinator.until_parked("run", "a").await;
    let empty = client.retry(request(" ")).await.unwrap_err();
    assert!(empty.message().contains("the hypothesis is empty"), "{empty}");
    let again = client.retry(request("the disk has room now")).await.unwrap().into_inner();
    assert_eq!(again.attempt, 1);
    let record = coordinator
        .bus()
        .parked(&cantus_tests::kernel::run_id("run"), &cantus_tests::kernel::item_id("a"))
        .await
        .unwrap();
    assert_eq!(record, None, "what goes on has no parked record");
    verifier.take().await.verify(0).await;
    let landed = coordinator.until_state("run", "a", &["landed"]).await;
    assert_eq!(landed.hypotheses[0].text, "the disk has room now");
    upstream.assert_audited(1);
}
