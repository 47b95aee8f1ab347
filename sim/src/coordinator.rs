//! The coordinator's shell around the real core, as the product has it: step, append with the expected sequence, act.
//!
//! It can die before, between and after appends and actions, be blocked by a bus that is away, and be one of two.

use std::collections::VecDeque;
use std::sync::Arc;

use cantus_core::event::{Action, Event, Millis};
use cantus_core::journal::wire;
use cantus_core::record::Record;
use cantus_core::{Core, Step};
use cantus_proto::ids::RunId;
use cantus_proto::message::{Heartbeat, HeartbeatReply, LeaseEvent, LeaseReport, Report};

use crate::bus::{Appended, Cause, Entry, Stored};
use crate::crew::skew;
use crate::fault::Fault;
use crate::world::{Task, World};

/// How long an append may stay undecided while the bus is away; then the coordinator ends and replays.
const APPEND_PATIENCE_MS: u64 = 60_000;
/// Largest message of the journal with more than one record.
const RECORD_BYTES_PER_MESSAGE: usize = 256 * 1024;

/// One that is alive.
pub(crate) struct Coordinator {
    pub(crate) core: Core,
    pub(crate) journal_end: u64,
    reports_through: u64,
    inbox: VecDeque<Arc<Event>>,
    /// Its clock, less the true time.
    pub(crate) skew_ms: i64,
    /// When all leases began anew.
    renewed: Millis,
    /// It noticed that the bus is away.
    away: bool,
    blocked: Option<Blocked>,
    waking: Option<Millis>,
}

/// A turn whose appends wait for the bus.
struct Blocked {
    since: Millis,
    entries: VecDeque<Entry>,
    turn: Turn,
}

/// What the events of one turn decided.
#[derive(Default)]
struct Turn {
    at: Millis,
    records: Vec<Record>,
    causes: Vec<Cause>,
    actions: Vec<Action>,
    refused: bool,
    consumed_before: u64,
    /// Reports that bring work of somebody who had the attempt before the turn.
    bringing: Vec<Arc<Event>>,
}

impl Coordinator {
    pub(crate) fn clock(&self, now: Millis) -> Millis {
        Millis(now.0.saturating_add_signed(self.skew_ms))
    }

    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked.is_some()
    }

    /// Nothing that it knows of is left to do.
    pub(crate) fn is_idle(&self, reports: usize) -> bool {
        self.inbox.is_empty() && self.blocked.is_none() && self.reports_through >= reports as u64
    }

    fn begin(&self, now: Millis) -> Turn {
        let (at, consumed_before) = (self.clock(now), self.reports_through);
        Turn { at, consumed_before, ..Turn::default() }
    }
}

impl Turn {
    fn add(&mut self, step: Step, cause: &Cause) {
        self.causes.extend(step.records.iter().map(|_| cause.clone()));
        self.records.extend(step.records);
        self.actions.extend(step.actions);
        self.refused |= !step.refused.is_empty();
    }
}

impl World {
    /// The coordinator is gone, and somebody starts another.
    pub(crate) fn kill(&mut self, id: u64) {
        self.coordinators.remove(&id);
        let starting = self.agenda().any(|task| matches!(task, Task::Start { .. }));
        if self.coordinators.is_empty() && !starting {
            let wait = self.random.below(10_000);
            self.later(wait, Task::Start { beside: false });
        }
    }

    /// Replays the journal's bytes, catches up with reports, resumes.
    pub(crate) fn start(&mut self, beside: bool) {
        if !beside && !self.coordinators.is_empty() {
            return;
        }
        if let Some(back) = self.bus.away_until {
            let wait = back.0.saturating_sub(self.now.0) + 1;
            self.later(wait, Task::Start { beside });
            return;
        }
        let (core, reports_through) = match self.replay() {
            Ok(replayed) => replayed,
            Err(why) => return self.blame(6, format!("the journal does not come back: {why}")),
        };
        let skewed = self.strikes(Fault::ClockSkewed);
        let coordinator = Coordinator {
            core,
            journal_end: self.bus.journal_last(),
            reports_through,
            inbox: VecDeque::new(),
            skew_ms: if skewed { skew(&mut self.random) } else { 0 },
            renewed: self.now,
            away: false,
            blocked: None,
            waking: None,
        };
        self.crew.drawn += 1;
        let id = self.crew.drawn;
        self.coordinators.insert(id, coordinator);
        self.catch_up(id);
        self.later(1, Task::Look(id));
        self.wake_later(id);
    }

