//! The API `cantus.v1` on gRPC: turns requests into events and answers with views.
//!
//! It listens on a unix socket that only its owner may open; TCP is for those who ask for it. Submission is
//! whole or not at all: the plan compiles, the repository is found and announced, then the run exists.

mod journal;
mod steer;
mod submit;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use cantus_proto::bus::Bus;
use cantus_proto::evidence::dossier::{receipt_name, statement_name};
use cantus_proto::ids::{Blob, Digest, ItemId, RunId};
use cantus_proto::plan::bounds::PLAN_BYTES_MAX;
use cantus_proto::wire::v1;
use cantus_proto::wire::v1::cantus_server::{Cantus, CantusServer};
use futures::Stream;
use tonic::{Request, Response, Status};

use crate::hub::Hub;
use crate::kernel::{self, Effects, Handle, Stopped};
use crate::view;
use cantus_core::Core;
use cantus_core::event::{Event, Millis};
use cantus_core::item::{Item, State};

/// Shortest pause between two views of one watcher: ten a second is what a terminal shows.
const WATCH_PAUSE: Duration = Duration::from_millis(100);
/// Bytes of one artifact chunk: a gRPC message may have 4 MiB by default.
const CHUNK_BYTES: usize = 1024 * 1024;
/// How long an artifact may take to come from the blob store.
const ARTIFACT_PATIENCE: Duration = Duration::from_secs(60);
/// Views that wait for a slow watcher.
const WATCH_BACKLOG: usize = 2;

/// Largest request in bytes: the largest plan, and the few words around it.
const REQUEST_BYTES_MAX: usize = PLAN_BYTES_MAX + 64 * 1024;

type BoxStream<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// The service.
pub struct Api {
    /// The way to the core.
    pub handle: Handle,
    /// For artifacts and plans.
    pub bus: Bus,
    /// For repositories.
    pub hub: Option<Arc<Hub>>,
    /// For announcements.
    pub effects: Arc<Effects>,
}

/// The service as servers take it.
#[must_use]
pub fn service(api: Arc<Api>) -> CantusServer<Api> {
    CantusServer::from_arc(api).max_decoding_message_size(REQUEST_BYTES_MAX)
}

impl From<Stopped> for Status {
    fn from(stopped: Stopped) -> Self {
        Self::unavailable(stopped.to_string())
    }
}

impl Api {
    async fn view<T: Send + 'static>(
        &self,
        view: impl FnOnce(&Core) -> Result<T, String> + Send + 'static,
    ) -> Result<Response<T>, Status> {
        self.handle.ask(view).await?.map(Response::new).map_err(Status::not_found)
    }
}

#[tonic::async_trait]
impl Cantus for Api {
    type WatchStream = BoxStream<v1::RunView>;
    type ArtifactStream = BoxStream<v1::ArtifactChunk>;
    type JournalStream = BoxStream<v1::JournalEntry>;

    async fn submit(
        &self,
        request: Request<v1::SubmitRequest>,
    ) -> Result<Response<v1::SubmitResponse>, Status> {
        submit::submit(self, request.into_inner()).await.map(Response::new)
    }

    async fn watch(
        &self,
        request: Request<v1::WatchRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let id = request.into_inner().run;
        let handle = self.handle.clone();
        let (first, mut due) = look(&handle, &id).await?;
        let (sender, receiver) = tokio::sync::mpsc::channel(WATCH_BACKLOG);
        tokio::spawn(async move {
            let mut changes = handle.changes();
            let mut view = first;
            loop {
                let ended = view.ended_ms != 0;
                let mut told = view.clone();
                view::stamp(&mut told, kernel::now());
                let gone = sender.send(Ok(told)).await.is_err();
                if ended || gone {
                    return;
                }
                loop {
                    tokio::time::sleep(WATCH_PAUSE).await;
                    tokio::select! {
                        changed = changes.changed() => if changed.is_err() { return },
                        () = until(due) => {}
                        () = sender.closed() => return,
                    }
                    match look(&handle, &id).await {
                        Ok((next, next_due)) => {
                            due = next_due;
                            if next != view {
                                view = next;
                                break;
                            }
                        }
                        Err(status) => {
                            let _ = sender.send(Err(status)).await;
                            return;
                        }
                    }
                }
            }
        });
        Ok(Response::new(Box::pin(tokio_stream::wrappers::ReceiverStream::new(receiver))))
    }

    async fn status(
        &self,
        request: Request<v1::StatusRequest>,
    ) -> Result<Response<v1::StatusResponse>, Status> {
        let id = request.into_inner().run;
        self.view(move |core| {
            let (now, unserved) = (kernel::now(), view::unserved(core, kernel::now()));
            let view = |run| view::run_now(run, &unserved, now);
            let runs = if id.is_empty() {
                core.runs().values().map(view).collect()
            } else {
                vec![view(view::find_run(core, &id)?)]
            };
            Ok(v1::StatusResponse { runs })
        })
        .await
    }

