//! A coordinator that answers what it was given, over a unix socket, and remembers what it was asked.

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use cantus_proto::wire::v1::cantus_server::{Cantus, CantusServer};
use cantus_proto::wire::v1::{
    ApproveRequest, ApproveResponse, ArtifactChunk, ArtifactRequest, CancelRequest, CancelResponse,
    EvidenceRequest, EvidenceResponse, ItemRequest, ItemView, JournalEntry, JournalRequest,
    QueueRequest, QueueResponse, QueueView, RequeueRequest, RequeueResponse, RetryRequest,
    RetryResponse, RunView, StatusRequest, StatusResponse, SubmitRequest, SubmitResponse,
    WatchRequest,
};
use futures::Stream;
use tokio::net::UnixListener;
use tokio_stream::wrappers::{TcpListenerStream, UnixListenerStream};
use tonic::{Request, Response, Status};

type BoxStream<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// Answers by call. `Err` is a refusal.
#[derive(Debug, Clone)]
pub(super) struct Answers {
    pub(super) submit: Result<SubmitResponse, Status>,
    /// One list of views for each call of `watch`; a call beyond the last finds nothing.
    pub(super) watch: Vec<Vec<Result<RunView, Status>>>,
    pub(super) status: Vec<RunView>,
    pub(super) queue: Vec<QueueView>,
    pub(super) item: Result<ItemView, Status>,
    pub(super) cancelled: Vec<String>,
    pub(super) requeue: Result<RequeueResponse, Status>,
    pub(super) approve: Result<ApproveResponse, Status>,
    pub(super) retry: Result<RetryResponse, Status>,
    pub(super) evidence: Result<EvidenceResponse, Status>,
    pub(super) artifact: Vec<Vec<u8>>,
    pub(super) journal: Vec<JournalEntry>,
}

impl Default for Answers {
    fn default() -> Self {
        let nothing = || Status::unimplemented("this test has no answer for that");
        Self {
            submit: Err(nothing()),
            watch: vec![],
            status: vec![],
            queue: vec![],
            item: Err(nothing()),
            cancelled: vec![],
            requeue: Err(nothing()),
            approve: Err(nothing()),
            retry: Err(nothing()),
            evidence: Err(nothing()),
            artifact: vec![],
            journal: vec![],
        }
    }
}

/// A running fake, which ends with its runtime.
pub(super) struct Fake {
    directory: tempfile::TempDir,
    /// Of the same coordinator over TCP.
    pub(super) url: String,
    pub(super) asked: Arc<Mutex<Vec<String>>>,
    pub(super) submitted: Arc<Mutex<Option<SubmitRequest>>>,
}

impl Fake {
    /// Starts it on the socket of a home of its own.
    pub(super) fn start(answers: Answers) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(directory.path().join("cantus.sock")).unwrap();
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        tcp.set_nonblocking(true).unwrap();
        let url = format!("http://{}", tcp.local_addr().unwrap());
        let fake = Self { directory, url, asked: Arc::default(), submitted: Arc::default() };
        let service = CantusServer::new(Service {
            answers: Mutex::new(answers),
            asked: Arc::clone(&fake.asked),
            submitted: Arc::clone(&fake.submitted),
        });
        let server = || tonic::transport::Server::builder().add_service(service.clone());
        tokio::spawn(server().serve_with_incoming(UnixListenerStream::new(listener)));
        let tcp = tokio::net::TcpListener::from_std(tcp).unwrap();
        tokio::spawn(server().serve_with_incoming(TcpListenerStream::new(tcp)));
        fake
    }

    pub(super) fn home(&self) -> &Path {
        self.directory.path()
    }

    /// A file in the home.
    pub(super) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.home().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

struct Service {
    answers: Mutex<Answers>,
    asked: Arc<Mutex<Vec<String>>>,
    submitted: Arc<Mutex<Option<SubmitRequest>>>,
}

impl Service {
    fn asked(&self, what: impl Into<String>) -> Answers {
        self.asked.lock().unwrap().push(what.into());
        self.answers.lock().unwrap().clone()
    }
}

