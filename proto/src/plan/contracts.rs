//! Reads a contract (SPEC B1) and lints it while the places of its parts are at hand.

use super::RunBudgets;
use super::bounds::{CONTRACT_BYTES_MAX, LIST_MAX};
use super::budgets;
use super::codes;
use super::fields::{self, Field, Fields, place};
use super::lint;
use super::sink::{At, Sink, shown};
use super::tree::{Kind, Node};
use crate::contract::{AllowedScope, Contract, Criterion};
use crate::ids::CriterionId;

/// The keys of a contract.
pub(super) const KEYS: &[&str] = &[
    "goal",
    "deliverables",
    "acceptance_criteria",
    "non_goals",
    "allowed_scope",
    "budgets",
    "forbidden_actions",
];

/// What a plan states once for all of its contracts.
#[derive(Debug, Clone, Default)]
pub(super) struct ContractDefaults {
    budgets: budgets::PartialBudgets,
    non_goals: Vec<String>,
    forbidden_actions: Vec<String>,
    tools: Vec<String>,
}

impl ContractDefaults {
    /// Stands for `defaults` that were refused as a whole.
    pub(super) fn stand_in() -> Self {
        Self { budgets: budgets::PartialBudgets::stand_in(), ..Self::default() }
    }
}

/// Reads the contract's share of a plan's `defaults`.
pub(super) fn read_defaults(
    fields: &Fields<'_>,
    run: &RunBudgets,
    sink: &mut Sink<'_>,
) -> ContractDefaults {
    let budgets = budgets::stated(fields, run, sink);
    let scope = fields.entry("allowed_scope");
    let scope =
        scope.and_then(|e| Fields::open(&e.value, "`defaults.allowed_scope`", &["tools"], sink));
    ContractDefaults {
        budgets,
        non_goals: texts(fields, "non_goals", sink),
        forbidden_actions: read_actions(fields, sink),
        tools: scope.map(|scope| texts(&scope, "tools", sink)).unwrap_or_default(),
    }
}

/// Reads one contract of a run with these budgets. `plan` is the path of the plan in the repository, where it is known.
///
/// What comes back may hold stand-ins for values that were refused: it counts only if the sink has no error.
pub(super) fn read(
    fields: &Fields<'_>,
    defaults: &ContractDefaults,
    run: &RunBudgets,
    plan: Option<&str>,
    sink: &mut Sink<'_>,
) -> Contract {
    let goal = fields.require(
        "goal",
        "say in one sentence what is to be true afterwards",
        sink,
        |e, s| {
            fields::prose(&e.value, place(e), "`goal`", s)
                .inspect(|goal| lint::words(goal, e.value.at, "`goal`", s))
        },
    );
    let mut non_goals = defaults.non_goals.clone();
    non_goals.extend(texts(fields, "non_goals", sink));
    let mut forbidden_actions = defaults.forbidden_actions.clone();
    for action in read_actions(fields, sink) {
        if !forbidden_actions.contains(&action) {
            forbidden_actions.push(action);
        }
    }
    let network_forbidden = forbidden_actions.iter().any(|action| action == "network_egress");
    let acceptance_criteria = read_criteria(fields, network_forbidden, sink);
    let allowed_scope = read_scope(fields, defaults, plan, sink);
    let deliverables = read_deliverables(fields, allowed_scope.as_ref(), sink);
    let budgets = budgets::complete(fields, &defaults.budgets, run, sink);
    let contract = Contract {
        goal: goal.unwrap_or_default(),
        deliverables,
        acceptance_criteria,
        non_goals,
        allowed_scope: allowed_scope
            .unwrap_or_else(|| AllowedScope { paths: Vec::new(), tools: Vec::new() }),
        budgets,
        forbidden_actions,
    };
    let bytes = bytes_of(&contract);
    if bytes > CONTRACT_BYTES_MAX {
        let message =
            format!("the contract has {bytes} bytes of text, the limit is {CONTRACT_BYTES_MAX}");
        sink.add(
            codes::CONTRACT_TOO_LARGE,
            fields.at,
            message,
            "move long texts into files of the repository",
        );
    }
    contract
}

/// Bytes of text that the contract holds.
pub(super) fn bytes_of(contract: &Contract) -> usize {
    let lists = [
        &contract.deliverables,
        &contract.non_goals,
        &contract.allowed_scope.paths,
        &contract.allowed_scope.tools,
        &contract.forbidden_actions,
    ];
    let texts: usize = lists.into_iter().flatten().map(String::len).sum();
    let criteria = contract.acceptance_criteria.iter();
    let criteria: usize =
        criteria.map(|c| c.id.as_str().len() + c.statement.len() + c.checker.len()).sum();
    contract.goal.len() + texts + criteria
}

/// An optional list of texts.
fn texts(fields: &Fields<'_>, key: &str, sink: &mut Sink<'_>) -> Vec<String> {
    let texts = fields.get(key, sink, fields::proses).valid().unwrap_or_default();
    texts.into_iter().map(|(text, _)| text).collect()
}

fn read_actions(fields: &Fields<'_>, sink: &mut Sink<'_>) -> Vec<String> {
    let actions = fields.get("forbidden_actions", sink, fields::proses).valid().unwrap_or_default();
    actions
        .into_iter()
        .map(|(action, at)| {
            lint::action(&action, at, sink);
            action
        })
        .collect()
}

