//! What must be true of the core between any two events, whatever happened: the indexes follow from the states, the
//! states from the graph. For simulations and tests; nothing decides by it.

use std::collections::BTreeMap;

use cantus_proto::ids::{RoleName, RunId};
use cantus_proto::message::AttemptKind;

use crate::Core;
use crate::event::ItemIndex;
use crate::index::Urgency;
use crate::item::{Item, State};
use crate::run::{Run, index};

/// What the indexes must hold, counted from the states.
#[derive(Debug, Default, PartialEq)]
struct Count {
    held: usize,
    deadlines: usize,
    roles: BTreeMap<RoleName, [usize; 3]>,
    targets: BTreeMap<(String, String), [usize; 2]>,
}

/// What was found wrong so far.
#[derive(Debug, Default)]
struct Found(Vec<String>);

impl Found {
    fn unless(&mut self, so: bool, what: impl FnOnce() -> String) {
        if !so {
            self.0.push(what());
        }
    }
}

impl Core {
    /// Everything that contradicts itself in the state; nothing when all is well.
    #[must_use]
    pub fn check(&self) -> Vec<String> {
        let mut found = Found::default();
        let mut expected = Count::default();
        for (id, run) in &self.runs {
            check_run(&mut found, run);
            for (place, item) in run.items.iter().enumerate() {
                self.find(&mut found, &mut expected, (id, index(place)), item);
            }
        }
        found.unless(self.leases.len() == self.containers.len(), || {
            format!("{} leases, {} containers", self.leases.len(), self.containers.len())
        });
        let counted = self.count(&mut found);
        found.unless(counted == expected, || format!("counted {counted:?}, expected {expected:?}"));
        found.0
    }

    /// How this state differs from another one that was built from the same records. The ends of leases do not
    /// count: signs of life move them, and no record holds them.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<String> {
        let places =
            self.runs.values().flat_map(|run| run.items.iter().map(|item| (&run.id, item)));
        let others = other.runs.values().flat_map(|run| run.items.iter());
        for ((run, item), there) in places.zip(others) {
            let same =
                Item { deadline: None, ..item.clone() } == Item { deadline: None, ..there.clone() };
            if !same {
                return Some(format!("item {} of {run}: {item:?} and {there:?}", item.id));
            }
        }
        let graph = |core: &Self| -> Vec<Run> {
            core.runs.values().map(|run| Run { items: Vec::new(), ..run.clone() }).collect()
        };
        let differing = [
            ("runs", graph(self) != graph(other)),
            ("roles", self.roles != other.roles),
            ("targets", self.targets != other.targets),
            ("leases", self.leases != other.leases),
            ("containers", self.containers != other.containers),
            ("memories", self.memories != other.memories),
            ("positions", self.position != other.position),
        ];
        differing.iter().find(|(_, differ)| *differ).map(|(what, _)| format!("the {what} differ"))
    }

    fn count(&self, found: &mut Found) -> Count {
        let window = self.settings.queue_window as usize;
        let mut counted =
            Count { held: self.leases.len(), deadlines: self.deadlines.len(), ..Count::default() };
        for (role, queue) in &self.roles {
            found.unless(queue.queued.len() <= window, || {
                format!("{} attempts of role {role} in a window of {window}", queue.queued.len())
            });
            let counts = [queue.ready_count(), queue.queued.len(), queue.leased as usize];
            if counts != [0; 3] {
                counted.roles.insert(role.clone(), counts);
            }
        }
        for (target, queue) in &self.targets {
            found.unless(queue.places <= self.settings.verify_ahead, || {
                format!("{} places of target {target:?} are taken", queue.places)
            });
            let counts = [queue.gated.len(), queue.places as usize];
            if counts != [0; 2] {
                counted.targets.insert(target.clone(), counts);
            }
        }
        counted
    }

    /// Finds one item where it belongs, and counts it there.
    fn find(
        &self,
        found: &mut Found,
        count: &mut Count,
        (id, place): (&RunId, ItemIndex),
        item: &Item,
    ) {
        let name = &item.id;
        let (on_the_bus, held) = match item.state {
            State::Queued | State::VerifyQueued(_) => (true, false),
            State::Working | State::Verifying(_) => (true, true),
            _ => (false, false),
        };
        found.unless(item.deadline.is_some() == on_the_bus, || {
            format!("item {name} is {} with the end {:?}", item.state.name(), item.deadline)
        });
        if let Some(deadline) = item.deadline {
            let known = self.deadlines.contains(&(deadline, id.clone(), place));
            found.unless(known, || format!("the end of {name} is not in the index"));
            count.deadlines += 1;
        }
        if held {
            let holder = item.attempts.last().and_then(|attempt| attempt.holder.as_deref());
            let known = holder.is_some_and(|holder| {
                let container = (holder.leased.container.clone(), id.clone(), place);
                self.leases.get(&holder.lease) == Some(&(id.clone(), place))
                    && self.containers.contains(&container)
            });
            found.unless(known, || format!("the holder of {name} is not in the indexes"));
            count.held += 1;
        }
        self.find_in_queue(found, count, (id, place), item);
        let Some(repository) = &self.runs[id].repository else { return };
        let target = || (repository.id.to_string(), repository.target.clone());
        if matches!(item.state, State::Gated) {
            let urgency = Urgency::of(id, place, item);
            let known = self.targets.get(&target()).is_some_and(|t| t.gated.contains(&urgency));
            found.unless(known, || format!("{name} is gated and does not wait for a place"));
            count.targets.entry(target()).or_default()[0] += 1;
        } else if item.state.holds_place() {
            count.targets.entry(target()).or_default()[1] += 1;
        }
    }

    fn find_in_queue(
        &self,
        found: &mut Found,
        count: &mut Count,
        (id, place): (&RunId, ItemIndex),
        item: &Item,
    ) {
        let (role, kind) = match item.state {
            State::Ready => (&item.role, 0),
            State::Unverified(_) => (&item.verifier, 0),
            State::Queued => (&item.role, 1),
            State::VerifyQueued(_) => (&item.verifier, 1),
            State::Working => (&item.role, 2),
            State::Verifying(_) => (&item.verifier, 2),
            _ => return,
        };
        let known = self.roles.get(role).is_some_and(|queue| match kind {
            0 => queue.ready.get(id).is_some_and(|r| r.contains(&Urgency::of(id, place, item))),
            1 => item
                .attempts
                .last()
                .is_some_and(|attempt| queue.queued.contains(&(attempt.queued, id.clone(), place))),
            _ => true,
        });
        found.unless(known, || {
            format!("{} is {} and not in the queue of {role}", item.id, item.state.name())
        });
        count.roles.entry(role.clone()).or_default()[kind] += 1;
    }
}

