//! The control plane under faults: a seed in, invariants after every event, then heal and demand progress.
//!
//! On failure the seed and the events are printed. To see it again, put the seed into [`seeds`]' range alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use cantus_proto::ids::{CommitId, RunId};
use cantus_proto::message::{HeartbeatReply, LeaseEvent, LeaseReport, Report};
use cantus_proto::plan::{Complexity, Plan};

use super::super::event::{Action, Event, ItemIndex, Millis};
use super::super::item::State;
use super::super::record::Record;
use super::super::run::index;
use super::super::{Core, Settings, Step};
use super::outside::{Outside, Quality};
use super::world::{START, item_id, plan, role, run_id, settings, submission};
use crate::journal::wire;

/// Items of one plan, at most.
const ITEMS_MAX: u64 = 30;
/// Events within which everything must have ended once nothing goes wrong any more, for each item.
const HEALING_EVENTS_PER_ITEM: usize = 200;

/// A small deterministic generator: splitmix64.
#[derive(Debug, Clone)]
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to below the bound.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    /// A place in a list of this length.
    pub(super) fn place(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }

    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Simulation {
    pub(super) core: Core,
    pub(super) now: Millis,
    pub(super) journal: Vec<Record>,
    pub(super) outside: Outside,
    pub(super) random: Random,
    plans: BTreeMap<String, Arc<Plan>>,
    landed: BTreeMap<(RunId, ItemIndex), CommitId>,
    log: Vec<String>,
    /// Every event with what was before it, if a test wants to go back there.
    pub(super) moments: Option<Vec<Moment>>,
}

/// What there was when an event came.
#[derive(Debug, Clone)]
pub(super) struct Moment {
    pub(super) event: Event,
    pub(super) now: Millis,
    pub(super) outside: Outside,
    /// Records in the journal.
    pub(super) stored: usize,
}

impl Simulation {
    pub(super) fn new(settings: Settings, seed: u64) -> Self {
        Self {
            core: Core::new(settings),
            now: START,
            journal: vec![],
            outside: Outside::new(),
            random: Random(seed),
            plans: BTreeMap::new(),
            landed: BTreeMap::new(),
            log: vec![],
            moments: None,
        }
    }

    /// What another coordinator finds that has this much of the journal.
    pub(super) fn back_at(&self, moment: &Moment, stored: usize) -> Self {
        let mut back = Self::new(self.core.settings().clone(), stored as u64);
        back.now = moment.now;
        back.journal = self.journal[..stored].to_vec();
        back.outside = moment.outside.clone();
        back.plans = self.plans.clone();
        back
    }

    pub(super) fn submit(&mut self, name: &str, plan: Plan) {
        self.plans.insert(name.to_owned(), Arc::new(plan.clone()));
        self.event(submission(name, plan));
    }

    /// The core takes an event; what it decided is stored, then begun.
    pub(super) fn event(&mut self, event: Event) {
        self.log.push(describe(&event));
        self.remember(&event);
        let step = self.core.step(self.now, event);
        self.take(step);
    }

    fn remember(&mut self, event: &Event) {
        if let Some(moments) = &mut self.moments {
            let (now, outside) = (self.now, self.outside.clone());
            moments.push(Moment { event: event.clone(), now, outside, stored: self.journal.len() });
        }
    }

    fn take(&mut self, step: Step) {
        let decided = !step.records.is_empty();
        self.journal.extend(step.records);
        for action in step.actions {
            self.outside.begin(action);
        }
        if decided {
            self.check();
        }
    }

    /// The invariants of the design.
    fn check(&mut self) {
        self.core.check_indexes();
        for (id, run) in self.core.runs() {
            for (place, item) in run.items.iter().enumerate() {
                let key = (id.clone(), index(place));
                match (&item.state, self.landed.get(&key)) {
                    (State::Landed(landed), None) => {
                        let there = self.outside.landed.get(&(id.clone(), item.id.clone()));
                        assert_eq!(there, Some(&landed.commit), "{} is not on the target", item.id);
                        self.landed.insert(key, landed.commit.clone());
                    }
                    (State::Landed(landed), Some(before)) => assert_eq!(landed.commit, *before),
                    (other, Some(_)) => panic!("{} had landed and is {}", item.id, other.name()),
                    (_, None) => {}
                }
            }
        }
    }

