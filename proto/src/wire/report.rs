//! Reports on the wire.

use super::{STATEMENT_BYTES_MAX, WireError, check, v1};
use crate::ids::{
    CommitId, ContainerName, CriterionId, Digest, HostName, ItemId, LeaseId, RoleName, RunId,
    TreeId,
};
use crate::limits::WIRE_VERSION;
use crate::message::{
    Claim, ClaimKind, Commits, ContainerExited, Envelope, Evidence, Exit, Failed, FailureKind,
    Isolation, Learning, LearningCheck, LeaseEvent, LeaseReport, Leased, Phase, Proposal, Receipt,
    Report, Saved, WorkResult,
};
use v1::report::Body;

impl From<&Report> for v1::Report {
    fn from(report: &Report) -> Self {
        match report {
            Report::Lease(report) => Self {
                version: WIRE_VERSION,
                lease: report.lease.to_string(),
                run: report.run.to_string(),
                item: report.item.to_string(),
                attempt: report.attempt.0,
                kind: v1::AttemptKind::from(report.kind).into(),
                body: Some((&report.body).into()),
            },
            Report::ContainerExited(exited) => Self {
                version: WIRE_VERSION,
                body: Some(Body::ContainerExited(v1::ContainerExited {
                    container: exited.container.to_string(),
                    exit_code: exited.exit_code,
                    out_of_memory: exited.out_of_memory,
                })),
                ..Self::default()
            },
        }
    }
}

impl TryFrom<v1::Report> for Report {
    type Error = WireError;

    fn try_from(wire: v1::Report) -> Result<Self, WireError> {
        check::version("report", wire.version)?;
        let body = match check::required("report body", wire.body)? {
            Body::ContainerExited(exited) => {
                return Ok(Self::ContainerExited(ContainerExited {
                    container: check::id("container", &exited.container, ContainerName::new)?,
                    exit_code: exited.exit_code,
                    out_of_memory: exited.out_of_memory,
                }));
            }
            Body::Leased(leased) => LeaseEvent::Leased(leased.try_into()?),
            Body::Progress(progress) => {
                LeaseEvent::Progress(check::text("progress", progress.text)?)
            }
            Body::Result(result) => LeaseEvent::Result(result.try_into()?),
            Body::Evidence(evidence) => LeaseEvent::Evidence(evidence.try_into()?),
            Body::Failed(failed) => LeaseEvent::Failed(failed.try_into()?),
            Body::Saved(saved) => LeaseEvent::Saved(saved.try_into()?),
        };
        Ok(Self::Lease(LeaseReport {
            lease: check::id("lease", &wire.lease, LeaseId::new)?,
            run: check::id("run", &wire.run, RunId::new)?,
            item: check::id("item", &wire.item, ItemId::new)?,
            attempt: check::attempt_number(wire.attempt)?,
            kind: check::kind(wire.kind)?,
            body,
        }))
    }
}

impl From<&LeaseEvent> for Body {
    fn from(event: &LeaseEvent) -> Self {
        match event {
            LeaseEvent::Leased(leased) => Self::Leased(leased.into()),
            LeaseEvent::Progress(text) => Self::Progress(v1::Progress { text: text.clone() }),
            LeaseEvent::Result(result) => Self::Result(result.into()),
            LeaseEvent::Evidence(evidence) => Self::Evidence(evidence.into()),
            LeaseEvent::Failed(failed) => Self::Failed(failed.into()),
            LeaseEvent::Saved(saved) => Self::Saved(saved.into()),
        }
    }
}

impl From<&Leased> for v1::Leased {
    fn from(leased: &Leased) -> Self {
        let isolation = match leased.isolation {
            Isolation::Container => v1::Isolation::Container,
            Isolation::Process => v1::Isolation::Process,
        };
        Self {
            role: leased.role.to_string(),
            host: leased.host.to_string(),
            container: leased.container.to_string(),
            isolation: isolation.into(),
            base: check::or_empty(leased.base.as_ref()),
            image: leased.image.clone(),
        }
    }
}

impl TryFrom<v1::Leased> for Leased {
    type Error = WireError;

    fn try_from(wire: v1::Leased) -> Result<Self, WireError> {
        let isolation = match v1::Isolation::try_from(wire.isolation) {
            Ok(v1::Isolation::Container) => Isolation::Container,
            Ok(v1::Isolation::Process) => Isolation::Process,
            Ok(v1::Isolation::Unspecified) | Err(_) => return Err(check::unknown("isolation")),
        };
        Ok(Self {
            role: check::id("role", &wire.role, RoleName::new)?,
            host: check::id("host", &wire.host, HostName::new)?,
            container: check::id("container", &wire.container, ContainerName::new)?,
            isolation,
            base: check::id_optional("base", &wire.base, CommitId::new)?,
            image: check::label("image", wire.image)?,
        })
    }
}

