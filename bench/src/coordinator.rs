//! The coordinator as a process of its own: the real kernel, without a git hub. It submits one run, waits until
//! it has ended, and prints what it knows of it; or it only replays.

use std::sync::Arc;
use std::time::Duration;

use cantus_coordinator::kernel::{Kernel, Parts};
use cantus_coordinator::ops::serve::QUEUE_WINDOW;
use cantus_core::Settings;
use cantus_core::event::{Event, Submission};
use cantus_core::journal;
use cantus_proto::bus::{Bus, BusConfig};
use cantus_proto::evidence::{SigningKey, Trust, TrustedKey};
use cantus_proto::ids::RunId;
use cantus_proto::limits;
use cantus_proto::subjects::BusUser;
use serde_json::json;
use tokio::time::Instant;

use crate::plans::{self, Shape};

const PATIENCE: Duration = Duration::from_secs(60);
const PLAN_BYTES_MAX: u64 = 1 << 30;

#[derive(clap::Args)]
pub struct Arguments {
    #[arg(long)]
    url: String,
    #[arg(long)]
    run: String,
    #[arg(long, value_enum)]
    shape: Shape,
    #[arg(long)]
    items: usize,
    /// Attempts of one role on the bus at the same time
    #[arg(long, default_value_t = QUEUE_WINDOW, env = "CANTUS_BENCH_WINDOW")]
    window: u32,
    /// Only read the journal, and say how long it took
    #[arg(long)]
    replay: bool,
}

pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let bus = Bus::connect(BusConfig {
        url: arguments.url.clone(),
        user: BusUser::Coordinator.name(),
        password: BusUser::Coordinator.name(),
        name: "bench coordinator".to_owned(),
        wait: Duration::ZERO,
    })
    .await?;
    let (key, verifier) = (SigningKey::generate()?, SigningKey::generate()?);
    let trusted = |key: &SigningKey| vec![TrustedKey::new(key.verifying_key(), None)];
    let settings = settings(Trust::new(trusted(&verifier), trusted(&key))?, arguments.window);
    let parts =
        Parts { bus: bus.clone(), hub: None, key: Arc::new(key), roles: vec![plans::role()] };
    let begun = Instant::now();
    let (kernel, handle) = Kernel::start(settings, parts).await?;
    let replay_s = begun.elapsed().as_secs_f64();
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let running = tokio::spawn(kernel.run(stopped));
    let run = RunId::new(&arguments.run)?;
    if !arguments.replay {
        let plan = plans::plan(arguments.shape, arguments.items);
        let plan_blob =
            bus.put_blob(&journal::plan::encode(&plan), PLAN_BYTES_MAX, PATIENCE).await?;
        let submission = Submission {
            run: run.clone(),
            plan: Arc::new(plan),
            plan_blob,
            repository: None,
            notice: String::new(),
        };
        let submitted = Instant::now();
        handle.tell(Event::Submitted(Box::new(submission))).await?;
        let mut changes = handle.changes();
        loop {
            let id = run.clone();
            if handle
                .ask(move |core| core.runs().get(&id).is_some_and(|run| run.ended.is_some()))
                .await?
            {
                break;
            }
            changes.changed().await?;
            // Looking is not free; ten times a second is enough to see the end.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let elapsed_s = submitted.elapsed().as_secs_f64();
        print(&handle, run, elapsed_s, bus.journal_last_sequence().await?).await?;
    } else {
        let id = run.clone();
        let state =
            handle.ask(move |core| core.runs().get(&id).map(|run| run.state().name())).await?;
        println!(
            "{}",
            json!({ "replay_s": replay_s, "state": state, "rss_mb_max": rss_mb_max()? })
        );
    }
    stop.send(true)?;
    running.await??;
    Ok(())
}

async fn print(
    handle: &cantus_coordinator::kernel::Handle,
    run: RunId,
    elapsed_s: f64,
    appends: u64,
) -> anyhow::Result<()> {
    let (state, mut waits) = handle
        .ask(move |core| {
            let run = &core.runs()[&run];
            let attempts = run.items.iter().flat_map(|item| &item.attempts);
            let waits: Vec<u64> =
                attempts.filter_map(|a| Some(a.leased?.0.saturating_sub(a.queued.0))).collect();
            (run.state().name(), waits)
        })
        .await?;
    waits.sort_unstable();
    let at = |share: f64| waits.get(((waits.len() - 1) as f64 * share) as usize).copied();
    println!(
        "{}",
        json!({
            "elapsed_s": elapsed_s,
            "state": state,
            "appends": appends,
            "lease_ms_p50": at(0.50),
            "lease_ms_p99": at(0.99),
            "rss_mb_max": rss_mb_max()?,
        })
    );
    Ok(())
}

fn settings(trust: Trust, queue_window: u32) -> Settings {
    Settings {
        lease_ms: 15_000,
        heartbeat_ms: 2_000,
        queue_wait_ms: 3_600_000,
        queue_window,
        verify_ahead: 2,
        checks_max: 2,
        artifact_bytes_max: limits::ARTIFACT_BYTES_MAX,
        files_max: limits::FILES_MAX,
        rules: cantus_core::rules::Rules::default(),
        trust,
        allow_process_isolation: false,
    }
}

/// The most memory that this process ever had, in MB.
fn rss_mb_max() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)).unwrap_or("0");
    Ok(kilobytes.parse::<u64>()? * 1024 / 1_000_000)
}
