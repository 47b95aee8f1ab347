//! The JSON of `--json`: field names as in `cantus.v1`, times in milliseconds since 1970, keys in order.
//!
//! Fields are added over time and never change their meaning. An empty text stands for "none", as in the API.

use cantus_proto::units::MicroUsd;
use cantus_proto::wire::v1::{
    AttemptView, Blob, Budgets, Contract, Diagnostic, ItemSummary, ItemView, QueueView, Receipt,
    RunView, SubmitResponse,
};
use serde_json::{Value, json};

mod views;

pub(super) use views::finding;
use views::{budget, remarks, warning};

use crate::audit::{AuditOutcome, AuditReport, CommitAudit};

/// The document's text, with a line end. Control characters that JSON allows in strings are escaped too, because
/// it may be a terminal that reads it.
pub(super) fn text(document: &Value, one_line: bool) -> String {
    use std::fmt::Write as _;
    let plain = if one_line { document.to_string() } else { format!("{document:#}") };
    let mut text = String::with_capacity(plain.len() + 1);
    for c in plain.chars() {
        let reorders = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if c != '\n' && c.is_control() || reorders {
            write!(text, "\\u{:04x}", u32::from(c)).expect("writing to a string does not fail");
        } else {
            text.push(c);
        }
    }
    text.push('\n');
    text
}

pub(super) fn diagnostics(file: &str, diagnostics: &[Diagnostic]) -> Value {
    json!({
        "file": file,
        "refused": diagnostics.iter().any(|diagnostic| diagnostic.error),
        "diagnostics": diagnostics.iter().map(diagnostic).collect::<Vec<_>>(),
    })
}

fn diagnostic(diagnostic: &Diagnostic) -> Value {
    let Diagnostic { file, line, column, code, error, message, hint } = diagnostic;
    let severity = if *error { "error" } else { "warning" };
    json!({
        "file": file, "line": line, "column": column, "code": code, "severity": severity,
        "message": message, "hint": hint,
    })
}

pub(super) fn submitted(file: &str, response: &SubmitResponse) -> Value {
    let mut document = diagnostics(file, &response.diagnostics);
    document["run"] = json!(response.run);
    document["target"] = json!(response.target);
    document["notice"] = json!(response.notice);
    document
}

pub(super) fn run(view: &RunView) -> Value {
    json!({
        "run": view.run,
        "state": view.state,
        "repository": view.repository,
        "target": view.target,
        "started_ms": view.started_ms,
        "ended_ms": view.ended_ms,
        "notice": view.notice,
        "budget": budget(view.budget.as_ref()),
        "warnings": view.warnings.iter().map(warning).collect::<Vec<_>>(),
        "server_ms": view.server_ms,
        "items": view.items.iter().map(summary).collect::<Vec<_>>(),
    })
}

fn summary(item: &ItemSummary) -> Value {
    json!({
        "id": item.id,
        "needs": item.needs,
        "state": item.state,
        "attempt": item.attempt,
        "attempts_max": item.attempts_max,
        "state_since_ms": item.state_since_ms,
        "started_ms": item.started_ms,
        "ended_ms": item.ended_ms,
        "role": item.role,
        "worker": item.worker,
        "reason": item.reason,
        "commit": item.commit,
        "evidence": item.evidence,
        "unschedulable": item.unschedulable,
        "whole": item.whole,
    })
}

pub(super) fn queue(queue: &QueueView) -> Value {
    json!({
        "role": queue.role,
        "depth": queue.depth,
        "oldest_ms": queue.oldest_ms,
        "in_flight": queue.in_flight,
        "ready": queue.ready,
        "retries": queue.retries,
        "parked": queue.parked,
        "unschedulable": queue.unschedulable,
    })
}

pub(super) fn item(view: &ItemView) -> Value {
    let mut document = summary(&view.summary.clone().unwrap_or_default());
    document["run"] = json!(view.run);
    document["tree"] = json!(view.tree);
    document["contract"] = view.contract.as_ref().map_or(Value::Null, contract);
    document["attempts"] = view.attempts.iter().map(attempt).collect();
    let claim = |c: &cantus_proto::wire::v1::ClaimView| json!({ "id": c.id, "text": c.text, "status": c.status, "evidence": c.evidence, "attempt": c.attempt, "why": c.why });
    document["claims"] = view.claims.iter().map(claim).collect();
    document["findings"] = json!(view.findings);
    let saved = |s: &cantus_proto::wire::v1::SavedView| {
        json!({
            "attempt": s.attempt, "reason": s.reason, "bundle": blob(s.bundle.as_ref()),
            "base": s.base, "head": s.head,
        })
    };
    document["saved"] = view.saved.iter().map(saved).collect();
    remarks(&mut document, view);
    document
}

fn contract(contract: &Contract) -> Value {
    let criterion = |c: &cantus_proto::wire::v1::Criterion| json!({ "id": c.id, "statement": c.statement, "checker": c.checker });
    json!({
        "goal": contract.goal,
        "deliverables": contract.deliverables,
        "acceptance_criteria": contract.acceptance_criteria.iter().map(criterion).collect::<Vec<_>>(),
        "non_goals": contract.non_goals,
        "allowed_scope": { "paths": contract.scope_paths, "tools": contract.scope_tools },
        "budgets": contract.budgets.as_ref().map(budgets),
        "forbidden_actions": contract.forbidden_actions,
    })
}

