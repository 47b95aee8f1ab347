//! Time, tokens and money: what is limited, spent and reserved, in words. What is nothing is not told.

use cantus_proto::units::MicroUsd;
use cantus_proto::wire::v1::{BudgetView, DispatchView, SpentView, WarningView};

use crate::cli::paint::{Ink, Paint};
use crate::cli::{text, time};

/// Widest name of a model, in columns.
const MODEL_COLUMNS_MAX: usize = 60;

/// `12,340`.
pub(in crate::cli) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

fn money(microusd: u64) -> String {
    MicroUsd(microusd).to_string()
}

/// `spent 12,340 of 350,000 tokens (20,000 reserved), $0.12, 3m05s of 45m00s`; nothing where nothing is limited or
/// spent. Time is told only against its limit.
pub(in crate::cli) fn budget(view: Option<&BudgetView>) -> Option<String> {
    let view = view?;
    let tokens = (view.tokens, view.tokens_reserved, view.tokens_max);
    let cost = (view.cost_microusd, view.cost_microusd_reserved, view.cost_microusd_max);
    let time = (view.wall_clock_ms, 0, view.wall_clock_ms_max);
    let mut parts: Vec<String> = Vec::new();
    parts.extend(part(tokens, grouped, " tokens"));
    parts.extend(part(cost, money, ""));
    parts.extend(part(time, time::elapsed, "").filter(|_| view.wall_clock_ms_max > 0));
    if view.unknown > 0 {
        let attempts = text::count(view.unknown as usize, "attempt");
        parts.push(format!("{attempts} of unknown cost"));
    }
    (!parts.is_empty()).then(|| format!("spent {}", parts.join(", ")))
}

fn part(
    (spent, reserved, most): (u64, u64, u64),
    shown: fn(u64) -> String,
    unit: &str,
) -> Option<String> {
    if (spent, reserved, most) == (0, 0, 0) {
        return None;
    }
    let of = if most == 0 { String::new() } else { format!(" of {}", shown(most)) };
    let held =
        if reserved == 0 { String::new() } else { format!(" ({} reserved)", shown(reserved)) };
    Some(format!("{}{of}{unit}{held}", shown(spent)))
}

/// One line for each warning.
pub(in crate::cli) fn warnings(warnings: &[WarningView], paint: Paint) -> String {
    let line = |warning: &WarningView| {
        let (spent, budget) = (warning.spent, warning.budget);
        let told = match warning.resource.as_str() {
            "tokens" => format!("{} of {} tokens are spent", grouped(spent), grouped(budget)),
            "cost" => format!("{} of {} are spent", money(spent), money(budget)),
            _ => format!("{} of {} are over", time::elapsed(spent), time::elapsed(budget)),
        };
        paint.ink(Ink::Warning, &format!("warning: {told}")) + "\n"
    };
    warnings.iter().map(line).collect()
}

/// `given 12m00s, 80,000 tokens, model fast-1, effort high (after failures), 2 learnings`.
pub(in crate::cli) fn given(dispatch: &DispatchView, kind: &str) -> String {
    let mut parts = Vec::new();
    if dispatch.wall_clock_ms > 0 {
        parts.push(time::elapsed(dispatch.wall_clock_ms));
    }
    parts.extend(dispatch.tokens.map(|tokens| format!("{} tokens", grouped(tokens))));
    parts.extend(dispatch.cost_microusd.map(money));
    if !dispatch.model.is_empty() {
        parts.push(format!("model {}", text::cut(&dispatch.model, MODEL_COLUMNS_MAX)));
    }
    if kind != "verify" && !dispatch.effort.is_empty() {
        parts.push(format!("effort {}", text::cut(&dispatch.effort, 20)));
    }
    if !dispatch.learnings.is_empty() {
        parts.push(text::count(dispatch.learnings.len(), "learning"));
    }
    let because = match dispatch.breaker.as_str() {
        "" => String::new(),
        "stuck" => " (rerouted: it was stuck)".to_owned(),
        "predicted" => " (rerouted: its budget would have ended first)".to_owned(),
        "failures" => " (rerouted: it failed repeatedly)".to_owned(),
        "diagnosis" => " (rerouted: its agent asked for it)".to_owned(),
        other => format!(" (rerouted: {})", text::cut(other, 20)),
    };
    match parts.as_slice() {
        [] => String::new(),
        parts => format!("given {}{because}", parts.join(", ")),
    }
}

