//! One lease: taken, kept alive, handed in.
//!
//! The order is what makes it safe: the store has `Leased` before the queue loses the message, the note is on disk
//! before an agent starts, and the marker is written only after the coordinator's stream has the result. What an
//! attempt does in between is the worker's or verifier's affair.

use std::time::Duration;

use cantus_proto::bus::{Bus, BusConfig, BusError, ConnectError, Delivery};
use cantus_proto::ids::{CommitId, LeaseId};
use cantus_proto::message::{Attempt, LeaseEvent, LeaseNote, Leased, Pulse, Work};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use crate::heart::Heart;
use crate::mirror::{self, MirrorError};
use crate::note::{NoteError, Notes};
use crate::relay::{self, Relay};
use crate::reporter::{ReportError, Reporter};
use crate::rooms::{Rooms, RoomsError};
use crate::settings::Settings;
use crate::text::chain;

/// How long a process waits for a bus that is not there yet.
const CONNECT_WAIT: Duration = Duration::from_secs(120);

/// How long one pull lasts before the next: only so that a lost subscription is noticed.
const PULL: Duration = Duration::from_secs(60);

/// Pause after the bus could not be asked for work.
const PULL_PAUSE: Duration = Duration::from_secs(2);

/// Pause after an attempt was given back: another taker should get it first.
const GIVE_BACK_PAUSE: Duration = Duration::from_secs(1);

/// How often the mirror is looked at while it lags behind.
const MIRROR_LOOK: Duration = Duration::from_millis(100);

/// A lease that this process holds.
#[derive(Debug)]
pub struct Lease {
    /// What this process was told.
    pub settings: Settings,
    /// What was taken.
    pub attempt: Attempt,
    /// Chosen by us, at random.
    pub id: LeaseId,
    /// The commit to start from; for a verification the candidate's base.
    pub base: CommitId,
    /// Its directories.
    pub rooms: Rooms,
    /// When its wall clock ends it.
    pub deadline: Instant,
    /// Speaks for it.
    pub reporter: Reporter,
    heart: Heart,
    notes: Notes,
    /// Kept for as long as the bus is used.
    _relay: Option<Relay>,
}

