//! Blobs: bundles and logs by their digest, in an object store that every NATS tool can read.
//!
//! A blob is chunks on a subject of one upload, and a description on the subject of its name, which is its
//! sha256. Because the name is the digest, two uploads of one blob cannot disagree, and what comes back is
//! checked against the name. Deleting and reclaiming are the coordinator's alone.

mod read;
mod reclaim;

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::jetstream::message::PublishMessage;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use bytes::Bytes;
use futures::stream::{FuturesOrdered, StreamExt as _};
use serde::{Deserialize, Serialize};
use sha2::Digest as _;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncSeek, AsyncSeekExt as _};
use tokio::time::Instant;

use super::{Bus, BusError, retry_pause};
use crate::ids::{Blob, Digest, hex};
use crate::subjects::{OBJECT_STORE_BLOBS, STREAM_BLOBS};

pub use reclaim::BlobOrphans;

/// Bytes of one chunk, as other clients of object stores have it; far below the server's message limit.
pub const BLOB_CHUNK_BYTES: usize = 128 * 1024;

/// Chunks under way at the same time: 1 MiB.
const CHUNKS_IN_FLIGHT_MAX: usize = 8;

/// Why a blob could not be stored or fetched.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// Over the limit; nothing was sent.
    #[error(
        "the artifact has {size} bytes, the limit is {limit}: make it smaller, or leave generated files out"
    )]
    TooLarge {
        /// Its size.
        size: u64,
        /// What is allowed.
        limit: u64,
    },
    /// Not in the store.
    #[error("blob {} is not in the store", .blob.sha256)]
    Missing {
        /// Which.
        blob: Blob,
    },
    /// In the store, and not what its name says.
    #[error("blob {} is damaged in the store: {reason}; delete it, so that it can be stored again", .blob.sha256)]
    Damaged {
        /// Which.
        blob: Blob,
        /// How.
        reason: String,
    },
    /// The file at our end.
    #[error("cannot read or write {}", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The source changed while it was read.
    #[error("the artifact changed while it was stored: leave it alone until it is")]
    Changed,
    /// The bus.
    #[error("the blob store cannot be used")]
    Bus(#[from] BusError),
}

/// The description of a stored object, as all clients of object stores write it.
#[derive(Debug, Serialize, Deserialize)]
struct Description {
    name: String,
    bucket: String,
    /// The last token of the subject of its chunks.
    nuid: String,
    size: u64,
    chunks: usize,
    digest: String,
    #[serde(default)]
    options: Options,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Options {
    #[serde(default)]
    max_chunk_size: usize,
}

impl Bus {
    /// Stores bytes under their digest; when they are there already, nothing is sent. Tries again until
    /// `patience` is over when the bus is away.
    ///
    /// # Errors
    /// [`BlobError`].
    pub async fn put_blob(
        &self,
        bytes: &[u8],
        size_max: u64,
        patience: Duration,
    ) -> Result<Blob, BlobError> {
        let source = std::io::Cursor::new(bytes);
        self.put_blob_from(source, Path::new("artifact in memory"), size_max, patience).await
    }

    /// As [`Self::put_blob`], from a file, which is read twice and never held in memory.
    ///
    /// # Errors
    /// [`BlobError`].
    pub async fn put_blob_file(
        &self,
        path: &Path,
        size_max: u64,
        patience: Duration,
    ) -> Result<Blob, BlobError> {
        let file = tokio::fs::File::open(path).await.map_err(|source| file_error(path, source))?;
        self.put_blob_from(file, path, size_max, patience).await
    }

    async fn put_blob_from<R: AsyncRead + AsyncSeek + Unpin>(
        &self,
        mut reader: R,
        path: &Path,
        size_max: u64,
        patience: Duration,
    ) -> Result<Blob, BlobError> {
        let deadline = Instant::now() + patience;
        let blob = measure(&mut reader, size_max, path).await?;
        let mut tries = 0;
        loop {
            let error = match self.try_put(&blob, &mut reader, path).await {
                Err(BlobError::Bus(error)) => error,
                other => return other.map(|()| blob),
            };
            tries += 1;
            let next = Instant::now() + retry_pause(tries);
            if !error.is_passing() || next >= deadline {
                return Err(error.into());
            }
            tracing::debug!(%error, tries, "the blob is not stored yet");
            tokio::time::sleep_until(next).await;
        }
    }

    async fn try_put<R: AsyncRead + AsyncSeek + Unpin>(
        &self,
        blob: &Blob,
        reader: &mut R,
        path: &Path,
    ) -> Result<(), BlobError> {
        let subject = description_subject(&blob.sha256);
        if self.direct_last("look for a blob", STREAM_BLOBS, &subject).await?.is_some() {
            return Ok(());
        }
        reader.rewind().await.map_err(|source| file_error(path, source))?;
        let mut id = [0_u8; 16];
        getrandom::fill(&mut id).map_err(|error| BusError::Refused {
            what: "store a blob",
            text: format!("no randomness: {error}"),
        })?;
        let nuid = hex(&id);
        let chunks = self.put_chunks(blob, &nuid, reader, path).await?;
        self.put_description(blob, nuid, chunks, subject).await
    }

