//! Simple aligned columns. Cells come escaped; a table that is too wide loses the end of its last column.

use super::paint::{Ink, Paint};
use super::text;

/// Space between two columns.
const GAP: &str = "  ";

/// One cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cell {
    text: String,
    ink: Option<Ink>,
    right: bool,
}

impl Cell {
    /// Escapes the text.
    pub(crate) fn new(text: impl AsRef<str>) -> Self {
        Self { text: text::safe(text.as_ref()), ink: None, right: false }
    }

    /// Escapes the text and cuts it.
    pub(crate) fn cut(text: impl AsRef<str>, columns_max: usize) -> Self {
        Self { text: text::cut(text.as_ref(), columns_max), ink: None, right: false }
    }

    /// To the right edge of its column, as numbers are.
    pub(crate) fn number(text: impl ToString) -> Self {
        Self { text: text.to_string(), ink: None, right: true }
    }

    pub(crate) fn ink(self, ink: Ink) -> Self {
        Self { ink: Some(ink), ..self }
    }
}

/// Lines with a heading, each ended by a newline.
pub(crate) fn render(heading: &[&str], rows: &[Vec<Cell>], paint: Paint) -> String {
    let mut widths: Vec<usize> = heading.iter().map(|title| text::columns(title)).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(text::columns(&cell.text));
        }
    }
    let right: Vec<bool> = (0..heading.len())
        .map(|at| rows.iter().any(|row| row.get(at).is_some_and(|c| c.right)))
        .collect();
    let title = |(text, right): (&&str, &bool)| Cell {
        text: (*text).to_owned(),
        ink: Some(Ink::Dim),
        right: *right,
    };
    let heading: Vec<Cell> = heading.iter().zip(&right).map(title).collect();
    std::iter::once(&heading).chain(rows).map(|row| line(row, &widths, paint)).collect()
}

fn line(row: &[Cell], widths: &[usize], paint: Paint) -> String {
    let mut line = String::new();
    for (at, (cell, width)) in row.iter().zip(widths).enumerate() {
        let spaces = " ".repeat(width.saturating_sub(text::columns(&cell.text)));
        let shown = cell.ink.map_or_else(|| cell.text.clone(), |ink| paint.ink(ink, &cell.text));
        if at > 0 {
            line.push_str(GAP);
        }
        if cell.right {
            line.push_str(&spaces);
        }
        line.push_str(&shown);
        if !cell.right && at + 1 < row.len() {
            line.push_str(&spaces);
        }
    }
    line.truncate(line.trim_end().len());
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_whatever_is_in_them() {
        let rows = [
            vec![Cell::new("日本"), Cell::number(7), Cell::new("a")],
            vec![Cell::new("x\u{1b}y"), Cell::number(1234), Cell::new("")],
        ];
        let table = render(&["NAME", "N", "NOTE"], &rows, Paint::NEVER);
        assert_eq!(
            table,
            "NAME         N  NOTE\n\
             日本         7  a\n\
             x\\u{1b}y  1234\n"
        );
    }
}