fn check_run(found: &mut Found, run: &Run) {
    let open = run.items.iter().filter(|item| !item.state.is_terminal()).count();
    found.unless(run.open == open, || {
        format!("run {} counts {} open, not {open}", run.id, run.open)
    });
    found.unless(run.ended.is_some() == (open == 0), || {
        format!("run {} ended {:?} with {open} items open", run.id, run.ended)
    });
    let landed = |state: &State| matches!(state, State::Landed(_) | State::Reported);
    for (item, stopped) in run.items.iter().zip(stopped(run)) {
        let name = &item.id;
        let missing = item.needs.iter().filter(|need| !landed(&run.item(**need).state)).count();
        match &item.state {
            State::Waiting(count) => {
                let right = *count as usize == missing && missing > 0 && !stopped;
                found.unless(right, || {
                    format!("{name} waits for {count} of {missing}, stopped: {stopped}")
                });
            }
            State::Blocked(by) => {
                let by = &run.item(*by).state;
                let right = stopped && matches!(by, State::Parked(_) | State::Cancelled);
                found.unless(right, || format!("{name} is blocked by what is {}", by.name()));
            }
            State::Cancelled => {}
            _ => found.unless(missing == 0, || format!("{name} began before its needs landed")),
        }
        check_attempts(found, item);
    }
}

/// For each item, whether anything before it is parked or cancelled.
fn stopped(run: &Run) -> Vec<bool> {
    fn stops(run: &Run, known: &mut [Option<bool>], place: usize) -> bool {
        if let Some(known) = known[place] {
            return known;
        }
        let before = |need: &ItemIndex| {
            let state = &run.item(*need).state;
            matches!(state, State::Parked(_) | State::Cancelled)
                || stops(run, known, need.0 as usize)
        };
        let found = run.items[place].needs.iter().any(before);
        known[place] = Some(found);
        found
    }
    let mut known = vec![None; run.items.len()];
    (0..run.items.len()).map(|place| stops(run, &mut known, place)).collect()
}

fn check_attempts(found: &mut Found, item: &Item) {
    let name = &item.id;
    found.unless(item.tries() <= item.tries_max, || format!("{name} has {} tries", item.tries()));
    let open = item.attempts.iter().filter(|attempt| attempt.ended.is_none()).count();
    let on_the_bus = matches!(
        item.state,
        State::Queued | State::Working | State::VerifyQueued(_) | State::Verifying(_)
    );
    found.unless(open == usize::from(on_the_bus), || format!("{name} has {open} open attempts"));
    for attempt in &item.attempts {
        let ended = attempt.ended.is_some() == attempt.outcome.is_some();
        let kind = attempt.result.is_none() || attempt.kind != AttemptKind::Verify;
        found
            .unless(ended && kind, || format!("{name} has an attempt that cannot be: {attempt:?}"));
    }
    if let State::Landing(candidate) = &item.state {
        let proven = item.proof.as_deref().is_some_and(|proof| proof.tree == candidate.tree);
        found.unless(proven, || format!("{name} lands what is not proven"));
    }
}
