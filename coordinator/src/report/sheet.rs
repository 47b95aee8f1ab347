//! All that a report says, as texts in their order: what the three forms lay out.

use cantus_core::event::ItemIndex;
use cantus_core::item::State;
use cantus_core::record::Resource;
use cantus_core::report::{Report, Segment, segments};
use cantus_core::run::Run;

use super::{figures, tables, words};
use crate::cli::time;

/// Rows of one table that are written out; the rest is counted. `--json` and the export have all of them.
pub(crate) const ROWS_MAX: usize = 500;

/// See the module.
pub(crate) struct Sheet<'r> {
    pub(crate) run: &'r Run,
    pub(crate) report: &'r Report,
    /// One sentence.
    pub(crate) verdict: String,
    /// Labels and values for a first look.
    pub(crate) facts: Vec<Known>,
    pub(crate) landed: Vec<Done>,
    pub(crate) open: Vec<Open>,
    pub(crate) bars: Vec<Bar>,
    pub(crate) figures: Vec<figures::Figure>,
    /// In their order.
    pub(crate) tables: Vec<Table>,
    pub(crate) lives: Vec<(String, Vec<Segment>, ItemIndex)>,
}

/// A label and a value for a first look, and what is not sure about it.
pub(crate) struct Known {
    pub(crate) label: &'static str,
    pub(crate) value: String,
    pub(crate) doubt: String,
}

/// An item that landed.
pub(crate) struct Done {
    pub(crate) item: String,
    pub(crate) goal: String,
    pub(crate) commit: String,
}

/// An item that did not land.
pub(crate) struct Open {
    pub(crate) item: String,
    pub(crate) goal: String,
    pub(crate) state: &'static str,
    pub(crate) why: String,
    /// Who or what caused it; empty while it goes on.
    pub(crate) cause: String,
}

/// A budget and what was used of it.
pub(crate) struct Bar {
    pub(crate) label: String,
    pub(crate) text: String,
    /// Of the budget; over 100 when it was overrun.
    pub(crate) percent: u64,
}

/// Rows under a heading.
pub(crate) struct Table {
    pub(crate) title: &'static str,
    /// What it shows, one sentence.
    pub(crate) about: &'static str,
    pub(crate) heading: &'static [&'static str],
    pub(crate) rows: Vec<Vec<String>>,
    /// Columns of numbers.
    pub(crate) right: &'static [usize],
    /// Rows that are not written out.
    pub(crate) more: usize,
}

impl Sheet<'_> {
    /// The heading over what has not landed.
    pub(crate) fn open_title(&self) -> &'static str {
        if self.report.class.is_none() { "Not landed yet" } else { "Did not land" }
    }
}

impl Table {
    /// With as many rows as are written out.
    pub(super) fn bounded(self) -> Self {
        let Self { mut rows, .. } = self;
        let more = rows.len().saturating_sub(ROWS_MAX);
        rows.truncate(ROWS_MAX);
        Self { rows, more, ..self }
    }
}

/// Puts it together.
pub(crate) fn of<'r>(run: &'r Run, report: &'r Report) -> Sheet<'r> {
    Sheet {
        run,
        report,
        verdict: words::verdict(run, report),
        facts: facts(run, report),
        landed: landed(run),
        open: open(run, report),
        bars: bars(run, report),
        figures: figures::of(run, &report.metrics),
        tables: tables::of(run, report),
        lives: lives(run, report),
    }
}

fn facts(run: &Run, report: &Report) -> Vec<Known> {
    let known = |label, value| Known { label, value, doubt: String::new() };
    let used = |label, resource, total| Known {
        label,
        value: words::sum(resource, total),
        doubt: words::doubts(resource, total),
    };
    let metrics = &report.metrics;
    let landed = words::landed(run).count();
    let people = format!("{} of {} items", metrics.interventions.part, run.items.len());
    let mut facts = vec![
        known("Landed", format!("{landed} of {}", run.items.len())),
        known("Time", time::elapsed(metrics.latency.wall_ms)),
        used("Money", Resource::Cost, metrics.cost),
        used("Tokens", Resource::Tokens, metrics.tokens),
        known("People stepped in", people),
    ];
    if let Some(repository) = &run.repository {
        let target = repository.target.strip_prefix("refs/heads/").unwrap_or(&repository.target);
        facts.push(known("Lands on", format!("{target} of {}", repository.location)));
    }
    facts.push(known("Started", time::utc(run.started.0)));
    if let Some(ended) = run.ended {
        facts.push(known("Ended", time::utc(ended.0)));
    }
    facts
}

fn landed(run: &Run) -> Vec<Done> {
    let done = |item: &cantus_core::item::Item| {
        let State::Landed(landed) = &item.state else { return None };
        Some(Done {
            item: item.id.to_string(),
            goal: item.contract.goal.clone(),
            commit: landed.commit.to_string(),
        })
    };
    words::landed(run).filter_map(done).collect()
}

/// What needs a person first, then what waits for it, then what goes on.
fn open(run: &Run, report: &Report) -> Vec<Open> {
    let mut open: Vec<(u8, Open)> = Vec::new();
    for (place, item) in run.items.iter().enumerate() {
        let order = match &item.state {
            State::Landed(_) => continue,
            State::Parked(_) => 0,
            State::Blocked(_) => 1,
            State::Cancelled => 2,
            State::Reported => 4,
            _ => 3,
        };
        let caused = |failure: &&cantus_core::report::Failure| {
            failure.item.0 as usize == place && failure.attempt.is_none()
        };
        let cause = report.failures.iter().find(caused);
        open.push((
            order,
            Open {
                item: item.id.to_string(),
                goal: item.contract.goal.clone(),
                state: item.state.name(),
                why: words::why(run, item),
                cause: cause.map(|failure| failure.cause.to_string()).unwrap_or_default(),
            },
        ));
    }
    open.sort_by_key(|(order, _)| *order);
    open.into_iter().map(|(_, open)| open).collect()
}

/// All budgets of the run, and the items' that are mostly spent or overrun: the others are in the table.
fn bars(run: &Run, report: &Report) -> Vec<Bar> {
    let percent =
        |spent: u64, budget: u64| spent.saturating_mul(100).checked_div(budget).unwrap_or(100);
    let mut bars: Vec<Bar> = Vec::new();
    for used in &report.budgets {
        let percent = percent(used.spent.sum, used.budget);
        if used.item.is_some() && percent < 80 {
            continue;
        }
        let whose =
            used.item.map_or_else(|| "run".to_owned(), |place| run.item(place).id.to_string());
        let spent = words::sum(used.resource, used.spent);
        let budget = words::quantity(used.resource, used.budget);
        let over = match used.overshoot() {
            0 => String::new(),
            over => format!(", {} too much", words::quantity(used.resource, over)),
        };
        let doubts = match words::doubts(used.resource, used.spent) {
            doubts if doubts.is_empty() => doubts,
            doubts => format!(" ({doubts})"),
        };
        bars.push(Bar {
            label: format!("{whose}: {}", words::resource(used.resource)),
            text: format!("{spent} of {budget}{over}{doubts}"),
            percent,
        });
    }
    bars.truncate(ROWS_MAX);
    bars
}

fn lives(run: &Run, report: &Report) -> Vec<(String, Vec<Segment>, ItemIndex)> {
    let lives = run.items.iter().zip(0..).map(|(item, place)| {
        (item.id.to_string(), segments(run, item, report.at), ItemIndex(place))
    });
    lives.filter(|(_, life, _)| !life.is_empty()).collect()
}
