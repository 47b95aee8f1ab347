//! What one step of the core costs, by the number of items that it knows.
//!
//! A flat run of so many items is worked off as workers, verifiers and the hub would; each kind of event is measured by
//! itself. Evidence is dearer than the rest by its signatures, whose cost is measured beside it.

#![expect(missing_docs, reason = "a macro of criterion makes a function of its own")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cantus_core::event::{
    Action, Effect, Event, Inspection, ItemIndex, LandingTry, Merge, Millis, Repository, Submission,
};
use cantus_core::rules::Rules;
use cantus_core::{Core, Settings};
use cantus_proto::contract::{AllowedScope, Budgets, Contract, Criterion};
use cantus_proto::evidence::receipt::{checker_argv, checker_digest};
use cantus_proto::evidence::{
    Binding, Ending, Policy, Question, Receipt, SigningKey, Subject, Trust, TrustedKey, attest,
    verdict,
};
use cantus_proto::ids::{
    Blob, CommitId, ContainerName, CriterionId, Digest, HostName, ItemId, LeaseId, RepositoryId,
    RoleName, RunId, TreeId,
};
use cantus_proto::message::{
    Attempt, Candidate, Evidence, Isolation, LeaseEvent, LeaseReport, Leased, Report, Work,
    WorkResult,
};
use cantus_proto::plan::{Complexity, LandingStyle, Plan, PlanItem, RunBudgets};
use criterion::{BenchmarkId, Criterion as Bench, criterion_group, criterion_main};

/// Items of the runs that are measured.
const SIZES: [u32; 3] = [1_000, 10_000, 100_000];
/// Some time in 2026.
const START: Millis = Millis(1_780_000_000_000);

/// The events that are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Lease,
    Result,
    Merge,
    Evidence,
    Landing,
}

fn key() -> SigningKey {
    SigningKey::from_bytes(&[1; 32])
}

fn digest(word: &str) -> Digest {
    Digest::of(word.as_bytes())
}

fn commit(word: &str) -> CommitId {
    CommitId::new(&digest(word).as_str()[..40]).expect("a digest is hexadecimal")
}

fn blob(word: &str) -> Blob {
    Blob { sha256: digest(word), size_bytes: 1 }
}

fn contract() -> Contract {
    Contract {
        goal: "goal".to_owned(),
        deliverables: vec![],
        acceptance_criteria: vec![Criterion {
            id: CriterionId::new("AC-01").expect("a valid name"),
            statement: "it holds".to_owned(),
            checker: "true".to_owned(),
        }],
        non_goals: vec![],
        allowed_scope: AllowedScope { paths: vec!["src/".to_owned()], tools: vec![] },
        budgets: Budgets {
            wall_clock_minutes: 10,
            token_budget: None,
            cost_budget: None,
            max_agents: 1,
            verification_ratio: 0.25,
            first_artifact_ratio: 0.30,
        },
        forbidden_actions: vec![],
    }
}

fn settings() -> Settings {
    let trusted = vec![TrustedKey::new(key().verifying_key(), None)];
    Settings {
        lease_ms: 15_000,
        heartbeat_ms: 2_000,
        queue_wait_ms: 600_000,
        queue_window: 12,
        verify_ahead: 2,
        checks_max: 2,
        artifact_bytes_max: 1 << 20,
        files_max: 1_000,
        rules: Rules::default(),
        trust: Trust::new(trusted, vec![]).expect("one key is no duplicate"),
        allow_process_isolation: false,
    }
}

