//! Learnings (SPEC E5): what attempts at a repository found out, what of it the next ones are told, and whether
//! they applied it.
//!
//! All is bounded: what is remembered, and what one attempt is told. What is seen again is not told twice; it is
//! confirmed, and stays longer. Whether a learning was applied is seen in the verified tree, by its check.

mod entry;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use cantus_proto::ids::LearningId;
use cantus_proto::message::{Learning, LearningCheck};

use entry::bytes;
pub use entry::{Entry, Origin};

use crate::event::Millis;
use crate::item::Item;

/// Most learnings of one repository: more than a person would read, and far more than an attempt is told.
const LEARNINGS_MAX: usize = 500;
/// Most learnings that one attempt is told.
const TOLD_MAX: usize = 12;
/// Most bytes of text that one attempt is told: it has a contract to read as well.
const TOLD_BYTES_MAX: usize = 4 * 1024;

/// What is known of one repository.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Memory {
    entries: BTreeMap<LearningId, Entry>,
}

impl Memory {
    /// Takes in what an attempt found out. Whether it is new.
    ///
    /// Over the bound the least confirmed goes, the oldest of them first, but never what has just come.
    pub fn absorb(&mut self, learning: &Learning, origin: Origin, at: Millis) -> bool {
        if let Some(known) = self.entries.get_mut(&learning.id) {
            // Who repeats itself confirms nothing.
            known.seen = known.seen.saturating_add(u32::from(known.origin != origin));
            (known.at, known.origin) = (known.at.max(at), origin);
            return false;
        }
        if learning.rule.trim().is_empty() || bytes(learning) > TOLD_BYTES_MAX {
            return false;
        }
        if self.entries.len() >= LEARNINGS_MAX {
            let rank =
                |(id, entry): &(&LearningId, &Entry)| (entry.confirmed(), entry.at, (*id).clone());
            if let Some((_, _, least)) = self.entries.iter().map(|known| rank(&known)).min() {
                self.entries.remove(&least);
            }
        }
        let learning = learning.clone();
        let entry = Entry { learning, origin, at, seen: 1, applied: 0, ignored: 0 };
        self.entries.insert(entry.learning.id.clone(), entry);
        true
    }

    /// Takes in what a verified tree shows.
    pub fn checked(&mut self, checks: &[LearningCheck]) {
        for check in checks {
            let Some(known) = self.entries.get_mut(&check.id) else { continue };
            let count = if check.applied { &mut known.applied } else { &mut known.ignored };
            *count = count.saturating_add(1);
        }
    }

    /// What the next attempt at this item is told, the most relevant first: found in the same scope or by the same
    /// role, then more often confirmed, then newer.
    #[must_use]
    pub fn pick(&self, item: &Item) -> Vec<LearningId> {
        let rank = |entry: &Entry| Reverse((entry.relevance(item), entry.confirmed(), entry.at));
        let mut ranked: Vec<(_, &LearningId, usize)> = self
            .entries
            .iter()
            .map(|(id, entry)| (rank(entry), id, bytes(&entry.learning)))
            .collect();
        ranked.sort_unstable();
        let mut room = TOLD_BYTES_MAX;
        let fits = ranked.into_iter().filter(|(_, _, bytes)| {
            let fits = *bytes <= room;
            room -= if fits { *bytes } else { 0 };
            fits
        });
        fits.take(TOLD_MAX).map(|(_, id, _)| id.clone()).collect()
    }

    /// Of these, what is still known, in this order.
    #[must_use]
    pub fn texts(&self, ids: &[LearningId]) -> Vec<Learning> {
        ids.iter().filter_map(|id| Some(self.entries.get(id)?.learning.clone())).collect()
    }

    /// Those of these for which a tree can be looked at.
    #[must_use]
    pub fn checkable(&self, ids: &[LearningId]) -> Vec<LearningId> {
        let has_check = |id: &&LearningId| {
            self.entries.get(*id).is_some_and(|entry| entry.learning.check.is_some())
        };
        ids.iter().filter(has_check).cloned().collect()
    }

    /// What is known under this id.
    #[must_use]
    pub fn get(&self, id: &LearningId) -> Option<&Entry> {
        self.entries.get(id)
    }

    /// All that is known, by id.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }
}

/// `applied n of n`, of what a tree was looked at for.
#[must_use]
pub fn applied(checks: &[LearningCheck]) -> String {
    let applied = checks.iter().filter(|check| check.applied).count();
    format!("applied {applied} of {}", checks.len())
}

#[cfg(test)]
mod tests;