/// `spent 12,340 tokens, $0.12, estimated; agent 3m05s, checks 12s`.
pub(in crate::cli) fn spent(spent: &SpentView) -> String {
    let tokens = spent.tokens.map_or("unknown".to_owned(), grouped);
    let cost = spent.cost_microusd.map_or("at an unknown price".to_owned(), money);
    let estimated = if spent.estimated { ", estimated" } else { "" };
    let phases: Vec<String> = spent
        .phases
        .iter()
        .map(|phase| format!("{} {}", text::cut(&phase.name, 20), time::elapsed(phase.duration_ms)))
        .collect();
    let phases = if phases.is_empty() { String::new() } else { format!("; {}", phases.join(", ")) };
    format!("spent {tokens} tokens, {cost}{estimated}{phases}")
}

#[cfg(test)]
mod tests {
    use cantus_proto::wire::v1::Phase;

    use super::*;

    #[test]
    fn what_is_nothing_is_not_told() {
        assert_eq!(budget(None), None);
        assert_eq!(budget(Some(&BudgetView::default())), None);
        let passed = BudgetView { wall_clock_ms: 63_000, ..Default::default() };
        assert_eq!(budget(Some(&passed)), None, "time alone is told elsewhere");
        let limited = BudgetView { tokens_max: 350_000, ..Default::default() };
        assert_eq!(budget(Some(&limited)).unwrap(), "spent 0 of 350,000 tokens");
        assert_eq!(given(&DispatchView::default(), "produce"), "");
    }

    #[test]
    fn amounts_have_their_unit_and_their_limit() {
        let view = BudgetView {
            wall_clock_ms: 185_000,
            wall_clock_ms_max: 2_700_000,
            tokens: 12_340,
            tokens_reserved: 20_000,
            tokens_max: 350_000,
            cost_microusd: 120_000,
            cost_microusd_max: 5_000_000,
            unknown: 1,
            ..Default::default()
        };
        assert_eq!(
            budget(Some(&view)).unwrap(),
            "spent 12,340 of 350,000 tokens (20,000 reserved), $0.12 of $5.00, 3m05s of 45m00s, \
             1 attempt of unknown cost"
        );
        let free = BudgetView { cost_microusd: 1_500, ..Default::default() };
        assert_eq!(budget(Some(&free)).unwrap(), "spent $0.001500");
        assert_eq!(["0", "999", "1,000", "1,234,567"], [0, 999, 1_000, 1_234_567].map(grouped)[..]);
    }

    #[test]
    fn an_unknown_cost_is_no_zero() {
        let phase = Phase { name: "agent\u{7}".to_owned(), duration_ms: 3_200 };
        let unknown = SpentView { estimated: true, phases: vec![phase], ..Default::default() };
        assert_eq!(
            spent(&unknown),
            "spent unknown tokens, at an unknown price, estimated; agent\\u{7} 3.2s"
        );
        let known = SpentView { tokens: Some(0), cost_microusd: Some(0), ..Default::default() };
        assert_eq!(spent(&known), "spent 0 tokens, $0");
        let dispatch = DispatchView {
            wall_clock_ms: 720_000,
            tokens: Some(80_000),
            model: "strong-1".to_owned(),
            effort: "high".to_owned(),
            breaker: "failures".to_owned(),
            learnings: vec!["l1".to_owned()],
            ..Default::default()
        };
        assert_eq!(
            given(&dispatch, "repair"),
            "given 12m00s, 80,000 tokens, model strong-1, effort high, 1 learning (rerouted: it failed repeatedly)"
        );
        let warning = |resource: &str, spent, budget| WarningView {
            resource: resource.to_owned(),
            spent,
            budget,
        };
        let told = warnings(
            &[
                warning("tokens", 8_000, 10_000),
                warning("cost", 800_000, 1_000_000),
                warning("wall_clock", 48_000, 60_000),
            ],
            Paint::NEVER,
        );
        assert_eq!(
            told,
            "warning: 8,000 of 10,000 tokens are spent\nwarning: $0.80 of $1.00 are spent\n\
             warning: 48s of 1m00s are over\n"
        );
    }
}
