//! The graph of needs as a tree: each item once, below the need that comes last on the way to it.
//!
//! A graph is no tree, so an item with several needs stands below one of them; the row of a waiting item names
//! all that it waits for. Whatever comes from a server ends: needs that are unknown or go in circles do no harm.

use std::collections::BTreeMap;

use cantus_proto::wire::v1::ItemSummary;

/// Deepest level that is indented: a chain of a thousand items must still fit a screen.
const LEVELS_MAX: usize = 10;

/// One row: which item, and the branches before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    /// Place of the item in the run.
    pub(super) item: usize,
    /// As `│  └─ `.
    pub(super) branches: String,
}

/// All items, each below the one that it hangs from, in plan order among siblings.
pub(super) fn rows(items: &[ItemSummary]) -> Vec<Row> {
    let parents = parents(items);
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); items.len()];
    let mut roots = Vec::new();
    for (item, parent) in parents.iter().enumerate() {
        match parent {
            Some(parent) => children[*parent].push(item),
            None => roots.push(item),
        }
    }
    let mut rows = Vec::with_capacity(items.len());
    // The way back up is a list and not the call stack, which a long chain would exhaust.
    let mut open: Vec<(usize, String, String)> =
        roots.into_iter().rev().map(|item| (item, String::new(), String::new())).collect();
    while let Some((item, branches, below)) = open.pop() {
        let last = children[item].len().saturating_sub(1);
        for (at, child) in children[item].iter().enumerate().rev() {
            let (branch, further) =
                if at == last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            let deep = below.chars().count() / 3 >= LEVELS_MAX;
            let next = if deep { below.clone() } else { format!("{below}{further}") };
            open.push((*child, format!("{below}{branch}"), next));
        }
        rows.push(Row { item, branches });
    }
    rows
}

/// The need from which each item hangs: the one with the longest way to it, the first of those.
fn parents(items: &[ItemSummary]) -> Vec<Option<usize>> {
    let places: BTreeMap<&str, usize> =
        items.iter().enumerate().map(|(place, item)| (item.id.as_str(), place)).collect();
    let needs: Vec<Vec<usize>> = items
        .iter()
        .map(|item| {
            item.needs.iter().filter_map(|need| places.get(need.as_str()).copied()).collect()
        })
        .collect();
    let mut dependents: Vec<Vec<usize>> = vec![Vec::new(); items.len()];
    let mut open: Vec<usize> = needs.iter().map(Vec::len).collect();
    for (item, needs) in needs.iter().enumerate() {
        for need in needs {
            dependents[*need].push(item);
        }
    }
    let mut depth = vec![0_usize; items.len()];
    let mut parents = vec![None; items.len()];
    let mut ready: Vec<usize> = (0..items.len()).filter(|item| open[*item] == 0).collect();
    while let Some(item) = ready.pop() {
        // Reverse order, so that of several equals the first wins.
        parents[item] = needs[item].iter().rev().copied().max_by_key(|need| depth[*need]);
        depth[item] = parents[item].map_or(0, |parent| depth[parent] + 1);
        for dependent in &dependents[item] {
            open[*dependent] -= 1;
            if open[*dependent] == 0 {
                ready.push(*dependent);
            }
        }
    }
    parents
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(graph: &[(&str, &[&str])]) -> Vec<ItemSummary> {
        let item = |(id, needs): &(&str, &[&str])| ItemSummary {
            id: (*id).to_owned(),
            needs: needs.iter().map(ToString::to_string).collect(),
            ..Default::default()
        };
        graph.iter().map(item).collect()
    }

    fn drawn(graph: &[(&str, &[&str])]) -> String {
        let items = items(graph);
        rows(&items).iter().map(|row| format!("{}{}\n", row.branches, items[row.item].id)).collect()
    }

    #[test]
    fn a_diamond_a_chain_and_a_loner() {
        let graph: &[(&str, &[&str])] = &[
            ("base", &[]),
            ("left", &["base"]),
            ("right", &["base"]),
            ("join", &["left", "right"]),
            ("end", &["base", "join"]),
            ("alone", &[]),
        ];
        assert_eq!(
            drawn(graph),
            "base\n\
             ├─ left\n\
             │  └─ join\n\
             │     └─ end\n\
             └─ right\n\
             alone\n"
        );
    }

    #[test]
    fn circles_strangers_and_twins_do_no_harm() {
        let graph: &[(&str, &[&str])] =
            &[("a", &["b"]), ("b", &["a"]), ("c", &["c"]), ("d", &["nobody"]), ("d", &["a"])];
        let mut places: Vec<usize> = rows(&items(graph)).iter().map(|row| row.item).collect();
        places.sort_unstable();
        assert_eq!(places, [0, 1, 2, 3, 4]);
        assert!(rows(&[]).is_empty());
    }

    #[test]
    fn a_long_chain_stays_narrow() {
        let names: Vec<String> = (0..20_000).map(|n| format!("i{n}")).collect();
        let mut items = Vec::new();
        for (n, name) in names.iter().enumerate() {
            let needs = if n == 0 { vec![] } else { vec![names[n - 1].clone()] };
            items.push(ItemSummary { id: name.clone(), needs, ..Default::default() });
        }
        let rows = rows(&items);
        assert_eq!(rows.len(), 20_000);
        assert!(rows.iter().all(|row| row.branches.chars().count() <= 3 * (LEVELS_MAX + 1)));
        assert_eq!(rows[19_999].item, 19_999);
    }
}
