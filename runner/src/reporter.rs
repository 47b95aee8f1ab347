//! What a lease says to the coordinator. No best effort (W6): kept, tried again, and if it cannot be, left for salvage.

use std::time::Duration;

use cantus_proto::bus::{BlobError, Bus, BusError};
use cantus_proto::ids::{AttemptNumber, Blob, CommitId, ItemId, LeaseId, RoleName, RunId};
use cantus_proto::limits::ARTIFACT_BYTES_MAX;
use cantus_proto::message::{
    Attempt, AttemptKind, Commits, Failed, FailureKind, LeaseEvent, LeaseNote, LeaseReport, Report,
    Saved,
};
use tokio::time::Instant;

use crate::text::{chain, cut};

/// How long a hand-in is tried: the bus may be away for minutes, and beyond that salvage goes on.
const HAND_IN_MAX: Duration = Duration::from_secs(600);

/// Patience for what is nice to have: progress is old news soon.
const PROGRESS_MAX: Duration = Duration::from_secs(1);

/// Pause before what the bus refused is tried again; a full disk is not emptied faster.
const REFUSED_PAUSE: Duration = Duration::from_secs(5);

/// Longest reason, in bytes: a page for people, whatever the words came from.
const REASON_BYTES_MAX: usize = 8 * 1024;

/// Why something could not be said or fetched.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A blob could not be stored.
    #[error("an artifact could not be stored")]
    Store(#[source] BlobError),
    /// A blob could not be read.
    #[error("an artifact could not be fetched")]
    Fetch(#[source] BlobError),
    /// The report could not be stored.
    #[error("the report could not be stored")]
    Report(#[source] BusError),
}

/// Speaks for one lease.
#[derive(Debug, Clone)]
pub struct Reporter {
    bus: Bus,
    role: RoleName,
    lease: LeaseId,
    run: RunId,
    item: ItemId,
    attempt: AttemptNumber,
    kind: AttemptKind,
}

impl Reporter {
    /// For an attempt that was just taken.
    #[must_use]
    pub fn of_attempt(bus: Bus, role: RoleName, lease: LeaseId, attempt: &Attempt) -> Self {
        let (run, item) = (attempt.run.clone(), attempt.item.clone());
        Self { bus, role, lease, run, item, attempt: attempt.number, kind: attempt.work.kind() }
    }

    /// For a lease that ended before.
    #[must_use]
    pub fn of_note(bus: Bus, role: RoleName, note: LeaseNote) -> Self {
        let LeaseNote { lease, run, item, attempt, kind, .. } = note;
        Self { bus, role, lease, run, item, attempt, kind }
    }

    /// Stores a report, or fails within `patience`.
    ///
    /// # Errors
    /// [`BusError`].
    pub async fn report_within(
        &self,
        body: LeaseEvent,
        patience: Duration,
    ) -> Result<(), BusError> {
        self.bus.report(&self.role, &self.message(body), patience).await.map(|_| ())
    }

    /// Stores a report, however often it takes.
    ///
    /// # Errors
    /// [`ReportError::Report`] after ten minutes, or at once when it is not valid.
    pub async fn report(&self, body: LeaseEvent) -> Result<(), ReportError> {
        let report = self.message(body);
        let until = Instant::now() + HAND_IN_MAX;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.bus.report(&self.role, &report, left).await {
                Ok(_) => return Ok(()),
                // The same message would be as wrong the next time.
                Err(error @ BusError::Message { .. }) => return Err(ReportError::Report(error)),
                Err(error) if Instant::now() + REFUSED_PAUSE >= until => {
                    return Err(ReportError::Report(error));
                }
                Err(error) => {
                    tracing::warn!(error = chain(&error), "a report is kept; trying again")
                }
            }
            tokio::time::sleep(REFUSED_PAUSE).await;
        }
    }

    /// Tells people something now, or not at all.
    pub async fn progress(&self, text: String) {
        if let Err(error) = self.report_within(LeaseEvent::Progress(text), PROGRESS_MAX).await {
            tracing::debug!(error = chain(&error), "progress was not told");
        }
    }

    /// Stores an artifact, however often it takes.
    ///
    /// # Errors
    /// [`ReportError::Store`] after ten minutes.
    pub async fn store(&self, bytes: &[u8]) -> Result<Blob, ReportError> {
        let until = Instant::now() + HAND_IN_MAX;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.bus.put_blob(bytes, ARTIFACT_BYTES_MAX, left).await {
                Ok(blob) => return Ok(blob),
                Err(error) if Instant::now() + REFUSED_PAUSE >= until => {
                    return Err(ReportError::Store(error));
                }
                Err(error) => {
                    tracing::warn!(error = chain(&error), "an artifact is kept; trying again")
                }
            }
            tokio::time::sleep(REFUSED_PAUSE).await;
        }
    }

    /// Stores a log.
    ///
    /// # Errors
    /// As [`Reporter::store`].
    pub async fn store_log(&self, log: &[u8]) -> Result<Option<Blob>, ReportError> {
        if log.is_empty() { Ok(None) } else { self.store(log).await.map(Some) }
    }

    /// Fetches an artifact, checked by its digest.
    ///
    /// # Errors
    /// [`ReportError::Fetch`].
    pub async fn fetch(&self, blob: &Blob, patience: Duration) -> Result<Vec<u8>, ReportError> {
        let bytes = self.bus.get_blob(blob, ARTIFACT_BYTES_MAX, patience).await;
        bytes.map_err(ReportError::Fetch)
    }

    /// Keeps work beside or instead of a result.
    ///
    /// # Errors
    /// [`ReportError`].
    pub async fn save(
        &self,
        bundle: &[u8],
        base: CommitId,
        head: CommitId,
        reason: String,
    ) -> Result<(), ReportError> {
        let bundle = self.store(bundle).await?;
        let commits = Commits { bundle, base, head };
        let reason = cut(&reason, REASON_BYTES_MAX).to_owned();
        self.report(LeaseEvent::Saved(Saved { commits, reason })).await
    }

    fn message(&self, body: LeaseEvent) -> Report {
        Report::Lease(LeaseReport {
            lease: self.lease.clone(),
            run: self.run.clone(),
            item: self.item.clone(),
            attempt: self.attempt,
            kind: self.kind,
            body,
        })
    }
}

/// The end of an attempt without a result.
#[must_use]
pub fn failed(kind: FailureKind, reason: &str) -> Failed {
    tracing::warn!(?kind, reason, "the attempt failed");
    Failed::new(kind, cut(reason, REASON_BYTES_MAX))
}
