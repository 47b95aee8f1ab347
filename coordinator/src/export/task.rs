//! `task.yaml`: what was asked, as a plan that can be submitted again; and `plan.json`: the graph as it stands.

use std::fmt::Write as _;

use cantus_core::item::Item;
use cantus_core::run::Run;
use cantus_proto::plan::Effort;
use serde_json::{Value, json};

/// The plan in its own language. JSON's strings and lists are YAML's, so nothing can break out of its place.
pub(super) fn yaml(run: &Run) -> String {
    let mut text = "version: 1\n".to_owned();
    if let Some(repository) = &run.repository {
        line(&mut text, "", "repository", &json!(repository.location));
        line(&mut text, "", "target", &json!(repository.target));
        let style = repository.style.as_str();
        line(&mut text, "", "landing", &json!(style));
    }
    let budgets = run_budgets(run);
    if budgets.as_object().is_some_and(|budgets| !budgets.is_empty()) {
        line(&mut text, "", "budgets", &budgets);
    }
    text.push_str(if run.items.is_empty() { "items: []\n" } else { "items:\n" });
    for item in &run.items {
        one(&mut text, run, item);
    }
    text
}

fn line(text: &mut String, indent: &str, key: &str, value: &Value) {
    writeln!(text, "{indent}{key}: {value}").expect("writing to a string does not fail");
}

fn run_budgets(run: &Run) -> Value {
    let mut stated = serde_json::Map::new();
    let budgets = &run.budgets;
    let mut state = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            stated.insert(key.to_owned(), value);
        }
    };
    state("wall_clock_minutes", budgets.wall_clock_minutes.map(Value::from));
    state("token_budget", budgets.token_budget.map(Value::from));
    state("cost_usd", budgets.cost_budget.map(|cost| json!(cost.dollars())));
    state("max_agents", budgets.max_agents.map(Value::from));
    Value::Object(stated)
}

fn one(text: &mut String, run: &Run, item: &Item) {
    writeln!(text, "  - id: {}", json!(item.id.as_str()))
        .expect("writing to a string does not fail");
    let indent = "    ";
    let needs: Vec<&str> = item.needs.iter().map(|need| run.item(*need).id.as_str()).collect();
    line(text, indent, "needs", &json!(needs));
    line(text, indent, "role", &json!(item.role.as_str()));
    line(text, indent, "verifier", &json!(item.verifier.as_str()));
    line(text, indent, "complexity", &json!(item.complexity.as_str()));
    if let Some(effort) = item.effort {
        line(text, indent, "effort", &json!(effort.as_str()));
    }
    line(text, indent, "priority", &json!(item.priority));
    line(text, indent, "attempts_max", &json!(item.tries_max));
    text.push_str("    contract:\n");
    let contract = contract(item);
    let order = [
        "goal",
        "deliverables",
        "acceptance_criteria",
        "non_goals",
        "allowed_scope",
        "budgets",
        "forbidden_actions",
    ];
    for key in order {
        line(text, "      ", key, &contract[key]);
    }
}

/// The contract as its language has it.
fn contract(item: &Item) -> Value {
    let contract = &item.contract;
    let criteria: Vec<Value> = contract
        .acceptance_criteria
        .iter()
        .map(|c| json!({ "id": c.id.as_str(), "statement": c.statement, "checker": c.checker }))
        .collect();
    let budgets = &contract.budgets;
    let mut stated = json!({
        "wall_clock_minutes": budgets.wall_clock_minutes,
        "max_agents": budgets.max_agents,
        "verification_ratio": budgets.verification_ratio,
        "first_artifact_ratio": budgets.first_artifact_ratio,
    });
    if let Some(tokens) = budgets.token_budget {
        stated["token_budget"] = json!(tokens);
    }
    if let Some(cost) = budgets.cost_budget {
        stated["cost_usd"] = json!(cost.dollars());
    }
    json!({
        "goal": contract.goal,
        "deliverables": contract.deliverables,
        "acceptance_criteria": criteria,
        "non_goals": contract.non_goals,
        "allowed_scope": {
            "paths": contract.allowed_scope.paths,
            "tools": contract.allowed_scope.tools,
        },
        "budgets": stated,
        "forbidden_actions": contract.forbidden_actions,
    })
}

/// The graph with where each item is.
pub(super) fn plan(run: &Run) -> Value {
    let item = |item: &Item| {
        let needs: Vec<&str> = item.needs.iter().map(|need| run.item(*need).id.as_str()).collect();
        json!({
            "id": item.id.as_str(),
            "needs": needs,
            "part_of": item.whole.map(|whole| run.item(whole).id.as_str()),
            "role": item.role.as_str(),
            "verifier": item.verifier.as_str(),
            "complexity": item.complexity.as_str(),
            "effort": item.effort.map(Effort::as_str),
            "priority": item.priority,
            "critical_path": item.critical_path,
            "attempts_max": item.tries_max,
            "attempts": item.attempts.len(),
            "state": item.state.name(),
            "since_ms": item.since.0,
            "reason": crate::view::summary(run, item).reason,
            "contract": contract(item),
        })
    };
    json!({
        "run": run.id.as_str(),
        "repository": run.repository.as_ref().map(|repository| &repository.location),
        "target": run.repository.as_ref().map(|repository| &repository.target),
        "budgets": run_budgets(run),
        "items": run.items.iter().map(item).collect::<Vec<_>>(),
    })
}