    /// What the journal's bytes give back: each record in a message of its own.
    pub(super) fn reread(&self) -> Vec<Record> {
        let again = |record: &Record| {
            let bytes = wire::encode(&record.run, record.at, std::slice::from_ref(record), None);
            let plan = &self.plans[record.run.as_str()];
            wire::decode(&bytes).unwrap().records(Some(plan)).unwrap().remove(0)
        };
        self.journal.iter().map(again).collect()
    }

    /// The coordinator is gone and comes back with its journal. Effects that were under way may have been
    /// carried out or not; nobody hears of it.
    pub(super) fn restart(&mut self) {
        let effects = std::mem::take(&mut self.outside.effects);
        for effect in effects {
            if self.random.chance(50) {
                let _ = self.outside.carry_out(&effect);
            }
        }
        let mut core = Core::new(self.core.settings().clone());
        for record in &self.journal {
            core.apply(record).expect("the journal fits together");
        }
        self.core = core;
        self.log.push("restart".to_owned());
        self.remember(&Event::Woken);
        let step = self.core.resume(self.now);
        self.take(step);
    }

    /// The coordinator dies while it stores what an event decided: some of the records are there.
    fn die_while_storing(&mut self, event: Event) {
        self.log.push(format!("dies at {}", describe(&event)));
        self.remember(&event);
        let step = self.core.step(self.now, event.clone());
        let stored = self.random.place(step.records.len() + 1);
        let all = stored == step.records.len();
        self.journal.extend(step.records.into_iter().take(stored));
        // Reports are consumed with the last message of a turn.
        if matches!(event, Event::Reported(_)) && (!all || self.random.chance(50)) {
            self.outside.reports.insert(0, event);
        }
        self.restart();
    }

    /// Something happens, and it may be bad.
    pub(super) fn disturb(&mut self) {
        match self.random.below(100) {
            0..30 => self.deliver(),
            30..48 => self.answer(),
            48..64 => {
                let place = self.random.place(self.outside.queue.len());
                let acknowledged = self.random.chance(90);
                self.outside.take(place, acknowledged);
            }
            64..86 => self.somebody_acts(),
            86..93 => self.time_passes(),
            93..95 => {
                let something = self.random.chance(50);
                self.outside.push(something);
            }
            95..98 => self.a_person_acts(),
            _ => self.restart(),
        }
    }

    fn deliver(&mut self) {
        let waiting = self.outside.reports.len();
        if waiting == 0 {
            return;
        }
        let place = if self.random.chance(85) { 0 } else { self.random.place(waiting) };
        let report = match self.random.below(100) {
            0..6 => self.outside.reports[place].clone(),
            6..9 => {
                // Its sender died before the bus had it.
                self.outside.reports.remove(place);
                return;
            }
            _ => self.outside.reports.remove(place),
        };
        if self.random.chance(2) { self.die_while_storing(report) } else { self.event(report) }
    }

    fn answer(&mut self) {
        let under_way = self.outside.effects.len();
        if under_way == 0 {
            return;
        }
        let effect = self.outside.effects.remove(self.random.place(under_way));
        if self.random.chance(1) {
            self.event(failure(&effect));
            return;
        }
        let answer = self.outside.carry_out(&effect);
        match self.random.below(100) {
            0..3 => self.die_while_storing(answer),
            3..8 => {
                self.event(answer.clone());
                self.event(answer);
            }
            8..13 => {
                // It comes once more, much later.
                self.outside.reports.push(answer.clone());
                self.event(answer);
            }
            _ => self.event(answer),
        }
    }

