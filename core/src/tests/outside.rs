//! Bus, hub, workers and verifiers as they behave. What goes wrong is chosen by whoever drives them.

use std::collections::{BTreeMap, BTreeSet};

use cantus_proto::evidence::Ending;
use cantus_proto::ids::{AttemptNumber, CommitId, ItemId, RunId, TreeId};
use cantus_proto::message::{
    Attempt, AttemptKind, Candidate, Commits, ContainerExited, Evidence, LeaseEvent, Report, Saved,
    WorkResult,
};

use super::super::event::{Action, Event, Inspect, Inspection, Land, LandingTry, Merge, MergeWork};
use super::super::scope_delta::findings;
use super::world::{Held, added, blob, commit, container, digest, lease_id, tree, work};

/// What a piece of work is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quality {
    Good,
    /// A checker fails on it.
    Wrong,
    /// It touches what it may not.
    OutOfScope,
    /// It does not merge.
    Conflicting,
}

type Name = (RunId, ItemId);

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct Outside {
    /// Attempts on the bus.
    pub(super) queue: BTreeMap<(RunId, ItemId, AttemptNumber), Attempt>,
    /// Those who have taken one and are alive.
    pub(super) holders: Vec<Held>,
    /// Reports that the bus has stored and nobody has consumed, oldest first.
    pub(super) reports: Vec<Event>,
    /// Effects that are under way.
    pub(super) effects: Vec<Action>,
    /// Items that landed, each with its commit.
    pub(super) landed: BTreeMap<Name, CommitId>,
    head: CommitId,
    contents: BTreeMap<CommitId, BTreeSet<String>>,
    qualities: BTreeMap<CommitId, Quality>,
    passed: BTreeSet<(Name, TreeId)>,
    drawn: u64,
}

impl Outside {
    pub(super) fn new() -> Self {
        let head = commit("start");
        Self {
            queue: BTreeMap::new(),
            holders: vec![],
            reports: vec![],
            effects: vec![],
            landed: BTreeMap::new(),
            contents: BTreeMap::from([(head.clone(), BTreeSet::new())]),
            head,
            qualities: BTreeMap::new(),
            passed: BTreeSet::new(),
            drawn: 0,
        }
    }

    /// Begins what the core asks for.
    pub(super) fn begin(&mut self, action: Action) {
        match action {
            Action::Publish(attempt) => {
                let key = (attempt.run.clone(), attempt.item.clone(), attempt.number);
                self.queue.entry(key).or_insert(*attempt);
            }
            Action::Withdraw { run, item, number, .. } => {
                self.queue.remove(&(run, item, number));
            }
            Action::Park(_) => {}
            effect => self.effects.push(effect),
        }
    }

    /// Carries an effect out; doing it twice gives the same.
    pub(super) fn carry_out(&mut self, effect: &Action) -> Event {
        match effect {
            Action::Inspect(inspect) => self.inspect(inspect),
            Action::Merge(merge) => self.merge(merge),
            Action::Land(land) => self.land(land),
            other => panic!("no effect: {other:?}"),
        }
    }

    fn quality(&self, head: &CommitId) -> Quality {
        self.qualities.get(head).copied().unwrap_or(Quality::Good)
    }

    fn inspect(&self, inspect: &Inspect) -> Event {
        let path = match self.quality(&inspect.head) {
            Quality::OutOfScope => "Makefile",
            _ => "src/file",
        };
        let found = findings(&inspect.contract, inspect.complexity, &[added(path)]);
        Event::Inspected(inspect.effect.clone(), Inspection::Read(found))
    }

    fn merge(&mut self, merge: &MergeWork) -> Event {
        let onto = self.head.clone();
        let outcome = if self.quality(&merge.head) == Quality::Conflicting {
            Merge::Conflict { onto, paths: vec![b"src/file".to_vec()] }
        } else {
            let content = &self.contents[&onto] | &self.contents[&merge.head];
            let merged = commit(&format!("merge {} {onto}", merge.head));
            let candidate = Candidate {
                commit: merged.clone(),
                tree: tree(&words(&content)),
                base: onto,
                bundle: blob(merged.as_str()),
                listing_sha256: digest(&words(&content)),
            };
            self.contents.insert(merged, content);
            Merge::Clean(candidate)
        };
        Event::Merged(merge.effect.clone(), outcome)
    }

