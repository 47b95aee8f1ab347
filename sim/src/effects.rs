//! What a coordinator's actions do: attempts go to the queue, the hub inspects, merges and lands.

use std::sync::Arc;

use cantus_core::event::{Action, Effect, Event};
use cantus_proto::message::Attempt;

use crate::fault::Fault;
use crate::world::{Task, World};

impl World {
    /// Starts an action. Everything but a publish runs beside the loop.
    pub(crate) fn begin_action(&mut self, id: u64, action: Action) {
        match action {
            Action::Publish(attempt) => self.publish(id, Arc::from(attempt)),
            Action::Withdraw { run, item, number, .. } => {
                let wait = self.random.below(300);
                self.later(wait, Task::Withdraw((run, item, number)));
            }
            Action::Park(record) => self.check_parked(&record),
            effect => {
                let mut wait = self.random.between(5, 3_000);
                if self.strikes(Fault::EffectSlow) {
                    wait += self.random.below(180_000);
                }
                self.disturb(id, &effect);
                self.later(wait, Task::Act(id, Box::new(effect)));
            }
        }
    }

    /// While an effect is under way an old answer about the same item comes, or a person cancels what lands.
    fn disturb(&mut self, id: u64, action: &Action) {
        let Some(effect) = effect_of(action) else { return };
        let old = self.answers.get(&(effect.run.clone(), effect.item)).cloned().unwrap_or_default();
        if let Some(old) = self.random.pick(&old).cloned()
            && self.strikes(Fault::AnsweredTwice)
        {
            self.later(1, Task::Answer(id, old));
        }
        if let Action::Land(land) = action
            && self.strikes(Fault::CancelledWhileLanding)
        {
            let event = Event::Cancelled(effect.run.clone(), Some(land.item.clone()));
            self.later(1, Task::Answer(id, Arc::new(event)));
            if self.random.chance(50) {
                self.git.push(&land.repository.id, true);
            }
        }
    }

    /// Publishes until the queue has it.
    pub(crate) fn publish(&mut self, id: u64, attempt: Arc<Attempt>) {
        if !self.coordinators.contains_key(&id) {
            return;
        }
        if self.bus.away_until.is_some() || self.strikes(Fault::PublishLost) {
            let back = self.bus.away_until.map_or(0, |back| back.0.saturating_sub(self.now.0));
            let wait = back + self.random.between(500, 1_500);
            self.later(wait, Task::Publish(id, attempt));
            return;
        }
        self.bus.enqueue(self.now, &attempt);
        let wait = self.random.between(1, 300);
        self.later(wait, Task::Pull(attempt.role.clone()));
        if self.strikes(Fault::PublishAckLost) {
            self.later(1_000, Task::Publish(id, attempt));
        }
    }

    /// The hub does what it was asked for; it may do so although nobody waits for the answer any more.
    pub(crate) fn act(&mut self, id: u64, action: &Action) {
        let asked = self.coordinators.contains_key(&id);
        if !asked {
            if self.random.chance(50) {
                self.weather.count(Fault::AnswerLost);
                let _ = self.carry_out(action);
            }
            return;
        }
        let failing = !matches!(action, Action::Land(_)) || self.random.chance(50);
        if failing && self.strikes(Fault::EffectFailed) {
            if self.random.chance(50) {
                // It did more than it said.
                let _ = self.carry_out(action);
            }
            let (why, bell) = ("no space left on device", '\u{7}');
            if let Some(effect) = effect_of(action) {
                let event = Event::EffectFailed(effect.clone(), format!("{why}{bell}"));
                return self.tell(id, Arc::new(event));
            }
        }
        let Some(event) = self.carry_out(action).map(Arc::new) else { return };
        if let Some(effect) = effect_of(action) {
            let known = self.answers.entry((effect.run.clone(), effect.item)).or_default();
            known.push(Arc::clone(&event));
        }
        if self.strikes(Fault::AnsweredTwice) {
            for most in [5_000, 30_000, 120_000] {
                let wait = self.random.below(most);
                self.later(wait, Task::Answer(id, Arc::clone(&event)));
            }
        }
        let wait = self.random.below(20);
        self.later(wait, Task::Answer(id, event));
    }

    fn carry_out(&mut self, action: &Action) -> Option<Event> {
        match action {
            Action::Inspect(inspect) => Some(self.git.inspect(inspect)),
            Action::Merge(merge) => Some(self.git.merge(merge)),
            Action::Land(land) => {
                self.check_landing(land);
                Some(self.git.land(land))
            }
            Action::Publish(_) | Action::Withdraw { .. } | Action::Park(_) => None,
        }
    }
}

fn effect_of(action: &Action) -> Option<&Effect> {
    match action {
        Action::Inspect(inspect) => Some(&inspect.effect),
        Action::Merge(merge) => Some(&merge.effect),
        Action::Land(land) => Some(&land.effect),
        Action::Publish(_) | Action::Withdraw { .. } | Action::Park(_) => None,
    }
}
