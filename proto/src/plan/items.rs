//! Reads the items of a plan as they come, and what the plan states once for all of them.

use std::sync::Arc;

use super::bounds::{
    ATTEMPTS_MAX_DEFAULT, ATTEMPTS_MAX_MAX, CONTRACTS_BYTES_MAX, ITEMS_MAX, NEEDS_MAX, PRIORITY,
    ROLE_DEFAULT, VERIFIER_DEFAULT,
};
use super::budgets;
use super::codes;
use super::contracts::{self, ContractDefaults};
use super::fields::{self, Field, Fields, place};
use super::graph::{Vertex, link};
use super::lint::paths::plan_in_repository;
use super::sink::{At, START, Sink, Subject, shown};
use super::tree::{Entry, Node};
use super::{Complexity, Effort, PlanItem, RunBudgets};
use crate::contract::Contract;
use crate::ids::{ItemId, RoleName};

const ITEM_KEYS: &[&str] = &[
    "id",
    "needs",
    "role",
    "verifier",
    "complexity",
    "effort",
    "priority",
    "attempts_max",
    "contract",
];

const DEFAULTS_KEYS: &[&str] = &[
    "role",
    "verifier",
    "complexity",
    "effort",
    "priority",
    "attempts_max",
    "budgets",
    "non_goals",
    "forbidden_actions",
    "allowed_scope",
];

/// The keys of the root that items depend on.
pub(super) const HEAD_KEYS: &[&str] = &["repository", "budgets", "defaults"];

/// What items and `defaults` both may say.
#[derive(Debug, Clone)]
struct Settings {
    role: RoleName,
    verifier: RoleName,
    complexity: Complexity,
    effort: Option<Effort>,
    priority: i32,
    attempts_max: u32,
}

/// What the root says about all items.
#[derive(Debug)]
struct Head {
    settings: Settings,
    contract: ContractDefaults,
    run: RunBudgets,
    plan_path: Option<String>,
}

/// Everything of an item but its place in the graph.
#[derive(Debug)]
struct Body {
    settings: Settings,
    contract: Contract,
}

/// Takes items one by one.
pub(super) struct Items<'f> {
    file: &'f str,
    /// The root's entries, where they are known before the first item.
    root: Option<Vec<Entry>>,
    head: Option<Head>,
    taken: usize,
    needs: usize,
    contract_bytes: usize,
    /// Too much came: the sink knows, and nothing more is read.
    stopped: bool,
    vertices: Vec<Vertex>,
    bodies: Vec<Option<Body>>,
}

impl<'f> Items<'f> {
    pub(super) fn new(file: &'f str, root: Option<Vec<Entry>>) -> Self {
        Self {
            file,
            root,
            head: None,
            taken: 0,
            needs: 0,
            contract_bytes: 0,
            stopped: false,
            vertices: Vec::new(),
            bodies: Vec::new(),
        }
    }

    /// Reads one element of `items`; `root` is what stands before it.
    pub(super) fn take(&mut self, root: &[Entry], node: &Node, sink: &mut Sink<'_>) {
        self.taken += 1;
        if self.stopped {
            return;
        }
        if self.taken > ITEMS_MAX {
            let message = format!("the plan has more than {ITEMS_MAX} items");
            sink.add(codes::PLAN_TOO_LARGE, node.at, message, "submit it as several plans");
            self.stopped = true;
            return;
        }
        let known = self.root.as_deref().unwrap_or(root);
        let head = self.head.get_or_insert_with(|| read_head(self.file, known, sink));
        sink.about(Subject::ItemNumber(self.taken));
        if let Some((vertex, body)) = read_item(node, head, sink) {
            self.needs += vertex.needs.len();
            self.contract_bytes +=
                body.as_ref().map_or(0, |body| contracts::bytes_of(&body.contract));
            self.vertices.push(vertex);
            self.bodies.push(body);
        }
        sink.about(Subject::Plan);
        let (what, limit) = match () {
            () if self.needs > NEEDS_MAX => ("needs", NEEDS_MAX),
            () if self.contract_bytes > CONTRACTS_BYTES_MAX => {
                ("bytes of contracts", CONTRACTS_BYTES_MAX)
            }
            () => return,
        };
        let message =
            format!("the plan has more than {limit} {what}, aliases and defaults counted");
        sink.add(codes::PLAN_TOO_LARGE, node.at, message, "submit it as several plans");
        self.stopped = true;
    }

    /// The budgets of the whole run; `root` is all of the plan.
    pub(super) fn run_budgets(&mut self, root: &[Entry], sink: &mut Sink<'_>) -> RunBudgets {
        self.head.get_or_insert_with(|| read_head(self.file, root, sink)).run
    }

