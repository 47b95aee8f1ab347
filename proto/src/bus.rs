//! The only place that speaks async-nats: streams, lease, report, blobs.
//!
//! One [`Bus`] is one connection of one user. What each user may do is in [`crate::subjects`]; a call that the
//! server does not permit gets no answer and ends at its limit. Nothing here decides about items.

mod blobs;
mod direct;
mod error;
mod follow;
mod heartbeats;
mod journal;
mod parked;
mod reports;
mod send;
mod sources;
mod streams;
mod work;

use std::time::Duration;

use async_nats::jetstream;
use async_nats::{ConnectErrorKind, ConnectOptions, Event};
use tokio::sync::watch;

pub use blobs::{BLOB_CHUNK_BYTES, BlobError, BlobOrphans};
pub use error::{BusError, ConnectError};
pub use heartbeats::{HeartbeatAnswer, HeartbeatRequest, Heartbeats};
pub use journal::{AppendError, AppendPending, JournalEntry};
pub use reports::{ReportEntry, Reports};
pub use sources::{SourceEntry, Sources};
pub use streams::{ACK_PENDING_MAX, QueueDepth, Queued};
pub use work::{Delivery, Enqueued, PublishPending, WorkQueue};

use crate::subjects::permissions;

/// Oldest server that has what is used here: per-subject discard, batched direct get, republish.
pub const SERVER_VERSION_MIN: (u64, u64) = (2, 12);

/// How long one request may take: far above the milliseconds that it needs, below a lease.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// How long an answer may take after a new connection. Requests that wait for one leave only then, and those
/// of the old connection are never answered.
const AFTER_RECONNECT: Duration = Duration::from_millis(500);

/// Pause between pings: a connection that is cut without a word is noticed after two.
const PING_INTERVAL: Duration = Duration::from_secs(5);

/// Most publishes that wait for the store at the same time; more make the publisher wait.
const PUBLISHES_IN_FLIGHT_MAX: usize = 4096;

/// First and longest pause before another try.
const RETRY_PAUSE_MIN: Duration = Duration::from_millis(50);
/// See [`RETRY_PAUSE_MIN`].
const RETRY_PAUSE_MAX: Duration = Duration::from_secs(2);

/// How to reach the bus, and as whom.
#[derive(Clone)]
pub struct BusConfig {
    /// As `nats://127.0.0.1:4222`.
    pub url: String,
    /// A [`crate::subjects::BusUser::name`]; replies arrive below its inbox prefix.
    pub user: String,
    /// Never shown.
    pub password: String,
    /// What the server shows this connection as.
    pub name: String,
    /// How long to wait for a server that is not there yet; zero for one try.
    pub wait: Duration,
}

impl std::fmt::Debug for BusConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BusConfig")
            .field("url", &self.url)
            .field("user", &self.user)
            .field("name", &self.name)
            .field("wait", &self.wait)
            .finish_non_exhaustive()
    }
}

/// One connection to the bus. Clones share it.
#[derive(Debug, Clone)]
pub struct Bus {
    client: async_nats::Client,
    jetstream: jetstream::Context,
    connects: watch::Receiver<u64>,
}

impl Bus {
    /// Connects and checks the server's version. Afterwards the connection mends itself, for ever.
    ///
    /// # Errors
    /// [`ConnectError`]; refused credentials and a wrong version are told at once, whatever `wait` says.
    pub async fn connect(config: BusConfig) -> Result<Self, ConnectError> {
        let deadline = tokio::time::Instant::now() + config.wait;
        let (connects_tx, mut connects) = watch::channel(0_u64);
        let mut tries = 0;
        let client = loop {
            tries += 1;
            match options(&config, connects_tx.clone()).connect(&config.url).await {
                Ok(client) => break client,
                Err(source) if is_refusal(source.kind()) => {
                    return Err(ConnectError::Refused {
                        url: config.url,
                        user: config.user,
                        source,
                    });
                }
                Err(source) if tokio::time::Instant::now() >= deadline => {
                    return Err(ConnectError::Unreachable { url: config.url, source });
                }
                Err(source) => {
                    tracing::debug!(url = config.url, error = %source, "the bus is not there yet")
                }
            }
            let pause = tokio::time::Instant::now() + retry_pause(tries);
            tokio::time::sleep_until(pause.min(deadline)).await;
        };
        // The first connection is not news: whoever watches for new ones must not take it for one.
        let _ = tokio::time::timeout(REQUEST_TIMEOUT, connects.changed()).await;
        let found = client.server_info().version;
        if !version_suffices(&found) {
            return Err(ConnectError::Version { url: config.url, found });
        }
        let jetstream = jetstream::context::ContextBuilder::new()
            .timeout(REQUEST_TIMEOUT)
            .ack_timeout(REQUEST_TIMEOUT)
            .max_ack_inflight(PUBLISHES_IN_FLIGHT_MAX)
            .build(client.clone());
        Ok(Self { client, jetstream, connects })
    }

