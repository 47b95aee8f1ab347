//! The simulated world: what there is, what is to happen when, and the one way in which time goes on.
//!
//! Everything that happens is a [`Task`] of the agenda. A task is data and the agenda is ordered, so one seed is one
//! history.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use cantus_core::Settings;
use cantus_core::event::{Action, Event, ItemIndex, Millis, Submission};
use cantus_proto::ids::{RoleName, RunId};
use cantus_proto::message::{Attempt, Report};

use crate::bus::{Bus, Stored, WorkKey};
use crate::coordinator::Coordinator;
use crate::crew::Crew;
use crate::fault::{Fault, Weather};
use crate::git::Git;
use crate::ledger::Ledger;
use crate::plans::{START, settings, submissions};
use crate::random::Random;

/// Something that will happen.
#[derive(Debug, Clone)]
pub(crate) enum Task {
    /// A coordinator starts, unless one is there; or beside it.
    Start {
        beside: bool,
    },
    /// A coordinator looks at what came.
    Look(u64),
    /// A deadline of its core.
    Wake(u64),
    /// The hub carries out what a coordinator asked for.
    Act(u64, Box<Action>),
    /// The hub's answer.
    Answer(u64, Arc<Event>),
    /// A coordinator publishes an attempt until it is queued.
    Publish(u64, Arc<Attempt>),
    Withdraw(WorkKey),
    /// Somebody free of this role asks for work.
    Pull(RoleName),
    /// A taken attempt that nobody acknowledged.
    GiveBack(WorkKey, u64),
    /// A taker says that it has it.
    Lease(u64),
    Beat(u64),
    End(u64),
    /// A report reaches the store.
    Report(RoleName, Bytes),
    BusBack,
    HostBack(usize),
    RoleBack(RoleName),
    /// What may go wrong from time to time.
    Disaster,
    /// Forgers at work.
    Rogue,
    /// Somebody pushes.
    Push,
    /// People at work.
    People,
    Submit(usize),
}

/// A rule that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// Of the design's invariants; 0 for the model's own.
    pub(crate) invariant: u8,
    pub(crate) text: String,
}

/// See the module.
pub(crate) struct World {
    pub(crate) now: Millis,
    pub(crate) random: Random,
    pub(crate) weather: Weather,
    agenda: BTreeMap<(Millis, u64), Task>,
    drawn: u64,
    pub(crate) bus: Bus,
    pub(crate) git: Git,
    pub(crate) crew: Crew,
    pub(crate) coordinators: BTreeMap<u64, Coordinator>,
    pub(crate) settings: Settings,
    pub(crate) runs: Vec<Submission>,
    pub(crate) ledger: Ledger,
    pub(crate) trouble: Option<Trouble>,
    pub(crate) events: u64,
    /// What the hub ever answered about an item.
    pub(crate) answers: BTreeMap<(RunId, ItemIndex), Vec<Arc<Event>>>,
    /// Facts that were decided, by kind.
    pub(crate) facts: BTreeMap<String, u64>,
    /// What there was at each append, for those who want to go back.
    pub(crate) forks: Option<Vec<World>>,
}

