//! The invariants that are looked at from outside after each turn, and at the end.

use std::sync::Arc;

use cantus_core::event::{Event, Land, ParkedRecord};
use cantus_proto::message::{AttemptKind, LeaseReport, Report};

use crate::bus::Entry;
use crate::crew::brought;
use crate::ledger::Ledger;
use crate::world::World;

/// Every so many turns the journal is replayed and compared.
const REPLAY_EVERY: u64 = 40;
/// Saved works of one item, at most.
const SAVED_MAX: usize = 50;

impl World {
    /// Something was stored in the journal.
    pub(crate) fn record(&mut self, entry: &Entry) {
        match self.ledger.take(entry, &self.git) {
            Ok(facts) => {
                for fact in facts {
                    *self.facts.entry(Ledger::kind(&fact)).or_insert(0) += 1;
                }
            }
            Err(trouble) => self.blame(trouble.invariant, trouble.text),
        }
    }

    /// A turn is stored: all that it consumed has had its effect.
    pub(crate) fn check_turn(&mut self, id: u64) {
        let Some(coordinator) = self.coordinators.get(&id) else { return };
        if coordinator.journal_end != self.bus.journal_last() {
            return;
        }
        if let Some(wrong) = coordinator.core.check().into_iter().next() {
            return self.blame(6, format!("the state contradicts itself: {wrong}"));
        }
        let position = coordinator.core.position();
        for run in coordinator.core.runs().values() {
            if let Err(trouble) = self.ledger.compare(position, run) {
                return self.blame(trouble.invariant, trouble.text);
            }
        }
        if self.events.is_multiple_of(REPLAY_EVERY) {
            self.check_replay(id);
        }
    }

    /// Replay of the journal's bytes gives the same state.
    pub(crate) fn check_replay(&mut self, id: u64) {
        let replayed = self.replay();
        let Some(coordinator) = self.coordinators.get(&id) else { return };
        let difference = match replayed {
            Ok((core, _)) => coordinator.core.difference(&core),
            Err(why) => Some(why),
        };
        if let Some(difference) = difference {
            self.blame(6, format!("replay gives another state: {difference}"));
        }
    }

    /// Whether it brings work of somebody who once held the attempt, by the journal.
    pub(crate) fn brings_work(&self, event: &Event) -> bool {
        let Some(report) = work_of(event) else { return false };
        self.ledger.ever_held(&report.run, &report.item, report.attempt.0, &report.lease)
    }

    /// What was handed in or saved is in the journal.
    pub(crate) fn check_kept(&mut self, bringing: &[Arc<Event>]) {
        for event in bringing {
            let Some(report) = work_of(event) else { continue };
            let Some(commits) = brought(&report.body) else { continue };
            let kept = self.ledger.commits(&report.run, &report.item);
            if kept.is_none_or(|kept| !kept.contains(&commits.head) && kept.len() < SAVED_MAX) {
                let (attempt, item) = (report.attempt, report.item.clone());
                self.blame(3, format!("work on attempt {attempt} of {item} is not kept"));
            }
        }
    }

    /// The dead-letter record names all work that was kept.
    pub(crate) fn check_parked(&mut self, record: &ParkedRecord) {
        let Some(commits) = self.ledger.commits_at_park(&record.run, &record.item) else { return };
        let missing =
            commits.iter().find(|head| !record.kept.iter().any(|kept| kept.head == **head));
        if let Some(missing) = missing.cloned() {
            self.blame(3, format!("the record of {} does not name {missing}", record.item));
        }
    }

    /// Something is about to land: weighed again, whatever the core thinks.
    pub(crate) fn check_landing(&mut self, land: &Land) {
        if let Err(trouble) = self.ledger.check_landing(land) {
            self.blame(trouble.invariant, trouble.text);
        }
        let name = (land.effect.run.clone(), land.item.clone());
        if !self.git.has_passed(&name, &land.candidate) {
            self.blame(1, format!("{} would land, and no verifier saw its tree pass", land.item));
        }
        let (work, merged) =
            (self.git.content(&land.head), self.git.content(&land.candidate.commit));
        let whole = work.zip(merged).is_some_and(|(work, merged)| work.is_subset(merged));
        if !whole {
            self.blame(1, format!("the candidate of {} is not its work", land.item));
        }
    }
}

/// The report of a worker that brings commits.
fn work_of(event: &Event) -> Option<&LeaseReport> {
    let Event::Reported(report) = event else { return None };
    let Report::Lease(report) = &**report else { return None };
    let works = report.kind != AttemptKind::Verify && brought(&report.body).is_some();
    works.then_some(report)
}
