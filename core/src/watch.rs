//! Running attempts: heartbeats, and the rules on what an attempt has to show while it runs.
//!
//! What heartbeats tell is in no record; what follows from it is. After a start the rules look anew.

use cantus_proto::ids::RunId;
use cantus_proto::message::{Heartbeat, HeartbeatReply, Pulse, Usage};

use crate::breaker::{self, Trip};
use crate::event::{ItemIndex, Millis};
use crate::item::{Attempt, State};
use crate::progress_heartbeat::{Change, Watch};
use crate::record::{Demand, DemandKind, Ending, ItemFact, Resource, Warning};
use crate::{Core, Step, budget, first_artifact};

/// What is known of a running attempt.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Watched {
    watch: Watch,
    pulse: Option<Pulse>,
}

impl Watched {
    /// What it used so far, if it measures.
    pub(crate) fn usage(&self) -> Option<&Usage> {
        self.pulse.as_ref()?.usage.as_ref()
    }
}

impl Core {
    /// Answers a heartbeat. Only the newest lease of the current attempt goes on, and only while the rules let it.
    ///
    /// A lease that the core has not heard of may still be on its way through the bus: it goes on as long as
    /// its attempt is the current one.
    pub fn heartbeat(&mut self, now: Millis, beat: &Heartbeat) -> (HeartbeatReply, Step) {
        let mut step = Step { at: now, ..Step::default() };
        if let Some((run, place)) = self.leases.get(&beat.lease).cloned() {
            self.prolong(now, &run, place);
            if let Some(pulse) = &beat.pulse {
                self.look(&mut step, &run, place, pulse);
                if !step.records.is_empty() {
                    self.fill_queues(&mut step);
                }
            }
            if self.leases.contains_key(&beat.lease) {
                let attempt = self.runs[&run].item(place).attempts.last();
                let demands = attempt.map_or(&[][..], Attempt::demands).iter();
                let texts = demands.map(|(_, demand)| demand.text.clone()).collect();
                return (HeartbeatReply::GoOn(texts), step);
            }
        }
        (self.unheld(beat), step)
    }

    /// The answer to a lease that does not hold, or not yet.
    fn unheld(&self, beat: &Heartbeat) -> HeartbeatReply {
        let item =
            self.runs.get(&beat.run).and_then(|run| Some(run.item(*run.by_id.get(&beat.item)?)));
        let Some(item) = item else {
            return HeartbeatReply::Stop(format!("no item {} in a run {}", beat.item, beat.run));
        };
        let current = item.last_number() == beat.attempt
            && matches!(
                item.state,
                State::Queued | State::Working | State::VerifyQueued(_) | State::Verifying(_)
            );
        let superseded = item.attempts.last().is_some_and(|a| a.superseded.contains(&beat.lease));
        if current && !superseded {
            return HeartbeatReply::GoOn(Vec::new());
        }
        if superseded {
            return HeartbeatReply::Stop("another worker has taken this attempt".to_owned());
        }
        let ended = item.attempt(beat.attempt).and_then(|attempt| attempt.outcome.as_ref());
        let how = ended.map_or_else(|| "over".to_owned(), ToString::to_string);
        let state = item.state.name();
        HeartbeatReply::Stop(format!(
            "attempt {} is over ({how}); the item is {state}",
            beat.attempt
        ))
    }

    /// Looks at what a work attempt has to show, and decides what must change.
    fn look(&mut self, step: &mut Step, run: &RunId, place: ItemIndex, pulse: &Pulse) {
        let item = self.runs[run].item(place);
        let (State::Working, Some(lease)) = (&item.state, item.open_lease().cloned()) else {
            return;
        };
        self.watches.entry(lease.clone()).or_default().pulse = Some(pulse.clone());
        if self.look_at_budget(step, run, place, pulse) {
            return;
        }
        let item = self.runs[run].item(place);
        let Some(attempt) = item.attempts.last() else { return };
        let demanded = attempt.demands();
        let first = demanded.iter().find(|(_, d)| d.kind == DemandKind::FirstArtifact);
        let elapsed_ms = attempt.busy_ms(step.at);
        let leased = attempt.leased.unwrap_or_default();
        let used = pulse.usage.as_ref().map(Usage::tokens).zip(attempt.dispatch.tokens);
        let weighed = first_artifact::weigh(
            &item.contract,
            elapsed_ms,
            attempt.dispatch.wall_clock_ms,
            used,
            Some(pulse),
            first.map(|(at, _)| at.0.saturating_sub(leased.0)),
        );
        match weighed {
            first_artifact::Step::Fine => {}
            first_artifact::Step::Demand(demand) => self.demand(step, run, place, demand),
            first_artifact::Step::End(why) => {
                self.lose(step, run, place, Ending::Stalled, why);
                return;
            }
        }
        let rules = &self.settings.rules;
        let demanded = self.runs[run].item(place).attempts.last().map_or(&[][..], Attempt::demands);
        let Some(watched) = self.watches.get_mut(&lease) else { return };
        let (_, change) = watched.watch.look(
            step.at,
            rules.window_ms,
            rules.no_progress_windows_max,
            pulse,
            demanded,
        );
        let rounds = watched.watch.rounds.clone();
        self.change(step, run, place, change);
        let item = self.runs[run].item(place);
        let (State::Working, Some(attempt)) = (&item.state, item.attempts.last()) else { return };
        let time = (elapsed_ms, attempt.dispatch.wall_clock_ms);
        match breaker::look(&rounds, time, used, attempt.demands()) {
            Trip::None => {}
            Trip::Demand(demand) => self.demand(step, run, place, demand),
            Trip::End(why) => self.lose(step, run, place, Ending::Stalled, why),
        }
    }

