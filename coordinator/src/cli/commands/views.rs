//! `status`, `queue`, `item` and `watch`: what the coordinator sees.

use cantus_proto::wire::v1::{ItemRequest, QueueRequest, StatusRequest};
use serde_json::{Value, json};

use crate::cli::args::{ItemArgs, QueueArgs, StatusArgs, WatchArgs};
use crate::cli::client::{ANSWER_MAX, Client, Place};
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::render::item_rows::Canvas;
use crate::cli::render::{item, queue, run};
use crate::cli::{json as documents, terminal, watch as watcher};
use crate::config::Home;
use crate::kernel::now;

/// `cantus status`
pub(in crate::cli) async fn status(
    home: &Home,
    args: &StatusArgs,
    output: &mut Output<'_>,
) -> anyhow::Result<Exit> {
    let client = Client::connect(Place::choose(args.server.connect.as_deref(), home)).await?;
    let mut api = client.api.clone();
    let request = StatusRequest { run: args.run.clone().unwrap_or_default() };
    let runs = client.answer(ANSWER_MAX, api.status(request)).await?.runs;
    let now_ms = runs.first().map_or(0, |view| clock(view.server_ms));
    if args.server.json {
        let documents: Vec<Value> = runs.iter().map(documents::run).collect();
        output.json(&json!({ "runs": documents }), false)?;
    } else if args.run.is_some() {
        let width = output.terminal.then(|| terminal::size(std::io::stdout()).columns);
        let canvas = Canvas { now_ms, width, paint: output.paint };
        let text: String = runs.iter().map(|view| run::run(view, canvas)).collect();
        output.print(&text)?;
    } else {
        output.print(&run::table(&runs, now_ms, output.paint))?;
    }
    Ok(Exit::Ok)
}

/// Ages are by the coordinator's clock, which may be another than this machine's; an older one does not tell it.
fn clock(server_ms: u64) -> u64 {
    if server_ms == 0 { now().0 } else { server_ms }
}

/// `cantus queue`
pub(in crate::cli) async fn queue(
    home: &Home,
    args: &QueueArgs,
    output: &mut Output<'_>,
) -> anyhow::Result<Exit> {
    let client = Client::connect(Place::choose(args.server.connect.as_deref(), home)).await?;
    let mut api = client.api.clone();
    let queues = client.answer(ANSWER_MAX, api.queue(QueueRequest {})).await?.queues;
    if args.server.json {
        let documents: Vec<Value> = queues.iter().map(documents::queue).collect();
        output.json(&json!({ "queues": documents }), false)?;
    } else {
        output.print(&queue::queues(&queues, output.paint))?;
    }
    Ok(Exit::Ok)
}

/// `cantus item`
pub(in crate::cli) async fn item(
    home: &Home,
    args: &ItemArgs,
    output: &mut Output<'_>,
) -> anyhow::Result<Exit> {
    let client = Client::connect(Place::choose(args.server.connect.as_deref(), home)).await?;
    let mut api = client.api.clone();
    let request = ItemRequest { run: args.run.clone(), item: args.item.clone() };
    let view = client.answer(ANSWER_MAX, api.item(request)).await?;
    if args.server.json {
        output.json(&documents::item(&view), false)?;
    } else {
        output.print(&item::item(&view, clock(view.server_ms), output.paint))?;
    }
    Ok(Exit::Ok)
}

/// `cantus watch`
pub(in crate::cli) async fn watch(
    home: &Home,
    args: &WatchArgs,
    output: &mut Output<'_>,
) -> anyhow::Result<Exit> {
    let place = Place::choose(args.server.connect.as_deref(), home);
    watcher::watch(place, &args.run, args.server.json, output).await
}
