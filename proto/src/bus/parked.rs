//! Parked items: one record each, until a person requeues the item.

use async_nats::jetstream::message::PublishMessage;
use bytes::Bytes;

use super::{Bus, BusError};
use crate::ids::{ItemId, RunId};
use crate::subjects::{STREAM_PARKED, parked};

impl Bus {
    /// Stores the record of a parked item; a later one replaces it. `id` makes storing it twice once.
    ///
    /// # Errors
    /// [`BusError`].
    pub async fn park(
        &self,
        run: &RunId,
        item: &ItemId,
        record: Bytes,
        id: &str,
    ) -> Result<(), BusError> {
        const WHAT: &str = "park an item";
        let publish = PublishMessage::build().payload(record).message_id(id);
        self.store(WHAT, parked(run, item), publish).await?;
        Ok(())
    }

    /// The record of a parked item.
    ///
    /// # Errors
    /// [`BusError`].
    pub async fn parked(&self, run: &RunId, item: &ItemId) -> Result<Option<Bytes>, BusError> {
        let request = serde_json::json!({ "last_by_subj": parked(run, item) });
        let stored = self.stored("look at a parked item", STREAM_PARKED, &request).await?;
        Ok(stored.map(|stored| stored.payload))
    }

    /// Removes the record of an item that is no longer parked.
    ///
    /// # Errors
    /// [`BusError`].
    pub async fn unpark(&self, run: &RunId, item: &ItemId) -> Result<(), BusError> {
        self.purge("unpark an item", STREAM_PARKED, &parked(run, item)).await
    }
}
