//! The export of a run as files: `.harness/`, with exactly the names of SPEC B15.
//!
//! Three memories (B16): what the project learned and decided (`memory/`), the work state (`state.json`, `plan.json`,
//! `checkpoints/`), and the evidence (`evidence/`). [`tree`] is pure; [`place`] writes it whole or not at all.

use std::collections::{BTreeMap, BTreeSet};

use cantus_core::record::Record;
use cantus_core::report::Report;
use cantus_core::run::Run;
use cantus_proto::subjects::token;
use serde_json::Value;

use crate::report::markdown;

mod artifacts;
mod checkpoints;
mod events;
mod evidence;
mod memory;
mod place;
mod progress;
mod state;
mod task;
#[cfg(test)]
mod tests;

pub use artifacts::{Wanted, wanted};
pub use place::{ExportError, Place};

/// Names at the top of an export; nothing else is in one.
pub const TOP: [&str; 9] = [
    "artifacts",
    "checkpoints",
    "evidence",
    "memory",
    "plan.json",
    "reports",
    "state.json",
    "task.yaml",
    "traces",
];

/// The keys of `state.json`, exactly.
pub const STATE_KEYS: [&str; 8] = [
    "task_id",
    "state",
    "current_owner",
    "budget",
    "artifacts",
    "claims",
    "scope_delta",
    "next_transition",
];

/// Directories that are there even when nothing is in them.
const DIRECTORIES: [&str; 5] = [
    "artifacts/final",
    "checkpoints",
    "evidence/citations",
    "evidence/test_results",
    "evidence/tool_receipts",
];

/// Files by their path in the export, and directories.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tree {
    /// Path with `/`, made of names that lead nowhere else.
    pub files: BTreeMap<String, Vec<u8>>,
    /// See [`Tree::files`].
    pub directories: BTreeSet<String>,
}

impl Tree {
    fn text(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.files.insert(path.into(), text.into().into_bytes());
    }

    fn json(&mut self, path: impl Into<String>, value: &Value) {
        self.text(path, format!("{value:#}\n"));
    }

    /// One JSON document a line.
    fn lines(&mut self, path: impl Into<String>, values: impl IntoIterator<Item = Value>) {
        let text: String = values.into_iter().map(|value| format!("{value}\n")).collect();
        self.text(path, text);
    }
}

/// What became of each artifact: nothing is wrong, or why it is not in the export.
pub type Fetched = BTreeMap<String, Result<(), String>>;

/// Everything but the artifacts themselves.
#[must_use]
pub fn tree(run: &Run, records: &[(u64, Record)], report: &Report, fetched: &Fetched) -> Tree {
    let mut tree = Tree::default();
    tree.directories.extend(DIRECTORIES.map(str::to_owned));
    tree.text("task.yaml", task::yaml(run));
    tree.json("plan.json", &task::plan(run));
    let artifacts = artifacts::list(run, fetched);
    tree.json("state.json", &state::state(run, report, &artifacts));
    memory::write(&mut tree, run, records, report);
    evidence::write(&mut tree, run);
    tree.json("artifacts/final/landed.json", &artifacts::landed(run));
    checkpoints::write(&mut tree, run, records, report);
    tree.lines("traces/events.jsonl", events::events(run, records));
    tree.text("reports/progress.md", progress::page(run, report));
    let last = match report.class {
        Some(_) => markdown::report(run, report),
        None => progress::not_yet(run),
    };
    tree.text("reports/final.md", last);
    tree
}

/// A name that people or agents chose, as one name of a file or directory: [`token`] leaves letters, digits, `-` and `_`
/// and writes all else as `=XX`, so that different names stay different and none leads anywhere.
fn name(text: &str) -> String {
    token(text)
}
