//! Every subject, stream and consumer of the bus, in one place.
//!
//! The permissions of each bus user and the server's configuration follow from these names; they are in
//! [`permissions`]. What is sent on a subject is in [`crate::message`].

use crate::ids::{AttemptNumber, ItemId, RepositoryId, RoleName, RunId};

pub mod permissions;

pub use permissions::{BusUser, Permissions, permissions, server_config};

/// Work queue: one message is one attempt that nobody has taken yet.
pub const STREAM_WORK: &str = "CANTUS_WORK";
/// What pools, workers and verifiers report.
pub const STREAM_REPORTS: &str = "CANTUS_REPORTS";
/// What the coordinator decided; the truth.
pub const STREAM_JOURNAL: &str = "CANTUS_JOURNAL";
/// Items that need a person.
pub const STREAM_PARKED: &str = "CANTUS_PARKED";
/// How source reaches the mirrors.
pub const STREAM_SOURCES: &str = "CANTUS_SOURCES";
/// Object store of bundles and logs.
pub const OBJECT_STORE_BLOBS: &str = "CANTUS_BLOBS";
/// The stream behind [`OBJECT_STORE_BLOBS`], named as every object store names it.
pub const STREAM_BLOBS: &str = "OBJ_CANTUS_BLOBS";

/// The only lane so far; a name of its own, so that urgent work can get a second one.
pub const LANE_NORMAL: &str = "normal";

/// Everything in [`STREAM_WORK`].
pub const WORK_ALL: &str = "cantus.work.>";
/// Everything in [`STREAM_REPORTS`].
pub const REPORTS_ALL: &str = "cantus.report.*";
/// Every heartbeat.
pub const HEARTBEATS_ALL: &str = "cantus.heartbeat.*";
/// Everything in [`STREAM_JOURNAL`].
pub const JOURNAL_ALL: &str = "cantus.journal.*";
/// Everything in [`STREAM_PARKED`].
pub const PARKED_ALL: &str = "cantus.parked.>";
/// Everything in [`STREAM_SOURCES`].
pub const SOURCES_ALL: &str = "cantus.source.*";
/// Where the server says that a source update has been stored; without its content.
pub const SOURCES_STORED_ALL: &str = "cantus.stored.source.*";
/// What the server makes of a subject of [`SOURCES_ALL`] for [`SOURCES_STORED_ALL`].
pub const SOURCES_STORED_DESTINATION: &str = "cantus.stored.source.{{wildcard(1)}}";
/// Chunks of blobs; the last token names one upload.
pub const BLOB_CHUNKS_ALL: &str = "$O.CANTUS_BLOBS.C.*";
/// Descriptions of blobs; the last token is the encoded name.
pub const BLOB_METAS_ALL: &str = "$O.CANTUS_BLOBS.M.*";

/// Encodes any text so that it is one subject token, one component of a ref and one file name.
///
/// Bytes outside `[A-Za-z0-9_-]` become `=XX` in upper-case hex, and nothing at all becomes `=`. Different
/// texts stay different, because the escape sign itself is escaped.
#[must_use]
pub fn token(text: &str) -> String {
    use std::fmt::Write as _;
    if text.is_empty() {
        return "=".to_owned();
    }
    text.bytes().fold(String::with_capacity(text.len() + 8), |mut token, byte| {
        if byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-' {
            token.push(char::from(byte));
        } else {
            write!(token, "={byte:02X}").expect("writing to a string does not fail");
        }
        token
    })
}

/// The text that [`token`] encoded; nothing when this is not such a token.
#[must_use]
pub fn untoken(encoded: &str) -> Option<String> {
    if encoded == "=" {
        return Some(String::new());
    }
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if *first != b'=' {
            bytes.push(*first);
            continue;
        }
        let pair = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(pair, 16).ok()?);
        rest = &rest[2..];
    }
    let text = String::from_utf8(bytes).ok()?;
    // What would not be encoded to these very bytes is a forgery of another token.
    (!text.is_empty() && token(&text) == encoded).then_some(text)
}

/// `cantus.work.<role>.<lane>.<run>.<item>.<attempt>`: one subject is one attempt.
#[must_use]
pub fn work(role: &RoleName, run: &RunId, item: &ItemId, attempt: AttemptNumber) -> String {
    format!(
        "cantus.work.{}.{LANE_NORMAL}.{}.{}.{attempt}",
        token(role.as_str()),
        token(run.as_str()),
        token(item.as_str())
    )
}

/// All work of one role and lane: what its consumer takes.
#[must_use]
pub fn work_of(role: &RoleName, lane: &str) -> String {
    format!("cantus.work.{}.{lane}.>", token(role.as_str()))
}

/// The consumer of one role and lane. Lanes have no `-`, so that the name says both.
#[must_use]
pub fn work_consumer(role: &RoleName, lane: &str) -> String {
    format!("{lane}-{}", token(role.as_str()))
}

/// Where members of a role report.
#[must_use]
pub fn report(role: &RoleName) -> String {
    format!("cantus.report.{}", token(role.as_str()))
}

/// Where members of a role ask whether to go on.
#[must_use]
pub fn heartbeat(role: &RoleName) -> String {
    format!("cantus.heartbeat.{}", token(role.as_str()))
}

/// The records of one run.
#[must_use]
pub fn journal(run: &RunId) -> String {
    format!("cantus.journal.{}", token(run.as_str()))
}

/// The parked record of one item.
#[must_use]
pub fn parked(run: &RunId, item: &ItemId) -> String {
    format!("cantus.parked.{}.{}", token(run.as_str()), token(item.as_str()))
}

/// The updates of one repository's mirrors.
#[must_use]
pub fn source(repository: &RepositoryId) -> String {
    format!("cantus.source.{repository}")
}

/// What makes a second publish of one attempt a duplicate: unique over runs, items and attempts.
#[must_use]
pub fn attempt_message_id(run: &RunId, item: &ItemId, attempt: AttemptNumber) -> String {
    format!("{}.{}.{attempt}", token(run.as_str()), token(item.as_str()))
}

#[cfg(test)]
mod tests;
