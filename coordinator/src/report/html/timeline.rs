//! The timeline: one line for each item, one rectangle for each stretch of its life, and a mark where a try failed.

use cantus_core::event::{ItemIndex, Millis};
use cantus_core::report::{Part, Segment};

use super::{escape, more};
use crate::cli::time;
use crate::report::sheet::Sheet;

/// Lines that are drawn; a plan can have many more items than a person looks at.
const LINES_MAX: usize = 80;
/// Width of a drawing in its own units.
const WIDTH: u64 = 1_000;
/// Narrowest rectangle that is seen, in the same units.
const NARROWEST: u64 = 2;
/// Times below the drawing.
const TICKS: u64 = 4;

/// See the module.
pub(super) fn timeline(sheet: &Sheet<'_>) -> String {
    if sheet.lives.is_empty() {
        return String::new();
    }
    let start = sheet.run.started;
    let scale = Scale { start, ms: sheet.report.at.0.saturating_sub(start.0).max(1) };
    let lines: String = sheet
        .lives
        .iter()
        .take(LINES_MAX)
        .map(|(id, life, place)| line(sheet, id, life, *place, scale))
        .collect();
    let ticks: String = (0..=TICKS)
        .map(|tick| format!("<span>{}</span>", time::elapsed(scale.ms * tick / TICKS)))
        .collect();
    let legend = Part::ALL.map(|part| {
        let word = part.as_str();
        format!("<span><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"{word}\" width=\"10\" height=\"10\"/></svg>{word}</span>")
    });
    let failed = "<span><svg viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect class=\"failed\" x=\"3\" width=\"4\" height=\"10\"/></svg>a try failed</span>";
    format!(
        "<section>\n<h2>Timeline</h2>\n<p class=\"legend\">{}{failed}</p>\n<div class=\"timeline\">\n{lines}\
         <span></span><div class=\"ticks\">{ticks}</div>\n</div>\n{}</section>\n",
        legend.concat(),
        more(sheet.lives.len().saturating_sub(LINES_MAX))
    )
}

#[derive(Clone, Copy)]
struct Scale {
    start: Millis,
    ms: u64,
}

impl Scale {
    fn x(self, at: Millis) -> u64 {
        let since = at.0.saturating_sub(self.start.0).min(self.ms);
        let x = u128::from(since) * u128::from(WIDTH) / u128::from(self.ms);
        u64::try_from(x).unwrap_or(WIDTH)
    }
}

fn line(sheet: &Sheet<'_>, id: &str, life: &[Segment], place: ItemIndex, scale: Scale) -> String {
    let rectangle = |segment: &Segment| {
        let (x, end) = (scale.x(segment.start), scale.x(segment.end));
        let width = end.saturating_sub(x).max(NARROWEST);
        let word = segment.part.as_str();
        let attempt =
            segment.attempt.map(|number| format!(", attempt {number}")).unwrap_or_default();
        let took = time::elapsed(segment.ms());
        format!(
            "<rect class=\"{word}\" x=\"{x}\" width=\"{width}\" height=\"10\"><title>{word} \
             {took}{attempt}</title></rect>"
        )
    };
    let rectangles: String = life.iter().map(rectangle).collect();
    let item = sheet.run.item(place);
    let failures = sheet.report.failures.iter().filter(|failure| failure.item == place);
    let ends = failures.filter_map(|failure| {
        let end = item.attempt(failure.attempt?)?.ended?;
        let x = scale.x(end).saturating_sub(NARROWEST);
        let cause = failure.cause;
        Some(format!("<rect class=\"failed\" x=\"{x}\" width=\"4\" height=\"10\"><title>failed: {cause}</title></rect>"))
    });
    let failures: String = ends.collect();
    let id = escape(id);
    format!(
        "<span class=\"name\" title=\"{id}\">{id}</span><svg viewBox=\"0 0 {WIDTH} 10\" \
         preserveAspectRatio=\"none\" role=\"img\" aria-label=\"life of {id}\">{rectangles}{failures}</svg>\n"
    )
}
