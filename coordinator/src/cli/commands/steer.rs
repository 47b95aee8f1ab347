//! `cancel` and `requeue`: what a person decides.

use cantus_proto::wire::v1::{CancelRequest, RequeueRequest};
use serde_json::json;

use crate::cli::args::{CancelArgs, RequeueArgs};
use crate::cli::client::{ANSWER_MAX, Client, Place};
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::text;
use crate::config::Home;

/// Widest list of items, in columns; `--json` has all.
const LIST_COLUMNS_MAX: usize = 400;

/// `cantus cancel`. What has ended already stays as it is, so a second call does no harm.
pub(in crate::cli) async fn cancel(
    home: &Home,
    args: &CancelArgs,
    output: &mut Output<'_>,
) -> anyhow::Result<Exit> {
    let client = Client::connect(Place::choose(args.server.connect.as_deref(), home)).await?;
    let mut api = client.api.clone();
    let item = args.item.clone().unwrap_or_default();
    let request = CancelRequest { run: args.run.clone(), item };
    let cancelled = client.answer(ANSWER_MAX, api.cancel(request)).await?.cancelled;
    let run = text::safe(&args.run);
    if args.server.json {
        output.json(&json!({ "run": args.run, "cancelled": cancelled }), false)?;
    } else if cancelled.is_empty() {
        let what = args
            .item
            .as_ref()
            .map_or_else(|| format!("run {run}"), |item| format!("item {}", text::safe(item)));
        output.print(&format!("nothing to cancel: {what} has ended already\n"))?;
    } else {
        let items = text::count(cancelled.len(), "item");
        let names = text::cut(&cancelled.join(", "), LIST_COLUMNS_MAX);
        output.print(&format!("cancelled {items} of run {run}: {names}\n"))?;
    }
    Ok(Exit::Ok)
}

/// `cantus requeue`
pub(in crate::cli) async fn requeue(
    home: &Home,
    args: &RequeueArgs,
    output: &mut Output<'_>,
) -> anyhow::Result<Exit> {
    let client = Client::connect(Place::choose(args.server.connect.as_deref(), home)).await?;
    let mut api = client.api.clone();
    let request = RequeueRequest { run: args.run.clone(), item: args.item.clone() };
    let requeued = client.answer(ANSWER_MAX, api.requeue(request)).await?.requeued;
    if args.server.json {
        output.json(&json!({ "run": args.run, "requeued": requeued }), false)?;
    } else {
        let names = text::cut(&requeued.join(", "), LIST_COLUMNS_MAX);
        let (run, word) = (text::safe(&args.run), text::shell_word(&args.run));
        output
            .print(&format!("put back in run {run}: {names}\nfollow it: cantus watch {word}\n"))?;
    }
    Ok(Exit::Ok)
}
