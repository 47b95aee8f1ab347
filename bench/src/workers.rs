//! Workers that answer at once: pull one, `Leased`, acknowledge, `Result`, and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cantus_proto::bus::Bus;
use cantus_proto::ids::{CommitId, ContainerName, HostName, LeaseId};
use cantus_proto::message::{
    Isolation, LeaseEvent, LeaseReport, Leased, Report, Usage, WorkResult,
};
use cantus_proto::subjects::BusUser;
use cantus_tests::nats::Nats;
use tokio::task::JoinHandle;

use crate::plans::role;

const PATIENCE: Duration = Duration::from_secs(30);
/// How long one pull waits before it looks whether the run is over.
const PULL: Duration = Duration::from_millis(500);

/// Workers that run until they are told to stop.
pub struct Workers {
    stop: Arc<AtomicBool>,
    tasks: Vec<JoinHandle<anyhow::Result<u64>>>,
}

impl Workers {
    /// Connects and starts them.
    pub async fn start(nats: &Nats, count: usize) -> anyhow::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut tasks = Vec::new();
        for number in 0..count {
            let bus = Bus::connect(nats.config(&BusUser::Worker(role()))).await?;
            tasks.push(tokio::spawn(work(bus, number, Arc::clone(&stop))));
        }
        Ok(Self { stop, tasks })
    }

    /// Stops them; answers how many attempts they served.
    pub async fn stop(self) -> anyhow::Result<u64> {
        self.stop.store(true, Ordering::Relaxed);
        let mut served = 0;
        for task in self.tasks {
            served += task.await??;
        }
        Ok(served)
    }
}

async fn work(bus: Bus, number: usize, stop: Arc<AtomicBool>) -> anyhow::Result<u64> {
    let role = role();
    let mut queue = bus.work_queue(&role).await?;
    let container = ContainerName::new(format!("bench-{number}"))?;
    let host = HostName::new("bench")?;
    let commit = CommitId::new("0".repeat(40))?;
    let mut served = 0;
    while !stop.load(Ordering::Relaxed) {
        let Some(delivery) = queue.next(PULL).await? else { continue };
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        let attempt = &delivery.attempt;
        let mut report = LeaseReport {
            lease: LeaseId::from_bytes(bytes),
            run: attempt.run.clone(),
            item: attempt.item.clone(),
            attempt: attempt.number,
            kind: attempt.work.kind(),
            body: LeaseEvent::Leased(Leased {
                role: role.clone(),
                host: host.clone(),
                container: container.clone(),
                isolation: Isolation::Process,
                base: Some(commit.clone()),
                image: String::new(),
            }),
        };
        bus.report(&role, &Report::Lease(report.clone()), PATIENCE).await?;
        delivery.ack().await?;
        report.body = LeaseEvent::Result(WorkResult {
            usage: Some(Usage::default()),
            ..WorkResult::new(commit.clone(), commit.clone(), None)
        });
        bus.report(&role, &Report::Lease(report), PATIENCE).await?;
        served += 1;
    }
    Ok(served)
}
