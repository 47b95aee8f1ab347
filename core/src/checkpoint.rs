//! Checkpoint and resume (SPEC B3): kill anything at any moment; the run goes on from the journal.
//!
//! The rule, in four parts:
//!
//! 1. **Each record is a checkpoint.** What the core decides is stored before anything is done about it. A record is
//!    a fact and applying it decides nothing, so replay gives the same state, whatever program replays it.
//! 2. **The state says what is under way.** Which effect an item waits for follows from its state alone
//!    ([`Core::effect`]), never from what a process remembers. So there is nothing else to save.
//! 3. **Resume asks for everything again.** What may be unfinished is asked for once more; every effect may be
//!    carried out twice, and an answer that comes twice is refused ([`Core::waits_for`]).
//! 4. **A decision may be cut between two of its records.** What follows from the state alone ([`Core::settle`]) is
//!    decided again: a limit that is used up, a result that lands nowhere.
//!
//! Deadlines are of this process's clock and in no record: leases and waits start anew, so no absence of the
//! coordinator ends a lease. Elsewhere: the shell stores, replays and fences a second coordinator; a worker saves the
//! commits of an attempt that ends; what an earlier attempt left is for the next one's contract.

use std::sync::Arc;

use cantus_proto::ids::RunId;

use crate::event::{Action, Effect, Inspect, ItemIndex, Land, MergeWork, Millis};
use crate::item::State;
use crate::{Core, Step, run};

impl Core {
    /// After a replay: leases start anew on this clock, and every effect that may be unfinished is asked for
    /// again.
    pub fn resume(&mut self, now: Millis) -> Step {
        let mut step = Step { at: now, ..Step::default() };
        let mut resumed: Vec<(RunId, ItemIndex)> = Vec::new();
        for (id, run) in &self.runs {
            for (place, item) in run.items.iter().enumerate() {
                if !item.state.is_terminal() || matches!(item.state, State::Parked(_)) {
                    resumed.push((id.clone(), run::index(place)));
                }
            }
        }
        for (run, place) in resumed {
            let state = &self.runs[&run].item(place).state;
            match state {
                State::Working | State::Verifying(_) => {
                    self.postpone(&run, place, now.plus(self.settings.lease_ms));
                }
                State::Queued | State::VerifyQueued(_) => {
                    self.postpone(&run, place, now.plus(self.settings.queue_wait_ms));
                    step.actions.extend(self.publication(&run, place));
                }
                _ => {
                    self.settle(&mut step, &run, place);
                    step.actions.extend(self.effect(now, &run, place));
                }
            }
        }
        self.fill_queues(&mut step);
        step
    }

    /// The effect that an item in this state waits for.
    pub(crate) fn effect(&self, now: Millis, run_id: &RunId, place: ItemIndex) -> Option<Action> {
        let run = self.runs.get(run_id)?;
        let item = run.item(place);
        if let State::Parked(reason) = &item.state {
            return Some(self.parked_record(now, run_id, item, reason));
        }
        let repository = run.repository.clone()?;
        let (work, result) = item.work()?;
        let effect = Effect { run: run_id.clone(), item: place, work };
        Some(match &item.state {
            State::Gating => Action::Inspect(Box::new(Inspect {
                effect,
                item: item.id.clone(),
                repository: repository.id,
                base: result.base.clone(),
                head: result.head.clone(),
                bundle: result.bundle.clone(),
                contract: Arc::clone(&item.contract),
                complexity: item.complexity,
            })),
            State::Merging => Action::Merge(Box::new(MergeWork {
                effect,
                item: item.id.clone(),
                repository,
                head: result.head.clone(),
            })),
            State::Landing(candidate) => {
                let proof = item.proof.as_deref()?;
                Action::Land(Box::new(Land {
                    effect,
                    item: item.id.clone(),
                    goal: item.contract.goal.clone(),
                    checkers: self.question(run_id, item, candidate).checkers,
                    repository,
                    candidate: (**candidate).clone(),
                    head: result.head.clone(),
                    envelopes: proof.envelopes.clone(),
                    at: proof.at,
                }))
            }
            _ => return None,
        })
    }
}