/// Why there is no lease.
#[derive(Debug, thiserror::Error)]
pub enum LeaseError {
    /// The workspace has work of an earlier lease.
    #[error("the workspace still has unsaved work of lease {0}: run `salvage` on it first")]
    Unsaved(LeaseId),
    /// Its note cannot be read or written.
    #[error("the note of the workspace cannot be used")]
    Note(#[from] NoteError),
    /// Its directories cannot be made.
    #[error("the workspace's directories cannot be made")]
    Rooms(#[from] RoomsError),
    /// There is no way to the bus.
    #[error("the relay to the bus cannot be opened")]
    Relay(#[source] std::io::Error),
    /// There is no bus.
    #[error("there is no bus")]
    Connect(#[from] ConnectError),
    /// The lease could not be stored; the attempt goes to another taker.
    #[error("the lease could not be reported")]
    Report(#[source] BusError),
    /// The system gives no signals or no randomness.
    #[error("the system refuses {what}")]
    System {
        /// What was asked for.
        what: &'static str,
        /// Why.
        source: std::io::Error,
    },
}

/// Why a lease could not be handed in.
#[derive(Debug, thiserror::Error)]
pub enum HandInError {
    /// The coordinator's stream does not have it.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// It is handed in, but that could not be noted.
    #[error("the hand-in could not be noted")]
    Note(#[from] NoteError),
}

/// Where the bus is for this process, and the relay that leads there.
///
/// # Errors
/// [`LeaseError::Relay`] or [`LeaseError::Connect`].
pub async fn connect(settings: &Settings) -> Result<(Bus, Option<Relay>), LeaseError> {
    let (url, relay) = match &settings.bus_url {
        Some(url) => (url.clone(), None),
        None => {
            let socket = settings.places.sockets.join("bus.sock");
            let relay = Relay::start(&socket).await.map_err(LeaseError::Relay)?;
            (relay.url(), Some(relay))
        }
    };
    let bus = Bus::connect(BusConfig {
        url,
        user: settings.bus_user.clone(),
        password: settings.bus_password.0.clone(),
        name: settings.container.to_string(),
        wait: CONNECT_WAIT,
    })
    .await?;
    Ok((bus, relay))
}

impl Lease {
    /// Waits for an attempt and takes it; nothing when told to drain before one came.
    ///
    /// # Errors
    /// [`LeaseError`]; nothing was taken then, or it goes to another taker.
    pub async fn take(
        settings: Settings,
        mut drain: watch::Receiver<bool>,
    ) -> Result<Option<Self>, LeaseError> {
        let notes = Notes::of(&settings.places.work);
        if let Some(note) = notes.unsaved()? {
            return Err(LeaseError::Unsaved(note.lease));
        }
        if settings.bus_url.is_none() {
            let socket = settings.places.sockets.join("bus.sock");
            tokio::select! {
                released = relay::released(&socket) => released.map_err(LeaseError::Relay)?,
                _ = drain.wait_for(|drain| *drain) => return Ok(None),
            }
        }
        let (bus, relay) = connect(&settings).await?;
        notes.clear()?;
        let rooms = Rooms::make(&settings.places)?;
        let Some(delivery) = next(&bus, &settings, &mut drain).await else { return Ok(None) };
        let started = Instant::now();
        let attempt = delivery.attempt.clone();
        let base = base(&settings, &attempt).await;
        let id = new_id()?;
        let leased = LeaseEvent::Leased(Leased {
            role: settings.role.clone(),
            host: settings.host.clone(),
            container: settings.container.clone(),
            isolation: settings.isolation,
            base: (!matches!(attempt.work, Work::Verify(_))).then(|| base.clone()),
            image: settings.image.clone(),
        });
        // After the lease time another may have it: reporting later would only compete with that one.
        let patience =
            Duration::from_millis(attempt.limits.lease_ms).saturating_sub(started.elapsed());
        let reporter =
            Reporter::of_attempt(bus.clone(), settings.role.clone(), id.clone(), &attempt);
        reporter.report_within(leased, patience).await.map_err(LeaseError::Report)?;
        if let Err(error) = delivery.ack().await {
            tracing::warn!(error = chain(&error), "the taken attempt could not be acknowledged");
        }
        let (run, item, number) = (&attempt.run, &attempt.item, attempt.number);
        tracing::info!(lease = %id, %run, %item, attempt = %number, %base, "leased");
        notes.write(&note_of(&attempt, &id, &base))?;
        let heart = Heart::start(bus, settings.role.clone(), &attempt, &id);
        let deadline = started + Duration::from_millis(attempt.limits.wall_clock_ms);
        Ok(Some(Self {
            settings,
            attempt,
            id,
            base,
            rooms,
            deadline,
            reporter,
            heart,
            notes,
            _relay: relay,
        }))
    }

    /// Turns true when the coordinator says that the lease is over.
    #[must_use]
    pub fn stop(&self) -> watch::Receiver<bool> {
        self.heart.stop()
    }

    /// Why it is over, once it is.
    #[must_use]
    pub fn stop_reason(&self) -> Option<String> {
        self.heart.stop_reason()
    }

    /// What heartbeats say from now on.
    pub fn note(&self, text: &str) {
        self.heart.note(text);
    }

    /// What heartbeats say of the work from now on.
    pub fn pulse(&self, pulse: Pulse) {
        self.heart.pulse(pulse);
    }

    /// All that the kernel has demanded so far; it only grows.
    #[must_use]
    pub fn demands(&self) -> watch::Receiver<Vec<String>> {
        self.heart.demands()
    }

    /// How much of the wall clock is left.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Hands in what ends the lease, and notes that it is handed in.
    ///
    /// # Errors
    /// [`HandInError`]; then the workspace still has the work, and salvage follows.
    pub async fn hand_in(self, event: LeaseEvent) -> Result<(), HandInError> {
        self.reporter.report(event).await?;
        self.notes.mark_handed_in()?;
        tracing::info!(lease = %self.id, "handed in");
        Ok(())
    }

    /// Waits until the mirror has the commit to start from; false when it still lags at the end.
    pub async fn mirror_ready(&self) -> bool {
        let mirror = mirror::path(&self.settings.places.mirrors, &self.attempt.repository);
        let until = Instant::now() + cantus_proto::limits::MIRROR_WAIT;
        loop {
            if mirror::has(&mirror, &self.base).unwrap_or(false) {
                return true;
            }
            if Instant::now() >= until || *self.heart.stop().borrow() {
                return false;
            }
            tokio::time::sleep(MIRROR_LOOK).await;
        }
    }
}

/// The next attempt for this process, however long it takes; nothing when told to drain.
async fn next(
    bus: &Bus,
    settings: &Settings,
    drain: &mut watch::Receiver<bool>,
) -> Option<Delivery> {
    loop {
        let taken = tokio::select! {
            biased;
            _ = drain.wait_for(|drain| *drain) => return None,
            taken = bus.lease_next(&settings.role, PULL) => taken,
        };
        let delivery = match taken {
            Ok(Some(delivery)) => delivery,
            Ok(None) => continue,
            Err(error) => {
                tracing::warn!(error = chain(&error), "work cannot be asked for; trying again");
                let _ = timeout(PULL_PAUSE, drain.wait_for(|drain| *drain)).await;
                continue;
            }
        };
        let excluded = match &delivery.attempt.work {
            Work::Verify(verification) => verification.worker_excluded.as_ref(),
            Work::Produce | Work::Repair(_) => None,
        };
        if excluded != Some(&settings.container) {
            return Some(delivery);
        }
        // Who made it must not check it (B12).
        if let Err(error) = delivery.give_back().await {
            tracing::warn!(error = chain(&error), "an attempt could not be given back");
        }
        let _ = timeout(GIVE_BACK_PAUSE, drain.wait_for(|drain| *drain)).await;
    }
}

/// The mirror's head of the target; while it lags behind, after half a lease, the commit that it must contain.
async fn base(settings: &Settings, attempt: &Attempt) -> CommitId {
    if let Work::Verify(verification) = &attempt.work {
        return verification.candidate.base.clone();
    }
    let mirror = mirror::path(&settings.places.mirrors, &attempt.repository);
    let until = Instant::now() + Duration::from_millis(attempt.limits.lease_ms / 2);
    loop {
        match mirror::base(&mirror, &attempt.target, &attempt.base_min) {
            Ok(Some(head)) => return head,
            Ok(None) | Err(MirrorError::Absent(_)) => {}
            Err(error) => tracing::warn!(error = chain(&error), "the mirror cannot be read"),
        }
        if Instant::now() >= until {
            return attempt.base_min.clone();
        }
        tokio::time::sleep(MIRROR_LOOK).await;
    }
}

fn new_id() -> Result<LeaseId, LeaseError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| LeaseError::System {
        what: "randomness for the lease id",
        source: std::io::Error::other(error.to_string()),
    })?;
    Ok(LeaseId::from_bytes(bytes))
}

fn note_of(attempt: &Attempt, lease: &LeaseId, base: &CommitId) -> LeaseNote {
    LeaseNote {
        lease: lease.clone(),
        run: attempt.run.clone(),
        item: attempt.item.clone(),
        attempt: attempt.number,
        kind: attempt.work.kind(),
        repository: attempt.repository.clone(),
        base: base.clone(),
        artifact_bytes_max: attempt.limits.artifact_bytes_max,
        files_max: attempt.limits.files_max,
    }
}
