//! A run as plain lines: one per change, with its time. Pure.

use std::collections::BTreeMap;

use cantus_proto::wire::v1::{ItemSummary, RunView};

use crate::cli::paint::Paint;
use crate::cli::render::run;
use crate::cli::{state, text, time};

/// Widest id, in columns.
const ID_COLUMNS_MAX: usize = 80;
/// Widest text behind an item's state, in columns.
const DETAIL_COLUMNS_MAX: usize = 300;

/// What was already told.
#[derive(Debug, Default)]
pub(super) struct Lines {
    told: BTreeMap<String, Told>,
    began: bool,
    ended: usize,
}

/// What makes a line when it changes.
#[derive(Debug, PartialEq, Eq)]
struct Told {
    state: String,
    attempt: u32,
    worker: String,
    reason: String,
    unschedulable: String,
}

impl Told {
    fn of(item: &ItemSummary) -> Self {
        Self {
            state: item.state.clone(),
            attempt: item.attempt,
            worker: item.worker.clone(),
            reason: item.reason.clone(),
            unschedulable: item.unschedulable.clone(),
        }
    }
}

impl Lines {
    /// Lines for what is new, each ended by a newline. Items that merely wait are not told at the start.
    pub(super) fn update(&mut self, view: &RunView, now_ms: u64, paint: Paint) -> String {
        let mut lines = String::new();
        if !self.began {
            let items = text::count(view.items.len(), "item");
            let started = time::utc(view.started_ms);
            lines = format!("{started} {}, {items}\n", run::heading(view, paint));
            lines.push_str(&run::notice(view, paint));
        }
        let mut news: Vec<(u64, &ItemSummary, bool)> = Vec::new();
        for item in &view.items {
            let told = Told::of(item);
            let before = self.told.get(&item.id);
            if before == Some(&told) {
                continue;
            }
            let moved = before.is_none_or(|before| before.state != told.state);
            if moved && before.is_some_and(|before| state::has_ended(&before.state)) {
                // Put back, or ended in another way.
                self.ended = self.ended.saturating_sub(1);
            }
            let at = if moved && item.state_since_ms != 0 { item.state_since_ms } else { now_ms };
            if self.began || item.state != "waiting" {
                news.push((at, item, moved));
            }
            self.told.insert(item.id.clone(), told);
        }
        // Several changes may come in one view: they are told in the order in which they happened.
        news.sort_by_key(|(at, ..)| *at);
        for (at, item, moved) in news {
            lines.push_str(&line(item, at, paint));
            if moved && state::has_ended(&item.state) {
                self.ended += 1;
                lines.push_str(&format!("  [{}/{}]", self.ended, view.items.len()));
            }
            lines.push('\n');
        }
        self.began = true;
        lines
    }
}

fn line(item: &ItemSummary, at_ms: u64, paint: Paint) -> String {
    let look = state::item(&item.state);
    let id = text::cut(&item.id, ID_COLUMNS_MAX);
    // A reason such as "cancelled by a person" says the state itself.
    let says_state = !item.state.is_empty() && item.reason.starts_with(&item.state);
    let (state, reason) =
        if says_state { (&item.reason, "") } else { (&item.state, item.reason.as_str()) };
    let state = paint.ink(look.ink, &text::cut(state, DETAIL_COLUMNS_MAX));
    let mut line = format!("{} {id}: {state}", time::utc(at_ms));
    if item.attempt > 0 && !state::has_ended(&item.state) {
        line.push_str(&format!(", attempt {}/{}", item.attempt, item.attempts_max));
    }
    let short = |id: &String| if id.is_empty() { String::new() } else { text::short(id) };
    let mends = item.attempt > 0 && !reason.is_empty() && !state::has_ended(&item.state);
    let reason = if mends { format!("mends: {reason}") } else { reason.to_owned() };
    let nobody = item.unschedulable.clone();
    for detail in [item.worker.clone(), reason, nobody, short(&item.commit), short(&item.evidence)]
    {
        if !detail.is_empty() {
            line.push_str(", ");
            line.push_str(&text::cut(&detail, DETAIL_COLUMNS_MAX));
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::render::samples::{NOW_MS, failed, running};

    #[test]
    fn one_line_per_change_with_its_time() {
        let mut lines = Lines::default();
        assert_eq!(
            lines.update(&running(), NOW_MS, Paint::NEVER),
            "2026-11-30T18:10:20Z run nightly  running  on main of /srv/project, 5 items\n\
             2026-11-30T18:11:21Z base: landed, 0123456789ab, sha256:abababababab  [1/5]\n\
             2026-11-30T18:11:21Z left: working, attempt 1/3, worker-3 on alpha\n\
             2026-11-30T18:11:21Z right: working, attempt 2/3, worker-1 on alpha, mends: AC-01: exit code 1\n\
             2026-11-30T18:11:21Z alone: queued\n"
        );
        assert_eq!(lines.update(&running(), NOW_MS, Paint::NEVER), "");
        let mut other = running();
        other.items[1].worker = "worker-9 on beta".to_owned();
        assert_eq!(
            lines.update(&other, NOW_MS, Paint::NEVER),
            "2026-11-30T18:11:23Z left: working, attempt 1/3, worker-9 on beta\n"
        );
        assert_eq!(
            lines.update(&failed(), NOW_MS, Paint::NEVER),
            "2026-11-30T18:11:21Z left: landed  [2/5]\n\
             2026-11-30T18:11:21Z right: parked, 3 attempts, the last refuted: AC-01: exit code 1\\u{1b}[2J  [3/5]\n\
             2026-11-30T18:11:21Z join: blocked, needs right, which is parked  [4/5]\n\
             2026-11-30T18:11:21Z alone: landed  [5/5]\n"
        );
    }
}
