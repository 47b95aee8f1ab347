//! Budgets (SPEC B5, E9): what is spent, what is reserved, and what is left for the next attempt.
//!
//! Reserved before dispatch, settled after. An item's budget is over all attempts since a person last put it back;
//! a run's is over everything. Verification has its own share of an item's time and tokens. What a lost attempt
//! cost is estimated, since missing is not zero. Parts of a split draw from what the whole has left.

use cantus_proto::contract::Budgets;
use cantus_proto::message::{AttemptKind, Usage};
use cantus_proto::units::{MicroUsd, share};

use crate::event::Millis;
use crate::item::{Attempt, Item, Outcome, State};
use crate::record::{Resource, Spent, Warning};
use crate::rules::Prices;
use crate::run::Run;
use crate::split::Remainder;
use crate::verification_budget::shares;

/// Most of a budget, of which a person should know (SPEC E9).
const WARNED_AT: f64 = 0.80;

/// What attempts have cost and hold; sums over items are sums over runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Account {
    /// Settled tokens.
    pub tokens: u64,
    /// Settled money.
    pub cost: MicroUsd,
    /// Tokens reserved for attempts that are open.
    pub tokens_reserved: u64,
    /// Money reserved for attempts that are open.
    pub cost_reserved: MicroUsd,
    /// Attempts whose tokens or price are not known.
    pub unknown: u32,
    /// Work attempts that are open.
    pub agents: u32,
}

impl Account {
    /// Of these attempts.
    #[must_use]
    pub fn of(attempts: &[Attempt]) -> Self {
        let mut account = Self::default();
        for attempt in attempts {
            match (&attempt.spent, attempt.ended) {
                (Some(spent), _) => {
                    account.tokens = account.tokens.saturating_add(spent.tokens.unwrap_or(0));
                    account.cost = account.cost.plus(spent.cost.unwrap_or_default());
                    let known = spent.tokens.is_some() && spent.cost.is_some();
                    account.unknown += u32::from(!known);
                }
                (None, None) => {
                    let (tokens, cost) = (attempt.dispatch.tokens, attempt.dispatch.cost);
                    account.tokens_reserved =
                        account.tokens_reserved.saturating_add(tokens.unwrap_or(0));
                    account.cost_reserved = account.cost_reserved.plus(cost.unwrap_or_default());
                }
                (None, Some(_)) => {}
            }
            let works = attempt.kind != AttemptKind::Verify && attempt.ended.is_none();
            account.agents += u32::from(works);
        }
        account
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            cost: self.cost.plus(other.cost),
            tokens_reserved: self.tokens_reserved.saturating_add(other.tokens_reserved),
            cost_reserved: self.cost_reserved.plus(other.cost_reserved),
            unknown: self.unknown + other.unknown,
            agents: self.agents + other.agents,
        }
    }

    /// The one without the other, which is part of it.
    pub(crate) fn minus(self, part: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(part.tokens),
            cost: MicroUsd(self.cost.0.saturating_sub(part.cost.0)),
            tokens_reserved: self.tokens_reserved.saturating_sub(part.tokens_reserved),
            cost_reserved: MicroUsd(self.cost_reserved.0.saturating_sub(part.cost_reserved.0)),
            unknown: self.unknown.saturating_sub(part.unknown),
            agents: self.agents.saturating_sub(part.agents),
        }
    }
}

/// What the next attempt may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Allowance {
    /// So much is reserved for it.
    Given(Remainder),
    /// What is left of the run is reserved by others, or as many agents work as may: later, perhaps.
    Wait,
    /// Nothing is left, and nothing will come back.
    Exhausted(Resource),
}

/// The item's wall clock, in milliseconds.
pub(crate) fn wall_clock_ms(budgets: &Budgets) -> u64 {
    u64::from(budgets.wall_clock_minutes) * 60_000
}

/// The attempts that count against the item's budget.
#[must_use]
pub fn counted(item: &Item) -> &[Attempt] {
    let from = item.remarks.as_deref().map_or(0, |remarks| remarks.attempts_before_requeue);
    &item.attempts[from.min(item.attempts.len())..]
}

/// Time that work attempts have had, up to now, in milliseconds; machines' faults are not charged.
#[must_use]
pub fn work_ms(item: &Item, now: Millis) -> u64 {
    let charged = |attempt: &&Attempt| {
        attempt.kind != AttemptKind::Verify
            && !matches!(&attempt.outcome, Some(Outcome::InVain(why, _)) if why.is_infrastructure())
    };
    counted(item).iter().filter(charged).map(|attempt| attempt.busy_ms(now)).sum()
}

