//! Workers and verifiers that take what comes, in the background, until they are dismissed.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cantus_proto::message::Attempt;
use cantus_proto::subjects::token;
use tokio::task::JoinHandle;

use super::{Checkout, Taker, Upstream};
use crate::nats::Nats;

/// How long one pull waits before it looks whether it is still wanted.
const PULL: Duration = Duration::from_millis(200);

type Edit = Arc<dyn Fn(&Attempt, &Path) + Send + Sync>;

/// What the members of a crew do.
#[derive(Clone)]
pub struct Habits {
    /// What a worker changes.
    edit: Edit,
    /// How long a worker takes.
    pause: Duration,
}

/// See the module.
pub struct Crew {
    stop: Arc<AtomicBool>,
    members: Vec<JoinHandle<u32>>,
}

impl Default for Habits {
    /// Writes `out/<item>.txt`, at once.
    fn default() -> Self {
        let edit = |attempt: &Attempt, tree: &Path| {
            let out = tree.join("out");
            std::fs::create_dir_all(&out).expect("a directory can be made");
            let name = format!("{}.txt", token(attempt.item.as_str()));
            std::fs::write(out.join(name), attempt.item.as_str()).expect("a file is written");
        };
        Self { edit: Arc::new(edit), pause: Duration::ZERO }
    }
}

impl Habits {
    /// The same, slower.
    #[must_use]
    pub fn slow(pause: Duration) -> Self {
        Self { pause, ..Self::default() }
    }

    /// Another change.
    #[must_use]
    pub fn editing(edit: impl Fn(&Attempt, &Path) + Send + Sync + 'static) -> Self {
        Self { edit: Arc::new(edit), ..Self::default() }
    }
}

impl Crew {
    /// Workers for runs that land nowhere.
    pub async fn reporting(nats: &Nats, workers: usize, habits: &Habits) -> Self {
        Self::start(nats, None, (workers, 0), habits).await
    }

    /// Workers and verifiers for runs that land.
    pub async fn landing(
        nats: &Nats,
        upstream: &Upstream,
        (workers, verifiers): (usize, usize),
        habits: &Habits,
    ) -> Self {
        Self::start(nats, Some(upstream), (workers, verifiers), habits).await
    }

    async fn start(
        nats: &Nats,
        upstream: Option<&Upstream>,
        (workers, verifiers): (usize, usize),
        habits: &Habits,
    ) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let mut members = Vec::new();
        for number in 0..workers {
            let taker = Taker::worker(nats, &format!("worker-{number}")).await;
            let clone = upstream.map(Upstream::checkout);
            members.push(tokio::spawn(work(taker, clone, habits.clone(), Arc::clone(&stop))));
        }
        for number in 0..verifiers {
            let taker = Taker::verifier(nats, &format!("verifier-{number}")).await;
            members.push(tokio::spawn(verify(taker, Arc::clone(&stop))));
        }
        Self { stop, members }
    }

    /// Waits until all have ended what they were at; answers how many attempts they served.
    ///
    /// # Panics
    /// When one of them did.
    pub async fn dismiss(self) -> u32 {
        self.stop.store(true, Ordering::Relaxed);
        let mut served = 0;
        for member in self.members {
            served += member.await.expect("no member of the crew panics");
        }
        served
    }
}

async fn work(
    mut taker: Taker,
    clone: Option<Checkout>,
    habits: Habits,
    stop: Arc<AtomicBool>,
) -> u32 {
    let mut served = 0;
    let clone = clone.map(Arc::new);
    while !stop.load(Ordering::Relaxed) {
        let Some(delivery) = taker.try_pull(PULL).await else { continue };
        let lease = taker.lease(&delivery).await;
        tokio::time::sleep(habits.pause).await;
        match &clone {
            Some(clone) => {
                let (clone, edit) = (Arc::clone(clone), Arc::clone(&habits.edit));
                let attempt = lease.attempt.clone();
                let work = move || clone.work(|tree| edit(&attempt, tree));
                let work = tokio::task::spawn_blocking(work).await.expect("git works");
                lease.hand_in(&work).await;
            }
            None => lease.done().await,
        }
        served += 1;
    }
    served
}

async fn verify(mut taker: Taker, stop: Arc<AtomicBool>) -> u32 {
    let mut served = 0;
    while !stop.load(Ordering::Relaxed) {
        let Some(delivery) = taker.try_pull(PULL).await else { continue };
        taker.lease(&delivery).await.verify(0).await;
        served += 1;
    }
    served
}
