//! The coordinator is killed at random points, again and again, while a run goes on in real git.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cantus_coordinator::hub::Hub;
use cantus_tests::kernel::{Coordinator, Crew, Habits, Items, Upstream, settings};
use cantus_tests::nats::Nats;

/// How often it is killed.
const KILLS: u64 = 20;
/// Longest life of a coordinator: several of a landing's steps.
const LIFE_MS_MAX: u64 = 130;

/// Points in time that are spread and the same in every run.
fn life(number: u64) -> Duration {
    let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    Duration::from_millis(mixed % LIFE_MS_MAX)
}

/// G8 and the main job's promise: killed 20 times, every item lands exactly once, and replay gives the same.
#[tokio::test(flavor = "multi_thread")]
async fn twenty_kills_land_everything_once() {
    let nats = Nats::start(&["worker", "verifier"]);
    let upstream = Upstream::new();
    let items = Items::flat(&["a", "b", "c", "d"])
        .needing("e", &["a", "b"])
        .needing("f", &["c", "d"])
        .needing("g", &["e"])
        .needing("h", &["e", "f"])
        .needing("i", &["g", "h"])
        .needing("j", &["i"])
        .needing("k", &["i"])
        .needing("l", &["j", "k"]);
    let coordinator = Coordinator::start_with_hub(&nats, &upstream.hub(), settings()).await;
    let answer = coordinator.submit_to("run", &upstream.path(), &items.text()).await;
    assert_eq!(answer.run, "run", "{:#?}", answer.diagnostics);
    coordinator.kill();
    let habits = Habits::slow(Duration::from_millis(50));
    let crew = Crew::landing(&nats, &upstream, (2, 2), &habits).await;
    for number in 0..KILLS {
        let coordinator = Coordinator::start_with_hub(&nats, &upstream.hub(), settings()).await;
        tokio::time::sleep(life(number)).await;
        coordinator.kill();
    }
    let coordinator = Coordinator::start_with_hub(&nats, &upstream.hub(), settings()).await;
    let run = coordinator.until_ended("run").await;
    assert_eq!(run.state, "completed", "{run:#?}");
    crew.dismiss().await;
    let mut landed = upstream.trailers("Cantus-Item");
    landed.sort();
    assert_eq!(landed.join(""), "abcdefghijkl", "lost, or landed twice");
    upstream.assert_audited(12);
    assert_eq!(upstream.git(&["fsck", "--strict", "--no-dangling"]), "");
    for item in &run.items {
        let _ = upstream.git(&["merge-base", "--is-ancestor", &item.commit, "main"]);
    }
    let before = coordinator.everything().await;
    coordinator.stop().await;
    let again = Coordinator::start_with_hub(&nats, &upstream.hub(), settings()).await;
    assert_eq!(again.everything().await, before, "replay gives another state");
}

/// A git that a killed coordinator left running does not keep the next one from starting.
#[test]
fn a_start_does_not_mind_what_a_killed_one_still_writes() {
    let directory = tempfile::tempdir().unwrap();
    let left = directory.path().join("scratch/left/objects");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 0_u64;
            while !stop.load(Ordering::Relaxed) {
                number += 1;
                let _ = std::fs::create_dir_all(&left);
                let _ = std::fs::write(left.join(number.to_string()), "pack");
            }
        });
        let opened: Vec<_> = (0..30).map(|_| Hub::open(directory.path()).map(drop)).collect();
        stop.store(true, Ordering::Relaxed);
        for opened in opened {
            opened.unwrap();
        }
    });
    Hub::open(directory.path()).unwrap();
    assert!(!left.exists(), "it is cleared once nobody writes");
}