impl World {
    /// The beginning of this seed.
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let mut weather = Weather::new(&mut random);
        let settings = settings(&mut random);
        let runs = submissions(&mut random);
        let skewed = weather.strikes(&mut random, Fault::ClockSkewed);
        let crew = Crew::new(&mut random, skewed);
        let mut world = Self {
            now: START,
            random,
            weather,
            agenda: BTreeMap::new(),
            drawn: 0,
            bus: Bus::default(),
            git: Git::new(),
            crew,
            coordinators: BTreeMap::new(),
            ledger: Ledger::new(&settings, &runs),
            settings,
            runs,
            trouble: None,
            events: 0,
            answers: BTreeMap::new(),
            facts: BTreeMap::new(),
            forks: None,
        };
        world.later(0, Task::Start { beside: false });
        for place in 0..world.runs.len() {
            let wait = world.random.below(30_000);
            world.later(500 + wait * place as u64, Task::Submit(place));
        }
        for task in [Task::Disaster, Task::Rogue, Task::Push, Task::People] {
            let wait = world.random.below(60_000);
            world.later(wait, task);
        }
        world
    }

    /// The same world, in which no coordinator is alive.
    pub(crate) fn fork(&self) -> Self {
        Self {
            now: self.now,
            random: self.random.clone(),
            weather: self.weather.clone(),
            agenda: self.agenda.clone(),
            drawn: self.drawn,
            bus: self.bus.clone(),
            git: self.git.clone(),
            crew: self.crew.clone(),
            coordinators: BTreeMap::new(),
            settings: self.settings.clone(),
            runs: self.runs.clone(),
            ledger: self.ledger.clone(),
            trouble: None,
            events: 0,
            answers: self.answers.clone(),
            facts: BTreeMap::new(),
            forks: None,
        }
    }

    /// Puts something on the agenda.
    pub(crate) fn later(&mut self, milliseconds: u64, task: Task) {
        self.drawn += 1;
        self.agenda.insert((self.now.plus(milliseconds), self.drawn), task);
    }

    pub(crate) fn agenda(&self) -> impl Iterator<Item = &Task> {
        self.agenda.values()
    }

    /// A rule does not hold. The first one counts; what follows is often its consequence.
    pub(crate) fn blame(&mut self, invariant: u8, text: impl Into<String>) {
        if self.trouble.is_none() {
            self.trouble = Some(Trouble { invariant, text: text.into() });
        }
    }

    pub(crate) fn strikes(&mut self, fault: Fault) -> bool {
        self.weather.strikes(&mut self.random, fault)
    }

    /// The next thing happens; says which, in one line, or nothing when nothing will.
    pub(crate) fn go_on(&mut self) -> Option<Task> {
        let ((at, _), task) = self.agenda.pop_first()?;
        self.now = self.now.max(at);
        self.events += 1;
        self.perform(task.clone());
        Some(task)
    }

    fn perform(&mut self, task: Task) {
        match task {
            Task::Start { beside } => self.start(beside),
            Task::Look(id) => self.look(id),
            Task::Wake(id) => self.wake(id),
            Task::Act(id, action) => self.act(id, &action),
            Task::Answer(id, event) => self.tell(id, event),
            Task::Publish(id, attempt) => self.publish(id, attempt),
            Task::Withdraw(key) => self.bus.withdraw(&key),
            Task::Pull(role) => self.pull(&role),
            Task::GiveBack(key, delivery) => {
                if self.bus.give_back(&key, delivery) {
                    self.pull_soon();
                }
            }
            Task::Lease(holder) => self.lease(holder),
            Task::Beat(holder) => self.beat(holder),
            Task::End(holder) => self.end(holder),
            Task::Report(role, bytes) => self.store(role, bytes),
            Task::BusBack => self.bus_back(),
            Task::HostBack(host) => self.host_back(host),
            Task::RoleBack(role) => {
                self.crew.missing.retain(|missing| *missing != role);
                self.later(0, Task::Pull(role));
            }
            Task::Disaster => self.disaster(),
            Task::Rogue => self.rogue(),
            Task::Push => self.push(),
            Task::People => self.people(),
            Task::Submit(place) => self.submit(place),
        }
    }

    /// Whoever is free asks for what there is.
    pub(crate) fn pull_soon(&mut self) {
        for role in self.bus.roles_with_work() {
            let wait = self.random.below(200);
            self.later(wait, Task::Pull(role));
        }
    }

    /// Sends a report on its way, with all that may happen to it. Says whether its sender lived to send it.
    pub(crate) fn send(&mut self, role: &RoleName, report: &Report) -> bool {
        if self.strikes(Fault::ReportLost) {
            return false;
        }
        let Ok(bytes) = report.encode() else {
            self.blame(0, format!("a report of the simulator has no bytes: {report:?}"));
            return false;
        };
        let mut delay = self.random.between(1, 40);
        // A container ends after its holder's last word was stored.
        if matches!(report, Report::ContainerExited(_)) {
            delay += 40;
        }
        if self.strikes(Fault::ReportDelayed) {
            delay += self.random.below(20_000);
        } else if self.strikes(Fault::ReportLate) {
            delay += self.random.below(300_000);
        }
        self.later(delay, Task::Report(role.clone(), bytes.clone()));
        if self.strikes(Fault::ReportDuplicated) {
            let delay = delay + self.random.below(30_000);
            self.later(delay, Task::Report(role.clone(), bytes));
        }
        true
    }

    /// The store has a report; coordinators will read it.
    pub(crate) fn store(&mut self, role: RoleName, bytes: Bytes) {
        if let Some(back) = self.bus.away_until {
            let wait = back.0.saturating_sub(self.now.0) + self.random.between(1, 2_000);
            self.later(wait, Task::Report(role, bytes));
            return;
        }
        self.bus.store.reports.push(Arc::new(Stored { role, bytes }));
        for id in self.coordinators.keys().copied().collect::<Vec<_>>() {
            let wait = self.random.below(5);
            self.later(wait, Task::Look(id));
        }
    }

    /// One number for all that there is.
    pub(crate) fn digest(&self) -> u64 {
        let mut hash = Hash(0xcbf2_9ce4_8422_2325);
        for coordinator in self.coordinators.values() {
            let _ = write!(hash, "{:?}", coordinator.core.runs());
        }
        let _ = write!(
            hash,
            "{} {} {:?} {}",
            self.bus.journal_last(),
            self.bus.store.reports.len(),
            self.random,
            self.agenda.len(),
        );
        hash.0
    }
}

/// Fowler, Noll and Vo's hash, for text that is written and never kept.
struct Hash(u64);

impl std::fmt::Write for Hash {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(())
    }
}
