//! Reads budgets: a contract's, the plan's where the contract states none, and those of the whole run.
//!
//! All are bounded and above zero. What nobody states is not limited, but for the wall clock of an item.

use super::RunBudgets;
use super::bounds::{
    AGENTS_DEFAULT, AGENTS_MAX, COST_USD_MAX, FIRST_ARTIFACT_RATIO, FIRST_ARTIFACT_RATIO_DEFAULT,
    RUN_AGENTS_MAX, RUN_TOKEN_BUDGET_MAX, RUN_WALL_CLOCK_MINUTES_MAX, TOKEN_BUDGET_MAX,
    VERIFICATION_RATIO_DEFAULT, VERIFICATION_RATIO_USUAL, WALL_CLOCK_MINUTES_MAX,
};
use super::codes;
use super::fields::{self, Field, Fields, place};
use super::sink::{At, Sink};
use super::tree::{Entry, Node};
use crate::contract::Budgets;
use crate::units::MicroUsd;

const MINUTES: &str = "wall_clock_minutes";
const TOKENS: &str = "token_budget";
const COST: &str = "cost_usd";
const AGENTS: &str = "max_agents";
const VERIFICATION: &str = "verification_ratio";
const FIRST_ARTIFACT: &str = "first_artifact_ratio";

const KEYS: &[&str] = &[MINUTES, TOKENS, COST, AGENTS, VERIFICATION, FIRST_ARTIFACT];

const RUN_KEYS: &[&str] = &[MINUTES, TOKENS, COST, AGENTS];

/// Stands for a wall clock that was refused, so that it is not also said to be missing.
const REFUSED: u32 = 1;

/// What one mapping states.
#[derive(Debug, Clone, Default)]
pub(super) struct PartialBudgets {
    limits: RunBudgets,
    verification_ratio: Option<f64>,
    first_artifact_ratio: Option<f64>,
}

impl PartialBudgets {
    /// Stands for budgets that were refused as a whole.
    pub(super) fn stand_in() -> Self {
        let limits = RunBudgets { wall_clock_minutes: Some(REFUSED), ..RunBudgets::default() };
        Self { limits, ..Self::default() }
    }
}

/// Where the numbers of a mapping end, and what the run has.
struct Bounds<'r> {
    minutes: u32,
    tokens: u64,
    agents: u32,
    /// Only warned about.
    run: &'r RunBudgets,
}

/// What the key `budgets` of a plan states for the whole run.
pub(super) fn of_run(fields: &Fields<'_>, sink: &mut Sink<'_>) -> RunBudgets {
    let bounds = Bounds {
        minutes: RUN_WALL_CLOCK_MINUTES_MAX,
        tokens: RUN_TOKEN_BUDGET_MAX,
        agents: RUN_AGENTS_MAX,
        run: &RunBudgets::default(),
    };
    let read = |entry: &Entry, sink: &mut Sink<'_>| {
        let fields = Fields::open(&entry.value, "the run's `budgets`", RUN_KEYS, sink)?;
        Some(limits(&fields, &bounds, sink))
    };
    fields.get("budgets", sink, read).valid().unwrap_or_default()
}

/// What the key `budgets` of a contract or of `defaults` states; stand-ins for what was refused.
pub(super) fn stated(fields: &Fields<'_>, run: &RunBudgets, sink: &mut Sink<'_>) -> PartialBudgets {
    match fields.get("budgets", sink, |e, s| read(&e.value, run, s)) {
        Field::Absent => PartialBudgets::default(),
        Field::Invalid => PartialBudgets::stand_in(),
        Field::Valid(budgets) => budgets,
    }
}

fn read(node: &Node, run: &RunBudgets, sink: &mut Sink<'_>) -> Option<PartialBudgets> {
    let fields = Fields::open(node, "`budgets`", KEYS, sink)?;
    let bounds = Bounds {
        minutes: WALL_CLOCK_MINUTES_MAX,
        tokens: TOKEN_BUDGET_MAX,
        agents: AGENTS_MAX,
        run,
    };
    let mut limits = limits(&fields, &bounds, sink);
    if fields.entry(MINUTES).is_some() {
        limits.wall_clock_minutes.get_or_insert(REFUSED);
    }
    Some(PartialBudgets {
        limits,
        verification_ratio: fields.get(VERIFICATION, sink, verification_ratio).valid(),
        first_artifact_ratio: fields.get(FIRST_ARTIFACT, sink, first_artifact_ratio).valid(),
    })
}

fn limits(fields: &Fields<'_>, bounds: &Bounds<'_>, sink: &mut Sink<'_>) -> RunBudgets {
    let run = bounds.run;
    RunBudgets {
        wall_clock_minutes: count(fields, MINUTES, bounds.minutes, run.wall_clock_minutes, sink),
        token_budget: count(fields, TOKENS, bounds.tokens, run.token_budget, sink),
        cost_budget: fields.get(COST, sink, |e, s| cost(e, run.cost_budget, s)).valid(),
        max_agents: count(fields, AGENTS, bounds.agents, run.max_agents, sink),
    }
}

/// A whole number from 1 to `max`; more than the run has is warned about.
fn count<T>(
    fields: &Fields<'_>,
    key: &str,
    max: T,
    run: Option<T>,
    sink: &mut Sink<'_>,
) -> Option<T>
where
    T: TryFrom<i128> + PartialOrd + Copy + std::fmt::Display,
{
    let read = |entry: &Entry, sink: &mut Sink<'_>| {
        let number = fields::whole_number(entry, format_args!("`{key}`"), sink)?;
        let at = place(entry);
        if number <= 0 {
            not_positive(key, number, format_args!("1 to {max}"), at, sink);
            return None;
        }
        let bounded = T::try_from(number).ok().filter(|number| *number <= max);
        if bounded.is_none() {
            too_large(key, max, at, sink);
        }
        warn_beyond(key, bounded, run, at, sink);
        bounded
    };
    fields.get(key, sink, read).valid()
}

