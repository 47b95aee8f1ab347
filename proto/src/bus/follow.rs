//! Reading a stream in order from a place, for ever: without gaps or repeats over restarts of the bus.
//!
//! The server's part is a consumer in memory that acknowledges nothing. Whenever it is in doubt (a gap, silence,
//! a new connection) it is replaced by a new one that begins after the last message that was read.

use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::{Message, StatusCode, Subject, Subscriber};
use bytes::Bytes;
use futures::StreamExt as _;
use tokio::sync::watch;

use super::{Bus, BusError, retry_pause};

/// Messages asked for at once. The next lot is asked for when half of it has come, so that none is waited for.
const BATCH_MESSAGES: u64 = 1000;

/// Longest that a pull waits at the server before it is renewed.
const PULL_EXPIRES: Duration = Duration::from_secs(30);

/// How often the server says that it still knows the pull; two missing ones mean that it does not.
const HEARTBEAT: Duration = Duration::from_secs(2);

/// How long the server keeps the consumer of a reader that went away: short, so that a coordinator that is
/// killed again and again leaves none behind. A reader that is away for longer makes a new one.
const CONSUMER_KEPT: Duration = Duration::from_secs(5);

/// Reads one stream in order.
pub(super) struct Follow {
    bus: Bus,
    stream: &'static str,
    filter: &'static str,
    next: u64,
    session: Option<Session>,
    connects: watch::Receiver<u64>,
}

/// A message and its place in the stream.
pub(super) struct Followed {
    pub(super) sequence: u64,
    pub(super) message: Message,
}

/// One consumer at the server.
struct Session {
    name: String,
    pull_subject: Subject,
    inbox: Subject,
    replies: Subscriber,
    delivered: u64,
    asked: u64,
}

impl Follow {
    /// Begins at this sequence, or at the first one that is still there.
    pub(super) fn new(
        bus: &Bus,
        stream: &'static str,
        filter: &'static str,
        from_sequence: u64,
    ) -> Self {
        let connects = bus.connects.clone();
        Self {
            bus: bus.clone(),
            stream,
            filter,
            next: from_sequence.max(1),
            session: None,
            connects,
        }
    }

    /// The next message, whenever it comes.
    ///
    /// # Errors
    /// [`BusError::Closed`] only: everything else is tried again.
    pub(super) async fn next(&mut self) -> Result<Followed, BusError> {
        loop {
            let Some(session) = self.session.as_mut() else {
                self.open().await;
                continue;
            };
            if session.asked - session.delivered <= BATCH_MESSAGES / 2 {
                session.ask(&self.bus, BATCH_MESSAGES).await?;
            }
            let reply = tokio::select! {
                biased;
                reply = session.replies.next() => reply.ok_or(BusError::Closed { what: "follow a stream" })?,
                changed = self.connects.changed() => {
                    changed.map_err(|_| BusError::Closed { what: "follow a stream" })?;
                    self.session = None;
                    continue;
                }
                () = tokio::time::sleep(2 * HEARTBEAT) => {
                    tracing::warn!(stream = self.stream, "the bus fell silent; asking anew");
                    self.session = None;
                    continue;
                }
            };
            match reply.status {
                None | Some(StatusCode::OK) => {}
                Some(StatusCode::IDLE_HEARTBEAT) => continue,
                // A pull expired; it may have been part of what was asked for.
                Some(StatusCode::TIMEOUT) => {
                    session.asked = session.delivered;
                    continue;
                }
                Some(status) => {
                    tracing::debug!(stream = self.stream, %status, "the consumer is gone; making a new one");
                    self.session = None;
                    continue;
                }
            }
            let Some((sequence, delivery)) = reply.reply.as_ref().and_then(|ack| places(ack))
            else {
                self.session = None;
                continue;
            };
            if delivery != session.delivered + 1 || sequence < self.next {
                self.session = None;
                continue;
            }
            session.delivered = delivery;
            self.next = sequence + 1;
            return Ok(Followed { sequence, message: reply });
        }
    }

