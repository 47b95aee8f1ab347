//! `checkpoints/`: from where the run goes on. The saved work of lost attempts lies beside it, as bundles.

use cantus_core::item::Item;
use cantus_core::record::Record;
use cantus_core::report::Report;
use cantus_core::run::Run;
use serde_json::json;

use super::Tree;

/// The journal is the checkpoint: its position says up to where this export knows it.
pub(super) fn write(tree: &mut Tree, run: &Run, records: &[(u64, Record)], report: &Report) {
    let item = |item: &Item| {
        json!({
            "item": item.id.as_str(),
            "state": item.state.name(),
            "since_ms": item.since.0,
            "attempts": item.attempts.len(),
            "saved": item.saved.iter().map(|saved| saved.reason.as_str()).collect::<Vec<_>>(),
        })
    };
    let checkpoint = json!({
        "run": run.id.as_str(),
        "journal_position": records.last().map(|(position, _)| position),
        "records": records.len(),
        "measured_at_ms": report.at.0,
        "head": run.head.as_ref().map(|head| head.as_str()),
        "items": run.items.iter().map(item).collect::<Vec<_>>(),
    });
    tree.json("checkpoints/journal.json", &checkpoint);
}
