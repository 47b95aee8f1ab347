//! The kernel that decides: pure, deterministic, and the only owner of what is true.
//!
//! [`Core::step`] takes one event and answers with records (what was decided) and actions (what to do about
//! it). [`Core::apply`] replays records and decides nothing. No clock, no randomness, no IO: the shell brings
//! time and ids in events. Orders are total: every score ends in an id.

mod attempt;
pub mod breaker;
pub mod budget;
mod check;
mod checkpoint;
mod decide;
mod dispatch;
pub mod event;
pub mod evidence_or_abstain;
pub mod first_artifact;
mod index;
pub mod item;
pub mod journal;
pub mod learnings;
mod lease;
pub mod prices;
pub mod progress_heartbeat;
mod queue;
pub mod record;
pub mod report;
mod results;
pub mod routing;
pub mod rules;
pub mod run;
pub mod scope_delta;
mod settle;
pub mod split;
mod state_machine;
mod steer;
mod table;
#[cfg(test)]
mod tests;
mod text;
pub mod verification_budget;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cantus_proto::evidence::trust::Trust;
use cantus_proto::ids::{ContainerName, LeaseId, RepositoryId, RoleName, RunId};

use event::{Action, Event, ItemIndex, Millis};
use index::{RoleQueue, TargetQueue};
use item::Inconsistent;
use learnings::{Memory, Origin};
use record::{Dispatch, Fact, ItemFact, Record, Resource};
use rules::Rules;
use run::Run;
use state_machine::Word as _;
use state_machine::item::ItemEvent;
use watch::Watched;

/// Values that the shell's configuration gives the core.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// A lease without a heartbeat for this long is over, in milliseconds.
    pub lease_ms: u64,
    /// Pause between heartbeats, in milliseconds.
    pub heartbeat_ms: u64,
    /// An attempt that nobody takes for this long parks its item, in milliseconds.
    pub queue_wait_ms: u64,
    /// Attempts of one role that are on the bus and not taken, at most: what is behind them can still be
    /// overtaken by something more urgent.
    pub queue_window: u32,
    /// Items of one target in verification or landing at the same time. Each landing makes the others verify
    /// again, so more than the verifiers at hand is waste.
    pub verify_ahead: u32,
    /// Verifications of one result that may decide nothing before a person must look (SPEC B5: the same check
    /// runs at most twice).
    pub checks_max: u32,
    /// One artifact, in bytes.
    pub artifact_bytes_max: u64,
    /// Files that one result may change.
    pub files_max: u32,
    /// Values of the rules on running attempts.
    pub rules: Rules,
    /// Whose signatures count.
    pub trust: Trust,
    /// Whether evidence from plain processes may land work.
    pub allow_process_isolation: bool,
}

/// All state of the coordinator.
#[derive(Debug)]
pub struct Core {
    settings: Settings,
    runs: BTreeMap<RunId, Run>,
    leases: BTreeMap<LeaseId, (RunId, ItemIndex)>,
    containers: BTreeSet<(ContainerName, RunId, ItemIndex)>,
    deadlines: BTreeSet<(Millis, RunId, ItemIndex)>,
    /// When most, and when all, of a run's wall clock is over.
    run_deadlines: BTreeSet<(Millis, RunId)>,
    /// What is known of running attempts from their heartbeats: in no record, begun anew after a start.
    watches: BTreeMap<LeaseId, Watched>,
    /// What was learned in each repository.
    memories: BTreeMap<RepositoryId, Memory>,
    /// The newest dispatch: attempts that are alike share one.
    dispatched: Arc<Dispatch>,
    roles: BTreeMap<RoleName, RoleQueue>,
    targets: BTreeMap<(String, String), TargetQueue>,
    position: u64,
}

/// What a step decided, and what is to be done after it is stored.
#[must_use]
#[derive(Debug, Default, PartialEq)]
pub struct Step {
    /// When it was decided.
    pub at: Millis,
    /// To be appended to the journal, in this order.
    pub records: Vec<Record>,
    /// To be carried out afterwards.
    pub actions: Vec<Action>,
    /// Reports and requests that did not count, for the log.
    pub refused: Vec<String>,
}

