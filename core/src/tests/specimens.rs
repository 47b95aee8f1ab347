//! Items in every state that one can be in, each by its history, and every fact that could meet them.

use std::sync::Arc;

use cantus_proto::ids::{AttemptNumber, HostName, LearningId};
use cantus_proto::message::{
    AttemptKind, Commits, Defect, Diagnosis, FailureKind, Isolation, Learning, LearningCheck,
    Leased, Proposal, Remedy,
};

use super::super::Settings;
use super::super::event::ItemIndex;
use super::super::item::{Item, Landed, State};
use super::super::record::{
    Decision, Demand, DemandKind, Ending, Holder, ItemFact, Refutation, Refuter, Resource, Warning,
};
use super::super::scope_delta::{Finding, Rule};
use super::super::state_machine::item::ItemEvent;
use super::world::{
    START, World, blob, candidate, commit, container, digest, lease_id, plan, role, settings, tree,
    work,
};

/// A lease that no specimen has had.
const FRESH: u64 = 9;

/// All that an item went through, the present last.
struct Story(Vec<Item>);

impl Story {
    /// An item that nothing has happened to.
    fn new(line: &str) -> Self {
        let settings = Settings { queue_window: 0, ..settings() };
        Self(vec![World::with(settings, plan(line)).run().items.last().unwrap().clone()])
    }

    fn on(mut self, fact: &ItemFact) -> Self {
        let mut item = self.0.last().unwrap().clone();
        item.apply(START, 9, fact).unwrap();
        self.0.push(item);
        self
    }

    fn graph(mut self, event: ItemEvent, state: State) -> Self {
        let mut item = self.0.last().unwrap().clone();
        item.follow_graph(START, event, state);
        self.0.push(item);
        self
    }

    fn queued(self, number: u32, kind: AttemptKind) -> Self {
        self.on(&ItemFact::Queued(AttemptNumber(number), kind, Arc::default()))
    }

    fn leased(self, number: u32, kind: AttemptKind) -> Self {
        let fact = leased(AttemptNumber(number), u64::from(number));
        self.queued(number, kind).on(&fact)
    }

    fn delivered(self, number: u32) -> Self {
        let fact = ItemFact::Delivered(AttemptNumber(number), Box::new(work("w")));
        self.leased(number, AttemptKind::Produce).on(&fact)
    }

    fn merging(self, number: u32) -> Self {
        self.delivered(number).on(&ItemFact::Gated).on(&ItemFact::MergeBegan)
    }

    fn verifying(self, number: u32) -> Self {
        self.merging(number).on(&merged("t")).leased(number + 1, AttemptKind::Verify)
    }

    fn verified(self, number: u32) -> Self {
        let fact = ItemFact::Verified(AttemptNumber(number + 1), vec![]);
        self.verifying(number).on(&fact)
    }
}

/// Items in every state, with attempts in every state, and none twice.
pub(super) fn specimens() -> Vec<Item> {
    let parked = ItemFact::Parked("why".to_owned());
    let split = ItemFact::Split(AttemptNumber(1), plan("part").items);
    let ended = |number, ending| ItemFact::Ended(AttemptNumber(number), ending, "why".to_owned());
    let given_up = ended(1, Ending::Failed(FailureKind::Agent));
    let stories = [
        Story::new("a").verified(1).on(&landed()),
        Story::new("a").verified(1).on(&ItemFact::Cancelled).on(&ItemFact::Cancelled),
        Story::new("a").verified(1).on(&ItemFact::HeadMoved(commit("moved"))).on(&merged("t")),
        Story::new("a").verifying(1).on(&ended(2, Ending::Inconclusive)).on(&parked),
        Story::new("a").verifying(1).on(&refuted(Refuter::Verdict(AttemptNumber(2)))).on(&parked),
        Story::new("a").merging(1).on(&refuted(Refuter::Merge(commit("head")))).on(&parked),
        Story::new("a").delivered(1).on(&ItemFact::Reported),
        Story::new("a")
            .delivered(1)
            .on(&refuted(Refuter::Gate))
            .leased(2, AttemptKind::Repair)
            .on(&parked),
        Story::new("a")
            .leased(1, AttemptKind::Produce)
            .on(&leased(AttemptNumber(1), 2))
            .on(&ended(1, Ending::Lost))
            .queued(2, AttemptKind::Produce)
            .on(&ended(2, Ending::Unclaimed))
            .on(&parked),
        Story::new("a").queued(1, AttemptKind::Produce).on(&ItemFact::Cancelled),
        Story::new("b, a: b").graph(ItemEvent::NeedStopped, State::Blocked(ItemIndex(0))),
        Story::new("a")
            .leased(1, AttemptKind::Produce)
            .on(&given_up)
            .on(&split)
            .graph(ItemEvent::NeedStopped, State::Blocked(ItemIndex(1))),
        wishes(),
    ];
    let mut specimens: Vec<Item> = Vec::new();
    for item in stories.into_iter().flat_map(|story| story.0) {
        if !specimens.contains(&item) {
            specimens.push(item);
        }
    }
    specimens
}

