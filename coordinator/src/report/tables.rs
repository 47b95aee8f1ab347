//! The tables of a report: failures, findings, claims, learnings, budgets and phases.

use std::collections::BTreeMap;

use cantus_core::event::ItemIndex;
use cantus_core::record::Resource;
use cantus_core::report::{Level, Report, Row};
use cantus_core::run::Run;
use cantus_proto::ids::{AttemptNumber, LearningId};
use cantus_proto::message::Learning;

use super::sheet::Table;
use super::words;
use crate::cli::time;

/// All tables that have rows, in their order.
pub(super) fn of(run: &Run, report: &Report) -> Vec<Table> {
    let tables = [
        failures(run, report),
        findings(run),
        noticed(run),
        learnings(run),
        budgets(run, report),
        phases(run, report),
    ];
    tables.into_iter().filter(|table| !table.rows.is_empty()).map(Table::bounded).collect()
}

fn id(run: &Run, place: ItemIndex) -> String {
    run.item(place).id.to_string()
}

fn attempt(number: Option<AttemptNumber>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

fn failures(run: &Run, report: &Report) -> Table {
    let row = |failure: &cantus_core::report::Failure| {
        let what = match failure.attempt {
            Some(number) => format!("attempt {number}"),
            None => "parked".to_owned(),
        };
        vec![id(run, failure.item), what, failure.cause.to_string(), failure.reason.clone()]
    };
    Table {
        title: "What failed, and who or what caused it",
        about: "Every attempt that brought nothing, and every item that is parked.",
        heading: &["Item", "What", "Cause", "Reason"],
        rows: report.failures.iter().map(row).collect(),
        right: &[],
        more: 0,
    }
}

fn findings(run: &Run) -> Table {
    let mut rows = Vec::new();
    for item in &run.items {
        for (attempt, number) in item.attempts.iter().zip(1..) {
            let fate = match item.approval(AttemptNumber(number)) {
                Some(by) => format!("let through by {by}"),
                None => "kept out".to_owned(),
            };
            rows.extend(attempt.out_of_scope().iter().map(|finding| {
                let rule = finding.rule.as_str().to_owned();
                vec![
                    item.id.to_string(),
                    number.to_string(),
                    rule,
                    finding.to_string(),
                    fate.clone(),
                ]
            }));
        }
    }
    Table {
        title: "Findings of the gates",
        about: "What results contained that their contracts do not allow.",
        heading: &["Item", "Attempt", "Rule", "Finding", "Fate"],
        rows,
        right: &[1],
        more: 0,
    }
}

fn noticed(run: &Run) -> Table {
    let mut rows = Vec::new();
    for item in &run.items {
        let results = item.attempts.iter().filter_map(|attempt| attempt.result.as_deref());
        for finding in results.flat_map(|result| &result.findings) {
            rows.push(vec![item.id.to_string(), finding.clone()]);
        }
    }
    Table {
        title: "What agents noticed",
        about: "Words of agents, not evidence.",
        heading: &["Item", "Finding"],
        rows,
        right: &[],
        more: 0,
    }
}

/// Each learning of the run once, with the item and attempt that told it first.
fn learned(run: &Run) -> Vec<(&Learning, ItemIndex, AttemptNumber)> {
    let mut seen: BTreeMap<&LearningId, ()> = BTreeMap::new();
    let mut learned = Vec::new();
    for (item, place) in run.items.iter().zip(0..) {
        for (attempt, number) in item.attempts.iter().zip(1..) {
            let Some(result) = attempt.result.as_deref() else { continue };
            for learning in &result.learnings {
                if seen.insert(&learning.id, ()).is_none() {
                    learned.push((learning, ItemIndex(place), AttemptNumber(number)));
                }
            }
        }
    }
    learned
}

fn learnings(run: &Run) -> Table {
    let looks = |id: &LearningId| {
        let attempts = run.items.iter().flat_map(|item| &item.attempts);
        let checks = attempts.filter_map(|attempt| attempt.exchange.as_deref());
        let checks = checks.flat_map(|exchange| &exchange.checked).filter(|check| check.id == *id);
        let (seen, all) =
            checks.fold((0, 0), |(seen, all), check| (seen + u32::from(check.applied), all + 1));
        if all == 0 {
            "not looked for".to_owned()
        } else {
            format!("seen in {seen} of {all} looks")
        }
    };
    let row = |(learning, place, number): (&Learning, ItemIndex, AttemptNumber)| {
        vec![
            learning.rule.clone(),
            learning.context.clone(),
            learning.discovery.clone(),
            format!("{}, attempt {number}", id(run, place)),
            looks(&learning.id),
        ]
    };
    Table {
        title: "Learnings",
        about: "What agents found out and later attempts are told.",
        heading: &["Rule", "Where", "Discovery", "From", "Applied"],
        rows: learned(run).into_iter().map(row).collect(),
        right: &[],
        more: 0,
    }
}

fn budgets(run: &Run, report: &Report) -> Table {
    let row = |used: &cantus_core::report::BudgetUse| {
        let over = match used.overshoot() {
            0 => String::new(),
            over => words::quantity(used.resource, over),
        };
        vec![
            used.item.map_or_else(|| "whole run".to_owned(), |place| id(run, place)),
            words::resource(used.resource).to_owned(),
            words::total(used.resource, used.spent),
            words::quantity(used.resource, used.budget),
            over,
        ]
    };
    Table {
        title: "Budgets",
        about: "Of the run and of every item that was begun.",
        heading: &["Whose", "Of what", "Used", "Budget", "Too much"],
        rows: report.budgets.iter().map(row).collect(),
        right: &[2, 3, 4],
        more: 0,
    }
}

fn phases(run: &Run, report: &Report) -> Table {
    let row = |row: &Row| {
        let indent = if row.level == Level::Phase { "· " } else { "" };
        let since = row.start.0.saturating_sub(run.started.0);
        vec![
            id(run, row.item),
            attempt(row.attempt),
            row.round.to_string(),
            format!("{indent}{}", row.name),
            format!("+{}", time::elapsed(since)),
            time::elapsed(row.duration_ms),
            words::amount(Resource::Tokens, row.tokens),
            words::amount(Resource::Cost, row.cost),
            row.outcome.clone(),
        ]
    };
    Table {
        title: "Phases, attempts and rounds",
        about: "In the order of the plan; times since the submission.",
        heading: &[
            "Item", "Attempt", "Round", "Phase", "Start", "Took", "Tokens", "Cost", "Outcome",
        ],
        rows: report.rows.iter().map(row).collect(),
        right: &[1, 2, 4, 5, 6, 7],
        more: 0,
    }
}
