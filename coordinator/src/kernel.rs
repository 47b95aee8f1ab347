//! The one loop around the core: select → event → step → append to the journal → act → acknowledge.
//!
//! Reports are taken in batches; one batch is one turn, and one turn costs one round trip to the journal
//! whatever its size. The journal says how far reports are consumed, so nothing is acknowledged elsewhere and
//! nothing is consumed twice. When nothing happens, nothing runs.

pub mod announce;
mod effects;
mod recovery;
mod turn;
pub mod upkeep;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use cantus_proto::bus::{AppendError, Bus, BusError, HeartbeatRequest, Heartbeats, ReportEntry};
use cantus_proto::evidence::SigningKey;
use cantus_proto::ids::{Blob, RoleName};
use cantus_proto::message::{HeartbeatReply, LeaseEvent, LeaseReport, Report};
use futures::StreamExt as _;
use tokio::sync::{mpsc, oneshot, watch};

use crate::hub::Hub;
use cantus_core::event::{Event, Millis};
use cantus_core::journal::wire::RecordError;
use cantus_core::journal::{plan, wire};
use cantus_core::{Core, Settings};

pub use effects::Effects;

/// Most reports of one turn: enough to share a round trip, few enough that a turn stays short.
const REPORTS_PER_TURN_MAX: usize = 256;
/// Most events of people and of the hub that wait for the loop; more make their senders wait.
const INBOX_MAX: usize = 256;

/// Why the coordinator stopped.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// The bus does not do what is needed.
    #[error("the bus failed")]
    Bus(#[from] BusError),
    /// The journal could not be written.
    #[error("the journal cannot be appended to")]
    Append(#[from] AppendError),
    /// The journal cannot be read.
    #[error("message {sequence} of the journal cannot be read")]
    Record {
        /// Its place.
        sequence: u64,
        /// What is wrong with it.
        source: RecordError,
    },
    /// A plan that the journal refers to is gone.
    #[error("the plan of run {run} cannot be fetched from the blob store")]
    Plan {
        /// Whose plan.
        run: String,
        /// What is wrong.
        source: cantus_proto::bus::BlobError,
    },
    /// The journal does not fit together.
    #[error("message {sequence} of the journal does not follow from those before it")]
    Inconsistent {
        /// Its place.
        sequence: u64,
        /// Which item and state.
        source: cantus_core::item::Inconsistent,
    },
    /// The bus has lost what it had stored.
    #[error(
        "the journal ends at {found}, but {expected} messages were stored: the bus came back with an older store"
    )]
    Older {
        /// What this coordinator knows to be stored.
        expected: u64,
        /// What there is.
        found: u64,
    },
    /// The connection was closed.
    #[error("the connection to the bus was closed")]
    Closed,
    /// The system has no randomness to give.
    #[error("the system gave no random bytes")]
    Random(#[from] getrandom::Error),
}

/// What the kernel needs besides its settings.
#[derive(Debug)]
pub struct Parts {
    /// As the coordinator's user.
    pub bus: Bus,
    /// The git side; nothing when only reporting runs are served.
    pub hub: Option<Arc<Hub>>,
    /// Signs summaries.
    pub key: Arc<SigningKey>,
    /// Roles of the configuration; roles of plans are added.
    pub roles: Vec<RoleName>,
}

/// A question to the core, answered between two turns.
type Question = Box<dyn FnOnce(&Core) + Send>;

enum Input {
    Event(Box<Event>, Option<oneshot::Sender<Vec<String>>>),
    Question(Question),
}

/// The way to a running kernel. Clones share it.
#[derive(Clone)]
pub struct Handle {
    inbox: mpsc::Sender<Input>,
    changes: watch::Receiver<u64>,
}

/// The kernel has stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the coordinator is stopping; ask again when it is back")]
pub struct Stopped;

impl Handle {
    /// Tells the core something and waits until it is durable; answers with what was refused.
    ///
    /// # Errors
    /// [`Stopped`].
    pub async fn tell(&self, event: Event) -> Result<Vec<String>, Stopped> {
        let (answer, answered) = oneshot::channel();
        self.inbox.send(Input::Event(Box::new(event), Some(answer))).await.map_err(|_| Stopped)?;
        answered.await.map_err(|_| Stopped)
    }

