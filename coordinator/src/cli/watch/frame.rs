//! One picture of a run for a terminal of a given size. Pure.
//!
//! What does not fit as a tree is a list of the items that matter most now, and one line for the rest.

use cantus_proto::wire::v1::RunView;

use crate::cli::paint::{self, Ink};
use crate::cli::render::item_rows::{self, Canvas};
use crate::cli::render::run;
use crate::cli::state::{self, Phase};
use crate::cli::terminal::Size;
use crate::cli::tree::{self, Row};

/// Rows of a picture that are no items: heading, progress, and the line of the cursor.
const OTHER_ROWS: usize = 3;

/// The lines, each narrower than the screen, so that none wraps.
pub(super) fn lines(view: &RunView, size: Size, canvas: Canvas) -> Vec<String> {
    let columns = size.columns.saturating_sub(1);
    let canvas = Canvas { width: Some(columns), ..canvas };
    let mut lines = vec![run::heading(view, canvas.paint)];
    lines.extend(run::notice(view, canvas.paint).lines().map(str::to_owned));
    lines.extend(run::budget(view, canvas.paint).lines().map(str::to_owned));
    let room = size.rows.saturating_sub(OTHER_ROWS - 1 + lines.len()).max(1);
    if view.items.len() <= room {
        lines.extend(item_rows::lines(view, &tree::rows(&view.items), canvas));
    } else {
        lines.extend(most_important(view, room, canvas));
    }
    lines.push(run::progress(view, canvas.now_ms, canvas.paint));
    lines.iter().map(|line| paint::clip(line, columns)).collect()
}

fn most_important(view: &RunView, room: usize, canvas: Canvas) -> Vec<String> {
    let mut places: Vec<usize> = (0..view.items.len()).collect();
    places.sort_by_key(|place| {
        let item = &view.items[*place];
        let phase = state::item(&item.state).phase;
        // Of what has landed the newest is of interest; of all else what the plan names first.
        let newest_first = if phase == Phase::Done { u64::MAX - item.ended_ms } else { 0 };
        (rank(phase), newest_first, *place)
    });
    let (shown, rest) = places.split_at(room.saturating_sub(1));
    let mut shown = shown.to_vec();
    shown.sort_unstable();
    let rows: Vec<Row> =
        shown.into_iter().map(|item| Row { item, branches: String::new() }).collect();
    let mut lines = item_rows::lines(view, &rows, canvas);
    let counts = state::counts(rest.iter().map(|place| view.items[*place].state.as_str()));
    lines.push(canvas.paint.ink(Ink::Dim, &format!("… and {} more: {counts}", rest.len())));
    lines
}

fn rank(phase: Phase) -> u8 {
    match phase {
        Phase::Active => 0,
        Phase::Stuck => 1,
        Phase::Next => 2,
        Phase::Done => 3,
        Phase::Later => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::paint::Paint;
    use crate::cli::render::samples::{NOW_MS, item, running};

    fn canvas() -> Canvas {
        Canvas { now_ms: NOW_MS, width: None, paint: Paint::ALWAYS }
    }

    #[test]
    fn a_picture_fits_every_screen() {
        let mut view = running();
        view.items.extend((0..500).map(|n| item(&format!("more-{n}"), &["alone"], "waiting")));
        view.notice = "main is checked out: the run lands on cantus/nightly".to_owned();
        for columns in [1, 20, 46, 80, 300] {
            for rows in [1, 5, 24, 1_000] {
                let lines = lines(&view, Size { columns, rows }, canvas());
                assert!(
                    lines.iter().all(|line| paint::columns(line) < columns.max(2)),
                    "{columns}: {lines:?}"
                );
                assert!(lines.len() < rows.max(5), "{rows}: {}", lines.len());
            }
        }
    }

    #[test]
    fn what_matters_now_is_shown_first() {
        let mut view = running();
        view.items.extend((0..500).map(|n| item(&format!("more-{n}"), &["alone"], "waiting")));
        view.items[300] = item("far", &[], "verifying");
        let canvas = Canvas { paint: Paint::NEVER, ..canvas() };
        let lines = lines(&view, Size { columns: 80, rows: 8 }, canvas);
        assert_eq!(
            lines[1..6],
            [
                "● left   working      1/3      12s  worker-3 on alpha",
                "● right  working      2/3      12s  worker-1 on alpha, mends: AC-01: exit code…",
                "○ alone  queued",
                "◆ far    verifying    1/3      12s",
                "… and 501 more: 1 landed, 500 waiting",
            ]
        );
    }
}