    /// Counts connections: it changes when the bus came back.
    #[must_use]
    pub fn connects(&self) -> watch::Receiver<u64> {
        self.connects.clone()
    }

    /// Whether there is a connection, as far as this process knows.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.client.connection_state() == async_nats::connection::State::Connected
    }

    /// Waits until everything that was published so far has left this process.
    ///
    /// # Errors
    /// [`BusError::Closed`].
    pub async fn flush(&self) -> Result<(), BusError> {
        self.client.flush().await.map_err(|_| BusError::Closed { what: "flush" })
    }
}

fn options(config: &BusConfig, connects: watch::Sender<u64>) -> ConnectOptions {
    ConnectOptions::with_user_and_password(config.user.clone(), config.password.clone())
        .name(&config.name)
        .custom_inbox_prefix(permissions::inbox_prefix(&config.user))
        .request_timeout(Some(REQUEST_TIMEOUT))
        .connection_timeout(REQUEST_TIMEOUT)
        .ping_interval(PING_INTERVAL)
        .reconnect_delay_callback(retry_pause)
        .event_callback(move |event| {
            let connects = connects.clone();
            async move {
                match event {
                    Event::Connected => {
                        tracing::info!("connected to the bus");
                        connects.send_modify(|count| *count += 1);
                    }
                    Event::Disconnected => tracing::warn!("the bus went away; trying again"),
                    Event::ServerError(error) => {
                        tracing::error!(%error, "the bus refused something")
                    }
                    Event::SlowConsumer(id) => {
                        tracing::warn!(id, "a subscription is too slow and lost messages")
                    }
                    other => tracing::debug!(event = %other, "bus"),
                }
            }
        })
}

fn is_refusal(kind: ConnectErrorKind) -> bool {
    matches!(kind, ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Authentication)
}

/// Pause before the next try: doubles up to its bound, and is spread so that many do not come at once.
fn retry_pause(tries: usize) -> Duration {
    let doublings = u32::try_from(tries.saturating_sub(1)).unwrap_or(u32::MAX).min(10);
    let pause = (RETRY_PAUSE_MIN * 2_u32.pow(doublings)).min(RETRY_PAUSE_MAX);
    let mut random = [0_u8; 1];
    // Without randomness the pause is whole, which is only less well spread.
    if getrandom::fill(&mut random).is_err() {
        return pause;
    }
    pause / 2 + pause * u32::from(random[0]) / 512
}

fn version_suffices(version: &str) -> bool {
    let mut parts = version.trim_start_matches('v').split(['.', '-']).map(str::parse::<u64>);
    match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= SERVER_VERSION_MIN,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_odd_versions_are_refused_with_both_named() {
        for good in ["2.12.0", "2.15.1", "3.0.0", "v2.12.1", "2.12.0-RC.1"] {
            assert!(version_suffices(good), "{good}");
        }
        for bad in ["2.9.10", "2.11.9", "1.99.0", "", "x.y"] {
            assert!(!version_suffices(bad), "{bad}");
        }
        let error = ConnectError::Version { url: "nats://h:1".into(), found: "2.9.10".into() };
        assert_eq!(
            error.to_string(),
            "the bus at nats://h:1 is nats-server 2.9.10, and 2.12 or newer is needed: upgrade it"
        );
    }

    #[test]
    fn pauses_grow_to_their_bound_and_differ() {
        assert!(retry_pause(1) <= RETRY_PAUSE_MIN);
        assert!(retry_pause(1000) <= RETRY_PAUSE_MAX && retry_pause(1000) >= RETRY_PAUSE_MAX / 2);
        let pauses: std::collections::BTreeSet<_> = (0..50).map(|_| retry_pause(9)).collect();
        assert!(pauses.len() > 1);
    }

    #[test]
    fn a_password_is_not_shown() {
        let config = BusConfig {
            url: "u".into(),
            user: "pool".into(),
            password: "secret".into(),
            name: "n".into(),
            wait: Duration::ZERO,
        };
        assert!(!format!("{config:?}").contains("secret"));
    }
}
