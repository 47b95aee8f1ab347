//! The journal: appends that fence, and replay.
//!
//! Every append says which sequence it expects the journal to end with. Two coordinators that append at once
//! cannot both be right, and the one that is not learns it here. What the records mean is not known here.

use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::time::Duration;

use async_nats::header::NATS_MESSAGE_ID;
use async_nats::jetstream::message::PublishMessage;
use bytes::Bytes;
use futures::Stream;
use tokio::time::Instant;

use super::error::StoreError;
use super::follow::Follow;
use super::send::StorePending;
use super::{Bus, BusError, retry_pause};
use crate::ids::RunId;
use crate::subjects::{JOURNAL_ALL, STREAM_JOURNAL, journal, untoken};

/// How long an append may stay undecided while the bus is away. Longer, and the coordinator ends and replays.
const APPEND_PATIENCE: Duration = Duration::from_secs(60);

/// What errors say was tried.
const WHAT: &str = "append to the journal";

/// One message of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalEntry {
    /// Its place.
    pub sequence: u64,
    /// The run that it is about.
    pub run: RunId,
    /// The records.
    pub payload: Bytes,
}

/// Why an append is not in the journal.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// Somebody else wrote.
    #[error(
        "the journal was to end with sequence {expected} and ends with {found}: another coordinator writes to it; \
         this one must end"
    )]
    Fenced {
        /// What this coordinator knew.
        expected: u64,
        /// What it is.
        found: u64,
    },
    /// It cannot be stored, or nobody knows whether it is.
    #[error("the journal cannot be written")]
    Bus(#[from] BusError),
}

/// An append on its way; awaiting it gives its sequence. Others may be under way behind it.
#[must_use]
pub struct AppendPending(Pin<Box<dyn Future<Output = Result<u64, AppendError>> + Send>>);

/// What is needed to send an append again.
struct Append {
    bus: Bus,
    subject: String,
    publish: PublishMessage,
    expected: u64,
    id: String,
}

impl Bus {
    /// Appends one message for a run. It leaves in the order of the calls, so the next append may expect
    /// `expected_last_sequence + 1` at once. `id` must be unique to this append; it tells an append whose
    /// acknowledgement was lost from that of another coordinator.
    pub async fn journal_append(
        &self,
        run: &RunId,
        payload: Bytes,
        expected_last_sequence: u64,
        id: &str,
    ) -> AppendPending {
        let publish = PublishMessage::build()
            .payload(payload)
            .message_id(id)
            .expected_last_sequence(expected_last_sequence);
        let append = Append {
            bus: self.clone(),
            subject: journal(run),
            publish,
            expected: expected_last_sequence,
            id: id.to_owned(),
        };
        let sent = append.send().await;
        AppendPending(Box::pin(append.settle(sent)))
    }

    /// The sequence that the journal ends with; zero when it is empty.
    ///
    /// # Errors
    /// [`BusError`].
    pub async fn journal_last_sequence(&self) -> Result<u64, BusError> {
        self.last_sequence(STREAM_JOURNAL).await
    }

    /// Everything in the journal up to what it ends with now, in order. Returned beside the stream is the
    /// sequence that it ends with: the first append after the replay expects it.
    ///
    /// # Errors
    /// [`BusError`] when the journal cannot be looked at.
    pub async fn journal_replay(
        &self,
    ) -> Result<
        (u64, impl Stream<Item = Result<JournalEntry, BusError>> + Send + Unpin + use<>),
        BusError,
    > {
        let last = self.journal_last_sequence().await?;
        let follow = (last > 0).then(|| Follow::new(self, STREAM_JOURNAL, JOURNAL_ALL, 1));
        let entries = futures::stream::unfold(follow, move |follow| async move {
            let mut follow = follow?;
            loop {
                let followed = match follow.next().await {
                    Ok(followed) => followed,
                    Err(error) => return Some((Err(error), None)),
                };
                let sequence = followed.sequence;
                let entry = if sequence > last { None } else { entry(followed) };
                let rest = if sequence >= last {
                    follow.close().await;
                    None
                } else {
                    Some(follow)
                };
                match (entry, rest) {
                    (Some(entry), rest) => return Some((Ok(entry), rest)),
                    (None, None) => return None,
                    (None, Some(rest)) => follow = rest,
                }
            }
        });
        Ok((last, Box::pin(entries)))
    }
}

/// An entry, if a coordinator wrote it: replies of the server can be led here, and carry no message id.
fn entry(followed: super::follow::Followed) -> Option<JournalEntry> {
    let message = followed.message;
    let ours =
        message.headers.as_ref().is_some_and(|headers| headers.get(NATS_MESSAGE_ID).is_some());
    let run = message.subject.as_str().rsplit('.').next().and_then(untoken);
    match run.and_then(|run| RunId::new(run).ok()) {
        Some(run) if ours => {
            Some(JournalEntry { sequence: followed.sequence, run, payload: message.payload })
        }
        _ => {
            tracing::warn!(
                sequence = followed.sequence,
                "a message in the journal is not of a coordinator"
            );
            None
        }
    }
}

impl Append {
    async fn send(&self) -> Result<StorePending, StoreError> {
        self.bus.store_start(WHAT, self.subject.clone(), self.publish.clone()).await
    }

    /// Waits until it is certain whether the append is in the journal.
    async fn settle(self, first: Result<StorePending, StoreError>) -> Result<u64, AppendError> {
        let deadline = Instant::now() + APPEND_PATIENCE;
        let mut sent = first;
        let mut tries = 0;
        loop {
            let stored = match sent {
                Ok(pending) => pending.stored().await,
                Err(error) => Err(error),
            };
            let error = match stored {
                Ok(ack) => return Ok(ack.sequence),
                Err(error) => error,
            };
            // A conflict without an outcome: an append before this one is missing, and is being sent again.
            let conflict = error.is_conflict();
            let undecided = if conflict {
                match self.resolve().await {
                    Ok(Some(outcome)) => return outcome,
                    Ok(None) => error.into(),
                    Err(error) => error,
                }
            } else {
                BusError::from(error)
            };
            tries += 1;
            let next = Instant::now() + retry_pause(tries);
            if !(conflict || undecided.is_passing()) || next >= deadline {
                return Err(undecided.into());
            }
            tracing::debug!(error = %undecided, tries, "an append is undecided; sending it again");
            tokio::time::sleep_until(next).await;
            // The same id: if an earlier try got through, the server says so instead of storing it again.
            sent = self.send().await;
        }
    }

    /// After a conflict: whose message is it that stands where ours was to be?
    async fn resolve(&self) -> Result<Option<Result<u64, AppendError>>, BusError> {
        let ours = self.expected + 1;
        let request = serde_json::json!({ "seq": ours });
        let stored = self.bus.stored("look at the journal", STREAM_JOURNAL, &request).await?;
        if let Some(stored) = stored {
            if stored.message_id.as_deref() == Some(self.id.as_str()) {
                return Ok(Some(Ok(ours)));
            }
        } else if self.bus.journal_last_sequence().await? < ours {
            return Ok(None);
        }
        let found = self.bus.journal_last_sequence().await?;
        Ok(Some(Err(AppendError::Fenced { expected: self.expected, found })))
    }
}

impl IntoFuture for AppendPending {
    type Output = Result<u64, AppendError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        self.0
    }
}

impl std::fmt::Debug for AppendPending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AppendPending")
    }
}