    /// Makes a consumer, however long that takes.
    async fn open(&mut self) {
        let mut tries = 0;
        self.connects.mark_unchanged();
        loop {
            match self.try_open().await {
                Ok(session) => {
                    self.session = Some(session);
                    return;
                }
                Err(error) => {
                    tries += 1;
                    if tries == 2 {
                        tracing::warn!(stream = self.stream, %error, "cannot follow the stream; trying again");
                    }
                    tokio::time::sleep(retry_pause(tries)).await;
                }
            }
        }
    }

    async fn try_open(&mut self) -> Result<Session, BusError> {
        const WHAT: &str = "follow a stream";
        let last = self.bus.last_sequence(self.stream).await?;
        if last + 1 < self.next {
            tracing::error!(
                stream = self.stream,
                read = self.next - 1,
                last,
                "the bus came back with an older store; what it stores from now on has sequences that were used"
            );
            self.next = last + 1;
        }
        let inbox = Subject::from(self.bus.client.new_inbox());
        let replies = self.bus.client.subscribe(inbox.clone()).await;
        let replies = replies.map_err(|_| BusError::Closed { what: WHAT })?;
        let name = inbox.as_str().rsplit('.').next().unwrap_or_default().to_owned();
        let config = pull::Config {
            name: Some(name.clone()),
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: self.next },
            filter_subject: self.filter.to_owned(),
            ack_policy: AckPolicy::None,
            memory_storage: true,
            num_replicas: 1,
            inactive_threshold: CONSUMER_KEPT,
            ..pull::Config::default()
        };
        let made = self.bus.jetstream.create_consumer_on_stream(config, self.stream).await;
        made.map_err(|error| BusError::Refused { what: WHAT, text: error.to_string() })?;
        let pull_subject =
            Subject::from(format!("$JS.API.CONSUMER.MSG.NEXT.{}.{name}", self.stream));
        Ok(Session { name, pull_subject, inbox, replies, delivered: 0, asked: 0 })
    }

    /// Takes the consumer off the server at once, for a reader that has read enough.
    pub(super) async fn close(mut self) {
        let Some(session) = self.session.take() else { return };
        let subject = format!("CONSUMER.DELETE.{}.{}", self.stream, session.name);
        let deleted: Result<serde_json::Value, _> =
            self.bus.ask("close a reader", subject, &()).await;
        if deleted.is_err() {
            tracing::debug!(
                stream = self.stream,
                "a reader's consumer stays until the server drops it"
            );
        }
    }
}

impl Session {
    async fn ask(&mut self, bus: &Bus, messages: u64) -> Result<(), BusError> {
        let request = format!(
            "{{\"batch\":{messages},\"expires\":{},\"idle_heartbeat\":{}}}",
            PULL_EXPIRES.as_nanos(),
            HEARTBEAT.as_nanos()
        );
        self.asked += messages;
        let sent = bus.client.publish_with_reply(
            self.pull_subject.clone(),
            self.inbox.clone(),
            Bytes::from(request),
        );
        sent.await.map_err(|_| BusError::Closed { what: "follow a stream" })
    }
}

/// Sequences in the stream and of the delivery, from the subject for the acknowledgement:
/// `$JS.ACK.<stream>.<consumer>.<deliveries>.<stream sequence>.<delivery sequence>.<time>.<pending>`.
fn places(ack: &str) -> Option<(u64, u64)> {
    let mut parts = ack.rsplit('.').skip(2);
    let delivery = parts.next()?.parse().ok()?;
    let sequence = parts.next()?.parse().ok()?;
    Some((sequence, delivery))
}

#[cfg(test)]
mod tests {
    #[test]
    fn places_are_read_from_the_ack_subject() {
        assert_eq!(super::places("$JS.ACK.S.c.1.42.7.1700000000000000000.0"), Some((42, 7)));
        assert_eq!(super::places("_INBOX.x"), None);
    }
}
