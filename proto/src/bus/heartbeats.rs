//! Heartbeats: a request to whoever coordinates, never stored.

use std::time::Duration;

use async_nats::client::RequestErrorKind;
use async_nats::{Request, Subject, Subscriber};
use futures::StreamExt as _;

use super::{Bus, BusError};
use crate::ids::RoleName;
use crate::message::{Heartbeat, HeartbeatReply};
use crate::subjects::{BusUser, HEARTBEATS_ALL, heartbeat, untoken};
use crate::wire::WireError;

/// How long an answer may take: below the pause between two heartbeats, so that they do not pile up.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(1500);

/// What came of a heartbeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeartbeatAnswer {
    /// The lease holds.
    GoOn(Vec<String>),
    /// It does not, for this reason.
    Stop(String),
    /// The coordinator or the bus is away: go on, up to the hard wall clock.
    NoAnswer,
}

/// All heartbeats, as the coordinator gets them.
#[derive(Debug)]
pub struct Heartbeats {
    bus: Bus,
    requests: Subscriber,
}

/// One heartbeat that waits for its answer.
#[derive(Debug)]
pub struct HeartbeatRequest {
    /// The role whose members alone may ask there.
    pub role: RoleName,
    /// What it says, or why it says nothing.
    pub heartbeat: Result<Heartbeat, WireError>,
    bus: Bus,
    reply: Subject,
}

impl Bus {
    /// Asks whether to go on.
    ///
    /// # Errors
    /// [`BusError::Message`] when the heartbeat cannot be sent or the answer is not one.
    pub async fn heartbeat(
        &self,
        role: &RoleName,
        beat: &Heartbeat,
    ) -> Result<HeartbeatAnswer, BusError> {
        const WHAT: &str = "send a heartbeat";
        let payload = beat.encode().map_err(|source| BusError::Message { what: WHAT, source })?;
        let request = Request::new().payload(payload).timeout(Some(ANSWER_TIMEOUT));
        match self.client.send_request(heartbeat(role), request).await {
            Ok(message) => {
                let reply = HeartbeatReply::decode(&message.payload)
                    .map_err(|source| BusError::Message { what: WHAT, source })?;
                Ok(match reply {
                    HeartbeatReply::GoOn(demands) => HeartbeatAnswer::GoOn(demands),
                    HeartbeatReply::Stop(reason) => HeartbeatAnswer::Stop(reason),
                })
            }
            Err(error)
                if matches!(
                    error.kind(),
                    RequestErrorKind::NoResponders | RequestErrorKind::TimedOut
                ) =>
            {
                Ok(HeartbeatAnswer::NoAnswer)
            }
            Err(_) => Err(BusError::Closed { what: WHAT }),
        }
    }

    /// All heartbeats from now on.
    ///
    /// # Errors
    /// [`BusError`].
    pub async fn heartbeats(&self) -> Result<Heartbeats, BusError> {
        const WHAT: &str = "listen for heartbeats";
        let requests = self.client.subscribe(HEARTBEATS_ALL).await;
        let requests = requests.map_err(|_| BusError::Closed { what: WHAT })?;
        // A round trip: afterwards the server knows the subscription, and no heartbeat goes unheard.
        let _: serde_json::Value = self.ask(WHAT, "INFO".to_owned(), &()).await?;
        Ok(Heartbeats { bus: self.clone(), requests })
    }
}

impl Heartbeats {
    /// The next heartbeat; nothing when the connection is closed.
    pub async fn next(&mut self) -> Option<HeartbeatRequest> {
        loop {
            let message = self.requests.next().await?;
            let role = message.subject.as_str().rsplit('.').next().and_then(untoken);
            let (Some(Ok(role)), Some(reply)) = (role.map(RoleName::new), message.reply) else {
                continue;
            };
            // The server does not check where an answer is asked to go, and we may publish more than the asker.
            let inboxes = [BusUser::Worker(role.clone()), BusUser::Verifier(role.clone())];
            let own = inboxes.iter().any(|user| {
                reply.strip_prefix(&user.inbox_prefix()).is_some_and(|rest| rest.starts_with('.'))
            });
            if !own {
                tracing::warn!(%role, %reply, "refused to answer a heartbeat into a foreign inbox");
                continue;
            }
            let heartbeat = Heartbeat::decode(&message.payload);
            return Some(HeartbeatRequest { role, heartbeat, bus: self.bus.clone(), reply });
        }
    }
}

impl HeartbeatRequest {
    /// Answers; if the asker went away, nothing happens.
    ///
    /// # Errors
    /// [`BusError`].
    pub async fn answer(self, reply: &HeartbeatReply) -> Result<(), BusError> {
        const WHAT: &str = "answer a heartbeat";
        let payload = reply.encode().map_err(|source| BusError::Message { what: WHAT, source })?;
        self.bus
            .client
            .publish(self.reply, payload)
            .await
            .map_err(|_| BusError::Closed { what: WHAT })
    }
}
