//! One part of a split as an item: its contract is the whole's, narrowed.

use std::collections::BTreeSet;
use std::sync::Arc;

use cantus_proto::contract::{AllowedScope, Budgets, Contract, Criterion};
use cantus_proto::ids::ItemId;
use cantus_proto::message::Part;
use cantus_proto::plan::bounds::{LIST_MAX, TEXT_BYTES_MAX};
use cantus_proto::plan::scope::pattern_covers;
use cantus_proto::plan::{Complexity, PlanItem};

use crate::item::Item;

/// The item that does this part, with one share of the budgets.
pub(super) fn item(
    whole: &Item,
    part: &Part,
    ids: &BTreeSet<&ItemId>,
    budgets: &Budgets,
) -> Result<PlanItem, String> {
    let mut needs = part.needs.clone();
    needs.sort();
    needs.dedup();
    if let Some(need) = needs.iter().find(|need| !ids.contains(need)) {
        return Err(format!("part {} needs {need}, which is no other part", part.id));
    }
    if part.goal.trim().is_empty() {
        return Err(format!("part {} has no goal: say in one sentence what it is for", part.id));
    }
    let texts = [&part.goal].into_iter().chain(&part.deliverables).chain(&part.paths);
    if part.deliverables.len() > LIST_MAX || texts.map(String::len).any(|len| len > TEXT_BYTES_MAX)
    {
        return Err(format!(
            "part {} has more than {LIST_MAX} deliverables, or a text above {TEXT_BYTES_MAX} bytes",
            part.id
        ));
    }
    let contract = Contract {
        goal: part.goal.trim().to_owned(),
        deliverables: part.deliverables.clone(),
        acceptance_criteria: criteria(whole, part)?,
        non_goals: whole.contract.non_goals.clone(),
        allowed_scope: scope(whole, part)?,
        budgets: budgets.clone(),
        forbidden_actions: whole.contract.forbidden_actions.clone(),
    };
    let complexity = match whole.complexity {
        Complexity::Small | Complexity::Medium => Complexity::Small,
        Complexity::Large => Complexity::Medium,
        Complexity::ExtraLarge => Complexity::Large,
    };
    Ok(PlanItem {
        id: part.id.clone(),
        needs,
        role: whole.role.clone(),
        verifier: whole.verifier.clone(),
        complexity,
        effort: whole.effort,
        priority: whole.priority,
        attempts_max: whole.tries_max,
        contract: Arc::new(contract),
    })
}

/// The whole's criteria that the part names, with the whole's checkers.
fn criteria(whole: &Item, part: &Part) -> Result<Vec<Criterion>, String> {
    let all = &whole.contract.acceptance_criteria;
    if let Some(unknown) = part.criteria.iter().find(|id| all.iter().all(|c| c.id != **id)) {
        return Err(format!("part {} names {unknown}, which {} does not have", part.id, whole.id));
    }
    let own: Vec<Criterion> =
        all.iter().filter(|criterion| part.criteria.contains(&criterion.id)).cloned().collect();
    match own.is_empty() {
        true => Err(format!(
            "part {} names no criterion of {}: nothing would show it",
            part.id, whole.id
        )),
        false => Ok(own),
    }
}

fn scope(whole: &Item, part: &Part) -> Result<AllowedScope, String> {
    let AllowedScope { paths: all, tools } = &whole.contract.allowed_scope;
    if part.paths.len() > LIST_MAX {
        return Err(format!("part {} names more than {LIST_MAX} paths", part.id));
    }
    let mut paths: Vec<String> = Vec::new();
    for path in &part.paths {
        let inside = all.iter().find_map(|pattern| inside(pattern, path)).ok_or_else(|| {
            format!(
                "part {} names {path:?}, which is not inside the scope of {} ({})",
                part.id,
                whole.id,
                all.join(", ")
            )
        })?;
        if !paths.contains(&inside) {
            paths.push(inside);
        }
    }
    let paths = if paths.is_empty() { all.clone() } else { paths };
    Ok(AllowedScope { paths, tools: tools.clone() })
}

/// The path as a pattern that covers no more than the whole's does; nothing where that is not certain.
///
/// A plain path covers all below it. Where the whole's pattern does not reach that far (as `src/*.rs` for
/// `src/a.rs`), that pattern is taken instead. A path with wildcards is compared with plain patterns only.
fn inside(pattern: &str, path: &str) -> Option<String> {
    let is_plain = |text: &str| !text.contains(['*', '?']);
    if pattern == path || pattern == "**" {
        return Some(path.to_owned());
    }
    let directory = path.trim_end_matches('/');
    if !(is_plain(pattern) || is_plain(path)) || !pattern_covers(pattern, directory.as_bytes()) {
        return None;
    }
    let last = pattern.rsplit('/').next().unwrap_or_default();
    Some(if is_plain(last) || last == "**" { path.to_owned() } else { pattern.to_owned() })
}

#[cfg(test)]
mod tests;
