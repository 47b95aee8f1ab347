//! Reads the budgets of a contract: all bounded and above zero, the plan's where the contract states none.

use super::bounds::{
    AGENTS_DEFAULT, AGENTS_MAX, FIRST_ARTIFACT_RATIO_DEFAULT, TOKEN_BUDGET_MAX,
    VERIFICATION_RATIO_DEFAULT, VERIFICATION_RATIO_USUAL, WALL_CLOCK_MINUTES_MAX,
};
use super::codes;
use super::fields::{self, Field, Fields, place};
use super::sink::Sink;
use super::tree::{Entry, Node};
use crate::contract::Budgets;

const KEYS: &[&str] = &["wall_clock_minutes", "token_budget", "max_agents", "verification_ratio"];

/// Stands for a value that was refused, so that what builds on it is still looked at.
const REFUSED: u32 = 1;

/// What one mapping states.
#[derive(Debug, Clone, Default)]
pub(super) struct PartialBudgets {
    wall_clock_minutes: Option<u32>,
    token_budget: Option<u64>,
    max_agents: Option<u32>,
    verification_ratio: Option<f64>,
}

impl PartialBudgets {
    /// Stands for budgets that were refused as a whole, so that they are not also said to be missing.
    pub(super) fn stand_in() -> Self {
        Self { wall_clock_minutes: Some(REFUSED), ..Self::default() }
    }
}

/// What the key `budgets` states; stand-ins for what was refused.
pub(super) fn stated(fields: &Fields<'_>, sink: &mut Sink<'_>) -> PartialBudgets {
    match fields.get("budgets", sink, |e, s| read(&e.value, s)) {
        Field::Absent => PartialBudgets::default(),
        Field::Invalid => PartialBudgets::stand_in(),
        Field::Valid(budgets) => budgets,
    }
}

fn read(node: &Node, sink: &mut Sink<'_>) -> Option<PartialBudgets> {
    let fields = Fields::open(node, "`budgets`", KEYS, sink)?;
    let minutes = budget(&fields, "wall_clock_minutes", u64::from(WALL_CLOCK_MINUTES_MAX), sink);
    let agents = budget(&fields, "max_agents", u64::from(AGENTS_MAX), sink);
    let narrow = |number: u64| u32::try_from(number).unwrap_or(REFUSED);
    Some(PartialBudgets {
        wall_clock_minutes: minutes.map(narrow),
        token_budget: budget(&fields, "token_budget", TOKEN_BUDGET_MAX, sink),
        max_agents: agents.map(narrow),
        verification_ratio: match fields.get("verification_ratio", sink, read_ratio) {
            Field::Absent => None,
            Field::Invalid => Some(VERIFICATION_RATIO_DEFAULT),
            Field::Valid(ratio) => Some(ratio),
        },
    })
}

fn budget(fields: &Fields<'_>, key: &str, max: u64, sink: &mut Sink<'_>) -> Option<u64> {
    let field = fields.get(key, sink, |entry, sink| {
        let number = fields::whole_number(entry, format_args!("`{key}`"), sink)?;
        let at = place(entry);
        if number <= 0 {
            let message =
                format!("`{key}` is {number}: nothing could be done, and it never means unlimited");
            let hint = format!("write a number from 1 to {max}");
            sink.add(codes::BUDGET_NOT_POSITIVE, at, message, hint);
            return None;
        }
        let bounded = u64::try_from(number).ok().filter(|number| *number <= max);
        if bounded.is_none() {
            let message = format!("`{key}` is above its limit of {max}");
            let hint = "lower it, or split the work into several items";
            sink.add(codes::BUDGET_TOO_LARGE, at, message, hint);
        }
        bounded
    });
    match field {
        Field::Absent => None,
        Field::Invalid => Some(u64::from(REFUSED)),
        Field::Valid(number) => Some(number),
    }
}

fn read_ratio(entry: &Entry, sink: &mut Sink<'_>) -> Option<f64> {
    let ratio = fields::fraction(entry, "`verification_ratio`", sink)?;
    let at = place(entry);
    if ratio <= 0.0 || ratio >= 1.0 {
        let message = format!(
            "`verification_ratio` is {ratio}: it is a share of the budget, above 0 and below 1"
        );
        sink.add(
            codes::RATIO_OUTSIDE,
            at,
            message,
            "write 0.25, or another share from 0.20 to 0.30",
        );
        return None;
    }
    if !VERIFICATION_RATIO_USUAL.contains(&ratio) {
        let message = format!("`verification_ratio` is {ratio}, usual is 0.20 to 0.30");
        sink.add(
            codes::RATIO_UNUSUAL,
            at,
            message,
            "below, checks are cut short; above, the work is",
        );
    }
    Some(ratio)
}

/// The contract's budgets over the plan's; the wall clock must be stated by one of them.
pub(super) fn complete(
    fields: &Fields<'_>,
    defaults: &PartialBudgets,
    sink: &mut Sink<'_>,
) -> Budgets {
    let own = stated(fields, sink);
    let at = fields.entry("budgets").map_or(fields.at, place);
    let mut missing = |key: &str| {
        let message = format!("`budgets.{key}` is missing, and missing does not mean unlimited");
        let hint = "state it in the contract, or in `defaults.budgets` of the plan";
        sink.add(codes::MISSING_KEY, at, message, hint);
        REFUSED
    };
    let minutes = own.wall_clock_minutes.or(defaults.wall_clock_minutes);
    Budgets {
        wall_clock_minutes: minutes.unwrap_or_else(|| missing("wall_clock_minutes")),
        token_budget: own.token_budget.or(defaults.token_budget),
        cost_budget: None,
        first_artifact_ratio: FIRST_ARTIFACT_RATIO_DEFAULT,
        max_agents: own.max_agents.or(defaults.max_agents).unwrap_or(AGENTS_DEFAULT),
        verification_ratio: own
            .verification_ratio
            .or(defaults.verification_ratio)
            .unwrap_or(VERIFICATION_RATIO_DEFAULT),
    }
}
