//! The records of what rules and people decided about attempts, as bytes and back.

use cantus_proto::ids::{AttemptNumber, LearningId};
use cantus_proto::message::Route;
use cantus_proto::units::MicroUsd;
use cantus_proto::wire::v1;
use v1::record::Fact as Wire;

use super::plan::{items_in, items_out};
use super::wire::RecordError;
use crate::record::{
    Breaker, Decision, Demand, DemandKind, Dispatch, ItemFact, Resource, Spent, Warning,
};
use crate::scope_delta::{Finding, Rule};

/// The wire form of the facts of this module.
pub(super) fn wire(fact: &ItemFact) -> Wire {
    match fact {
        ItemFact::Settled(number, spent) => Wire::Settled(v1::Settled {
            number: number.0,
            tokens: spent.tokens,
            cost_microusd: spent.cost.map(|cost| cost.0),
            estimated: spent.estimated,
            phases: spent.phases.iter().map(Into::into).collect(),
        }),
        ItemFact::Demanded(number, demand) => Wire::Demanded(v1::Demanded {
            number: number.0,
            kind: match demand.kind {
                DemandKind::FirstArtifact => v1::DemandKind::FirstArtifact,
                DemandKind::NewApproach => v1::DemandKind::NewApproach,
                DemandKind::PartialResult => v1::DemandKind::PartialResult,
                DemandKind::Commit => v1::DemandKind::Commit,
                DemandKind::Budget => v1::DemandKind::Budget,
            }
            .into(),
            text: demand.text.clone(),
            paths: demand.paths.clone(),
        }),
        ItemFact::Proposed(number, proposal, decision) => {
            let (kind, reason) = match decision {
                Decision::Pending => (v1::DecisionKind::Pending, String::new()),
                Decision::Confirmed => (v1::DecisionKind::Confirmed, String::new()),
                Decision::Refused(reason) => (v1::DecisionKind::Refused, reason.clone()),
            };
            Wire::Proposed(v1::Proposed {
                number: number.0,
                proposal: Some((&**proposal).into()),
                decision: kind.into(),
                reason,
            })
        }
        ItemFact::Learned(number, learning) => {
            Wire::Learned(v1::Learned { number: number.0, learning: Some((&**learning).into()) })
        }
        ItemFact::LearningsChecked(number, checks) => {
            Wire::LearningsChecked(v1::LearningsChecked {
                number: number.0,
                checks: checks.iter().map(Into::into).collect(),
            })
        }
        ItemFact::Warned(warning) => Wire::Warned(warned(*warning)),
        ItemFact::Approved(number, by) => {
            Wire::Approved(v1::Approved { number: number.0, by: by.clone() })
        }
        ItemFact::Rechecked(hypothesis) => Wire::Rechecked(hypothesis.clone()),
        ItemFact::Split(number, items) => {
            let (items, contracts) = items_out(items);
            Wire::Split(v1::Split { number: number.0, items, contracts })
        }
        other => unreachable!("{other:?} has its wire form elsewhere"),
    }
}

/// Back from [`wire`].
///
/// # Errors
/// [`RecordError`] names what is wrong.
pub(super) fn fact(wire: Wire) -> Result<ItemFact, RecordError> {
    Ok(match wire {
        Wire::Settled(settled) => {
            let phases = settled.phases.into_iter().map(TryInto::try_into);
            let spent = Spent {
                tokens: settled.tokens,
                cost: settled.cost_microusd.map(MicroUsd),
                estimated: settled.estimated,
                phases: phases.collect::<Result<_, _>>()?,
            };
            ItemFact::Settled(AttemptNumber(settled.number), Box::new(spent))
        }
        Wire::Demanded(demanded) => {
            let kind = match v1::DemandKind::try_from(demanded.kind) {
                Ok(v1::DemandKind::FirstArtifact) => DemandKind::FirstArtifact,
                Ok(v1::DemandKind::NewApproach) => DemandKind::NewApproach,
                Ok(v1::DemandKind::PartialResult) => DemandKind::PartialResult,
                Ok(v1::DemandKind::Commit) => DemandKind::Commit,
                Ok(v1::DemandKind::Budget) => DemandKind::Budget,
                Ok(v1::DemandKind::Unspecified) | Err(_) => {
                    return Err(RecordError::Unknown("demand"));
                }
            };
            let demand = Demand { kind, text: demanded.text, paths: demanded.paths };
            ItemFact::Demanded(AttemptNumber(demanded.number), Box::new(demand))
        }
        Wire::Proposed(proposed) => {
            let decision = match v1::DecisionKind::try_from(proposed.decision) {
                Ok(v1::DecisionKind::Pending) => Decision::Pending,
                Ok(v1::DecisionKind::Confirmed) => Decision::Confirmed,
                Ok(v1::DecisionKind::Refused) => Decision::Refused(proposed.reason),
                Ok(v1::DecisionKind::Unspecified) | Err(_) => {
                    return Err(RecordError::Unknown("decision"));
                }
            };
            let proposal = proposed.proposal.ok_or(RecordError::Unknown("proposal"))?.try_into()?;
            ItemFact::Proposed(AttemptNumber(proposed.number), Box::new(proposal), decision)
        }
        Wire::Learned(learned) => {
            let learning = learned.learning.ok_or(RecordError::Unknown("learning"))?.try_into()?;
            ItemFact::Learned(AttemptNumber(learned.number), Box::new(learning))
        }
        Wire::LearningsChecked(checked) => {
            let checks = checked.checks.into_iter().map(TryInto::try_into);
            let checks = checks.collect::<Result<_, _>>()?;
            ItemFact::LearningsChecked(AttemptNumber(checked.number), checks)
        }
        Wire::Warned(warned) => ItemFact::Warned(warning(warned)?),
        Wire::Approved(approved) => ItemFact::Approved(AttemptNumber(approved.number), approved.by),
        Wire::Rechecked(hypothesis) => ItemFact::Rechecked(hypothesis),
        Wire::Split(split) => {
            let items = items_in(split.items, split.contracts)?;
            ItemFact::Split(AttemptNumber(split.number), items)
        }
        _ => return Err(RecordError::Unknown("fact")),
    })
}

