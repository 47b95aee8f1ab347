//! What goes wrong by itself, forgers, people who push, and people who steer.

use bytes::Bytes;
use cantus_core::event::Event;
use cantus_core::item::{Item, State};
use cantus_proto::ids::{ItemId, RunId};
use cantus_proto::message::{
    Attempt, AttemptKind, Evidence, Failed, FailureKind, LeaseEvent, Report,
};
use std::sync::Arc;

use crate::crew::{Holder, Mood, report};
use crate::fault::Fault;
use crate::git::Quality;
use crate::holders::key_kind;
use crate::words::{role, run_id};
use crate::world::{Task, World};

/// A coordinator, a run and an item of it; whether it is parked or cancelled.
type Found = (u64, String, ItemId, bool);

impl World {
    /// From time to time something breaks.
    pub(crate) fn disaster(&mut self) {
        if self.weather.is_calm() {
            return;
        }
        let wait = self.random.between(5_000, 60_000);
        self.later(wait, Task::Disaster);
        if self.random.chance(50) {
            self.bus.snapshot = Some(self.bus.store.clone());
        }
        let ids: Vec<u64> = self.coordinators.keys().copied().collect();
        if self.strikes(Fault::KilledIdle)
            && let Some(id) = self.random.pick(&ids).copied()
        {
            self.kill(id);
        }
        if ids.len() == 1 && self.strikes(Fault::SecondCoordinator) {
            self.later(1, Task::Start { beside: true });
        }
        if self.bus.away_until.is_none() {
            if self.strikes(Fault::BusAway) {
                let away = self.random.between(1_000, 50_000);
                self.bus_away(away);
            } else if self.strikes(Fault::BusAwayLong) {
                let away = self.random.between(60_000, 600_000);
                self.bus_away(away);
            }
        }
        if self.strikes(Fault::QueueForgets) {
            let some = self.random.place(4);
            self.bus.forget(some);
            self.pull_soon();
        }
        if let Some(old) = self.bus.snapshot.clone()
            && self.strikes(Fault::BusRestored)
        {
            self.bus.store = old;
            self.coordinators.clear();
            self.ledger.restored(&self.bus.store.journal);
            self.later(1_000, Task::Start { beside: false });
            self.pull_soon();
        }
        if self.strikes(Fault::HostDied) {
            self.host_dies();
        }
        if self.strikes(Fault::RoleMissing) {
            let missing = role(["worker", "specialist", "verifier"][self.random.place(3)]);
            let wait = self.random.below(600_000);
            self.later(wait, Task::RoleBack(missing.clone()));
            self.crew.missing.push(missing);
        }
    }

    fn bus_away(&mut self, away: u64) {
        self.bus.away_until = Some(self.now.plus(away));
        self.later(away, Task::BusBack);
    }

    fn host_dies(&mut self) {
        let host = self.random.place(self.crew.hosts.len());
        self.crew.hosts[host].up = false;
        let gone = |(id, holder): (&u64, &Holder)| (holder.host == host).then_some(*id);
        for id in self.crew.holders.iter().filter_map(gone).collect::<Vec<_>>() {
            let Some(holder) = self.crew.holders.remove(&id) else { continue };
            if key_kind(&holder) != AttemptKind::Verify {
                let commits = self.commits(&holder, Quality::Good);
                let reason = "its host went down".to_owned();
                let saved = LeaseEvent::Saved(cantus_proto::message::Saved { commits, reason });
                let saved = holder.report(saved);
                self.crew.salvage.push((host, holder.role, saved));
            }
        }
        let wait = self.random.between(5_000, 120_000);
        self.later(wait, Task::HostBack(host));
    }

    /// What lies in workspaces is saved before anything else.
    pub(crate) fn host_back(&mut self, host: usize) {
        self.crew.hosts[host].up = true;
        let salvage = std::mem::take(&mut self.crew.salvage);
        let (here, elsewhere) = salvage.into_iter().partition(|(on, ..)| *on == host);
        self.crew.salvage = elsewhere;
        let here: Vec<(usize, _, Report)> = here;
        for (_, role, report) in here {
            self.send(&role, &report);
        }
        self.pull_soon();
    }

