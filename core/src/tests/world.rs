//! A core, the time, and words for what happens around it: the one helper of these tests.

use cantus_proto::contract::Criterion;
use cantus_proto::evidence::receipt::{checker_argv, checker_digest};
use cantus_proto::evidence::{Binding, Ending, Receipt, Subject, attest};
use cantus_proto::ids::{AttemptNumber, ContainerName, HostName, LeaseId};
use cantus_proto::message::{
    Attempt, Candidate, Envelope, Evidence, Heartbeat, HeartbeatReply, Isolation, LeaseEvent,
    LeaseReport, Leased, Pulse, Report, Work,
};
use cantus_proto::plan::Plan;

use super::super::event::{
    Action, Effect, Event, Inspection, ItemIndex, LandingTry, Merge, Millis, ParkedRecord,
};
use super::super::item::{Attempt as Tried, Item};
use super::super::record::Record;
use super::super::run::{Run, RunState};
use super::super::scope_delta::{FileChange, findings};
use super::super::{Core, Settings, Step};
pub(super) use super::words::*;

/// An attempt in somebody's hands.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) attempt: Attempt,
    pub(super) lease: LeaseId,
    pub(super) container: ContainerName,
}

impl Held {
    /// What this holder says.
    pub(super) fn report(&self, body: LeaseEvent) -> Event {
        Event::Reported(Box::new(Report::Lease(LeaseReport {
            lease: self.lease.clone(),
            run: self.attempt.run.clone(),
            item: self.attempt.item.clone(),
            attempt: self.attempt.number,
            kind: self.attempt.work.kind(),
            body,
        })))
    }

    pub(super) fn leased(&self) -> Event {
        self.report(LeaseEvent::Leased(Leased {
            role: self.attempt.role.clone(),
            host: HostName::new("host").unwrap(),
            container: self.container.clone(),
            isolation: Isolation::Container,
            base: Some(commit("start")),
            image: "image".to_owned(),
        }))
    }

    pub(super) fn beat(&self) -> Heartbeat {
        Heartbeat {
            lease: self.lease.clone(),
            run: self.attempt.run.clone(),
            item: self.attempt.item.clone(),
            attempt: self.attempt.number,
            note: String::new(),
            pulse: None,
        }
    }

    /// The candidate of a verification.
    pub(super) fn candidate(&self) -> &Candidate {
        let Work::Verify(verification) = &self.attempt.work else { panic!("no verification") };
        &verification.candidate
    }

    /// What a run of the checkers on this candidate shows.
    pub(super) fn receipts(&self, candidate: &Candidate, ending: Ending) -> Vec<Receipt> {
        let criteria = self.attempt.contract.acceptance_criteria.iter();
        let receipt = |criterion: &Criterion| Receipt {
            subject: Subject {
                tree: candidate.tree.clone(),
                listing: candidate.listing_sha256.clone(),
            },
            binding: Binding {
                run: self.attempt.run.clone(),
                item: self.attempt.item.clone(),
                attempt: self.attempt.number,
                criterion: criterion.id.clone(),
                checker: checker_digest(criterion),
                isolation: Isolation::Container,
            },
            argv: checker_argv(&criterion.checker),
            ending,
            stdout: digest("output"),
            stderr: digest(""),
            output_truncated: false,
            duration_ms: 10,
            image: "image".to_owned(),
            host: "host".to_owned(),
            counts: None,
            changed_files: vec![],
        };
        criteria.map(receipt).collect()
    }

    /// Signed evidence from these receipts.
    pub(super) fn evidence(&self, receipts: &[Receipt]) -> Evidence {
        let sign = |receipt: &Receipt| attest(receipt, &verifier_key());
        let signed: Result<Vec<Envelope>, String> = receipts.iter().map(sign).collect();
        let (envelopes, inconclusive) = match signed {
            Ok(envelopes) => (envelopes, None),
            Err(why) => (vec![], Some(why)),
        };
        Evidence {
            tree: self.candidate().tree.clone(),
            envelopes,
            log: None,
            inconclusive,
            learnings: vec![],
        }
    }

    /// Evidence for its own candidate whose checkers ended like this.
    pub(super) fn checked(&self, ending: Ending) -> Evidence {
        self.evidence(&self.receipts(self.candidate(), ending))
    }
}

