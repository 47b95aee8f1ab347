//! Why a command ended without doing what was asked; each error knows its exit code.

use std::path::PathBuf;

use tonic::{Code, Status};

use super::client::Place;
use super::exit::Exit;
use super::text;

/// See the module.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// Nobody listens where the coordinator should.
    #[error("no coordinator at {place}: {reason}; {way_out}")]
    Unreachable {
        /// Where it was looked for.
        place: Place,
        /// What the system said.
        reason: String,
        /// What to do.
        way_out: &'static str,
    },
    /// It was there, and went away before it answered.
    #[error("the coordinator at {place} went away: {reason}; see `cantus status`, then try again")]
    WentAway {
        /// Where it was.
        place: Place,
        /// What it or the connection said.
        reason: String,
    },
    /// It takes longer than the limit.
    #[error(
        "the coordinator at {place} did not answer within {seconds} s; try again, or look at its log"
    )]
    TooSlow {
        /// Where it is.
        place: Place,
        /// The limit.
        seconds: u64,
    },
    /// A name that the coordinator does not know, or a value that makes no sense to it.
    #[error("{reason}")]
    Unknown {
        /// In the coordinator's words.
        reason: String,
    },
    /// The coordinator will not do it.
    #[error("refused: {reason}")]
    Refused {
        /// In the coordinator's words.
        reason: String,
    },
    /// The coordinator failed.
    #[error("the coordinator at {place} failed ({code:?}): {reason}; its log says more")]
    Coordinator {
        /// Where it is.
        place: Place,
        /// The kind, in gRPC's words.
        code: Code,
        /// In the coordinator's words.
        reason: String,
    },
    /// A file that the command line names cannot be read.
    #[error("cannot read {path}, check its name and rights")]
    Read {
        /// As given.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file of trusted keys is not there.
    #[error(
        "no trusted keys at {path}: name the file with --trust FILE (`cantus up` makes one in the home)"
    )]
    NoTrust {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The file of trusted keys is no such file.
    #[error("{path} is not usable")]
    Trust {
        /// As given.
        path: PathBuf,
        /// Why.
        source: Box<cantus_proto::evidence::trust::TrustError>,
    },
    /// A repository or range cannot be audited at all.
    #[error("nothing was audited")]
    Audit(#[source] Box<crate::audit::AuditError>),
    /// What the server sent does not fit what it said of it.
    #[error(
        "{what} is damaged: it has sha256 {found}, expected {wanted}; ask again, then check the disk of the bus"
    )]
    Damaged {
        /// The artifact or file.
        what: String,
        /// Of what came.
        found: String,
        /// As announced.
        wanted: String,
    },
    /// There is nothing of the kind yet.
    #[error("{what}; {way_out}")]
    Nothing {
        /// What is not there.
        what: String,
        /// What to do.
        way_out: String,
    },
    /// A place to write to is taken or not writable.
    #[error("cannot write {path}, name a new directory or one without it")]
    Write {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl CliError {
    /// What a gRPC status means to the person who asked. The message is data from elsewhere: it is bounded
    /// here, and escaped where it is printed.
    pub(super) fn of_status(place: &Place, status: &Status) -> Self {
        let reason = text::bounded(status.message(), text::PROSE_CHARS_MAX);
        let place = place.clone();
        match status.code() {
            Code::NotFound | Code::InvalidArgument => Self::Unknown { reason },
            Code::FailedPrecondition
            | Code::AlreadyExists
            | Code::Aborted
            | Code::OutOfRange
            | Code::ResourceExhausted
            | Code::PermissionDenied
            | Code::Unauthenticated => Self::Refused { reason },
            Code::Unavailable => Self::WentAway { place, reason },
            code => Self::Coordinator { place, code, reason },
        }
    }

    /// Its exit code.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Unreachable { .. } | Self::WentAway { .. } | Self::TooSlow { .. } => {
                Exit::Unreachable
            }
            Self::Unknown { .. }
            | Self::Read { .. }
            | Self::NoTrust { .. }
            | Self::Trust { .. }
            | Self::Audit(_)
            | Self::Write { .. } => Exit::Usage,
            Self::Refused { .. } | Self::Damaged { .. } | Self::Nothing { .. } => Exit::Failed,
            Self::Coordinator { .. } => Exit::Internal,
        }
    }
}
