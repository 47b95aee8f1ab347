//! Source updates: how source reaches the mirrors of all hosts.

use std::collections::VecDeque;
use std::time::Duration;

use async_nats::Subscriber;
use async_nats::header::NATS_ROLLUP;
use async_nats::jetstream::message::PublishMessage;
use futures::StreamExt as _;
use tokio::sync::watch;

use super::direct::Batch;
use super::{Bus, BusError, retry_pause};
use crate::message::SourceUpdate;
use crate::subjects::{SOURCES_ALL, SOURCES_STORED_ALL, STREAM_SOURCES, source};
use crate::wire::WireError;

/// Updates read at once.
const BATCH_COUNT: usize = 64;

/// Without news the stream is looked at this often all the same, in case that the word of an update was lost.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// One stored update.
#[derive(Debug)]
pub struct SourceEntry {
    /// Its place in the stream.
    pub sequence: u64,
    /// What it says, or why it says nothing.
    pub update: Result<SourceUpdate, WireError>,
}

/// All source updates in order, for ever.
#[derive(Debug)]
pub struct Sources {
    bus: Bus,
    news: Subscriber,
    connects: watch::Receiver<u64>,
    next: u64,
    read: VecDeque<SourceEntry>,
}

impl Bus {
    /// Stores an update and returns its place. A complete bundle replaces the updates of its repository that
    /// came before. `id` makes storing it twice once.
    ///
    /// # Errors
    /// [`BusError`].
    pub async fn publish_source(&self, update: &SourceUpdate, id: &str) -> Result<u64, BusError> {
        const WHAT: &str = "publish a source update";
        let payload = update.encode().map_err(|source| BusError::Message { what: WHAT, source })?;
        let mut publish = PublishMessage::build().payload(payload).message_id(id);
        if update.prerequisite.is_none() {
            publish = publish.header(NATS_ROLLUP, "sub");
        }
        Ok(self.store(WHAT, source(&update.repository), publish).await?.sequence)
    }

    /// All updates from this sequence on; from 1 for a new mirror.
    ///
    /// # Errors
    /// [`BusError::Closed`].
    pub async fn sources(&self, from_sequence: u64) -> Result<Sources, BusError> {
        let news = self.client.subscribe(SOURCES_STORED_ALL).await;
        let news = news.map_err(|_| BusError::Closed { what: "follow the sources" })?;
        Ok(Sources {
            bus: self.clone(),
            news,
            connects: self.connects.clone(),
            next: from_sequence.max(1),
            read: VecDeque::new(),
        })
    }
}

impl Sources {
    /// The next update, whenever it comes.
    ///
    /// # Errors
    /// [`BusError::Closed`] only: everything else is tried again.
    pub async fn next(&mut self) -> Result<SourceEntry, BusError> {
        const WHAT: &str = "follow the sources";
        let mut tries = 0;
        loop {
            if let Some(entry) = self.read.pop_front() {
                return Ok(entry);
            }
            match self.read_more().await {
                Ok(0) => {}
                Ok(_) => continue,
                Err(BusError::Closed { what }) => return Err(BusError::Closed { what }),
                Err(error) => {
                    tries += 1;
                    if tries == 2 {
                        tracing::warn!(%error, "cannot read source updates; trying again");
                    }
                    tokio::time::sleep(retry_pause(tries)).await;
                    continue;
                }
            }
            tokio::select! {
                news = self.news.next() => { news.ok_or(BusError::Closed { what: WHAT })?; }
                changed = self.connects.changed() => changed.map_err(|_| BusError::Closed { what: WHAT })?,
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }

    async fn read_more(&mut self) -> Result<usize, BusError> {
        let batch = Batch {
            stream: STREAM_SOURCES,
            subject: SOURCES_ALL,
            from_sequence: self.next,
            count: BATCH_COUNT,
        };
        let (read, next) = (&mut self.read, &mut self.next);
        let taken = self.bus.direct_batch("read source updates", &batch, |found| {
            *next = found.sequence + 1;
            let update = SourceUpdate::decode(&found.message.payload);
            read.push_back(SourceEntry { sequence: found.sequence, update });
            Ok(())
        });
        taken.await
    }
}