    fn catch_up(&mut self, id: u64) {
        while let Some(coordinator) = self.coordinators.get_mut(&id) {
            let next = usize::try_from(coordinator.reports_through).unwrap_or(usize::MAX);
            let Some(stored) = self.bus.store.reports.get(next).cloned() else { break };
            let mut turn = coordinator.begin(self.now);
            self.report(id, &mut turn, &stored);
            turn.actions.clear();
            self.finish(id, turn);
        }
        self.recover_landings(id);
        let now = self.now;
        let Some(coordinator) = self.coordinators.get_mut(&id) else { return };
        let mut turn = coordinator.begin(now);
        let step = coordinator.core.resume(turn.at);
        turn.add(step, &Cause::Resumed);
        self.finish(id, turn);
    }

    /// Asks the targets what they contain: a journal that lost its end does not know of it all.
    fn recover_landings(&mut self, id: u64) {
        let Some(coordinator) = self.coordinators.get(&id) else { return };
        let open = coordinator.core.runs().values().filter(|run| run.ended.is_none());
        let open =
            open.filter_map(|run| Some((run.id.clone(), run.repository.as_ref()?.id.clone())));
        for (run, repository) in open.collect::<Vec<_>>() {
            let Some(coordinator) = self.coordinators.get(&id) else { return };
            let mut turn = coordinator.begin(self.now);
            for (item, landed) in self.git.landings(&repository, &run) {
                let event = Event::Found(run.clone(), item, Box::new(landed));
                self.step(id, &mut turn, Arc::new(event));
            }
            turn.actions.clear();
            self.finish(id, turn);
        }
    }

    /// The state that the journal's bytes give, and how far reports are consumed.
    pub(crate) fn replay(&self) -> Result<(Core, u64), String> {
        let mut core = Core::new(self.settings.clone());
        let mut through = 0;
        for entry in &self.bus.store.journal {
            let batch = wire::decode(&entry.payload).map_err(|error| error.to_string())?;
            through = through.max(batch.reports_through.unwrap_or(0));
            let blob = batch.plan_blob().map_err(|error| error.to_string())?;
            let plan = self.runs.iter().find(|run| Some(&run.plan_blob) == blob.as_ref());
            let plan = plan.map(|run| &run.plan);
            for record in batch.records(plan).map_err(|error| error.to_string())? {
                core.apply(&record).map_err(|error| error.to_string())?;
            }
        }
        Ok((core, through))
    }

    /// One round of the loop: reports first, then people and the hub.
    pub(crate) fn look(&mut self, id: u64) {
        let batch_max = 1 + self.random.place(6);
        let Some(coordinator) = self.coordinators.get_mut(&id) else { return };
        if coordinator.is_blocked() {
            return;
        }
        let mut turn = coordinator.begin(self.now);
        let next = usize::try_from(coordinator.reports_through).unwrap_or(usize::MAX);
        let there = self.bus.store.reports.get(next..).unwrap_or_default();
        let batch: Vec<Arc<Stored>> = there.iter().take(batch_max).cloned().collect();
        if !batch.is_empty() && self.bus.away_until.is_none() {
            for stored in &batch {
                self.report(id, &mut turn, stored);
            }
        } else {
            let count = coordinator.inbox.len().min(8);
            let inputs: Vec<Arc<Event>> = coordinator.inbox.drain(..count).collect();
            if inputs.is_empty() {
                return;
            }
            for event in inputs {
                self.step(id, &mut turn, event);
            }
        }
        self.finish(id, turn);
        self.wake_later(id);
        let reports = self.bus.store.reports.len();
        if self.coordinators.get(&id).is_some_and(|c| !c.is_idle(reports) && !c.is_blocked()) {
            let wait = self.bus.away_until.map_or(1, |back| back.0.saturating_sub(self.now.0) + 1);
            self.later(wait, Task::Look(id));
        }
    }

    fn report(&mut self, id: u64, turn: &mut Turn, stored: &Stored) {
        let Some(coordinator) = self.coordinators.get_mut(&id) else { return };
        coordinator.reports_through += 1;
        match Report::decode(&stored.bytes) {
            Ok(Report::Lease(LeaseReport { body: LeaseEvent::Leased(taker), .. }))
                if taker.role != stored.role => {}
            Ok(report) => {
                let event = Arc::new(Event::Reported(Box::new(report)));
                if self.brings_work(&event) {
                    turn.bringing.push(Arc::clone(&event));
                }
                self.step(id, turn, event);
            }
            Err(_) => {}
        }
    }