    async fn put_chunks<R: AsyncRead + Unpin>(
        &self,
        blob: &Blob,
        nuid: &str,
        reader: &mut R,
        path: &Path,
    ) -> Result<usize, BlobError> {
        const WHAT: &str = "store a chunk of a blob";
        let subject = async_nats::Subject::from(chunk_subject(nuid));
        let (mut chunks, mut size, mut last) = (0_usize, 0_u64, 0_u64);
        let mut under_way = FuturesOrdered::new();
        let mut hash = sha2::Sha256::new();
        loop {
            let chunk = read_chunk(reader).await.map_err(|source| file_error(path, source))?;
            let ended = chunk.is_empty();
            if !ended {
                hash.update(&chunk);
                (chunks, size) = (chunks + 1, size + chunk.len() as u64);
                let publish = PublishMessage::build().payload(chunk);
                let pending = self.store_start(WHAT, subject.clone(), publish).await;
                under_way.push_back(pending.map_err(BusError::from)?.stored());
            }
            while under_way.len() >= CHUNKS_IN_FLIGHT_MAX || (ended && !under_way.is_empty()) {
                let Some(ack) = under_way.next().await else { break };
                let ack = ack.map_err(BusError::from)?;
                if ack.sequence <= last {
                    // A reconnect mixed them up: what is stored is in another order than what was read.
                    return Err(
                        BusError::TimedOut { what: WHAT, waited: super::REQUEST_TIMEOUT }.into()
                    );
                }
                last = ack.sequence;
            }
            if ended {
                break;
            }
        }
        if size != blob.size_bytes || hex(&hash.finalize()) != blob.sha256.as_str() {
            return Err(BlobError::Changed);
        }
        Ok(chunks)
    }

    async fn put_description(
        &self,
        blob: &Blob,
        nuid: String,
        chunks: usize,
        subject: String,
    ) -> Result<(), BlobError> {
        const WHAT: &str = "describe a blob";
        let description = Description {
            name: blob.sha256.to_string(),
            bucket: OBJECT_STORE_BLOBS.to_owned(),
            nuid,
            size: blob.size_bytes,
            chunks,
            digest: format!("SHA-256={}", URL_SAFE.encode(bytes_of(&blob.sha256))),
            options: Options { max_chunk_size: BLOB_CHUNK_BYTES },
        };
        let payload = serde_json::to_vec(&description)
            .map_err(|error| BusError::Refused { what: WHAT, text: error.to_string() })?;
        // Only the first description of a name counts: a second upload of the same blob changes nothing.
        let publish =
            PublishMessage::build().payload(payload.into()).expected_last_subject_sequence(0);
        match self.store(WHAT, subject, publish).await {
            Ok(_) => Ok(()),
            Err(error) if error.is_conflict() => Ok(()),
            Err(error) => Err(BusError::from(error).into()),
        }
    }
}

/// Reads everything once, for digest and size; stops at the limit.
async fn measure<R: AsyncRead + Unpin>(
    reader: &mut R,
    limit: u64,
    path: &Path,
) -> Result<Blob, BlobError> {
    let mut hash = sha2::Sha256::new();
    let mut size = 0_u64;
    loop {
        let chunk = read_chunk(reader).await.map_err(|source| file_error(path, source))?;
        if chunk.is_empty() {
            break;
        }
        size += chunk.len() as u64;
        // Over the limit only the size still matters, to be told.
        if size <= limit {
            hash.update(&chunk);
        }
    }
    if size > limit {
        return Err(BlobError::TooLarge { size, limit });
    }
    let sha256 = Digest::new(hex(&hash.finalize())).expect("a sha256 has 64 hex digits");
    Ok(Blob { sha256, size_bytes: size })
}

/// A full chunk, or what is left: one read may give less than there is.
async fn read_chunk<R: AsyncRead + Unpin>(reader: &mut R) -> std::io::Result<Bytes> {
    let mut chunk = Vec::with_capacity(BLOB_CHUNK_BYTES);
    let limit = u64::try_from(BLOB_CHUNK_BYTES).unwrap_or(u64::MAX);
    reader.take(limit).read_to_end(&mut chunk).await?;
    Ok(chunk.into())
}

fn description_subject(sha256: &Digest) -> String {
    format!("$O.{OBJECT_STORE_BLOBS}.M.{}", URL_SAFE.encode(sha256.as_str()))
}

fn chunk_subject(nuid: &str) -> String {
    format!("$O.{OBJECT_STORE_BLOBS}.C.{nuid}")
}

/// The 32 bytes that the digest names.
fn bytes_of(sha256: &Digest) -> Vec<u8> {
    let nibble = |byte: u8| if byte.is_ascii_digit() { byte - b'0' } else { byte - b'a' + 10 };
    sha256
        .as_str()
        .as_bytes()
        .chunks_exact(2)
        .map(|pair| nibble(pair[0]) << 4 | nibble(pair[1]))
        .collect()
}

fn file_error(path: &Path, source: std::io::Error) -> BlobError {
    BlobError::File { path: path.to_owned(), source }
}
