//! One record of every kind, with every part filled and every part empty somewhere.

use std::collections::BTreeMap;
use std::sync::Arc;

use cantus_proto::contract::{AllowedScope, Budgets, Contract, Criterion};
use cantus_proto::ids::{
    AttemptNumber, Blob, CommitId, ContainerName, CriterionId, Digest, HostName, ItemId,
    LearningId, LeaseId, RepositoryId, RoleName, RunId, TreeId,
};
use cantus_proto::message::{
    AttemptKind, Candidate, Claim, ClaimKind, Commits, Defect, Diagnosis, Envelope, Exit,
    FailureKind, Isolation, Learning, LearningCheck, Leased, Phase, Proposal, Receipt, Remedy,
    Route, Usage, WorkResult,
};
use cantus_proto::plan::{Complexity, Effort, LandingStyle, Plan, PlanItem, RunBudgets};
use cantus_proto::units::MicroUsd;

use crate::event::{ItemIndex, Millis, Repository, Submission};
use crate::item::Landed;
use crate::record::{
    Breaker, Decision, Demand, DemandKind, Dispatch, Ending, Fact, Holder, ItemFact, Record,
    Refutation, Refuter, Resource, Spent, Warning,
};
use crate::scope_delta::{Finding, Rule};

/// The run of all samples: a name that needs care.
pub(super) const RUN: &str = "run é/1";
/// When all of them were decided.
pub(super) const AT: Millis = Millis(1_780_000_000_123);

fn commit(letter: &str) -> CommitId {
    CommitId::new(letter.repeat(40)).unwrap()
}

fn digest(letter: &str) -> Digest {
    Digest::new(letter.repeat(64)).unwrap()
}

fn blob(letter: &str) -> Blob {
    Blob { sha256: digest(letter), size_bytes: 123_456 }
}

pub(super) fn contract(goal: &str) -> Contract {
    Contract {
        goal: goal.to_owned(),
        deliverables: vec!["src/a.rs smallest change".to_owned()],
        acceptance_criteria: vec![Criterion {
            id: CriterionId::new("AC-01").unwrap(),
            statement: "it holds".to_owned(),
            checker: "make test".to_owned(),
        }],
        non_goals: vec!["refactoring".to_owned()],
        allowed_scope: AllowedScope {
            paths: vec!["src/".to_owned()],
            tools: vec!["edit".to_owned()],
        },
        budgets: Budgets {
            wall_clock_minutes: 45,
            token_budget: Some(350_000),
            max_agents: 2,
            verification_ratio: 0.25,
            cost_budget: Some(MicroUsd(1)),
            first_artifact_ratio: 0.25,
        },
        forbidden_actions: vec!["dependency_upgrade".to_owned()],
    }
}

pub(super) fn item(id: &str, needs: &[&str], goal: &str) -> PlanItem {
    PlanItem {
        id: ItemId::new(id).unwrap(),
        needs: needs.iter().map(|need| ItemId::new(need).unwrap()).collect(),
        role: RoleName::new("worker").unwrap(),
        verifier: RoleName::new("verifier").unwrap(),
        complexity: Complexity::Medium,
        effort: None,
        priority: 0,
        attempts_max: 3,
        contract: Arc::new(contract(goal)),
    }
}

pub(super) fn plan() -> Arc<Plan> {
    let items = vec![item("a", &[], "one"), item("b", &["a"], "one")];
    let budgets = RunBudgets { token_budget: Some(9), ..RunBudgets::default() };
    let landing = LandingStyle::FastForward;
    Arc::new(Plan { repository: None, target: None, landing, budgets, items })
}

fn submission(repository: Option<Repository>, notice: &str) -> Fact {
    Fact::Submitted(Box::new(Submission {
        run: RunId::new(RUN).unwrap(),
        plan: plan(),
        plan_blob: blob("a"),
        repository,
        notice: notice.to_owned(),
    }))
}

fn holder(base: Option<CommitId>, isolation: Isolation) -> Box<Holder> {
    Box::new(Holder {
        lease: LeaseId::new("0123456789abcdef0123456789abcdef").unwrap(),
        leased: Leased {
            role: RoleName::new("worker").unwrap(),
            host: HostName::new("host-1").unwrap(),
            container: ContainerName::new("cantus-worker-1").unwrap(),
            isolation,
            base,
            image: "sha256:abc".to_owned(),
        },
    })
}

