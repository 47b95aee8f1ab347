//! `lint` and `submit`: the same compiler, the same lines.

use cantus_proto::wire::v1::{Diagnostic, SubmitRequest, SubmitResponse};

use crate::cli::args::{LintArgs, SubmitArgs};
use crate::cli::client::{Client, Place, TRANSFER_MAX};
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::render::{diagnostics, run};
use crate::cli::{json, plan_file, text, watch};
use crate::config::Home;

/// `cantus lint`: what is wrong with a plan is the result, so it goes to standard output.
pub(in crate::cli) fn lint(args: &LintArgs, output: &mut Output<'_>) -> anyhow::Result<Exit> {
    let file = plan_file::read(&args.file)?;
    let (_, found) = file.compile();
    if args.json {
        output.json(&json::diagnostics(&file.name, &found), false)?;
    } else {
        output.print(&diagnostics::list(&file.name, &found, output.paint))?;
    }
    let refused = found.iter().any(|diagnostic| diagnostic.error);
    Ok(if refused { Exit::RefusedPlan } else { Exit::Ok })
}

/// `cantus submit`: a plan with errors is refused here already, before anything is sent.
pub(in crate::cli) async fn submit(
    home: &Home,
    args: &SubmitArgs,
    output: &mut Output<'_>,
) -> anyhow::Result<Exit> {
    let file = plan_file::read(&args.file)?;
    let (compiled, found) = file.compile();
    let (Some(plan), Ok(text)) = (compiled.plan, String::from_utf8(file.bytes.clone())) else {
        return refuse(&file.name, found, args, output);
    };
    let place = Place::choose(args.server.connect.as_deref(), home);
    let client = Client::connect(place.clone()).await?;
    let mut api = client.api.clone();
    let request = SubmitRequest {
        file: file.name.clone(),
        text,
        repository: file.repository(args.repository.as_deref(), plan.repository.as_deref()),
        target: args.target.clone().unwrap_or_default(),
        run: args.run.clone().unwrap_or_default(),
    };
    let response = client.answer(TRANSFER_MAX, api.submit(request)).await?;
    if response.run.is_empty() {
        return refuse(&file.name, response.diagnostics, args, output);
    }
    if args.server.json {
        output.json(&json::submitted(&file.name, &response), args.watch)?;
    } else {
        told(&response, plan.items.len(), args.watch, output)?;
    }
    if args.watch {
        return watch::watch(place, &response.run, args.server.json, output).await;
    }
    Ok(Exit::Ok)
}

fn refuse(
    file: &str,
    found: Vec<Diagnostic>,
    args: &SubmitArgs,
    output: &mut Output<'_>,
) -> anyhow::Result<Exit> {
    if args.server.json {
        let response = SubmitResponse { diagnostics: found, ..Default::default() };
        output.json(&json::submitted(file, &response), args.watch)?;
    } else {
        let list = diagnostics::list(file, &found, output.paint_notes);
        output.notes.write_all(list.as_bytes())?;
    }
    Ok(Exit::RefusedPlan)
}

fn told(
    response: &SubmitResponse,
    items: usize,
    watched: bool,
    output: &mut Output<'_>,
) -> anyhow::Result<()> {
    for warning in &response.diagnostics {
        let line = diagnostics::line(warning, output.paint_notes);
        output.notes.write_all(line.as_bytes())?;
    }
    // The watcher tells run and notice in its own way.
    if watched {
        return Ok(());
    }
    if !response.notice.is_empty() {
        let notice = text::safe(&text::bounded(&response.notice, text::PROSE_CHARS_MAX));
        output.note(&format!("note: {notice}"))?;
    }
    let items = text::count(items, "item");
    let on = match run::short_target(&response.target) {
        "" => String::new(),
        target => format!(" on {}", text::safe(target)),
    };
    let word = text::shell_word(&response.run);
    let run = text::safe(&response.run);
    output.print(&format!("run {run} has begun{on}: {items}\nfollow it: cantus watch {word}\n"))?;
    Ok(())
}