    fn step(&mut self, id: u64, turn: &mut Turn, event: Arc<Event>) {
        let Some(coordinator) = self.coordinators.get_mut(&id) else { return };
        let step = coordinator.core.step(turn.at, (*event).clone());
        if step.records.is_empty() && !step.actions.is_empty() {
            self.blame(6, format!("actions without a record: {:?}", step.actions));
        }
        turn.add(step, &Cause::Event(event));
    }

    /// A coordinator answers a heartbeat, and stores first what it decided by it.
    pub(crate) fn answer(&mut self, id: u64, beat: &Heartbeat) -> Option<HeartbeatReply> {
        let now = self.now;
        let coordinator = self.coordinators.get_mut(&id).filter(|c| !c.is_blocked())?;
        let mut turn = coordinator.begin(now);
        let (reply, step) = coordinator.core.heartbeat(turn.at, beat);
        if !step.records.is_empty() {
            turn.add(step, &Cause::Beat(beat.lease.clone()));
            self.finish(id, turn);
            self.wake_later(id);
        }
        // What a replaced coordinator knows nothing of may be the work of its successor.
        let stops = matches!(reply, HeartbeatReply::Stop(_));
        let answers = self.coordinators.contains_key(&id) && (!stops || self.is_current(id));
        answers.then_some(reply)
    }

    /// Tells a coordinator something that does not come over the bus.
    pub(crate) fn tell(&mut self, id: u64, event: Arc<Event>) {
        if let Some(coordinator) = self.coordinators.get_mut(&id) {
            coordinator.inbox.push_back(event);
            self.later(0, Task::Look(id));
        }
    }

    /// A deadline of the core may have passed.
    pub(crate) fn wake(&mut self, id: u64) {
        let now = self.now;
        let Some(coordinator) = self.coordinators.get_mut(&id) else { return };
        coordinator.waking = None;
        let due = coordinator.core.wake_at().filter(|at| *at <= coordinator.clock(now));
        if coordinator.is_blocked() || coordinator.away {
            return;
        }
        if due.is_some() && self.bus.away_until.is_some() {
            coordinator.away = true;
            return;
        }
        if let Some(due) = due {
            let mut turn = coordinator.begin(now);
            self.step(id, &mut turn, Arc::new(Event::Woken));
            let after = self.coordinators.get(&id).and_then(|c| c.core.wake_at());
            if after.is_some_and(|after| after <= turn.at) {
                self.blame(11, format!("woken for {due:?} at {:?}, and again at once", turn.at));
            }
            self.finish(id, turn);
        }
        self.wake_later(id);
    }

    fn wake_later(&mut self, id: u64) {
        let now = self.now;
        let Some(coordinator) = self.coordinators.get_mut(&id) else { return };
        let Some(at) = coordinator.core.wake_at() else { return };
        if coordinator.waking.is_some_and(|waking| waking <= at) {
            return;
        }
        coordinator.waking = Some(at);
        let wait = at.0.saturating_sub(coordinator.clock(now).0);
        self.later(wait, Task::Wake(id));
    }

    /// Appends what was decided, then starts what is to be done; it may die anywhere in between.
    fn finish(&mut self, id: u64, turn: Turn) {
        let Some(coordinator) = self.coordinators.get(&id) else { return };
        let consumed = (coordinator.reports_through > turn.consumed_before)
            .then_some(coordinator.reports_through);
        let end = coordinator.journal_end;
        let mut entries = VecDeque::new();
        for (place, (payload, causes)) in messages(&turn, consumed).into_iter().enumerate() {
            let id = format!("{id}-{}", end + place as u64 + 1);
            let (at, renewed) = (self.now, coordinator.renewed);
            entries.push_back(Entry { id, payload, causes, at, renewed });
        }
        if entries.is_empty() && turn.refused && !self.is_current(id) {
            return;
        }
        if !entries.is_empty() && self.strikes(Fault::KilledBeforeAppend) {
            return self.kill(id);
        }
        let since = self.now;
        self.append(id, Blocked { since, entries, turn });
    }