    /// Tells the core something without waiting for it.
    async fn post(&self, event: Event) {
        // The kernel is gone only at the end of the process; what is lost then is asked for again at the start.
        let _ = self.inbox.send(Input::Event(Box::new(event), None)).await;
    }

    /// Looks at the core between two turns.
    ///
    /// # Errors
    /// [`Stopped`].
    pub async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Core) -> T + Send + 'static,
    ) -> Result<T, Stopped> {
        let (answer, answered) = oneshot::channel();
        let question: Question = Box::new(move |core| {
            let _ = answer.send(question(core));
        });
        self.inbox.send(Input::Question(question)).await.map_err(|_| Stopped)?;
        answered.await.map_err(|_| Stopped)
    }

    /// Changes whenever something was decided.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.clone()
    }
}

/// The loop and all that it owns.
pub struct Kernel {
    /// Drawn at the start: tells this coordinator's appends from those of any other.
    name: String,
    core: Core,
    bus: Bus,
    effects: Arc<Effects>,
    roles: Vec<RoleName>,
    journal_end: u64,
    reports_through: u64,
    inbox: mpsc::Receiver<Input>,
    changes: watch::Sender<u64>,
}

impl Kernel {
    /// Sets the bus up, replays the journal and catches up with the reports that came meanwhile.
    ///
    /// # Errors
    /// [`KernelError`] when the bus fails, or the journal is damaged or another coordinator's.
    pub async fn start(settings: Settings, parts: Parts) -> Result<(Self, Handle), KernelError> {
        let Parts { bus, hub, key, roles } = parts;
        bus.ensure_streams().await?;
        let mut core = Core::new(settings);
        let (journal_end, reports_through) = replay(&mut core, &bus).await?;
        let (sender, inbox) = mpsc::channel(INBOX_MAX);
        let (changes, changed) = watch::channel(0);
        let handle = Handle { inbox: sender, changes: changed };
        let effects =
            Arc::new(Effects::new(bus.clone(), hub, key, core.settings(), handle.clone()));
        let mut kernel = Self {
            name: draw_name()?,
            core,
            bus,
            effects,
            roles: Vec::new(),
            journal_end,
            reports_through,
            inbox,
            changes,
        };
        let planned: Vec<RoleName> = kernel.core.roles().map(|(role, _)| role.clone()).collect();
        kernel.ensure_roles(roles.into_iter().chain(planned)).await?;
        kernel.catch_up().await?;
        Ok((kernel, handle))
    }

    /// What acts for it; the API announces through it.
    #[must_use]
    pub fn effects(&self) -> Arc<Effects> {
        Arc::clone(&self.effects)
    }

    /// Runs until `stop` changes.
    ///
    /// # Errors
    /// [`KernelError`] when the bus is closed or another coordinator took over.
    pub async fn run(mut self, mut stop: watch::Receiver<bool>) -> Result<(), KernelError> {
        let mut reports = self
            .bus
            .reports(self.reports_through + 1)
            .into_stream()
            .ready_chunks(REPORTS_PER_TURN_MAX);
        let mut heartbeats = self.bus.heartbeats().await?;
        let mut connects = self.bus.connects();
        // Without a bus nothing is heard of anybody, which says nothing about them: no lease ends meanwhile.
        let mut away = false;
        let mut inputs = Vec::new();
        loop {
            let wake = self.core.wake_at().map(until);
            tokio::select! {
                biased;
                _ = stop.changed() => return Ok(()),
                changed = connects.changed() => {
                    changed.map_err(|_| KernelError::Closed)?;
                    // After a new connection the store may be another than before.
                    self.is_current().await?;
                    self.core.renew_leases(now());
                    away = false;
                }
                beat = heartbeats.next() => self.answer(beat.ok_or(KernelError::Closed)?).await?,
                batch = reports.next() => self.take_reports(batch.ok_or(KernelError::Closed)?).await?,
                count = self.inbox.recv_many(&mut inputs, INBOX_MAX) => {
                    if count == 0 {
                        return Ok(());
                    }
                    self.take_inputs(&mut inputs).await?;
                }
                () = sleep_until(wake), if wake.is_some() && !away => {
                    away = !self.bus.is_connected();
                    if away {
                        continue;
                    }
                    let mut turn = self.begin();
                    self.step(&mut turn, Event::Woken);
                    self.finish(turn).await?;
                }
            }
            self.answer_waiting(&mut heartbeats).await?;
        }
    }