    fn somebody_acts(&mut self) {
        let holders = self.outside.holders.len();
        if holders == 0 {
            return;
        }
        let place = self.random.place(holders);
        match self.random.below(100) {
            0..30 => {
                let beat = self.outside.holders[place].beat();
                if let (HeartbeatReply::Stop(_), _) = self.core.heartbeat(self.now, &beat) {
                    self.outside.stop(place);
                }
            }
            30..70 => {
                let quality = match self.random.below(10) {
                    0 | 1 => Quality::Wrong,
                    2 => Quality::OutOfScope,
                    3 => Quality::Conflicting,
                    _ => Quality::Good,
                };
                self.outside.hand_in(place, quality);
            }
            70..78 => self.outside.hand_in_nothing(place),
            78..84 => {
                let seen = self.random.chance(50);
                self.outside.die(place, seen);
            }
            84..88 => {
                let said = LeaseEvent::Progress("at it".to_owned());
                let report = self.outside.holders[place].report(said);
                self.outside.reports.push(report);
            }
            _ => {}
        }
    }

    fn time_passes(&mut self) {
        let step_ms = self.random.below(self.core.settings().lease_ms);
        self.now = self.now.plus(step_ms);
        if self.core.wake_at().is_some_and(|at| at <= self.now) {
            self.event(Event::Woken);
        }
    }

    fn a_person_acts(&mut self) {
        let runs: Vec<_> = self.core.runs().keys().cloned().collect();
        let run = runs[self.random.place(runs.len())].clone();
        let items = &self.core.runs()[&run].items;
        let item = items[self.random.place(items.len())].id.clone();
        match self.random.below(20) {
            0 => self.event(Event::Cancelled(run, None)),
            1..6 => self.event(Event::Cancelled(run, Some(item))),
            _ => self.event(Event::Requeued(run, item)),
        }
    }

    /// From now on nothing goes wrong, and all runs must end.
    pub(super) fn heal(&mut self) {
        let items: usize = self.core.runs().values().map(|run| run.items.len()).sum();
        for _ in 0..(items * HEALING_EVENTS_PER_ITEM + 100) {
            if !self.calm() {
                return;
            }
        }
        let open = self.core.runs().values().flat_map(|run| &run.items);
        let open: Vec<_> = open.filter(|item| !item.state.is_terminal()).collect();
        panic!("no end in sight: {open:#?}");
    }

    /// One thing happens as it should; whether anything is left to happen.
    fn calm(&mut self) -> bool {
        if !self.outside.reports.is_empty() {
            let report = self.outside.reports.remove(0);
            self.event(report);
        } else if let Some(effect) = self.outside.effects.pop() {
            let answer = self.outside.carry_out(&effect);
            self.event(answer);
        } else if !self.outside.holders.is_empty() {
            self.outside.hand_in(0, Quality::Good);
        } else if !self.outside.queue.is_empty() {
            self.outside.take(0, true);
        } else if self.core.runs().values().all(|run| run.ended.is_some()) {
            return false;
        } else {
            let at = self.core.wake_at().expect("what is open has an end");
            self.now = self.now.max(at);
            self.event(Event::Woken);
        }
        true
    }

    /// People put back what they can until everything has landed.
    pub(super) fn mend(&mut self) {
        loop {
            self.heal();
            let parts = self.core.runs().iter().flat_map(|(id, run)| {
                let places = (0..run.items.len()).map(index);
                let back = places.filter(|place| run.can_requeue(*place));
                back.map(|place| Event::Requeued(id.clone(), run.item(place).id.clone()))
            });
            let requeues: Vec<Event> = parts.collect();
            if requeues.is_empty() {
                break;
            }
            requeues.into_iter().for_each(|event| self.event(event));
        }
        for item in self.core.runs().values().flat_map(|run| &run.items) {
            assert!(matches!(item.state, State::Landed(_)), "{} is {}", item.id, item.state.name());
        }
        assert_eq!(self.core.wake_at(), None);
    }
}

/// Prints what is needed to see a failure again.
struct Told<'a>(u64, &'a mut Simulation);

impl Drop for Told<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let last = self.1.log.len().saturating_sub(60);
            println!("seed {} failed after {} events; the last:", self.0, self.1.log.len());
            self.1.log[last..].iter().for_each(|line| println!("  {line}"));
        }
    }
}