    /// Somebody lies about what is not theirs.
    pub(crate) fn rogue(&mut self) {
        if self.weather.is_calm() {
            return;
        }
        let wait = self.random.between(5_000, 60_000);
        self.later(wait, Task::Rogue);
        let roles = [role("worker"), role("verifier"), role("specialist")];
        let subject = roles[self.random.place(3)].clone();
        if self.strikes(Fault::Nonsense) {
            let bytes: Vec<u8> = (0..self.random.below(40)).map(|b| (b * 37 % 251) as u8).collect();
            self.store(subject.clone(), Bytes::from(bytes));
        }
        if self.strikes(Fault::WorkAckForged) {
            let place = self.random.place(50);
            if let Some(key) = self.bus.any_work(place) {
                self.bus.acknowledge(&key);
            }
        }
        let holders: Vec<Holder> = self.crew.holders.values().cloned().collect();
        let Some(holder) = self.random.pick(&holders).cloned() else { return };
        let (_, lease, container) = self.crew.draw();
        if self.strikes(Fault::LeaseForged) {
            let mut forger = Holder { lease: lease.clone(), container, ..holder.clone() };
            forger.role =
                if self.random.chance(50) { holder.role.clone() } else { subject.clone() };
            let mut attempt: Attempt = (*holder.attempt).clone();
            attempt.number.0 += self.random.small(0, 1);
            forger.attempt = Arc::new(attempt);
            forger.mood = Mood::Dies(false);
            // Now and then a whole crowd of them.
            for _ in 0..self.random.between(1, 6) {
                let (_, lease, container) = self.crew.draw();
                (forger.lease, forger.container) = (lease, container);
                let body = forger.leased(&self.crew.hosts[holder.host]);
                let forged = forger.report(body);
                self.send(&forger.role, &forged);
            }
        }
        if self.strikes(Fault::ReportForged) {
            let body = match self.random.below(4) {
                0 => LeaseEvent::Result(
                    self.result(&Holder { lease: lease.clone(), ..holder.clone() }),
                ),
                1 => LeaseEvent::Failed(Failed::new(FailureKind::Agent, "forged")),
                2 => LeaseEvent::Evidence(Evidence {
                    tree: crate::words::tree("forged"),
                    envelopes: self.crew.old_evidence.clone(),
                    log: None,
                    inconclusive: None,
                    learnings: vec![],
                }),
                _ => LeaseEvent::Progress("forged".to_owned()),
            };
            let forged = report(&holder.attempt, &lease, body);
            self.send(&subject, &forged);
        }
    }

    /// Somebody else moves a target.
    pub(crate) fn push(&mut self) {
        if self.weather.is_calm() {
            return;
        }
        let wait = self.random.between(5_000, 90_000);
        self.later(wait, Task::Push);
        let repositories: Vec<_> =
            self.runs.iter().filter_map(|run| Some(run.repository.as_ref()?.id.clone())).collect();
        let Some(repository) = self.random.pick(&repositories).cloned() else { return };
        if self.strikes(Fault::HeadMoved) {
            self.git.push(&repository, true);
        }
        if self.strikes(Fault::HeadMovedEmpty) {
            self.git.push(&repository, false);
        }
    }

