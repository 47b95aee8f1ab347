//! Runs as people see them.

use super::super::samples::{NOW_MS, completed, failed, item, running};
use super::*;

fn canvas(width: Option<usize>) -> Canvas {
    Canvas { now_ms: NOW_MS, width, paint: Paint::NEVER }
}

#[test]
fn a_run_at_work() {
    assert_eq!(
        run(&running(), canvas(None)),
        "run nightly  running  on main of /srv/project\n\
         ✓ base        landed       1/3      10s  0123456789ab  sha256:abababababab\n\
         ├─ ● left     working      1/3      12s  worker-3 on alpha\n\
         │  └─ · join  waiting                    needs left, right\n\
         └─ ● right    working      2/3      12s  worker-1 on alpha, mends: AC-01: exit code 1\n\
         ○ alone       queued\n\
         [████░░░░░░░░░░░░░░░░░░░░]  1/5  20%  1m03s  1 landed, 2 working, 1 queued, 1 waiting\n"
    );
}

#[test]
fn rows_fit_the_screen_whatever_is_in_them() {
    let mut view = running();
    view.items[0].id = "日本語の項目".repeat(10);
    view.items[1].needs = vec![view.items[0].id.clone()];
    view.items[2].reason = "e\u{301}".repeat(5_000);
    view.items[3].id = "\u{1b}]0;title\u{7}".repeat(10);
    for width in [40, 60, 80, 200] {
        for line in item_rows::lines(&view, &tree::rows(&view.items), canvas(Some(width))) {
            let least = 46.max(width);
            assert!(text::columns(&line) <= least, "{width}: {} {line}", text::columns(&line));
            assert!(!line.chars().any(char::is_control), "{line:?}");
        }
    }
}

#[test]
fn colour_adds_nothing_but_colour() {
    let painted = run(&running(), Canvas { paint: Paint::ALWAYS, ..canvas(None) });
    let mut plain = String::new();
    let mut rest = painted.as_str();
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    plain.push_str(rest);
    assert_eq!(plain, run(&running(), canvas(None)));
    assert_ne!(painted, plain);
}

#[test]
fn how_a_run_ended_and_what_to_do() {
    assert_eq!(
        summary(&completed(), NOW_MS, Paint::NEVER),
        "run nightly completed in 1m03s: 5 landed\n"
    );
    assert_eq!(
        summary(&failed(), NOW_MS, Paint::NEVER),
        "run nightly failed in 1m02s: 3 landed, 1 parked, 1 blocked\n  \
         ✗ right parked: 3 attempts, the last refuted: AC-01: exit code 1\\u{1b}[2J\n\
         see why: cantus item nightly right\n\
         put it back: cantus requeue nightly right\n"
    );
    let mut many = failed();
    many.items = (0..13).map(|n| item(&format!("i {n}"), &[], "parked")).collect();
    let told = summary(&many, NOW_MS, Paint::NEVER);
    assert!(told.contains("  … and 3 more: cantus status nightly\n"), "{told}");
    assert!(told.contains("cantus requeue nightly 'i 0'\n"), "{told}");
}

#[test]
fn a_bar_shows_what_is_done_and_what_is_stuck() {
    let bar = progress(&failed(), NOW_MS, Paint::NEVER);
    assert_eq!(bar, "[██████████████▓▓▓▓▓▓▓▓▓▓]  5/5  100%  1m02s  3 landed, 1 parked, 1 blocked");
    let empty = RunView { items: vec![], ..completed() };
    assert_eq!(
        progress(&empty, NOW_MS, Paint::NEVER),
        "[████████████████████████]  0/0  100%  1m03s  no items"
    );
}

#[test]
fn runs_in_a_table_and_a_notice() {
    let mut other = completed();
    other.run = "old".to_owned();
    other.started_ms -= 3_600_000;
    assert_eq!(
        table(&[running(), other], NOW_MS, Paint::NEVER),
        "RUN      STATE      DONE   TIME  STARTED               TARGET  ITEMS\n\
         old      completed   5/5  1h01m  2026-11-30T17:10:20Z  main    5 landed\n\
         nightly  running     1/5  1m03s  2026-11-30T18:10:20Z  main    1 landed, 2 working, 1 queued, 1 waiting\n"
    );
    assert!(table(&[], NOW_MS, Paint::NEVER).contains("cantus submit"));
    let view = RunView { notice: "main is checked out\nhere".to_owned(), ..running() };
    assert_eq!(notice(&view, Paint::NEVER), "note: main is checked out\\nhere\n");
    let aimless = RunView { target: String::new(), ..running() };
    assert_eq!(heading(&aimless, Paint::NEVER), "run nightly  running");
}
