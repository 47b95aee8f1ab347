//! The past of a run: its points with what was decided at each, and what became otherwise between two.

use serde_json::{Value, json};

use crate::cli::paint::{Ink, Paint};
use crate::cli::table::{self, Cell};
use crate::cli::{text, time};
use crate::replay::diff::Change;

/// Widest item in a table, in columns.
const ITEM_COLUMNS_MAX: usize = 48;
/// Widest text of one fact or change, in columns; `--json` has all of it.
const TEXT_COLUMNS_MAX: usize = 200;

/// A point: the last message of the journal that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct Told {
    pub(in crate::cli) sequence: u64,
    pub(in crate::cli) at_ms: u64,
}

impl Told {
    fn json(self) -> Value {
        json!({ "sequence": self.sequence, "at_ms": self.at_ms })
    }

    fn text(self) -> String {
        format!("sequence {}, {}", self.sequence, time::utc(self.at_ms))
    }
}

/// The line above what is shown of a point.
pub(in crate::cli) fn point(told: Told, paint: Paint) -> String {
    paint.ink(Ink::Dim, &format!("after {}", told.text())) + "\n"
}

/// The same in a document.
pub(in crate::cli) fn at_point(mut document: Value, told: Told) -> Value {
    document["sequence"] = json!(told.sequence);
    document["at_ms"] = json!(told.at_ms);
    document
}

/// What was decided, one line for each fact.
pub(in crate::cli) struct Moments {
    run: String,
    facts: Vec<(Told, u64, String, String)>,
}

impl Moments {
    pub(in crate::cli) fn new(run: String) -> Self {
        Self { run, facts: Vec::new() }
    }

    pub(in crate::cli) fn add(&mut self, at: Told, position: u64, item: &str, told: &str) {
        self.facts.push((at, position, item.to_owned(), told.to_owned()));
    }

    pub(in crate::cli) fn text(&self, paint: Paint) -> String {
        if self.facts.is_empty() {
            return "nothing was decided about it up to there\n".to_owned();
        }
        let row = |(at, _, item, told): &(Told, u64, String, String)| {
            vec![
                Cell::number(at.sequence),
                Cell::new(time::utc(at.at_ms)),
                Cell::cut(if item.is_empty() { "(run)" } else { item }, ITEM_COLUMNS_MAX),
                Cell::cut(told, TEXT_COLUMNS_MAX),
            ]
        };
        let rows: Vec<_> = self.facts.iter().map(row).collect();
        table::render(&["SEQ", "TIME", "ITEM", "WHAT"], &rows, paint)
    }

    pub(in crate::cli) fn json(&self) -> Value {
        let fact = |(at, position, item, told): &(Told, u64, String, String)| {
            json!({
                "sequence": at.sequence, "at_ms": at.at_ms, "position": position, "item": item,
                "told": told,
            })
        };
        json!({ "run": self.run, "facts": self.facts.iter().map(fact).collect::<Vec<_>>() })
    }
}

/// What became otherwise, one line for each thing.
pub(in crate::cli) fn changes(
    run: &str,
    (from, to): (Told, Told),
    changes: &[Change],
    paint: Paint,
) -> String {
    let run = text::cut(run, ITEM_COLUMNS_MAX);
    let title = format!("run {run} from {} to {}", from.text(), to.text());
    let mut shown = paint.ink(Ink::Dim, &title) + "\n";
    if changes.is_empty() {
        return shown + "nothing is otherwise\n";
    }
    let side = |text: &str| Cell::cut(if text.is_empty() { "-" } else { text }, TEXT_COLUMNS_MAX);
    let row = |change: &Change| {
        let item = if change.item.is_empty() { "(run)" } else { &change.item };
        vec![
            Cell::cut(item, ITEM_COLUMNS_MAX),
            Cell::new(&change.what),
            side(&change.before),
            side(&change.after),
        ]
    };
    let rows: Vec<_> = changes.iter().map(row).collect();
    shown.push_str(&table::render(&["ITEM", "WHAT", "BEFORE", "AFTER"], &rows, paint));
    shown
}

/// The same for programs.
pub(in crate::cli) fn changes_json(
    run: &str,
    (from, to): (Told, Told),
    changes: &[Change],
) -> Value {
    let change = |c: &Change| json!({ "item": c.item, "what": c.what, "before": c.before, "after": c.after });
    json!({
        "run": run,
        "from": from.json(),
        "to": to.json(),
        "changes": changes.iter().map(change).collect::<Vec<_>>(),
    })
}
