//! The report for a terminal, fitted to its width.

use cantus_core::report::{Class, Report};
use cantus_core::run::Run;

use super::sheet::{self, Sheet, Table};
use super::words;
use crate::cli::paint::{self, Ink, Paint};
use crate::cli::table::{self, Cell};
use crate::cli::text;

/// Rows of one table: more is for the other forms.
const ROWS_MAX: usize = 30;
/// Columns of a bar.
const BAR_COLUMNS: usize = 24;
/// Longest text of one cell, in columns.
const CELL_COLUMNS_MAX: usize = 80;
/// Items of a list.
const LISTED_MAX: usize = 20;

/// The report; lines are cut to the width, if there is one.
#[must_use]
pub(crate) fn report(run: &Run, report: &Report, width: Option<usize>, paint: Paint) -> String {
    let sheet = sheet::of(run, report);
    let mut shown = head(&sheet, paint);
    shown.push_str(&outcome(&sheet, paint));
    shown.push_str(&bars(&sheet, paint));
    let figures: Vec<Vec<Cell>> = sheet
        .figures
        .iter()
        .map(|figure| {
            vec![
                Cell::new(figure.name),
                Cell::cut(&figure.value, CELL_COLUMNS_MAX).ink(Ink::Strong),
                Cell::new(figure.meaning).ink(Ink::Dim),
            ]
        })
        .collect();
    shown.push_str(&title("Figures", paint));
    shown.push_str(&table::render(&["FIGURE", "VALUE", "MEANING"], &figures, paint));
    for table in &sheet.tables {
        shown.push_str(&title(table.title, paint));
        shown.push_str(&rows(table, paint));
    }
    let Some(width) = width else { return shown };
    shown.lines().map(|line| paint::clip(line, width) + "\n").collect()
}

fn title(text: &str, paint: Paint) -> String {
    format!("\n{}\n", paint.ink(Ink::Strong, text))
}

fn head(sheet: &Sheet<'_>, paint: Paint) -> String {
    let ink = match sheet.report.class {
        None => Ink::Busy,
        Some(Class::AutonomousVerifiedSuccess | Class::AssistedVerifiedSuccess) => Ink::Good,
        Some(Class::UnverifiedSuccess) => Ink::Warning,
        Some(Class::Failed | Class::UnsafeInvalid) => Ink::Bad,
    };
    let run = paint.ink(Ink::Strong, &text::safe(sheet.run.id.as_str()));
    let class = paint.ink(ink, words::class(sheet.report.class));
    let mut head = format!("run {run}  {class}\n{}\n", text::safe(&sheet.verdict));
    for reason in sheet.report.reasons.iter().take(LISTED_MAX) {
        head.push_str(&format!("  {}\n", text::safe(reason)));
    }
    head.push('\n');
    for fact in &sheet.facts {
        let doubt =
            if fact.doubt.is_empty() { String::new() } else { format!("  ({})", fact.doubt) };
        let (label, value) = (text::padded(fact.label, 17), text::safe(&fact.value));
        head.push_str(&format!("{label}  {value}{}\n", paint.ink(Ink::Dim, &doubt)));
    }
    head
}

fn outcome(sheet: &Sheet<'_>, paint: Paint) -> String {
    let mut shown = String::new();
    if !sheet.landed.is_empty() {
        shown.push_str(&title("Landed", paint));
    }
    for done in sheet.landed.iter().take(LISTED_MAX) {
        let sign = paint.ink(Ink::Good, "✓");
        let (item, goal) = (text::safe(&done.item), text::cut(&done.goal, CELL_COLUMNS_MAX));
        shown.push_str(&format!("{sign} {item}  {}  {goal}\n", text::short(&done.commit)));
    }
    shown.push_str(&more(sheet.landed.len(), LISTED_MAX));
    if !sheet.open.is_empty() {
        shown.push_str(&title(sheet.open_title(), paint));
    }
    for open in sheet.open.iter().take(LISTED_MAX) {
        let look = crate::cli::state::item(open.state);
        let sign = paint.ink(look.ink, look.sign);
        let cause =
            if open.cause.is_empty() { String::new() } else { format!(" ({})", open.cause) };
        let why = text::cut(&open.why, 2 * CELL_COLUMNS_MAX);
        let item = text::safe(&open.item);
        shown.push_str(&format!("{sign} {item}  {}{cause}  {why}\n", open.state));
    }
    shown.push_str(&more(sheet.open.len(), LISTED_MAX));
    shown
}

fn more(all: usize, shown: usize) -> String {
    if all > shown { format!("… and {} more\n", all - shown) } else { String::new() }
}

fn bars(sheet: &Sheet<'_>, paint: Paint) -> String {
    if sheet.bars.is_empty() {
        return String::new();
    }
    let mut shown = title("Budgets of the run, and what is mostly spent", paint);
    let labels = sheet.bars.iter().map(|bar| text::columns(&text::safe(&bar.label)));
    let width = labels.max().unwrap_or(0);
    for bar in sheet.bars.iter().take(LISTED_MAX) {
        let percent = usize::try_from(bar.percent.min(100)).unwrap_or(100);
        let full = BAR_COLUMNS * percent / 100;
        let ink = match bar.percent {
            0..80 => Ink::Good,
            80..=100 => Ink::Warning,
            _ => Ink::Bad,
        };
        let drawn = paint.ink(ink, &"█".repeat(full));
        let rest = paint.ink(Ink::Dim, &"░".repeat(BAR_COLUMNS - full));
        let label = text::padded(&text::safe(&bar.label), width);
        shown.push_str(&format!("{label}  {drawn}{rest}  {:>3}%  {}\n", bar.percent, bar.text));
    }
    shown + &more(sheet.bars.len(), LISTED_MAX)
}

fn rows(table: &Table, paint: Paint) -> String {
    let heading: Vec<String> = table.heading.iter().map(|title| title.to_uppercase()).collect();
    let heading: Vec<&str> = heading.iter().map(String::as_str).collect();
    let cell = |(column, text): (usize, &String)| {
        if table.right.contains(&column) {
            Cell::number(text::cut(text, CELL_COLUMNS_MAX))
        } else {
            Cell::cut(text, CELL_COLUMNS_MAX)
        }
    };
    let shown: Vec<Vec<Cell>> = table
        .rows
        .iter()
        .take(ROWS_MAX)
        .map(|row| row.iter().enumerate().map(cell).collect())
        .collect();
    table::render(&heading, &shown, paint) + &more(table.rows.len() + table.more, ROWS_MAX)
}
