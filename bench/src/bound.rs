//! The bound: the same messages with no coordinator. Attempts are published as fast as the store takes them, the
//! same workers answer, and what they report is appended to the journal batch by batch, unread.

use std::time::Duration;

use cantus_core::event::Millis;
use cantus_core::journal::wire;
use cantus_proto::bus::Bus;
use cantus_proto::ids::{AttemptNumber, CommitId, RepositoryId, RunId};
use cantus_proto::message::{Attempt, AttemptLimits, Work};
use cantus_proto::subjects::BusUser;
use cantus_tests::nats::Nats;
use futures::StreamExt as _;
use tokio::time::Instant;

use crate::plans::{self, Shape};
use crate::workers::Workers;

/// Reports of one append, as the coordinator takes them at most.
const BATCH: usize = 256;
/// Longest that the bound may take.
const LIMIT: Duration = Duration::from_secs(300);

/// Items per second, and appends to the journal.
pub async fn items_per_s(items: usize, workers: usize) -> anyhow::Result<(f64, u64)> {
    let nats = Nats::start(&["worker"]);
    let bus = Bus::connect(nats.config(&BusUser::Coordinator)).await?;
    bus.ensure_streams().await?;
    bus.ensure_consumers(&[plans::role()]).await?;
    let workers = Workers::start(&nats, workers).await?;
    let run = RunId::new("bound")?;
    let begun = Instant::now();
    let publisher = tokio::spawn(publish(bus.clone(), run.clone(), items));
    let appends = tokio::time::timeout(LIMIT, append(&bus, &run, items * 2)).await??;
    let elapsed_s = begun.elapsed().as_secs_f64();
    publisher.await??;
    workers.stop().await?;
    Ok((items as f64 / elapsed_s, appends))
}

async fn publish(bus: Bus, run: RunId, items: usize) -> anyhow::Result<()> {
    let plan = plans::plan(Shape::Flat, items);
    let mut pending = tokio::task::JoinSet::new();
    for item in plan.items {
        let attempt = Attempt {
            run: run.clone(),
            item: item.id,
            number: AttemptNumber(1),
            role: item.role,
            contract: (*item.contract).clone(),
            repository: RepositoryId::of(""),
            target: "refs/cantus/none".to_owned(),
            base_min: CommitId::new("0".repeat(40))?,
            work: Work::Produce,
            route: cantus_proto::message::Route::default(),
            preamble: None,
            learnings: vec![],
            limits: AttemptLimits {
                heartbeat_ms: 2_000,
                lease_ms: 15_000,
                wall_clock_ms: 300_000,
                artifact_bytes_max: 1,
                files_max: 1,
                tokens_max: None,
                cost_max: None,
                window_ms: 60_000,
            },
        };
        pending.spawn(bus.publish_attempt_start(&attempt).await?.stored());
    }
    while let Some(stored) = pending.join_next().await {
        stored??;
    }
    Ok(())
}

/// One append for each batch of reports, of about the size that the coordinator's records have.
async fn append(bus: &Bus, run: &RunId, reports: usize) -> anyhow::Result<u64> {
    let mut batches = bus.reports(1).into_stream().ready_chunks(BATCH);
    let (mut seen, mut end) = (0, 0);
    while seen < reports {
        let batch = batches.next().await.ok_or_else(|| anyhow::anyhow!("the bus is gone"))?;
        seen += batch.len();
        let mut payload = wire::encode(run, Millis(0), &[], Some(1)).to_vec();
        payload.resize(payload.len() + batch.len() * 100, 0);
        let id = format!("bound-{end}");
        end = bus.journal_append(run, payload.into(), end, &id).await.await?;
    }
    Ok(end)
}
