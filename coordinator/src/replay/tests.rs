//! Replays of a run that the pure core lived through, beside another run.

use cantus_core::event::{Event, ItemIndex, Submission};
use cantus_core::journal;
use cantus_core::record::{Fact, ItemFact};
use cantus_proto::ids::{
    AttemptNumber, Blob, ContainerName, Digest, HostName, ItemId, LeaseId, RoleName,
};
use cantus_proto::message::{
    AttemptKind, Failed, FailureKind, Isolation, LeaseEvent, LeaseReport, Leased, Report,
};
use cantus_proto::plan::compile::compile;
use cantus_proto::wire::v1::JournalEntry;

use super::*;
use crate::view;

/// When the first message was decided; each next one is a minute later.
pub(crate) const BEGAN: Millis = Millis(1_796_062_283_000);
const MINUTE_MS: u64 = 60_000;

const PLAN: &str = "version: 1
defaults: {budgets: {wall_clock_minutes: 5, token_budget: 1000}}
items:
  - id: base
    complexity: S
    attempts_max: 2
    contract: &c
      goal: Write a file
      deliverables: [a file]
      acceptance_criteria: [{id: AC-01, statement: it is there, checker: test -d out}]
      allowed_scope: {paths: [out/]}
  - {id: next, complexity: S, needs: [base], contract: *c}
";

/// A coordinator without a bus: what it decides is kept as the journal's messages.
pub(crate) struct Past {
    pub(crate) core: Core,
    pub(crate) entries: Vec<JournalEntry>,
    pub(crate) plan: Vec<u8>,
    now: Millis,
    sequence: u64,
    position: u64,
}

impl Past {
    /// What the coordinator knew of all runs after this message.
    pub(crate) fn core_after(&self, sequence: u64) -> Core {
        let plan = plan::decode(&self.plan).unwrap();
        let mut core = Core::new(settings());
        for entry in self.entries.iter().filter(|entry| entry.sequence <= sequence) {
            for record in wire::decode(&entry.batch).unwrap().records(Some(&plan)).unwrap() {
                core.apply(&record).unwrap();
            }
        }
        core
    }

    fn tell(&mut self, event: Event) {
        let step = self.core.step(self.now, event);
        assert_eq!(step.refused, Vec::<String>::new());
        for records in step.records.chunk_by(|a, b| a.run == b.run) {
            self.sequence += 1;
            let batch = journal::wire::encode(&records[0].run, self.now, records, None);
            self.entries.push(JournalEntry {
                sequence: self.sequence,
                position: self.position + 1,
                batch: batch.to_vec(),
                journal_end: 0,
            });
            self.position += records.len() as u64;
        }
        self.now = self.now.plus(MINUTE_MS);
    }

    fn submit(&mut self, run: &str) {
        let plan = compile("plan.yaml", PLAN);
        let plan = Arc::new(plan.plan.unwrap_or_else(|| panic!("{:#?}", plan.diagnostics)));
        self.plan = plan::encode(&plan).to_vec();
        let plan_blob = Blob { sha256: Digest::of(&self.plan), size_bytes: self.plan.len() as u64 };
        let run = RunId::new(run).unwrap();
        let submission =
            Submission { run, plan, plan_blob, repository: None, notice: String::new() };
        self.tell(Event::Submitted(Box::new(submission)));
    }

    fn say(&mut self, run: &str, number: u32, body: LeaseEvent) {
        let lease =
            LeaseId::new(&Digest::of(format!("{run} {number}").as_bytes()).as_str()[..32]).unwrap();
        let report = LeaseReport {
            lease,
            run: RunId::new(run).unwrap(),
            item: ItemId::new("base").unwrap(),
            attempt: AttemptNumber(number),
            kind: AttemptKind::Produce,
            body,
        };
        self.tell(Event::Reported(Box::new(Report::Lease(report))));
    }

    fn lease(&mut self, run: &str, number: u32) {
        let leased = Leased {
            role: RoleName::new("worker").unwrap(),
            host: HostName::new("alpha").unwrap(),
            container: ContainerName::new("worker-1").unwrap(),
            isolation: Isolation::Container,
            base: None,
            image: String::new(),
        };
        self.say(run, number, LeaseEvent::Leased(leased));
    }
}

/// Two runs at once; of `nightly`, the first item fails twice and is parked.
pub(crate) fn past() -> Past {
    let settings = Settings {
        queue_window: 32,
        verify_ahead: 2,
        checks_max: 2,
        artifact_bytes_max: 1 << 20,
        files_max: 100,
        ..settings()
    };
    let mut past = Past {
        core: Core::new(settings),
        entries: Vec::new(),
        plan: Vec::new(),
        now: BEGAN,
        sequence: 0,
        position: 0,
    };
    past.submit("other");
    past.submit("nightly");
    past.lease("other", 1);
    for number in 1..=2 {
        past.lease("nightly", number);
        let failed = Failed::new(FailureKind::Agent, format!("no luck, number {number}"));
        past.say("nightly", number, LeaseEvent::Failed(failed));
    }
    let end = past.sequence;
    for entry in &mut past.entries {
        entry.journal_end = end;
    }
    past
}