pub(super) fn warned(warning: Warning) -> v1::Warned {
    let resource = match warning.resource {
        Resource::WallClock => v1::ResourceKind::WallClock,
        Resource::Tokens => v1::ResourceKind::Tokens,
        Resource::Cost => v1::ResourceKind::Cost,
    };
    v1::Warned { resource: resource.into(), spent: warning.spent, budget: warning.budget }
}

pub(super) fn warning(wire: v1::Warned) -> Result<Warning, RecordError> {
    let resource = match v1::ResourceKind::try_from(wire.resource) {
        Ok(v1::ResourceKind::WallClock) => Resource::WallClock,
        Ok(v1::ResourceKind::Tokens) => Resource::Tokens,
        Ok(v1::ResourceKind::Cost) => Resource::Cost,
        Ok(v1::ResourceKind::Unspecified) | Err(_) => return Err(RecordError::Unknown("resource")),
    };
    Ok(Warning { resource, spent: wire.spent, budget: wire.budget })
}

pub(super) fn dispatched(dispatch: &Dispatch) -> v1::Dispatch {
    let breaker = match dispatch.breaker {
        None => v1::BreakerKind::Unspecified,
        Some(Breaker::Stuck) => v1::BreakerKind::Stuck,
        Some(Breaker::Predicted) => v1::BreakerKind::Predicted,
        Some(Breaker::Failures) => v1::BreakerKind::Failures,
        Some(Breaker::Diagnosis) => v1::BreakerKind::Diagnosis,
    };
    v1::Dispatch {
        wall_clock_ms: dispatch.wall_clock_ms,
        tokens: dispatch.tokens,
        cost_microusd: dispatch.cost.map(|cost| cost.0),
        route: Some((&dispatch.route).into()),
        breaker: breaker.into(),
        learnings: dispatch.learnings.iter().map(ToString::to_string).collect(),
    }
}

pub(super) fn dispatch(wire: v1::Dispatch) -> Result<Dispatch, RecordError> {
    let breaker = match v1::BreakerKind::try_from(wire.breaker) {
        Ok(v1::BreakerKind::Unspecified) => None,
        Ok(v1::BreakerKind::Stuck) => Some(Breaker::Stuck),
        Ok(v1::BreakerKind::Predicted) => Some(Breaker::Predicted),
        Ok(v1::BreakerKind::Failures) => Some(Breaker::Failures),
        Ok(v1::BreakerKind::Diagnosis) => Some(Breaker::Diagnosis),
        Err(_) => return Err(RecordError::Unknown("breaker")),
    };
    let learnings = wire.learnings.iter().map(LearningId::new);
    let route: Route = wire.route.ok_or(RecordError::Unknown("route"))?.try_into()?;
    Ok(Dispatch {
        wall_clock_ms: wire.wall_clock_ms,
        tokens: wire.tokens,
        cost: wire.cost_microusd.map(MicroUsd),
        route,
        breaker,
        learnings: learnings.collect::<Result<_, _>>()?,
    })
}

pub(super) fn found(finding: &Finding) -> v1::GateFinding {
    v1::GateFinding {
        rule: finding.rule.as_str().to_owned(),
        path: finding.path.clone(),
        line: finding.line.unwrap_or(0),
        text: finding.text.clone(),
    }
}

pub(super) fn finding(wire: v1::GateFinding) -> Result<Finding, RecordError> {
    let rule = Rule::from_word(&wire.rule);
    Ok(Finding {
        rule: rule.ok_or(RecordError::Unknown("rule"))?,
        path: wire.path,
        line: (wire.line != 0).then_some(wire.line),
        text: wire.text,
    })
}
