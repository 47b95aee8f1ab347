//! `reports/progress.md`: where each item is. The whole report is `reports/final.md`, once the run has ended.

use cantus_core::report::Report;
use cantus_core::run::Run;

use crate::report::{markdown, sheet};

/// See the module.
pub(super) fn page(run: &Run, report: &Report) -> String {
    let sheet = sheet::of(run, report);
    let id = markdown::escape(run.id.as_str());
    let mut page = format!("# Progress of run {id}\n\n{}\n", markdown::escape(&sheet.verdict));
    markdown::outcome(&mut page, &sheet);
    markdown::figures(&mut page, &sheet);
    page
}

/// What stands in `reports/final.md` before the end.
pub(super) fn not_yet(run: &Run) -> String {
    let id = markdown::escape(run.id.as_str());
    format!("# Run {id}\n\nThe run goes on; see progress.md. Export it again when it has ended.\n")
}