fn failure(effect: &Action) -> Event {
    let effect = match effect {
        Action::Inspect(inspect) => &inspect.effect,
        Action::Merge(merge) => &merge.effect,
        Action::Land(land) => &land.effect,
        other => panic!("no effect: {other:?}"),
    };
    Event::EffectFailed(effect.clone(), "no space left on device".to_owned())
}

fn describe(event: &Event) -> String {
    match event {
        Event::Submitted(submission) => format!("submitted {}", submission.run),
        Event::Reported(report) => match &**report {
            Report::Lease(report) => {
                let body = match report.body {
                    LeaseEvent::Leased(_) => "leased",
                    LeaseEvent::Progress(_) => "progress",
                    LeaseEvent::Result(_) => "result",
                    LeaseEvent::Evidence(_) => "evidence",
                    LeaseEvent::Failed(_) => "failed",
                    LeaseEvent::Saved(_) => "saved",
                };
                let LeaseReport { run, item, attempt, lease, .. } = report;
                let lease = lease.as_str().trim_start_matches('0');
                format!("{body} {run} {item} attempt {attempt} lease {lease}")
            }
            Report::ContainerExited(exited) => format!("{exited:?}"),
        },
        Event::Inspected(effect, _) => format!("inspected {effect:?}"),
        Event::Merged(effect, _) => format!("merged {effect:?}"),
        other => format!("{other:?}"),
    }
}

/// A plan without cycles whose order says nothing about its needs.
fn random_plan(random: &mut Random) -> Plan {
    // Small plans find most faults and cost least.
    let count = 1 + random.below(ITEMS_MAX).min(random.below(ITEMS_MAX));
    let line: Vec<String> = (0..count).map(|item| format!("i{item}")).collect();
    let mut plan = plan(&line.join(","));
    for (place, item) in plan.items.iter_mut().enumerate() {
        for _ in 0..random.below(4) {
            let need = item_id(&format!("i{}", random.place(place.max(1))));
            if place > 0 && !item.needs.contains(&need) {
                item.needs.push(need);
            }
        }
        item.attempts_max = 1 + u32::try_from(random.below(4)).unwrap();
        item.priority = i32::try_from(random.below(3)).unwrap();
        item.complexity = Complexity::ALL[random.place(Complexity::ALL.len())];
        if random.chance(20) {
            item.role = role("specialist");
        }
    }
    for place in (1..plan.items.len()).rev() {
        plan.items.swap(place, random.place(place + 1));
    }
    plan
}

fn simulate(seed: u64) {
    let mut random = Random(seed);
    let drawn = |random: &mut Random, most| 1 + u32::try_from(random.below(most)).unwrap();
    let settings = Settings {
        queue_window: drawn(&mut random, 6),
        verify_ahead: drawn(&mut random, 3),
        checks_max: drawn(&mut random, 3),
        ..settings()
    };
    let mut simulation = Simulation::new(settings, random.next());
    let told = Told(seed, &mut simulation);
    let simulation = &mut *told.1;
    simulation.submit("run", random_plan(&mut random));
    if random.chance(30) {
        simulation.submit("other", random_plan(&mut random));
    }
    let items: usize = simulation.core.runs().values().map(|run| run.items.len()).sum();
    for _ in 0..items * 60 {
        simulation.disturb();
    }
    assert!(simulation.core.runs().contains_key(&run_id("run")));
    simulation.mend();
    assert!(simulation.reread() == simulation.journal, "the journal's bytes give back another");
}

fn seeds(seeds: std::ops::Range<u64>) {
    seeds.for_each(simulate);
}

#[test]
fn seeds_of_the_first_quarter() {
    seeds(0..50);
}

#[test]
fn seeds_of_the_second_quarter() {
    seeds(50..100);
}

#[test]
fn seeds_of_the_third_quarter() {
    seeds(100..150);
}

#[test]
fn seeds_of_the_fourth_quarter() {
    seeds(150..200);
}
