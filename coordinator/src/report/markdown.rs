//! The report as Markdown: for a pull request, a ticket, or the export.

use std::fmt::Write as _;

use cantus_core::report::Report;
use cantus_core::run::Run;

use super::sheet::{self, Sheet, Table};
use super::words;
use crate::cli::text;

/// Longest text of one cell, in characters.
const CELL_CHARS_MAX: usize = 400;
/// Goals and ids in lists.
const LISTED_MAX: usize = 200;

/// The whole report.
#[must_use]
pub fn report(run: &Run, report: &Report) -> String {
    let sheet = sheet::of(run, report);
    let mut page = head(&sheet);
    outcome(&mut page, &sheet);
    if !sheet.bars.is_empty() {
        page.push_str("\n## Budgets of the run, and what is mostly spent\n\n");
        for bar in &sheet.bars {
            let (label, used) = (escape(&bar.label), escape(&bar.text));
            line(&mut page, format_args!("- {label}: {used} ({} %)", bar.percent));
        }
    }
    figures(&mut page, &sheet);
    for one in &sheet.tables {
        table(&mut page, one);
    }
    page
}

fn line(page: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(page, "{text}").expect("writing to a string does not fail");
}

fn head(sheet: &Sheet<'_>) -> String {
    let mut page = format!("# Run {}\n\n", escape(sheet.run.id.as_str()));
    line(
        &mut page,
        format_args!("**{}.** {}\n", words::class(sheet.report.class), escape(&sheet.verdict)),
    );
    for reason in sheet.report.reasons.iter().take(LISTED_MAX) {
        line(&mut page, format_args!("- {}", escape(reason)));
    }
    page.push_str("\n| | |\n| --- | --- |\n");
    for fact in &sheet.facts {
        let doubt =
            if fact.doubt.is_empty() { String::new() } else { format!(" ({})", fact.doubt) };
        line(&mut page, format_args!("| {} | {}{doubt} |", fact.label, escape(&fact.value)));
    }
    page
}

/// What landed and what did not, with reasons.
pub(crate) fn outcome(page: &mut String, sheet: &Sheet<'_>) {
    if !sheet.landed.is_empty() {
        page.push_str("\n## Landed\n\n");
    }
    for done in sheet.landed.iter().take(LISTED_MAX) {
        let (item, goal) = (escape(&done.item), escape(&done.goal));
        line(page, format_args!("- **{item}**: {goal} (`{}`)", text::short(&done.commit)));
    }
    more(page, sheet.landed.len());
    if !sheet.open.is_empty() {
        line(page, format_args!("\n## {}\n", sheet.open_title()));
    }
    for open in sheet.open.iter().take(LISTED_MAX) {
        let (item, goal, why) = (escape(&open.item), escape(&open.goal), escape(&open.why));
        let cause = if open.cause.is_empty() {
            String::new()
        } else {
            format!(", caused by: {}", open.cause)
        };
        let why = if why.is_empty() { why } else { format!(". {why}") };
        line(page, format_args!("- **{item}** ({}{cause}): {goal}{why}", open.state));
    }
    more(page, sheet.open.len());
}

fn more(page: &mut String, all: usize) {
    if all > LISTED_MAX {
        line(page, format_args!("- and {} more", all - LISTED_MAX));
    }
}

/// The figures as a table.
pub(crate) fn figures(page: &mut String, sheet: &Sheet<'_>) {
    page.push_str("\n## Figures\n\n| Figure | Value | Meaning |\n| --- | --- | --- |\n");
    for figure in &sheet.figures {
        let value = escape(&figure.value);
        line(page, format_args!("| {} | {value} | {} |", figure.name, figure.meaning));
    }
}

fn table(page: &mut String, table: &Table) {
    line(page, format_args!("\n## {}\n\n{}\n", table.title, table.about));
    line(page, format_args!("| {} |", table.heading.join(" | ")));
    let rule = |column: usize| if table.right.contains(&column) { "---:" } else { "---" };
    let rules: Vec<&str> = (0..table.heading.len()).map(rule).collect();
    line(page, format_args!("| {} |", rules.join(" | ")));
    for row in &table.rows {
        let cells: Vec<String> = row.iter().map(|cell| escape(cell)).collect();
        line(page, format_args!("| {} |", cells.join(" | ")));
    }
    if table.more > 0 {
        line(page, format_args!("\nand {} more", table.more));
    }
}

/// One line that Markdown and the HTML in it leave alone, bounded.
pub(crate) fn escape(text: &str) -> String {
    let text = text::safe(&text::bounded(text, CELL_CHARS_MAX));
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            // `@` and `#` call people and tickets where such pages are shown.
            '@' => escaped.push_str("&#64;"),
            '#' => escaped.push_str("&#35;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' => {
                escaped.push('\\');
                escaped.push(c);
            }
            c => escaped.push(c),
        }
    }
    escaped
}
