//! Leases in time: heartbeats and deadlines. What goes on after a restart is [`crate::checkpoint`].

use cantus_proto::ids::RunId;
use cantus_proto::message::AttemptKind;

use crate::event::{Action, ItemIndex, Millis};
use crate::item::State;
use crate::record::{Ending, Fact};
use crate::{Core, Step, budget};

impl Core {
    /// A sign of life: the lease runs anew, but never beyond the hard end of its attempt.
    pub(crate) fn prolong(&mut self, now: Millis, run: &RunId, place: ItemIndex) {
        let due = now.plus(self.settings.lease_ms);
        let end = self.hard_end(run, place).unwrap_or(due);
        self.postpone(run, place, due.min(end));
    }

    /// The bus was away, and every sign of life with it: all leases run anew, none beyond its hard end, and so does
    /// the wait of what nobody could take.
    pub fn renew_leases(&mut self, now: Millis) {
        let held: Vec<(RunId, ItemIndex)> = self.leases.values().cloned().collect();
        for (run, place) in held {
            self.prolong(now, &run, place);
        }
        let queued = self.roles.values().flat_map(|queue| queue.queued.iter());
        let queued: Vec<(RunId, ItemIndex)> =
            queued.map(|(_, run, place)| (run.clone(), *place)).collect();
        for (run, place) in queued {
            self.postpone(&run, place, now.plus(self.settings.queue_wait_ms));
        }
    }

    /// The hard end of the current attempt: no sign of life carries a lease beyond it.
    fn hard_end(&self, run: &RunId, place: ItemIndex) -> Option<Millis> {
        let item = self.runs.get(run)?.item(place);
        let leased = item.attempts.last()?.leased?;
        let wall_clock_ms = item.attempts.last()?.dispatch.wall_clock_ms;
        Some(leased.plus(wall_clock_ms).plus(self.settings.lease_ms))
    }

    pub(crate) fn expire(&mut self, step: &mut Step) {
        self.expire_runs(step);
        while let Some((at, run, place)) = self.deadlines.first().cloned() {
            if at > step.at {
                return;
            }
            let item = self.runs[&run].item(place);
            let number = item.last_number();
            let verify = item.attempts.last().is_some_and(|a| a.kind == AttemptKind::Verify);
            if matches!(item.state, State::Queued | State::VerifyQueued(_)) {
                let role = if verify { item.verifier.clone() } else { item.role.clone() };
                let reason = format!(
                    "no {role} took it within {} min; start a pool with that role, then requeue",
                    self.settings.queue_wait_ms / 60_000
                );
                let withdraw =
                    Action::Withdraw { role, run: run.clone(), item: item.id.clone(), number };
                step.actions.push(withdraw);
                self.lose(step, &run, place, Ending::Unclaimed, reason);
            } else {
                let reason = format!("nothing heard for {} s", self.settings.lease_ms / 1000);
                self.lose(step, &run, place, Ending::Lost, reason);
            }
        }
    }

    fn expire_runs(&mut self, step: &mut Step) {
        while let Some((at, run)) =
            self.run_deadlines.first().filter(|(at, _)| *at <= step.at).cloned()
        {
            self.run_deadlines.remove(&(at, run.clone()));
            let Some(found) = self.runs.get(&run) else { continue };
            if budget::run_is_over(found, step.at) {
                self.stop_run(step, &run);
            } else if let Some(warning) = budget::wall_clock_warning(found, step.at) {
                self.commit(step, &run, Fact::RunWarned(warning));
            }
        }
    }
}
