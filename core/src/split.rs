//! A split (SPEC E8, B22): an item's own proposal to do parts of it first, made into items or refused.
//!
//! The model proposes names, goals and edges. Checkers, roles and limits come from the whole, scopes stay inside
//! its scope, and budgets are equal shares of what remains of it, with one share kept for the whole itself.

mod part;

use std::collections::BTreeSet;

use cantus_proto::contract::Budgets;
use cantus_proto::ids::ItemId;
use cantus_proto::message::Part;
use cantus_proto::plan::PlanItem;
use cantus_proto::units::MicroUsd;

use crate::event::ItemIndex;
use crate::item::Item;
use crate::run::Run;
use crate::text;

/// Most parts of one split: more is a plan, and plans are written by people.
const PARTS_MAX: usize = 8;
/// Deepest split: a part may be split once more.
const DEPTH_MAX: usize = 2;
/// A minute in milliseconds: the least time that an item can have.
const MINUTE_MS: u64 = 60_000;

/// What is left of an item's budgets; nothing where there is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Remainder {
    /// Time, in milliseconds.
    pub wall_clock_ms: u64,
    /// Tokens.
    pub tokens: Option<u64>,
    /// Money.
    pub cost: Option<MicroUsd>,
}

/// The items that do these parts of an item, in the order given.
///
/// # Errors
/// Why the split is refused, naming the part and the way out.
pub fn parts(
    run: &Run,
    whole: ItemIndex,
    parts: &[Part],
    remainder: &Remainder,
) -> Result<Vec<PlanItem>, String> {
    let item = run.item(whole);
    if parts.is_empty() || parts.len() > PARTS_MAX {
        return Err(format!("a split has 1 to {PARTS_MAX} parts, not {}", parts.len()));
    }
    if depth(run, whole) >= DEPTH_MAX {
        return Err(format!("{} is a part of a part: it is not split again", item.id));
    }
    let ids = ids(run, parts)?;
    if let Some(cycle) = cycle(parts) {
        return Err(format!("the parts need each other in a circle: {cycle}"));
    }
    let budgets = budgets(item, parts.len(), remainder)?;
    parts.iter().map(|part| part::item(item, part, &ids, &budgets).map_err(text::cut)).collect()
}

/// Of how many items, one in another, this one is a part.
fn depth(run: &Run, place: ItemIndex) -> usize {
    std::iter::successors(run.item(place).whole, |whole| run.item(*whole).whole)
        .take(DEPTH_MAX)
        .count()
}

fn ids<'p>(run: &Run, parts: &'p [Part]) -> Result<BTreeSet<&'p ItemId>, String> {
    let mut ids = BTreeSet::new();
    for Part { id, .. } in parts {
        if run.by_id.contains_key(id) {
            return Err(format!("the run has an item {id} already: give the part another id"));
        }
        if !ids.insert(id) {
            return Err(format!("two parts are called {id}: give each an id of its own"));
        }
    }
    Ok(ids)
}

/// Parts that need each other, as `a → b → a`. Parts that need nothing open are taken away until none is left,
/// or none can be.
fn cycle(parts: &[Part]) -> Option<String> {
    let mut open: Vec<&Part> = parts.iter().collect();
    let needed = |part: &Part, open: &[&Part]| {
        part.needs.iter().find(|need| open.iter().any(|other| other.id == **need)).cloned()
    };
    while let Some(free) = open.iter().position(|part| needed(part, &open).is_none()) {
        open.remove(free);
    }
    let mut way = vec![open.first()?.id.clone()];
    loop {
        let part = open.iter().find(|part| Some(&part.id) == way.last())?;
        let next = needed(part, &open)?;
        if let Some(start) = way.iter().position(|id| *id == next) {
            let names = way[start..].iter().chain([&next]).map(ToString::to_string);
            return Some(names.collect::<Vec<_>>().join(" → "));
        }
        way.push(next);
    }
}

/// One share of what remains. A share of nothing refuses: 0 is not unlimited.
fn budgets(whole: &Item, parts: usize, remainder: &Remainder) -> Result<Budgets, String> {
    let shares = u64::try_from(parts).unwrap_or(u64::MAX).saturating_add(1);
    let share = |what: &str, left: u64| match left / shares {
        0 => Err(format!("too little of {what} remains for {shares} shares: {left}")),
        share => Ok(share),
    };
    let minutes = share("the time in minutes", remainder.wall_clock_ms / MINUTE_MS)?;
    let tokens = remainder.tokens.map(|left| share("the tokens", left)).transpose()?;
    let cost = remainder.cost.map(|left| share("the money in millionths", left.0)).transpose()?;
    Ok(Budgets {
        wall_clock_minutes: u32::try_from(minutes).unwrap_or(u32::MAX),
        token_budget: tokens,
        cost_budget: cost.map(MicroUsd),
        ..whole.contract.budgets.clone()
    })
}

#[cfg(test)]
mod tests;
