//! Streams and consumers: set up by the coordinator, the same however often, and what can be asked of them.

use std::time::Duration;

use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::context::CreateStreamErrorKind;
use async_nats::jetstream::stream::{
    Config, DiscardPolicy, Republish, RetentionPolicy, StorageType,
};
use serde::Deserialize;

use super::error::{ApiError, api_error};
use super::{Bus, BusError};
use crate::ids::RoleName;
use crate::limits;
use crate::message::Attempt;
use crate::subjects::{
    BLOB_CHUNKS_ALL, BLOB_METAS_ALL, JOURNAL_ALL, LANE_NORMAL, PARKED_ALL, REPORTS_ALL,
    SOURCES_ALL, SOURCES_STORED_DESTINATION, STREAM_BLOBS, STREAM_JOURNAL, STREAM_PARKED,
    STREAM_REPORTS, STREAM_SOURCES, STREAM_WORK, WORK_ALL, work_consumer, work_of,
};

/// How long the server remembers message ids: longer than any publisher keeps trying.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(120);

/// Reports are in the journal long before this; it bounds the disk, and lets people look back.
const REPORTS_AGE_MAX: Duration = Duration::from_secs(7 * 24 * 3600);

/// Most bytes of reports kept. The server sets them aside in its books, and refuses what its disk could not hold.
const REPORTS_BYTES_MAX: i64 = 1024 * 1024 * 1024;

/// Messages of one role that may be taken and not yet leased. Far above any number of slots, because dead
/// takers hold theirs for a whole lease and must not starve the living.
pub const ACK_PENDING_MAX: i64 = 10_000;

/// Pulls of one role that may wait at the same time: one for each free slot of every host.
const PULLS_WAITING_MAX: i64 = 4096;

/// How much work waits for one role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueDepth {
    /// Nobody took it yet.
    pub waiting: u64,
    /// Taken, and not yet leased.
    pub taken: u64,
}

/// One attempt that still waits.
#[derive(Debug, Clone, PartialEq)]
pub struct Queued {
    /// Its place in the stream.
    pub sequence: u64,
    /// When it was queued, in milliseconds since 1970, by the server's clock.
    pub queued_at_ms: u64,
    /// What waits.
    pub attempt: Attempt,
}

impl Bus {
    /// Creates or updates all streams. Their number does not depend on roles or runs.
    ///
    /// # Errors
    /// [`BusError::NotServed`] when JetStream is off, [`BusError::NoSpace`] when its disk is too small.
    pub async fn ensure_streams(&self) -> Result<(), BusError> {
        for config in stream_configs() {
            self.jetstream
                .create_or_update_stream(config)
                .await
                .map_err(|error| create_error(&error))?;
        }
        Ok(())
    }

    /// Creates or updates the consumer of each of these roles. Those of other roles stay as they are.
    ///
    /// # Errors
    /// [`BusError`].
    pub async fn ensure_consumers(&self, roles: &[RoleName]) -> Result<(), BusError> {
        self.ensure_consumers_with(roles, limits::LEASE).await
    }

    /// As [`Self::ensure_consumers`], with another time until a message whose taker died is delivered again.
    ///
    /// # Errors
    /// [`BusError`].
    pub async fn ensure_consumers_with(
        &self,
        roles: &[RoleName],
        lease: Duration,
    ) -> Result<(), BusError> {
        const WHAT: &str = "set up work consumers";
        for role in roles {
            let config = consumer_config(role, lease);
            self.jetstream
                .create_consumer_on_stream(config, STREAM_WORK)
                .await
                .map_err(|error| BusError::Refused { what: WHAT, text: error.to_string() })?;
        }
        Ok(())
    }

    /// Names of all streams: constant over restarts.
    ///
    /// # Errors
    /// [`BusError`].
    pub async fn stream_names(&self) -> Result<Vec<String>, BusError> {
        #[derive(Deserialize)]
        struct Names {
            streams: Option<Vec<String>>,
        }
        let names: Names = self.ask("list streams", "STREAM.NAMES".to_owned(), &()).await?;
        Ok(names.streams.unwrap_or_default())
    }

