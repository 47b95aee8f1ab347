//! The past of a run, fetched over gRPC from a real journal, is what the coordinator knew.

use cantus_coordinator::replay::{History, ReplayError, Until};
use cantus_coordinator::view;
use cantus_core::Core;
use cantus_core::event::ItemIndex;
use cantus_proto::message::FailureKind;
use cantus_proto::wire::v1::{ItemView, RunView};
use cantus_tests::kernel::{Coordinator, Crew, Habits, Items, Taker, Upstream, settings};
use cantus_tests::nats::Nats;
use serde_json::json;

use super::submission::serve;

fn known(core: &Core) -> Vec<(RunView, Vec<ItemView>)> {
    let all = core.runs().values().map(|run| {
        let places = (0..run.items.len()).map(|place| ItemIndex(u32::try_from(place).unwrap()));
        (view::run(run), places.map(|place| view::item(run, place)).collect())
    });
    all.collect()
}

async fn live(coordinator: &Coordinator, name: &str) -> (RunView, Vec<ItemView>) {
    let all = coordinator.handle.ask(known).await.unwrap();
    all.into_iter().find(|(run, _)| run.run == name).unwrap()
}

/// F8: two runs at once, one that lands and one with a parked item and a restart between; any moment of each.
#[tokio::test(flavor = "multi_thread")]
async fn a_replay_over_the_bus_gives_exactly_the_live_state() {
    let nats = Nats::start(&["worker", "verifier", "unlucky"]);
    let upstream = Upstream::new();
    let mut coordinator = Coordinator::start_with_hub(&nats, &upstream.hub(), settings()).await;
    let landing = Items::flat(&["a", "b"]).needing("c", &["a", "b"]).text();
    assert_eq!(coordinator.submit_to("landing", &upstream.path(), &landing).await.run, "landing");
    let unlucky = Items::flat(&["x"]).needing("y", &["x"]);
    let unlucky = unlucky.each("role", &json!("unlucky")).each("attempts_max", &json!(2));
    coordinator.submit("unlucky", &unlucky).await;
    let mut points = Vec::new();
    let mut taker = Taker::worker_of(&nats, "unlucky", "unlucky").await;
    for number in 1..=2 {
        let lease = taker.take().await;
        coordinator.until_state("unlucky", "x", &["working"]).await;
        let at = coordinator.bus().journal_last_sequence().await.unwrap();
        points.push((at, live(&coordinator, "unlucky").await));
        lease.fail(FailureKind::Agent, &format!("no luck, number {number}")).await;
        coordinator.until_state("unlucky", "x", &["queued", "parked"]).await;
        if number == 1 {
            coordinator.kill();
            coordinator = Coordinator::start_with_hub(&nats, &upstream.hub(), settings()).await;
        }
    }
    let crew = Crew::landing(&nats, &upstream, (2, 1), &Habits::default()).await;
    assert_eq!(coordinator.until_ended("landing").await.state, "completed");
    assert_eq!(coordinator.until_ended("unlucky").await.state, "failed");
    crew.dismiss().await;

    let client = serve(&coordinator, &upstream).await;
    for name in ["landing", "unlucky"] {
        let history = History::fetch(client.clone(), name).await.unwrap();
        let core = history.core_at(Until::End).unwrap();
        assert_eq!(known(&core), [live(&coordinator, name).await]);
        assert!(history.records().is_sorted_by_key(|(position, _)| *position));
        if name == "unlucky" {
            for (at, (run, items)) in &points {
                let then = known(&history.core_at(Until::Sequence(*at)).unwrap()).remove(0);
                assert_eq!(then, (run.clone(), items.clone()), "at sequence {at}");
            }
            let early = history.core_at(Until::Sequence(1)).unwrap_err();
            assert!(matches!(early, ReplayError::BeforeTheRun { began: 2.., .. }), "{early}");
        }
    }
    let unknown = History::fetch(client, "nobody").await.unwrap_err();
    assert!(
        matches!(&unknown, ReplayError::Call(status) if status.code() == tonic::Code::NotFound)
    );
}
