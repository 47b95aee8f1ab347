//! Records of the journal as bytes, and back.
//!
//! A submission refers to its plan by the blob that holds it; whoever reads a record brings the plan.

use std::sync::Arc;

use bytes::Bytes;
use cantus_proto::ids::{
    AttemptNumber, Blob, CommitId, Digest, LeaseId, NameError, RepositoryId, RunId, TreeId,
};
use cantus_proto::limits::WIRE_VERSION;
use cantus_proto::message::{AttemptKind, Defect, FailureKind, Leased, Saved};
use cantus_proto::plan::Plan;
use cantus_proto::wire::{WireError, v1};
use prost::Message as _;
use v1::record::Fact as Wire;

use super::rules;
use crate::event::{ItemIndex, Millis, Repository, Submission};
use crate::item::Landed;
use crate::record::{Ending, Fact, Holder, ItemFact, Record, Refutation, Refuter};

/// Why a message of the journal cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Not protobuf of this kind.
    #[error("the journal has a message that is no batch of records")]
    Undecodable(#[from] prost::DecodeError),
    /// Of another version.
    #[error(
        "the journal has version {found}, this program knows {WIRE_VERSION}: use the program that wrote it"
    )]
    Version {
        /// What it says.
        found: u32,
    },
    /// A part is not valid.
    #[error("a record of the journal is not valid")]
    Part(#[from] WireError),
    /// An id is not valid.
    #[error("a record of the journal has an id that is not valid")]
    Id(#[from] NameError),
    /// A part is missing or unknown.
    #[error("a record of the journal has no {0} that this program knows")]
    Unknown(&'static str),
}

/// One message of the journal, decoded but for the plans.
#[derive(Debug)]
pub struct Batch {
    /// Whose records.
    pub run: RunId,
    /// When they were decided.
    pub at: Millis,
    /// Sequence of the reports consumed so far; nothing when the message says nothing of it.
    pub reports_through: Option<u64>,
    records: Vec<v1::Record>,
}

/// Encodes the records of one run and one turn.
#[must_use]
pub fn encode(run: &RunId, at: Millis, records: &[Record], reports_through: Option<u64>) -> Bytes {
    let batch = v1::JournalBatch {
        version: WIRE_VERSION,
        run: run.to_string(),
        at_ms: at.0,
        records: records.iter().map(record).collect(),
        reports_through: reports_through.unwrap_or(0),
    };
    Bytes::from(batch.encode_to_vec())
}

/// Decodes one message.
///
/// # Errors
/// [`RecordError`] names what is wrong.
pub fn decode(bytes: &[u8]) -> Result<Batch, RecordError> {
    let batch = v1::JournalBatch::decode(bytes)?;
    if batch.version != WIRE_VERSION {
        return Err(RecordError::Version { found: batch.version });
    }
    Ok(Batch {
        run: RunId::new(&batch.run)?,
        at: Millis(batch.at_ms),
        reports_through: (batch.reports_through != 0).then_some(batch.reports_through),
        records: batch.records,
    })
}

impl Batch {
    /// How many records it has: what it takes of the journal's positions.
    #[must_use]
    pub fn record_count(&self) -> u64 {
        self.records.len() as u64
    }

    /// The blob with the plan that the batch's submission refers to, if it has one.
    ///
    /// # Errors
    /// [`RecordError`] when the reference is not valid.
    pub fn plan_blob(&self) -> Result<Option<Blob>, RecordError> {
        let submitted = self.records.iter().find_map(|record| match &record.fact {
            Some(Wire::Submitted(submitted)) => Some(submitted),
            _ => None,
        });
        let Some(submitted) = submitted else { return Ok(None) };
        let blob = submitted.plan.clone().ok_or(RecordError::Unknown("plan"))?;
        Ok(Some(blob.try_into()?))
    }

    /// The records; `plan` is what [`Batch::plan_blob`] named.
    ///
    /// # Errors
    /// [`RecordError`] names what is wrong.
    pub fn records(self, plan: Option<&Arc<Plan>>) -> Result<Vec<Record>, RecordError> {
        let Self { run, at, records, .. } = self;
        let read = |wire: v1::Record| {
            let place = ItemIndex(wire.item);
            let fact = match wire.fact.ok_or(RecordError::Unknown("fact"))? {
                Wire::Submitted(submitted) => {
                    let plan = plan.ok_or(RecordError::Unknown("plan"))?;
                    Fact::Submitted(Box::new(submission(&run, plan, submitted)?))
                }
                Wire::RunCancelled(_) => Fact::RunCancelled,
                Wire::RunWarned(warned) => Fact::RunWarned(rules::warning(warned)?),
                other => Fact::Item(place, item_fact(other)?),
            };
            Ok(Record { at, run: run.clone(), fact })
        };
        records.into_iter().map(read).collect()
    }
}

fn record(record: &Record) -> v1::Record {
    let (item, fact) = match &record.fact {
        Fact::Submitted(submission) => (0, Wire::Submitted(submitted(submission))),
        Fact::RunCancelled => (0, Wire::RunCancelled(true)),
        Fact::RunWarned(warning) => (0, Wire::RunWarned(rules::warned(*warning))),
        Fact::Item(place, fact) => (place.0, wire(fact)),
    };
    v1::Record { item, fact: Some(fact) }
}

fn submitted(submission: &Submission) -> v1::Submitted {
    let repository = submission.repository.as_ref();
    let part = |text: fn(&Repository) -> String| repository.map(text).unwrap_or_default();
    v1::Submitted {
        plan: Some((&submission.plan_blob).into()),
        repository_id: part(|r| r.id.to_string()),
        location: part(|r| r.location.clone()),
        target: part(|r| r.target.clone()),
        head: part(|r| r.head.to_string()),
        notice: submission.notice.clone(),
    }
}

fn submission(
    run: &RunId,
    plan: &Arc<Plan>,
    wire: v1::Submitted,
) -> Result<Submission, RecordError> {
    let repository = if wire.repository_id.is_empty() {
        None
    } else {
        Some(Repository {
            id: RepositoryId::new(&wire.repository_id)?,
            location: wire.location,
            target: wire.target,
            head: CommitId::new(&wire.head)?,
            style: plan.landing,
        })
    };
    Ok(Submission {
        run: run.clone(),
        plan: Arc::clone(plan),
        plan_blob: wire.plan.ok_or(RecordError::Unknown("plan"))?.try_into()?,
        repository,
        notice: wire.notice,
    })
}

fn wire(fact: &ItemFact) -> Wire {
    match fact {
        ItemFact::Queued(number, kind, dispatch) => Wire::Queued(v1::Queued {
            number: number.0,
            kind: v1::AttemptKind::from(*kind).into(),
            dispatch: Some(rules::dispatched(dispatch)),
        }),
        ItemFact::Leased(number, holder) => Wire::Leased(v1::RecordLeased {
            number: number.0,
            lease: holder.lease.to_string(),
            holder: Some((&holder.leased).into()),
        }),
        ItemFact::Ended(number, ending, reason) => Wire::Ended(ended(*number, *ending, reason)),
        ItemFact::Delivered(number, result) => {
            Wire::Delivered(v1::Delivered { number: number.0, result: Some((&**result).into()) })
        }
        ItemFact::Gated => Wire::Gated(true),
        ItemFact::MergeBegan => Wire::MergeBegan(true),
        ItemFact::Merged(candidate) => Wire::Merged((&**candidate).into()),
        ItemFact::Verified(number, envelopes) => Wire::Verified(v1::Verified {
            number: number.0,
            envelopes: envelopes.iter().map(Into::into).collect(),
        }),
        ItemFact::Refuted(refutation) => Wire::Refuted(refuted(refutation)),
        ItemFact::HeadMoved(head) => Wire::HeadMoved(head.to_string()),
        ItemFact::Landed(commit, evidence) => Wire::Landed(v1::Landed {
            commit: commit.to_string(),
            evidence_sha256: evidence.to_string(),
        }),
        ItemFact::Recovered(landed) => Wire::Recovered(v1::Recovered {
            commit: landed.commit.to_string(),
            tree: landed.tree.to_string(),
            evidence_sha256: landed.evidence.to_string(),
        }),
        ItemFact::Reported => Wire::Reported(true),
        ItemFact::Parked(reason) => Wire::Parked(reason.clone()),
        ItemFact::Requeued => Wire::Requeued(true),
        ItemFact::Cancelled => Wire::Cancelled(true),
        ItemFact::Logged(number, log) => {
            Wire::Logged(v1::Logged { number: number.0, log: Some(log.into()) })
        }
        ItemFact::Saved(number, commits, reason) => Wire::Saved(v1::RecordSaved {
            number: number.0,
            saved: Some((&Saved { commits: commits.clone(), reason: reason.clone() }).into()),
        }),
        ItemFact::Settled(..)
        | ItemFact::Demanded(..)
        | ItemFact::Proposed(..)
        | ItemFact::Learned(..)
        | ItemFact::LearningsChecked(..)
        | ItemFact::Warned(_)
        | ItemFact::Approved(..)
        | ItemFact::Rechecked(_)
        | ItemFact::Split(..) => rules::wire(fact),
    }
}

fn item_fact(wire: Wire) -> Result<ItemFact, RecordError> {
    Ok(match wire {
        Wire::Submitted(_) | Wire::RunCancelled(_) | Wire::RunWarned(_) => {
            return Err(RecordError::Unknown("item"));
        }
        Wire::Queued(queued) => {
            let dispatch = queued.dispatch.ok_or(RecordError::Unknown("dispatch"))?;
            let dispatch = Arc::new(rules::dispatch(dispatch)?);
            ItemFact::Queued(AttemptNumber(queued.number), kind(queued.kind)?, dispatch)
        }
        Wire::Leased(leased) => {
            let holder: Leased = leased.holder.ok_or(RecordError::Unknown("holder"))?.try_into()?;
            let holder = Holder { lease: LeaseId::new(&leased.lease)?, leased: holder };
            ItemFact::Leased(AttemptNumber(leased.number), Box::new(holder))
        }
        Wire::Ended(ended) => {
            ItemFact::Ended(AttemptNumber(ended.number), ending(&ended)?, ended.reason)
        }
        Wire::Delivered(delivered) => {
            let result = delivered.result.ok_or(RecordError::Unknown("result"))?;
            ItemFact::Delivered(AttemptNumber(delivered.number), Box::new(result.try_into()?))
        }
        Wire::Gated(_) => ItemFact::Gated,
        Wire::MergeBegan(_) => ItemFact::MergeBegan,
        Wire::Merged(candidate) => ItemFact::Merged(Box::new(candidate.try_into()?)),
        Wire::Verified(verified) => {
            let envelopes = verified.envelopes.into_iter().map(TryInto::try_into);
            ItemFact::Verified(AttemptNumber(verified.number), envelopes.collect::<Result<_, _>>()?)
        }
        Wire::Refuted(refuted) => ItemFact::Refuted(Box::new(refutation(refuted)?)),
        Wire::HeadMoved(head) => ItemFact::HeadMoved(CommitId::new(head)?),
        Wire::Landed(landed) => {
            ItemFact::Landed(CommitId::new(landed.commit)?, Digest::new(landed.evidence_sha256)?)
        }
        Wire::Recovered(found) => ItemFact::Recovered(Box::new(Landed {
            commit: CommitId::new(found.commit)?,
            tree: TreeId::new(found.tree)?,
            evidence: Digest::new(found.evidence_sha256)?,
        })),
        Wire::Reported(_) => ItemFact::Reported,
        Wire::Parked(reason) => ItemFact::Parked(reason),
        Wire::Requeued(_) => ItemFact::Requeued,
        Wire::Cancelled(_) => ItemFact::Cancelled,
        Wire::Logged(logged) => {
            let log = logged.log.ok_or(RecordError::Unknown("log"))?.try_into()?;
            ItemFact::Logged(AttemptNumber(logged.number), log)
        }
        Wire::Saved(saved) => {
            let number = AttemptNumber(saved.number);
            let saved: Saved = saved.saved.ok_or(RecordError::Unknown("saved work"))?.try_into()?;
            ItemFact::Saved(number, saved.commits, saved.reason)
        }
        other => rules::fact(other)?,
    })
}

fn kind(kind: i32) -> Result<AttemptKind, RecordError> {
    match v1::AttemptKind::try_from(kind) {
        Ok(v1::AttemptKind::Produce) => Ok(AttemptKind::Produce),
        Ok(v1::AttemptKind::Repair) => Ok(AttemptKind::Repair),
        Ok(v1::AttemptKind::Verify) => Ok(AttemptKind::Verify),
        Ok(v1::AttemptKind::Unspecified) | Err(_) => Err(RecordError::Unknown("kind of attempt")),
    }
}

fn ended(number: AttemptNumber, ending: Ending, reason: &str) -> v1::Ended {
    let (ending, failure) = match ending {
        Ending::Lost => (v1::EndingKind::Lost, v1::FailureKind::Unspecified),
        Ending::Inconclusive => (v1::EndingKind::Inconclusive, v1::FailureKind::Unspecified),
        Ending::Unclaimed => (v1::EndingKind::Unclaimed, v1::FailureKind::Unspecified),
        Ending::OverBudget => (v1::EndingKind::OverBudget, v1::FailureKind::Unspecified),
        Ending::Stalled => (v1::EndingKind::Stalled, v1::FailureKind::Unspecified),
        Ending::Unmeasured => (v1::EndingKind::Unmeasured, v1::FailureKind::Unspecified),
        Ending::Failed(kind) => (v1::EndingKind::Failed, kind.into()),
    };
    v1::Ended {
        number: number.0,
        ending: ending.into(),
        failure: failure.into(),
        reason: reason.to_owned(),
    }
}

fn ending(ended: &v1::Ended) -> Result<Ending, RecordError> {
    match v1::EndingKind::try_from(ended.ending) {
        Ok(v1::EndingKind::Lost) => Ok(Ending::Lost),
        Ok(v1::EndingKind::Inconclusive) => Ok(Ending::Inconclusive),
        Ok(v1::EndingKind::Unclaimed) => Ok(Ending::Unclaimed),
        Ok(v1::EndingKind::OverBudget) => Ok(Ending::OverBudget),
        Ok(v1::EndingKind::Stalled) => Ok(Ending::Stalled),
        Ok(v1::EndingKind::Unmeasured) => Ok(Ending::Unmeasured),
        Ok(v1::EndingKind::Failed) => {
            let kind = v1::FailureKind::try_from(ended.failure).ok();
            let kind = kind.and_then(|kind| FailureKind::try_from(kind).ok());
            Ok(Ending::Failed(kind.ok_or(RecordError::Unknown("kind of failure"))?))
        }
        Ok(v1::EndingKind::Unspecified) | Err(_) => Err(RecordError::Unknown("ending")),
    }
}

fn refuted(refutation: &Refutation) -> v1::Refuted {
    let (by, number, onto) = match &refutation.by {
        Refuter::Inspection => (v1::RefuterKind::Inspection, 0, String::new()),
        Refuter::Gate => (v1::RefuterKind::Gate, 0, String::new()),
        Refuter::Merge(onto) => (v1::RefuterKind::Merge, 0, onto.to_string()),
        Refuter::Verdict(number) => (v1::RefuterKind::Verdict, number.0, String::new()),
    };
    let found = refutation.out_of_scope.iter().map(rules::found);
    v1::Refuted {
        by: by.into(),
        number,
        defect: Some((&refutation.defect).into()),
        onto,
        out_of_scope: found.collect(),
    }
}

fn refutation(wire: v1::Refuted) -> Result<Refutation, RecordError> {
    let by = match v1::RefuterKind::try_from(wire.by) {
        Ok(v1::RefuterKind::Inspection) => Refuter::Inspection,
        Ok(v1::RefuterKind::Gate) => Refuter::Gate,
        Ok(v1::RefuterKind::Merge) => Refuter::Merge(CommitId::new(&wire.onto)?),
        Ok(v1::RefuterKind::Verdict) => Refuter::Verdict(AttemptNumber(wire.number)),
        Ok(v1::RefuterKind::Unspecified) | Err(_) => return Err(RecordError::Unknown("refuter")),
    };
    let defect: Defect = wire.defect.ok_or(RecordError::Unknown("defect"))?.try_into()?;
    let findings = wire.out_of_scope.into_iter().map(rules::finding);
    Ok(Refutation { by, defect, out_of_scope: findings.collect::<Result<_, _>>()? })
}