    /// Names of all consumers of a stream: for [`STREAM_WORK`] one per role.
    ///
    /// # Errors
    /// [`BusError`].
    pub async fn consumer_names(&self, stream: &str) -> Result<Vec<String>, BusError> {
        #[derive(Deserialize)]
        struct Names {
            consumers: Option<Vec<String>>,
        }
        let subject = format!("CONSUMER.NAMES.{stream}");
        let names: Names = self.ask("list consumers", subject, &()).await?;
        Ok(names.consumers.unwrap_or_default())
    }

    /// The sequence of the last message that a stream ever stored; zero when there was none.
    pub(super) async fn last_sequence(&self, stream: &str) -> Result<u64, BusError> {
        #[derive(Deserialize)]
        struct Info {
            state: State,
        }
        #[derive(Deserialize)]
        struct State {
            last_seq: u64,
        }
        let info: Info = self.ask("look at a stream", format!("STREAM.INFO.{stream}"), &()).await?;
        Ok(info.state.last_seq)
    }

    /// How much work waits for a role.
    ///
    /// # Errors
    /// [`BusError::NotServed`] when the role has no consumer.
    pub async fn queue_depth(&self, role: &RoleName) -> Result<QueueDepth, BusError> {
        #[derive(Deserialize)]
        struct Info {
            num_pending: u64,
            num_ack_pending: u64,
        }
        let subject = format!("CONSUMER.INFO.{STREAM_WORK}.{}", work_consumer(role, LANE_NORMAL));
        let info: Info = self.ask("look at a queue", subject, &()).await?;
        Ok(QueueDepth { waiting: info.num_pending, taken: info.num_ack_pending })
    }

    /// The attempt of a role that was queued first and is still there. It is not taken by this.
    ///
    /// # Errors
    /// [`BusError`].
    pub async fn oldest(&self, role: &RoleName) -> Result<Option<Queued>, BusError> {
        let request = serde_json::json!({ "seq": 1, "next_by_subj": work_of(role, LANE_NORMAL) });
        self.queued(&request).await
    }

    /// The queued message of one attempt, if it is still there.
    ///
    /// # Errors
    /// [`BusError`].
    pub async fn queued_attempt(&self, attempt: &Attempt) -> Result<Option<Queued>, BusError> {
        let subject = super::work::subject_of(attempt);
        self.queued(&serde_json::json!({ "last_by_subj": subject })).await
    }

    async fn queued(&self, request: &serde_json::Value) -> Result<Option<Queued>, BusError> {
        const WHAT: &str = "look at queued work";
        let Some(stored) = self.stored(WHAT, STREAM_WORK, request).await? else { return Ok(None) };
        let attempt = Attempt::decode(&stored.payload)
            .map_err(|source| BusError::Message { what: WHAT, source })?;
        Ok(Some(Queued { sequence: stored.sequence, queued_at_ms: stored.stored_at_ms, attempt }))
    }

    /// One message of a stream, by the store's own interface.
    pub(super) async fn stored(
        &self,
        what: &'static str,
        stream: &str,
        request: &serde_json::Value,
    ) -> Result<Option<Stored>, BusError> {
        use async_nats::jetstream::stream::RawMessage;
        #[derive(Deserialize)]
        struct Got {
            message: RawMessage,
        }
        let subject = format!("STREAM.MSG.GET.{stream}");
        let got: Result<Got, ApiError> = self.ask(what, subject, request).await;
        let got = match got {
            Err(error) if error.has_code(&[ErrorCode::NO_MESSAGE_FOUND]) => return Ok(None),
            other => other?,
        };
        let stored_at_ms =
            u64::try_from(got.message.time.unix_timestamp_nanos() / 1_000_000).unwrap_or(0);
        let message: async_nats::jetstream::message::StreamMessage =
            got.message.try_into().map_err(|error: async_nats::Error| BusError::Refused {
                what,
                text: error.to_string(),
            })?;
        Ok(Some(Stored {
            sequence: message.sequence,
            stored_at_ms,
            message_id: message
                .headers
                .get(async_nats::header::NATS_MESSAGE_ID)
                .map(ToString::to_string),
            payload: message.payload,
        }))
    }