fn submission(items: u32) -> Event {
    let shared = Arc::new(contract());
    let role = |name: &str| RoleName::new(name).expect("a valid name");
    let item = |number: u32| PlanItem {
        id: ItemId::new(format!("i{number:06}")).expect("a valid name"),
        needs: vec![],
        role: role("worker"),
        verifier: role("verifier"),
        complexity: Complexity::Small,
        effort: None,
        priority: 0,
        attempts_max: 3,
        contract: Arc::clone(&shared),
    };
    Event::Submitted(Box::new(Submission {
        run: RunId::new("run").expect("a valid name"),
        plan: Arc::new(Plan {
            repository: None,
            target: None,
            landing: LandingStyle::Merge,
            budgets: RunBudgets::default(),
            items: (0..items).map(item).collect(),
        }),
        plan_blob: blob("plan"),
        repository: Some(Repository {
            id: RepositoryId::of("somewhere"),
            location: "somewhere".to_owned(),
            target: "refs/heads/main".to_owned(),
            head: commit("start"),
            style: LandingStyle::Merge,
        }),
        notice: String::new(),
    }))
}

/// A core at work, and what it asked for.
struct Mill {
    core: Core,
    actions: Vec<Action>,
    now: Millis,
    drawn: u64,
    spent: [Duration; 5],
    counts: [u32; 5],
}

