//! The generated wire types, and the only way between them and the domain.
//!
//! Out is `From`, in is `TryFrom`, which is the only validation: of the version, of every id, and of every
//! length and count. What a valid message may change is not decided here.

mod attempt;
mod check;
mod contract;
mod notes;
mod report;
mod usage;
mod wishes;

use bytes::Bytes;
use prost::Message as _;

use crate::ids::NameError;
use crate::limits::WIRE_VERSION;
use crate::message::{Attempt, Heartbeat, HeartbeatReply, LeaseNote, Report, SourceUpdate};

/// Package `cantus.v1`: bus messages, journal records and the gRPC API.
#[expect(missing_docs, clippy::all, reason = "generated; documented in the .proto files")]
#[cfg_attr(
    feature = "net",
    expect(
        clippy::allow_attributes,
        clippy::allow_attributes_without_reason,
        clippy::too_many_lines,
        reason = "generated services"
    )
)]
pub mod v1 {
    include!(concat!(env!("OUT_DIR"), "/cantus.v1.rs"));
}

/// The compiled file descriptor set, for gRPC reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));

/// Longest text in one field, in bytes: a checker or a finding is a page, not a book.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;

/// Longest short text (a ref, an image, a claim's id) in bytes.
pub const LABEL_BYTES_MAX: usize = 1024;

/// Most entries of one list: more than people read.
pub const LIST_COUNT_MAX: usize = 1000;

/// Largest signed statement in bytes.
pub const STATEMENT_BYTES_MAX: usize = 256 * 1024;

/// Why bytes are not a message, or a message cannot become bytes.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// Not protobuf of this kind.
    #[error("{what} cannot be decoded")]
    Undecodable {
        /// The kind of message.
        what: &'static str,
        /// Where decoding stopped.
        source: prost::DecodeError,
    },
    /// Of another version.
    #[error(
        "{what} has version {found}, this program knows {WIRE_VERSION}: run one version everywhere"
    )]
    Version {
        /// The kind of message.
        what: &'static str,
        /// Its version.
        found: u32,
    },
    /// A part that must be there is not.
    #[error("{field} is missing")]
    Missing {
        /// The part.
        field: &'static str,
    },
    /// An id that is not valid.
    #[error("{field} is not valid")]
    Id {
        /// The part.
        field: &'static str,
        /// What is wrong with it.
        source: NameError,
    },
    /// Over its length.
    #[error("{field} has {bytes} bytes, the limit is {limit}: shorten it")]
    TooLong {
        /// The part.
        field: &'static str,
        /// Its length.
        bytes: usize,
        /// What is allowed.
        limit: usize,
    },
    /// Over its count.
    #[error("{field} has {count} entries, the limit is {limit}: give fewer")]
    TooMany {
        /// The part.
        field: &'static str,
        /// How many there are.
        count: usize,
        /// What is allowed.
        limit: usize,
    },
    /// A value that makes no sense.
    #[error("{field} is not valid: {reason}")]
    Invalid {
        /// The part.
        field: &'static str,
        /// Why.
        reason: &'static str,
    },
    /// The whole is too large for the bus.
    #[error("{what} has {bytes} bytes, the limit is {limit}: put the bulk into blobs")]
    TooLarge {
        /// The kind of message.
        what: &'static str,
        /// Its size.
        bytes: usize,
        /// What is allowed.
        limit: usize,
    },
}

/// Declares the way of one kind of message to bytes and back.
macro_rules! codec {
    ($domain:ty, $wire:ty, $what:literal, $limit:expr) => {
        impl $domain {
            /// The bytes of version 2.
            ///
            /// # Errors
            /// [`WireError::TooLarge`] when the bus would refuse them.
            pub fn encode(&self) -> Result<Bytes, WireError> {
                let wire = <$wire>::from(self);
                let bytes = wire.encoded_len();
                if bytes > $limit {
                    return Err(WireError::TooLarge { what: $what, bytes, limit: $limit });
                }
                Ok(Bytes::from(wire.encode_to_vec()))
            }

            /// Decodes and validates.
            ///
            /// # Errors
            /// [`WireError`] names the first part that is not valid.
            pub fn decode(bytes: &[u8]) -> Result<Self, WireError> {
                if bytes.len() > $limit {
                    return Err(WireError::TooLarge {
                        what: $what,
                        bytes: bytes.len(),
                        limit: $limit,
                    });
                }
                <$wire>::decode(bytes)
                    .map_err(|source| WireError::Undecodable { what: $what, source })?
                    .try_into()
            }
        }
    };
}

codec!(Attempt, v1::Attempt, "attempt", crate::limits::REPORT_BYTES_MAX);
codec!(Report, v1::Report, "report", crate::limits::REPORT_BYTES_MAX);
codec!(SourceUpdate, v1::SourceUpdate, "source update", 2 * TEXT_BYTES_MAX);
codec!(Heartbeat, v1::Heartbeat, "heartbeat", 2 * TEXT_BYTES_MAX);
codec!(HeartbeatReply, v1::HeartbeatReply, "heartbeat reply", 2 * TEXT_BYTES_MAX);
codec!(LeaseNote, v1::LeaseNote, "lease note", 2 * TEXT_BYTES_MAX);

#[cfg(test)]
mod tests;
