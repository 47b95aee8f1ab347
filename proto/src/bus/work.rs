//! The work queue: one message is one attempt that nobody has taken yet.
//!
//! The queue decides nothing. A message that is delivered twice is two takers of one attempt, and the journal
//! says which of them holds it.

use std::time::Duration;

use async_nats::jetstream::message::PublishMessage;
use async_nats::{Message, StatusCode, Subject, Subscriber};
use bytes::Bytes;
use futures::StreamExt as _;
use tokio::sync::watch;
use tokio::time::Instant;

use super::send::StorePending;
use super::{Bus, BusError, retry_pause};
use crate::ids::{AttemptNumber, ItemId, RoleName, RunId};
use crate::message::Attempt;
use crate::subjects::{LANE_NORMAL, STREAM_WORK, attempt_message_id, work, work_consumer};

/// Longest that one pull waits at the server before it is renewed.
const PULL_EXPIRES_MAX: Duration = Duration::from_secs(30);

/// How often the server says that a pull is still known to it.
const PULL_HEARTBEAT: Duration = Duration::from_secs(2);

/// Silence after which a pull counts as forgotten: more than two heartbeats.
const PULL_SILENCE_MAX: Duration = Duration::from_secs(6);

/// How much longer to listen than the pull lasts: a message that is on its way when the pull ends is not left to
/// its lease.
const PULL_GRACE: Duration = Duration::from_millis(250);

/// What became of publishing an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enqueued {
    /// It waits now.
    Queued {
        /// Its place in the stream, for [`Bus::withdraw`].
        sequence: u64,
    },
    /// It waits since an earlier publish.
    AlreadyQueued,
    /// It was published within the last two minutes, and may have been taken since.
    Duplicate {
        /// Its place in the stream.
        sequence: u64,
    },
}

/// An attempt on its way to the store.
#[derive(Debug)]
pub struct PublishPending(StorePending);

/// One taker of the work of one role: a free slot.
#[derive(Debug)]
pub struct WorkQueue {
    bus: Bus,
    pull_subject: Subject,
    inbox: Subject,
    replies: Subscriber,
    /// Whether the server owes an answer to the last pull.
    pull_open: bool,
    connects: watch::Receiver<u64>,
}

/// One attempt, taken. Another may get it too, if it is not acknowledged within the lease.
#[derive(Debug)]
pub struct Delivery {
    /// What was taken.
    pub attempt: Attempt,
    bus: Bus,
    ack_subject: Subject,
}

impl Bus {
    /// Publishes an attempt and waits for the store.
    ///
    /// # Errors
    /// [`BusError`]; after [`BusError::TimedOut`] it may or may not be queued, and publishing again is safe.
    pub async fn publish_attempt(&self, attempt: &Attempt) -> Result<Enqueued, BusError> {
        self.publish_attempt_start(attempt).await?.stored().await
    }

    /// Publishes an attempt without waiting for the store; waits only when too many are under way.
    ///
    /// # Errors
    /// [`BusError`].
    pub async fn publish_attempt_start(
        &self,
        attempt: &Attempt,
    ) -> Result<PublishPending, BusError> {
        const WHAT: &str = "publish an attempt";
        let payload =
            attempt.encode().map_err(|source| BusError::Message { what: WHAT, source })?;
        let id = attempt_message_id(&attempt.run, &attempt.item, attempt.number);
        let message = PublishMessage::build().payload(payload).message_id(id);
        Ok(PublishPending(self.store_start(WHAT, subject_of(attempt), message).await?))
    }

    /// Removes a queued attempt; if it was taken before, nothing happens.
    ///
    /// # Errors
    /// [`BusError`].
    pub async fn withdraw(&self, sequence: u64) -> Result<(), BusError> {
        self.remove("withdraw an attempt", STREAM_WORK, sequence).await
    }

    /// Removes a queued attempt by its name; if it was taken before, nothing happens.
    ///
    /// # Errors
    /// [`BusError`].
    pub async fn withdraw_attempt(
        &self,
        role: &RoleName,
        run: &RunId,
        item: &ItemId,
        number: AttemptNumber,
    ) -> Result<(), BusError> {
        self.purge("withdraw an attempt", STREAM_WORK, &work(role, run, item, number)).await
    }

    /// Opens a slot for the work of one role. Nothing is taken before [`WorkQueue::next`].
    ///
    /// # Errors
    /// [`BusError::Closed`].
    pub async fn work_queue(&self, role: &RoleName) -> Result<WorkQueue, BusError> {
        let inbox = Subject::from(self.client.new_inbox());
        let replies = self.client.subscribe(inbox.clone()).await;
        let replies = replies.map_err(|_| BusError::Closed { what: "open a work queue" })?;
        let consumer = work_consumer(role, LANE_NORMAL);
        let pull_subject =
            Subject::from(format!("$JS.API.CONSUMER.MSG.NEXT.{STREAM_WORK}.{consumer}"));
        let connects = self.connects.clone();
        Ok(WorkQueue {
            bus: self.clone(),
            pull_subject,
            inbox,
            replies,
            pull_open: false,
            connects,
        })
    }

    /// Takes one attempt, for a process that takes only one: see [`WorkQueue::next`].
    ///
    /// # Errors
    /// As [`WorkQueue::next`].
    pub async fn lease_next(
        &self,
        role: &RoleName,
        timeout: Duration,
    ) -> Result<Option<Delivery>, BusError> {
        self.work_queue(role).await?.next(timeout).await
    }
}