impl From<&WorkResult> for v1::Result {
    fn from(result: &WorkResult) -> Self {
        Self {
            bundle: result.bundle.as_ref().map(Into::into),
            base: result.base.to_string(),
            head: result.head.to_string(),
            receipts: result.receipts.iter().map(Into::into).collect(),
            claims: result.claims.iter().map(Into::into).collect(),
            usage: result.usage.as_ref().map(Into::into),
            findings: result.findings.clone(),
            log: result.log.as_ref().map(Into::into),
            learnings: result.learnings.iter().map(Into::into).collect(),
            proposals: result.proposals.iter().map(Into::into).collect(),
            phases: result.phases.iter().map(Into::into).collect(),
        }
    }
}

impl TryFrom<v1::Result> for WorkResult {
    type Error = WireError;

    fn try_from(wire: v1::Result) -> Result<Self, WireError> {
        let base = check::commit("base", &wire.base)?;
        let head = check::commit("head", &wire.head)?;
        let bundle = check::blob_optional(wire.bundle)?;
        if bundle.is_none() != (base == head) {
            return Err(WireError::Invalid {
                field: "bundle",
                reason: "it is there exactly when head differs from base",
            });
        }
        Ok(Self {
            base,
            head,
            bundle,
            receipts: check::list("receipts", wire.receipts, Receipt::try_from)?,
            claims: check::list("claims", wire.claims, Claim::try_from)?,
            usage: super::usage::read(wire.usage)?,
            findings: check::texts("findings", wire.findings)?,
            log: check::blob_optional(wire.log)?,
            learnings: check::list("learnings", wire.learnings, Learning::try_from)?,
            proposals: check::list("proposals", wire.proposals, Proposal::try_from)?,
            phases: check::list("phases", wire.phases, Phase::try_from)?,
        })
    }
}

impl From<&Receipt> for v1::Receipt {
    fn from(receipt: &Receipt) -> Self {
        let (exit_code, signal) = match receipt.exit {
            Exit::Code(code) => (code, 0),
            Exit::Signal(signal) => (0, signal),
        };
        Self {
            argv: receipt.argv.clone(),
            exit_code,
            signal,
            stdout_sha256: receipt.stdout_sha256.to_string(),
            stderr_sha256: receipt.stderr_sha256.to_string(),
            duration_ms: receipt.duration_ms,
            environment: receipt.environment.clone(),
            timed_out: receipt.timed_out,
            output_truncated: receipt.output_truncated,
            purpose: receipt.purpose.clone(),
        }
    }
}

impl TryFrom<v1::Receipt> for Receipt {
    type Error = WireError;

    fn try_from(wire: v1::Receipt) -> Result<Self, WireError> {
        let exit = match (wire.signal, wire.exit_code) {
            (0, code) => Exit::Code(code),
            (signal, _) => Exit::Signal(signal),
        };
        check::count("environment", wire.environment.len())?;
        let environment = wire.environment.into_iter().map(|(name, value)| {
            Ok::<_, WireError>((
                check::label("environment", name)?,
                check::text("environment", value)?,
            ))
        });
        Ok(Self {
            argv: check::texts("arguments", wire.argv)?,
            exit,
            timed_out: wire.timed_out,
            stdout_sha256: check::id("standard output", &wire.stdout_sha256, Digest::new)?,
            stderr_sha256: check::id("standard error", &wire.stderr_sha256, Digest::new)?,
            duration_ms: wire.duration_ms,
            environment: environment.collect::<Result<_, _>>()?,
            output_truncated: wire.output_truncated,
            purpose: check::label("purpose", wire.purpose)?,
        })
    }
}

impl From<&Claim> for v1::Claim {
    fn from(claim: &Claim) -> Self {
        Self {
            id: claim.id.clone(),
            text: claim.text.clone(),
            criterion: check::or_empty(claim.criterion.as_ref()),
            kind: match claim.kind {
                ClaimKind::Observation => v1::ClaimKind::Observation,
                ClaimKind::Inference => v1::ClaimKind::Inference,
                ClaimKind::Hypothesis => v1::ClaimKind::Hypothesis,
                ClaimKind::Inaccessible => v1::ClaimKind::Inaccessible,
            }
            .into(),
            receipt: check::or_empty(claim.receipt.as_ref()),
        }
    }
}

impl TryFrom<v1::Claim> for Claim {
    type Error = WireError;

    fn try_from(wire: v1::Claim) -> Result<Self, WireError> {
        Ok(Self {
            id: check::label("claim", wire.id)?,
            text: check::text("claim", wire.text)?,
            criterion: check::id_optional("criterion", &wire.criterion, CriterionId::new)?,
            kind: match v1::ClaimKind::try_from(wire.kind) {
                Ok(v1::ClaimKind::Observation) => ClaimKind::Observation,
                Ok(v1::ClaimKind::Inference) => ClaimKind::Inference,
                Ok(v1::ClaimKind::Hypothesis) => ClaimKind::Hypothesis,
                Ok(v1::ClaimKind::Inaccessible) => ClaimKind::Inaccessible,
                Ok(v1::ClaimKind::Unspecified) | Err(_) => {
                    return Err(check::unknown("kind of claim"));
                }
            },
            receipt: check::id_optional("receipt of a claim", &wire.receipt, Digest::new)?,
        })
    }
}