/// Wishes of each kind in each state of a wish.
fn wishes() -> Story {
    let mut story = Story::new("a").leased(1, AttemptKind::Produce);
    for proposal in [Proposal::Done, Proposal::Partial("half".to_owned()), diagnosis()] {
        for decision in decisions().into_iter().filter(|d| *d != Decision::Confirmed) {
            story = story.on(&proposed(1, &proposal, &decision));
        }
    }
    let note = Proposal::Note("n".to_owned());
    story.on(&proposed(1, &note, &Decision::Confirmed))
}

pub(super) fn decisions() -> [Decision; 3] {
    [Decision::Pending, Decision::Confirmed, Decision::Refused("no".to_owned())]
}

pub(super) fn diagnosis() -> Proposal {
    Proposal::Diagnosis(Diagnosis { reason: "why".to_owned(), remedy: Remedy::Skip })
}

pub(super) fn proposed(number: u32, proposal: &Proposal, decision: &Decision) -> ItemFact {
    ItemFact::Proposed(AttemptNumber(number), Box::new(proposal.clone()), decision.clone())
}

fn leased(number: AttemptNumber, lease: u64) -> ItemFact {
    let leased = Leased {
        role: role("worker"),
        host: HostName::new("host").unwrap(),
        container: container("worker-1"),
        isolation: Isolation::Container,
        base: None,
        image: "image".to_owned(),
    };
    ItemFact::Leased(number, Box::new(Holder { lease: lease_id(lease), leased }))
}

fn merged(word: &str) -> ItemFact {
    ItemFact::Merged(Box::new(candidate(word, "start")))
}

fn landed() -> ItemFact {
    ItemFact::Landed(commit("landed"), digest("evidence"))
}

fn refuted(by: Refuter) -> ItemFact {
    let defect = Defect { summary: "no".to_owned(), findings: vec![], work: None };
    let finding = Finding {
        rule: Rule::OutOfScope,
        path: b"elsewhere".to_vec(),
        line: None,
        text: "no".to_owned(),
    };
    let out_of_scope = if by == Refuter::Gate { vec![finding] } else { vec![] };
    ItemFact::Refuted(Box::new(Refutation { by, defect, out_of_scope }))
}

/// Every fact that could meet an item: about no attempt of it, about each, and about the next one.
pub(super) fn facts(item: &Item) -> Vec<ItemFact> {
    let mut facts = vec![
        ItemFact::Gated,
        ItemFact::MergeBegan,
        merged("t"),
        merged("other"),
        refuted(Refuter::Inspection),
        refuted(Refuter::Gate),
        refuted(Refuter::Merge(commit("head"))),
        ItemFact::HeadMoved(commit("moved")),
        landed(),
        ItemFact::Recovered(Box::new(Landed {
            commit: commit("found"),
            tree: tree("found"),
            evidence: digest("found"),
        })),
        ItemFact::Reported,
        ItemFact::Parked("why".to_owned()),
        ItemFact::Requeued,
        ItemFact::Cancelled,
        ItemFact::Warned(Warning { resource: Resource::Tokens, spent: 8, budget: 10 }),
        ItemFact::Rechecked("the clock".to_owned()),
    ];
    for number in 0..=item.last_number().0 + 1 {
        facts.extend(about(AttemptNumber(number)));
    }
    facts
}

/// Every fact that could mean something for this attempt.
pub(super) fn facts_of_attempt(number: AttemptNumber) -> Vec<ItemFact> {
    let mut facts = about(number);
    facts.extend([
        refuted(Refuter::Gate),
        refuted(Refuter::Merge(commit("head"))),
        ItemFact::Parked("why".to_owned()),
        ItemFact::Rechecked("the clock".to_owned()),
    ]);
    facts
}

/// Every fact about this attempt.
fn about(number: AttemptNumber) -> Vec<ItemFact> {
    let ended = |ending| ItemFact::Ended(number, ending, "why".to_owned());
    let commits = Commits { bundle: blob("s"), base: commit("start"), head: commit("s") };
    let demand = Demand { kind: DemandKind::Commit, text: "now".to_owned(), paths: vec![] };
    let id = LearningId::of("rule");
    let [context, discovery, rule] = ["here", "this", "that"].map(str::to_owned);
    let learning = Learning { id: id.clone(), context, discovery, rule, check: None };
    let mut facts = vec![
        ItemFact::Queued(number, AttemptKind::Produce, Arc::default()),
        ItemFact::Queued(number, AttemptKind::Verify, Arc::default()),
        leased(number, 1),
        leased(number, FRESH),
        ended(Ending::Lost),
        ended(Ending::Failed(FailureKind::Agent)),
        ended(Ending::Inconclusive),
        ended(Ending::Unclaimed),
        ItemFact::Delivered(number, Box::new(work("w"))),
        ItemFact::Verified(number, vec![]),
        refuted(Refuter::Verdict(number)),
        ItemFact::Logged(number, blob("log")),
        ItemFact::Saved(number, commits, "swept".to_owned()),
        ItemFact::Settled(number, Box::default()),
        ItemFact::Demanded(number, Box::new(demand)),
        ItemFact::Learned(number, Box::new(learning)),
        ItemFact::LearningsChecked(number, vec![LearningCheck { id, applied: true }]),
        ItemFact::Approved(number, "a person".to_owned()),
        ItemFact::Split(number, plan("part").items),
        ItemFact::Split(number, vec![]),
    ];
    for decision in decisions() {
        facts.push(proposed(number.0, &diagnosis(), &decision));
        facts.push(proposed(number.0, &Proposal::Done, &decision));
    }
    facts
}