fn result() -> WorkResult {
    let receipt = |exit, timed_out| Receipt {
        argv: vec!["make".to_owned(), "test".to_owned()],
        exit,
        timed_out,
        stdout_sha256: digest("b"),
        stderr_sha256: digest("c"),
        duration_ms: 1_500,
        environment: BTreeMap::from([("image".to_owned(), "x".to_owned())]),
        output_truncated: timed_out,
        purpose: "agent".to_owned(),
    };
    WorkResult {
        base: commit("1"),
        head: commit("2"),
        bundle: Some(blob("d")),
        receipts: vec![receipt(Exit::Code(2), false), receipt(Exit::Signal(9), true)],
        claims: vec![
            Claim {
                id: "C1".to_owned(),
                text: "all tests pass".to_owned(),
                criterion: Some(CriterionId::new("AC-01").unwrap()),
                kind: ClaimKind::Observation,
                receipt: Some(digest("0")),
            },
            Claim {
                id: "C2".to_owned(),
                text: "é\n".to_owned(),
                criterion: None,
                kind: ClaimKind::Hypothesis,
                receipt: None,
            },
        ],
        usage: Some(Usage { input_tokens: 10, cost: MicroUsd(250_000), ..Usage::default() }),
        findings: vec!["a bug elsewhere".to_owned()],
        log: Some(blob("e")),
        learnings: vec![learning()],
        proposals: vec![Proposal::Note("an item".to_owned())],
        phases: vec![phase()],
    }
}

fn nothing_done() -> WorkResult {
    WorkResult {
        head: commit("1"),
        bundle: None,
        receipts: vec![],
        claims: vec![],
        usage: None,
        findings: vec![],
        log: None,
        learnings: vec![],
        proposals: vec![],
        phases: vec![],
        ..result()
    }
}

fn commits() -> Commits {
    Commits { bundle: blob("d"), base: commit("1"), head: commit("2") }
}

fn refuted(by: Refuter, work: Option<Commits>) -> ItemFact {
    let findings = vec!["AC-01: exit code 1".to_owned(), "and more".to_owned()];
    let defect = Defect { summary: "AC-01: exit code 1".to_owned(), findings, work };
    let found = Finding {
        rule: Rule::TestSkipped,
        path: b"tests/\xff".to_vec(),
        line: Some(3),
        text: "a test no longer runs".to_owned(),
    };
    let out_of_scope = if by == Refuter::Gate { vec![found] } else { vec![] };
    ItemFact::Refuted(Box::new(Refutation { by, defect, out_of_scope }))
}

fn learning() -> Learning {
    Learning {
        id: LearningId::of("run make first"),
        context: "build".to_owned(),
        discovery: "the parser is generated".to_owned(),
        rule: "run make first".to_owned(),
        check: None,
    }
}

fn phase() -> Phase {
    Phase { name: "agent".to_owned(), duration_ms: 1_400 }
}

fn dispatch() -> Arc<Dispatch> {
    Arc::new(Dispatch {
        wall_clock_ms: 60_000,
        tokens: Some(0),
        cost: Some(MicroUsd(5)),
        route: Route { model: "fast".to_owned(), effort: Effort::Medium },
        breaker: Some(Breaker::Stuck),
        learnings: vec![learning().id],
    })
}

/// What rules and people decided.
fn decided_facts() -> Vec<(&'static str, ItemFact)> {
    let number = AttemptNumber(3);
    let spent =
        Spent { tokens: Some(0), cost: Some(MicroUsd(7)), estimated: true, phases: vec![phase()] };
    let demand = Demand {
        kind: DemandKind::FirstArtifact,
        text: "an artifact now".to_owned(),
        paths: vec!["src/a.rs".to_owned()],
    };
    let proposed = |proposal, decision| ItemFact::Proposed(number, Box::new(proposal), decision);
    let skip = Diagnosis { reason: "no way".to_owned(), remedy: Remedy::Skip };
    let checks = vec![LearningCheck { id: learning().id, applied: false }];
    let warning = Warning { resource: Resource::Tokens, spent: 80, budget: 100 };
    let refused = Decision::Refused("its evidence is missing".to_owned());
    vec![
        ("settled", ItemFact::Settled(number, Box::new(spent))),
        ("settled-unknown", ItemFact::Settled(number, Box::default())),
        ("demanded", ItemFact::Demanded(number, Box::new(demand))),
        ("proposed-pending", proposed(Proposal::Done, Decision::Pending)),
        ("proposed-confirmed", proposed(Proposal::Diagnosis(skip), Decision::Confirmed)),
        ("proposed-refused", proposed(Proposal::Partial("half".to_owned()), refused)),
        ("learned", ItemFact::Learned(number, Box::new(learning()))),
        ("learnings-checked", ItemFact::LearningsChecked(number, checks)),
        ("warned", ItemFact::Warned(warning)),
        ("approved", ItemFact::Approved(number, "a person".to_owned())),
        ("rechecked", ItemFact::Rechecked("the clock of the machine".to_owned())),
        ("split", ItemFact::Split(number, plan().items.clone())),
    ]
}

