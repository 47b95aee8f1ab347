//! What an attempt is given before it goes to its queue: a reservation, a route, and what it is told.

use std::sync::Arc;

use cantus_proto::ids::{AttemptNumber, LearningId, RunId};
use cantus_proto::message::AttemptKind;

use crate::budget::{self, Allowance};
use crate::event::{ItemIndex, Millis};
use crate::item::{Item, State};
use crate::record::{Dispatch, ItemFact, Resource};
use crate::run::Run;
use crate::split::Remainder;
use crate::{Core, Step, breaker, routing};

impl Core {
    /// Queues the next attempt of an item, or parks it when nothing is left for one. The answer is whether anything
    /// was decided: if not, the whole run must wait.
    pub(crate) fn dispatch(&mut self, step: &mut Step, run_id: &RunId, place: ItemIndex) -> bool {
        // A journal that was cut between two records of one decision: what the state demands comes first.
        self.settle(step, run_id, place);
        let run = &self.runs[run_id];
        let item = run.item(place);
        if !matches!(item.state, State::Ready | State::Unverified(_)) {
            return true;
        }
        let (kind, given) = match (&item.state, &item.defect) {
            (State::Unverified(_), _) => match budget::verification_ms(item, step.at) {
                0 => {
                    let why = "verification's share of the wall clock is used up: raise \
                               wall_clock_minutes or verification_ratio, then requeue";
                    self.park(step, run_id, place, why.to_owned());
                    return true;
                }
                wall_clock_ms => {
                    let given = Remainder { wall_clock_ms, tokens: None, cost: None };
                    (AttemptKind::Verify, given)
                }
            },
            (_, defect) => match budget::allowance(run, item, step.at) {
                Allowance::Wait => return false,
                Allowance::Exhausted(resource) => {
                    let why = exhausted(run, item, resource, step.at);
                    self.park(step, run_id, place, why);
                    return true;
                }
                Allowance::Given(given) if defect.is_some() => (AttemptKind::Repair, given),
                Allowance::Given(given) => (AttemptKind::Produce, given),
            },
        };
        let breaker = if kind == AttemptKind::Verify { None } else { breaker::next(item) };
        let dispatch = Dispatch {
            wall_clock_ms: given.wall_clock_ms,
            tokens: given.tokens,
            cost: given.cost,
            route: routing::route(item, &self.settings.rules, kind, breaker),
            breaker,
            learnings: self.told(run, item, kind),
        };
        let number = AttemptNumber(item.last_number().0 + 1);
        self.commit_item(step, run_id, place, ItemFact::Queued(number, kind, Arc::new(dispatch)));
        step.actions.extend(self.publication(run_id, place));
        true
    }

    /// Of a work attempt, what it should know; of a verification, what its tree should show.
    fn told(&self, run: &Run, item: &Item, kind: AttemptKind) -> Vec<LearningId> {
        let Some(memory) = self.memory(run) else { return Vec::new() };
        if kind != AttemptKind::Verify {
            return memory.pick(item);
        }
        let work = item.attempts.iter().rfind(|attempt| attempt.result.is_some());
        let told = work.map_or(&[][..], |work| &work.dispatch.learnings);
        memory.checkable(told)
    }
}

/// Why an item gets no further attempt, for whom it was and what to do.
fn exhausted(run: &Run, item: &Item, resource: Resource, now: Millis) -> String {
    let own = budget::Account::of(budget::counted(item));
    let (limits, budgets) = (&item.contract.budgets, &run.budgets);
    match resource {
        Resource::WallClock if budget::run_is_over(run, now) => format!(
            "the run's wall clock of {} min is used up",
            budgets.wall_clock_minutes.unwrap_or_default()
        ),
        Resource::WallClock => format!(
            "the wall clock of {} min is used up; raise it in the contract, or requeue for as much again",
            limits.wall_clock_minutes
        ),
        Resource::Tokens => {
            match limits.token_budget.filter(|_| budget::is_spent(run, item, resource)) {
                Some(total) => format!(
                    "the token budget of {total} is used up: {} spent; requeue for as much again",
                    own.tokens
                ),
                None => format!(
                    "the run's token budget of {} is used up: {} spent",
                    budgets.token_budget.unwrap_or_default(),
                    run.account.tokens
                ),
            }
        }
        Resource::Cost => {
            match limits.cost_budget.filter(|_| budget::is_spent(run, item, resource)) {
                Some(total) => format!(
                    "the money budget of {total} is used up: {} spent; requeue for as much again",
                    own.cost
                ),
                None => format!(
                    "the run's money budget of {} is used up: {} spent",
                    budgets.cost_budget.unwrap_or_default(),
                    run.account.cost
                ),
            }
        }
    }
}