    async fn queue(
        &self,
        _: Request<v1::QueueRequest>,
    ) -> Result<Response<v1::QueueResponse>, Status> {
        self.view(|core| Ok(view::queues(core, kernel::now()))).await
    }

    async fn item(
        &self,
        request: Request<v1::ItemRequest>,
    ) -> Result<Response<v1::ItemView>, Status> {
        let v1::ItemRequest { run, item } = request.into_inner();
        self.view(move |core| {
            let now = kernel::now();
            let (run, place) = view::find(core, &run, &item)?;
            Ok(view::item_now(run, place, &view::unserved(core, now), now))
        })
        .await
    }

    async fn cancel(
        &self,
        request: Request<v1::CancelRequest>,
    ) -> Result<Response<v1::CancelResponse>, Status> {
        let v1::CancelRequest { run, item } = request.into_inner();
        let (run_id, before) = self.open_items(&run, &item).await?;
        let item = if item.is_empty() { None } else { Some(item_id(&item)?) };
        self.handle.tell(Event::Cancelled(run_id.clone(), item)).await?;
        let cancelled =
            self.in_state(run_id, before, |state| matches!(state, State::Cancelled)).await?;
        Ok(Response::new(v1::CancelResponse { cancelled }))
    }

    async fn requeue(
        &self,
        request: Request<v1::RequeueRequest>,
    ) -> Result<Response<v1::RequeueResponse>, Status> {
        let v1::RequeueRequest { run, item } = request.into_inner();
        let (run_id, _) = self.open_items(&run, &item).await?;
        let id = item_id(&item)?;
        let requeued = Event::Requeued(run_id.clone(), id.clone());
        let refused = self.handle.tell(requeued).await?;
        match refused.into_iter().next() {
            Some(reason) => Err(Status::failed_precondition(reason)),
            None => {
                steer::unpark(self, &run_id, &id).await;
                Ok(Response::new(v1::RequeueResponse { requeued: vec![item] }))
            }
        }
    }

    async fn approve(
        &self,
        request: Request<v1::ApproveRequest>,
    ) -> Result<Response<v1::ApproveResponse>, Status> {
        steer::approve(self, request.into_inner()).await.map(Response::new)
    }

    async fn retry(
        &self,
        request: Request<v1::RetryRequest>,
    ) -> Result<Response<v1::RetryResponse>, Status> {
        steer::retry(self, request.into_inner()).await.map(Response::new)
    }

    async fn evidence(
        &self,
        request: Request<v1::EvidenceRequest>,
    ) -> Result<Response<v1::EvidenceResponse>, Status> {
        let v1::EvidenceRequest { run, item } = request.into_inner();
        let found = self.handle.ask(move |core| {
            let (run, place) = view::find(core, &run, &item)?;
            let item = run.item(place);
            let landed = match (&item.state, &run.repository) {
                (State::Landed(landed), Some(repository)) => Some((
                    repository.id.clone(),
                    run.id.clone(),
                    landed.tree.clone(),
                    landed.evidence.clone(),
                )),
                _ => None,
            };
            let evidence = evidence(item).ok_or_else(|| {
                let state = item.state.name();
                format!(
                    "item {:?} of run {} has no evidence yet; it is {state}",
                    item.id.as_str(),
                    run.id
                )
            });
            evidence.map(|evidence| (evidence, landed))
        });
        let (mut evidence, landed) = found.await?.map_err(Status::failed_precondition)?;
        if let (Some((repository, run, tree, digest)), Some(hub)) = (landed, self.hub.clone()) {
            let read = tokio::task::spawn_blocking(move || {
                hub.evidence(&repository, &run, &tree, &digest)
            });
            let files = read
                .await
                .map_err(|error| Status::internal(error.to_string()))?
                .map_err(|error| Status::internal(kernel::chain(&error)))?;
            // What landed is more than what was weighed: the coordinator's summary is with it.
            if let Some(files) = files {
                let file = |(name, content)| v1::EvidenceFile { name, content };
                evidence.files = files.into_iter().map(file).collect();
            }
        }
        Ok(Response::new(evidence))
    }