/// What an item has left for work: without verification's share, and without what its parts were given.
#[must_use]
pub fn remainder(run: &Run, item: &Item, now: Millis) -> Remainder {
    let budgets = &item.contract.budgets;
    let parts = item.remarks.as_deref().map_or(&[][..], |remarks| &remarks.parts);
    let given = |amount: fn(&Budgets) -> u64| -> u64 {
        parts.iter().map(|place| amount(&run.item(*place).contract.budgets)).sum()
    };
    let for_work = |total: u64| shares(total, budgets.verification_ratio).work;
    let account = Account::of(counted(item));
    let left = |total: u64, spent: u64, given: u64| {
        for_work(total).saturating_sub(spent).saturating_sub(given)
    };
    Remainder {
        wall_clock_ms: left(wall_clock_ms(budgets), work_ms(item, now), given(wall_clock_ms)),
        tokens: budgets.token_budget.map(|total| {
            let spent = account.tokens.saturating_add(account.tokens_reserved);
            left(total, spent, given(|budgets| budgets.token_budget.unwrap_or(0)))
        }),
        cost: budgets.cost_budget.map(|total| {
            let spent = account.cost.plus(account.cost_reserved).0;
            let given = given(|budgets| budgets.cost_budget.map_or(0, |cost| cost.0));
            MicroUsd(left(total.0, spent, given))
        }),
    }
}

/// What the next work attempt of an item may have.
///
/// An item without a limit of its own gets an equal share of what is free of the run's, so that the first one
/// does not make all others wait; what it does not use comes back.
pub(crate) fn allowance(run: &Run, item: &Item, now: Millis) -> Allowance {
    let own = remainder(run, item, now);
    let budgets = &run.budgets;
    let account = &run.account;
    if budgets.max_agents.is_some_and(|most| account.agents >= most) {
        return Allowance::Wait;
    }
    let mut given = own;
    if let Some(end) = run_end(run) {
        given.wall_clock_ms = given.wall_clock_ms.min(end.0.saturating_sub(now.0));
    }
    let sharers = (run.open as u64).saturating_sub(u64::from(account.agents)).max(1);
    let fair = |free: u64| (free / sharers).max(1);
    let spare = |total: u64, spent: u64, reserved: u64| {
        let free = total.saturating_sub(spent);
        (free.saturating_sub(reserved), free)
    };
    if let Some(total) = budgets.token_budget {
        let (free, later) = spare(total, account.tokens, account.tokens_reserved);
        if free == 0 {
            return if later > 0 {
                Allowance::Wait
            } else {
                Allowance::Exhausted(Resource::Tokens)
            };
        }
        given.tokens = Some(given.tokens.map_or(fair(free), |own| own.min(free)));
    }
    if let Some(total) = budgets.cost_budget {
        let (free, later) = spare(total.0, account.cost.0, account.cost_reserved.0);
        if free == 0 {
            return if later > 0 { Allowance::Wait } else { Allowance::Exhausted(Resource::Cost) };
        }
        given.cost = Some(given.cost.map_or(MicroUsd(fair(free)), |own| own.min(MicroUsd(free))));
    }
    match given {
        Remainder { wall_clock_ms: 0, .. } => Allowance::Exhausted(Resource::WallClock),
        Remainder { tokens: Some(0), .. } => Allowance::Exhausted(Resource::Tokens),
        Remainder { cost: Some(MicroUsd(0)), .. } => Allowance::Exhausted(Resource::Cost),
        given => Allowance::Given(given),
    }
}

/// Whether it is the item's own budget of which nothing is left.
pub(crate) fn is_spent(run: &Run, item: &Item, resource: Resource) -> bool {
    let own = remainder(run, item, item.since);
    match resource {
        Resource::WallClock => own.wall_clock_ms == 0,
        Resource::Tokens => own.tokens == Some(0),
        Resource::Cost => own.cost == Some(MicroUsd(0)),
    }
}

/// Time left to verify the candidate: the share of an item's wall clock, less what this very tree has had.
pub(crate) fn verification_ms(item: &Item, now: Millis) -> u64 {
    let (State::Unverified(_) | State::VerifyQueued(_) | State::Verifying(_)) = &item.state else {
        return 0;
    };
    let budgets = &item.contract.budgets;
    let total = shares(wall_clock_ms(budgets), budgets.verification_ratio).verification;
    let here = item.attempts.iter().rev().take_while(|a| a.kind == AttemptKind::Verify);
    let charged = here
        .filter(|a| matches!(a.outcome, Some(Outcome::InVain(why, _)) if !why.is_infrastructure()));
    total.saturating_sub(charged.map(|attempt| attempt.busy_ms(now)).sum())
}

/// When the run's wall clock is over, if it has one.
pub(crate) fn run_end(run: &Run) -> Option<Millis> {
    let minutes = run.budgets.wall_clock_minutes?;
    Some(run.started.plus(u64::from(minutes) * 60_000))
}