    /// Consumes the reports that are stored now, then asks for every effect that may be unfinished.
    async fn catch_up(&mut self) -> Result<(), KernelError> {
        let last = self.bus.reports_last_sequence().await?;
        let mut reports = self.bus.reports(self.reports_through + 1);
        while self.reports_through < last {
            let entry = reports.next().await?;
            let mut turn = self.begin();
            self.report(&mut turn, entry);
            turn.actions.clear();
            self.finish(turn).await?;
        }
        self.announce_heads().await;
        self.recover_landings().await?;
        let mut turn = self.begin();
        let step = self.core.resume(turn.now);
        turn.add(step);
        self.finish(turn).await
    }

    /// Mirrors on hosts that come later must find every target that is worked on.
    async fn announce_heads(&self) {
        for run in self.core.runs().values().filter(|run| run.ended.is_none()) {
            if let (Some(repository), Some(head)) = (&run.repository, &run.head) {
                self.effects.announce_again(repository, head).await;
            }
        }
    }

    async fn take_reports(&mut self, batch: Vec<ReportEntry>) -> Result<(), KernelError> {
        let mut turn = self.begin();
        for entry in batch {
            self.report(&mut turn, entry);
        }
        self.finish(turn).await
    }

    fn report(&mut self, turn: &mut turn::Turn, entry: ReportEntry) {
        self.reports_through = self.reports_through.max(entry.sequence);
        match entry.report {
            Ok(Report::Lease(LeaseReport { lease, body: LeaseEvent::Leased(taker), .. }))
                if entry.role.as_ref() != Some(&taker.role) =>
            {
                let role = &taker.role;
                tracing::warn!(%lease, %role, subject = ?entry.role, "refused: a taker with the role of others");
            }
            Ok(report) => self.step(turn, Event::Reported(Box::new(report))),
            Err(error) => {
                tracing::warn!(sequence = entry.sequence, error = %chain(&error), "report refused");
            }
        }
    }

    async fn take_inputs(&mut self, inputs: &mut Vec<Input>) -> Result<(), KernelError> {
        let mut turn = self.begin();
        let mut answers = Vec::new();
        let mut questions = Vec::new();
        for input in inputs.drain(..) {
            match input {
                Input::Question(question) => questions.push(question),
                Input::Event(event, answer) => {
                    if let Event::Submitted(submission) = &*event {
                        let items = submission.plan.items.iter();
                        let roles = items.flat_map(|i| [i.role.clone(), i.verifier.clone()]);
                        if let Err(error) = self.ensure_roles(roles).await {
                            let refusal = format!(
                                "the roles have no queue yet, submit again: {}",
                                chain(&error)
                            );
                            answers.extend(answer.map(|answer| (answer, vec![refusal])));
                            continue;
                        }
                    }
                    let before = turn.refused.len();
                    self.step(&mut turn, *event);
                    if let Some(answer) = answer {
                        answers.push((answer, turn.refused[before..].to_vec()));
                    }
                }
            }
        }
        self.finish(turn).await?;
        for (answer, refused) in answers {
            let _ = answer.send(refused);
        }
        for question in questions {
            question(&self.core);
        }
        Ok(())
    }

    /// Creates what the bus needs for roles that are new.
    async fn ensure_roles(
        &mut self,
        roles: impl Iterator<Item = RoleName>,
    ) -> Result<(), BusError> {
        let mut new: Vec<RoleName> = roles.filter(|role| !self.roles.contains(role)).collect();
        new.sort();
        new.dedup();
        if !new.is_empty() {
            let lease = Duration::from_millis(self.core.settings().lease_ms);
            self.bus.ensure_consumers_with(&new, lease).await?;
            self.roles.extend(new);
        }
        Ok(())
    }