    /// Removes one message; already gone is as good.
    pub(super) async fn remove(
        &self,
        what: &'static str,
        stream: &str,
        sequence: u64,
    ) -> Result<(), BusError> {
        // Without overwriting its bytes: they hold no secret, and it would cost a write each.
        let request = serde_json::json!({ "seq": sequence, "no_erase": true });
        let removed: Result<serde_json::Value, _> =
            self.ask(what, format!("STREAM.MSG.DELETE.{stream}"), &request).await;
        let gone = [
            ErrorCode::NO_MESSAGE_FOUND,
            ErrorCode::SEQUENCE_NOT_FOUND,
            ErrorCode::STREAM_MESSAGE_DELETE_FAILED,
        ];
        match removed {
            Err(error) if !error.has_code(&gone) => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Removes all messages of one subject.
    pub(super) async fn purge(
        &self,
        what: &'static str,
        stream: &str,
        subject: &str,
    ) -> Result<(), BusError> {
        let request = serde_json::json!({ "filter": subject });
        let _: serde_json::Value =
            self.ask(what, format!("STREAM.PURGE.{stream}"), &request).await?;
        Ok(())
    }
}

/// A message as the store has it.
pub(super) struct Stored {
    pub(super) sequence: u64,
    pub(super) stored_at_ms: u64,
    pub(super) message_id: Option<String>,
    pub(super) payload: bytes::Bytes,
}

fn stream_configs() -> [Config; 6] {
    let base = |name: &str, subjects: &[&str]| Config {
        name: name.to_owned(),
        subjects: subjects.iter().map(|&subject| subject.to_owned()).collect(),
        storage: StorageType::File,
        num_replicas: 1,
        duplicate_window: DUPLICATE_WINDOW,
        allow_direct: true,
        ..Config::default()
    };
    [
        Config {
            retention: RetentionPolicy::WorkQueue,
            // One subject is one attempt: a second message for it is refused as long as the first waits.
            discard: DiscardPolicy::New,
            discard_new_per_subject: true,
            max_messages_per_subject: 1,
            ..base(STREAM_WORK, &[WORK_ALL])
        },
        Config {
            max_age: REPORTS_AGE_MAX,
            max_bytes: REPORTS_BYTES_MAX,
            ..base(STREAM_REPORTS, &[REPORTS_ALL])
        },
        base(STREAM_JOURNAL, &[JOURNAL_ALL]),
        Config { max_messages_per_subject: 1, ..base(STREAM_PARKED, &[PARKED_ALL]) },
        Config {
            // A complete bundle replaces all updates of its repository before it.
            allow_rollup: true,
            republish: Some(Republish {
                source: SOURCES_ALL.to_owned(),
                destination: SOURCES_STORED_DESTINATION.to_owned(),
                headers_only: true,
            }),
            ..base(STREAM_SOURCES, &[SOURCES_ALL])
        },
        // Rollups stay off, other than object stores have it: with them a worker could wipe all blobs.
        base(STREAM_BLOBS, &[BLOB_CHUNKS_ALL, BLOB_METAS_ALL]),
    ]
}

fn consumer_config(role: &RoleName, lease: Duration) -> pull::Config {
    pull::Config {
        durable_name: Some(work_consumer(role, LANE_NORMAL)),
        filter_subject: work_of(role, LANE_NORMAL),
        ack_policy: AckPolicy::Explicit,
        ack_wait: lease,
        // Attempts are counted in the journal; at a bound of the server a message would only become invisible.
        max_deliver: -1,
        max_ack_pending: ACK_PENDING_MAX,
        max_waiting: PULLS_WAITING_MAX,
        ..pull::Config::default()
    }
}

fn create_error(error: &async_nats::jetstream::context::CreateStreamError) -> BusError {
    const WHAT: &str = "set up streams";
    match error.kind() {
        CreateStreamErrorKind::JetStream(error) => api_error(WHAT, &error),
        CreateStreamErrorKind::TimedOut => {
            BusError::TimedOut { what: WHAT, waited: super::REQUEST_TIMEOUT }
        }
        CreateStreamErrorKind::JetStreamUnavailable => BusError::NotServed { what: WHAT },
        _ => BusError::Refused { what: WHAT, text: error.to_string() },
    }
}
