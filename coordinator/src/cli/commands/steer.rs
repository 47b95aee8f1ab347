//! `cancel`, `requeue`, `approve` and `retry`: what a person decides.

use cantus_proto::wire::v1::{ApproveRequest, CancelRequest, RequeueRequest, RetryRequest};
use serde_json::json;

use crate::cli::args::{ApproveArgs, CancelArgs, RequeueArgs, RetryArgs};
use crate::cli::client::{ANSWER_MAX, Client, Place};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::render::exchange;
use crate::cli::{json as documents, text};
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

/// `cantus approve`
pub(in crate::cli) async fn approve(
    home: &Home,
    args: &ApproveArgs,
    output: &mut Output<'_>,
) -> anyhow::Result<Exit> {
    let by = match &args.by {
        Some(by) => by.clone(),
        None => login_name(|name| std::env::var(name).ok()).ok_or_else(|| CliError::Unknown {
            reason: "nobody is logged in here by name: say who approves with --by NAME".to_owned(),
        })?,
    };
    let client = Client::connect(Place::choose(args.server.connect.as_deref(), home)).await?;
    let mut api = client.api.clone();
    let request = ApproveRequest { run: args.run.clone(), item: args.item.clone(), by: by.clone() };
    let answer = client.answer(ANSWER_MAX, api.approve(request)).await?;
    let (run, item, number) = (text::safe(&args.run), text::safe(&args.item), answer.attempt);
    if args.server.json {
        let findings: Vec<_> = answer.findings.iter().map(documents::finding).collect();
        let document = json!({
            "run": args.run, "item": args.item, "attempt": number, "by": by, "findings": findings,
        });
        output.json(&document, false)?;
        return Ok(Exit::Ok);
    }
    let by = text::cut(&by, LIST_COLUMNS_MAX);
    let mut told = format!(
        "let through by {by}: what the gates found in attempt {number} of item {item} of run {run}\n"
    );
    told.push_str(&exchange::findings(&answer.findings));
    let word = text::shell_word(&args.run);
    told.push_str(&format!(
        "it is verified like any other result\nfollow it: cantus watch {word}\n"
    ));
    output.print(&told)?;
    Ok(Exit::Ok)
}

/// As shells tell it; nothing where they do not.
fn login_name(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    ["LOGNAME", "USER"].into_iter().find_map(|name| variable(name).filter(|name| !name.is_empty()))
}

/// `cantus retry`
pub(in crate::cli) async fn retry(
    home: &Home,
    args: &RetryArgs,
    output: &mut Output<'_>,
) -> anyhow::Result<Exit> {
    let client = Client::connect(Place::choose(args.server.connect.as_deref(), home)).await?;
    let mut api = client.api.clone();
    let (run, item, hypothesis) = (args.run.clone(), args.item.clone(), args.hypothesis.clone());
    let answer =
        client.answer(ANSWER_MAX, api.retry(RetryRequest { run, item, hypothesis })).await?;
    let number = answer.attempt;
    if args.server.json {
        let document = json!({
            "run": args.run, "item": args.item, "attempt": number, "hypothesis": args.hypothesis,
        });
        output.json(&document, false)?;
        return Ok(Exit::Ok);
    }
    let (run, item) = (text::safe(&args.run), text::safe(&args.item));
    let hypothesis = text::cut(args.hypothesis.trim(), LIST_COLUMNS_MAX);
    let word = text::shell_word(&args.run);
    output.print(&format!(
        "the result of attempt {number} of item {item} of run {run} is checked again: {hypothesis}\n\
         follow it: cantus watch {word}\n"
    ))?;
    Ok(Exit::Ok)
}

#[cfg(test)]
mod tests {
    use super::login_name;

    #[test]
    fn a_person_has_the_name_that_the_shell_says() {
        let known = |known: &'static [(&str, &str)]| {
            login_name(|name| {
                known.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(known(&[("USER", "kim"), ("LOGNAME", "lee")]).as_deref(), Some("lee"));
        assert_eq!(known(&[("USER", "kim"), ("LOGNAME", "")]).as_deref(), Some("kim"));
        assert_eq!(known(&[]), None);
    }
}
