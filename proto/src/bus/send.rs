//! Requests to the store and messages for it, which do not wait for answers that a lost connection took along.

use std::future::{Future, IntoFuture as _};

use async_nats::Message;
use async_nats::jetstream;
use async_nats::jetstream::context::PublishAckFuture;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::publish::PublishAck;
use bytes::Bytes;
use tokio::sync::watch;

use super::error::{ApiError, StoreError, request_error};
use super::{AFTER_RECONNECT, Bus, BusError};

impl Bus {
    /// One request to the store's interface, without its prefix. `()` asks without a body.
    pub(super) async fn ask<T, V>(
        &self,
        what: &'static str,
        subject: String,
        request: &T,
    ) -> Result<V, ApiError>
    where
        T: serde::Serialize + ?Sized,
        V: serde::de::DeserializeOwned,
    {
        let refused = |text: String| ApiError::Bus(BusError::Refused { what, text });
        let body = serde_json::to_vec(request).map_err(|error| refused(error.to_string()))?;
        // The store wants no body where it needs none, not even an empty one.
        let body = if body == b"null" { Vec::new() } else { body };
        let answer = self.request(what, format!("$JS.API.{subject}"), body.into()).await;
        let payload = answer.map_err(ApiError::Bus)?.payload;
        match serde_json::from_slice(&payload).map_err(|error| refused(error.to_string()))? {
            jetstream::response::Response::Ok(value) => Ok(value),
            jetstream::response::Response::Err { error } => Err(ApiError::Api { what, error }),
        }
    }

    /// One request and its answer.
    pub(super) async fn request(
        &self,
        what: &'static str,
        subject: String,
        body: Bytes,
    ) -> Result<Message, BusError> {
        let mut connects = self.connects.clone();
        connects.mark_unchanged();
        match unless_reconnected(connects, self.client.request(subject, body)).await {
            Some(Ok(message)) => Ok(message),
            Some(Err(error)) => Err(request_error(what, &error)),
            None => Err(BusError::TimedOut { what, waited: AFTER_RECONNECT }),
        }
    }

    /// Hands a message to the store and waits for its acknowledgement.
    pub(super) async fn store(
        &self,
        what: &'static str,
        subject: impl async_nats::subject::ToSubject,
        message: PublishMessage,
    ) -> Result<PublishAck, StoreError> {
        self.store_start(what, subject, message).await?.stored().await
    }

    /// Hands a message to the store.
    pub(super) async fn store_start(
        &self,
        what: &'static str,
        subject: impl async_nats::subject::ToSubject,
        message: PublishMessage,
    ) -> Result<StorePending, StoreError> {
        let mut connects = self.connects.clone();
        connects.mark_unchanged();
        let ack = self.jetstream.send_publish(subject, message).await;
        let ack = ack.map_err(|error| StoreError { what, error: Some(error) })?;
        Ok(StorePending { what, ack, connects })
    }
}

/// A message on its way to the store.
#[derive(Debug)]
pub(super) struct StorePending {
    what: &'static str,
    ack: PublishAckFuture,
    connects: watch::Receiver<u64>,
}

impl StorePending {
    pub(super) async fn stored(self) -> Result<PublishAck, StoreError> {
        let what = self.what;
        match unless_reconnected(self.connects, self.ack.into_future()).await {
            Some(Ok(ack)) => Ok(ack),
            Some(Err(error)) => Err(StoreError { what, error: Some(error) }),
            None => Err(StoreError { what, error: None }),
        }
    }
}

/// Waits for an answer, but not long beyond a new connection: what was under way on the old one is lost.
pub(super) async fn unless_reconnected<F: Future>(
    mut connects: watch::Receiver<u64>,
    answer: F,
) -> Option<F::Output> {
    let lost = async move {
        // Without a sender there is no new connection to come.
        if connects.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(AFTER_RECONNECT).await;
    };
    tokio::select! {
        biased;
        answer = answer => Some(answer),
        () = lost => None,
    }
}