    fn change(&mut self, step: &mut Step, run: &RunId, place: ItemIndex, change: Change) {
        let windows = self.settings.rules.no_progress_windows_max;
        match change {
            Change::None => {}
            Change::NewApproach => {
                let text = format!(
                    "{windows} windows went by with no new artifact, evidence or better score: what \
                     you do does not work, so choose another approach and say in progress.jsonl \
                     what is next"
                );
                let kind = DemandKind::NewApproach;
                self.demand(step, run, place, Demand { kind, text, paths: vec![] });
            }
            Change::PartialResult => {
                let text = "still no progress: commit what there is and end; say what is missing \
                            with a proposal `partial`"
                    .to_owned();
                let kind = DemandKind::PartialResult;
                self.demand(step, run, place, Demand { kind, text, paths: vec![] });
            }
            Change::AnotherWorker => {
                let why =
                    format!("no progress in {windows} windows after another approach was demanded");
                self.lose(step, run, place, Ending::Stalled, why);
            }
            Change::Person(blocker) => {
                let why = format!("its agent is blocked: {blocker}");
                self.lose(step, run, place, Ending::Stalled, why.clone());
                if !self.runs[run].item(place).state.is_terminal() {
                    self.park(step, run, place, why);
                }
            }
        }
    }

    fn demand(&mut self, step: &mut Step, run: &RunId, place: ItemIndex, demand: Demand) {
        let number = self.runs[run].item(place).last_number();
        self.commit_item(step, run, place, ItemFact::Demanded(number, Box::new(demand)));
    }

    /// Warns at most of a budget and stops at all of it (SPEC E9). Whether the attempt is over.
    fn look_at_budget(
        &mut self,
        step: &mut Step,
        run: &RunId,
        place: ItemIndex,
        pulse: &Pulse,
    ) -> bool {
        let prices = &self.settings.rules.prices;
        let item = self.runs[run].item(place);
        let Some(attempt) = item.attempts.last() else { return false };
        let dispatch = &attempt.dispatch;
        let spent = pulse.usage.as_ref().map(|usage| budget::measured(usage, prices));
        let spent = spent.unwrap_or_default();
        let over =
            [
                spent.tokens.zip(dispatch.tokens).filter(|(used, reserved)| used >= reserved).map(
                    |(used, reserved)| format!("{used} of {reserved} reserved tokens are used"),
                ),
                spent.cost.zip(dispatch.cost).filter(|(used, reserved)| used >= reserved).map(
                    |(used, reserved)| format!("{used} of {reserved} reserved money is spent"),
                ),
            ];
        if let Some(why) = over.into_iter().flatten().next() {
            self.lose(step, run, place, Ending::OverBudget, why);
            return true;
        }
        for warning in budget::item_warnings(item, &spent, step.at) {
            self.commit_item(step, run, place, ItemFact::Warned(warning));
            let demand = Demand { kind: DemandKind::Budget, text: told(warning), paths: vec![] };
            self.demand(step, run, place, demand);
        }
        false
    }
}

fn told(warning: Warning) -> String {
    let Warning { resource, spent, budget } = warning;
    let what = match resource {
        Resource::WallClock => format!("{} of {} s of the wall clock", spent / 1000, budget / 1000),
        Resource::Tokens => format!("{spent} of {budget} tokens"),
        Resource::Cost => format!(
            "{} of {}",
            cantus_proto::units::MicroUsd(spent),
            cantus_proto::units::MicroUsd(budget)
        ),
    };
    format!(
        "{what} are used: commit what there is and come to an end; at the limit you are stopped"
    )
}
