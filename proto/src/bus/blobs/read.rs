//! Fetching a blob: bounded in time and size, checked, and never half there.
//!
//! Descriptions and chunks are written by workers and are believed in nothing: the size is the one that was
//! asked for, and the digest is the name.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::Digest as _;
use tokio::io::AsyncWriteExt as _;
use tokio::time::Instant;

use super::super::direct::Batch;
use super::super::{Bus, BusError, retry_pause};
use super::{
    BLOB_CHUNK_BYTES, BlobError, Description, chunk_subject, description_subject, file_error,
};
use crate::ids::{Blob, hex};
use crate::subjects::STREAM_BLOBS;

/// Chunks asked for at once: 4 MiB.
const BATCH_CHUNKS: usize = 32;

impl Bus {
    /// Fetches a blob into memory.
    ///
    /// # Errors
    /// [`BlobError`]; at the latest after `patience`.
    pub async fn get_blob(
        &self,
        blob: &Blob,
        size_max: u64,
        patience: Duration,
    ) -> Result<Vec<u8>, BlobError> {
        let mut fetch = Fetch::new(self, blob, size_max, patience)?;
        let mut bytes = Vec::new();
        while let Some(more) = fetch.next().await? {
            bytes.extend_from_slice(&more);
        }
        fetch.verified()?;
        Ok(bytes)
    }

    /// Fetches a blob into a file, which is there only when it is whole and checked.
    ///
    /// # Errors
    /// [`BlobError`]; at the latest after `patience`.
    pub async fn get_blob_file(
        &self,
        blob: &Blob,
        path: &Path,
        size_max: u64,
        patience: Duration,
    ) -> Result<(), BlobError> {
        let mut fetch = Fetch::new(self, blob, size_max, patience)?;
        let part = Part::beside(path);
        let mut file =
            tokio::fs::File::create(&part.0).await.map_err(|source| file_error(&part.0, source))?;
        while let Some(more) = fetch.next().await? {
            file.write_all(&more).await.map_err(|source| file_error(&part.0, source))?;
        }
        file.flush().await.map_err(|source| file_error(&part.0, source))?;
        fetch.verified()?;
        tokio::fs::rename(&part.0, path).await.map_err(|source| file_error(path, source))
    }

    /// What the store says about a blob; nothing when it has none.
    pub(super) async fn describe(&self, blob: &Blob) -> Result<Option<Description>, BlobError> {
        let subject = description_subject(&blob.sha256);
        let Some(message) = self.direct_last("look for a blob", STREAM_BLOBS, &subject).await?
        else {
            return Ok(None);
        };
        let damaged = |reason: String| BlobError::Damaged { blob: blob.clone(), reason };
        let description: Description = serde_json::from_slice(&message.payload)
            .map_err(|error| damaged(format!("its description cannot be read: {error}")))?;
        // It becomes part of a subject.
        if description.nuid.is_empty()
            || !description.nuid.bytes().all(|byte| byte.is_ascii_alphanumeric())
        {
            return Err(damaged("its description names no upload".to_owned()));
        }
        Ok(Some(description))
    }
}

/// A download under way.
struct Fetch<'a> {
    bus: &'a Bus,
    blob: &'a Blob,
    deadline: Instant,
    chunks_subject: Option<String>,
    next: u64,
    size: u64,
    hash: sha2::Sha256,
}

impl<'a> Fetch<'a> {
    fn new(
        bus: &'a Bus,
        blob: &'a Blob,
        size_max: u64,
        patience: Duration,
    ) -> Result<Self, BlobError> {
        if blob.size_bytes > size_max {
            return Err(BlobError::TooLarge { size: blob.size_bytes, limit: size_max });
        }
        let deadline = Instant::now() + patience;
        let hash = sha2::Sha256::new();
        Ok(Self { bus, blob, deadline, chunks_subject: None, next: 1, size: 0, hash })
    }

    /// The next bytes; nothing when all have come.
    async fn next(&mut self) -> Result<Option<Vec<u8>>, BlobError> {
        let mut tries = 0;
        loop {
            if self.chunks_subject.is_some() && self.size == self.blob.size_bytes {
                return Ok(None);
            }
            let step = tokio::time::timeout_at(self.deadline, self.step()).await;
            let error = match step {
                Ok(Err(BlobError::Bus(error))) => error,
                Ok(Ok(Some(more))) => return Ok(Some(more)),
                Ok(Ok(None)) => continue,
                Ok(Err(error)) => return Err(error),
                Err(_) => BusError::TimedOut {
                    what: "fetch a blob",
                    waited: super::super::REQUEST_TIMEOUT,
                },
            };
            tries += 1;
            let next = Instant::now() + retry_pause(tries);
            if !error.is_passing() || next >= self.deadline {
                return Err(error.into());
            }
            tokio::time::sleep_until(next).await;
        }
    }

    /// Finds the chunks, or fetches some.
    async fn step(&mut self) -> Result<Option<Vec<u8>>, BlobError> {
        let Some(subject) = self.chunks_subject.clone() else {
            let description = self.bus.describe(self.blob).await?;
            let description =
                description.ok_or_else(|| BlobError::Missing { blob: self.blob.clone() })?;
            if description.size != self.blob.size_bytes {
                return Err(
                    self.damaged(format!("it is described with {} bytes", description.size))
                );
            }
            self.chunks_subject = Some(chunk_subject(&description.nuid));
            return Ok(None);
        };
        let batch = Batch {
            stream: STREAM_BLOBS,
            subject: &subject,
            from_sequence: self.next,
            count: BATCH_CHUNKS,
        };
        let left = usize::try_from(self.blob.size_bytes - self.size).unwrap_or(usize::MAX);
        let mut more = Vec::with_capacity(left.min(BATCH_CHUNKS * BLOB_CHUNK_BYTES));
        let (mut next, mut surplus) = (self.next, false);
        let came = self.bus.direct_batch("fetch a blob", &batch, |found| {
            next = found.sequence + 1;
            if more.len() + found.message.payload.len() > left {
                surplus = true;
            } else {
                more.extend_from_slice(&found.message.payload);
            }
            Ok(())
        });
        let came = came.await?;
        if surplus {
            return Err(self.damaged("it has more bytes than it should".to_owned()));
        }
        if came == 0 {
            return Err(self.damaged(format!(
                "it ends after {} of {} bytes",
                self.size, self.blob.size_bytes
            )));
        }
        self.next = next;
        self.size += more.len() as u64;
        self.hash.update(&more);
        Ok(Some(more))
    }

    fn verified(self) -> Result<(), BlobError> {
        let found = hex(&self.hash.clone().finalize());
        if found != self.blob.sha256.as_str() {
            return Err(self.damaged(format!("its content has the digest {found}")));
        }
        Ok(())
    }

    fn damaged(&self, reason: String) -> BlobError {
        BlobError::Damaged { blob: self.blob.clone(), reason }
    }
}

/// A file that goes away unless it was renamed.
struct Part(PathBuf);

impl Part {
    fn beside(path: &Path) -> Self {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        Self(path.with_file_name(name))
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // After the rename there is nothing to remove, and without it there is nobody left to tell.
        let _ = std::fs::remove_file(&self.0);
    }
}