    async fn artifact(
        &self,
        request: Request<v1::ArtifactRequest>,
    ) -> Result<Response<Self::ArtifactStream>, Status> {
        let sha256 = Digest::new(request.into_inner().sha256)
            .map_err(|error| Status::invalid_argument(error.to_string()))?;
        let wanted = sha256.clone();
        let known = self.handle.ask(move |core| find_artifact(core, &wanted)).await?;
        let blob = known
            .ok_or_else(|| Status::not_found(format!("no item knows an artifact {sha256}")))?;
        let bytes = self
            .bus
            .get_blob(&blob, blob.size_bytes, ARTIFACT_PATIENCE)
            .await
            .map_err(|error| Status::unavailable(kernel::chain(&error)))?;
        let chunks: Vec<_> = bytes
            .chunks(CHUNK_BYTES)
            .map(|data| Ok(v1::ArtifactChunk { data: data.to_vec() }))
            .collect();
        Ok(Response::new(Box::pin(futures::stream::iter(chunks))))
    }

    async fn journal(
        &self,
        request: Request<v1::JournalRequest>,
    ) -> Result<Response<Self::JournalStream>, Status> {
        journal::journal(self, request.into_inner()).await.map(Response::new)
    }
}

impl Api {
    /// The run's id and the items that are open now, after checking that both names are known.
    async fn open_items(&self, run: &str, item: &str) -> Result<(RunId, Vec<ItemId>), Status> {
        let (run, item) = (run.to_owned(), item.to_owned());
        let found = self.handle.ask(move |core| {
            let found = view::find_run(core, &run)?;
            if !item.is_empty() {
                view::find(core, &run, &item)?;
            }
            let open = found.items.iter().filter(|item| !item.state.is_terminal());
            Ok::<(RunId, Vec<ItemId>), String>((
                found.id.clone(),
                open.map(|item| item.id.clone()).collect(),
            ))
        });
        found.await?.map_err(Status::not_found)
    }

    async fn in_state(
        &self,
        run: RunId,
        items: Vec<ItemId>,
        test: fn(&State) -> bool,
    ) -> Result<Vec<String>, Status> {
        let names = self.handle.ask(move |core| {
            let run = core.runs().get(&run)?;
            let now = |id: &&ItemId| run.by_id.get(id).is_some_and(|p| test(&run.item(*p).state));
            Some(items.iter().filter(now).map(ToString::to_string).collect())
        });
        Ok(names.await?.unwrap_or_default())
    }
}

/// The run without its time, and when it will look otherwise though nothing happens.
async fn look(handle: &Handle, id: &str) -> Result<(v1::RunView, Option<Millis>), Status> {
    let id = id.to_owned();
    let view = handle.ask(move |core| {
        let now = kernel::now();
        let run = view::find_run(core, &id)?;
        let view = view::run_seen(run, &view::unserved(core, now));
        Ok::<_, String>((view, view::next_unserved(core, now)))
    });
    view.await?.map_err(Status::not_found)
}

async fn until(due: Option<Millis>) {
    match due {
        Some(due) => {
            let left = due.0.saturating_sub(kernel::now().0);
            tokio::time::sleep(Duration::from_millis(left)).await;
        }
        None => std::future::pending().await,
    }
}

fn item_id(text: &str) -> Result<ItemId, Status> {
    ItemId::new(text).map_err(|error| Status::invalid_argument(error.to_string()))
}

fn evidence(item: &Item) -> Option<v1::EvidenceResponse> {
    let proof = item.proof.as_deref()?;
    let (commit, digest) = match &item.state {
        State::Landed(landed) => (landed.commit.to_string(), format!("sha256:{}", landed.evidence)),
        _ => (String::new(), String::new()),
    };
    let files = proof.envelopes.iter().flat_map(|envelope| {
        let file = |name, content: &[u8]| v1::EvidenceFile { name, content: content.to_vec() };
        [
            file(statement_name(&envelope.criterion), &envelope.statement),
            file(receipt_name(&envelope.criterion), &envelope.receipt),
        ]
    });
    Some(v1::EvidenceResponse {
        tree: proof.tree.to_string(),
        commit,
        digest,
        files: files.collect(),
    })
}

/// Artifacts are served by what runs and items know of them: a digest alone opens nothing.
fn find_artifact(core: &Core, sha256: &Digest) -> Option<Blob> {
    let plans = core.runs().values().map(|run| &run.plan_blob);
    let items = core.runs().values().flat_map(|run| &run.items);
    let of_items = items.flat_map(|item| {
        let attempts = item.attempts.iter().flat_map(|attempt| {
            let result = attempt.result.as_deref();
            let of_result = result.map(|r| [r.bundle.as_ref(), r.log.as_ref()]).unwrap_or_default();
            of_result.into_iter().chain([attempt.log.as_ref()]).flatten()
        });
        attempts.chain(item.saved.iter().map(|saved| &saved.commits.bundle))
    });
    plans.chain(of_items).find(|blob| blob.sha256 == *sha256).cloned()
}
