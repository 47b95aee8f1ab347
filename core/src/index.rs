//! What the core looks things up by: queues of roles and targets, leases, containers, deadlines.
//!
//! All of it follows from the items' states. An item [`leave`](Core::leave)s before each change and
//! [`enter`](Core::enter)s after it, so the indexes cannot drift from the states.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use cantus_proto::ids::{ItemId, RoleName, RunId};

use crate::Core;
use crate::event::{ItemIndex, Millis};
use crate::item::{Item, State};

/// The order of work: critical path first, then priority, then id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Urgency {
    critical_path: Reverse<u64>,
    priority: Reverse<i32>,
    run: RunId,
    item: ItemId,
    /// Where to find it.
    pub(crate) place: ItemIndex,
}

impl Urgency {
    pub(crate) fn of(run: &RunId, place: ItemIndex, item: &Item) -> Self {
        Self {
            critical_path: Reverse(item.critical_path),
            priority: Reverse(item.priority),
            run: run.clone(),
            item: item.id.clone(),
            place,
        }
    }

    pub(crate) fn run(&self) -> &RunId {
        &self.run
    }
}

/// Attempts of one role.
#[derive(Debug, Default, PartialEq)]
pub struct RoleQueue {
    /// Not yet on the bus, by run: one that must wait holds up no other.
    pub ready: BTreeMap<RunId, BTreeSet<Urgency>>,
    /// On the bus and not taken, by the time they were queued.
    pub queued: BTreeSet<(Millis, RunId, ItemIndex)>,
    /// Taken.
    pub leased: u32,
}

impl RoleQueue {
    /// How many attempts are not yet on the bus.
    #[must_use]
    pub fn ready_count(&self) -> usize {
        self.ready.values().map(BTreeSet::len).sum()
    }

    /// The first in order among the runs that need not wait.
    pub(crate) fn most_urgent(&self, held: &BTreeSet<RunId>) -> Option<&Urgency> {
        let runs = self.ready.iter().filter(|(run, _)| !held.contains(*run));
        runs.filter_map(|(_, ready)| ready.first()).min()
    }
}

/// Results that are to land on one target.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct TargetQueue {
    /// Passed the gates.
    pub(crate) gated: BTreeSet<Urgency>,
    /// In verification or landing.
    pub(crate) places: u32,
    /// Of these, those that were verified and must be again, because another one landed first. Nothing new
    /// begins beside them, or the same item could be outrun for ever.
    pub(crate) outrun: u32,
}

/// The role whose queue the item is in, if its state is one of a queue.
fn role_of(item: &Item) -> Option<&RoleName> {
    match item.state {
        State::Ready | State::Queued | State::Working => Some(&item.role),
        State::Unverified(_) | State::VerifyQueued(_) | State::Verifying(_) => Some(&item.verifier),
        _ => None,
    }
}

impl Core {
    /// Takes the item out of every index.
    pub(crate) fn leave(&mut self, id: &RunId, place: ItemIndex) {
        self.reindex(id, place, false);
    }

    /// Puts the item into the indexes of its state.
    pub(crate) fn enter(&mut self, id: &RunId, place: ItemIndex) {
        self.reindex(id, place, true);
    }

    fn reindex(&mut self, id: &RunId, place: ItemIndex, enter: bool) {
        let Some(run) = self.runs.get_mut(id) else { return };
        let target = run.repository.as_ref().map(|r| (r.id.to_string(), r.target.clone()));
        let item = &mut run.items[place.0 as usize];
        let attempt = item.attempts.last();
        let due = match (&item.state, attempt) {
            (State::Queued | State::VerifyQueued(_), Some(attempt)) => {
                Some(attempt.queued.plus(self.settings.queue_wait_ms))
            }
            (State::Working | State::Verifying(_), Some(attempt)) => {
                Some(attempt.leased.unwrap_or(item.since).plus(self.settings.lease_ms))
            }
            _ => None,
        };
        if let Some(due) = due {
            let due = item.deadline.unwrap_or(due);
            change(&mut self.deadlines, (due, id.clone(), place), enter);
            item.deadline = enter.then_some(due);
        }
        if let Some(role) = role_of(item) {
            if !self.roles.contains_key(role) {
                self.roles.insert(role.clone(), RoleQueue::default());
            }
            let queue = self.roles.get_mut(role).expect("inserted above");
            match item.state {
                State::Ready | State::Unverified(_) => {
                    let ready = queue.ready.entry(id.clone()).or_default();
                    change(ready, Urgency::of(id, place, item), enter);
                    if ready.is_empty() {
                        queue.ready.remove(id);
                    }
                }
                State::Queued | State::VerifyQueued(_) => {
                    let queued = attempt.map_or(item.since, |a| a.queued);
                    change(&mut queue.queued, (queued, id.clone(), place), enter);
                }
                _ => {
                    count(&mut queue.leased, enter);
                }
            }
        }
        if matches!(item.state, State::Working | State::Verifying(_))
            && let Some(holder) = attempt.and_then(|a| a.holder.as_deref())
        {
            if enter {
                self.leases.insert(holder.lease.clone(), (id.clone(), place));
            } else {
                self.leases.remove(&holder.lease);
            }
            let held = (holder.leased.container.clone(), id.clone(), place);
            change(&mut self.containers, held, enter);
        }
        let Some(target) = target else { return };
        if matches!(item.state, State::Gated) {
            let queue = self.targets.entry(target).or_default();
            change(&mut queue.gated, Urgency::of(id, place, item), enter);
        } else if item.state.holds_place() {
            let queue = self.targets.entry(target).or_default();
            let outrun = item.proof.is_some() && !matches!(item.state, State::Landing(_));
            count(&mut queue.places, enter);
            if outrun {
                count(&mut queue.outrun, enter);
            }
        }
    }

    /// Moves an item's deadline, which is no fact and therefore in no record.
    pub(crate) fn postpone(&mut self, id: &RunId, place: ItemIndex, at: Millis) {
        let Some(run) = self.runs.get_mut(id) else { return };
        let item = run.item_mut(place);
        if let Some(before) = item.deadline.replace(at) {
            self.deadlines.remove(&(before, id.clone(), place));
        }
        self.deadlines.insert((at, id.clone(), place));
    }
}

fn change<T: Ord>(set: &mut BTreeSet<T>, key: T, insert: bool) {
    if insert {
        set.insert(key);
    } else {
        set.remove(&key);
    }
}

fn count(of: &mut u32, enter: bool) {
    *of = if enter { *of + 1 } else { *of - 1 };
}
