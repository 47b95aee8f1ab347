//! The way to the coordinator: over the socket in the home, or over TCP.
//!
//! Every call has a limit. Errors name the place that was tried and the way out.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use cantus_proto::wire::v1::cantus_client::CantusClient;
use tonic::transport::{Channel, Endpoint};
use tonic::{Response, Status};

use super::error::CliError;
use crate::config::Home;

/// How long the coordinator may take to accept a connection; on one machine it takes a millisecond.
const CONNECT_MAX: Duration = Duration::from_secs(5);

/// How long a question may take: the answer is a copy of what is in memory.
pub(super) const ANSWER_MAX: Duration = Duration::from_secs(30);

/// How long a submission or an artifact may take: the repository is fetched, which can be large and far away.
pub(super) const TRANSFER_MAX: Duration = Duration::from_secs(15 * 60);

/// Pause between two signs of life on a quiet connection, and how long each may take: a machine that vanished is
/// noticed while nothing is sent.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// Largest answer in bytes: a run of 200,000 items is about 60 MiB.
const ANSWER_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Where the coordinator is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A unix socket.
    Socket(PathBuf),
    /// A URL.
    Address(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(path) => path.display().fmt(f),
            Self::Address(url) => url.fmt(f),
        }
    }
}

impl Place {
    /// What a flag says, or else the home's socket.
    pub(super) fn choose(connect: Option<&str>, home: &Home) -> Self {
        connect.map_or_else(|| Self::Socket(home.socket()), |url| Self::Address(url.to_owned()))
    }

    fn endpoint(&self) -> Result<Endpoint, CliError> {
        let unusable = |reason: String, way_out| CliError::Unreachable {
            place: self.clone(),
            reason,
            way_out,
        };
        let endpoint = match self {
            Self::Socket(path) => {
                let path = path.to_str().ok_or_else(|| {
                    unusable(
                        "its path is not UTF-8".to_owned(),
                        "choose another home with --home DIR",
                    )
                })?;
                Endpoint::from_shared(format!("unix://{path}"))
            }
            Self::Address(url) if url.starts_with("http://") => Endpoint::from_shared(url.clone()),
            Self::Address(_) => {
                let reason = "this is not an http:// URL".to_owned();
                return Err(unusable(reason, "write --connect http://HOST:PORT"));
            }
        };
        let endpoint = endpoint
            .map_err(|error| unusable(error.to_string(), "write --connect http://HOST:PORT"))?;
        Ok(endpoint
            .connect_timeout(CONNECT_MAX)
            .http2_keep_alive_interval(KEEP_ALIVE)
            .keep_alive_timeout(KEEP_ALIVE))
    }

    fn unreachable(&self, error: &tonic::transport::Error) -> CliError {
        let (reason, way_out) = match (self, io_kind(error)) {
            (Self::Socket(_), Some(io::ErrorKind::NotFound)) => {
                ("there is no such socket".to_owned(), "start it with `cantus up`")
            }
            (Self::Socket(_), Some(io::ErrorKind::ConnectionRefused)) => (
                "it has ended and left its socket behind".to_owned(),
                "start it again with `cantus up`",
            ),
            (Self::Socket(_), Some(io::ErrorKind::PermissionDenied)) => (
                "the socket belongs to somebody else".to_owned(),
                "call this as the user who started it, or name your own with --home DIR",
            ),
            (Self::Socket(_), Some(io::ErrorKind::InvalidInput)) => (
                "the path is too long for a socket (107 bytes)".to_owned(),
                "choose a shorter home with --home DIR",
            ),
            (Self::Socket(_), _) => (crate::kernel::chain(error), "see `cantus up`"),
            (Self::Address(_), _) => (
                crate::kernel::chain(error),
                "check the address, and that `cantus serve --listen` runs there",
            ),
        };
        CliError::Unreachable { place: self.clone(), reason, way_out }
    }
}

/// The kind of the system's error at the bottom, if it is one.
fn io_kind(error: &tonic::transport::Error) -> Option<io::ErrorKind> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return Some(error.kind());
        }
        cause = error.source();
    }
    None
}

/// A connection, and where it leads.
#[derive(Debug, Clone)]
pub(super) struct Client {
    /// The generated client.
    pub(super) api: CantusClient<Channel>,
    place: Place,
}

impl Client {
    /// Connects.
    pub(super) async fn connect(place: Place) -> Result<Self, CliError> {
        let channel =
            place.endpoint()?.connect().await.map_err(|error| place.unreachable(&error))?;
        let api = CantusClient::new(channel).max_decoding_message_size(ANSWER_BYTES_MAX);
        Ok(Self { api, place })
    }

    /// Waits for an answer, at most so long.
    pub(super) async fn answer<T>(
        &self,
        limit: Duration,
        call: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, CliError> {
        let answer = self.within(limit, call).await?;
        answer.map(Response::into_inner).map_err(|status| self.error(&status))
    }

    /// Waits for something that the coordinator does, at most so long.
    pub(super) async fn within<T>(
        &self,
        limit: Duration,
        call: impl Future<Output = T>,
    ) -> Result<T, CliError> {
        let too_slow =
            |_| CliError::TooSlow { place: self.place.clone(), seconds: limit.as_secs() };
        tokio::time::timeout(limit, call).await.map_err(too_slow)
    }

    /// What a status of this coordinator means.
    pub(super) fn error(&self, status: &Status) -> CliError {
        // A connection that breaks is reported by the client itself, as whatever the transport was doing.
        let broken = std::error::Error::source(status).is_some();
        if broken && matches!(status.code(), tonic::Code::Unknown | tonic::Code::Internal) {
            return CliError::WentAway {
                place: self.place.clone(),
                reason: status.message().to_owned(),
            };
        }
        CliError::of_status(&self.place, status)
    }
}