fn read_deliverables(
    fields: &Fields<'_>,
    scope: Option<&AllowedScope>,
    sink: &mut Sink<'_>,
) -> Vec<String> {
    let hint = "name what is to be there afterwards, as `src/a.rs with …` or `a report`";
    let Some(entry) = fields.entry("deliverables") else {
        sink.add(codes::NO_DELIVERABLE, fields.at, "`deliverables` is missing", hint);
        return Vec::new();
    };
    if matches!(&entry.value.kind, Kind::List(nodes) if nodes.is_empty()) {
        sink.add(codes::NO_DELIVERABLE, entry.value.at, "`deliverables` is empty", hint);
    }
    let deliverables = fields::proses(entry, sink).unwrap_or_default();
    for (text, at) in &deliverables {
        if let Some(scope) = scope {
            lint::paths::deliverable(text, *at, scope, sink);
        }
    }
    deliverables.into_iter().map(|(text, _)| text).collect()
}

/// The scope, unless it is missing or one of its paths was refused: then nothing can be said about deliverables.
fn read_scope(
    fields: &Fields<'_>,
    defaults: &ContractDefaults,
    plan: Option<&str>,
    sink: &mut Sink<'_>,
) -> Option<AllowedScope> {
    let hint = "list what may be touched, as `allowed_scope: {paths: [src/, tests/]}`";
    let scope = fields.require("allowed_scope", hint, sink, |e, s| {
        Fields::open(&e.value, "`allowed_scope`", &["paths", "tools"], s)
    })?;
    let tools = match scope.get("tools", sink, fields::proses) {
        Field::Absent => defaults.tools.clone(),
        Field::Invalid => Vec::new(),
        Field::Valid(tools) => tools.into_iter().map(|(tool, _)| tool).collect(),
    };
    let paths = scope.require("paths", hint, sink, |e, s| {
        let Kind::List(nodes) = &e.value.kind else { return fields::proses(e, s) };
        let paths = fields::proses(e, s)?;
        (paths.len() == nodes.len()).then_some(paths)
    })?;
    let mut all_valid = true;
    for (path, at) in &paths {
        all_valid &= lint::paths::judge(path, *at, plan, sink);
    }
    let paths = paths.into_iter().map(|(path, _)| path).collect();
    all_valid.then_some(AllowedScope { paths, tools })
}

fn read_criteria(
    fields: &Fields<'_>,
    network_forbidden: bool,
    sink: &mut Sink<'_>,
) -> Vec<Criterion> {
    let hint =
        "write at least one `{id, statement, checker}`: without a check nothing can be verified";
    let Some(entry) = fields.entry("acceptance_criteria") else {
        sink.add(codes::NO_CRITERION, fields.at, "`acceptance_criteria` is missing", hint);
        return Vec::new();
    };
    let Some(nodes) =
        fields::list(&entry.value, place(entry), "`acceptance_criteria`", LIST_MAX, sink)
    else {
        return Vec::new();
    };
    if nodes.is_empty() {
        sink.add(codes::NO_CRITERION, entry.value.at, "`acceptance_criteria` is empty", hint);
    }
    let mut criteria: Vec<Criterion> = Vec::with_capacity(nodes.len());
    let mut ids: Vec<(CriterionId, At)> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let (id, criterion) = read_criterion(node, network_forbidden, sink);
        if let Some((id, at)) = id {
            if let Some((_, first)) = ids.iter().find(|(other, _)| *other == id) {
                let message = format!(
                    "the criterion id {} stands on line {} already",
                    shown(id.as_str()),
                    first.line
                );
                sink.add(codes::CRITERION_TWICE, at, message, "give it an id of its own");
            }
            ids.push((id, at));
        }
        criteria.extend(criterion);
    }
    criteria
}

fn read_criterion(
    node: &Node,
    network_forbidden: bool,
    sink: &mut Sink<'_>,
) -> (Option<(CriterionId, At)>, Option<Criterion>) {
    let known = ["id", "statement", "checker"];
    let Some(fields) = Fields::open(node, "the criterion", &known, sink) else {
        return (None, None);
    };
    let id = fields.require("id", "give it a short id, as `AC-01`", sink, |e, s| {
        Some((
            fields::name(&e.value, place(e), "the criterion's `id`", s, CriterionId::new)?,
            place(e),
        ))
    });
    let statement =
        fields.require("statement", "say what must be true of the result", sink, |e, s| {
            let statement = fields::prose(&e.value, place(e), "`statement`", s)?;
            lint::words(&statement, e.value.at, "`statement`", s);
            lint::one_thing(&statement, e.value.at, s);
            Some(statement)
        });
    let checker = read_checker(&fields, network_forbidden, sink);
    let criterion = match (&id, statement, checker) {
        (Some((id, _)), Some(statement), Some(checker)) => {
            Some(Criterion { id: id.clone(), statement, checker })
        }
        _ => None,
    };
    (id, criterion)
}

fn read_checker(
    fields: &Fields<'_>,
    network_forbidden: bool,
    sink: &mut Sink<'_>,
) -> Option<String> {
    let hint = "write the command that ends with 0 only if the statement holds";
    let Some(entry) = fields.entry("checker") else {
        sink.add(codes::NO_CHECKER, fields.at, "the criterion has no `checker`", hint);
        return None;
    };
    let at = place(entry);
    if is_blank(&entry.value) {
        sink.add(codes::NO_CHECKER, at, "the criterion's `checker` is empty", hint);
        return None;
    }
    let checker = fields::command(&entry.value, at, "`checker`", sink)?;
    lint::checker::judge(&checker, at, network_forbidden, sink);
    Some(checker)
}

fn is_blank(node: &Node) -> bool {
    node.is_nothing() || matches!(&node.kind, Kind::Scalar { text, .. } if text.trim().is_empty())
}
