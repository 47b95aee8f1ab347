//! The JSON of what rules, agents and people said: budgets, routes, demands, wishes, findings.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cantus_proto::wire::v1::{
    BudgetView, DemandView, DispatchView, GateFinding, ItemView, LearningCheck, ProposalView,
    SpentView, WarningView,
};
use serde_json::{Value, json};

/// Null where the coordinator tells none.
pub(super) fn budget(view: Option<&BudgetView>) -> Value {
    let Some(view) = view else { return Value::Null };
    json!({
        "wall_clock_ms_max": view.wall_clock_ms_max,
        "wall_clock_ms": view.wall_clock_ms,
        "wall_clock_ms_reserved": view.wall_clock_ms_reserved,
        "tokens_max": view.tokens_max,
        "tokens": view.tokens,
        "tokens_reserved": view.tokens_reserved,
        "cost_microusd_max": view.cost_microusd_max,
        "cost_microusd": view.cost_microusd,
        "cost_microusd_reserved": view.cost_microusd_reserved,
        "unknown": view.unknown,
        "agents_max": view.agents_max,
        "agents": view.agents,
    })
}

pub(super) fn warning(view: &WarningView) -> Value {
    json!({ "resource": view.resource, "spent": view.spent, "budget": view.budget })
}

/// What is said of the whole item.
pub(super) fn remarks(document: &mut Value, view: &ItemView) {
    document["server_ms"] = json!(view.server_ms);
    document["budget"] = budget(view.budget.as_ref());
    document["out_of_scope_findings"] = view.out_of_scope_findings.iter().map(finding).collect();
    document["kept_out"] = json!(view.kept_out);
    let approvals = view.approvals.iter();
    document["approvals"] =
        approvals.map(|a| json!({ "attempt": a.attempt, "by": a.by })).collect();
    let hypotheses = view.hypotheses.iter();
    document["hypotheses"] =
        hypotheses.map(|h| json!({ "attempt": h.attempt, "text": h.text })).collect();
    document["warnings"] = view.warnings.iter().map(warning).collect();
    document["requeues"] = json!(view.requeues);
    document["parts"] = json!(view.parts);
    document["learnings"] = view.learnings.as_ref().map_or(Value::Null, |learnings| {
        json!({
            "told": learnings.told, "checked": learnings.checked, "applied": learnings.applied,
        })
    });
}

/// Null stands for what is not limited.
pub(super) fn dispatch(view: &DispatchView) -> Value {
    json!({
        "wall_clock_ms": view.wall_clock_ms,
        "tokens": view.tokens,
        "cost_microusd": view.cost_microusd,
        "model": view.model,
        "effort": view.effort,
        "breaker": view.breaker,
        "learnings": view.learnings,
    })
}

/// Null stands for what is not known, which is not zero.
pub(super) fn spent(view: &SpentView) -> Value {
    let phases = view.phases.iter();
    json!({
        "tokens": view.tokens,
        "cost_microusd": view.cost_microusd,
        "estimated": view.estimated,
        "phases": phases.map(|p| json!({ "name": p.name, "duration_ms": p.duration_ms })).collect::<Vec<_>>(),
    })
}

pub(super) fn demand(view: &DemandView) -> Value {
    json!({ "at_ms": view.at_ms, "kind": view.kind, "text": view.text, "paths": view.paths })
}

pub(super) fn proposal(view: &ProposalView) -> Value {
    json!({
        "kind": view.kind,
        "text": view.text,
        "decision": view.decision,
        "reason": view.reason,
        "parts": view.parts,
    })
}

pub(super) fn check(view: &LearningCheck) -> Value {
    json!({ "id": view.id, "applied": view.applied })
}

/// A path that is not UTF-8 is also given as its bytes.
pub(in crate::cli) fn finding(view: &GateFinding) -> Value {
    let path = String::from_utf8_lossy(&view.path);
    let exact = std::str::from_utf8(&view.path).is_ok();
    let bytes = if exact { String::new() } else { STANDARD.encode(&view.path) };
    json!({
        "rule": view.rule, "path": path, "path_base64": bytes, "line": view.line,
        "text": view.text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_is_null_and_paths_are_never_lost() {
        let spent = spent(&SpentView { tokens: Some(0), ..Default::default() });
        assert_eq!((&spent["tokens"], &spent["cost_microusd"]), (&json!(0), &Value::Null));
        assert_eq!(budget(None), Value::Null);
        let raw = GateFinding { path: b"caf\xe9".to_vec(), line: 3, ..Default::default() };
        let raw = finding(&raw);
        assert_eq!(
            (&raw["path"], &raw["path_base64"]),
            (&json!("caf\u{fffd}"), &json!("Y2Fm6Q=="))
        );
        let plain = finding(&GateFinding { path: b"a".to_vec(), ..Default::default() });
        assert_eq!((&plain["path"], &plain["path_base64"]), (&json!("a"), &json!("")));
    }
}