    /// Checks the graph and gives the items; they count only if the sink has no error.
    pub(super) fn finish(self, sink: &mut Sink<'_>) -> Vec<PlanItem> {
        let edges = if self.stopped { Vec::new() } else { link(&self.vertices, sink) };
        if sink.has_errors() {
            return Vec::new();
        }
        let ids: Vec<ItemId> = self.vertices.iter().map(|vertex| vertex.id.clone()).collect();
        let parts = self.vertices.into_iter().zip(self.bodies).zip(edges);
        let item = |((vertex, body), needs): ((Vertex, Option<Body>), Vec<u32>)| {
            let needs = needs.into_iter().map(|need| ids[need as usize].clone()).collect();
            Some(plan_item(vertex.id, needs, body?))
        };
        parts.filter_map(item).collect()
    }
}

/// A single contract as an item.
pub(super) fn single(id: ItemId, file: &str, fields: &Fields<'_>, sink: &mut Sink<'_>) -> PlanItem {
    let plan_path = plan_in_repository(file, None);
    let (defaults, run) = (ContractDefaults::default(), RunBudgets::default());
    let contract = contracts::read(fields, &defaults, &run, plan_path.as_deref(), sink);
    plan_item(id, Vec::new(), Body { settings: built_in_settings(), contract })
}

fn plan_item(id: ItemId, needs: Vec<ItemId>, body: Body) -> PlanItem {
    let Body { settings, contract } = body;
    PlanItem {
        id,
        needs,
        role: settings.role,
        verifier: settings.verifier,
        complexity: settings.complexity,
        priority: settings.priority,
        effort: settings.effort,
        attempts_max: settings.attempts_max,
        contract: Arc::new(contract),
    }
}

fn built_in_settings() -> Settings {
    let role = |name| RoleName::new(name).expect("the built-in names are valid");
    Settings {
        role: role(ROLE_DEFAULT),
        verifier: role(VERIFIER_DEFAULT),
        complexity: Complexity::default(),
        effort: None,
        priority: 0,
        attempts_max: ATTEMPTS_MAX_DEFAULT,
    }
}

fn read_head(file: &str, entries: &[Entry], sink: &mut Sink<'_>) -> Head {
    let root = Fields { at: START, entries };
    let repository = root.entry("repository").and_then(|entry| entry.value.text());
    let mut head = Head {
        settings: built_in_settings(),
        contract: ContractDefaults::default(),
        run: budgets::of_run(&root, sink),
        plan_path: plan_in_repository(file, repository),
    };
    sink.about(Subject::Defaults);
    if let Some(entry) = root.entry("defaults") {
        match Fields::open(&entry.value, "the mapping", DEFAULTS_KEYS, sink) {
            None => head.contract = ContractDefaults::stand_in(),
            Some(fields) => {
                head.settings = read_settings(&fields, &head.settings, sink);
                head.contract = contracts::read_defaults(&fields, &head.run, sink);
            }
        }
    }
    sink.about(Subject::Plan);
    head
}

fn read_item(node: &Node, head: &Head, sink: &mut Sink<'_>) -> Option<(Vertex, Option<Body>)> {
    if let Some(id) = node.get("id").and_then(Node::text).and_then(|id| ItemId::new(id).ok()) {
        sink.about(Subject::Item(id));
    }
    let fields = Fields::open(node, "the item", ITEM_KEYS, sink)?;
    let id = fields.require("id", "give each item an id of its own", sink, |e, s| {
        Some((fields::name(&e.value, place(e), "`id`", s, ItemId::new)?, place(e)))
    });
    let needs = fields.get("needs", sink, read_needs).valid().unwrap_or_default();
    let settings = read_settings(&fields, &head.settings, sink);
    let hint = "write what the item must achieve: docs/PLAN.md shows a whole contract";
    let contract = fields.require("contract", hint, sink, |e, s| {
        let fields = Fields::open(&e.value, "the contract", contracts::KEYS, s)?;
        Some(contracts::read(&fields, &head.contract, &head.run, head.plan_path.as_deref(), s))
    });
    let (id, at) = id?;
    Some((Vertex { id, at, needs }, contract.map(|contract| Body { settings, contract })))
}

fn read_needs(entry: &Entry, sink: &mut Sink<'_>) -> Option<Vec<(ItemId, At)>> {
    let nodes = fields::list(&entry.value, place(entry), "`needs`", ITEMS_MAX, sink)?;
    let id = |node: &std::rc::Rc<Node>| {
        Some((fields::name(node, node.at, "an entry of `needs`", sink, ItemId::new)?, node.at))
    };
    Some(nodes.iter().filter_map(id).collect())
}