    fn land(&mut self, land: &Land) -> Event {
        let name = (land.effect.run.clone(), land.item.clone());
        let Candidate { commit: merged, tree: verified, base, .. } = &land.candidate;
        assert_eq!(tree(&words(&self.contents[merged])), *verified);
        assert!(
            self.passed.contains(&(name.clone(), verified.clone())),
            "{name:?} would land unverified"
        );
        let tried = if let Some(commit) = self.landed.get(&name) {
            LandingTry::Landed { commit: commit.clone(), evidence: digest("evidence") }
        } else if self.head == *base {
            let landing = commit(&format!("landing {merged}"));
            self.contents.insert(landing.clone(), self.contents[merged].clone());
            self.head = landing.clone();
            self.landed.insert(name, landing.clone());
            LandingTry::Landed { commit: landing, evidence: digest("evidence") }
        } else {
            LandingTry::Moved { head: self.head.clone() }
        };
        Event::LandingTried(land.effect.clone(), tried)
    }

    /// Somebody else pushes: something, or a commit without a change.
    pub(super) fn push(&mut self, something: bool) {
        self.drawn += 1;
        let mut content = self.contents[&self.head].clone();
        if something {
            content.insert(format!("pushed {}", self.drawn));
        }
        self.head = commit(&format!("pushed {}", self.drawn));
        self.contents.insert(self.head.clone(), content);
    }

    /// A free worker or verifier pulls the attempt at this place of the queue and says so. When the bus does not
    /// hear of it, somebody else will get it too.
    pub(super) fn take(&mut self, place: usize, acknowledged: bool) {
        let Some((key, attempt)) = self.queue.iter().nth(place) else { return };
        let (key, attempt) = (key.clone(), attempt.clone());
        self.drawn += 1;
        let container = container(&format!("{}-{}", attempt.role, self.drawn));
        let held = Held { attempt, lease: lease_id(self.drawn), container };
        self.reports.push(held.leased());
        self.holders.push(held);
        if acknowledged {
            self.queue.remove(&key);
        }
    }

    /// The holder hands in and its container ends.
    pub(super) fn hand_in(&mut self, place: usize, quality: Quality) {
        let held = self.holders.remove(place);
        let body = if held.attempt.work.kind() == AttemptKind::Verify {
            let candidate = held.candidate().clone();
            let head = self.work_of(&candidate);
            let good = self.quality(&head) == Quality::Good;
            if good {
                let name = (held.attempt.run.clone(), held.attempt.item.clone());
                self.passed.insert((name, candidate.tree));
            }
            let evidence = held.checked(Ending::Exit(i32::from(!good)));
            LeaseEvent::Evidence(Evidence { log: Some(blob("log")), ..evidence })
        } else {
            LeaseEvent::Result(self.work(&held, quality))
        };
        self.reports.push(held.report(body));
        self.exit(&held, 0);
    }

    /// The result's head that a candidate was made of: the merge's name says it.
    fn work_of(&self, candidate: &Candidate) -> CommitId {
        let made = |head: &&CommitId| {
            commit(&format!("merge {head} {}", candidate.base)) == candidate.commit
        };
        self.qualities.keys().find(made).expect("every candidate is made of work").clone()
    }

    fn work(&mut self, held: &Held, quality: Quality) -> WorkResult {
        let Attempt { run, item, number, .. } = &held.attempt;
        let result = work(&format!("work {run} {item} {number} {}", held.lease));
        let mut content = self.contents[&self.head].clone();
        content.insert(format!("{run} {item} {number} {}", held.lease));
        self.contents.insert(result.head.clone(), content);
        self.qualities.insert(result.head.clone(), quality);
        result
    }

    /// The verifier's checker cannot run.
    pub(super) fn hand_in_nothing(&mut self, place: usize) {
        let held = self.holders.remove(place);
        let body = if held.attempt.work.kind() == AttemptKind::Verify {
            LeaseEvent::Evidence(held.checked(Ending::TimedOut))
        } else {
            super::world::failed("no idea")
        };
        self.reports.push(held.report(body));
        self.exit(&held, 3);
    }

    /// The holder was told to stop: what it has is kept.
    pub(super) fn stop(&mut self, place: usize) {
        let held = self.holders.remove(place);
        if held.attempt.work.kind() != AttemptKind::Verify {
            let result = self.work(&held, Quality::Good);
            let bundle = result.bundle.expect("work has a bundle");
            let commits = Commits { bundle, base: result.base, head: result.head };
            let saved = Saved { commits, reason: "told to stop".to_owned() };
            self.reports.push(held.report(LeaseEvent::Saved(saved)));
        }
        self.exit(&held, 3);
    }

    /// The holder dies; its pool sees it, or has died too.
    pub(super) fn die(&mut self, place: usize, seen: bool) {
        let held = self.holders.remove(place);
        if seen {
            self.exit(&held, 137);
        }
    }

    fn exit(&mut self, held: &Held, exit_code: i64) {
        let container = held.container.clone();
        let exited = ContainerExited { container, exit_code, out_of_memory: false };
        self.reports.push(Event::Reported(Box::new(Report::ContainerExited(exited))));
    }
}

fn words(content: &BTreeSet<String>) -> String {
    content.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}
