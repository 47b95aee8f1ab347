//! The pool of one host: keeps the slots of its roles warm, replaces what has served, keeps what dies.
//!
//! One loop: select → event → [`Slots::step`] → act. Acting never waits: every action is a task that sends its
//! outcome back as an event. An engine or a bus that is away is waited for; only a person ends the pool.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cantus_proto::bus::Bus;
use cantus_proto::ids::HostName;
use cantus_proto::message::Isolation;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::container::{RoleConfig, RoleError};
use crate::engine::{Engine, EngineError};
use crate::labels::InstanceError;
use crate::mirror::MirrorError;
use crate::mounts::MountError;
use crate::slots::{Action, Event, Slots, Target};

mod backend;
mod setup;

pub(crate) use backend::Backend;
pub(crate) use setup::{Ground, Role};

/// Longest that leases may take to finish when the pool drains, unless the configuration says otherwise.
pub const DRAIN_MAX_DEFAULT: Duration = Duration::from_secs(15 * 60);
/// Pause between sweeps, unless the configuration says otherwise.
pub const SWEEP_EVERY_DEFAULT: Duration = Duration::from_secs(60);
/// Launches at once on one host: more makes each slower.
pub(crate) const LAUNCHES_MAX: usize = 4;
/// Events under way to the loop; a task waits when it is full.
const EVENTS_MAX: usize = 256;
/// Longest that a stopped pool takes to clear away what it can; the next start sweeps the rest.
const STOP_MAX: Duration = Duration::from_secs(60);

/// Everything that decides a pool.
#[derive(Debug, Clone)]
pub struct PoolConfig {
    /// Id of the installation.
    pub instance: String,
    /// Name of this host; two pools of one installation have different ones.
    pub host: HostName,
    /// The pool's own directory: mirrors, sockets, binaries. Made if it is not there, readable by its owner only.
    pub dir: PathBuf,
    /// State directory of the installation, which no role may mount.
    pub state_dir: PathBuf,
    /// Socket of the Docker Engine, when it is not the one of `DOCKER_HOST` or the default.
    pub docker_socket: Option<PathBuf>,
    /// Directory that holds the static `cantus-worker` and `cantus-verifier`.
    pub binaries: PathBuf,
    /// `host:port` of the bus.
    pub bus_address: String,
    /// [`Isolation::Process`] runs plain processes: for development and benchmarks, never without being asked for.
    pub isolation: Isolation,
    /// The roles to serve.
    pub roles: Vec<RoleConfig>,
    /// Longest that leases may take to finish when it drains, see [`DRAIN_MAX_DEFAULT`].
    pub drain_max: Duration,
    /// Pause between sweeps, see [`SWEEP_EVERY_DEFAULT`].
    pub sweep_every: Duration,
}

/// What the operator wants of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wish {
    /// Serve.
    Serve,
    /// Finish the leases, then end.
    Drain,
    /// End now; what agents did is kept all the same.
    Stop,
}