fn read_settings(fields: &Fields<'_>, default: &Settings, sink: &mut Sink<'_>) -> Settings {
    let role = |entry: &Entry, sink: &mut Sink<'_>| {
        fields::name(
            &entry.value,
            place(entry),
            format_args!("`{}`", entry.key),
            sink,
            RoleName::new,
        )
    };
    let or = |field: Field<RoleName>, default: &RoleName| {
        field.valid().unwrap_or_else(|| default.clone())
    };
    Settings {
        role: or(fields.get("role", sink, role), &default.role),
        verifier: or(fields.get("verifier", sink, role), &default.verifier),
        complexity: fields
            .get("complexity", sink, |e, s| choice(e, &Complexity::ALL, Complexity::as_str, s))
            .valid()
            .unwrap_or(default.complexity),
        effort: fields
            .get("effort", sink, |e, s| choice(e, &Effort::ALL, Effort::as_str, s))
            .valid()
            .or(default.effort),
        priority: number(fields, "priority", *PRIORITY.start(), *PRIORITY.end(), sink)
            .unwrap_or(default.priority),
        attempts_max: number(fields, "attempts_max", 1, ATTEMPTS_MAX_MAX, sink)
            .unwrap_or(default.attempts_max),
    }
}

/// One of a few words.
pub(super) fn choice<T: Copy>(
    entry: &Entry,
    all: &[T],
    word: impl Fn(T) -> &'static str,
    sink: &mut Sink<'_>,
) -> Option<T> {
    let text = fields::prose(&entry.value, place(entry), format_args!("`{}`", entry.key), sink)?;
    let found = all.iter().copied().find(|value| word(*value) == text);
    if found.is_none() {
        let words: Vec<&str> = all.iter().map(|value| word(*value)).collect();
        let message = format!("`{}` is {}", entry.key, shown(&text));
        sink.add(
            codes::NOT_A_CHOICE,
            place(entry),
            message,
            format!("write one of {}", words.join(", ")),
        );
    }
    found
}

/// An optional whole number in a range.
fn number<T>(fields: &Fields<'_>, key: &str, min: T, max: T, sink: &mut Sink<'_>) -> Option<T>
where
    T: TryFrom<i128> + PartialOrd + std::fmt::Display,
{
    let read = |entry: &Entry, sink: &mut Sink<'_>| {
        let number = fields::whole_number(entry, format_args!("`{key}`"), sink)?;
        let valid = T::try_from(number).ok().filter(|number| (&min..=&max).contains(&number));
        if valid.is_none() {
            let hint = format!("write a number from {min} to {max}");
            sink.add(
                codes::OUT_OF_RANGE,
                place(entry),
                format!("`{key}` is out of its range"),
                hint,
            );
        }
        valid
    };
    fields.get(key, sink, read).valid()
}

#[cfg(test)]
mod tests {
    use super::super::tree;
    use super::*;

    /// The codes after two items, with these counts before them.
    fn codes(taken: usize, needs: usize, contract_bytes: usize) -> Vec<(u32, &'static str)> {
        let text = "items:\n- {id: a, needs: [b]}\n- {id: b, needs: [c]}\n- {id: c}\n";
        let mut sink = Sink::new("f");
        let mut items = Items { taken, needs, contract_bytes, ..Items::new("f", None) };
        let root =
            tree::read(text, &mut sink, &mut |root, node, sink| items.take(root, node, sink));
        assert!(root.is_some());
        assert_eq!(items.finish(&mut sink).len(), 0);
        sink.finish(START).into_iter().map(|d| (d.line, d.code)).collect()
    }

    #[test]
    fn reading_stops_at_the_first_item_beyond_a_bound() {
        let missing = |line| (line, codes::MISSING_KEY.id);
        let stop = |line| (line, codes::PLAN_TOO_LARGE.id);
        assert_eq!(codes(0, 0, 0), [missing(2), missing(3), missing(4)]);
        assert_eq!(codes(ITEMS_MAX - 3, NEEDS_MAX - 2, CONTRACTS_BYTES_MAX), codes(0, 0, 0));
        assert_eq!(codes(ITEMS_MAX - 1, 0, 0), [missing(2), stop(3)]);
        assert_eq!(codes(0, NEEDS_MAX - 1, 0), [missing(2), missing(3), stop(3)]);
        assert_eq!(codes(0, 0, CONTRACTS_BYTES_MAX + 1), [missing(2), stop(2)]);
    }
}
