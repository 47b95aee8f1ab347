//! Reports: stored before they count, read in order.

use std::time::Duration;

use async_nats::jetstream::message::PublishMessage;
use futures::Stream;
use tokio::time::Instant;

use super::follow::Follow;
use super::{Bus, BusError, retry_pause};
use crate::ids::{RoleName, hex};
use crate::message::Report;
use crate::subjects::{REPORTS_ALL, STREAM_REPORTS, report, untoken};
use crate::wire::WireError;

/// One stored report.
#[derive(Debug)]
pub struct ReportEntry {
    /// Its place in the stream. One that is not above the last means that the bus lost messages.
    pub sequence: u64,
    /// The role whose members alone may report there (and pools); nothing when the subject names none.
    pub role: Option<RoleName>,
    /// What it says, or why it says nothing.
    pub report: Result<Report, WireError>,
}

/// All reports in order, for ever.
pub struct Reports(Follow);

impl Bus {
    /// Stores a report and waits for the store's acknowledgement. While the bus is away it keeps trying; a
    /// report that was stored by an earlier try is not stored again.
    ///
    /// # Errors
    /// [`BusError`] when it cannot be stored at all, or the last one when `patience` is over.
    pub async fn report(
        &self,
        role: &RoleName,
        message: &Report,
        patience: Duration,
    ) -> Result<u64, BusError> {
        const WHAT: &str = "report";
        let payload =
            message.encode().map_err(|source| BusError::Message { what: WHAT, source })?;
        let mut id = [0_u8; 16];
        getrandom::fill(&mut id).map_err(|error| BusError::Refused {
            what: WHAT,
            text: format!("no randomness: {error}"),
        })?;
        let publish = PublishMessage::build().payload(payload).message_id(hex(&id));
        let subject = async_nats::Subject::from(report(role));
        let deadline = Instant::now() + patience;
        let mut tries = 0;
        loop {
            let error = match self.store(WHAT, subject.clone(), publish.clone()).await {
                Ok(ack) => return Ok(ack.sequence),
                Err(error) => BusError::from(error),
            };
            tries += 1;
            let next = Instant::now() + retry_pause(tries);
            if !error.is_passing() || next >= deadline {
                return Err(error);
            }
            tracing::debug!(%error, tries, "the report is not stored yet");
            tokio::time::sleep_until(next).await;
        }
    }

    /// All reports from this sequence on, in order, without gaps or repeats, whatever happens to the bus.
    #[must_use]
    pub fn reports(&self, from_sequence: u64) -> Reports {
        Reports(Follow::new(self, STREAM_REPORTS, REPORTS_ALL, from_sequence))
    }

    /// The sequence of the last report that was ever stored.
    ///
    /// # Errors
    /// [`BusError`].
    pub async fn reports_last_sequence(&self) -> Result<u64, BusError> {
        self.last_sequence(STREAM_REPORTS).await
    }
}

impl Reports {
    /// The next report, whenever it comes.
    ///
    /// # Errors
    /// [`BusError::Closed`] only.
    pub async fn next(&mut self) -> Result<ReportEntry, BusError> {
        let followed = self.0.next().await?;
        let token = followed.message.subject.as_str().rsplit('.').next().unwrap_or_default();
        let role = untoken(token).and_then(|name| RoleName::new(name).ok());
        let report = Report::decode(&followed.message.payload);
        Ok(ReportEntry { sequence: followed.sequence, role, report })
    }

    /// As a stream, which ends when the connection is closed. `ready_chunks` gives batches of what has come.
    pub fn into_stream(self) -> impl Stream<Item = ReportEntry> + Send + Unpin {
        Box::pin(futures::stream::unfold(self, |mut reports| async move {
            reports.next().await.ok().map(|entry| (entry, reports))
        }))
    }
}

impl std::fmt::Debug for Reports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reports")
    }
}
