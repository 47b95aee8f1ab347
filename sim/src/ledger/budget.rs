//! Budgets, counted apart from the core: what is reserved for an attempt fits into what is left (invariant 8).
//!
//! What an attempt really cost replaces its reservation, and may be more; then nothing further is dispatched.

use cantus_core::event::Millis;
use cantus_core::record::{Dispatch, ItemFact};
use cantus_proto::ids::RunId;
use cantus_proto::message::AttemptKind;
use cantus_proto::plan::PlanItem;

use super::book::{Book, Given};
use super::{Ledger, Objection, Origin, demand};

/// Tokens of a dispatch, and money.
type Amount = fn(&Dispatch) -> Option<u64>;

impl Given {
    /// What counts of it: its cost, or while it is open what is reserved.
    fn counts(&self, tokens: bool) -> u64 {
        match (&self.spent, self.ended) {
            (Some(spent), _) if tokens => spent.tokens.unwrap_or(0),
            (Some(spent), _) => spent.cost.map_or(0, |cost| cost.0),
            (None, None) if tokens => self.dispatch.tokens.unwrap_or(0),
            (None, None) => self.dispatch.cost.map_or(0, |cost| cost.0),
            (None, Some(_)) => 0,
        }
    }

    /// Time that it had and is charged, in milliseconds.
    fn busy_ms(&self, now: Millis) -> u64 {
        let end = self.ended.unwrap_or(now);
        let busy = self.leased.map_or(0, |leased| end.0.saturating_sub(leased.0));
        if self.kind == AttemptKind::Verify || self.machines { 0 } else { busy }
    }
}

impl Ledger {
    /// Whether the reservation of a new attempt fits into what the item and the run have left.
    pub(super) fn check_budget(
        &self,
        run: &RunId,
        book: &Book,
        fact: &ItemFact,
        origin: &Origin<'_>,
    ) -> Objection {
        let ItemFact::Queued(_, kind, new) = fact else { return Ok(()) };
        let (id, own) = (&book.id, &book.contract.budgets);
        let total = u64::from(own.wall_clock_minutes) * 60_000;
        let counted = || book.given.range(book.counted_from..).map(|(_, given)| given);
        let busy: u64 = counted().map(|given| given.busy_ms(origin.at)).sum();
        let before = if *kind == AttemptKind::Verify { 0 } else { busy };
        demand(
            new.wall_clock_ms > 0 && before.saturating_add(new.wall_clock_ms) <= total,
            8,
            || format!("{id} gets {} ms beside {before} of {total}", new.wall_clock_ms),
        )?;
        let Some(books) = self.runs.get(run) else { return Ok(()) };
        let whole = &books.budgets;
        let of_tokens: Amount = |dispatch| dispatch.tokens;
        let cost: Amount = |dispatch| dispatch.cost.map(|cost| cost.0);
        let limits = [
            ("tokens", true, of_tokens, own.token_budget, whole.token_budget),
            ("money", false, cost, own.cost_budget.map(|c| c.0), whole.cost_budget.map(|c| c.0)),
        ];
        for (what, tokens, amount, own, whole) in limits {
            let parts = if tokens { book.to_parts.0 } else { book.to_parts.1 };
            let mine = counted().fold(parts, |sum, g| sum.saturating_add(g.counts(tokens)));
            let all = books.items.iter().flat_map(|book| book.given.values());
            let all = all.fold(0_u64, |sum, given| sum.saturating_add(given.counts(tokens)));
            for (of, before, budget) in [("item", mine, own), ("run", all, whole)] {
                let Some(budget) = budget.filter(|_| *kind != AttemptKind::Verify) else {
                    continue;
                };
                let reserved = amount(new);
                let fits = reserved.is_some_and(|new| {
                    new > 0 && before.checked_add(new).is_some_and(|sum| sum <= budget)
                });
                demand(fits, 8, || {
                    format!(
                        "{id} reserves {reserved:?} {what} beside {before} of {budget} of its {of}"
                    )
                })?;
            }
        }
        if let Some(most) = whole.max_agents.filter(|_| *kind != AttemptKind::Verify) {
            let open =
                |book: &&Book| book.open.as_ref().is_some_and(|o| o.kind != AttemptKind::Verify);
            let agents = books.items.iter().filter(open).count();
            demand(agents < most as usize, 8, || {
                format!("{agents} of {most} agents work already")
            })?;
        }
        Ok(())
    }
}

/// Whether what parts are given fits into what the whole has.
pub(super) fn check_split(book: &Book, parts: &[PlanItem]) -> Objection {
    let own = &book.contract.budgets;
    let given = |of: fn(&PlanItem) -> Option<u64>| {
        parts.iter().filter_map(of).fold(0_u64, u64::saturating_add)
    };
    let tokens = given(|part| part.contract.budgets.token_budget);
    let cost = given(|part| part.contract.budgets.cost_budget.map(|cost| cost.0));
    let minutes = given(|part| Some(part.contract.budgets.wall_clock_minutes.into()));
    let fits = own.token_budget.is_none_or(|total| tokens <= total)
        && own.cost_budget.is_none_or(|total| cost <= total.0)
        && minutes <= u64::from(own.wall_clock_minutes);
    demand(fits, 8, || format!("the parts of {} get more than it has", book.id))
}