    fn append(&mut self, id: u64, mut blocked: Blocked) {
        let mut first = true;
        while let Some(entry) = blocked.entries.pop_front() {
            let Some(coordinator) = self.coordinators.get_mut(&id) else { return };
            if self.bus.away_until.is_some() {
                blocked.entries.push_front(entry);
                coordinator.blocked = Some(blocked);
                return;
            }
            let end = coordinator.journal_end;
            if !first && self.strikes(Fault::KilledAmidAppends) {
                return self.kill(id);
            }
            first = false;
            if let Some(forks) = self.forks.take() {
                let fork = self.fork();
                self.forks = Some(forks.into_iter().chain([fork]).collect());
            }
            let mut appended = self.bus.append(end, entry.clone());
            if appended == Appended::Stored {
                self.record(&entry);
                if self.strikes(Fault::AppendAckLost) {
                    appended = self.bus.append(end, entry);
                    if appended != Appended::Known {
                        self.blame(6, "an append whose answer was lost is not known again");
                    }
                }
            }
            let Some(coordinator) = self.coordinators.get_mut(&id) else { return };
            match appended {
                Appended::Stored | Appended::Known => coordinator.journal_end += 1,
                Appended::Fenced => return self.kill(id),
            }
        }
        self.appended(id, blocked.turn);
    }

    fn appended(&mut self, id: u64, turn: Turn) {
        self.check_kept(&turn.bringing);
        self.ledger.decided(&turn.causes);
        self.check_turn(id);
        if !turn.actions.is_empty() && self.strikes(Fault::KilledAfterAppend) {
            return self.kill(id);
        }
        for action in turn.actions {
            if self.strikes(Fault::KilledAmidActions) {
                return self.kill(id);
            }
            self.begin_action(id, action);
        }
    }

    /// Whether nobody else wrote to the journal, as far as it can know; a fenced one ends.
    pub(crate) fn is_current(&mut self, id: u64) -> bool {
        let Some(coordinator) = self.coordinators.get(&id) else { return false };
        if self.bus.away_until.is_some() {
            return false;
        }
        let current = self.bus.journal_last() <= coordinator.journal_end;
        if !current {
            self.kill(id);
        }
        current
    }

    /// The bus is there again: leases run anew, appends go on or have waited too long.
    pub(crate) fn bus_back(&mut self) {
        if self.bus.away_until.is_none_or(|back| back > self.now) {
            return;
        }
        self.bus.away_until = None;
        for id in self.coordinators.keys().copied().collect::<Vec<_>>() {
            let Some(coordinator) = self.coordinators.get_mut(&id) else { continue };
            if let Some(blocked) = coordinator.blocked.take() {
                if blocked.since.plus(APPEND_PATIENCE_MS) < self.now {
                    self.kill(id);
                    continue;
                }
                self.append(id, blocked);
            }
            let now = self.now;
            if let Some(coordinator) = self.coordinators.get_mut(&id) {
                coordinator.away = false;
                coordinator.renewed = now;
                let clock = coordinator.clock(now);
                coordinator.core.renew_leases(clock);
                self.later(1, Task::Look(id));
                self.wake_later(id);
            }
        }
        self.pull_soon();
    }
}

/// Groups consecutive records of one run into messages; the last says how far reports are consumed.
fn messages(turn: &Turn, consumed: Option<u64>) -> Vec<(bytes::Bytes, Vec<Cause>)> {
    let groups: Vec<&[Record]> = turn.records.chunk_by(|a, b| a.run == b.run).collect();
    let last = groups.len().saturating_sub(1);
    let mut causes = turn.causes.as_slice();
    let mut found = Vec::new();
    for (place, group) in groups.into_iter().enumerate() {
        let (own, rest) = causes.split_at(group.len());
        causes = rest;
        let consumed = consumed.filter(|_| place == last);
        split(&group[0].run, turn.at, (group, own), consumed, &mut found);
    }
    found
}

fn split(
    run: &RunId,
    at: Millis,
    (records, causes): (&[Record], &[Cause]),
    consumed: Option<u64>,
    found: &mut Vec<(bytes::Bytes, Vec<Cause>)>,
) {
    let payload = wire::encode(run, at, records, consumed);
    if payload.len() <= RECORD_BYTES_PER_MESSAGE || records.len() == 1 {
        found.push((payload, causes.to_vec()));
        return;
    }
    let ((first, second), (ours, theirs)) =
        (records.split_at(records.len() / 2), causes.split_at(records.len() / 2));
    split(run, at, (first, ours), None, found);
    split(run, at, (second, theirs), consumed, found);
}
