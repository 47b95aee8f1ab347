//! Reading stored messages without a consumer.
//!
//! Workers and pools read this way: the right to create a consumer would be the right to have the server
//! publish anywhere in their stead. It also cannot hang: the server says when it has no more.

use async_nats::{HeaderName, Message, StatusCode, header};
use bytes::Bytes;
use futures::StreamExt as _;

use super::send::unless_reconnected;
use super::{Bus, BusError, REQUEST_TIMEOUT};

/// Says how many more messages match.
const PENDING: HeaderName = HeaderName::from_static("Nats-Num-Pending");

/// One stored message.
pub(super) struct Found {
    pub(super) sequence: u64,
    pub(super) message: Message,
}

impl Bus {
    /// The last message of a subject.
    pub(super) async fn direct_last(
        &self,
        what: &'static str,
        stream: &str,
        subject: &str,
    ) -> Result<Option<Message>, BusError> {
        let ask = format!("$JS.API.DIRECT.GET.{stream}.{subject}");
        let message = self.request(what, ask, Bytes::new()).await?;
        match message.status {
            None | Some(StatusCode::OK) => Ok(Some(message)),
            Some(StatusCode::NOT_FOUND) => Ok(None),
            Some(status) => Err(BusError::Refused { what, text: format!("status {status}") }),
        }
    }

    /// Up to `count` messages of a subject from a sequence on, in order, each given to `take` as it comes.
    /// Returns how many came; none means that there are none yet.
    pub(super) async fn direct_batch(
        &self,
        what: &'static str,
        ask: &Batch<'_>,
        mut take: impl FnMut(Found) -> Result<(), BusError>,
    ) -> Result<usize, BusError> {
        let inbox = self.client.new_inbox();
        let replies = self.client.subscribe(inbox.clone()).await;
        let mut replies = replies.map_err(|_| BusError::Closed { what })?;
        let request = serde_json::json!({
            "seq": ask.from_sequence, "batch": ask.count, "next_by_subj": ask.subject,
        });
        let subject = format!("$JS.API.DIRECT.GET.{}", ask.stream);
        let sent =
            self.client.publish_with_reply(subject, inbox, Bytes::from(request.to_string())).await;
        sent.map_err(|_| BusError::Closed { what })?;
        let mut came = 0;
        let mut connects = self.connects.clone();
        connects.mark_unchanged();
        loop {
            let reply = unless_reconnected(connects.clone(), replies.next());
            let reply = tokio::time::timeout(REQUEST_TIMEOUT, reply).await.ok().flatten();
            let reply = reply.ok_or(BusError::TimedOut { what, waited: REQUEST_TIMEOUT })?;
            let message = reply.ok_or(BusError::Closed { what })?;
            match message.status {
                None | Some(StatusCode::OK) => {}
                Some(StatusCode::NOT_FOUND) => return Ok(came),
                Some(StatusCode::NO_RESPONDERS) => return Err(BusError::NotServed { what }),
                // The end of the batch is a message without content that says how many are left.
                Some(_)
                    if message.headers.as_ref().is_some_and(|all| all.get(PENDING).is_some()) =>
                {
                    return Ok(came);
                }
                Some(status) => {
                    return Err(BusError::Refused { what, text: format!("status {status}") });
                }
            }
            let sequence = message.headers.as_ref().and_then(|all| all.get(header::NATS_SEQUENCE));
            let sequence = sequence.and_then(|value| value.as_str().parse().ok());
            let sequence = sequence.ok_or_else(|| BusError::Refused {
                what,
                text: "a stored message came without its sequence".to_owned(),
            })?;
            came += 1;
            take(Found { sequence, message })?;
        }
    }
}

/// What [`Bus::direct_batch`] reads.
pub(super) struct Batch<'a> {
    pub(super) stream: &'a str,
    pub(super) subject: &'a str,
    pub(super) from_sequence: u64,
    pub(super) count: usize,
}
