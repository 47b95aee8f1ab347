//! The figures with their names and what they mean, one line each.

use cantus_core::record::Resource;
use cantus_core::report::{Metrics, Part};
use cantus_core::run::Run;

use super::words;
use crate::cli::{text, time};

/// One figure.
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) value: String,
    /// Its definition in short; docs/REPORT.md has all of it.
    pub(crate) meaning: &'static str,
}

fn figure(name: &'static str, value: String, meaning: &'static str) -> Figure {
    Figure { name, value, meaning }
}

/// All of them, in the order of SPEC B17.
pub(super) fn of(run: &Run, metrics: &Metrics) -> Vec<Figure> {
    success(metrics).into_iter().chain(amounts(run, metrics)).chain(checks(metrics)).collect()
}

fn success(metrics: &Metrics) -> [Figure; 5] {
    let scope = metrics.scope_delta;
    let delta = format!("{} kept out, {} let through", scope.kept_out, scope.let_through);
    let people = "items that a person approved, requeued, rechecked or cancelled, of all";
    let first = "items whose first try landed, of those tried and ended";
    [
        figure("Verified success rate", metrics.verified.to_string(), "items that landed, of all"),
        figure("Human intervention rate", metrics.interventions.to_string(), people),
        figure("Scope delta", delta, "findings of the gates in what was handed in"),
        figure("pass@1", metrics.pass_at_1.to_string(), first),
        figure("pass@3", metrics.pass_at_3.to_string(), "the same for the first three tries"),
    ]
}

fn amounts(run: &Run, metrics: &Metrics) -> [Figure; 5] {
    let structural = "busy time of the longest chain through the graph, against the wall clock";
    let over = "of all attempts that are over";
    [
        figure("Structural latency", latency(metrics), structural),
        figure("On that chain", chain(run, metrics), "its items, first to last"),
        figure("Where the time went", parts(metrics), "of all items together"),
        figure("Tokens", words::total(Resource::Tokens, metrics.tokens), over),
        figure("Cost", words::total(Resource::Cost, metrics.cost), over),
    ]
}

fn checks(metrics: &Metrics) -> [Figure; 7] {
    let waste = metrics.verification_waste;
    let wasted = format!(
        "{} undecided and {} outrun of {}, {} of {}",
        waste.undecided.part,
        waste.outrun.part,
        waste.undecided.of,
        time::elapsed(waste.wasted_ms),
        time::elapsed(waste.all_ms)
    );
    let learned = format!("{} new, applied {}", metrics.learnings_new, metrics.learnings_applied);
    let nothing = "verifications that decided nothing, or proved a tree that the head outran";
    let repeated = "verifications of a tree that one before could not decide";
    let unsupported = "claims of agents that evidence does not support, of all";
    let recovered = "lost attempts whose item landed or reported later, of all lost";
    let saved = "saved of attempts that no longer count";
    [
        figure("Verification waste", wasted, nothing),
        figure("Repeated checks", metrics.repeated_checks.to_string(), repeated),
        figure("Unsupported claims", metrics.unsupported_claims.to_string(), unsupported),
        figure("Unsafe action blocks", blocks(metrics), "what the gates kept out, by rule"),
        figure("Checkpoint recovery", metrics.recovery.recovered.to_string(), recovered),
        figure("Work kept", metrics.recovery.saved.to_string(), saved),
        figure("Learnings", learned, "applied: of those that verifiers looked for"),
    ]
}

fn latency(metrics: &Metrics) -> String {
    let (critical, wall) = (metrics.latency.critical_ms(), metrics.latency.wall_ms);
    let percent = critical.saturating_mul(100).checked_div(wall).unwrap_or(0);
    format!("{} of {} ({percent} %)", time::elapsed(critical), time::elapsed(wall))
}

/// Items of the chain that are named; a chain can be as long as the plan.
const CHAIN_SHOWN_MAX: usize = 8;

fn chain(run: &Run, metrics: &Metrics) -> String {
    let chain = &metrics.latency.critical;
    let shown = chain.iter().take(CHAIN_SHOWN_MAX).map(|place| run.item(*place).id.to_string());
    let mut shown = shown.collect::<Vec<_>>().join(" → ");
    if chain.len() > CHAIN_SHOWN_MAX {
        shown.push_str(&format!(" and {} more", chain.len() - CHAIN_SHOWN_MAX));
    }
    if shown.is_empty() { "-".to_owned() } else { shown }
}

fn parts(metrics: &Metrics) -> String {
    let parts = &metrics.latency.parts;
    let part = |part: Part| format!("{} {}", part.as_str(), time::elapsed(parts.ms(part)));
    Part::ALL.map(part).join(", ")
}

fn blocks(metrics: &Metrics) -> String {
    let blocks = &metrics.unsafe_blocks;
    let each = blocks.iter().map(|(rule, count)| format!("{count} {}", rule.as_str()));
    let all: u64 = blocks.values().sum();
    match blocks.len() {
        0 => "none".to_owned(),
        _ => format!(
            "{}: {}",
            text::count(usize::try_from(all).unwrap_or(usize::MAX), "finding"),
            each.collect::<Vec<_>>().join(", ")
        ),
    }
}
