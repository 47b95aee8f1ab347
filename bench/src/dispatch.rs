//! Items per second through a real bus with file storage and a real coordinator process.

use cantus_tests::nats::Nats;
use serde_json::{Value, json};

use crate::plans::{LAYER, Shape};
use crate::workers::Workers;
use crate::{bound, print};

#[derive(clap::Args)]
pub struct Arguments {
    /// Items of the flat shape
    #[arg(long, default_value_t = 5_000)]
    flat: usize,
    /// Layers of 20 items of the layered shape
    #[arg(long, default_value_t = 100)]
    layers: usize,
    /// Items of the chain, in which workers are idle
    #[arg(long, default_value_t = 500)]
    chain: usize,
    /// Workers that answer at once
    #[arg(long, default_value_t = 8)]
    workers: usize,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let shapes = [
        ("flat", Shape::Flat, arguments.flat),
        ("layered", Shape::Layered, arguments.layers * LAYER),
        ("chain", Shape::Chain, arguments.chain),
    ];
    let mut figures = serde_json::Map::new();
    for (name, shape, items) in shapes {
        let ran = shape_figures(shape, items, arguments.workers).await?;
        if !arguments.json {
            println!("{name}, {items} items");
            print(&ran, false);
        }
        figures.insert(name.to_owned(), ran);
    }
    if arguments.json {
        print(&Value::Object(figures), true);
    }
    Ok(())
}

/// The bound is measured before and after, since machines are not steady; the mean counts.
async fn shape_figures(shape: Shape, items: usize, workers: usize) -> anyhow::Result<Value> {
    let (before, bound_appends) = bound::items_per_s(items, workers).await?;
    let nats = Nats::start(&["worker"]);
    let ran = coordinate(&nats, shape, items, workers, "bench").await?;
    drop(nats);
    let (after, _) = bound::items_per_s(items, workers).await?;
    let bound = f64::midpoint(before, after);
    anyhow::ensure!(ran["state"] == "completed", "the run ended as {}", ran["state"]);
    let items_per_s = items as f64 / ran["elapsed_s"].as_f64().unwrap_or(f64::INFINITY);
    Ok(json!({
        "items": items,
        "items_per_s": items_per_s.round(),
        "bound_items_per_s": bound.round(),
        "ratio": (items_per_s / bound * 1000.0).round() / 1000.0,
        "lease_ms_p50": ran["lease_ms_p50"],
        "lease_ms_p99": ran["lease_ms_p99"],
        "rss_mb_max": ran["rss_mb_max"],
        "appends": ran["appends"],
        "bound_appends": bound_appends,
    }))
}

/// Runs a plan with a coordinator process of its own; answers with what that prints.
pub async fn coordinate(
    nats: &Nats,
    shape: Shape,
    items: usize,
    workers: usize,
    run: &str,
) -> anyhow::Result<Value> {
    let bus = nats.coordinator(&["worker"]).await;
    let workers = Workers::start(nats, workers).await?;
    drop(bus);
    let ran = child(nats, shape, items, run, false).await?;
    workers.stop().await?;
    Ok(ran)
}

/// The coordinator process; with `replay` it only reads the journal.
pub async fn child(
    nats: &Nats,
    shape: Shape,
    items: usize,
    run: &str,
    replay: bool,
) -> anyhow::Result<Value> {
    use clap::ValueEnum as _;
    let shape = shape.to_possible_value().expect("no shape is hidden");
    let mut command = tokio::process::Command::new(std::env::current_exe()?);
    command.args(["coordinator", "--url", &nats.url(), "--run", run, "--shape", shape.get_name()]);
    command.args(["--items", &items.to_string()]);
    // As `cantus serve` has it.
    command.env("TOKIO_WORKER_THREADS", "1");
    if replay {
        command.arg("--replay");
    }
    let output = command.kill_on_drop(true).output().await?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    anyhow::ensure!(output.status.success(), "the coordinator process failed: {said}");
    Ok(serde_json::from_slice(&output.stdout)?)
}
