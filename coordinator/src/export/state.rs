//! `state.json`: the work state, with exactly the keys of SPEC B15.

use cantus_core::evidence_or_abstain::{Status, status};
use cantus_core::item::{Item, State};
use cantus_core::report::Report;
use cantus_core::run::Run;
use cantus_core::verification_budget::shares;
use cantus_proto::ids::AttemptNumber;
use cantus_proto::message::AttemptKind;
use serde_json::{Value, json};

/// See the module.
pub(super) fn state(run: &Run, report: &Report, artifacts: &[Value]) -> Value {
    let tokens = report.metrics.tokens;
    json!({
        "task_id": run.id.as_str(),
        "state": report.class.map_or_else(|| run.state().name(), |class| class.as_str()),
        "current_owner": owner(run),
        "budget": {
            "elapsed_seconds": report.metrics.latency.wall_ms / 1_000,
            // Unknown is not zero, and a part is not the whole.
            "tokens_used": (tokens.unknown == 0).then_some(tokens.sum),
            "verification_remaining": verification_remaining(run, report),
        },
        "artifacts": artifacts,
        "claims": claims(run),
        "scope_delta": scope_delta(run),
        "next_transition": next(run),
    })
}

/// Who holds leases, as text; null when nobody does.
fn owner(run: &Run) -> Option<String> {
    let owners = run.items.iter().filter_map(|item| {
        let open = item.attempts.last().filter(|attempt| attempt.ended.is_none())?;
        let held = &open.holder.as_deref()?.leased;
        Some(format!("{} on {} ({})", held.container, held.host, item.id))
    });
    let owners: Vec<String> = owners.collect();
    (!owners.is_empty()).then(|| owners.join(", "))
}

/// Seconds left of the verification shares of items that have not ended.
fn verification_remaining(run: &Run, report: &Report) -> u64 {
    let left = |item: &Item| {
        let budgets = &item.contract.budgets;
        let total = u64::from(budgets.wall_clock_minutes) * 60_000;
        let share = shares(total, budgets.verification_ratio).verification;
        let before = item.remarks.as_deref().map_or(0, |remarks| remarks.attempts_before_requeue);
        let counted = item.attempts.get(before..).unwrap_or_default();
        let checks = counted.iter().filter(|attempt| attempt.kind == AttemptKind::Verify);
        share.saturating_sub(checks.map(|attempt| attempt.busy_ms(report.at)).sum())
    };
    run.items.iter().filter(|item| !item.state.is_terminal()).map(left).sum::<u64>() / 1_000
}

/// The ledger (SPEC B7). Ids are `item/attempt/claim`, each part as a file name would have it.
pub(super) fn claims(run: &Run) -> Vec<Value> {
    let mut claims = Vec::new();
    for item in &run.items {
        for (attempt, number) in item.attempts.iter().zip(1..) {
            let Some(result) = attempt.result.as_deref() else { continue };
            for claim in &result.claims {
                let (status, why) = status(claim, item, AttemptNumber(number));
                let evidence = match (&item.state, status) {
                    (State::Landed(landed), Status::Verified) => {
                        json!(format!("sha256:{}", landed.evidence))
                    }
                    (_, Status::Verified) => json!(why),
                    _ => Value::Null,
                };
                let (item, id) = (super::name(item.id.as_str()), super::name(&claim.id));
                claims.push(json!({
                    "id": format!("{item}/{number}/{id}"),
                    "text": claim.text,
                    "status": status.as_str(),
                    "evidence": evidence,
                }));
            }
        }
    }
    claims
}

fn scope_delta(run: &Run) -> Vec<Value> {
    let mut delta = Vec::new();
    for item in &run.items {
        for (attempt, number) in item.attempts.iter().zip(1..) {
            delta.extend(attempt.out_of_scope().iter().map(|finding| {
                json!({
                    "item": item.id.as_str(),
                    "attempt": number,
                    "rule": finding.rule.as_str(),
                    "path": String::from_utf8_lossy(&finding.path),
                    "line": finding.line,
                    "text": finding.text,
                    "let_through_by": item.approval(AttemptNumber(number)),
                })
            }));
        }
    }
    delta
}

/// What happens next, of the first item that goes on; null when the run has ended.
fn next(run: &Run) -> Option<String> {
    let item = run
        .items
        .iter()
        .find(|item| !item.state.is_terminal() && !matches!(item.state, State::Waiting(_)))?;
    let next = match item.state {
        State::Ready => "is queued",
        State::Queued => "is leased by a worker",
        State::Working => "is handed in by its worker",
        State::Gating => "passes the gates, or is kept out",
        State::Gated => "is merged when its target has a place",
        State::Merging => "is merged onto the head",
        State::Unverified(_) => "goes to a verifier's queue",
        State::VerifyQueued(_) => "is leased by a verifier",
        State::Verifying(_) => "is decided by its evidence",
        State::Landing(_) => "lands, unless the head has moved",
        _ => return None,
    };
    Some(format!("{} {next}", item.id))
}
