//! One coordinator: the kernel, its API and its connection, on a runtime of its own, which can be killed as a
//! process is: everything stops at once, and nothing is told to anybody.

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::time::Duration;

use cantus_coordinator::grpc::Api;
use cantus_coordinator::hub::Hub;
use cantus_coordinator::kernel::{Handle, Kernel, KernelError, Parts};
use cantus_coordinator::view;
use cantus_core::event::{Event, Submission};
use cantus_core::journal;
use cantus_core::{Core, Settings};
use cantus_proto::bus::Bus;
use cantus_proto::plan::compile::compile;
use cantus_proto::subjects::BusUser;
use cantus_proto::wire::v1::cantus_server::Cantus as _;
use cantus_proto::wire::v1::{self, SubmitRequest, SubmitResponse};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::{Items, PATIENCE, coordinator_key, item_id, role, run_id};
use crate::nats::Nats;

/// Largest plan of a test in bytes.
const PLAN_BYTES_MAX: u64 = 1 << 24;
/// Longest pause between two looks at the core.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What all coordinators of this process logged.
static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        LOG.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Whether the log of this process has this text.
#[must_use]
pub fn log_has(text: &str) -> bool {
    log_text().contains(text)
}

fn log_text() -> String {
    String::from_utf8_lossy(&LOG.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
}

fn keep_log() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        tracing_subscriber::fmt()
            .with_ansi(false)
            .with_max_level(tracing_subscriber::filter::LevelFilter::INFO)
            .with_writer(|| Log)
            .init();
    });
}

/// See the module.
pub struct Coordinator {
    /// The way to the core.
    pub handle: Handle,
    /// The service as gRPC serves it.
    pub api: Arc<Api>,
    bus: Bus,
    stop: watch::Sender<bool>,
    running: Option<JoinHandle<Result<(), KernelError>>>,
    runtime: Option<Runtime>,
}

