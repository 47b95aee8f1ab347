//! A run told record by record, so that a test decides each time and each outcome.

use std::sync::Arc;

use cantus_proto::ids::{AttemptNumber, HostName};
use cantus_proto::message::{
    AttemptKind, Defect, Envelope, FailureKind, Isolation, Leased, WorkResult,
};
use cantus_proto::plan::Plan;

use super::super::words::*;
use crate::Core;
use crate::event::{Event, Millis, Submission};
use crate::item::Item;
use crate::record::{Dispatch, Ending, Fact, Holder, ItemFact, Record, Refutation, Refuter, Spent};
use crate::report::{self, Report};
use crate::run::Run;
use crate::scope_delta::{Finding, Rule};

/// See the module. Times in seconds since the submission.
pub(super) struct Story {
    core: Core,
    now: Millis,
    drawn: u64,
}

impl Story {
    pub(super) fn of(line: &str) -> Self {
        Self::with(plan(line), |_| ())
    }

    pub(super) fn with(plan: Plan, change: impl Fn(&mut Submission)) -> Self {
        let Event::Submitted(mut submission) = submission("run", plan) else {
            panic!("a submission is one")
        };
        change(&mut submission);
        let mut story = Self { core: Core::new(settings()), now: START, drawn: 0 };
        story.record(Fact::Submitted(submission));
        story
    }

    pub(super) fn at(&mut self, seconds: u64) -> &mut Self {
        self.now = START.plus(seconds * 1_000);
        self
    }

    pub(super) fn record(&mut self, fact: Fact) -> &mut Self {
        let record = Record { at: self.now, run: run_id("run"), fact };
        self.core.apply(&record).unwrap();
        self
    }

    pub(super) fn run(&self) -> &Run {
        &self.core.runs()[&run_id("run")]
    }

    pub(super) fn item(&self, id: &str) -> &Item {
        self.run().item(self.run().by_id[&item_id(id)])
    }

    pub(super) fn report(&self) -> Report {
        report::of(self.run(), self.now)
    }

    pub(super) fn fact(&mut self, id: &str, fact: ItemFact) -> &mut Self {
        let place = self.run().by_id[&item_id(id)];
        self.record(Fact::Item(place, fact))
    }

    pub(super) fn number(&self, id: &str) -> AttemptNumber {
        self.item(id).last_number()
    }

    pub(super) fn queue(&mut self, id: &str, kind: AttemptKind) -> &mut Self {
        let number = AttemptNumber(self.number(id).0 + 1);
        self.fact(id, ItemFact::Queued(number, kind, Arc::new(Dispatch::default())))
    }

    /// Each lease is another container's.
    pub(super) fn lease(&mut self, id: &str) -> &mut Self {
        self.drawn += 1;
        let name = format!("container-{}", self.drawn);
        self.lease_by(id, &name)
    }

    pub(super) fn lease_by(&mut self, id: &str, name: &str) -> &mut Self {
        self.drawn += 1;
        let leased = Leased {
            role: role("worker"),
            host: HostName::new("host").unwrap(),
            container: container(name),
            isolation: Isolation::Container,
            base: Some(commit("start")),
            image: "image".to_owned(),
        };
        let holder = Holder { lease: lease_id(self.drawn), leased };
        let number = self.number(id);
        self.fact(id, ItemFact::Leased(number, Box::new(holder)))
    }

    /// Queued and leased at once.
    pub(super) fn begin(&mut self, id: &str, kind: AttemptKind) -> &mut Self {
        self.queue(id, kind).lease(id)
    }

    pub(super) fn deliver(&mut self, id: &str, result: WorkResult) -> &mut Self {
        let number = self.number(id);
        self.fact(id, ItemFact::Delivered(number, Box::new(result)))
    }

    /// A try that comes through the gates and is merged onto this head.
    pub(super) fn offer(&mut self, id: &str, kind: AttemptKind) -> &mut Self {
        self.begin(id, kind).deliver(id, work(id)).fact(id, ItemFact::Gated).merge(id, id)
    }

    pub(super) fn merge(&mut self, id: &str, tree: &str) -> &mut Self {
        let merged = ItemFact::Merged(Box::new(candidate(tree, "start")));
        self.fact(id, ItemFact::MergeBegan).fact(id, merged)
    }

    pub(super) fn verified(&mut self, id: &str) -> &mut Self {
        self.verified_with(id, &["AC-01"])
    }

    pub(super) fn verified_with(&mut self, id: &str, criteria: &[&str]) -> &mut Self {
        let envelope = |criterion: &&str| Envelope {
            criterion: cantus_proto::ids::CriterionId::new(criterion).unwrap(),
            statement: vec![],
            receipt: vec![],
        };
        let number = self.number(id);
        self.fact(id, ItemFact::Verified(number, criteria.iter().map(envelope).collect()))
    }

    pub(super) fn land(&mut self, id: &str) -> &mut Self {
        self.fact(id, ItemFact::Landed(commit(&format!("landed {id}")), digest(id)))
    }

    /// From merged to landed.
    pub(super) fn prove(&mut self, id: &str) -> &mut Self {
        self.begin(id, AttemptKind::Verify).verified(id).land(id)
    }

    /// From ready to landed at the first try.
    pub(super) fn complete(&mut self, id: &str) -> &mut Self {
        self.offer(id, AttemptKind::Produce).prove(id)
    }

    pub(super) fn end(&mut self, id: &str, ending: Ending, why: &str) -> &mut Self {
        let number = self.number(id);
        self.fact(id, ItemFact::Ended(number, ending, why.to_owned()))
    }

    /// Queued, and leased unless nobody comes.
    pub(super) fn begin_for(&mut self, id: &str, kind: AttemptKind, ending: Ending) -> &mut Self {
        self.queue(id, kind);
        if ending == Ending::Unclaimed { self } else { self.lease(id) }
    }

    /// The open try fails.
    pub(super) fn fail_open(&mut self, id: &str) -> &mut Self {
        self.end(id, Ending::Failed(FailureKind::Agent), "no")
    }

    /// As [`Story::offer`], with so many seconds of work.
    pub(super) fn offer_slowly(&mut self, id: &str, seconds: u64) -> &mut Self {
        let end = (self.now.0 - START.0) / 1_000 + seconds;
        self.begin(id, AttemptKind::Produce).at(end).deliver(id, work(id));
        self.fact(id, ItemFact::Gated).merge(id, id)
    }

    /// A try that ends like this.
    pub(super) fn fail(&mut self, id: &str, kind: FailureKind, why: &str) -> &mut Self {
        self.begin(id, AttemptKind::Produce).end(id, Ending::Failed(kind), why)
    }

    pub(super) fn refute(&mut self, id: &str, by: Refuter, rules: &[Rule]) -> &mut Self {
        let finding = |rule: &Rule| Finding {
            rule: *rule,
            path: b"src/file".to_vec(),
            line: None,
            text: "finding".to_owned(),
        };
        let refutation = Refutation {
            by,
            defect: Defect { summary: "it is not so".to_owned(), findings: vec![], work: None },
            out_of_scope: rules.iter().map(finding).collect(),
        };
        self.fact(id, ItemFact::Refuted(Box::new(refutation)))
    }

    pub(super) fn settle(&mut self, id: &str, number: u32, spent: Spent) -> &mut Self {
        self.fact(id, ItemFact::Settled(AttemptNumber(number), Box::new(spent)))
    }

    pub(super) fn park(&mut self, id: &str, why: &str) -> &mut Self {
        self.fact(id, ItemFact::Parked(why.to_owned()))
    }
}
