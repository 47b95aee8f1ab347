//! The journal of one run as a stream: read from the bus, so that it costs the loop nothing and little memory.

use cantus_core::journal::wire;
use cantus_proto::ids::RunId;
use cantus_proto::wire::v1;
use futures::StreamExt as _;
use tokio::sync::mpsc;
use tonic::Status;

use super::{Api, BoxStream};
use crate::kernel::chain;
use crate::view;

/// Messages that wait for a slow reader: each has up to 1 MiB, and reading on costs a millisecond.
const BACKLOG: usize = 4;

pub(super) async fn journal(
    api: &Api,
    request: v1::JournalRequest,
) -> Result<BoxStream<v1::JournalEntry>, Status> {
    let name = request.run;
    // Asked between two turns, so what the core knows by now is in the journal.
    let found = api.handle.ask(move |core| view::find_run(core, &name).map(|run| run.id.clone()));
    let run = found.await?.map_err(Status::not_found)?;
    let (end, entries) = api.bus.journal_replay().await.map_err(unavailable)?;
    let (sender, receiver) = mpsc::channel(BACKLOG);
    tokio::spawn(async move {
        if let Err(status) = send(&run, end, entries, &sender).await {
            // Nobody is left to tell when the reader has gone.
            let _ = sender.send(Err(status)).await;
        }
    });
    Ok(Box::pin(tokio_stream::wrappers::ReceiverStream::new(receiver)))
}

async fn send(
    run: &RunId,
    journal_end: u64,
    mut entries: impl futures::Stream<
        Item = Result<cantus_proto::bus::JournalEntry, cantus_proto::bus::BusError>,
    > + Unpin,
    sender: &mpsc::Sender<Result<v1::JournalEntry, Status>>,
) -> Result<(), Status> {
    let mut position = 1;
    while let Some(entry) = entries.next().await {
        let entry = entry.map_err(unavailable)?;
        let sequence = entry.sequence;
        let batch = wire::decode(&entry.payload).map_err(|error| {
            Status::data_loss(format!("message {sequence} of the journal: {}", chain(&error)))
        })?;
        let first = position;
        position += batch.record_count();
        if batch.run != *run {
            continue;
        }
        let entry = v1::JournalEntry {
            sequence,
            position: first,
            batch: entry.payload.to_vec(),
            journal_end,
        };
        if sender.send(Ok(entry)).await.is_err() {
            break;
        }
    }
    Ok(())
}

fn unavailable(error: cantus_proto::bus::BusError) -> Status {
    Status::unavailable(format!("the journal cannot be read: {}", chain(&error)))
}
