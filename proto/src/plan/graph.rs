//! The edges of a plan: needs that exist, no item that needs itself, no cycle. Nothing here recurses.

use std::collections::BTreeMap;

use super::codes;
use super::nearest::nearest;
use super::sink::{At, Sink, Subject, shown};
use crate::ids::ItemId;

/// Most unknown needs for which a suggestion is looked for: each looks at every id.
const SUGGESTIONS_MAX: usize = 20;

/// Most items of a cycle that are named; of a longer one the middle is left out.
const CYCLE_SHOWN_MAX: usize = 8;

/// What an item says of its place in the graph.
#[derive(Debug)]
pub(super) struct Vertex {
    pub(super) id: ItemId,
    pub(super) at: At,
    pub(super) needs: Vec<(ItemId, At)>,
}

/// An edge to the vertex with this index, and where it is written.
type Edge = (u32, At);

/// Checks all edges and gives, per vertex, the indices of what it needs.
pub(super) fn link(vertices: &[Vertex], sink: &mut Sink<'_>) -> Vec<Vec<u32>> {
    let by_id = index(vertices, sink);
    let mut suggestions = 0;
    let mut edges: Vec<Vec<Edge>> = Vec::with_capacity(vertices.len());
    for vertex in vertices {
        let mut own: Vec<Edge> = Vec::with_capacity(vertex.needs.len());
        let mut seen: BTreeMap<&ItemId, At> = BTreeMap::new();
        sink.about(Subject::Item(vertex.id.clone()));
        for (need, at) in &vertex.needs {
            if let Some(first) = seen.insert(need, *at) {
                let message = format!(
                    "it needs {} twice, first on line {}",
                    shown(need.as_str()),
                    first.line
                );
                sink.add(codes::NEED_TWICE, *at, message, "name it once");
            } else if *need == vertex.id {
                sink.add(
                    codes::NEEDS_ITSELF,
                    *at,
                    "it needs itself, so it could never begin",
                    "remove the need",
                );
            } else if let Some(other) = by_id.get(need) {
                own.push((*other, *at));
            } else {
                suggestions += 1;
                let hint = match suggestions <= SUGGESTIONS_MAX {
                    true => suggest(need, vertices),
                    false => "add that item, or remove the need".to_owned(),
                };
                let message =
                    format!("it needs {}, which is no item of the plan", shown(need.as_str()));
                sink.add(codes::NEED_UNKNOWN, *at, message, hint);
            }
        }
        edges.push(own);
    }
    sink.about(Subject::Plan);
    for component in components(&edges) {
        tell_cycle(vertices, &edges, &component, sink);
    }
    edges.into_iter().map(|own| own.into_iter().map(|(other, _)| other).collect()).collect()
}

fn index<'v>(vertices: &'v [Vertex], sink: &mut Sink<'_>) -> BTreeMap<&'v ItemId, u32> {
    let mut by_id: BTreeMap<&ItemId, u32> = BTreeMap::new();
    for (number, vertex) in (0_u32..).zip(vertices) {
        match by_id.get(&vertex.id) {
            Some(first) => {
                let line = vertices[*first as usize].at.line;
                let message = format!(
                    "the item id {} stands on line {line} already",
                    shown(vertex.id.as_str())
                );
                sink.add(codes::ID_TWICE, vertex.at, message, "give each item an id of its own");
            }
            None => {
                by_id.insert(&vertex.id, number);
            }
        }
    }
    by_id
}

fn suggest(need: &ItemId, vertices: &[Vertex]) -> String {
    match nearest(need.as_str(), vertices.iter().map(|vertex| vertex.id.as_str())) {
        Some(meant) => format!("did you mean {}?", shown(meant)),
        None => "add that item, or remove the need".to_owned(),
    }
}

/// The strongly connected components of two vertices or more (Tarjan 1972), each sorted.
fn components(edges: &[Vec<Edge>]) -> Vec<Vec<u32>> {
    const UNSEEN: u32 = u32::MAX;
    let mut order = vec![UNSEEN; edges.len()];
    let mut low = vec![UNSEEN; edges.len()];
    let mut on_stack = vec![false; edges.len()];
    let (mut stack, mut found, mut counter) = (Vec::new(), Vec::new(), 0_u32);
    for root in 0..edges.len() {
        if order[root] != UNSEEN {
            continue;
        }
        // A vertex on its way: its number, and the edge to look at next.
        let mut way: Vec<(usize, usize)> = vec![(root, 0)];
        while let Some((vertex, next)) = way.pop() {
            if next == 0 {
                (order[vertex], low[vertex], on_stack[vertex]) = (counter, counter, true);
                counter += 1;
                stack.push(vertex);
            } else {
                let child = edges[vertex][next - 1].0 as usize;
                if on_stack[child] {
                    low[vertex] = low[vertex].min(low[child]);
                }
            }
            if let Some((child, _)) = edges[vertex].get(next) {
                way.push((vertex, next + 1));
                if order[*child as usize] == UNSEEN {
                    way.push((*child as usize, 0));
                }
                continue;
            }
            if low[vertex] == order[vertex] {
                let start = stack
                    .iter()
                    .rposition(|v| *v == vertex)
                    .expect("a vertex on its way is stacked");
                let mut component: Vec<u32> = Vec::new();
                for member in stack.drain(start..) {
                    on_stack[member] = false;
                    component
                        .push(u32::try_from(member).expect("there are fewer items than u32::MAX"));
                }
                component.sort_unstable();
                found.extend((component.len() > 1).then_some(component));
            }
        }
    }
    found
}

/// Names one cycle of the component: the one that the first needs lead into.
fn tell_cycle(vertices: &[Vertex], edges: &[Vec<Edge>], component: &[u32], sink: &mut Sink<'_>) {
    let mut steps: BTreeMap<u32, usize> = BTreeMap::new();
    let mut path: Vec<u32> = Vec::new();
    let mut at = component[0];
    while !steps.contains_key(&at) {
        steps.insert(at, path.len());
        path.push(at);
        let inside =
            edges[at as usize].iter().find(|(other, _)| component.binary_search(other).is_ok());
        at = inside.expect("a vertex of a component has an edge inside of it").0;
    }
    let mut cycle = path.split_off(steps[&at]);
    let first = cycle.iter().enumerate().min_by_key(|(_, vertex)| **vertex).map_or(0, |(i, _)| i);
    cycle.rotate_left(first);
    let name = |vertex: &u32| shown(vertices[*vertex as usize].id.as_str());
    let mut names: Vec<String> = if cycle.len() <= CYCLE_SHOWN_MAX {
        cycle.iter().map(name).collect()
    } else {
        let (head, tail) = (CYCLE_SHOWN_MAX / 2, CYCLE_SHOWN_MAX / 2);
        let left_out = format!("… {} more …", cycle.len() - head - tail);
        let tail = cycle[cycle.len() - tail..].iter().map(name);
        cycle[..head].iter().map(name).chain([left_out]).chain(tail).collect()
    };
    names.push(name(&cycle[0]));
    let next = cycle[1];
    let edge = edges[cycle[0] as usize].iter().find(|(other, _)| *other == next);
    let message =
        format!("{} items need each other in a circle: {}", cycle.len(), names.join(" → "));
    let hint = "remove one of these needs: none of the items could ever begin";
    sink.add(
        codes::CYCLE,
        edge.map_or(vertices[cycle[0] as usize].at, |(_, at)| *at),
        message,
        hint,
    );
}