/// The messages of one run.
pub(crate) fn entries_of(past: &Past, run: &str) -> Vec<JournalEntry> {
    let of = |entry: &&JournalEntry| wire::decode(&entry.batch).unwrap().run.as_str() == run;
    past.entries.iter().filter(of).cloned().collect()
}

pub(crate) fn history(past: &Past, run: &str) -> History {
    let plan = plan::decode(&past.plan).unwrap();
    let mut history = History::new(RunId::new(run).unwrap());
    for entry in entries_of(past, run) {
        history.add(&entry, Some(&plan)).unwrap();
    }
    history
}

fn views(core: &Core, run: &str) -> (v1::RunView, Vec<v1::ItemView>) {
    let run = view::find_run(core, run).unwrap();
    let items = (0..run.items.len()).map(|place| ItemIndex(u32::try_from(place).unwrap()));
    (view::run(run), items.map(|place| view::item(run, place)).collect())
}

#[test]
fn a_replay_gives_the_state_that_was() {
    let past = past();
    for run in ["nightly", "other"] {
        let core = history(&past, run).core_at(Until::End).unwrap();
        let id = RunId::new(run).unwrap();
        assert_eq!(core.runs()[&id].items.len(), 2);
        assert_eq!(views(&core, run), views(&past.core, run));
        assert_eq!(core.runs().len(), 1, "of others it knows nothing");
    }
    // The token of a lease is its record's place among all runs' records.
    let nightly = history(&past, "nightly");
    let leased =
        |(_, record): &&(u64, Record)| matches!(&record.fact, Fact::Item(_, ItemFact::Leased(..)));
    let positions: Vec<u64> = nightly.records().iter().filter(leased).map(|(at, _)| *at).collect();
    assert_eq!(positions, [6, 10]);
    let tokens = views(&past.core, "nightly").1.remove(0).attempts.into_iter().map(|a| a.token);
    assert_eq!(tokens.collect::<Vec<_>>(), positions);
}

#[test]
fn every_point_is_there_and_those_beside_are_told() {
    let history = history(&past(), "nightly");
    let sequences: Vec<u64> = history.moments().iter().map(|m| m.sequence).collect();
    assert_eq!(sequences, [2, 4, 5, 6, 7]);
    let state = |until| {
        let core = history.core_at(until).unwrap();
        let item = &core.runs()[history.run()].items[0];
        format!("{} {}", item.state.name(), item.attempts.len())
    };
    assert_eq!(state(Until::Sequence(2)), "queued 1");
    assert_eq!(state(Until::Sequence(3)), "queued 1", "what is of another run changes nothing");
    assert_eq!(state(Until::Sequence(4)), "working 1");
    assert_eq!(state(Until::Sequence(5)), "queued 2");
    assert_eq!(state(Until::Sequence(7)), "parked 2");
    assert_eq!(state(Until::End), "parked 2");
    let began = BEGAN.plus(MINUTE_MS);
    assert_eq!(state(Until::Time(began)), "queued 1");
    assert_eq!(state(Until::Time(began.plus(2 * MINUTE_MS - 1))), "queued 1");
    assert_eq!(state(Until::Time(began.plus(2 * MINUTE_MS))), "working 1");
    assert_eq!(state(Until::Time(Millis(u64::MAX))), "parked 2");
    let told = |until| history.core_at(until).unwrap_err().to_string();
    let before = "run nightly was not there yet: it began with sequence 2, at 2026-11-30T18:12:23Z \
                  (its points: cantus replay nightly --list)";
    assert_eq!(told(Until::Sequence(1)), before);
    assert_eq!(told(Until::Sequence(0)), before);
    assert_eq!(told(Until::Time(Millis(began.0 - 1))), before);
    assert_eq!(told(Until::Sequence(8)), "the journal ends with sequence 7: 8 is still to come");
}

#[test]
fn what_does_not_follow_is_refused() {
    let past = past();
    let plan = plan::decode(&past.plan).unwrap();
    let entries = entries_of(&past, "nightly");
    let mut history = History::new(RunId::new("nightly").unwrap());
    history.add(&entries[0], Some(&plan)).unwrap();
    let strange = |history: &mut History, entry: &JournalEntry| {
        matches!(history.add(entry, None), Err(ReplayError::Strange { .. }))
    };
    assert!(strange(&mut history, &entries[0]), "twice");
    assert!(strange(&mut history, &past.entries[2]), "of another run");
    let early = JournalEntry { position: 3, ..entries[1].clone() };
    assert!(strange(&mut history, &early), "a position that was taken");
    let torn = JournalEntry { batch: vec![0xff], ..entries[1].clone() };
    assert!(matches!(history.add(&torn, None), Err(ReplayError::Record { sequence: 4, .. })));
    // A hole: the second try was never queued.
    history.add(&entries[3], None).unwrap();
    let hole = history.core_at(Until::End).unwrap_err();
    assert!(matches!(hole, ReplayError::Inconsistent { sequence: 6, .. }), "{hole}");
    let unplanned = History::new(RunId::new("nightly").unwrap()).add(&entries[0], None);
    assert!(matches!(unplanned, Err(ReplayError::Record { sequence: 2, .. })));
}
