//! The small messages on the wire: heartbeats, source updates and the note in a workspace.

use super::{WireError, check, v1};
use crate::ids::{CommitId, ItemId, LeaseId, RepositoryId, RunId};
use crate::limits::WIRE_VERSION;
use crate::message::{Heartbeat, HeartbeatReply, LeaseNote, Pulse, SourceUpdate};

impl From<&Heartbeat> for v1::Heartbeat {
    fn from(heartbeat: &Heartbeat) -> Self {
        Self {
            version: WIRE_VERSION,
            lease: heartbeat.lease.to_string(),
            run: heartbeat.run.to_string(),
            item: heartbeat.item.to_string(),
            attempt: heartbeat.attempt.0,
            note: heartbeat.note.clone(),
            pulse: heartbeat.pulse.as_ref().map(Into::into),
        }
    }
}

impl TryFrom<v1::Heartbeat> for Heartbeat {
    type Error = WireError;

    fn try_from(wire: v1::Heartbeat) -> Result<Self, WireError> {
        check::version("heartbeat", wire.version)?;
        Ok(Self {
            lease: check::id("lease", &wire.lease, LeaseId::new)?,
            run: check::id("run", &wire.run, RunId::new)?,
            item: check::id("item", &wire.item, ItemId::new)?,
            attempt: check::attempt_number(wire.attempt)?,
            note: check::text("note", wire.note)?,
            pulse: wire.pulse.map(Pulse::try_from).transpose()?,
        })
    }
}

impl From<&HeartbeatReply> for v1::HeartbeatReply {
    fn from(reply: &HeartbeatReply) -> Self {
        match reply {
            HeartbeatReply::GoOn(demands) => Self { demands: demands.clone(), ..Self::default() },
            HeartbeatReply::Stop(reason) => {
                Self { stop: true, reason: reason.clone(), ..Self::default() }
            }
        }
    }
}

impl TryFrom<v1::HeartbeatReply> for HeartbeatReply {
    type Error = WireError;

    fn try_from(wire: v1::HeartbeatReply) -> Result<Self, WireError> {
        let reason = check::text("reason", wire.reason)?;
        let demands = check::texts("demands", wire.demands)?;
        Ok(if wire.stop { Self::Stop(reason) } else { Self::GoOn(demands) })
    }
}

impl From<&Pulse> for v1::Pulse {
    fn from(pulse: &Pulse) -> Self {
        Self {
            commits: pulse.commits,
            changed: pulse.changed.clone(),
            changed_count: pulse.changed_count,
            fingerprint: pulse.fingerprint.clone(),
            evidence: pulse.evidence,
            score: pulse.score,
            blocker: pulse.blocker.clone().unwrap_or_default(),
            next_action: pulse.next_action.clone().unwrap_or_default(),
            iterations: pulse.iterations,
            usage: pulse.usage.as_ref().map(Into::into),
        }
    }
}

impl TryFrom<v1::Pulse> for Pulse {
    type Error = WireError;

    fn try_from(wire: v1::Pulse) -> Result<Self, WireError> {
        check::count("changed paths", wire.changed.len())?;
        if wire.score.is_some_and(|score| !score.is_finite()) {
            return Err(WireError::Invalid { field: "score", reason: "it is not finite" });
        }
        Ok(Self {
            commits: wire.commits,
            changed: wire.changed,
            changed_count: wire.changed_count,
            fingerprint: check::label("fingerprint", wire.fingerprint)?,
            evidence: wire.evidence,
            score: wire.score,
            blocker: check::text_optional("blocker", wire.blocker)?,
            next_action: check::text_optional("next action", wire.next_action)?,
            iterations: wire.iterations,
            usage: super::usage::read(wire.usage)?,
        })
    }
}

impl From<&SourceUpdate> for v1::SourceUpdate {
    fn from(update: &SourceUpdate) -> Self {
        Self {
            version: WIRE_VERSION,
            repository: update.repository.to_string(),
            target: update.target.clone(),
            head: update.head.to_string(),
            prerequisite: check::or_empty(update.prerequisite.as_ref()),
            bundle: Some((&update.bundle).into()),
        }
    }
}

impl TryFrom<v1::SourceUpdate> for SourceUpdate {
    type Error = WireError;

    fn try_from(wire: v1::SourceUpdate) -> Result<Self, WireError> {
        check::version("source update", wire.version)?;
        Ok(Self {
            repository: check::id("repository", &wire.repository, RepositoryId::new)?,
            target: check::target(wire.target)?,
            head: check::commit("head", &wire.head)?,
            prerequisite: check::id_optional("prerequisite", &wire.prerequisite, CommitId::new)?,
            bundle: check::blob("bundle", wire.bundle)?,
        })
    }
}

impl From<&LeaseNote> for v1::LeaseNote {
    fn from(note: &LeaseNote) -> Self {
        Self {
            version: WIRE_VERSION,
            lease: note.lease.to_string(),
            run: note.run.to_string(),
            item: note.item.to_string(),
            attempt: note.attempt.0,
            kind: v1::AttemptKind::from(note.kind).into(),
            repository: note.repository.to_string(),
            base: note.base.to_string(),
            artifact_bytes_max: note.artifact_bytes_max,
            files_max: note.files_max,
        }
    }
}

impl TryFrom<v1::LeaseNote> for LeaseNote {
    type Error = WireError;

    fn try_from(wire: v1::LeaseNote) -> Result<Self, WireError> {
        check::version("lease note", wire.version)?;
        Ok(Self {
            lease: check::id("lease", &wire.lease, LeaseId::new)?,
            run: check::id("run", &wire.run, RunId::new)?,
            item: check::id("item", &wire.item, ItemId::new)?,
            attempt: check::attempt_number(wire.attempt)?,
            kind: check::kind(wire.kind)?,
            repository: check::id("repository", &wire.repository, RepositoryId::new)?,
            base: check::commit("base", &wire.base)?,
            artifact_bytes_max: check::above_zero("artifact limit", wire.artifact_bytes_max)?,
            files_max: wire.files_max,
        })
    }
}
