//! `cantus export`: a run as files, with what its workers made.

use std::collections::BTreeMap;

use cantus_core::report;
use cantus_proto::ids::Blob;
use cantus_proto::limits::ARTIFACT_BYTES_MAX;

use super::report::history;
use crate::artifact;
use crate::cli::args::ExportArgs;
use crate::cli::client::{Client, TRANSFER_MAX};
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::text;
use crate::config::Home;
use crate::export::{self, Fetched, Place, Wanted};
use crate::kernel::{chain, now};
use crate::replay::Until;

/// All artifacts of one export, in bytes: more is for the blob store.
const EXPORT_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;

/// See the module.
pub(in crate::cli) async fn export(
    home: &Home,
    args: &ExportArgs,
    output: &mut Output<'_>,
) -> anyhow::Result<Exit> {
    let place = Place::prepare(&args.out)?;
    let at = crate::cli::client::Place::choose(args.connect.as_deref(), home);
    let client = Client::connect(at).await?;
    let history = history(&client, &args.run).await?;
    let core = history.core_at(Until::End)?;
    let run = &core.runs()[history.run()];
    let fetched = fetch(&client, export::wanted(run), &place).await?;
    let missing = fetched.values().filter(|fetched| fetched.is_err()).count();
    let tree = export::tree(run, history.records(), &report::of(run, now()), &fetched);
    place.finish(&tree)?;
    output.note(&format!("written to {}", text::safe(&args.out.to_string_lossy())))?;
    if missing > 0 {
        let artifacts = text::count(missing, "artifact");
        output.note(&format!("{artifacts} could not be had; state.json says which and why"))?;
    }
    Ok(Exit::Ok)
}

/// Fetches every artifact once, and writes it wherever it belongs. What cannot be had is told and not the end.
async fn fetch(client: &Client, wanted: Vec<Wanted>, place: &Place) -> anyhow::Result<Fetched> {
    let mut paths: BTreeMap<Blob, Vec<String>> = BTreeMap::new();
    let mut order: Vec<Blob> = Vec::new();
    for Wanted { path, blob, .. } in wanted {
        let known = paths.entry(blob.clone()).or_default();
        if known.is_empty() {
            order.push(blob);
        }
        known.push(path);
    }
    let mut fetched = Fetched::new();
    let mut bytes_left = EXPORT_BYTES_MAX;
    for blob in order {
        let paths = paths.remove(&blob).unwrap_or_default();
        let got = one(client, &blob, bytes_left).await;
        if let Ok(bytes) = &got {
            for path in &paths {
                place.write(path, bytes)?;
                bytes_left = bytes_left.saturating_sub(blob.size_bytes);
            }
        }
        let result = got.map(|_| ());
        fetched.extend(paths.into_iter().map(|path| (path, result.clone())));
    }
    Ok(fetched)
}

async fn one(client: &Client, blob: &Blob, bytes_left: u64) -> Result<Vec<u8>, String> {
    if blob.size_bytes > ARTIFACT_BYTES_MAX {
        return Err(format!("it has {} bytes, the limit is {ARTIFACT_BYTES_MAX}", blob.size_bytes));
    }
    if blob.size_bytes > bytes_left {
        return Err(format!("an export has {EXPORT_BYTES_MAX} bytes of artifacts at most"));
    }
    let mut api = client.api.clone();
    let fetching = artifact::fetch(&mut api, blob, ARTIFACT_BYTES_MAX);
    let fetched = client.within(TRANSFER_MAX, fetching).await.map_err(|error| error.to_string())?;
    fetched.map_err(|error| chain(&error))
}
