//! The report for programs: `cantus report --json`.
//!
//! Fields are added over time and never change their meaning. What was not measured is null and never 0; money is in
//! millionths of a dollar, time in milliseconds.

use cantus_core::record::Resource;
use cantus_core::report::{
    Amount, BudgetUse, Failure, Level, Metrics, Part, Parts, Ratio, Report, Row, Total,
};
use cantus_core::run::Run;
use serde_json::{Map, Value, json};

use crate::cli::utc;

/// The whole report.
#[must_use]
pub fn report(run: &Run, report: &Report) -> Value {
    json!({
        "run": run.id.as_str(),
        "state": report.state.name(),
        "class": report.class.map(|class| class.as_str()),
        "reasons": report.reasons,
        "started_ms": run.started.0,
        "measured_at_ms": report.at.0,
        "measured_at": utc(report.at.0),
        "metrics": metrics(run, &report.metrics),
        "budgets": report.budgets.iter().map(|used| budget(run, used)).collect::<Vec<_>>(),
        "failures": report.failures.iter().map(|one| failure(run, one)).collect::<Vec<_>>(),
        "phases": report.rows.iter().map(|one| row(run, one)).collect::<Vec<_>>(),
    })
}

fn ratio(ratio: Ratio) -> Value {
    json!({ "part": ratio.part, "of": ratio.of, "percent": ratio.percent() })
}

fn total(total: Total) -> Value {
    let known = (total.sum > 0 || total.unknown == 0).then_some(total.sum);
    json!({ "sum": known, "estimated": total.estimated, "unknown_attempts": total.unknown })
}

fn parts(parts: &Parts) -> Value {
    let each = Part::ALL.map(|part| (format!("{}_ms", part.as_str()), json!(parts.ms(part))));
    Value::Object(Map::from_iter(each))
}

fn metrics(run: &Run, metrics: &Metrics) -> Value {
    let latency = &metrics.latency;
    let critical: Vec<&str> =
        latency.critical.iter().map(|place| run.item(*place).id.as_str()).collect();
    let waste = metrics.verification_waste;
    let blocks = metrics.unsafe_blocks.iter();
    let blocks = blocks.map(|(rule, count)| (rule.as_str().to_owned(), json!(count)));
    json!({
        "verified_success_rate": ratio(metrics.verified),
        "human_intervention_rate": ratio(metrics.interventions),
        "scope_delta": {
            "kept_out": metrics.scope_delta.kept_out,
            "let_through": metrics.scope_delta.let_through,
        },
        "pass_at_1": ratio(metrics.pass_at_1),
        "pass_at_3": ratio(metrics.pass_at_3),
        "structural_latency": {
            "wall_ms": latency.wall_ms,
            "critical_ms": latency.critical_ms(),
            "critical_path": critical,
            "critical_parts": parts(&latency.critical_parts),
            "parts": parts(&latency.parts),
        },
        "tokens": total(metrics.tokens),
        "cost_micro_usd": total(metrics.cost),
        "verification_waste": {
            "undecided": ratio(waste.undecided),
            "outrun": ratio(waste.outrun),
            "wasted_ms": waste.wasted_ms,
            "all_ms": waste.all_ms,
        },
        "repeated_checks": metrics.repeated_checks,
        "unsupported_claims": ratio(metrics.unsupported_claims),
        "unsafe_action_blocks": Value::Object(Map::from_iter(blocks)),
        "checkpoint_recovery": ratio(metrics.recovery.recovered),
        "work_saved": metrics.recovery.saved,
        "learnings_applied": ratio(metrics.learnings_applied),
        "learnings_new": metrics.learnings_new,
    })
}

fn budget(run: &Run, used: &BudgetUse) -> Value {
    let resource = match used.resource {
        Resource::WallClock => "wall_clock_ms",
        Resource::Tokens => "tokens",
        Resource::Cost => "cost_micro_usd",
    };
    json!({
        "item": used.item.map(|place| run.item(place).id.as_str()),
        "resource": resource,
        "spent": total(used.spent),
        "budget": used.budget,
        "overshoot": used.overshoot(),
    })
}

fn failure(run: &Run, failure: &Failure) -> Value {
    json!({
        "item": run.item(failure.item).id.as_str(),
        "attempt": failure.attempt.map(|number| number.0),
        "cause": failure.cause.as_str(),
        "reason": failure.reason,
    })
}

fn row(run: &Run, row: &Row) -> Value {
    let level = match row.level {
        Level::Attempt => "attempt",
        Level::Phase => "phase",
        Level::Step => "step",
    };
    json!({
        "item": run.item(row.item).id.as_str(),
        "level": level,
        "name": row.name,
        "attempt": row.attempt.map(|number| number.0),
        "round": row.round,
        "start_ms": row.start.0,
        "duration_ms": row.duration_ms,
        "tokens": amount(row.tokens),
        "cost_micro_usd": amount(row.cost),
        "outcome": row.outcome,
    })
}

/// Nothing and unknown are told apart: nothing was used, or nobody knows how much.
fn amount(amount: Amount) -> Value {
    match amount {
        Amount::Nothing => json!({ "known": true, "used": Value::Null }),
        Amount::Known(used) => json!({ "known": true, "used": used }),
        Amount::Estimated(used) => json!({ "known": false, "used": used }),
        Amount::Unknown => json!({ "known": false, "used": Value::Null }),
    }
}