impl From<&Evidence> for v1::Evidence {
    fn from(evidence: &Evidence) -> Self {
        Self {
            tree: evidence.tree.to_string(),
            envelopes: evidence.envelopes.iter().map(Into::into).collect(),
            log: evidence.log.as_ref().map(Into::into),
            inconclusive: evidence.inconclusive.clone().unwrap_or_default(),
            learnings: evidence.learnings.iter().map(Into::into).collect(),
        }
    }
}

impl TryFrom<v1::Evidence> for Evidence {
    type Error = WireError;

    fn try_from(wire: v1::Evidence) -> Result<Self, WireError> {
        Ok(Self {
            tree: check::id("tree", &wire.tree, TreeId::new)?,
            envelopes: check::list("envelopes", wire.envelopes, Envelope::try_from)?,
            log: check::blob_optional(wire.log)?,
            inconclusive: check::text_optional("inconclusive", wire.inconclusive)?,
            learnings: check::list("learnings", wire.learnings, LearningCheck::try_from)?,
        })
    }
}

impl From<&Envelope> for v1::Envelope {
    fn from(envelope: &Envelope) -> Self {
        Self {
            criterion: envelope.criterion.to_string(),
            statement: envelope.statement.clone(),
            receipt: envelope.receipt.clone(),
        }
    }
}

impl TryFrom<v1::Envelope> for Envelope {
    type Error = WireError;

    fn try_from(wire: v1::Envelope) -> Result<Self, WireError> {
        for (field, bytes) in [("statement", wire.statement.len()), ("receipt", wire.receipt.len())]
        {
            if bytes > STATEMENT_BYTES_MAX {
                return Err(WireError::TooLong { field, bytes, limit: STATEMENT_BYTES_MAX });
            }
        }
        Ok(Self {
            criterion: check::id("criterion", &wire.criterion, CriterionId::new)?,
            statement: wire.statement,
            receipt: wire.receipt,
        })
    }
}

impl From<FailureKind> for v1::FailureKind {
    fn from(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Agent => Self::Agent,
            FailureKind::Workspace => Self::Workspace,
            FailureKind::TooLarge => Self::TooLarge,
            FailureKind::Timeout => Self::Timeout,
            FailureKind::Stopped => Self::Stopped,
        }
    }
}

impl TryFrom<v1::FailureKind> for FailureKind {
    type Error = WireError;

    fn try_from(wire: v1::FailureKind) -> Result<Self, WireError> {
        match wire {
            v1::FailureKind::Agent => Ok(Self::Agent),
            v1::FailureKind::Workspace => Ok(Self::Workspace),
            v1::FailureKind::TooLarge => Ok(Self::TooLarge),
            v1::FailureKind::Timeout => Ok(Self::Timeout),
            v1::FailureKind::Stopped => Ok(Self::Stopped),
            v1::FailureKind::Unspecified => Err(check::unknown("failure kind")),
        }
    }
}

impl From<&Failed> for v1::Failed {
    fn from(failed: &Failed) -> Self {
        let kind = v1::FailureKind::from(failed.kind);
        Self {
            kind: kind.into(),
            reason: failed.reason.clone(),
            log: failed.log.as_ref().map(Into::into),
            usage: failed.usage.as_ref().map(Into::into),
            learnings: failed.learnings.iter().map(Into::into).collect(),
            proposals: failed.proposals.iter().map(Into::into).collect(),
            phases: failed.phases.iter().map(Into::into).collect(),
        }
    }
}

impl TryFrom<v1::Failed> for Failed {
    type Error = WireError;

    fn try_from(wire: v1::Failed) -> Result<Self, WireError> {
        let kind =
            v1::FailureKind::try_from(wire.kind).map_err(|_| check::unknown("failure kind"))?;
        Ok(Self {
            kind: kind.try_into()?,
            reason: check::text("reason", wire.reason)?,
            log: check::blob_optional(wire.log)?,
            usage: super::usage::read(wire.usage)?,
            learnings: check::list("learnings", wire.learnings, Learning::try_from)?,
            proposals: check::list("proposals", wire.proposals, Proposal::try_from)?,
            phases: check::list("phases", wire.phases, Phase::try_from)?,
        })
    }
}

impl From<&Saved> for v1::Saved {
    fn from(saved: &Saved) -> Self {
        Self {
            bundle: Some((&saved.commits.bundle).into()),
            base: saved.commits.base.to_string(),
            head: saved.commits.head.to_string(),
            reason: saved.reason.clone(),
        }
    }
}

impl TryFrom<v1::Saved> for Saved {
    type Error = WireError;

    fn try_from(wire: v1::Saved) -> Result<Self, WireError> {
        Ok(Self {
            commits: Commits {
                bundle: check::blob("saved bundle", wire.bundle)?,
                base: check::commit("saved base", &wire.base)?,
                head: check::commit("saved head", &wire.head)?,
            },
            reason: check::text("reason", wire.reason)?,
        })
    }
}