impl Core {
    /// A coordinator without runs.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            runs: BTreeMap::new(),
            leases: BTreeMap::new(),
            containers: BTreeSet::new(),
            deadlines: BTreeSet::new(),
            run_deadlines: BTreeSet::new(),
            watches: BTreeMap::new(),
            memories: BTreeMap::new(),
            dispatched: Arc::default(),
            roles: BTreeMap::new(),
            targets: BTreeMap::new(),
            position: 0,
        }
    }

    /// Takes one event. All that it decides is already applied when it returns.
    pub fn step(&mut self, now: Millis, event: Event) -> Step {
        let mut step = Step { at: now, ..Step::default() };
        self.decide(&mut step, event);
        self.fill_queues(&mut step);
        step
    }

    /// When the core wants to hear [`Event::Woken`], if ever.
    #[must_use]
    pub fn wake_at(&self) -> Option<Millis> {
        let item = self.deadlines.first().map(|(at, ..)| *at);
        let run = self.run_deadlines.first().map(|(at, _)| *at);
        item.into_iter().chain(run).min()
    }

    /// Records applied so far; the next one gets this position plus one.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// All runs.
    #[must_use]
    pub fn runs(&self) -> &BTreeMap<RunId, Run> {
        &self.runs
    }

    /// The settings in force.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The queues of all roles that any run has named.
    pub fn roles(&self) -> impl Iterator<Item = (&RoleName, &RoleQueue)> {
        self.roles.iter()
    }

    /// Applies the next record of the journal.
    ///
    /// # Errors
    /// [`Inconsistent`] when the record does not follow from the state.
    pub fn apply(&mut self, record: &Record) -> Result<(), Inconsistent> {
        self.apply_at(self.position + 1, record)
    }

    /// Applies the record at this position of the journal: for a replay that leaves out the records of other runs.
    ///
    /// # Errors
    /// As of [`Core::apply`].
    pub fn apply_at(&mut self, position: u64, record: &Record) -> Result<(), Inconsistent> {
        self.position = position;
        let run =
            self.runs.get(&record.run).map(|run| Ok((run.state(), run.follow(&record.fact)?)));
        let before = run.transpose()?;
        self.apply_fact(record)?;
        if let (Some((from, row)), Some(run)) = (before, self.runs.get(&record.run)) {
            debug_assert!(row.leads(from, run.state()), "{from:?} on {:?}", row.event);
        }
        Ok(())
    }

    fn apply_fact(&mut self, record: &Record) -> Result<(), Inconsistent> {
        match &record.fact {
            Fact::Submitted(submission) => {
                let run = Run::new(record.at, submission);
                let places: Vec<ItemIndex> = (0..run.items.len()).map(run::index).collect();
                if run.ended.is_none() {
                    let due = [budget::run_warned_at(&run), budget::run_end(&run)];
                    let due = due.into_iter().flatten().map(|at| (at, record.run.clone()));
                    self.run_deadlines.extend(due);
                }
                self.runs.insert(record.run.clone(), run);
                for place in places {
                    self.enter(&record.run, place);
                }
                Ok(())
            }
            Fact::RunCancelled => {
                let open: Vec<ItemIndex> = self.open_items(&record.run);
                for place in open {
                    self.apply_item(record.at, &record.run, place, &ItemFact::Cancelled)?;
                }
                Ok(())
            }
            Fact::RunWarned(warning) => {
                if let Some(run) = self.runs.get_mut(&record.run) {
                    run.warnings.push(*warning);
                    let due = budget::run_warned_at(run);
                    if let Some(at) = due.filter(|_| warning.resource == Resource::WallClock) {
                        self.run_deadlines.remove(&(at, record.run.clone()));
                    }
                }
                Ok(())
            }
            Fact::Item(place, fact) => self.apply_item(record.at, &record.run, *place, fact),
        }
    }

    /// What a person can still cancel: not what has ended, and not twice what is landing.
    fn open_items(&self, run: &RunId) -> Vec<ItemIndex> {
        let Some(run) = self.runs.get(run) else { return Vec::new() };
        let open = |place: &ItemIndex| {
            let item = run.item(*place);
            !item.state.is_terminal() && !item.cancel_wanted
        };
        (0..run.items.len()).map(run::index).filter(open).collect()
    }

    fn apply_item(
        &mut self,
        at: Millis,
        id: &RunId,
        place: ItemIndex,
        fact: &ItemFact,
    ) -> Result<(), Inconsistent> {
        let unknown = || Inconsistent {
            what: format!("item {} of run {id}", place.0),
            state: "unknown",
            event: ItemEvent::of(fact).name(),
            guard: "",
        };
        let known = self.runs.get(id).is_some_and(|run| (place.0 as usize) < run.items.len());
        if !known {
            return Err(unknown());
        }
        let position = self.position;
        if !fact.moves() {
            let run = self.runs.get_mut(id).ok_or_else(unknown)?;
            run.apply(at, position, place, fact)?;
            self.remember(at, id, place, fact);
            return Ok(());
        }
        let lease = self.runs[id].item(place).open_lease().cloned();
        self.leave(id, place);
        let run = self.runs.get_mut(id).ok_or_else(unknown)?;
        let was_open = !run.item(place).state.is_terminal();
        if let Err(error) = run.apply(at, position, place, fact) {
            self.enter(id, place);
            return Err(error);
        }
        if let ItemFact::Queued(_, _, dispatch) = fact {
            if self.dispatched == *dispatch {
                run.item_mut(place).share_dispatch(&self.dispatched);
            } else {
                self.dispatched = Arc::clone(dispatch);
            }
        }
        let is_open = !run.item(place).state.is_terminal();
        match (was_open, is_open) {
            (true, false) => run.open -= 1,
            (false, true) => run.open += 1,
            _ => {}
        }
        let released = run.neighbours_follow(at, place, fact);
        run.ended = (run.open == 0).then_some(run.ended.unwrap_or(at));
        let over = run.ended.is_some().then(|| [budget::run_warned_at(run), budget::run_end(run)]);
        for due in over.into_iter().flatten().flatten() {
            self.run_deadlines.remove(&(due, id.clone()));
        }
        self.enter(id, place);
        if let Some(lease) = lease.filter(|lease| !self.leases.contains_key(lease)) {
            self.watches.remove(&lease);
        }
        for dependent in released {
            self.enter(id, dependent);
        }
        Ok(())
    }

    /// What agents learned stays known to the repository.
    fn remember(&mut self, at: Millis, id: &RunId, place: ItemIndex, fact: &ItemFact) {
        let Some(run) = self.runs.get(id) else { return };
        let Some(repository) = &run.repository else { return };
        match fact {
            ItemFact::Learned(number, learning) => {
                let memory = self.memories.entry(repository.id.clone()).or_default();
                memory.absorb(learning, Origin::of(id, run.item(place), *number), at);
            }
            ItemFact::LearningsChecked(_, checks) => {
                let memory = self.memories.entry(repository.id.clone()).or_default();
                memory.checked(checks);
            }
            _ => {}
        }
    }

    /// What was learned in a run's repository.
    #[must_use]
    pub fn memory(&self, run: &Run) -> Option<&Memory> {
        self.memories.get(&run.repository.as_ref()?.id)
    }

    /// Applies what was decided and keeps it for the journal.
    fn commit(&mut self, step: &mut Step, run: &RunId, fact: Fact) {
        let record = Record { at: step.at, run: run.clone(), fact };
        self.apply(&record).expect("the core decides only what follows from its state");
        step.records.push(record);
    }

    fn commit_item(&mut self, step: &mut Step, run: &RunId, place: ItemIndex, fact: ItemFact) {
        self.commit(step, run, Fact::Item(place, fact));
    }
}