#[tonic::async_trait]
impl Cantus for Service {
    type WatchStream = BoxStream<RunView>;
    type ArtifactStream = BoxStream<ArtifactChunk>;
    type JournalStream = BoxStream<JournalEntry>;

    async fn submit(
        &self,
        request: Request<SubmitRequest>,
    ) -> Result<Response<SubmitResponse>, Status> {
        *self.submitted.lock().unwrap() = Some(request.into_inner());
        self.asked("submit").submit.map(Response::new)
    }

    async fn watch(
        &self,
        request: Request<WatchRequest>,
    ) -> Result<Response<BoxStream<RunView>>, Status> {
        self.asked(format!("watch {}", request.into_inner().run));
        let mut answers = self.answers.lock().unwrap();
        if answers.watch.is_empty() {
            return Err(Status::not_found("there is no such run"));
        }
        let views = answers.watch.remove(0);
        Ok(Response::new(Box::pin(futures::stream::iter(views))))
    }

    async fn status(
        &self,
        request: Request<StatusRequest>,
    ) -> Result<Response<StatusResponse>, Status> {
        let run = request.into_inner().run;
        let mut runs = self.asked(format!("status {run}")).status;
        runs.retain(|view| run.is_empty() || view.run == run);
        Ok(Response::new(StatusResponse { runs }))
    }

    async fn queue(&self, _: Request<QueueRequest>) -> Result<Response<QueueResponse>, Status> {
        Ok(Response::new(QueueResponse { queues: self.asked("queue").queue }))
    }

    async fn item(&self, request: Request<ItemRequest>) -> Result<Response<ItemView>, Status> {
        let ItemRequest { run, item } = request.into_inner();
        self.asked(format!("item {run} {item}")).item.map(Response::new)
    }

    async fn cancel(
        &self,
        request: Request<CancelRequest>,
    ) -> Result<Response<CancelResponse>, Status> {
        let CancelRequest { run, item } = request.into_inner();
        let cancelled = self.asked(format!("cancel {run} {item:?}")).cancelled;
        Ok(Response::new(CancelResponse { cancelled }))
    }

    async fn requeue(
        &self,
        request: Request<RequeueRequest>,
    ) -> Result<Response<RequeueResponse>, Status> {
        let RequeueRequest { run, item } = request.into_inner();
        self.asked(format!("requeue {run} {item}")).requeue.map(Response::new)
    }

    async fn approve(
        &self,
        request: Request<ApproveRequest>,
    ) -> Result<Response<ApproveResponse>, Status> {
        let ApproveRequest { run, item, by } = request.into_inner();
        self.asked(format!("approve {run} {item} by {by}")).approve.map(Response::new)
    }

    async fn retry(
        &self,
        request: Request<RetryRequest>,
    ) -> Result<Response<RetryResponse>, Status> {
        let RetryRequest { run, item, hypothesis } = request.into_inner();
        self.asked(format!("retry {run} {item}: {hypothesis}")).retry.map(Response::new)
    }

    async fn evidence(
        &self,
        request: Request<EvidenceRequest>,
    ) -> Result<Response<EvidenceResponse>, Status> {
        let EvidenceRequest { run, item } = request.into_inner();
        self.asked(format!("evidence {run} {item}")).evidence.map(Response::new)
    }

    async fn artifact(
        &self,
        request: Request<ArtifactRequest>,
    ) -> Result<Response<BoxStream<ArtifactChunk>>, Status> {
        let chunks = self.asked(format!("artifact {}", request.into_inner().sha256)).artifact;
        let chunks = chunks.into_iter().map(|data| Ok(ArtifactChunk { data }));
        Ok(Response::new(Box::pin(futures::stream::iter(chunks))))
    }

    async fn journal(
        &self,
        request: Request<JournalRequest>,
    ) -> Result<Response<BoxStream<JournalEntry>>, Status> {
        let run = request.into_inner().run;
        let entries = self.asked(format!("journal {run}")).journal;
        if entries.is_empty() {
            return Err(Status::not_found("there is no such run"));
        }
        Ok(Response::new(Box::pin(futures::stream::iter(entries.into_iter().map(Ok)))))
    }
}
