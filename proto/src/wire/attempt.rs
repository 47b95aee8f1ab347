//! Attempts on the wire.

use super::{WireError, check, v1};
use crate::ids::{ContainerName, Digest, ItemId, RepositoryId, RoleName, RunId, TreeId};
use crate::limits::WIRE_VERSION;
use crate::message::{
    Attempt, AttemptKind, AttemptLimits, Candidate, Commits, Defect, Learning, Route, Verification,
    Work,
};
use crate::plan::Effort;
use crate::units::MicroUsd;

impl From<&Attempt> for v1::Attempt {
    fn from(attempt: &Attempt) -> Self {
        let (defect, candidate, excluded) = match &attempt.work {
            Work::Produce => (None, None, None),
            Work::Repair(defect) => (Some(defect.into()), None, None),
            Work::Verify(verification) => (
                None,
                Some((&verification.candidate).into()),
                verification.worker_excluded.as_ref(),
            ),
        };
        Self {
            version: WIRE_VERSION,
            run: attempt.run.to_string(),
            item: attempt.item.to_string(),
            number: attempt.number.0,
            kind: v1::AttemptKind::from(attempt.work.kind()).into(),
            role: attempt.role.to_string(),
            contract: Some((&attempt.contract).into()),
            repository: attempt.repository.to_string(),
            target: attempt.target.clone(),
            base_min: attempt.base_min.to_string(),
            defect,
            candidate,
            limits: Some((&attempt.limits).into()),
            route: Some((&attempt.route).into()),
            preamble: attempt.preamble.clone().unwrap_or_default(),
            learnings: attempt.learnings.iter().map(Into::into).collect(),
            worker_excluded: check::or_empty(excluded),
        }
    }
}

impl TryFrom<v1::Attempt> for Attempt {
    type Error = WireError;

    fn try_from(wire: v1::Attempt) -> Result<Self, WireError> {
        check::version("attempt", wire.version)?;
        let work = match check::kind(wire.kind)? {
            AttemptKind::Produce => Work::Produce,
            AttemptKind::Repair => {
                Work::Repair(check::required("defect", wire.defect)?.try_into()?)
            }
            AttemptKind::Verify => Work::Verify(Verification {
                candidate: check::required("candidate", wire.candidate)?.try_into()?,
                worker_excluded: check::id_optional(
                    "excluded worker",
                    &wire.worker_excluded,
                    ContainerName::new,
                )?,
            }),
        };
        Ok(Self {
            run: check::id("run", &wire.run, RunId::new)?,
            item: check::id("item", &wire.item, ItemId::new)?,
            number: check::attempt_number(wire.number)?,
            role: check::id("role", &wire.role, RoleName::new)?,
            contract: check::required("contract", wire.contract)?.try_into()?,
            repository: check::id("repository", &wire.repository, RepositoryId::new)?,
            target: check::target(wire.target)?,
            base_min: check::commit("least base", &wire.base_min)?,
            work,
            route: check::required("route", wire.route)?.try_into()?,
            preamble: check::text_optional("preamble", wire.preamble)?,
            learnings: check::list("learnings", wire.learnings, Learning::try_from)?,
            limits: check::required("limits", wire.limits)?.try_into()?,
        })
    }
}

impl From<&Defect> for v1::Defect {
    fn from(defect: &Defect) -> Self {
        let work = defect.work.as_ref();
        Self {
            summary: defect.summary.clone(),
            findings: defect.findings.clone(),
            bundle: work.map(|commits| (&commits.bundle).into()),
            base: check::or_empty(work.map(|commits| &commits.base)),
            head: check::or_empty(work.map(|commits| &commits.head)),
        }
    }
}

impl TryFrom<v1::Defect> for Defect {
    type Error = WireError;

    fn try_from(wire: v1::Defect) -> Result<Self, WireError> {
        let work = match check::blob_optional(wire.bundle)? {
            None => None,
            Some(bundle) => Some(Commits {
                bundle,
                base: check::commit("base of the refuted work", &wire.base)?,
                head: check::commit("head of the refuted work", &wire.head)?,
            }),
        };
        Ok(Self {
            summary: check::text("summary", wire.summary)?,
            findings: check::texts("findings", wire.findings)?,
            work,
        })
    }
}