fn ended(ending: Ending) -> ItemFact {
    ItemFact::Ended(AttemptNumber(3), ending, "why".to_owned())
}

/// What may become of an item.
fn item_facts() -> Vec<(&'static str, ItemFact)> {
    let number = AttemptNumber(3);
    let candidate = Candidate {
        commit: commit("3"),
        tree: TreeId::new("4".repeat(64)).unwrap(),
        base: commit("5"),
        bundle: blob("f"),
        listing_sha256: digest("6"),
    };
    let envelope = Envelope {
        criterion: CriterionId::new("AC-01").unwrap(),
        statement: br#"{"payload":""}"#.to_vec(),
        receipt: vec![0, 255],
    };
    let failures = [
        ("ended-failed-agent", FailureKind::Agent),
        ("ended-failed-workspace", FailureKind::Workspace),
        ("ended-failed-too-large", FailureKind::TooLarge),
        ("ended-failed-timeout", FailureKind::Timeout),
        ("ended-failed-stopped", FailureKind::Stopped),
    ];
    let mut facts = vec![
        ("queued-produce", ItemFact::Queued(number, AttemptKind::Produce, dispatch())),
        ("queued-repair", ItemFact::Queued(number, AttemptKind::Repair, dispatch())),
        ("queued-verify", ItemFact::Queued(number, AttemptKind::Verify, Arc::default())),
        (
            "leased-container",
            ItemFact::Leased(number, holder(Some(commit("1")), Isolation::Container)),
        ),
        ("leased-process", ItemFact::Leased(number, holder(None, Isolation::Process))),
        ("ended-lost", ended(Ending::Lost)),
        ("ended-inconclusive", ended(Ending::Inconclusive)),
        ("ended-unclaimed", ended(Ending::Unclaimed)),
        ("ended-over-budget", ended(Ending::OverBudget)),
        ("ended-stalled", ended(Ending::Stalled)),
        ("ended-unmeasured", ended(Ending::Unmeasured)),
        ("delivered", ItemFact::Delivered(number, Box::new(result()))),
        ("delivered-nothing", ItemFact::Delivered(number, Box::new(nothing_done()))),
        ("gated", ItemFact::Gated),
        ("merge-began", ItemFact::MergeBegan),
        ("merged", ItemFact::Merged(Box::new(candidate))),
        ("verified", ItemFact::Verified(number, vec![envelope])),
        ("refuted-inspection", refuted(Refuter::Inspection, None)),
        ("refuted-gate", refuted(Refuter::Gate, Some(commits()))),
        ("refuted-merge", refuted(Refuter::Merge(commit("7")), Some(commits()))),
        ("refuted-verdict", refuted(Refuter::Verdict(AttemptNumber(4)), Some(commits()))),
        ("head-moved", ItemFact::HeadMoved(commit("8"))),
        ("landed", ItemFact::Landed(commit("9"), digest("9"))),
        (
            "recovered",
            ItemFact::Recovered(Box::new(Landed {
                commit: commit("9"),
                tree: TreeId::new("4".repeat(40)).unwrap(),
                evidence: digest("9"),
            })),
        ),
        ("reported", ItemFact::Reported),
        ("parked", ItemFact::Parked("3 of 3 tries are used up".to_owned())),
        ("requeued", ItemFact::Requeued),
        ("cancelled", ItemFact::Cancelled),
        ("saved", ItemFact::Saved(number, commits(), "swept".to_owned())),
        ("logged", ItemFact::Logged(number, blob("0"))),
    ];
    facts.extend(decided_facts());
    facts.extend(failures.map(|(name, kind)| (name, ended(Ending::Failed(kind)))));
    facts
}

/// All samples with their names.
pub(super) fn records() -> Vec<(String, Record)> {
    let repository = Repository {
        id: RepositoryId::new("0123456789abcdef").unwrap(),
        location: "/srv/git/fugue.git".to_owned(),
        target: "refs/heads/main".to_owned(),
        head: commit("1"),
        style: LandingStyle::FastForward,
    };
    let runs = [
        ("submitted", submission(Some(repository), "lands on cantus/run")),
        ("submitted-reporting", submission(None, "")),
        ("run-cancelled", Fact::RunCancelled),
        ("run-warned", Fact::RunWarned(Warning { resource: Resource::Cost, spent: 9, budget: 10 })),
    ];
    let items = item_facts().into_iter();
    let items = items.map(|(name, fact)| (name, Fact::Item(ItemIndex(300), fact)));
    let record = |fact| Record { at: AT, run: RunId::new(RUN).unwrap(), fact };
    runs.into_iter().chain(items).map(|(name, fact)| (name.to_owned(), record(fact))).collect()
}
