//! `cantus report`: what a run came to, measured from its journal.

use std::fs;
use std::path::Path;

use cantus_core::report::{self, Report};
use cantus_core::run::Run;

use crate::cli::args::ReportArgs;
use crate::cli::client::{Client, Place, TRANSFER_MAX};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::{terminal as screen, text};
use crate::config::Home;
use crate::kernel::now;
use crate::replay::{History, ReplayError, Until};
use crate::report::{html, json, markdown, terminal};

/// See the module.
pub(in crate::cli) async fn report(
    home: &Home,
    args: &ReportArgs,
    output: &mut Output<'_>,
) -> anyhow::Result<Exit> {
    let client = Client::connect(Place::choose(args.server.connect.as_deref(), home)).await?;
    let history = history(&client, &args.run).await?;
    let core = history.core_at(Until::End)?;
    let run = &core.runs()[history.run()];
    let report = report::of(run, now());
    show(run, &report, args, output)?;
    Ok(Exit::Ok)
}

/// The journal of a run.
pub(super) async fn history(client: &Client, run: &str) -> anyhow::Result<History> {
    let fetched = client.within(TRANSFER_MAX, History::fetch(client.api.clone(), run)).await?;
    fetched.map_err(|error| match error {
        ReplayError::Call(status) => client.error(&status).into(),
        error => error.into(),
    })
}

fn show(
    run: &Run,
    report: &Report,
    args: &ReportArgs,
    output: &mut Output<'_>,
) -> anyhow::Result<()> {
    let files = [
        (&args.markdown, markdown::report as fn(&Run, &Report) -> String),
        (&args.html, html::report),
    ];
    let mut streamed = false;
    for (path, form) in files {
        let Some(path) = path else { continue };
        write(path, &form(run, report), output)?;
        streamed |= path.as_os_str() == "-";
    }
    if args.server.json {
        output.json(&json::report(run, report), false)?;
    } else if !streamed {
        let width = output.terminal.then(|| screen::size(std::io::stdout()).columns);
        output.print(&terminal::report(run, report, width, output.paint))?;
    }
    Ok(())
}

/// Writes a form of the report; `-` is standard output.
fn write(path: &Path, page: &str, output: &mut Output<'_>) -> anyhow::Result<()> {
    if path.as_os_str() == "-" {
        return Ok(output.print(page)?);
    }
    let failed = |source| CliError::Write { path: path.to_owned(), source };
    fs::write(path, page).map_err(failed)?;
    Ok(output.note(&format!("written to {}", text::safe(&path.to_string_lossy())))?)
}
