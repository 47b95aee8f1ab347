//! What each event means: the decisions. A stale or duplicate event decides nothing and says so.

use cantus_proto::ids::{AttemptNumber, ItemId, LeaseId, RunId};
use cantus_proto::message::{
    AttemptKind, ContainerExited, Evidence, Failed, LeaseEvent, LeaseReport, Leased, Report, Saved,
};

use crate::event::{Effect, Event, ItemIndex};
use crate::item::{Item, Landed, State};
use crate::record::{Ending, Fact, Holder, ItemFact};
use crate::results::commits;
use crate::{Core, Step};

/// Leases of one attempt, at most: a bus that redelivers without end must not keep it alive.
const LEASES_PER_ATTEMPT_MAX: usize = 5;
/// Saved artifacts kept on one item's record: each is one more attempt that no longer counts.
const SAVED_MAX: usize = 50;

impl Core {
    pub(crate) fn decide(&mut self, step: &mut Step, event: Event) {
        match event {
            Event::Submitted(submission) => {
                if self.runs.contains_key(&submission.run) {
                    step.refused.push(format!("run {} exists already", submission.run));
                } else {
                    let run = submission.run.clone();
                    self.commit(step, &run, Fact::Submitted(submission));
                }
            }
            Event::Reported(report) => match *report {
                Report::Lease(report) => self.reported(step, report),
                Report::ContainerExited(exited) => self.container_exited(step, &exited),
            },
            Event::Inspected(effect, inspection) => self.inspected(step, &effect, inspection),
            Event::Merged(effect, merge) => self.merged(step, &effect, merge),
            Event::LandingTried(effect, landing) => self.landing_tried(step, &effect, landing),
            Event::Found(run, item, landed) => self.found(step, &run, &item, landed),
            Event::EffectFailed(effect, reason) => self.effect_failed(step, &effect, reason),
            Event::Cancelled(run, None) => self.cancel_run(step, &run),
            Event::Cancelled(run, Some(item)) => self.cancel_item(step, &run, &item),
            Event::Requeued(run, item) => {
                let found = self.runs.get(&run).and_then(|r| Some((r, *r.by_id.get(&item)?)));
                match found.filter(|(run, place)| run.can_requeue(*place)).map(|(_, place)| place) {
                    Some(place) => self.commit_item(step, &run, place, ItemFact::Requeued),
                    None => step.refused.push(format!(
                        "item {item} of run {run} is not parked or cancelled with all its needs landed"
                    )),
                }
            }
            Event::Approved { run, item, by } => self.approve(step, &run, &item, by),
            Event::Rechecked { run, item, hypothesis } => {
                self.recheck(step, &run, &item, &hypothesis);
            }
            Event::Woken => self.expire(step),
        }
    }

    /// A journal that lost its end does not know of landings; the target does (case Q7).
    fn found(&mut self, step: &mut Step, run: &RunId, id: &ItemId, landed: Box<Landed>) {
        let place = self.runs.get(run).and_then(|run| run.by_id.get(id).copied());
        let Some(place) = place else {
            step.refused
                .push(format!("the target has item {id} of run {run}, which does not exist"));
            return;
        };
        let item = self.runs[run].item(place);
        if item.state.is_terminal() || matches!(item.state, State::Waiting(_)) {
            if !matches!(item.state, State::Landed(_)) {
                let state = item.state.name();
                step.refused
                    .push(format!("the target has item {id} of run {run}, which is {state}"));
            }
            return;
        }
        self.withdraw(step, run, place);
        self.close_account(step, run, place);
        self.commit_item(step, run, place, ItemFact::Recovered(landed));
    }

    fn cancel_run(&mut self, step: &mut Step, run: &RunId) {
        let open = self.open_items(run);
        if open.is_empty() {
            step.refused.push(format!("run {run} has nothing open to cancel"));
            return;
        }
        for place in &open {
            self.withdraw(step, run, *place);
            self.close_account(step, run, *place);
        }
        self.commit(step, run, Fact::RunCancelled);
    }

    fn cancel_item(&mut self, step: &mut Step, run: &RunId, id: &ItemId) {
        let found = self.runs.get(run).and_then(|r| Some((*r.by_id.get(id)?, r)));
        let Some((place, item)) = found.map(|(place, run)| (place, run.item(place))) else {
            step.refused.push(format!("there is no item {id} in a run {run} to cancel"));
            return;
        };
        let over = matches!(item.state, State::Landed(_) | State::Reported | State::Cancelled);
        if over || item.cancel_wanted {
            let state = item.state.name();
            step.refused.push(format!("item {id} of run {run} is {state} and not to be cancelled"));
            return;
        }
        self.withdraw(step, run, place);
        self.close_account(step, run, place);
        self.commit_item(step, run, place, ItemFact::Cancelled);
    }

    fn effect_failed(&mut self, step: &mut Step, effect: &Effect, reason: String) {
        let open =
            |state: &State| matches!(state, State::Gating | State::Merging | State::Landing(_));
        if !self.waits_for(step, effect, open) {
            return;
        }
        if self.runs[&effect.run].item(effect.item).cancel_wanted {
            self.commit_item(step, &effect.run, effect.item, ItemFact::Cancelled);
        } else {
            self.park(step, &effect.run, effect.item, reason);
        }
    }