impl From<&Candidate> for v1::Candidate {
    fn from(candidate: &Candidate) -> Self {
        Self {
            commit: candidate.commit.to_string(),
            tree: candidate.tree.to_string(),
            base: candidate.base.to_string(),
            bundle: Some((&candidate.bundle).into()),
            listing_sha256: candidate.listing_sha256.to_string(),
        }
    }
}

impl TryFrom<v1::Candidate> for Candidate {
    type Error = WireError;

    fn try_from(wire: v1::Candidate) -> Result<Self, WireError> {
        Ok(Self {
            commit: check::commit("candidate commit", &wire.commit)?,
            tree: check::id("candidate tree", &wire.tree, TreeId::new)?,
            base: check::commit("candidate base", &wire.base)?,
            bundle: check::blob("candidate bundle", wire.bundle)?,
            listing_sha256: check::id("listing", &wire.listing_sha256, Digest::new)?,
        })
    }
}

impl From<&AttemptLimits> for v1::Limits {
    fn from(limits: &AttemptLimits) -> Self {
        Self {
            heartbeat_ms: limits.heartbeat_ms,
            lease_ms: limits.lease_ms,
            wall_clock_ms: limits.wall_clock_ms,
            artifact_bytes_max: limits.artifact_bytes_max,
            files_max: limits.files_max,
            tokens_max: limits.tokens_max.unwrap_or(0),
            cost_microusd_max: limits.cost_max.map_or(0, |cost| cost.0),
            window_ms: limits.window_ms,
        }
    }
}

impl TryFrom<v1::Limits> for AttemptLimits {
    type Error = WireError;

    fn try_from(wire: v1::Limits) -> Result<Self, WireError> {
        check::above_zero("files limit", u64::from(wire.files_max))?;
        if wire.heartbeat_ms >= wire.lease_ms {
            return Err(WireError::Invalid {
                field: "heartbeat",
                reason: "it is not below the lease",
            });
        }
        Ok(Self {
            heartbeat_ms: check::above_zero("heartbeat", wire.heartbeat_ms)?,
            lease_ms: wire.lease_ms,
            wall_clock_ms: check::above_zero("wall clock", wire.wall_clock_ms)?,
            artifact_bytes_max: check::above_zero("artifact limit", wire.artifact_bytes_max)?,
            files_max: wire.files_max,
            tokens_max: check::unless_zero(wire.tokens_max),
            cost_max: check::unless_zero(wire.cost_microusd_max).map(MicroUsd),
            window_ms: check::above_zero("window", wire.window_ms)?,
        })
    }
}

impl From<&Route> for v1::Route {
    fn from(route: &Route) -> Self {
        Self { model: route.model.clone(), effort: v1::Effort::from(route.effort).into() }
    }
}

impl TryFrom<v1::Route> for Route {
    type Error = WireError;

    fn try_from(wire: v1::Route) -> Result<Self, WireError> {
        let effort = v1::Effort::try_from(wire.effort).ok().and_then(v1::Effort::domain);
        Ok(Self {
            model: check::label("model", wire.model)?,
            effort: effort.ok_or_else(|| check::unknown("effort"))?,
        })
    }
}

impl v1::Effort {
    /// As the domain has it; nothing when it is not said.
    #[must_use]
    pub fn domain(self) -> Option<Effort> {
        match self {
            Self::Unspecified => None,
            Self::Low => Some(Effort::Low),
            Self::Medium => Some(Effort::Medium),
            Self::High => Some(Effort::High),
        }
    }
}

impl From<Effort> for v1::Effort {
    fn from(effort: Effort) -> Self {
        match effort {
            Effort::Low => Self::Low,
            Effort::Medium => Self::Medium,
            Effort::High => Self::High,
        }
    }
}