impl Mill {
    fn new(items: u32) -> Self {
        let mut core = Core::new(settings());
        let step = core.step(START, submission(items));
        Self {
            core,
            actions: step.actions,
            now: START,
            drawn: 0,
            spent: [Duration::ZERO; 5],
            counts: [0; 5],
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
    fn step(&mut self, kind: Kind, event: Event) {
        self.now = self.now.plus(1);
        let begun = Instant::now();
        let step = black_box(self.core.step(self.now, event));
        self.spent[kind as usize] += begun.elapsed();
        self.counts[kind as usize] += 1;
        self.actions.extend(step.actions);
    }

    /// Answers everything that was asked for; whether there was any.
    fn round(&mut self) -> bool {
        let actions = std::mem::take(&mut self.actions);
        let any = !actions.is_empty();
        for action in actions {
            match action {
                Action::Publish(attempt) => self.work(&attempt),
                Action::Inspect(inspect) => {
                    self.step(
                        Kind::Merge,
                        Event::Inspected(inspect.effect, Inspection::Read(vec![])),
                    );
                }
                Action::Merge(merge) => {
                    let candidate = candidate(&merge.effect);
                    self.step(Kind::Merge, Event::Merged(merge.effect, Merge::Clean(candidate)));
                }
                Action::Land(land) => {
                    let word = format!("landed {:?}", land.effect.item);
                    let (commit, evidence) = (commit(&word), digest("evidence"));
                    let landed = LandingTry::Landed { commit, evidence };
                    self.step(Kind::Landing, Event::LandingTried(land.effect, landed));
                }
                Action::Withdraw { .. } | Action::Park(_) => {}
            }
        }
        any
    }

    fn work(&mut self, attempt: &Attempt) {
        self.drawn += 1;
        let lease = LeaseId::from_bytes(u128::from(self.drawn).to_be_bytes());
        let report = |body| {
            Event::Reported(Box::new(Report::Lease(LeaseReport {
                lease: lease.clone(),
                run: attempt.run.clone(),
                item: attempt.item.clone(),
                attempt: attempt.number,
                kind: attempt.work.kind(),
                body,
            })))
        };
        let leased = report(LeaseEvent::Leased(Leased {
            role: attempt.role.clone(),
            host: HostName::new("host").expect("a valid name"),
            container: ContainerName::new(format!("c{}", self.drawn)).expect("a valid name"),
            isolation: Isolation::Container,
            base: Some(commit("start")),
            image: "image".to_owned(),
        }));
        self.step(Kind::Lease, leased);
        match &attempt.work {
            Work::Verify(verification) => {
                let evidence = evidence(attempt, &verification.candidate);
                self.step(Kind::Evidence, report(LeaseEvent::Evidence(evidence)));
            }
            Work::Produce | Work::Repair(_) => {
                let word = format!("work {}", self.drawn);
                let result = WorkResult::new(commit("start"), commit(&word), Some(blob(&word)));
                self.step(Kind::Result, report(LeaseEvent::Result(result)));
            }
        }
    }
}

fn candidate(effect: &Effect) -> Candidate {
    let ItemIndex(place) = effect.item;
    let word = format!("candidate {place}");
    Candidate {
        commit: commit(&word),
        tree: TreeId::new(&digest(&format!("tree {place}")).as_str()[..40]).expect("hexadecimal"),
        base: commit("start"),
        bundle: blob(&word),
        listing_sha256: digest(&format!("listing {place}")),
    }
}

fn receipt(attempt: &Attempt, candidate: &Candidate) -> Receipt {
    let criterion = &attempt.contract.acceptance_criteria[0];
    let (tree, listing) = (candidate.tree.clone(), candidate.listing_sha256.clone());
    Receipt {
        subject: Subject { tree, listing },
        binding: Binding {
            run: attempt.run.clone(),
            item: attempt.item.clone(),
            attempt: attempt.number,
            criterion: criterion.id.clone(),
            checker: checker_digest(criterion),
            isolation: Isolation::Container,
        },
        argv: checker_argv(&criterion.checker),
        ending: Ending::Exit(0),
        stdout: digest("output"),
        stderr: digest(""),
        output_truncated: false,
        duration_ms: 10,
        image: "image".to_owned(),
        host: "host".to_owned(),
        counts: None,
        changed_files: vec![],
    }
}

fn evidence(attempt: &Attempt, candidate: &Candidate) -> Evidence {
    let signed = attest(&receipt(attempt, candidate), &key()).expect("it passed");
    let tree = candidate.tree.clone();
    Evidence { tree, envelopes: vec![signed], log: None, inconclusive: None, learnings: vec![] }
}

/// The time of so many events of this kind, whatever else must happen between them.
fn measure(items: u32, kind: Kind, iterations: u64) -> Duration {
    let (mut spent, mut counted) = (Duration::ZERO, 0_u64);
    while counted < iterations {
        let mut bench = Mill::new(items);
        while counted + u64::from(bench.counts[kind as usize]) < iterations && bench.round() {}
        spent += bench.spent[kind as usize];
        counted += u64::from(bench.counts[kind as usize]);
    }
    // More may have happened in the last round than was asked for.
    spent.mul_f64(iterations as f64 / counted as f64)
}

fn steps(bench: &mut Bench) {
    for kind in [Kind::Lease, Kind::Result, Kind::Merge, Kind::Evidence, Kind::Landing] {
        let mut group = bench.benchmark_group(format!("step/{kind:?}"));
        for items in SIZES {
            group.sample_size(10);
            group.bench_function(BenchmarkId::from_parameter(items), |b| {
                b.iter_custom(|iterations| measure(items, kind, iterations));
            });
        }
        group.finish();
    }
    signatures(bench);
}

/// What evidence costs apart from the core: two signatures and their JSON.
fn signatures(bench: &mut Bench) {
    let Event::Submitted(submission) = submission(1) else { return };
    let mut core = Mill::new(1);
    while !core
        .actions
        .iter()
        .any(|a| matches!(a, Action::Publish(a) if matches!(a.work, Work::Verify(_))))
    {
        core.round();
    }
    let attempt = core.actions.iter().find_map(|action| match action {
        Action::Publish(attempt) => Some(attempt),
        _ => None,
    });
    let Some(attempt) = attempt else { return };
    let Work::Verify(verification) = &attempt.work else { return };
    let candidate = &verification.candidate;
    let evidence = evidence(attempt, candidate);
    let contract = &submission.plan.items[0].contract;
    let (tree, listing) = (candidate.tree.clone(), candidate.listing_sha256.clone());
    let question =
        Question::new(attempt.run.clone(), attempt.item.clone(), contract, tree, listing);
    let trust = settings().trust;
    bench.bench_function("verdict/1 criterion", |b| {
        b.iter(|| verdict(black_box(&question), &evidence.envelopes, &trust, Policy::default()));
    });
}

criterion_group!(benches, steps);
criterion_main!(benches);