impl PublishPending {
    /// Waits for the store.
    ///
    /// # Errors
    /// As [`Bus::publish_attempt`].
    pub async fn stored(self) -> Result<Enqueued, BusError> {
        match self.0.stored().await {
            Ok(ack) if ack.duplicate => Ok(Enqueued::Duplicate { sequence: ack.sequence }),
            Ok(ack) => Ok(Enqueued::Queued { sequence: ack.sequence }),
            // The code is that of every refusal to store, so the text has to tell.
            Err(error)
                if error.api().is_some_and(|api| api.to_string().contains("per subject")) =>
            {
                Ok(Enqueued::AlreadyQueued)
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl WorkQueue {
    /// Takes one attempt, or nothing when none comes in time. Survives restarts of the bus.
    ///
    /// # Errors
    /// [`BusError::NotServed`] when the role has no consumer; [`BusError::Message`] for an attempt of another
    /// version, which goes to another taker after the lease.
    pub async fn next(&mut self, timeout: Duration) -> Result<Option<Delivery>, BusError> {
        let deadline = Instant::now() + timeout;
        let (mut tries, mut unserved) = (0, false);
        loop {
            if !self.pull_open {
                self.pull(deadline).await?;
            }
            let wait_until = (Instant::now() + PULL_SILENCE_MAX).min(deadline + PULL_GRACE);
            let reply = tokio::select! {
                biased;
                reply = self.replies.next() => reply.ok_or(BusError::Closed { what: "take work" })?,
                changed = self.connects.changed() => {
                    changed.map_err(|_| BusError::Closed { what: "take work" })?;
                    self.pull_open = false;
                    continue;
                }
                () = tokio::time::sleep_until(wait_until) => {
                    self.pull_open = false;
                    if Instant::now() >= deadline {
                        return nothing(unserved);
                    }
                    continue;
                }
            };
            match reply.status {
                None | Some(StatusCode::OK) => {
                    self.pull_open = false;
                    return self.delivery(reply).map(Some);
                }
                Some(StatusCode::IDLE_HEARTBEAT) => unserved = false,
                Some(StatusCode::TIMEOUT | StatusCode::NOT_FOUND) => {
                    unserved = false;
                    self.pull_open = false;
                }
                // Nobody serves it, or the server gave up on it.
                Some(status) => {
                    unserved = status == StatusCode::NO_RESPONDERS;
                    self.pull_open = false;
                    tries += 1;
                    let pause = Instant::now() + retry_pause(tries);
                    tokio::time::sleep_until(deadline.min(pause)).await;
                }
            }
            if !self.pull_open && Instant::now() >= deadline {
                return nothing(unserved);
            }
        }
    }

    /// Asks for exactly one message: more would wait here with their lease running.
    async fn pull(&mut self, deadline: Instant) -> Result<(), BusError> {
        let left = deadline.saturating_duration_since(Instant::now());
        let expires = left.clamp(Duration::from_millis(1), PULL_EXPIRES_MAX);
        let mut request = format!("{{\"batch\":1,\"expires\":{}", expires.as_nanos());
        if expires > 2 * PULL_HEARTBEAT {
            request.push_str(&format!(",\"idle_heartbeat\":{}", PULL_HEARTBEAT.as_nanos()));
        }
        request.push('}');
        self.connects.mark_unchanged();
        let sent = self.bus.client.publish_with_reply(
            self.pull_subject.clone(),
            self.inbox.clone(),
            Bytes::from(request),
        );
        sent.await.map_err(|_| BusError::Closed { what: "take work" })?;
        self.pull_open = true;
        Ok(())
    }

    fn delivery(&self, message: Message) -> Result<Delivery, BusError> {
        const WHAT: &str = "take work";
        let attempt = Attempt::decode(&message.payload)
            .map_err(|source| BusError::Message { what: WHAT, source })?;
        let ack_subject = message.reply.ok_or(BusError::Refused {
            what: WHAT,
            text: "a message came without an address for its acknowledgement".to_owned(),
        })?;
        Ok(Delivery { attempt, bus: self.bus.clone(), ack_subject })
    }
}

impl Delivery {
    /// Takes the message off the queue, once the lease is known to the store. Not waited for: if it is lost,
    /// the message comes again and the journal tells the second taker that it is too late.
    ///
    /// # Errors
    /// [`BusError::Closed`].
    pub async fn ack(&self) -> Result<(), BusError> {
        self.reply("+ACK").await
    }

    /// Gives the message back at once, for a taker that cannot begin.
    ///
    /// # Errors
    /// [`BusError::Closed`].
    pub async fn give_back(&self) -> Result<(), BusError> {
        self.reply("-NAK").await
    }

    async fn reply(&self, kind: &'static str) -> Result<(), BusError> {
        let sent =
            self.bus.client.publish(self.ack_subject.clone(), Bytes::from_static(kind.as_bytes()));
        sent.await.map_err(|_| BusError::Closed { what: "acknowledge work" })
    }
}

/// What a taker gets when its time is over.
fn nothing(unserved: bool) -> Result<Option<Delivery>, BusError> {
    if unserved { Err(BusError::NotServed { what: "take work" }) } else { Ok(None) }
}

pub(super) fn subject_of(attempt: &Attempt) -> String {
    work(&attempt.role, &attempt.run, &attempt.item, attempt.number)
}
