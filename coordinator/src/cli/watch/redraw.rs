//! Draws a picture over the one before it: only lines that changed are written, in one piece. Pure.

use std::fmt::Write as _;

use crate::cli::paint;

/// Terminals that know it show the whole change at once; others ignore it.
const BEGIN: &str = "\u{1b}[?2026h";
const END: &str = "\u{1b}[?2026l";
const HIDE_CURSOR: &str = "\u{1b}[?25l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";
const CLEAR_LINE_BEHIND: &str = "\u{1b}[K";
const CLEAR_SCREEN_BELOW: &str = "\u{1b}[J";

/// What is on the screen now; the cursor is on the line below.
#[derive(Debug, Default)]
pub(super) struct Redraw {
    lines: Vec<String>,
    columns: usize,
    hidden: bool,
}

impl Redraw {
    /// What to write so that the screen shows these lines; nothing when it does. No line may be wider than the
    /// screen.
    pub(super) fn update(&mut self, lines: Vec<String>, columns: usize) -> String {
        if self.lines == lines && self.columns == columns {
            return String::new();
        }
        let mut text = BEGIN.to_owned();
        if !self.hidden {
            text.push_str(HIDE_CURSOR);
            self.hidden = true;
        }
        let whole = columns != self.columns;
        self.go_up(&mut text, columns);
        if whole {
            text.push_str(CLEAR_SCREEN_BELOW);
        }
        for (at, line) in lines.iter().enumerate() {
            let there = !whole && self.lines.get(at) == Some(line);
            if !there {
                text.push_str(line);
                text.push_str(CLEAR_LINE_BEHIND);
            }
            text.push_str("\r\n");
        }
        if lines.len() < self.lines.len() {
            text.push_str(CLEAR_SCREEN_BELOW);
        }
        text.push_str(END);
        (self.lines, self.columns) = (lines, columns);
        text
    }

    /// What to write so that the picture is gone and the cursor back where it began.
    pub(super) fn clear(&mut self) -> String {
        let mut text = String::new();
        self.go_up(&mut text, self.columns);
        if !self.lines.is_empty() {
            text.push_str(CLEAR_SCREEN_BELOW);
        }
        self.lines.clear();
        text + &self.leave()
    }

    /// What to write before anything else does; the picture stays.
    pub(super) fn leave(&mut self) -> String {
        let hidden = std::mem::take(&mut self.hidden);
        if hidden { SHOW_CURSOR.to_owned() } else { String::new() }
    }

    /// To the first line of the picture. A screen that became narrower has wrapped its lines meanwhile.
    fn go_up(&self, text: &mut String, columns: usize) {
        let rows = |line: &String| paint::columns(line).div_ceil(columns.max(1)).max(1);
        let rows: usize = self.lines.iter().map(rows).sum();
        if rows > 0 {
            write!(text, "\r\u{1b}[{rows}A").expect("writing to a string does not fail");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(lines: &[&str]) -> Vec<String> {
        lines.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn only_what_changed_is_written() {
        let mut redraw = Redraw::default();
        let first = redraw.update(lines(&["a", "b", "c"]), 80);
        assert_eq!(
            first,
            format!("{BEGIN}{HIDE_CURSOR}\u{1b}[Ja\u{1b}[K\r\nb\u{1b}[K\r\nc\u{1b}[K\r\n{END}")
        );
        assert_eq!(redraw.update(lines(&["a", "b", "c"]), 80), "");
        let second = redraw.update(lines(&["a", "x", "c"]), 80);
        assert_eq!(second, format!("{BEGIN}\r\u{1b}[3A\r\nx\u{1b}[K\r\n\r\n{END}"));
        let shorter = redraw.update(lines(&["a"]), 80);
        assert_eq!(shorter, format!("{BEGIN}\r\u{1b}[3A\r\n\u{1b}[J{END}"));
    }

    #[test]
    fn a_narrower_screen_is_cleared_over_its_wrapped_lines() {
        let mut redraw = Redraw::default();
        let _ = redraw.update(lines(&["0123456789", "b"]), 80);
        let narrow = redraw.update(lines(&["0123", "b"]), 5);
        assert!(narrow.starts_with(&format!("{BEGIN}\r\u{1b}[3A\u{1b}[J0123")), "{narrow:?}");
    }

    #[test]
    fn the_cursor_comes_back() {
        let mut redraw = Redraw::default();
        assert_eq!(redraw.clear(), "");
        let _ = redraw.update(lines(&["a"]), 80);
        assert_eq!(redraw.clear(), format!("\r\u{1b}[1A\u{1b}[J{SHOW_CURSOR}"));
        assert_eq!(redraw.leave(), "");
    }
}
