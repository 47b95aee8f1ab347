//! `evidence/`: claims, receipts of tools, signed test results, citations, and what was verified.

use cantus_core::item::{Item, State};
use cantus_core::run::Run;
use cantus_proto::evidence::dossier::{receipt_name, statement_name};
use cantus_proto::message::{AttemptKind, Exit, Receipt};
use serde_json::{Value, json};

use super::{Tree, name, state};

/// See the module.
pub(super) fn write(tree: &mut Tree, run: &Run) {
    tree.lines("evidence/claims.jsonl", state::claims(run));
    for item in &run.items {
        let id = name(item.id.as_str());
        let mut citations: Vec<Value> = Vec::new();
        for (attempt, number) in item.attempts.iter().zip(1..) {
            let Some(result) = attempt.result.as_deref() else { continue };
            if !result.receipts.is_empty() {
                let receipts: Vec<Value> = result.receipts.iter().map(receipt).collect();
                let path = format!("evidence/tool_receipts/{id}/{number}.json");
                tree.json(path, &json!(receipts));
            }
            let cited =
                result.claims.iter().filter_map(|claim| Some((claim, claim.receipt.as_ref()?)));
            for (claim, digest) in cited {
                let found = result.receipts.iter().position(|r| r.stdout_sha256 == *digest);
                let file = found
                    .map(|place| format!("evidence/tool_receipts/{id}/{number}.json#/{place}"));
                citations.push(json!({
                    "claim": format!("{id}/{number}/{}", name(&claim.id)),
                    "stdout_sha256": digest.as_str(),
                    "receipt": file,
                }));
            }
        }
        if !citations.is_empty() {
            tree.lines(format!("evidence/citations/{id}.jsonl"), citations);
        }
        let envelopes = item.proof.as_deref().map_or(&[][..], |proof| &proof.envelopes);
        for envelope in envelopes {
            let directory = format!("evidence/test_results/{id}");
            let (statement, receipt) =
                (statement_name(&envelope.criterion), receipt_name(&envelope.criterion));
            tree.files.insert(format!("{directory}/{statement}"), envelope.statement.clone());
            tree.files.insert(format!("{directory}/{receipt}"), envelope.receipt.clone());
        }
    }
    tree.json("evidence/verification.json", &verification(run));
}

fn receipt(receipt: &Receipt) -> Value {
    let (exit_code, signal) = match receipt.exit {
        Exit::Code(code) => (Some(code), None),
        Exit::Signal(signal) => (None, Some(signal)),
    };
    json!({
        "argv": receipt.argv,
        "purpose": receipt.purpose,
        "exit_code": exit_code,
        "signal": signal,
        "timed_out": receipt.timed_out,
        "duration_ms": receipt.duration_ms,
        "stdout_sha256": receipt.stdout_sha256.as_str(),
        "stderr_sha256": receipt.stderr_sha256.as_str(),
        "output_truncated": receipt.output_truncated,
        "environment": receipt.environment,
    })
}

/// Each item with its verifications and what they proved.
fn verification(run: &Run) -> Value {
    let one = |item: &Item| {
        let attempts = item.attempts.iter().zip(1..);
        let checks = attempts.filter(|(attempt, _)| attempt.kind == AttemptKind::Verify);
        let checks: Vec<Value> = checks
            .map(|(attempt, number)| {
                json!({
                    "attempt": number,
                    "verifier": attempt.holder.as_deref().map(|holder| holder.leased.container.as_str()),
                    "outcome": attempt.outcome.as_ref().map(ToString::to_string),
                    "ended_ms": attempt.ended.map(|at| at.0),
                })
            })
            .collect();
        let (commit, evidence) = match &item.state {
            State::Landed(landed) => {
                (Some(landed.commit.as_str()), Some(format!("sha256:{}", landed.evidence)))
            }
            _ => (None, None),
        };
        let criteria: Vec<&str> =
            item.contract.acceptance_criteria.iter().map(|c| c.id.as_str()).collect();
        json!({
            "item": item.id.as_str(),
            "state": item.state.name(),
            "criteria": criteria,
            "verified_tree": item.proof.as_deref().map(|proof| proof.tree.as_str()),
            "landed_commit": commit,
            "evidence": evidence,
            "verifications": checks,
        })
    };
    json!({ "run": run.id.as_str(), "items": run.items.iter().map(one).collect::<Vec<_>>() })
}
