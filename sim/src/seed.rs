//! One seed from its beginning to its end: a storm, then calm, then people mend what was stopped.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use cantus_core::event::Event;
use cantus_core::item::State;

use crate::fault::Fault;
use crate::plans::START;
use crate::world::{Task, Trouble, World};

/// Events within which everything must have ended once nothing goes wrong any more, for each item.
const EVENTS_PER_ITEM: u64 = 1_500;
/// The same, for what is still on its way.
const EVENTS_MORE: u64 = 6_000;
/// How often people put back what was stopped, at most, until all has landed: once for each item and more.
const MENDINGS_MORE: usize = 6;

/// In the reasons why items of a run that has spent its budgets are parked.
const RUN_SPENT: &str = "the run's ";

fn has_landed(state: &State) -> bool {
    matches!(state, State::Landed(_) | State::Reported)
}

fn is_spent(state: &State) -> bool {
    matches!(state, State::Parked(why) if why.contains(RUN_SPENT))
}

/// What became of a seed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outcome {
    pub(crate) seed: u64,
    pub(crate) events: u64,
    pub(crate) simulated_ms: u64,
    pub(crate) faults: BTreeMap<Fault, u64>,
    pub(crate) facts: BTreeMap<String, u64>,
    /// The invariant and what is wrong.
    pub(crate) trouble: Option<(u8, String)>,
}

/// Lives a seed. Each event is told with the digest of the state after it, if somebody listens.
pub(crate) fn live(seed: u64, listener: Option<&mut dyn FnMut(String)>) -> Outcome {
    let mut world = World::new(seed);
    let lived = catch_unwind(AssertUnwindSafe(|| live_in(&mut world, listener)));
    if lived.is_err() {
        let text = crate::panics::last().unwrap_or_else(|| "panicked".to_owned());
        world.blame(0, text);
    }
    Outcome {
        seed,
        events: world.events,
        simulated_ms: world.now.0 - START.0,
        faults: world.weather.seen().clone(),
        facts: world.facts.clone(),
        trouble: world.trouble.map(|Trouble { invariant, text }| (invariant, text)),
    }
}

fn live_in(world: &mut World, mut listener: Option<&mut dyn FnMut(String)>) {
    let mut tell = |world: &World, task: &Task| {
        if let Some(listener) = &mut listener {
            let at = world.now.0 - START.0;
            let digest = world.digest();
            listener(format!("{at} {digest:016x} {}", describe(task)));
        }
    };
    let storm_ends = START.plus(world.random.between(120_000, 900_000));
    let items: u64 = world.runs.iter().map(|run| run.plan.items.len() as u64).sum();
    let events = 400 + items * 150;
    while world.trouble.is_none() && world.now < storm_ends && world.events < events {
        let Some(task) = world.go_on() else { break };
        tell(world, &task);
    }
    mend(world, &mut tell);
}

/// From now on nothing goes wrong; all runs must end, and what people put back must land.
pub(crate) fn mend(world: &mut World, tell: &mut dyn FnMut(&World, &Task)) {
    world.clear_up();
    let items: usize = world.runs.iter().map(|run| run.plan.items.len()).sum();
    for _ in 0..items + MENDINGS_MORE {
        settle(world, tell);
        if world.trouble.is_some() || !world.put_back() {
            break;
        }
    }
    world.check_end();
}

/// Goes on until nothing is left to do, which must come.
fn settle(world: &mut World, tell: &mut dyn FnMut(&World, &Task)) {
    let items: u64 = world.runs.iter().map(|run| run.plan.items.len() as u64).sum();
    let end = world.events + items * EVENTS_PER_ITEM + EVENTS_MORE;
    while world.trouble.is_none() {
        if world.events >= end {
            return world.blame(10, format!("no end in sight: {}", world.open()));
        }
        let Some(task) = world.go_on() else { break };
        tell(world, &task);
    }
    if world.trouble.is_none() && !world.all_ended() {
        world.blame(2, format!("nothing happens any more: {}", world.open()));
    }
}

impl World {
    /// The faults stop: the bus is there, all hosts are, one coordinator is.
    fn clear_up(&mut self) {
        self.weather.calm_down();
        if self.bus.away_until.is_some() {
            self.bus.away_until = Some(self.now);
            self.bus_back();
        }
        for host in 0..self.crew.hosts.len() {
            if !self.crew.hosts[host].up {
                self.host_back(host);
            }
        }
        self.crew.missing.clear();
        let ids: Vec<u64> = self.coordinators.keys().copied().collect();
        for id in ids {
            self.coordinators.remove(&id);
        }
        self.later(0, Task::Start { beside: false });
        for place in 0..self.runs.len() {
            self.later(1_000, Task::Submit(place));
        }
        self.pull_soon();
    }

