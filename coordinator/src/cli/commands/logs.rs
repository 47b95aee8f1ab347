//! `cantus logs`: the log of one attempt, checked against its digest before a byte of it is shown.

use std::io;

use cantus_proto::limits::ARTIFACT_BYTES_MAX;
use cantus_proto::wire::v1::{AttemptView, Blob, ItemRequest, ItemView};

use crate::artifact::{self, ArtifactError};
use crate::cli::args::LogsArgs;
use crate::cli::client::{ANSWER_MAX, Client, Place, TRANSFER_MAX};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::text;
use crate::config::Home;

/// See the module.
pub(in crate::cli) async fn logs(
    home: &Home,
    args: &LogsArgs,
    output: &mut Output<'_>,
) -> anyhow::Result<Exit> {
    let client = Client::connect(Place::choose(args.connect.as_deref(), home)).await?;
    let mut api = client.api.clone();
    let request = ItemRequest { run: args.run.clone(), item: args.item.clone() };
    let view = client.answer(ANSWER_MAX, api.item(request)).await?;
    let (attempt, log) = choose(&view, args)?;
    let bytes = fetch(&client, log).await?;
    if args.attempt.is_none() && view.attempts.len() > 1 {
        let (number, kind) = (attempt.number, text::cut(&attempt.kind, 20));
        output.note(&format!(
            "attempt {number} ({kind}) of {}; others with --attempt",
            view.attempts.len()
        ))?;
    }
    print(&bytes, output)?;
    Ok(Exit::Ok)
}

/// The attempt that is meant, and its log.
fn choose<'v>(
    view: &'v ItemView,
    args: &LogsArgs,
) -> Result<(&'v AttemptView, &'v Blob), CliError> {
    let with_log =
        || view.attempts.iter().filter_map(|attempt| Some((attempt, attempt.log.as_ref()?)));
    let found = match args.attempt {
        Some(number) => with_log().find(|(attempt, _)| attempt.number == number),
        None => with_log().next_back(),
    };
    found.ok_or_else(|| {
        let known: Vec<String> =
            with_log().map(|(attempt, _)| attempt.number.to_string()).collect();
        let what = match args.attempt {
            Some(number) => format!("attempt {number} of item {} has no log", args.item),
            None => format!("item {} has no log yet", args.item),
        };
        let way_out = match known.as_slice() {
            [] => "a log is kept when an attempt ends: see `cantus item`".to_owned(),
            known => format!("these attempts have one: {}", known.join(", ")),
        };
        CliError::Nothing { what, way_out }
    })
}

async fn fetch(client: &Client, log: &Blob) -> anyhow::Result<Vec<u8>> {
    let mut api = client.api.clone();
    let log = log.clone().try_into()?;
    let fetched = artifact::fetch(&mut api, &log, ARTIFACT_BYTES_MAX);
    let bytes = client.within(TRANSFER_MAX, fetched).await?;
    Ok(bytes.map_err(|error| match error {
        ArtifactError::Call(status) => client.error(&status),
        ArtifactError::Damaged { found, wanted } => CliError::Damaged {
            what: "the log".to_owned(),
            found: found.to_string(),
            wanted: wanted.to_string(),
        },
    })?)
}

/// Byte for byte into a pipe; on a terminal, an agent's escape sequences are shown and not obeyed.
fn print(bytes: &[u8], output: &mut Output<'_>) -> io::Result<()> {
    if !output.terminal {
        output.out.write_all(bytes)?;
        return output.out.flush();
    }
    let mut shown = text::safe_lines(&String::from_utf8_lossy(bytes));
    if !shown.is_empty() && !shown.ends_with('\n') {
        shown.push('\n');
    }
    output.print(&shown)
}
