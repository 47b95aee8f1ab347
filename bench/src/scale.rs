//! One large run: the coordinator's memory while it is worked off, and the time of a replay afterwards.

use cantus_tests::nats::Nats;
use serde_json::json;

use crate::dispatch::{child, coordinate};
use crate::plans::Shape;
use crate::print;

#[derive(clap::Args)]
pub struct Arguments {
    /// Items of the run
    #[arg(long, default_value_t = 100_000)]
    items: usize,
    /// Workers that answer at once
    #[arg(long, default_value_t = 8)]
    workers: usize,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let nats = Nats::start(&["worker"]);
    let Arguments { items, workers, json } = arguments;
    let ran = coordinate(&nats, Shape::Flat, items, workers, "scale").await?;
    let replayed = child(&nats, Shape::Flat, items, "scale", true).await?;
    anyhow::ensure!(replayed["state"] == ran["state"], "the replay gives another state");
    let figures = json!({
        "items": items,
        "items_per_s": (items as f64 / ran["elapsed_s"].as_f64().unwrap_or(f64::INFINITY)).round(),
        "rss_mb_max": ran["rss_mb_max"],
        "replay_s": replayed["replay_s"],
        "replay_rss_mb_max": replayed["rss_mb_max"],
    });
    print(&figures, json);
    Ok(())
}