fn cost(entry: &Entry, run: Option<MicroUsd>, sink: &mut Sink<'_>) -> Option<MicroUsd> {
    let dollars = fields::fraction(entry, format_args!("`{COST}`"), sink)?;
    let at = place(entry);
    if dollars > f64::from(COST_USD_MAX) {
        too_large(COST, COST_USD_MAX, at, sink);
        return None;
    }
    let cost = MicroUsd::from_dollars(dollars).filter(|cost| cost.0 > 0);
    if cost.is_none() {
        not_positive(COST, dollars, format_args!("0.000001 to {COST_USD_MAX}"), at, sink);
    }
    warn_beyond(COST, cost.map(MicroUsd::dollars), run.map(MicroUsd::dollars), at, sink);
    cost
}

fn not_positive(
    key: &str,
    number: impl std::fmt::Display,
    range: impl std::fmt::Display,
    at: At,
    sink: &mut Sink<'_>,
) {
    let message =
        format!("`{key}` is {number}: nothing could be done, and it never means unlimited");
    let without =
        if [TOKENS, COST].contains(&key) { "; without the key it is not limited" } else { "" };
    let hint = format!("write a number from {range}{without}");
    sink.add(codes::BUDGET_NOT_POSITIVE, at, message, hint);
}

fn too_large(key: &str, max: impl std::fmt::Display, at: At, sink: &mut Sink<'_>) {
    let message = format!("`{key}` is above its limit of {max}");
    let hint = "lower it, or split the work";
    sink.add(codes::BUDGET_TOO_LARGE, at, message, hint);
}

fn warn_beyond<T: PartialOrd + std::fmt::Display>(
    key: &str,
    stated: Option<T>,
    run: Option<T>,
    at: At,
    sink: &mut Sink<'_>,
) {
    let (Some(stated), Some(run)) = (stated, run) else { return };
    if stated > run {
        let message = format!("`{key}` is {stated}, more than the {run} of the whole run");
        let hint = "the run's budget ends the work first: lower this one, or raise the run's";
        sink.add(codes::BUDGET_BEYOND_RUN, at, message, hint);
    }
}

fn verification_ratio(entry: &Entry, sink: &mut Sink<'_>) -> Option<f64> {
    let ratio = fields::fraction(entry, format_args!("`{VERIFICATION}`"), sink)?;
    let at = place(entry);
    if ratio <= 0.0 || ratio >= 1.0 {
        let message =
            format!("`{VERIFICATION}` is {ratio}: it is a share of the time, above 0 and below 1");
        let hint = "write 0.25, or another share from 0.20 to 0.30";
        sink.add(codes::RATIO_OUTSIDE, at, message, hint);
        return None;
    }
    if !VERIFICATION_RATIO_USUAL.contains(&ratio) {
        let message = format!("`{VERIFICATION}` is {ratio}, usual is 0.20 to 0.30");
        let hint = "below, checks are cut short; above, the work is";
        sink.add(codes::RATIO_UNUSUAL, at, message, hint);
    }
    Some(ratio)
}

fn first_artifact_ratio(entry: &Entry, sink: &mut Sink<'_>) -> Option<f64> {
    let ratio = fields::fraction(entry, format_args!("`{FIRST_ARTIFACT}`"), sink)?;
    if FIRST_ARTIFACT_RATIO.contains(&ratio) {
        return Some(ratio);
    }
    let message = format!(
        "`{FIRST_ARTIFACT}` is {ratio}: it is the share of an attempt's budget after which there must \
         be an artifact, from 0.25 to 0.30"
    );
    let hint = "write a share from 0.25 to 0.30, or remove the key for 0.30";
    sink.add(codes::FIRST_ARTIFACT_OUTSIDE, place(entry), message, hint);
    None
}

/// The contract's budgets over the plan's; the wall clock must be stated by one of them.
pub(super) fn complete(
    fields: &Fields<'_>,
    defaults: &PartialBudgets,
    run: &RunBudgets,
    sink: &mut Sink<'_>,
) -> Budgets {
    let own = stated(fields, run, sink);
    let (limits, otherwise) = (own.limits, defaults.limits);
    let minutes = limits.wall_clock_minutes.or(otherwise.wall_clock_minutes);
    if minutes.is_none() {
        let at = fields.entry("budgets").map_or(fields.at, place);
        let message =
            "`budgets.wall_clock_minutes` is missing, and missing does not mean unlimited";
        let hint = "state it in the contract, or in `defaults.budgets` of the plan";
        sink.add(codes::MISSING_KEY, at, message, hint);
    }
    let verification_ratio = own.verification_ratio.or(defaults.verification_ratio);
    let first_artifact_ratio = own.first_artifact_ratio.or(defaults.first_artifact_ratio);
    Budgets {
        wall_clock_minutes: minutes.unwrap_or(REFUSED),
        token_budget: limits.token_budget.or(otherwise.token_budget),
        cost_budget: limits.cost_budget.or(otherwise.cost_budget),
        max_agents: limits.max_agents.or(otherwise.max_agents).unwrap_or(AGENTS_DEFAULT),
        verification_ratio: verification_ratio.unwrap_or(VERIFICATION_RATIO_DEFAULT),
        first_artifact_ratio: first_artifact_ratio.unwrap_or(FIRST_ARTIFACT_RATIO_DEFAULT),
    }
}