    async fn answer(&mut self, request: HeartbeatRequest) -> Result<(), KernelError> {
        let Ok(beat) = &request.heartbeat else { return Ok(()) };
        let mut turn = self.begin();
        let (reply, step) = self.core.heartbeat(turn.now, beat);
        if !step.records.is_empty() {
            turn.add(step);
            self.finish(turn).await?;
        }
        if matches!(reply, HeartbeatReply::Stop(_)) && !self.is_current().await? {
            return Ok(());
        }
        if let Err(error) = request.answer(&reply).await {
            tracing::debug!(error = %chain(&error), "heartbeat not answered");
        }
        Ok(())
    }

    /// Heartbeats that came during a turn, before the turn after it.
    async fn answer_waiting(&mut self, heartbeats: &mut Heartbeats) -> Result<(), KernelError> {
        use futures::FutureExt as _;
        while let Some(Some(request)) = heartbeats.next().now_or_never() {
            self.answer(request).await?;
        }
        Ok(())
    }

    /// Whether nobody else has written to the journal; unknown counts as no. Asked before somebody is told to stop
    /// and when something was refused: what a coordinator knows nothing of may be the work of its successor.
    async fn is_current(&self) -> Result<bool, KernelError> {
        match self.bus.journal_last_sequence().await {
            Ok(found) if found > self.journal_end => {
                Err(AppendError::Fenced { expected: self.journal_end, found }.into())
            }
            Ok(found) if found < self.journal_end => {
                Err(KernelError::Older { expected: self.journal_end, found })
            }
            Ok(_) => Ok(true),
            Err(error) => {
                tracing::debug!(error = %chain(&error), "the journal's end is not known");
                Ok(false)
            }
        }
    }
}

/// Rebuilds the core; answers with the journal's end and the reports consumed.
async fn replay(core: &mut Core, bus: &Bus) -> Result<(u64, u64), KernelError> {
    let (end, mut entries) = bus.journal_replay().await?;
    let mut reports_through = 0;
    while let Some(entry) = entries.next().await {
        let entry = entry?;
        let sequence = entry.sequence;
        let unreadable = |source| KernelError::Record { sequence, source };
        let batch = wire::decode(&entry.payload).map_err(unreadable)?;
        reports_through = reports_through.max(batch.reports_through.unwrap_or(0));
        let plan = match batch.plan_blob().map_err(unreadable)? {
            Some(blob) => Some(fetch_plan(bus, &batch.run, &blob, sequence).await?),
            None => None,
        };
        for record in batch.records(plan.as_ref()).map_err(unreadable)? {
            core.apply(&record).map_err(|source| KernelError::Inconsistent { sequence, source })?;
        }
    }
    Ok((end, reports_through))
}

async fn fetch_plan(
    bus: &Bus,
    run: &cantus_proto::ids::RunId,
    blob: &Blob,
    sequence: u64,
) -> Result<Arc<cantus_proto::plan::Plan>, KernelError> {
    let bytes = bus
        .get_blob(blob, plan::COMPILED_BYTES_MAX, plan::PATIENCE)
        .await
        .map_err(|source| KernelError::Plan { run: run.to_string(), source })?;
    plan::decode(&bytes).map_err(|source| KernelError::Record { sequence, source })
}

fn draw_name() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes)?;
    Ok(cantus_proto::ids::hex(&bytes))
}

/// The coordinator's clock: the wall clock of its start, and steady from there, so that setting the system's
/// clock ends no lease.
#[expect(clippy::disallowed_methods, reason = "the one place where the coordinator reads a clock")]
#[must_use]
pub fn now() -> Millis {
    static START: std::sync::OnceLock<(Duration, std::time::Instant)> = std::sync::OnceLock::new();
    let (wall, begun) = START.get_or_init(|| {
        let wall = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        (wall, std::time::Instant::now())
    });
    Millis(u64::try_from((*wall + begun.elapsed()).as_millis()).unwrap_or(u64::MAX))
}

fn until(at: Millis) -> Duration {
    Duration::from_millis(at.0.saturating_sub(now().0))
}

async fn sleep_until(wait: Option<Duration>) {
    tokio::time::sleep(wait.unwrap_or_default()).await;
}

/// An error with all that caused it, on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