    fn the_core(&self) -> Option<(&u64, &cantus_core::Core)> {
        self.coordinators.iter().next().map(|(id, coordinator)| (id, &coordinator.core))
    }

    fn all_ended(&self) -> bool {
        let core = self.the_core().map(|(_, core)| core);
        core.is_some_and(|core| {
            core.runs().len() == self.runs.len() && core.runs().values().all(|r| r.ended.is_some())
        })
    }

    /// What has not ended, for people.
    fn open(&self) -> String {
        let Some((_, core)) = self.the_core() else { return "no coordinator".to_owned() };
        let items = core.runs().values().flat_map(|run| &run.items);
        let open = items.filter(|item| !item.state.is_terminal());
        let open: Vec<String> =
            open.map(|item| format!("{} is {}", item.id, item.state.name())).collect();
        let next: Vec<String> = self.agenda().take(3).map(describe).collect();
        format!(
            "{} of {} runs; {}; next: {}",
            core.runs().len(),
            self.runs.len(),
            open.join(", "),
            next.join(", ")
        )
    }

    /// People put back what they can; whether there was any.
    fn put_back(&mut self) -> bool {
        let Some((id, core)) = self.the_core() else { return false };
        let id = *id;
        let of_run = |run: &cantus_core::run::Run| -> Vec<Event> {
            let places = (0..run.items.len()).filter_map(|place| u32::try_from(place).ok());
            let back = places
                .map(cantus_core::event::ItemIndex)
                .filter(|place| run.can_requeue(*place) && !is_spent(&run.item(*place).state))
                .map(|place| Event::Requeued(run.id.clone(), run.item(place).id.clone()));
            back.collect()
        };
        let events: Vec<Event> = core.runs().values().flat_map(of_run).collect();
        let any = !events.is_empty();
        for event in events {
            self.tell(id, Arc::new(event));
        }
        any
    }

    /// Everything has landed once, nothing is lost, and nothing waits.
    fn check_end(&mut self) {
        if self.trouble.is_some() {
            return;
        }
        let Some((id, core)) = self.the_core() else {
            return self.blame(10, "no coordinator is left");
        };
        let id = *id;
        let items = core.runs().values().flat_map(|run| run.items.iter().map(move |i| (run, i)));
        let open = items.filter_map(|(run, item)| match &item.state {
            State::Landed(landed) => {
                let name = (run.id.clone(), item.id.clone());
                let there = self.git.landed(&name) == Some(&landed.commit);
                (!there).then(|| format!("{} landed elsewhere", item.id))
            }
            State::Reported => None,
            // What a run has spent no person gives it back.
            State::Parked(why) if why.contains(RUN_SPENT) => None,
            // What stopped it is told by itself.
            _ if item.needs.iter().any(|need| !has_landed(&run.item(*need).state)) => None,
            State::Parked(why) => Some(format!("{} is parked: {why}", item.id)),
            other => Some(format!("{} is {} at the end", item.id, other.name())),
        });
        let first = open.into_iter().next();
        let waits = core.wake_at();
        if let Some(first) = first {
            return self.blame(2, first);
        }
        if let Some(at) = waits {
            return self
                .blame(11, format!("all has ended, and the core wants to be woken at {at:?}"));
        }
        if let Some(lost) = self.git.lost() {
            return self.blame(3, lost);
        }
        self.check_replay(id);
    }
}

/// A task in a few words.
pub(crate) fn describe(task: &Task) -> String {
    let text = match task {
        Task::Act(id, action) => {
            let action = format!("{action:?}");
            format!("Act {id} {}", action.split(['(', ' ']).next().unwrap_or_default())
        }
        Task::Answer(id, event) => {
            let event = format!("{event:?}");
            format!("Answer {id} {}", event.split(['(', ' ']).next().unwrap_or_default())
        }
        Task::Publish(id, attempt) => {
            format!("Publish {id} {} {} {}", attempt.run, attempt.item, attempt.number)
        }
        Task::Report(role, bytes) => match cantus_proto::message::Report::decode(bytes) {
            Ok(cantus_proto::message::Report::Lease(report)) => {
                let body = format!("{:?}", report.body);
                let body = body.split(['(', ' ']).next().unwrap_or_default().to_owned();
                let lease = report.lease.as_str().trim_start_matches('0');
                let (run, item, attempt) = (&report.run, &report.item, report.attempt);
                format!("Report {role} {body} {run} {item} {attempt} lease {lease}")
            }
            Ok(other) => format!("Report {role} {other:?}"),
            Err(_) => format!("Report {role} nonsense"),
        },
        other => format!("{other:?}"),
    };
    text.replace('\n', " ")
}
