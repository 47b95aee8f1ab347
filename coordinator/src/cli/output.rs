//! Where a command writes: results to one stream, notes for people to the other.

use std::io::{self, Write};

use super::paint::Paint;

/// See the module.
pub(super) struct Output<'w> {
    /// Results.
    pub(super) out: &'w mut dyn Write,
    /// Notes, warnings and errors.
    pub(super) notes: &'w mut dyn Write,
    /// For results.
    pub(super) paint: Paint,
    /// For notes.
    pub(super) paint_notes: Paint,
    /// Whether results go to a terminal that can move its cursor.
    pub(super) live: bool,
    /// Whether results go to any terminal.
    pub(super) terminal: bool,
}

impl Output<'_> {
    /// Writes a result and hands it on at once, so that a reader behind a pipe sees it.
    pub(super) fn print(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    /// Writes a note, one line.
    pub(super) fn note(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.notes, "{text}")
    }

    /// Writes a document for programs: indented, or on one line when it is one of many.
    pub(super) fn json(&mut self, document: &serde_json::Value, one_line: bool) -> io::Result<()> {
        self.print(&super::json::text(document, one_line))
    }
}
