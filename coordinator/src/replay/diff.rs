//! What became otherwise between two points of a history.

use cantus_core::event::ItemIndex;
use cantus_core::run::Run;
use cantus_proto::units::MicroUsd;
use cantus_proto::wire::v1::{BudgetView, ItemView};

use crate::view;

/// One thing that is otherwise; an empty text stands for nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Which item; empty: the run itself.
    pub item: String,
    /// What about it.
    pub what: String,
    /// At the first point.
    pub before: String,
    /// At the second point.
    pub after: String,
}

/// All that is otherwise, the run first, then its items in order.
#[must_use]
pub fn changes(before: &Run, after: &Run) -> Vec<Change> {
    let mut changes = Changes { item: String::new(), found: Vec::new() };
    let state = |run: &Run| run.state().name().to_owned();
    changes.note("state", state(before), state(after));
    let (first, second) = (view::run(before), view::run(after));
    changes.budget(first.budget.as_ref(), second.budget.as_ref());
    for place in 0..before.items.len().max(after.items.len()) {
        let (old, new) = (before.items.get(place), after.items.get(place));
        if old == new {
            continue;
        }
        let place = ItemIndex(u32::try_from(place).unwrap_or(u32::MAX));
        let old = old.map_or_else(ItemView::default, |_| view::item(before, place));
        let new = new.map_or_else(ItemView::default, |_| view::item(after, place));
        changes.item(&old, &new);
    }
    changes.found
}

struct Changes {
    item: String,
    found: Vec<Change>,
}

impl Changes {
    fn note(&mut self, what: impl Into<String>, before: String, after: String) {
        if before != after {
            let item = self.item.clone();
            self.found.push(Change { item, what: what.into(), before, after });
        }
    }

    fn item(&mut self, old: &ItemView, new: &ItemView) {
        let id = |view: &ItemView| view.summary.as_ref().map(|s| s.id.clone()).unwrap_or_default();
        self.item = if new.summary.is_some() { id(new) } else { id(old) };
        let states = (state(old), state(new));
        self.note("state", states.0, states.1);
        let commit =
            |view: &ItemView| view.summary.as_ref().map(|s| s.commit.clone()).unwrap_or_default();
        self.note("commit", commit(old), commit(new));
        for place in 0..old.attempts.len().max(new.attempts.len()) {
            let attempt = |view: &ItemView| {
                let attempt = view.attempts.get(place)?;
                Some(format!("{} {}", attempt.kind, attempt.state))
            };
            let (before, after) = (attempt(old), attempt(new));
            let what = format!("attempt {}", place + 1);
            self.note(what, before.unwrap_or_default(), after.unwrap_or_default());
        }
        self.budget(old.budget.as_ref(), new.budget.as_ref());
        let approvals = |view: &ItemView| {
            let list = view.approvals.iter().map(|a| format!("attempt {} by {}", a.attempt, a.by));
            list.collect::<Vec<_>>().join(", ")
        };
        self.note("let through", approvals(old), approvals(new));
        let hypotheses = |view: &ItemView| {
            let list = view.hypotheses.iter().map(|h| h.text.as_str());
            list.collect::<Vec<_>>().join("; ")
        };
        self.note("hypotheses", hypotheses(old), hypotheses(new));
        self.note("parts", old.parts.join(", "), new.parts.join(", "));
        let count = |number: usize| if number == 0 { String::new() } else { number.to_string() };
        self.note("saved work", count(old.saved.len()), count(new.saved.len()));
        self.note("put back", count(old.requeues as usize), count(new.requeues as usize));
    }

    fn budget(&mut self, old: Option<&BudgetView>, new: Option<&BudgetView>) {
        let none = BudgetView::default();
        let (old, new) = (old.unwrap_or(&none), new.unwrap_or(&none));
        let cost = |cost: u64| MicroUsd(cost).to_string();
        self.note("tokens", old.tokens.to_string(), new.tokens.to_string());
        let reserved = (old.tokens_reserved.to_string(), new.tokens_reserved.to_string());
        self.note("tokens reserved", reserved.0, reserved.1);
        self.note("cost", cost(old.cost_microusd), cost(new.cost_microusd));
        let reserved = (cost(old.cost_microusd_reserved), cost(new.cost_microusd_reserved));
        self.note("cost reserved", reserved.0, reserved.1);
        self.note("unknown cost", old.unknown.to_string(), new.unknown.to_string());
    }
}

fn state(view: &ItemView) -> String {
    let Some(summary) = &view.summary else { return String::new() };
    match summary.reason.as_str() {
        "" => summary.state.clone(),
        why => format!("{}: {why}", summary.state),
    }
}
