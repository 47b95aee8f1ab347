//! One attempt as people see it: who had it, what it was given, what was said, and what it cost.

use cantus_core::event::Millis;
use cantus_core::item::Attempt;
use cantus_core::record::{Breaker, Decision, Demand, DemandKind, Dispatch, Spent};
use cantus_core::scope_delta::Finding;
use cantus_proto::message::{AttemptKind, Commits, Diagnosis, Isolation, Proposal, Remedy};
use cantus_proto::wire::v1;

/// One attempt with all that was said about it.
#[must_use]
pub(super) fn attempt(attempt: &Attempt, number: u32) -> v1::AttemptView {
    let holder = attempt.holder.as_deref();
    let result = attempt.result.as_deref();
    let exchange = attempt.exchange.as_deref().cloned().unwrap_or_default();
    let commits: Option<Commits> = result.and_then(|r| {
        Some(Commits { bundle: r.bundle.clone()?, base: r.base.clone(), head: r.head.clone() })
    });
    let isolation = holder.map(|h| match h.leased.isolation {
        Isolation::Container => "container",
        Isolation::Process => "process",
    });
    let state = match (&attempt.outcome, holder) {
        (Some(outcome), _) => outcome.name(),
        (None, Some(_)) => "leased",
        (None, None) => "queued",
    };
    v1::AttemptView {
        number,
        kind: kind(attempt.kind).to_owned(),
        state: state.to_owned(),
        container: holder.map(|h| h.leased.container.to_string()).unwrap_or_default(),
        host: holder.map(|h| h.leased.host.to_string()).unwrap_or_default(),
        queued_ms: attempt.queued.0,
        leased_ms: attempt.leased.map_or(0, |at| at.0),
        ended_ms: attempt.ended.map_or(0, |at| at.0),
        reason: attempt.outcome.as_ref().map(ToString::to_string).unwrap_or_default(),
        base: holder
            .and_then(|h| h.leased.base.as_ref())
            .map(ToString::to_string)
            .unwrap_or_default(),
        head: result.map(|r| r.head.to_string()).unwrap_or_default(),
        bundle: commits.as_ref().map(|c| (&c.bundle).into()),
        log: attempt.log.as_ref().or(result.and_then(|r| r.log.as_ref())).map(Into::into),
        receipts: result.map(|r| r.receipts.iter().map(Into::into).collect()).unwrap_or_default(),
        isolation: isolation.unwrap_or_default().to_owned(),
        token: attempt.token,
        dispatch: Some(dispatch(&attempt.dispatch)),
        spent: attempt.spent.as_deref().map(spent),
        demands: attempt.demands().iter().map(demand).collect(),
        proposals: attempt.proposals().iter().map(proposal).collect(),
        out_of_scope_findings: attempt.out_of_scope().iter().map(finding).collect(),
        learned: exchange.learned.iter().map(ToString::to_string).collect(),
        learnings_checked: exchange.checked.iter().map(Into::into).collect(),
    }
}

fn dispatch(dispatch: &Dispatch) -> v1::DispatchView {
    let breaker = dispatch.breaker.map(|breaker| match breaker {
        Breaker::Stuck => "stuck",
        Breaker::Predicted => "predicted",
        Breaker::Failures => "failures",
        Breaker::Diagnosis => "diagnosis",
    });
    v1::DispatchView {
        wall_clock_ms: dispatch.wall_clock_ms,
        tokens: dispatch.tokens,
        cost_microusd: dispatch.cost.map(|cost| cost.0),
        model: dispatch.route.model.clone(),
        effort: dispatch.route.effort.as_str().to_owned(),
        breaker: breaker.unwrap_or_default().to_owned(),
        learnings: dispatch.learnings.iter().map(ToString::to_string).collect(),
    }
}

fn spent(spent: &Spent) -> v1::SpentView {
    v1::SpentView {
        tokens: spent.tokens,
        cost_microusd: spent.cost.map(|cost| cost.0),
        estimated: spent.estimated,
        phases: spent.phases.iter().map(Into::into).collect(),
    }
}

fn demand((at, demand): &(Millis, Demand)) -> v1::DemandView {
    v1::DemandView {
        at_ms: at.0,
        kind: demand_kind(demand.kind).to_owned(),
        text: demand.text.clone(),
        paths: demand.paths.clone(),
    }
}

/// The word for a demand's rule.
pub(crate) fn demand_kind(kind: DemandKind) -> &'static str {
    match kind {
        DemandKind::FirstArtifact => "first-artifact",
        DemandKind::NewApproach => "new-approach",
        DemandKind::PartialResult => "partial-result",
        DemandKind::Commit => "commit",
        DemandKind::Budget => "budget",
    }
}

fn proposal((proposal, decision): &(Proposal, Decision)) -> v1::ProposalView {
    let (kind, text) = proposal_words(proposal);
    let parts = match proposal {
        Proposal::Diagnosis(Diagnosis { remedy: Remedy::Split(parts), .. }) => {
            parts.iter().map(|part| part.id.to_string()).collect()
        }
        _ => Vec::new(),
    };
    let (decision, reason) = match decision {
        Decision::Pending => ("pending", ""),
        Decision::Confirmed => ("confirmed", ""),
        Decision::Refused(reason) => ("refused", reason.as_str()),
    };
    v1::ProposalView {
        kind: kind.to_owned(),
        text: text.to_owned(),
        decision: decision.to_owned(),
        reason: reason.to_owned(),
        parts,
    }
}

/// The word for a wish, and what it says.
pub(crate) fn proposal_words(proposal: &Proposal) -> (&'static str, &str) {
    match proposal {
        Proposal::Note(text) => ("note", text),
        Proposal::Done => ("done", ""),
        Proposal::Partial(text) => ("partial", text),
        Proposal::Diagnosis(Diagnosis { reason, remedy }) => {
            let kind = match remedy {
                Remedy::Retry => "retry",
                Remedy::Split(_) => "split",
                Remedy::Escalate => "escalate",
                Remedy::Skip => "skip",
            };
            (kind, reason)
        }
    }
}

/// What a gate found, with its raw path.
#[must_use]
pub fn finding(finding: &Finding) -> v1::GateFinding {
    v1::GateFinding {
        rule: finding.rule.as_str().to_owned(),
        path: finding.path.clone(),
        line: finding.line.unwrap_or(0),
        text: finding.text.clone(),
    }
}

/// The word for what an attempt is for.
pub(crate) fn kind(kind: AttemptKind) -> &'static str {
    match kind {
        AttemptKind::Produce => "produce",
        AttemptKind::Repair => "repair",
        AttemptKind::Verify => "verify",
    }
}