/// As a plan states them: what is not limited has no key.
fn budgets(budgets: &Budgets) -> Value {
    let mut document = json!({
        "wall_clock_minutes": budgets.wall_clock_minutes,
        "max_agents": budgets.max_agents,
        "verification_ratio": budgets.verification_ratio,
        "first_artifact_ratio": budgets.first_artifact_ratio,
    });
    if budgets.token_budget != 0 {
        document["token_budget"] = json!(budgets.token_budget);
    }
    if budgets.cost_budget_microusd != 0 {
        document["cost_usd"] = json!(MicroUsd(budgets.cost_budget_microusd).dollars());
    }
    document
}

fn attempt(attempt: &AttemptView) -> Value {
    json!({
        "number": attempt.number,
        "kind": attempt.kind,
        "state": attempt.state,
        "container": attempt.container,
        "host": attempt.host,
        "isolation": attempt.isolation,
        "queued_ms": attempt.queued_ms,
        "leased_ms": attempt.leased_ms,
        "ended_ms": attempt.ended_ms,
        "reason": attempt.reason,
        "base": attempt.base,
        "head": attempt.head,
        "bundle": blob(attempt.bundle.as_ref()),
        "log": blob(attempt.log.as_ref()),
        "receipts": attempt.receipts.iter().map(receipt).collect::<Vec<_>>(),
        "token": attempt.token,
        "dispatch": attempt.dispatch.as_ref().map(views::dispatch),
        "spent": attempt.spent.as_ref().map(views::spent),
        "demands": attempt.demands.iter().map(views::demand).collect::<Vec<_>>(),
        "proposals": attempt.proposals.iter().map(views::proposal).collect::<Vec<_>>(),
        "out_of_scope_findings": attempt.out_of_scope_findings.iter().map(finding).collect::<Vec<_>>(),
        "learned": attempt.learned,
        "learnings_checked": attempt.learnings_checked.iter().map(views::check).collect::<Vec<_>>(),
    })
}

fn receipt(receipt: &Receipt) -> Value {
    let exit_code = (receipt.signal == 0 && !receipt.timed_out).then_some(receipt.exit_code);
    json!({
        "argv": receipt.argv,
        "exit_code": exit_code,
        "signal": receipt.signal,
        "timed_out": receipt.timed_out,
        "duration_ms": receipt.duration_ms,
        "stdout_sha256": receipt.stdout_sha256,
        "stderr_sha256": receipt.stderr_sha256,
        "output_truncated": receipt.output_truncated,
        "environment": receipt.environment,
    })
}

fn blob(blob: Option<&Blob>) -> Value {
    blob.map_or(Value::Null, |blob| json!({ "sha256": blob.sha256, "size_bytes": blob.size_bytes }))
}

pub(super) fn audit(report: &AuditReport) -> Value {
    let outcome = match report.outcome() {
        AuditOutcome::Passed => "passed",
        AuditOutcome::Failed => "failed",
        AuditOutcome::Empty => "empty",
    };
    json!({
        "range": report.range,
        "outcome": outcome,
        "summary": report.summary(),
        "commits": report.commits.iter().map(commit).collect::<Vec<_>>(),
    })
}

fn commit(commit: &CommitAudit) -> Value {
    let name = |name: Option<&str>| name.unwrap_or_default().to_owned();
    let criteria: Vec<&str> = commit.criteria.iter().map(|criterion| criterion.as_str()).collect();
    json!({
        "commit": commit.commit.as_str(),
        "tree": commit.tree.as_str(),
        "title": commit.title,
        "run": name(commit.run.as_ref().map(|run| run.as_str())),
        "item": name(commit.item.as_ref().map(|item| item.as_str())),
        "evidence": commit.evidence.as_ref().map_or_else(String::new, |digest| format!("sha256:{digest}")),
        "criteria": criteria,
        "process_isolation": commit.process_isolation,
        "findings": commit.findings,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_that_reads_it_is_safe_and_the_value_the_same() {
        let document = json!({ "a": "\u{1b}[2J\u{9b}\u{7f}\u{202e}é", "b": [1, 2] });
        for one_line in [true, false] {
            let text = text(&document, one_line);
            assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text}");
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), document);
            assert_eq!(text.lines().count() == 1, one_line);
        }
    }

    #[test]
    fn a_contract_is_read_back_as_it_was() {
        for limits in ["", ", token_budget: 1000000000, cost_usd: 0.07, first_artifact_ratio: 0.27"]
        {
            let plan = format!(
                "goal: \"a: b\"\ndeliverables: [a report]\nacceptance_criteria: [{{id: A, statement: s, checker: \
                 test -f a}}]\nallowed_scope: {{paths: [src/], tools: [edit]}}\nnon_goals: [n]\nbudgets: \
                 {{wall_clock_minutes: 3, verification_ratio: 0.2{limits}}}\nforbidden_actions: [x]\n"
            );
            let compile =
                |text: &str| cantus_proto::plan::compile::compile("a.yaml", text).plan.unwrap();
            let written = compile(&plan);
            let wire = Contract::from(&*written.items[0].contract);
            assert_eq!(compile(&contract(&wire).to_string()), written);
        }
    }

    #[test]
    fn shapes_that_programs_rely_on() {
        let view = super::super::render::samples::running();
        let item = &run(&view)["items"][1];
        assert_eq!(
            item.as_object().unwrap().keys().collect::<Vec<_>>(),
            [
                "attempt",
                "attempts_max",
                "commit",
                "ended_ms",
                "evidence",
                "id",
                "needs",
                "reason",
                "role",
                "started_ms",
                "state",
                "state_since_ms",
                "unschedulable",
                "whole",
                "worker"
            ]
        );
        let receipt = receipt(&Receipt { signal: 9, ..Default::default() });
        assert_eq!((&receipt["exit_code"], &receipt["signal"]), (&Value::Null, &json!(9)));
    }
}
