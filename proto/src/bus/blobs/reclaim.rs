//! Deleting blobs, and finding what uploads left behind that were broken off. For the coordinator only.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::super::direct::Batch;
use super::super::{Bus, BusError};
use super::{BlobError, Description, chunk_subject, description_subject};
use crate::ids::Blob;
use crate::subjects::{BLOB_CHUNKS_ALL, BLOB_METAS_ALL, STREAM_BLOBS};

/// Descriptions read at once.
const BATCH_DESCRIPTIONS: usize = 500;

/// Uploads without a description at one moment, with their number of chunks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BlobOrphans(BTreeMap<String, u64>);

impl BlobOrphans {
    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

impl Bus {
    /// Removes a blob; when it is gone already, nothing happens.
    ///
    /// # Errors
    /// [`BlobError`].
    pub async fn delete_blob(&self, blob: &Blob) -> Result<(), BlobError> {
        const WHAT: &str = "delete a blob";
        // First the description, so that nobody finds a blob whose chunks are going.
        let description = self.describe(blob).await;
        self.purge(WHAT, STREAM_BLOBS, &description_subject(&blob.sha256)).await?;
        match description {
            Ok(Some(description)) => {
                Ok(self.purge(WHAT, STREAM_BLOBS, &chunk_subject(&description.nuid)).await?)
            }
            // Without a description its chunks are an orphan, and are reclaimed as such.
            Ok(None) | Err(BlobError::Damaged { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Removes the chunks of uploads that were orphans at the last call and have not grown since, and returns
    /// those that are orphans now. Called now and then, with pauses longer than an upload takes.
    ///
    /// # Errors
    /// [`BlobError`].
    pub async fn reclaim_blobs(&self, before: &BlobOrphans) -> Result<BlobOrphans, BlobError> {
        // Uploads before descriptions: one that ends in between is seen with its description.
        let mut uploads = self.uploads().await?;
        for described in self.described_uploads().await? {
            uploads.remove(&described);
        }
        let mut orphans = BTreeMap::new();
        for (nuid, chunks) in uploads {
            if before.0.get(&nuid) == Some(&chunks) {
                self.purge("reclaim an upload", STREAM_BLOBS, &chunk_subject(&nuid)).await?;
                tracing::info!(nuid, chunks, "reclaimed an upload that was broken off");
            } else {
                orphans.insert(nuid, chunks);
            }
        }
        Ok(BlobOrphans(orphans))
    }

    async fn uploads(&self) -> Result<BTreeMap<String, u64>, BusError> {
        #[derive(Deserialize)]
        struct Info {
            state: State,
            #[serde(default)]
            total: usize,
        }
        #[derive(Deserialize)]
        struct State {
            #[serde(default)]
            subjects: Option<BTreeMap<String, u64>>,
        }
        let mut uploads = BTreeMap::new();
        loop {
            let request =
                serde_json::json!({ "subjects_filter": BLOB_CHUNKS_ALL, "offset": uploads.len() });
            let subject = format!("STREAM.INFO.{STREAM_BLOBS}");
            let info: Info = self.ask("list uploads", subject, &request).await?;
            let page = info.state.subjects.unwrap_or_default();
            let ended = page.is_empty();
            uploads.extend(page.into_iter().filter_map(|(subject, count)| {
                Some((subject.rsplit('.').next()?.to_owned(), count))
            }));
            if ended || uploads.len() >= info.total {
                return Ok(uploads);
            }
        }
    }

    async fn described_uploads(&self) -> Result<BTreeSet<String>, BusError> {
        let (mut described, mut next) = (BTreeSet::new(), 1);
        loop {
            let batch = Batch {
                stream: STREAM_BLOBS,
                subject: BLOB_METAS_ALL,
                from_sequence: next,
                count: BATCH_DESCRIPTIONS,
            };
            let came = self.direct_batch("list blobs", &batch, |found| {
                next = found.sequence + 1;
                if let Ok(description) =
                    serde_json::from_slice::<Description>(&found.message.payload)
                {
                    described.insert(description.nuid);
                }
                Ok(())
            });
            if came.await? == 0 {
                return Ok(described);
            }
        }
    }
}