/// See the module. Everything that happened stays to be looked at.
#[derive(Debug)]
pub(super) struct World {
    pub(super) core: Core,
    pub(super) now: Millis,
    pub(super) events: Vec<(Millis, Event)>,
    pub(super) journal: Vec<Record>,
    pub(super) actions: Vec<Action>,
    pub(super) refused: Vec<String>,
    drawn: u64,
}

impl World {
    /// One run, called `run`, of this plan.
    pub(super) fn of(line: &str) -> Self {
        Self::with(settings(), plan(line))
    }

    pub(super) fn with(settings: Settings, plan: Plan) -> Self {
        let mut world = Self::empty(settings);
        world.step(submission("run", plan));
        world
    }

    pub(super) fn empty(settings: Settings) -> Self {
        Self {
            core: Core::new(settings),
            now: START,
            events: vec![],
            journal: vec![],
            actions: vec![],
            refused: vec![],
            drawn: 0,
        }
    }

    /// One event; answers with how many records it made.
    pub(super) fn step(&mut self, event: Event) -> usize {
        self.events.push((self.now, event.clone()));
        let step = self.core.step(self.now, event);
        self.keep(step)
    }

    fn keep(&mut self, step: Step) -> usize {
        assert_eq!(self.core.check(), Vec::<String>::new());
        let records = step.records.len();
        self.journal.extend(step.records);
        self.actions.extend(step.actions);
        self.refused.extend(step.refused);
        records
    }