    /// People at work: they cancel, put back, and submit again what they think was lost.
    pub(crate) fn people(&mut self) {
        if self.weather.is_calm() {
            return;
        }
        let wait = self.random.between(5_000, 60_000);
        self.later(wait, Task::People);
        for place in 0..self.runs.len() {
            let known = self.ledger.knows(&self.runs[place].run);
            if !known && self.now.0 > crate::plans::START.0 + 60_000 {
                self.submit(place);
            }
        }
        let Some((id, run, item, parked)) = self.some_item() else { return };
        let name = run_id(&run);
        if self.strikes(Fault::RunCancelled) {
            self.tell(id, Arc::new(Event::Cancelled(name, None)));
        } else if self.strikes(Fault::ItemCancelled) {
            self.tell(id, Arc::new(Event::Cancelled(name, Some(item))));
        } else if parked && self.strikes(Fault::ItemRequeued) {
            self.tell(id, Arc::new(Event::Requeued(name, item)));
        }
        self.people_judge(id);
        if self.strikes(Fault::SubmittedTwice) {
            let place = self.random.place(self.runs.len());
            self.submit(place);
        }
    }

    /// People let results through that the gates kept out, and have undecided ones checked again.
    fn people_judge(&mut self, id: u64) {
        let Some(coordinator) = self.coordinators.get(&id) else { return };
        let runs = coordinator.core.runs().values();
        let items: Vec<_> = runs.flat_map(|r| r.items.iter().map(|i| (r.id.clone(), i))).collect();
        let named = |test: fn(&Item) -> bool| -> Vec<(RunId, ItemId)> {
            let fit = items.iter().filter(|(_, item)| test(item));
            fit.map(|(run, item)| (run.clone(), item.id.clone())).collect()
        };
        let kept_out = named(|item| item.kept_out().is_some());
        let undecided =
            named(|item| matches!(item.state, State::Parked(_)) && item.ended_undecided());
        if let Some((run, item)) = self.random.pick(&kept_out).cloned()
            && self.strikes(Fault::ResultApproved)
        {
            let by = "somebody".to_owned();
            self.tell(id, Arc::new(Event::Approved { run, item, by }));
        }
        if let Some((run, item)) = self.random.pick(&undecided).cloned()
            && self.strikes(Fault::CheckedAgain)
        {
            let hypothesis = format!("whether it is the time of day: {}", self.now.0);
            self.tell(id, Arc::new(Event::Rechecked { run, item, hypothesis }));
        }
    }

    /// Some coordinator, and an item that it knows; one that is parked or cancelled rather than others.
    fn some_item(&mut self) -> Option<Found> {
        let ids: Vec<u64> = self.coordinators.keys().copied().collect();
        let id = *self.random.pick(&ids)?;
        let over = |state: &State| matches!(state, State::Parked(_) | State::Cancelled);
        let of_run = |run: &cantus_core::run::Run| -> Vec<_> {
            let name = run.id.to_string();
            run.items.iter().map(|i| (id, name.clone(), i.id.clone(), over(&i.state))).collect()
        };
        let items: Vec<_> =
            self.coordinators.get(&id)?.core.runs().values().flat_map(of_run).collect();
        let stopped: Vec<_> = items.iter().filter(|(.., parked)| *parked).cloned().collect();
        let landing: Vec<_> = runs_landing(&self.coordinators[&id].core, &items);
        if self.random.chance(30) && !landing.is_empty() {
            return self.random.pick(&landing).cloned();
        }
        let from = if self.random.chance(50) && !stopped.is_empty() { stopped } else { items };
        self.random.pick(&from).cloned()
    }

    pub(crate) fn submit(&mut self, place: usize) {
        let ids: Vec<u64> = self.coordinators.keys().copied().collect();
        match self.random.pick(&ids).copied() {
            Some(id) => {
                let submission = Box::new(self.runs[place].clone());
                self.tell(id, Arc::new(Event::Submitted(submission)));
            }
            None => self.later(3_000, Task::Submit(place)),
        }
    }
}

/// Of these items, those that land right now: a cancel comes at the worst moment.
fn runs_landing(core: &cantus_core::Core, items: &[Found]) -> Vec<Found> {
    let lands = |(_, run, item, _): &&Found| {
        let run = core.runs().get(&run_id(run));
        let item = run.and_then(|run| Some(run.item(*run.by_id.get(item)?)));
        item.is_some_and(|item| matches!(item.state, State::Landing(_)))
    };
    items.iter().filter(lands).cloned().collect()
}