/// Whether a run's time was over when the item came to where it is.
pub(crate) fn run_is_over(run: &Run, now: Millis) -> bool {
    run_end(run).is_some_and(|end| end <= now)
}

/// When most of the run's wall clock is over.
pub(crate) fn run_warned_at(run: &Run) -> Option<Millis> {
    let total = u64::from(run.budgets.wall_clock_minutes?) * 60_000;
    Some(run.started.plus(share(total, WARNED_AT)))
}

/// What a measured attempt cost; its price is nothing when a model's is not known.
pub(crate) fn measured(usage: &Usage, prices: &Prices) -> Spent {
    Spent { tokens: Some(usage.tokens()), cost: prices.of(usage), ..Spent::default() }
}

/// What an attempt cost that cannot be asked any more: the larger of what it last told and its reservation's share
/// of the time that it had.
pub(crate) fn estimated(
    attempt: &Attempt,
    told: Option<&Usage>,
    prices: &Prices,
    now: Millis,
) -> Spent {
    let told = told.map(|usage| measured(usage, prices));
    let (busy, total) = (attempt.busy_ms(now), attempt.dispatch.wall_clock_ms.max(1));
    let part = |reserved: u64| {
        let part = u128::from(reserved) * u128::from(busy.min(total)) / u128::from(total);
        u64::try_from(part).unwrap_or(u64::MAX)
    };
    let tokens = told.as_ref().and_then(|told| told.tokens);
    let cost = told.as_ref().and_then(|told| told.cost);
    Spent {
        tokens: larger(tokens, attempt.dispatch.tokens.map(part)),
        cost: larger(cost, attempt.dispatch.cost.map(|cost| MicroUsd(part(cost.0)))),
        estimated: true,
        phases: Vec::new(),
    }
}

fn larger<T: Ord>(told: Option<T>, share: Option<T>) -> Option<T> {
    match (told, share) {
        (Some(told), Some(share)) => Some(told.max(share)),
        (told, share) => told.or(share),
    }
}

/// The warnings about an item's budget that are due and were not given (SPEC E9).
pub(crate) fn item_warnings(item: &Item, spent: &Spent, now: Millis) -> Vec<Warning> {
    let budgets = &item.contract.budgets;
    let account = Account::of(counted(item));
    let tokens = account.tokens.saturating_add(spent.tokens.unwrap_or(0));
    let cost = account.cost.plus(spent.cost.unwrap_or_default());
    let given = item.remarks.as_deref().map_or(&[][..], |remarks| &remarks.warnings);
    let limits = [
        (Resource::WallClock, work_ms(item, now), Some(wall_clock_ms(budgets))),
        (Resource::Tokens, tokens, budgets.token_budget),
        (Resource::Cost, cost.0, budgets.cost_budget.map(|cost| cost.0)),
    ];
    due(&limits, budgets.verification_ratio, given)
}

/// The same about a run's.
pub(crate) fn run_warnings(run: &Run) -> Vec<Warning> {
    let limits = [
        (Resource::Tokens, run.account.tokens, run.budgets.token_budget),
        (Resource::Cost, run.account.cost.0, run.budgets.cost_budget.map(|cost| cost.0)),
    ];
    due(&limits, 0.0, &run.warnings)
}

/// That most of the run's time is over, unless that was said.
pub(crate) fn wall_clock_warning(run: &Run, now: Millis) -> Option<Warning> {
    let budget = u64::from(run.budgets.wall_clock_minutes?) * 60_000;
    let known = run.warnings.iter().any(|warning| warning.resource == Resource::WallClock);
    let spent = now.0.saturating_sub(run.started.0);
    (!known).then_some(Warning { resource: Resource::WallClock, spent, budget })
}

fn due(
    limits: &[(Resource, u64, Option<u64>)],
    verification: f64,
    given: &[Warning],
) -> Vec<Warning> {
    let due = limits.iter().filter_map(|(resource, spent, budget)| {
        let budget = (*budget)?;
        let work = shares(budget, verification).work;
        let known = given.iter().any(|warning| warning.resource == *resource);
        let warning = Warning { resource: *resource, spent: *spent, budget: work };
        (!known && *spent >= share(work, WARNED_AT)).then_some(warning)
    });
    due.collect()
}

/// Whether tokens, or money, of this item must be known.
pub(crate) fn must_measure(run: &Run, item: &Item) -> (bool, bool) {
    let (own, whole) = (&item.contract.budgets, &run.budgets);
    (
        own.token_budget.is_some() || whole.token_budget.is_some(),
        own.cost_budget.is_some() || whole.cost_budget.is_some(),
    )
}
