//! Runs: a table of them, one with its tree of items, and how one ended.

use cantus_proto::wire::v1::{ItemSummary, RunView};

use super::amounts;
use super::item_rows::{self, Canvas};
use crate::cli::paint::{Ink, Paint};
use crate::cli::table::{self, Cell};
use crate::cli::{state, text, time, tree};

/// Cells of the progress bar.
const BAR_COLUMNS: usize = 24;
/// Widest location or branch in a heading, in columns.
const LOCATION_COLUMNS_MAX: usize = 60;
/// Stuck items that are told one by one when a run has ended; `status` has all.
const STUCK_TOLD_MAX: usize = 10;
/// Widest reason of a stuck item, in columns.
const REASON_COLUMNS_MAX: usize = 200;

/// `run nightly  running  on main of /srv/project`.
pub(in crate::cli) fn heading(view: &RunView, paint: Paint) -> String {
    let run = paint.ink(Ink::Strong, &text::cut(&view.run, LOCATION_COLUMNS_MAX));
    let state = paint.ink(state::run(&view.state), &text::cut(&view.state, 20));
    if view.target.is_empty() {
        return format!("run {run}  {state}");
    }
    let target = text::cut(short_target(&view.target), LOCATION_COLUMNS_MAX);
    let repository = text::cut(&view.repository, LOCATION_COLUMNS_MAX);
    format!("run {run}  {state}  on {target} of {repository}")
}

/// A branch as people call it.
pub(in crate::cli) fn short_target(target: &str) -> &str {
    target.strip_prefix("refs/heads/").unwrap_or(target)
}

/// `[████████░░░░]  7/12  58%  1m03s  5 landed, 1 working`.
pub(in crate::cli) fn progress(view: &RunView, now_ms: u64, paint: Paint) -> String {
    let all = view.items.len();
    let done = count(view, |item| state::item(&item.state).phase == state::Phase::Done);
    let stuck = count(view, |item| state::item(&item.state).phase == state::Phase::Stuck);
    let cells = |items: usize| (BAR_COLUMNS * items).checked_div(all).unwrap_or(BAR_COLUMNS);
    let green = cells(done);
    let red = cells(done + stuck).saturating_sub(green);
    let rest = BAR_COLUMNS.saturating_sub(green + red);
    let bar = format!(
        "{}{}{}",
        paint.ink(Ink::Good, &"█".repeat(green)),
        paint.ink(Ink::Bad, &"▓".repeat(red)),
        paint.ink(Ink::Dim, &"░".repeat(rest)),
    );
    let percent = (100 * (done + stuck)).checked_div(all).unwrap_or(100);
    let took = time::between(view.started_ms, view.ended_ms, now_ms);
    let counts = state::counts(view.items.iter().map(|item| item.state.as_str()));
    format!("[{bar}]  {}/{all}  {percent}%  {took}  {counts}", done + stuck)
}

fn count(view: &RunView, test: impl Fn(&ItemSummary) -> bool) -> usize {
    view.items.iter().filter(|item| test(item)).count()
}

/// One run with all its items.
pub(in crate::cli) fn run(view: &RunView, canvas: Canvas) -> String {
    let mut text = heading(view, canvas.paint) + "\n";
    text.push_str(&notice(view, canvas.paint));
    text.push_str(&budget(view, canvas.paint));
    for line in item_rows::lines(view, &tree::rows(&view.items), canvas) {
        text.push_str(&line);
        text.push('\n');
    }
    text.push_str(&progress(view, canvas.now_ms, canvas.paint));
    text.push('\n');
    text
}

/// What the submitter should know, as a line of its own.
pub(in crate::cli) fn notice(view: &RunView, paint: Paint) -> String {
    if view.notice.is_empty() {
        return String::new();
    }
    let notice = text::safe(&text::bounded(&view.notice, text::PROSE_CHARS_MAX));
    format!("{}\n", paint.ink(Ink::Warning, &format!("note: {notice}")))
}

/// What the run has cost and may cost, and of which most is spent; nothing where nothing is counted.
pub(in crate::cli) fn budget(view: &RunView, paint: Paint) -> String {
    let told = amounts::budget(view.budget.as_ref());
    let told = told.map(|told| paint.ink(Ink::Dim, &told) + "\n").unwrap_or_default();
    told + &amounts::warnings(&view.warnings, paint)
}

/// All runs, the newest last.
pub(in crate::cli) fn table(views: &[RunView], now_ms: u64, paint: Paint) -> String {
    if views.is_empty() {
        return "no runs yet: start one with `cantus submit PLAN`\n".to_owned();
    }
    let mut views: Vec<&RunView> = views.iter().collect();
    views.sort_by(|a, b| (a.started_ms, &a.run).cmp(&(b.started_ms, &b.run)));
    let row = |view: &&RunView| {
        let done = count(view, |item| state::item(&item.state).phase == state::Phase::Done);
        let counts = state::counts(view.items.iter().map(|item| item.state.as_str()));
        vec![
            Cell::cut(&view.run, LOCATION_COLUMNS_MAX),
            Cell::cut(&view.state, 20).ink(state::run(&view.state)),
            Cell::number(format!("{done}/{}", view.items.len())),
            Cell::number(time::between(view.started_ms, view.ended_ms, now_ms)),
            Cell::new(time::utc(view.started_ms)),
            Cell::cut(short_target(&view.target), LOCATION_COLUMNS_MAX),
            Cell::new(counts),
        ]
    };
    let rows: Vec<_> = views.iter().map(row).collect();
    table::render(&["RUN", "STATE", "DONE", "TIME", "STARTED", "TARGET", "ITEMS"], &rows, paint)
}

/// How a run ended, what stands in its way, and what to do.
pub(in crate::cli) fn summary(view: &RunView, now_ms: u64, paint: Paint) -> String {
    let took = time::between(view.started_ms, view.ended_ms, now_ms);
    let counts = state::counts(view.items.iter().map(|item| item.state.as_str()));
    let state = paint.ink(state::run(&view.state), &text::cut(&view.state, 20));
    let run = text::cut(&view.run, LOCATION_COLUMNS_MAX);
    let mut summary = format!("run {run} {state} in {took}: {counts}\n");
    let word = text::shell_word(&view.run);
    let parked: Vec<&ItemSummary> =
        view.items.iter().filter(|item| item.state == "parked").collect();
    for item in parked.iter().take(STUCK_TOLD_MAX) {
        let id = text::cut(&item.id, LOCATION_COLUMNS_MAX);
        let reason = text::cut(&item.reason, REASON_COLUMNS_MAX);
        summary.push_str(&format!("  {} {id} parked: {reason}\n", paint.ink(Ink::Bad, "✗")));
    }
    if parked.len() > STUCK_TOLD_MAX {
        summary.push_str(&format!(
            "  … and {} more: cantus status {word}\n",
            parked.len() - STUCK_TOLD_MAX
        ));
    }
    if let Some(first) = parked.first() {
        let item = text::shell_word(&first.id);
        summary.push_str(&format!(
            "see why: cantus item {word} {item}\nput it back: cantus requeue {word} {item}\n"
        ));
    }
    summary
}

#[cfg(test)]
mod tests;