impl Coordinator {
    /// Starts one that reports only.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start(nats: &Nats, settings: Settings) -> Self {
        Self::start_on(nats, None, settings).await
    }

    /// Starts one with its hub in this directory.
    ///
    /// # Panics
    /// When it does not start.
    pub async fn start_with_hub(nats: &Nats, hub: &Path, settings: Settings) -> Self {
        Self::start_on(nats, Some(hub), settings).await
    }

    async fn start_on(nats: &Nats, hub: Option<&Path>, settings: Settings) -> Self {
        keep_log();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("threads can be had");
        let hub = hub.map(|path| Arc::new(Hub::open(path).expect("the hub opens")));
        let config = nats.config(&BusUser::Coordinator);
        let started = runtime.spawn(async move {
            let bus = Bus::connect(config).await.expect("the bus is there");
            let roles = vec![role("worker"), role("verifier")];
            let parts = Parts {
                bus: bus.clone(),
                hub: hub.clone(),
                key: Arc::new(coordinator_key()),
                roles,
            };
            let (kernel, handle) = Kernel::start(settings, parts).await.expect("the kernel starts");
            let effects = kernel.effects();
            let (stop, stopped) = watch::channel(false);
            let running = tokio::spawn(kernel.run(stopped));
            let api = Api { handle: handle.clone(), bus: bus.clone(), hub, effects };
            (bus, handle, Arc::new(api), stop, running)
        });
        let (bus, handle, api, stop, running) = started.await.expect("the coordinator starts");
        Self { handle, api, bus, stop, running: Some(running), runtime: Some(runtime) }
    }

    /// Ends it as a signal would, and waits for its end.
    ///
    /// # Panics
    /// When it does not end well, and in time.
    pub async fn stop(mut self) {
        self.stop.send(true).expect("it runs");
        let ended = self.running.take().expect("it ends once");
        let ended = tokio::time::timeout(PATIENCE, ended).await.expect("it ends in time");
        ended.expect("it does not panic").expect("it ends well");
    }

    /// Ends it as SIGKILL would: its threads stop where they are.
    pub fn kill(mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }

    /// Waits until it ended by itself; answers why.
    ///
    /// # Panics
    /// When it goes on, or ends well.
    pub async fn failed(mut self) -> KernelError {
        let ended = self.running.take().expect("it ends once");
        let ended = tokio::time::timeout(PATIENCE, ended).await.expect("it ends in time");
        ended.expect("it does not panic").expect_err("it ends badly")
    }

    /// Submits a plan of a run that lands nowhere.
    ///
    /// # Panics
    /// When it is refused.
    pub async fn submit(&self, run: &str, items: &Items) {
        let refused = self.try_submit(run, items).await.expect("the coordinator runs");
        assert_eq!(refused, Vec::<String>::new());
    }

    /// As [`Self::submit`]; answers what was refused.
    ///
    /// # Errors
    /// When the coordinator has stopped.
    ///
    /// # Panics
    /// When the plan does not compile.
    pub async fn try_submit(
        &self,
        run: &str,
        items: &Items,
    ) -> Result<Vec<String>, cantus_coordinator::kernel::Stopped> {
        let compiled = compile("plan.yaml", &items.text());
        let plan = compiled.plan.unwrap_or_else(|| panic!("{:#?}", compiled.diagnostics));
        let bytes = journal::plan::encode(&plan);
        let plan_blob =
            self.bus.put_blob(&bytes, PLAN_BYTES_MAX, PATIENCE).await.expect("the plan is stored");
        let submission = Submission {
            run: run_id(run),
            plan: Arc::new(plan),
            plan_blob,
            repository: None,
            notice: String::new(),
        };
        self.handle.tell(Event::Submitted(Box::new(submission))).await
    }

    /// Submits a plan's text against a repository, as gRPC does.
    ///
    /// # Panics
    /// When the call fails; what is wrong with the plan is in the answer.
    pub async fn submit_to(&self, run: &str, repository: &Path, text: &str) -> SubmitResponse {
        let request = SubmitRequest {
            file: "plan.yaml".to_owned(),
            text: text.to_owned(),
            repository: repository.to_string_lossy().into_owned(),
            target: "main".to_owned(),
            run: run.to_owned(),
        };
        let answer = self.api.submit(tonic::Request::new(request)).await;
        answer.unwrap_or_else(|status| panic!("{status}\n{}", log_text())).into_inner()
    }

    /// Waits until the core shows something.
    ///
    /// # Panics
    /// When it never does: with what the core shows instead, and the log.
    pub async fn until<T: Send + 'static>(
        &self,
        what: &str,
        look: impl Fn(&Core) -> Option<T> + Send + Sync + 'static,
    ) -> T {
        let look = Arc::new(look);
        let deadline = Instant::now() + PATIENCE;
        let mut changes = self.handle.changes();
        loop {
            let looks = Arc::clone(&look);
            let seen = self.handle.ask(move |core| looks(core)).await;
            match seen.unwrap_or_else(|stopped| panic!("{what}: {stopped}\n{}", log_text())) {
                Some(seen) => return seen,
                None if Instant::now() >= deadline => {
                    let shown = self.handle.ask(show).await.unwrap_or_default();
                    panic!("{what}: never seen\n{shown}\n{}", log_text());
                }
                None => {}
            }
            let _ = tokio::time::timeout(LOOK_EVERY, changes.changed()).await;
        }
    }

    /// Waits until an item is in one of these states; answers with its view.
    ///
    /// # Panics
    /// As [`Self::until`].
    pub async fn until_state(&self, run: &str, item: &str, states: &[&str]) -> v1::ItemView {
        let what = format!("{item} of {run} is one of {states:?}");
        let (run, item) = (run.to_owned(), item.to_owned());
        let states: Vec<String> = states.iter().map(ToString::to_string).collect();
        self.until(&what, move |core| {
            let (run, place) = view::find(core, &run, &item).ok()?;
            let view = view::item(run, place);
            states.contains(&view.summary.as_ref()?.state).then_some(view)
        })
        .await
    }

    /// Waits until a run has ended; answers with its view.
    ///
    /// # Panics
    /// As [`Self::until`].
    pub async fn until_ended(&self, run: &str) -> v1::RunView {
        let id = run_id(run);
        self.until(&format!("{run} has ended"), move |core| {
            core.runs().get(&id).filter(|run| run.ended.is_some()).map(view::run)
        })
        .await
    }

    /// Waits for the record of a parked item.
    ///
    /// # Panics
    /// When none is written.
    pub async fn until_parked(&self, run: &str, item: &str) -> String {
        let (run, item) = (run_id(run), item_id(item));
        let deadline = Instant::now() + PATIENCE;
        loop {
            let record = self.bus.parked(&run, &item).await.expect("the bus is there");
            if let Some(record) = record {
                return String::from_utf8(record.to_vec()).expect("a record is JSON");
            }
            assert!(Instant::now() < deadline, "no record of {item} was written");
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// An item as it is now.
    ///
    /// # Panics
    /// When it is not known.
    pub async fn item(&self, run: &str, item: &str) -> v1::ItemView {
        let (run, item) = (run.to_owned(), item.to_owned());
        let view = self.handle.ask(move |core| {
            let (run, place) = view::find(core, &run, &item)?;
            Ok::<_, String>(view::item(run, place))
        });
        view.await.expect("the coordinator runs").expect("the item is known")
    }

    /// Everything that is known of all runs and items, to be compared.
    ///
    /// # Panics
    /// When the coordinator has stopped.
    pub async fn everything(&self) -> Vec<(v1::RunView, Vec<v1::ItemView>)> {
        let views = self.handle.ask(|core| {
            let all = core.runs().values().map(|run| {
                let places = run.by_id.values();
                (view::run(run), places.map(|place| view::item(run, *place)).collect())
            });
            all.collect()
        });
        views.await.expect("the coordinator runs")
    }

    /// Cancels a run or an item as a person does; answers with what was cancelled.
    ///
    /// # Panics
    /// When the call fails.
    pub async fn cancel(&self, run: &str, item: &str) -> Vec<String> {
        let request = v1::CancelRequest { run: run.to_owned(), item: item.to_owned() };
        let answer = self.api.cancel(tonic::Request::new(request)).await;
        answer.expect("the call is answered").into_inner().cancelled
    }

    /// The queue of one role as people see it.
    ///
    /// # Panics
    /// When the role is not known.
    pub async fn queue(&self, role: &str) -> v1::QueueView {
        let answer = self.api.queue(tonic::Request::new(v1::QueueRequest {})).await;
        let queues = answer.expect("the call is answered").into_inner().queues;
        queues.into_iter().find(|queue| queue.role == role).expect("the role is known")
    }

    /// Its connection.
    #[must_use]
    pub fn bus(&self) -> &Bus {
        &self.bus
    }

    /// Whether an item with this name exists in a run.
    ///
    /// # Panics
    /// When the coordinator has stopped.
    pub async fn knows(&self, run: &str, item: &str) -> bool {
        let (run, item) = (run_id(run), item_id(item));
        let known = self.handle.ask(move |core| {
            core.runs().get(&run).is_some_and(|run| run.by_id.contains_key(&item))
        });
        known.await.expect("the coordinator runs")
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn show(core: &Core) -> String {
    let line = |run: &v1::RunView| {
        let items = run
            .items
            .iter()
            .map(|i| format!("  {}: {} #{} {}", i.id, i.state, i.attempt, i.reason));
        format!("{} {}\n{}", run.run, run.state, items.collect::<Vec<_>>().join("\n"))
    };
    core.runs().values().map(|run| line(&view::run(run))).collect::<Vec<_>>().join("\n")
}
