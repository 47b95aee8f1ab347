//! The row of one item in a tree or list: sign, id, state, attempt, time, and what there is to say.

use std::collections::BTreeMap;

use cantus_proto::wire::v1::{ItemSummary, RunView};

use crate::cli::paint::{Ink, Paint};
use crate::cli::tree::Row;
use crate::cli::{state, text, time};

/// Widest id with its branches, in columns: the rest of the row must still fit.
const NAME_COLUMNS_MAX: usize = 48;
/// Columns that the name leaves to the others on a narrow screen: sign, state, attempt, time and gaps.
const OTHERS_COLUMNS: usize = 34;
/// Narrowest name.
const NAME_COLUMNS_MIN: usize = 12;
/// The longest word for a state.
const STATE_COLUMNS: usize = 9;
/// Width of the text behind a row where no screen sets one.
const DETAIL_COLUMNS_MAX: usize = 160;

/// Widest name of a worker: the end of a container's name tells it from the others.
const WORKER_COLUMNS_MAX: usize = 28;

/// What rows are drawn for.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct Canvas {
    /// The clock that durations end at, in milliseconds since 1970.
    pub(in crate::cli) now_ms: u64,
    /// Columns of the screen; nothing where there is none.
    pub(in crate::cli) width: Option<usize>,
    pub(in crate::cli) paint: Paint,
}

/// One line per row, without line ends.
pub(in crate::cli) fn lines(view: &RunView, rows: &[Row], canvas: Canvas) -> Vec<String> {
    let states: BTreeMap<&str, &str> =
        view.items.iter().map(|item| (item.id.as_str(), item.state.as_str())).collect();
    let room = canvas.width.map_or(NAME_COLUMNS_MAX, |width| {
        width.saturating_sub(OTHERS_COLUMNS).clamp(NAME_COLUMNS_MIN, NAME_COLUMNS_MAX)
    });
    let widest = |row: &Row| {
        text::columns(&row.branches) + text::columns(&text::cut(&view.items[row.item].id, room))
    };
    let name_columns = rows.iter().map(widest).max().unwrap_or(0).min(room);
    rows.iter().map(|row| line(&view.items[row.item], row, name_columns, &states, canvas)).collect()
}

fn line(
    item: &ItemSummary,
    row: &Row,
    name_columns: usize,
    states: &BTreeMap<&str, &str>,
    canvas: Canvas,
) -> String {
    let look = state::item(&item.state);
    let branches = text::cut(&row.branches, name_columns.saturating_sub(4));
    let name = text::cut(&item.id, name_columns.saturating_sub(text::columns(&branches)));
    let name = text::padded(&name, name_columns.saturating_sub(text::columns(&branches)));
    let word = text::cut(&item.state, STATE_COLUMNS);
    let gap = " ".repeat(STATE_COLUMNS.saturating_sub(text::columns(&word)));
    let tries = if item.attempt == 0 {
        String::new()
    } else {
        format!("{}/{}", item.attempt, item.attempts_max)
    };
    let took = time::between(item.started_ms, item.ended_ms, canvas.now_ms);
    let paint = canvas.paint;
    let plain_columns =
        text::columns(&branches) + 2 + text::columns(&name) + 2 + STATE_COLUMNS + 2 + 5 + 2 + 7;
    let mut line = format!(
        "{}{} {name}  {}{gap}  {tries:>5}  {took:>7}",
        paint.ink(Ink::Dim, &branches),
        paint.ink(look.ink, look.sign),
        paint.ink(look.ink, &word),
    );
    let room =
        canvas.width.map_or(DETAIL_COLUMNS_MAX, |width| width.saturating_sub(plain_columns + 2));
    let (detail, ink) = detail(item, states);
    let detail = text::cut(&detail, room);
    if !detail.is_empty() {
        line.push_str("  ");
        line.push_str(&ink.map_or_else(|| detail.clone(), |ink| paint.ink(ink, &detail)));
    }
    line.truncate(line.trim_end().len());
    line
}

/// What there is to say about an item beside its state.
fn detail(item: &ItemSummary, states: &BTreeMap<&str, &str>) -> (String, Option<Ink>) {
    match item.state.as_str() {
        "parked" | "blocked" => (item.reason.clone(), Some(Ink::Bad)),
        "cancelled" => (item.reason.clone(), Some(Ink::Dim)),
        "landed" => {
            let (commit, evidence) = (text::short(&item.commit), text::short(&item.evidence));
            (format!("{commit}  {evidence}"), Some(Ink::Dim))
        }
        "waiting" => {
            let open = |need: &&String| {
                states
                    .get(need.as_str())
                    .is_none_or(|state| state::item(state).phase != state::Phase::Done)
            };
            let needs: Vec<&str> = item.needs.iter().filter(open).map(String::as_str).collect();
            (format!("needs {}", needs.join(", ")), Some(Ink::Dim))
        }
        _ if !item.unschedulable.is_empty() => (item.unschedulable.clone(), Some(Ink::Bad)),
        _ => {
            let worker = text::tail(&item.worker, WORKER_COLUMNS_MAX);
            let mends = match item.reason.as_str() {
                "" => return (worker, Some(Ink::Dim)),
                reason => format!("mends: {reason}"),
            };
            let both = if worker.is_empty() { mends } else { format!("{worker}, {mends}") };
            (both, Some(Ink::Warning))
        }
    }
}
