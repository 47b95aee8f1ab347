//! What agents learn and wish, on the wire.

use super::{WireError, check, v1};
use crate::ids::{CriterionId, ItemId, LearningId};
use crate::message::{Diagnosis, Learning, LearningCheck, Part, Proposal, Remedy};
use v1::proposal::Wish;

impl From<&Learning> for v1::Learning {
    fn from(learning: &Learning) -> Self {
        Self {
            id: learning.id.to_string(),
            context: learning.context.clone(),
            discovery: learning.discovery.clone(),
            rule: learning.rule.clone(),
            check: learning.check.clone().unwrap_or_default(),
        }
    }
}

impl TryFrom<v1::Learning> for Learning {
    type Error = WireError;

    fn try_from(wire: v1::Learning) -> Result<Self, WireError> {
        let id = check::id("learning", &wire.id, LearningId::new)?;
        let rule = check::text("rule", wire.rule)?;
        if id != LearningId::of(&rule) {
            return Err(WireError::Invalid {
                field: "learning",
                reason: "its id does not follow from its rule",
            });
        }
        Ok(Self {
            id,
            context: check::text("context", wire.context)?,
            discovery: check::text("discovery", wire.discovery)?,
            rule,
            check: check::text_optional("check", wire.check)?,
        })
    }
}

impl From<&LearningCheck> for v1::LearningCheck {
    fn from(check: &LearningCheck) -> Self {
        Self { id: check.id.to_string(), applied: check.applied }
    }
}

impl TryFrom<v1::LearningCheck> for LearningCheck {
    type Error = WireError;

    fn try_from(wire: v1::LearningCheck) -> Result<Self, WireError> {
        Ok(Self { id: check::id("learning", &wire.id, LearningId::new)?, applied: wire.applied })
    }
}

impl From<&Proposal> for v1::Proposal {
    fn from(proposal: &Proposal) -> Self {
        Self {
            wish: Some(match proposal {
                Proposal::Note(text) => Wish::Note(text.clone()),
                Proposal::Done => Wish::Done(true),
                Proposal::Partial(reason) => Wish::Partial(reason.clone()),
                Proposal::Diagnosis(diagnosis) => Wish::Diagnosis(diagnosis.into()),
            }),
        }
    }
}

impl TryFrom<v1::Proposal> for Proposal {
    type Error = WireError;

    fn try_from(wire: v1::Proposal) -> Result<Self, WireError> {
        Ok(match check::required("proposal", wire.wish)? {
            Wish::Note(text) => Self::Note(check::text("note", text)?),
            Wish::Done(_) => Self::Done,
            Wish::Partial(reason) => Self::Partial(check::text("reason", reason)?),
            Wish::Diagnosis(diagnosis) => Self::Diagnosis(diagnosis.try_into()?),
        })
    }
}

impl From<&Diagnosis> for v1::Diagnosis {
    fn from(diagnosis: &Diagnosis) -> Self {
        let (decision, parts) = match &diagnosis.remedy {
            Remedy::Retry => (v1::DiagnosisKind::Retry, &[][..]),
            Remedy::Split(parts) => (v1::DiagnosisKind::Split, &parts[..]),
            Remedy::Escalate => (v1::DiagnosisKind::Escalate, &[][..]),
            Remedy::Skip => (v1::DiagnosisKind::Skip, &[][..]),
        };
        Self {
            reason: diagnosis.reason.clone(),
            decision: decision.into(),
            split_into: parts.iter().map(Into::into).collect(),
        }
    }
}

impl TryFrom<v1::Diagnosis> for Diagnosis {
    type Error = WireError;

    fn try_from(wire: v1::Diagnosis) -> Result<Self, WireError> {
        let remedy = match v1::DiagnosisKind::try_from(wire.decision) {
            Ok(v1::DiagnosisKind::Retry) => Remedy::Retry,
            Ok(v1::DiagnosisKind::Split) => {
                Remedy::Split(check::list("parts", wire.split_into, Part::try_from)?)
            }
            Ok(v1::DiagnosisKind::Escalate) => Remedy::Escalate,
            Ok(v1::DiagnosisKind::Skip) => Remedy::Skip,
            Ok(v1::DiagnosisKind::Unspecified) | Err(_) => return Err(check::unknown("remedy")),
        };
        Ok(Self { reason: check::text("reason", wire.reason)?, remedy })
    }
}

impl From<&Part> for v1::Part {
    fn from(part: &Part) -> Self {
        Self {
            id: part.id.to_string(),
            goal: part.goal.clone(),
            deliverables: part.deliverables.clone(),
            criteria: part.criteria.iter().map(ToString::to_string).collect(),
            paths: part.paths.clone(),
            needs: part.needs.iter().map(ToString::to_string).collect(),
        }
    }
}

impl TryFrom<v1::Part> for Part {
    type Error = WireError;

    fn try_from(wire: v1::Part) -> Result<Self, WireError> {
        Ok(Self {
            id: check::id("part", &wire.id, ItemId::new)?,
            goal: check::text("goal", wire.goal)?,
            deliverables: check::texts("deliverables", wire.deliverables)?,
            criteria: check::list("criteria", wire.criteria, |id| {
                check::id("criterion", &id, CriterionId::new)
            })?,
            paths: check::texts("paths", wire.paths)?,
            needs: check::list("needs", wire.needs, |id| check::id("need", &id, ItemId::new))?,
        })
    }
}
