//! Why the bus did not do what was asked, sorted from what client and server say.

use std::time::Duration;

use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::jetstream::{self, ErrorCode};

use super::{AFTER_RECONNECT, REQUEST_TIMEOUT, SERVER_VERSION_MIN};

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Nobody answers.
    #[error(
        "the bus at {url} cannot be reached: start it with `cantus up`, or correct the address"
    )]
    Unreachable {
        /// Where.
        url: String,
        /// What went wrong.
        source: async_nats::ConnectError,
    },
    /// Wrong user or password.
    #[error(
        "the bus at {url} refused the credentials of user {user}: they are of another installation or out of date"
    )]
    Refused {
        /// Where.
        url: String,
        /// Whom.
        user: String,
        /// What the server said.
        source: async_nats::ConnectError,
    },
    /// Too old.
    #[error(
        "the bus at {url} is nats-server {found}, and {}.{} or newer is needed: upgrade it",
        SERVER_VERSION_MIN.0,
        SERVER_VERSION_MIN.1
    )]
    Version {
        /// Where.
        url: String,
        /// What it is.
        found: String,
    },
}

/// Why the bus did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum BusError {
    /// The server has no store, or lacks this stream or consumer.
    #[error(
        "{what}: the bus does not answer for it; JetStream is off, or the coordinator has not set it up"
    )]
    NotServed {
        /// What was tried.
        what: &'static str,
    },
    /// The server's disk is full or its limit reached.
    #[error("{what}: the bus has no space left ({text}): free disk space below its store")]
    NoSpace {
        /// What was tried.
        what: &'static str,
        /// What the server said.
        text: String,
    },
    /// No answer in time.
    #[error("{what}: no answer from the bus within {} s: it is away, or this user may not do it", .waited.as_secs())]
    TimedOut {
        /// What was tried.
        what: &'static str,
        /// How long.
        waited: Duration,
    },
    /// The server refused.
    #[error("{what}: the bus refused: {text}")]
    Refused {
        /// What was tried.
        what: &'static str,
        /// What the server said.
        text: String,
    },
    /// This connection is closed.
    #[error("{what}: the connection to the bus is closed")]
    Closed {
        /// What was tried.
        what: &'static str,
    },
    /// What was to be sent, or what came, is not valid.
    #[error("{what}: the message is not valid")]
    Message {
        /// What was tried.
        what: &'static str,
        /// What is wrong with it.
        source: crate::wire::WireError,
    },
}

/// Why a message is not stored, or not known to be: without an error the connection was a new one.
#[derive(Debug)]
pub(super) struct StoreError {
    pub(super) what: &'static str,
    pub(super) error: Option<PublishError>,
}

impl StoreError {
    /// What the store itself said, when it said something.
    pub(super) fn api(&self) -> Option<&jetstream::Error> {
        std::error::Error::source(self.error.as_ref()?)?.downcast_ref()
    }

    /// The stream or subject does not end where the message expects it.
    pub(super) fn is_conflict(&self) -> bool {
        let codes =
            [ErrorCode::STREAM_WRONG_LAST_SEQUENCE, ErrorCode::STREAM_WRONG_LAST_SEQUENCE_CONSTANT];
        self.api().is_some_and(|api| codes.contains(&api.error_code()))
    }
}

impl From<StoreError> for BusError {
    fn from(error: StoreError) -> Self {
        let what = error.what;
        match (error.error.as_ref().map(PublishError::kind), error.api()) {
            (_, Some(api)) => api_error(what, api),
            (None, _) => Self::TimedOut { what, waited: AFTER_RECONNECT },
            (Some(PublishErrorKind::StreamNotFound), _) => Self::NotServed { what },
            (Some(PublishErrorKind::TimedOut | PublishErrorKind::BrokenPipe), _) => {
                Self::TimedOut { what, waited: REQUEST_TIMEOUT }
            }
            (Some(kind), _) => Self::Refused { what, text: kind.to_string() },
        }
    }
}

impl BusError {
    /// Whether the bus may have been away, so that it is worth another try.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::TimedOut { .. } | Self::NotServed { .. })
    }
}

/// A refusal of the store that the caller may want to look at.
pub(super) enum ApiError {
    Bus(BusError),
    Api { what: &'static str, error: jetstream::Error },
}

impl ApiError {
    pub(super) fn has_code(&self, codes: &[ErrorCode]) -> bool {
        matches!(self, Self::Api { error, .. } if codes.contains(&error.error_code()))
    }
}

impl From<ApiError> for BusError {
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::Bus(error) => error,
            ApiError::Api { what, error } => api_error(what, &error),
        }
    }
}

/// Sorts what the store's interface says.
pub(super) fn api_error(what: &'static str, error: &jetstream::Error) -> BusError {
    let text = error.to_string();
    match error.error_code() {
        ErrorCode::JETSTREAM_NOT_ENABLED
        | ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT
        | ErrorCode::STREAM_NOT_FOUND
        | ErrorCode::CONSUMER_NOT_FOUND => BusError::NotServed { what },
        ErrorCode::INSUFFICIENT_RESOURCES
        | ErrorCode::STORAGE_RESOURCES_EXCEEDED
        | ErrorCode::ACCOUNT_RESOURCES_EXCEEDED => BusError::NoSpace { what, text },
        _ if text.contains("no space left") => BusError::NoSpace { what, text },
        _ => BusError::Refused { what, text },
    }
}

pub(super) fn request_error(what: &'static str, error: &async_nats::RequestError) -> BusError {
    use async_nats::RequestErrorKind as Kind;
    match error.kind() {
        Kind::NoResponders => BusError::NotServed { what },
        Kind::TimedOut => BusError::TimedOut { what, waited: REQUEST_TIMEOUT },
        Kind::Other => BusError::Closed { what },
        Kind::InvalidSubject | Kind::MaxPayloadExceeded => {
            BusError::Refused { what, text: error.to_string() }
        }
    }
}