    /// Time passes; the core is woken whenever it wants to be.
    pub(super) fn advance(&mut self, milliseconds: u64) {
        let end = self.now.plus(milliseconds);
        while let Some(at) = self.core.wake_at().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.step(Event::Woken);
        }
        self.now = end;
    }

    /// The coordinator dies and comes back: all that it knows is the journal.
    pub(super) fn restart(&mut self) {
        let mut core = Core::new(self.core.settings().clone());
        for record in &self.journal {
            core.apply(record).unwrap();
        }
        self.core = core;
        self.actions.clear();
        let step = self.core.resume(self.now);
        self.keep(step);
    }

    pub(super) fn run(&self) -> &Run {
        &self.core.runs()[&run_id("run")]
    }

    pub(super) fn run_state(&self) -> RunState {
        self.run().state()
    }

    pub(super) fn place(&self, id: &str) -> ItemIndex {
        self.run().by_id[&item_id(id)]
    }

    pub(super) fn item(&self, id: &str) -> &Item {
        self.run().item(self.place(id))
    }

    /// The variant of the item's state.
    pub(super) fn state(&self, id: &str) -> String {
        let state = format!("{:?}", self.item(id).state);
        state.split(['(', ' ']).next().unwrap().to_owned()
    }

    /// How each attempt of the item ended.
    pub(super) fn outcomes(&self, id: &str) -> Vec<String> {
        let outcome = |attempt: &Tried| {
            attempt.outcome.as_ref().map_or("open".to_owned(), ToString::to_string)
        };
        self.item(id).attempts.iter().map(outcome).collect()
    }

    /// All attempts of the item that went to the bus.
    pub(super) fn published(&self, id: &str) -> Vec<&Attempt> {
        let attempts = self.actions.iter().filter_map(|action| match action {
            Action::Publish(attempt) if attempt.item == item_id(id) => Some(&**attempt),
            _ => None,
        });
        attempts.collect()
    }

    /// Ids in the order in which their attempts went to the bus.
    pub(super) fn order(&self) -> Vec<String> {
        let ids = self.actions.iter().filter_map(|action| match action {
            Action::Publish(attempt) => Some(attempt.item.to_string()),
            _ => None,
        });
        ids.collect()
    }

    pub(super) fn parked(&self) -> Vec<&ParkedRecord> {
        let parked = self.actions.iter().filter_map(|action| match action {
            Action::Park(record) => Some(&**record),
            _ => None,
        });
        parked.collect()
    }

    /// Somebody pulls the newest attempt of the item off the bus, but says nothing yet.
    pub(super) fn pull(&mut self, id: &str) -> Held {
        let attempt = (*self.published(id).last().expect("published")).clone();
        self.drawn += 1;
        let container = container(&format!("{}-{}", attempt.role, self.drawn));
        Held { attempt, lease: lease_id(self.drawn), container }
    }

    /// Somebody leases the newest attempt of the item.
    pub(super) fn take(&mut self, id: &str) -> Held {
        let held = self.pull(id);
        self.step(held.leased());
        held
    }

    pub(super) fn say(&mut self, held: &Held, body: LeaseEvent) -> usize {
        self.step(held.report(body))
    }

    pub(super) fn beat(&mut self, held: &Held) -> HeartbeatReply {
        let (reply, step) = self.core.heartbeat(self.now, &held.beat());
        self.keep(step);
        reply
    }

    /// A sign of life that tells what there is of the work.
    pub(super) fn beat_with(&mut self, held: &Held, pulse: Pulse) -> HeartbeatReply {
        let beat = Heartbeat { pulse: Some(pulse), ..held.beat() };
        let (reply, step) = self.core.heartbeat(self.now, &beat);
        self.keep(step);
        reply
    }

    /// The effect that the item's present work is under.
    pub(super) fn effect(&self, id: &str) -> Effect {
        let work = self.item(id).work().map_or(AttemptNumber(0), |(number, _)| number);
        Effect { run: run_id("run"), item: self.place(id), work }
    }

    pub(super) fn inspect(&mut self, id: &str, paths: &[&str]) -> usize {
        let changes: Vec<FileChange> = paths.iter().map(|path| added(path)).collect();
        let item = self.item(id);
        let found = findings(&item.contract, item.complexity, &changes);
        self.step(Event::Inspected(self.effect(id), Inspection::Read(found)))
    }

    /// The item's work gives this tree on this head.
    pub(super) fn merge(&mut self, id: &str, tree_word: &str, onto: &str) -> usize {
        let merge = Merge::Clean(candidate(tree_word, onto));
        self.step(Event::Merged(self.effect(id), merge))
    }

    pub(super) fn conflict(&mut self, id: &str, onto: &str, paths: &[&str]) -> usize {
        let paths = paths.iter().map(|path| path.as_bytes().to_vec()).collect();
        let merge = Merge::Conflict { onto: commit(onto), paths };
        self.step(Event::Merged(self.effect(id), merge))
    }

    pub(super) fn land(&mut self, id: &str) -> usize {
        let (commit, evidence) = (commit(&format!("landed {id}")), digest(id));
        let landing = LandingTry::Landed { commit, evidence };
        self.step(Event::LandingTried(self.effect(id), landing))
    }

    pub(super) fn moved(&mut self, id: &str, head: &str) -> usize {
        let landing = LandingTry::Moved { head: commit(head) };
        self.step(Event::LandingTried(self.effect(id), landing))
    }

    /// A worker does the item, and the gates let it through.
    pub(super) fn produce(&mut self, id: &str) -> Held {
        let held = self.take(id);
        let result = work(&format!("{id} {}", held.attempt.number));
        self.say(&held, LeaseEvent::Result(result));
        self.inspect(id, &["src/file"]);
        held
    }

    /// The same, up to a candidate that waits for its verifier.
    pub(super) fn offer(&mut self, id: &str) {
        self.produce(id);
        self.merge(id, id, "start");
    }

    /// A verifier takes the item's candidate; its checkers end like this.
    pub(super) fn verify(&mut self, id: &str, ending: Ending) -> Held {
        let held = self.take(id);
        self.say(&held, LeaseEvent::Evidence(held.checked(ending)));
        held
    }

    /// From ready to landed.
    pub(super) fn complete(&mut self, id: &str) {
        self.offer(id);
        self.verify(id, Ending::Exit(0));
        self.land(id);
        assert_eq!(self.state(id), "Landed");
    }

    /// Fails the item until it is parked.
    pub(super) fn exhaust(&mut self, id: &str) {
        while self.state(id) != "Parked" {
            let held = self.take(id);
            self.say(&held, failed("it does not compile"));
        }
    }

    pub(super) fn cancel(&mut self, id: &str) {
        self.step(Event::Cancelled(run_id("run"), Some(item_id(id))));
    }

    pub(super) fn requeue(&mut self, id: &str) {
        self.step(Event::Requeued(run_id("run"), item_id(id)));
    }

    /// All states, as `a Landed, b Blocked`.
    pub(super) fn states(&self) -> String {
        let ids = self.run().items.iter().map(|item| item.id.to_string());
        ids.map(|id| format!("{id} {}", self.state(&id))).collect::<Vec<_>>().join(", ")
    }
}
