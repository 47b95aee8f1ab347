//! What goes on the bus, and what comes off it: queue windows, attempts, parked records.

use std::collections::BTreeSet;

use cantus_proto::ids::{CommitId, ContainerName, RepositoryId, RunId};
use cantus_proto::message::{Attempt, AttemptLimits, Verification, Work};

use crate::event::{Action, ItemIndex, Millis, ParkedRecord};
use crate::item::{Item, State};
use crate::record::ItemFact;
use crate::results::commits;
use crate::run::Run;
use crate::{Core, Step, breaker, first_artifact};

/// The target of a run that lands nowhere; no such ref exists.
const NO_TARGET: &str = "refs/cantus/none";

impl Core {
    /// Starts what the windows allow: merges for free places of targets, attempts for free places of queues.
    pub(crate) fn fill_queues(&mut self, step: &mut Step) {
        let targets: Vec<_> = self.targets.keys().cloned().collect();
        for target in targets {
            while let Some(queue) = self.targets.get(&target)
                && queue.places < self.settings.verify_ahead
                && queue.outrun == 0
                && let Some(first) = queue.gated.first().cloned()
            {
                self.commit_item(step, first.run(), first.place, ItemFact::MergeBegan);
                step.actions.extend(self.effect(step.at, first.run(), first.place));
            }
        }
        let roles: Vec<_> = self.roles.keys().cloned().collect();
        for role in roles {
            let mut held = BTreeSet::new();
            while let Some(queue) = self.roles.get(&role)
                && queue.queued.len() < self.settings.queue_window as usize
                && let Some(first) = queue.most_urgent(&held).cloned()
            {
                if !self.dispatch(step, first.run(), first.place) {
                    held.insert(first.run().clone());
                }
            }
        }
    }

    /// The message for the queued attempt of an item.
    pub(crate) fn publication(&self, run_id: &RunId, place: ItemIndex) -> Option<Action> {
        let run = self.runs.get(run_id)?;
        let item = run.item(place);
        let (role, work, base_min) = match (&item.state, &item.defect) {
            (State::VerifyQueued(candidate), _) => {
                let worker_excluded: Option<ContainerName> =
                    item.producer().map(|h| h.leased.container.clone());
                let base = candidate.base.clone();
                let verification =
                    Verification { candidate: (**candidate).clone(), worker_excluded };
                (&item.verifier, Work::Verify(verification), Some(base))
            }
            (State::Queued, Some(defect)) => {
                (&item.role, Work::Repair((**defect).clone()), base_min(run, item))
            }
            (State::Queued, None) => (&item.role, Work::Produce, base_min(run, item)),
            _ => return None,
        };
        let repository = run.repository.as_ref();
        let dispatch = &item.attempts.last()?.dispatch;
        Some(Action::Publish(Box::new(Attempt {
            run: run_id.clone(),
            item: item.id.clone(),
            number: item.last_number(),
            role: role.clone(),
            contract: (*item.contract).clone(),
            repository: repository.map_or_else(|| RepositoryId::of(""), |r| r.id.clone()),
            target: repository.map_or_else(|| NO_TARGET.to_owned(), |r| r.target.clone()),
            base_min: base_min.unwrap_or_else(nothing),
            work,
            route: dispatch.route.clone(),
            preamble: dispatch.breaker.map(|breaker| breaker::preamble(item, breaker)),
            learnings: self.memory(run).map_or_else(Vec::new, |m| m.texts(&dispatch.learnings)),
            limits: AttemptLimits {
                heartbeat_ms: self.settings.heartbeat_ms,
                lease_ms: self.settings.lease_ms,
                wall_clock_ms: dispatch.wall_clock_ms,
                artifact_bytes_max: self.settings.artifact_bytes_max,
                files_max: self.settings.files_max,
                tokens_max: dispatch.tokens,
                cost_max: dispatch.cost,
                window_ms: first_artifact::look_ms(
                    &item.contract,
                    dispatch.wall_clock_ms,
                    self.settings.rules.window_ms,
                ),
            },
        })))
    }

    /// Takes an item's queued attempt, if there is one, off the bus.
    pub(crate) fn withdraw(&self, step: &mut Step, run: &RunId, place: ItemIndex) {
        let item = self.runs[run].item(place);
        let role = match item.state {
            State::Queued => &item.role,
            State::VerifyQueued(_) => &item.verifier,
            _ => return,
        };
        step.actions.push(Action::Withdraw {
            role: role.clone(),
            run: run.clone(),
            item: item.id.clone(),
            number: item.last_number(),
        });
    }

    pub(crate) fn parked_record(
        &self,
        now: Millis,
        run: &RunId,
        item: &Item,
        reason: &str,
    ) -> Action {
        let line = |(number, attempt): (usize, &super::item::Attempt)| {
            let outcome = attempt.outcome.as_ref().map_or("open".to_owned(), ToString::to_string);
            format!("{} {:?}: {outcome}", number + 1, attempt.kind)
        };
        let results = item.attempts.iter().filter_map(|a| commits(a.result.as_deref()?));
        Action::Park(Box::new(ParkedRecord {
            run: run.clone(),
            item: item.id.clone(),
            reason: reason.to_owned(),
            attempts: item.attempts.iter().enumerate().map(line).collect(),
            kept: results.chain(item.saved.iter().map(|s| s.commits.clone())).collect(),
            at: now,
        }))
    }
}

/// What the base of new work must contain: the head that the work before it conflicted with, which is later than
/// all else, or the newest landing of the item's needs, or where the target was at the start.
fn base_min(run: &Run, item: &Item) -> Option<CommitId> {
    let needs = item.needs.iter().filter_map(|place| match &run.item(*place).state {
        State::Landed(landed) => Some((run.item(*place).since, place, &landed.commit)),
        _ => None,
    });
    let newest =
        needs.max_by_key(|(since, place, _)| (*since, *place)).map(|(_, _, commit)| commit);
    let start = || run.repository.as_ref().map(|repository| &repository.head);
    item.redo_onto.as_ref().or(newest).or_else(start).cloned()
}

/// Git's own name for no commit.
fn nothing() -> CommitId {
    CommitId::new("0".repeat(40)).expect("forty zeros are a commit id")
}
