//! Collects diagnostics while a plan is compiled: bounded, with the item that they are about.

use super::bounds::DIAGNOSTICS_MAX;
use super::codes::{self, Code};
use super::{Diagnostic, Severity};
use crate::ids::ItemId;

/// A place in the file; both from 1, the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At {
    pub(super) line: u32,
    pub(super) column: u32,
}

/// The place that stands for the whole file.
pub(super) const START: At = At { line: 1, column: 1 };

/// Longest piece of the user's text repeated in a message, in characters.
const SHOWN_CHARS_MAX: usize = 60;

/// What diagnostics are about; written out only when there is one.
#[derive(Debug, Clone)]
pub(super) enum Subject {
    Plan,
    Defaults,
    /// An item without a valid id, counted from 1.
    ItemNumber(usize),
    Item(ItemId),
}

pub(super) struct Sink<'f> {
    file: &'f str,
    subject: Subject,
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    errors_left_out: u64,
    warnings_left_out: u64,
}

impl<'f> Sink<'f> {
    pub(super) fn new(file: &'f str) -> Self {
        Self {
            file,
            subject: Subject::Plan,
            errors: Vec::new(),
            warnings: Vec::new(),
            errors_left_out: 0,
            warnings_left_out: 0,
        }
    }

    /// Names what the diagnostics from here on are about.
    pub(super) fn about(&mut self, subject: Subject) {
        self.subject = subject;
    }

    /// Adds a diagnostic: the message names the thing and the reason, the hint the way out.
    pub(super) fn add(
        &mut self,
        code: Code,
        at: At,
        message: impl AsRef<str>,
        hint: impl Into<String>,
    ) {
        let (kept, left_out) = match code.severity {
            Severity::Error => (&mut self.errors, &mut self.errors_left_out),
            Severity::Warning => (&mut self.warnings, &mut self.warnings_left_out),
        };
        if kept.len() == DIAGNOSTICS_MAX {
            *left_out += 1;
            return;
        }
        let message = message.as_ref();
        let message = match &self.subject {
            Subject::Plan => message.to_owned(),
            Subject::Defaults => format!("`defaults`: {message}"),
            Subject::ItemNumber(number) => format!("item number {number}: {message}"),
            Subject::Item(id) => format!("item {}: {message}", shown(id.as_str())),
        };
        kept.push(Diagnostic {
            file: self.file.to_owned(),
            line: at.line,
            column: at.column,
            code: code.id,
            severity: code.severity,
            message,
            hint: hint.into(),
        });
    }

    pub(super) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// All of them by position, and how many were left out at the end.
    pub(super) fn finish(mut self, end: At) -> Vec<Diagnostic> {
        self.subject = Subject::Plan;
        let left_out = [
            (codes::MORE_ERRORS, self.errors_left_out, "errors"),
            (codes::MORE_WARNINGS, self.warnings_left_out, "warnings"),
        ];
        let mut all = std::mem::take(&mut self.errors);
        all.append(&mut self.warnings);
        let last = all.iter().map(|d| At { line: d.line, column: d.column }).max();
        let end = last.map_or(end, |last| last.max(end));
        for (code, count, what) in left_out.into_iter().filter(|(_, count, _)| *count > 0) {
            self.add(
                code,
                end,
                format!("{count} more {what} are not shown"),
                "mend the ones above first",
            );
        }
        all.append(&mut self.errors);
        all.append(&mut self.warnings);
        all.sort();
        all.dedup();
        all
    }
}

/// A piece of the user's text for a message: quoted, escaped, cut.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}