/// Why a pool cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    /// No usable engine, or an image is missing.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A role cannot be served.
    #[error(transparent)]
    Role(#[from] RoleError),
    /// A role's mount is refused.
    #[error("role {role}")]
    Mount {
        /// The role's name.
        role: String,
        /// Why.
        #[source]
        source: MountError,
    },
    /// The instance id is not usable.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// Nothing to serve.
    #[error("the pool has no roles: add one to the configuration")]
    NoRoles,
    /// Two roles with one name.
    #[error("role {0} is configured twice: rename one")]
    RoleTwice(String),
    /// Another pool has the directory.
    #[error("another pool serves host {host} from {}: stop it, or give this one another --host", dir.display())]
    Busy {
        /// The host name.
        host: HostName,
        /// The shared directory.
        dir: PathBuf,
    },
    /// A binary is not there.
    #[error("{} is not there: build it (cargo build -p {name})", path.display())]
    Binary {
        /// Its name.
        name: &'static str,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The pool's directory cannot be used.
    #[error("the pool directory cannot be used at {}: check rights and space there", path.display())]
    Files {
        /// Which part.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The mirrors cannot be used.
    #[error(transparent)]
    Mirror(#[from] MirrorError),
}

/// What one task tells the loop.
#[derive(Debug)]
struct Message {
    role: usize,
    event: Event,
    /// Why, when it is a failure.
    note: Option<String>,
}

/// Serves until `wish` says otherwise and all is cleared away.
///
/// # Errors
/// Before anything is started: a configuration, engine or directory that cannot be used. Later faults are logged
/// and tried again.
pub async fn run(
    config: PoolConfig,
    bus: Bus,
    wish: watch::Receiver<Wish>,
) -> Result<(), PoolError> {
    let engine = match (config.isolation, &config.docker_socket) {
        (Isolation::Container, None) => Some(Engine::connect().await?),
        (Isolation::Container, Some(socket)) => Some(Engine::connect_to(socket).await?),
        (Isolation::Process, _) => None,
    };
    let (ground, roles) = setup::prepare(config, engine, bus.clone()).await?;
    let ground = Arc::new(ground);
    tracing::info!(host = %ground.owner.host, pool = %ground.owner.pool, roles = roles.len(), "the pool serves");
    let mut pool = Pool::new(Arc::clone(&ground), roles);
    pool.tasks.spawn(crate::sources::follow(ground.mirrors.clone(), ground.dir.clone(), bus));
    pool.serve(wish).await;
    tracing::info!(host = %ground.owner.host, "the pool has ended");
    Ok(())
}

/// The loop and its tasks.
struct Pool {
    ground: Arc<Ground>,
    roles: Vec<(Arc<Role>, Slots)>,
    backend: Backend,
    last_failure: Vec<Option<String>>,
    tasks: JoinSet<()>,
    sweeping: JoinSet<()>,
    inbox: mpsc::Receiver<Message>,
    outbox: mpsc::Sender<Message>,
    started: Instant,
}

impl Pool {
    fn new(ground: Arc<Ground>, roles: Vec<Role>) -> Self {
        let (outbox, inbox) = mpsc::channel(EVENTS_MAX);
        let roles: Vec<_> = roles
            .into_iter()
            .map(|role| {
                // A process cannot be held back from the bus, and is up in no time.
                let spares = if ground.engine.is_some() { role.config.spares } else { 0 };
                let target = Target { slots: role.config.slots, spares };
                (Arc::new(role), Slots::new(target))
            })
            .collect();
        Self {
            backend: Backend::new(Arc::clone(&ground)),
            last_failure: vec![None; roles.len()],
            ground,
            roles,
            tasks: JoinSet::new(),
            sweeping: JoinSet::new(),
            inbox,
            outbox,
            started: Instant::now(),
        }
    }

    async fn serve(&mut self, mut wish: watch::Receiver<Wish>) {
        let mut sweep = tokio::time::interval(self.ground.sweep_every);
        sweep.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut wished = Wish::Serve;
        let mut give_up = None;
        self.step_all(Event::Tick);
        while !self.is_done() {
            let wake = self.wake_at();
            tokio::select! {
                Some(message) = self.inbox.recv() => self.step(message),
                () = until(wake) => self.step_all(Event::Tick),
                Ok(()) = wish.changed() => {
                    let now = *wish.borrow_and_update();
                    if now > wished {
                        wished = now;
                        self.end(now);
                    }
                }
                _ = sweep.tick(), if wished == Wish::Serve => self.sweep(),
                () = until(give_up) => {
                    tracing::error!("not everything could be cleared away in time: the next start sweeps it");
                    return;
                }
                Some(_) = self.tasks.join_next() => {}
                Some(_) = self.sweeping.join_next() => {}
            }
            if give_up.is_none() && self.is_stopping(wished) {
                give_up = Some(Instant::now() + STOP_MAX);
            }
        }
    }

    /// Whether all members are being ended, so that the rest is bounded.
    fn is_stopping(&self, wished: Wish) -> bool {
        wished == Wish::Stop
            || (wished == Wish::Drain && self.roles.iter().all(|(_, slots)| slots.open() == 0))
    }

    fn is_done(&self) -> bool {
        self.roles.iter().all(|(_, slots)| slots.is_done())
    }

    fn wake_at(&self) -> Option<Instant> {
        self.roles
            .iter()
            .filter_map(|(_, slots)| slots.wake_at())
            .min()
            .map(|after| self.started + after)
    }

    fn end(&mut self, wish: Wish) {
        self.ground.end();
        match wish {
            Wish::Serve => {}
            Wish::Drain => {
                tracing::info!("draining: leases finish first, a second signal ends them");
                self.step_all(Event::Drain(self.ground.drain_max));
            }
            Wish::Stop => {
                tracing::info!("stopping: leases are ended, their work is kept");
                self.step_all(Event::Stop);
            }
        }
    }

    fn step_all(&mut self, event: Event) {
        for role in 0..self.roles.len() {
            self.step(Message { role, event, note: None });
        }
    }

    fn step(&mut self, message: Message) {
        let now = self.started.elapsed();
        if let Some(note) = message.note {
            tracing::warn!(role = %self.roles[message.role].0.config.name, "{note}");
            self.last_failure[message.role] = Some(note);
        }
        let actions = self.roles[message.role].1.step(now, message.event);
        for action in actions {
            self.act(message.role, action);
        }
    }

    fn act(&mut self, index: usize, action: Action) {
        let role = Arc::clone(&self.roles[index].0);
        let outbox = self.outbox.clone();
        let tell = async move |event, note| {
            // The loop is gone only when the pool ends, and then nobody needs to know.
            let _ = outbox.send(Message { role: index, event, note }).await;
        };
        match action {
            Action::Launch(number) => {
                let backend = self.backend.clone();
                self.tasks.spawn(async move {
                    match backend.launch(&role, number).await {
                        Ok(()) => {
                            tell(Event::Launched(number), None).await;
                            let (exit, note) = backend.watch(&role, number).await;
                            tell(Event::Exited(number, exit), note).await;
                        }
                        Err(note) => tell(Event::LaunchFailed(number), Some(note)).await,
                    }
                });
            }
            Action::Open(number) => self.backend.open(&role, number),
            Action::Terminate(number) | Action::Kill(number) => {
                let backend = self.backend.clone();
                let hard = matches!(action, Action::Kill(_));
                self.tasks.spawn(async move { backend.end(&role, number, hard).await });
            }
            Action::Clear { number, exit, opened } => {
                let backend = self.backend.clone();
                self.tasks.spawn(async move {
                    backend.clear(&role, number, exit, opened).await;
                    tell(Event::Cleared(number), None).await;
                });
            }
            Action::Complain { failures, pause } => {
                let last = self.last_failure[index].as_deref().unwrap_or("it ended at once");
                tracing::error!(
                    role = %role.config.name, image = %role.config.image, failures, ?pause,
                    "no container of this role can work: {last}"
                );
            }
        }
    }

    /// Starts a sweep unless one is under way.
    fn sweep(&mut self) {
        if self.sweeping.is_empty() {
            let backend = self.backend.clone();
            let roles: Vec<_> = self.roles.iter().map(|(role, _)| Arc::clone(role)).collect();
            self.sweeping.spawn(async move { backend.sweep(&roles).await });
        }
    }
}

/// Sleeps until then; for ever when there is no such moment.
async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
