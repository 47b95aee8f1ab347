//! The bus and its store: the work queue, the reports, the journal. What goes wrong is chosen by who drives it.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use cantus_core::event::{Event, Millis};
use cantus_proto::ids::{AttemptNumber, ItemId, LeaseId, RoleName, RunId};
use cantus_proto::message::Attempt;

/// How long the queue remembers that it had an attempt.
const REMEMBERED_MS: u64 = 120_000;

pub(crate) type WorkKey = (RunId, ItemId, AttemptNumber);

/// What a decision came from; the simulator's knowledge, which no journal has.
#[derive(Debug, Clone)]
pub(crate) enum Cause {
    /// The kernel was told this.
    Event(Arc<Event>),
    /// It answered a heartbeat of this lease.
    Beat(LeaseId),
    /// It came back after a start.
    Resumed,
}

/// One attempt on the queue.
#[derive(Debug, Clone)]
struct Waiting {
    attempt: Arc<Attempt>,
    /// Given to somebody who has not acknowledged it.
    taken: bool,
    delivery: u64,
}

/// One report as it is stored.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    /// Whose subject it came on.
    pub(crate) role: RoleName,
    pub(crate) bytes: Bytes,
}

/// One message of the journal.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) payload: Bytes,
    /// Of each record.
    pub(crate) causes: Vec<Cause>,
    /// Appended at this true time.
    pub(crate) at: Millis,
    /// When its coordinator last let all leases and waits run anew.
    pub(crate) renewed: Millis,
}

/// What is stored; cheap to copy, since messages are shared.
#[derive(Debug, Clone, Default)]
pub(crate) struct Store {
    work: BTreeMap<WorkKey, Waiting>,
    remembered: BTreeMap<WorkKey, Millis>,
    acknowledged: Vec<Arc<Attempt>>,
    pub(crate) reports: Vec<Arc<Stored>>,
    pub(crate) journal: Vec<Arc<Entry>>,
}

/// What an append came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Appended {
    Stored,
    /// It was there already: the answer had been lost.
    Known,
    /// Somebody else wrote.
    Fenced,
}

/// See the module.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bus {
    pub(crate) store: Store,
    /// Nobody reaches it before this time.
    pub(crate) away_until: Option<Millis>,
    pub(crate) snapshot: Option<Store>,
}

fn key(attempt: &Attempt) -> WorkKey {
    (attempt.run.clone(), attempt.item.clone(), attempt.number)
}

impl Bus {
    /// One message for each attempt until it is acknowledged; repeats within the window are dropped.
    pub(crate) fn enqueue(&mut self, now: Millis, attempt: &Arc<Attempt>) -> bool {
        let key = key(attempt);
        let known = self.store.remembered.get(&key);
        let known = known.is_some_and(|at| now.0 < at.0 + REMEMBERED_MS);
        if known || self.store.work.contains_key(&key) {
            return false;
        }
        self.store.remembered.insert(key.clone(), now);
        let waiting = Waiting { attempt: Arc::clone(attempt), taken: false, delivery: 0 };
        self.store.work.insert(key, waiting);
        true
    }

    pub(crate) fn withdraw(&mut self, key: &WorkKey) {
        self.store.work.remove(key);
    }

    /// Whether somebody of this role would get something.
    pub(crate) fn has_work(&self, role: &RoleName) -> bool {
        self.store.work.values().any(|w| !w.taken && w.attempt.role == *role)
    }

    /// Gives one attempt to a taker; answers with its delivery, for the time when it comes back.
    pub(crate) fn take(&mut self, role: &RoleName, place: usize) -> Option<(Arc<Attempt>, u64)> {
        let mut free: Vec<&mut Waiting> =
            self.store.work.values_mut().filter(|w| !w.taken && w.attempt.role == *role).collect();
        let place = place % free.len().max(1);
        let waiting = free.get_mut(place)?;
        waiting.taken = true;
        waiting.delivery += 1;
        Some((Arc::clone(&waiting.attempt), waiting.delivery))
    }

    /// What was not acknowledged in time is given to others; whether there was any.
    pub(crate) fn give_back(&mut self, key: &WorkKey, delivery: u64) -> bool {
        match self.store.work.get_mut(key) {
            Some(waiting) if waiting.taken && waiting.delivery == delivery => {
                waiting.taken = false;
                true
            }
            _ => false,
        }
    }

    /// Whoever says it: the queue does not look at who it comes from.
    pub(crate) fn acknowledge(&mut self, key: &WorkKey) {
        if let Some(waiting) = self.store.work.remove(key) {
            self.store.acknowledged.push(waiting.attempt);
        }
    }

    /// Some attempt on the queue, whoever has it.
    pub(crate) fn any_work(&self, place: usize) -> Option<WorkKey> {
        let place = place % self.store.work.len().max(1);
        self.store.work.keys().nth(place).cloned()
    }

    /// As after a kill: nobody has anything, and what was acknowledged last is there again.
    pub(crate) fn forget(&mut self, acknowledged: usize) {
        for waiting in self.store.work.values_mut() {
            waiting.taken = false;
        }
        let kept = self.store.acknowledged.len().saturating_sub(acknowledged);
        for attempt in self.store.acknowledged.split_off(kept) {
            let waiting = Waiting { attempt: Arc::clone(&attempt), taken: false, delivery: 0 };
            self.store.work.entry(key(&attempt)).or_insert(waiting);
        }
    }

    pub(crate) fn roles_with_work(&self) -> Vec<RoleName> {
        let roles: std::collections::BTreeSet<_> =
            self.store.work.values().filter(|w| !w.taken).map(|w| w.attempt.role.clone()).collect();
        roles.into_iter().collect()
    }

    pub(crate) fn journal_last(&self) -> u64 {
        self.store.journal.len() as u64
    }

    /// Appends if the journal ends where the caller thinks, or has this very message there.
    pub(crate) fn append(&mut self, expected: u64, entry: Entry) -> Appended {
        let place = usize::try_from(expected).unwrap_or(usize::MAX);
        match self.store.journal.get(place) {
            Some(there) if there.id == entry.id => Appended::Known,
            Some(_) => Appended::Fenced,
            None if self.journal_last() == expected => {
                self.store.journal.push(Arc::new(entry));
                Appended::Stored
            }
            None => Appended::Fenced,
        }
    }
}
