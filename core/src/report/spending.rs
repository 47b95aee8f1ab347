//! Tokens, money and time: what is known, what is estimated, and what is not known at all.

use cantus_proto::message::{AttemptKind, Usage};
use cantus_proto::units::MicroUsd;

use crate::attempt::Attempt;
use crate::budget::{counted, wall_clock_ms, work_ms};
use crate::event::{ItemIndex, Millis};
use crate::record::{Resource, Spent};
use crate::run::{Run, index};
use crate::verification_budget::shares;

/// What one attempt used of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// It never ran, is not over, or has no use for it.
    Nothing,
    /// Measured.
    Known(u64),
    /// Its holder was lost, so a share of its reservation stands for it.
    Estimated(u64),
    /// It used some, and nobody knows how much.
    Unknown,
}

/// What several attempts used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Total {
    /// The sum of all that is known or estimated.
    pub sum: u64,
    /// The part of the sum that is estimated.
    pub estimated: u64,
    /// Attempts that used some and are in no sum.
    pub unknown: u32,
}

impl Total {
    fn plus(self, amount: Amount) -> Self {
        let Self { sum, estimated, unknown } = self;
        match amount {
            Amount::Nothing => self,
            Amount::Known(used) => Self { sum: sum.saturating_add(used), ..self },
            Amount::Estimated(used) => Self {
                sum: sum.saturating_add(used),
                estimated: estimated.saturating_add(used),
                unknown,
            },
            Amount::Unknown => Self { unknown: unknown.saturating_add(1), ..self },
        }
    }

    /// Adds up.
    pub(super) fn of(amounts: impl Iterator<Item = Amount>) -> Self {
        amounts.fold(Self::default(), Self::plus)
    }
}

/// Tokens of one attempt.
#[must_use]
pub fn tokens(attempt: &Attempt) -> Amount {
    amount(attempt, |spent| spent.tokens, |usage| Some(usage.tokens()))
}

/// Millionths of a dollar of one attempt. What its agent put no price on is known only once it was settled.
#[must_use]
pub fn cost(attempt: &Attempt) -> Amount {
    let told = |usage: &Usage| usage.unpriced.is_empty().then_some(usage.cost.0);
    amount(attempt, |spent| spent.cost.map(|MicroUsd(micro)| micro), told)
}

/// The settlement decides; without one, what the result told. A verification runs checkers and no model, so that
/// silence about it is nothing, while silence about work is unknown.
fn amount(
    attempt: &Attempt,
    settled: fn(&Spent) -> Option<u64>,
    told: impl Fn(&Usage) -> Option<u64>,
) -> Amount {
    if attempt.leased.is_none() || attempt.ended.is_none() {
        return Amount::Nothing;
    }
    let usage = attempt.result.as_deref().and_then(|result| result.usage.as_ref());
    match (attempt.spent.as_deref(), attempt.kind) {
        (Some(spent), kind) => match (settled(spent), kind) {
            (Some(used), _) if spent.estimated => Amount::Estimated(used),
            (Some(used), _) => Amount::Known(used),
            (None, AttemptKind::Verify) => Amount::Nothing,
            (None, _) => Amount::Unknown,
        },
        (None, AttemptKind::Verify) => Amount::Nothing,
        (None, _) => usage.and_then(told).map_or(Amount::Unknown, Amount::Known),
    }
}

/// How much of a budget was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetUse {
    /// Whose; nothing for the whole run's.
    pub item: Option<ItemIndex>,
    /// Of what.
    pub resource: Resource,
    /// In the resource's unit.
    pub spent: Total,
    /// In the resource's unit.
    pub budget: u64,
}

impl BudgetUse {
    /// What was used beyond the budget (W21): a measurement can come after the fact.
    #[must_use]
    pub fn overshoot(&self) -> u64 {
        self.spent.sum.saturating_sub(self.budget)
    }
}

/// Budgets of the run, then those of every item that was begun: for an item, what the kernel holds its work to, which
/// is the budget without verification's share, anew each time that a person puts it back.
pub(super) fn budgets(run: &Run, at: Millis) -> Vec<BudgetUse> {
    let mut uses = Vec::new();
    let mut push = |item, resource, spent, budget: Option<u64>| {
        uses.extend(budget.map(|budget| BudgetUse { item, resource, spent, budget }));
    };
    let all = || run.items.iter().flat_map(|item| &item.attempts);
    let time = Total { sum: at.0.saturating_sub(run.started.0), ..Total::default() };
    push(None, Resource::WallClock, time, run.budgets.wall_clock_minutes.map(milliseconds));
    push(None, Resource::Tokens, Total::of(all().map(tokens)), run.budgets.token_budget);
    let money = run.budgets.cost_budget.map(|MicroUsd(micro)| micro);
    push(None, Resource::Cost, Total::of(all().map(cost)), money);
    for (place, item) in run.items.iter().enumerate().filter(|(_, item)| item.started.is_some()) {
        let (place, budgets) = (Some(index(place)), &item.contract.budgets);
        let for_work = |total: u64| shares(total, budgets.verification_ratio).work;
        let counted = counted(item);
        let time = Total { sum: work_ms(item, at), ..Total::default() };
        push(place, Resource::WallClock, time, Some(for_work(wall_clock_ms(budgets))));
        let tokens = Total::of(counted.iter().map(tokens));
        push(place, Resource::Tokens, tokens, budgets.token_budget.map(for_work));
        let money = budgets.cost_budget.map(|MicroUsd(micro)| for_work(micro));
        push(place, Resource::Cost, Total::of(counted.iter().map(cost)), money);
    }
    uses
}

fn milliseconds(minutes: u32) -> u64 {
    u64::from(minutes) * 60_000
}
