//! The report as one HTML page that needs nothing else: no script, no font, no request.
//!
//! It reads from the top: the outcome in words, what landed and what did not, money and time, then the tables.

use cantus_core::report::{Class, Report};
use cantus_core::run::Run;

use super::sheet::{self, Bar, Known, Sheet, Table};
use super::words;
use crate::cli::text;

mod timeline;

const STYLE: &str = include_str!("html/style.css");
/// Longest text of one cell, in characters.
const CELL_CHARS_MAX: usize = 600;
/// Items of a list.
const LISTED_MAX: usize = 200;
/// Facts that are shown as large figures; the others follow as small ones.
const LARGE_FACTS: usize = 5;

/// The whole page.
#[must_use]
pub fn report(run: &Run, report: &Report) -> String {
    let sheet = sheet::of(run, report);
    let title = escape(&format!("Cantus report: {}", run.id));
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n"
    );
    page.push_str(&head(&sheet));
    page.push_str(&facts(&sheet));
    page.push_str(&open(&sheet));
    page.push_str(&landed(&sheet));
    page.push_str(&bars(&sheet.bars));
    page.push_str(&timeline::timeline(&sheet));
    page.push_str(&figures(&sheet));
    for one in &sheet.tables {
        page.push_str(&table(one));
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

/// How a class looks; its words say the same.
fn tone(class: Option<Class>) -> &'static str {
    match class {
        None => "busy",
        Some(Class::AutonomousVerifiedSuccess | Class::AssistedVerifiedSuccess) => "good",
        Some(Class::UnverifiedSuccess) => "warn",
        Some(Class::Failed | Class::UnsafeInvalid) => "bad",
    }
}

fn head(sheet: &Sheet<'_>) -> String {
    let (tone, class) = (tone(sheet.report.class), words::class(sheet.report.class));
    let run = escape(sheet.run.id.as_str());
    let verdict = escape(&sheet.verdict);
    let reasons = sheet.report.reasons.iter().take(LISTED_MAX);
    let reasons: String = reasons.map(|reason| format!("<li>{}</li>\n", escape(reason))).collect();
    format!(
        "<header class=\"{tone}\">\n<p class=\"eyebrow\">Run <b>{run}</b> \
         <span class=\"badge\">{class}</span></p>\n<h1>{verdict}</h1>\n\
         <ul class=\"reasons\">\n{reasons}</ul>\n</header>\n"
    )
}

fn facts(sheet: &Sheet<'_>) -> String {
    let (large, small) = sheet.facts.split_at(LARGE_FACTS.min(sheet.facts.len()));
    let mut shown = "<dl class=\"large\">\n".to_owned();
    large.iter().for_each(|known| shown.push_str(&fact(known)));
    shown.push_str("</dl>\n<dl class=\"small\">\n");
    small.iter().for_each(|known| shown.push_str(&fact(known)));
    shown + "</dl>\n"
}

fn fact(known: &Known) -> String {
    let Known { label, value, doubt } = known;
    let doubt =
        if doubt.is_empty() { String::new() } else { format!("<small>{}</small>", escape(doubt)) };
    format!("<div><dt>{label}</dt><dd>{}{doubt}</dd></div>\n", escape(value))
}

fn landed(sheet: &Sheet<'_>) -> String {
    let done = sheet.landed.iter().take(LISTED_MAX).map(|done| {
        let (item, goal) = (escape(&done.item), escape(&done.goal));
        let commit = escape(&text::short(&done.commit));
        format!("<li><b>{item}</b> {goal} <code>{commit}</code></li>\n")
    });
    list("Landed", "good", done, sheet.landed.len())
}

fn open(sheet: &Sheet<'_>) -> String {
    let open = sheet.open.iter().take(LISTED_MAX).map(|open| {
        let (item, goal, why) = (escape(&open.item), escape(&open.goal), escape(&open.why));
        let cause = if open.cause.is_empty() {
            String::new()
        } else {
            format!(" <span class=\"cause\">caused by: {}</span>", open.cause)
        };
        let why = if why.is_empty() { why } else { format!("<p>{why}</p>") };
        format!(
            "<li><b>{item}</b> <span class=\"state\">{}</span>{cause} {goal}{why}</li>\n",
            open.state
        )
    });
    let tone = if sheet.report.class.is_none() { "busy" } else { "bad" };
    list(sheet.open_title(), tone, open, sheet.open.len())
}

fn list(title: &str, tone: &str, entries: impl Iterator<Item = String>, all: usize) -> String {
    if all == 0 {
        return String::new();
    }
    let entries: String = entries.collect();
    let more = more(all.saturating_sub(LISTED_MAX));
    format!(
        "<section>\n<h2>{title}</h2>\n<ul class=\"items {tone}\">\n{entries}</ul>\n{more}</section>\n"
    )
}

fn more(more: usize) -> String {
    if more == 0 { String::new() } else { format!("<p class=\"note\">and {more} more</p>\n") }
}

fn bars(bars: &[Bar]) -> String {
    if bars.is_empty() {
        return String::new();
    }
    let bar = |bar: &Bar| {
        let tone = match bar.percent {
            0..80 => "good",
            80..=100 => "warn",
            _ => "bad",
        };
        let (label, used) = (escape(&bar.label), escape(&bar.text));
        format!(
            "<li class=\"{tone}\"><span>{label}</span><span class=\"bar\" role=\"img\" \
             aria-label=\"{percent} %\"><i style=\"width:{width}%\"></i></span><span>{used} \
             ({percent} %)</span></li>\n",
            percent = bar.percent,
            width = bar.percent.min(100),
        )
    };
    let bars: String = bars.iter().map(bar).collect();
    format!(
        "<section>\n<h2>Budgets</h2>\n<p class=\"note\">Those of the run, and those of items that are \
         mostly spent.</p>\n<ul class=\"bars\">\n{bars}</ul>\n</section>\n"
    )
}

fn figures(sheet: &Sheet<'_>) -> String {
    let figure = |figure: &super::figures::Figure| {
        let (name, value, meaning) = (figure.name, escape(&figure.value), figure.meaning);
        format!(
            "<tr><th scope=\"row\">{name}</th><td><b>{value}</b></td><td class=\"note\">{meaning}</td></tr>\n"
        )
    };
    let figures: String = sheet.figures.iter().map(figure).collect();
    format!(
        "<section>\n<h2>Figures</h2>\n<div class=\"scroll\"><table class=\"figures\">\n{figures}</table></div>\n\
         </section>\n"
    )
}

fn table(table: &Table) -> String {
    let class =
        |column: usize| if table.right.contains(&column) { " class=\"number\"" } else { "" };
    let heading = table.heading.iter().enumerate();
    let heading: String =
        heading.map(|(column, title)| format!("<th{}>{title}</th>", class(column))).collect();
    let mut rows = String::new();
    for row in &table.rows {
        let cells = row.iter().enumerate();
        let cells: String = cells
            .map(|(column, cell)| format!("<td{}>{}</td>", class(column), escape(cell)))
            .collect();
        rows.push_str(&format!("<tr>{cells}</tr>\n"));
    }
    format!(
        "<section>\n<h2>{}</h2>\n<p class=\"note\">{}</p>\n<div class=\"scroll\"><table>\n\
         <thead><tr>{heading}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n{}</section>\n",
        table.title,
        table.about,
        more(table.more)
    )
}

/// Text that HTML shows and does not obey, in elements and attributes, bounded.
fn escape(text: &str) -> String {
    let text = text::safe(&text::bounded(text, CELL_CHARS_MAX));
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}