    fn reported(&mut self, step: &mut Step, report: LeaseReport) {
        let found = self.runs.get(&report.run).and_then(|run| run.by_id.get(&report.item).copied());
        let Some(place) = found else {
            step.refused
                .push(format!("report about unknown item {} of run {}", report.item, report.run));
            return;
        };
        let LeaseReport { lease, run, attempt, body, kind, .. } = report;
        if let LeaseEvent::Leased(leased) = body {
            self.leased(step, &run, place, (attempt, kind), lease, leased);
            return;
        }
        if let LeaseEvent::Saved(saved) = body {
            self.saved(step, &run, place, (attempt, &lease), saved);
            return;
        }
        let holds = self.leases.get(&lease).is_some_and(|(r, p)| *r == run && *p == place)
            && self.runs[&run].item(place).last_number() == attempt;
        if !holds {
            let item = &self.runs[&run].item(place).id;
            step.refused
                .push(format!("lease {lease} does not hold attempt {attempt} of {item} in {run}"));
            self.keep_late(step, &run, place, (attempt, &lease), body);
            return;
        }
        if let LeaseEvent::Evidence(Evidence { log: Some(log), .. })
        | LeaseEvent::Failed(Failed { log: Some(log), .. }) = &body
            && self.runs[&run].item(place).attempts.last().is_some_and(|open| open.log.is_none())
        {
            self.commit_item(step, &run, place, ItemFact::Logged(attempt, log.clone()));
        }
        match body {
            LeaseEvent::Progress(_) => self.prolong(step.at, &run, place),
            LeaseEvent::Result(result) => self.delivered(step, &run, place, result),
            LeaseEvent::Evidence(evidence) => self.weigh(step, &run, place, evidence),
            LeaseEvent::Failed(failed) => self.failed(step, &run, place, failed),
            LeaseEvent::Leased(_) | LeaseEvent::Saved(_) => {}
        }
    }

    fn leased(
        &mut self,
        step: &mut Step,
        run: &RunId,
        place: ItemIndex,
        (number, kind): (AttemptNumber, AttemptKind),
        lease: LeaseId,
        leased: Leased,
    ) {
        let item = self.runs[run].item(place);
        let attempt =
            item.attempts.last().filter(|a| item.last_number() == number && a.kind == kind);
        let open = matches!(
            item.state,
            State::Queued | State::Working | State::VerifyQueued(_) | State::Verifying(_)
        );
        let Some(attempt) = attempt.filter(|_| open) else {
            let text = format!(
                "attempt {number} of {} in {run} is over; lease {lease} is refused",
                item.id
            );
            step.refused.push(text);
            return;
        };
        if attempt.was_held_by(&lease) {
            return;
        }
        if let Some(why) = self.unfit(item, kind, &lease, &leased) {
            step.refused
                .push(format!("lease {lease} of attempt {number} of {} in {run}: {why}", item.id));
            return;
        }
        if attempt.superseded.len() + 1 >= LEASES_PER_ATTEMPT_MAX {
            let reason = format!("leased {LEASES_PER_ATTEMPT_MAX} times without an end");
            self.lose(step, run, place, Ending::Lost, reason);
            return;
        }
        let holder = Holder { lease, leased };
        self.commit_item(step, run, place, ItemFact::Leased(number, Box::new(holder)));
    }

    /// Why this taker may not have the attempt, whatever the bus handed it.
    fn unfit(
        &self,
        item: &Item,
        kind: AttemptKind,
        lease: &LeaseId,
        taker: &Leased,
    ) -> Option<String> {
        let role = if kind == AttemptKind::Verify { &item.verifier } else { &item.role };
        if taker.role != *role {
            return Some(format!(
                "{} has role {}, the attempt is for {role}",
                taker.container, taker.role
            ));
        }
        if self.leases.contains_key(lease) {
            return Some("this lease holds another attempt".to_owned());
        }
        let producer = item.producer().filter(|_| kind == AttemptKind::Verify);
        producer
            .filter(|producer| producer.leased.container == taker.container)
            .map(|_| format!("{} produced the work and does not verify it", taker.container))
    }

    fn container_exited(&mut self, step: &mut Step, exited: &ContainerExited) {
        let memory = if exited.out_of_memory { ", out of memory" } else { "" };
        let reason =
            format!("container {} ended with code {}{memory}", exited.container, exited.exit_code);
        let held = self.containers.iter().filter(|(container, ..)| *container == exited.container);
        for (_, run, place) in held.cloned().collect::<Vec<_>>() {
            self.lose(step, &run, place, Ending::Lost, reason.clone());
        }
    }

    fn saved(
        &mut self,
        step: &mut Step,
        run: &RunId,
        place: ItemIndex,
        (number, lease): (AttemptNumber, &LeaseId),
        saved: Saved,
    ) {
        let item = self.runs[run].item(place);
        let Some(attempt) = item.attempt(number).filter(|attempt| attempt.was_held_by(lease))
        else {
            step.refused
                .push(format!("lease {lease} never held attempt {number} of {} in {run}", item.id));
            return;
        };
        let counts =
            attempt.result.as_deref().is_some_and(|result| result.head == saved.commits.head);
        let known = item.saved.iter().any(|s| s.number == number && s.commits == saved.commits);
        if counts || known || item.saved.len() >= SAVED_MAX {
            return;
        }
        let reason = crate::text::cut(saved.reason);
        self.commit_item(step, run, place, ItemFact::Saved(number, saved.commits, reason));
    }

    /// A result that comes too late does not count, but its work is kept.
    fn keep_late(
        &mut self,
        step: &mut Step,
        run: &RunId,
        place: ItemIndex,
        (number, lease): (AttemptNumber, &LeaseId),
        body: LeaseEvent,
    ) {
        let LeaseEvent::Result(result) = body else { return };
        if let Some(commits) = commits(&result) {
            let saved = Saved { commits, reason: "handed in after its lease was over".to_owned() };
            self.saved(step, run, place, (number, lease), saved);
        }
    }
}
