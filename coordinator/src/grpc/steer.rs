//! What people decide about results: findings let through, and checks that run once more.

use cantus_core::event::Event;
use cantus_core::item::Item;
use cantus_proto::ids::{AttemptNumber, ItemId, RunId};
use cantus_proto::wire::v1;
use tonic::Status;

use super::{Api, item_id};
use crate::kernel::chain;
use crate::view;

pub(super) async fn approve(
    api: &Api,
    request: v1::ApproveRequest,
) -> Result<v1::ApproveResponse, Status> {
    let v1::ApproveRequest { run, item, by } = request;
    // Looked at before it is told, because afterwards nothing is kept out any more.
    let (run, item, findings) = look(api, run, item, |item| {
        let number = item.kept_out().unwrap_or(AttemptNumber(0));
        let attempt = item.attempt(number);
        let found = attempt.map_or(&[][..], |attempt| attempt.out_of_scope());
        (number, found.iter().map(view::finding).collect::<Vec<_>>())
    })
    .await?;
    let (number, findings) = findings;
    let event = Event::Approved { run: run.clone(), item: item.clone(), by };
    tell(api, event, &run, &item).await?;
    Ok(v1::ApproveResponse { attempt: number.0, findings })
}

pub(super) async fn retry(
    api: &Api,
    request: v1::RetryRequest,
) -> Result<v1::RetryResponse, Status> {
    let v1::RetryRequest { run, item, hypothesis } = request;
    let work = |item: &Item| item.work().map_or(AttemptNumber(0), |(number, _)| number);
    let (run, item, number) = look(api, run, item, work).await?;
    let event = Event::Rechecked { run: run.clone(), item: item.clone(), hypothesis };
    tell(api, event, &run, &item).await?;
    Ok(v1::RetryResponse { attempt: number.0 })
}

async fn look<T: Send + 'static>(
    api: &Api,
    run: String,
    item: String,
    see: impl FnOnce(&Item) -> T + Send + 'static,
) -> Result<(RunId, ItemId, T), Status> {
    let id = item_id(&item)?;
    let found = api.handle.ask(move |core| {
        let (run, place) = view::find(core, &run, &item)?;
        Ok::<_, String>((run.id.clone(), see(run.item(place))))
    });
    let (run, seen) = found.await?.map_err(Status::not_found)?;
    Ok((run, id, seen))
}

/// Tells the core; what was parked and goes on has no parked record any more.
async fn tell(api: &Api, event: Event, run: &RunId, item: &ItemId) -> Result<(), Status> {
    if let Some(reason) = api.handle.tell(event).await?.into_iter().next() {
        return Err(Status::failed_precondition(reason));
    }
    unpark(api, run, item).await;
    Ok(())
}

/// Removes the record of a parked item that a person put back, as far as that can be done.
pub(super) async fn unpark(api: &Api, run: &RunId, item: &ItemId) {
    if let Err(error) = api.bus.unpark(run, item).await {
        tracing::warn!(%run, %item, "its parked record stays: {}", chain(&error));
    }
}
