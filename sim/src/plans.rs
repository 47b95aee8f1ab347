//! What a seed begins with: settings, plans, and the contracts in them.

use std::sync::Arc;

use cantus_core::Settings;
use cantus_core::event::{Millis, Repository, Submission};
use cantus_core::rules::{Price, Prices, Routing, Rules};
use cantus_proto::contract::{AllowedScope, Budgets, Contract, Criterion};
use cantus_proto::evidence::{Trust, TrustedKey};
use cantus_proto::ids::{CriterionId, RepositoryId};
use cantus_proto::plan::{Complexity, LandingStyle, Plan, PlanItem, RunBudgets};
use cantus_proto::units::MicroUsd;

use crate::random::Random;
use crate::words::{blob, commit, item_id, role, run_id, trusted_key};

/// When every world begins: some time in 2026, so that nothing rests on zero.
pub(crate) const START: Millis = Millis(1_780_000_000_000);
/// Items of most plans, at most.
const ITEMS_MAX: u64 = 7;
/// Items of one plan in [`LARGE_ONE_IN`].
const ITEMS_LARGE_MAX: u64 = 24;
const LARGE_ONE_IN: u64 = 24;
/// The target of every repository.
pub(crate) const TARGET: &str = "refs/heads/main";

/// Settings with short times, since simulated minutes cost events.
pub(crate) fn settings(random: &mut Random) -> Settings {
    let trusted = vec![TrustedKey::new(trusted_key().verifying_key(), None)];
    Settings {
        lease_ms: 15_000,
        heartbeat_ms: 5_000,
        queue_wait_ms: random.between(1, 5) * 60_000,
        queue_window: random.small(1, 6),
        verify_ahead: random.small(1, 3),
        checks_max: random.small(1, 3),
        artifact_bytes_max: 1 << 20,
        files_max: 1_000,
        rules: Rules {
            window_ms: 20_000,
            routing: routing(),
            prices: prices(),
            ..Rules::default()
        },
        trust: Trust::new(trusted, vec![]).expect("one key is no duplicate"),
        allow_process_isolation: false,
    }
}

fn routing() -> Routing {
    Routing { fast: "fast".to_owned(), strong: "strong".to_owned() }
}

fn prices() -> Prices {
    let price = |input, output| Price { input: MicroUsd(input), output: MicroUsd(output) };
    let models = [("fast", price(1_000_000, 5_000_000)), ("strong", price(5_000_000, 25_000_000))];
    let models = models.map(|(name, price)| (name.to_owned(), price)).into();
    Prices { date: "2026-11-01".to_owned(), models }
}

/// The runs of a seed: mostly one, and mostly one that lands.
pub(crate) fn submissions(random: &mut Random) -> Vec<Submission> {
    let mut runs = vec![submission(random, "run")];
    if random.chance(25) {
        runs.push(submission(random, "other"));
    }
    runs
}

fn submission(random: &mut Random, name: &str) -> Submission {
    let lands = random.chance(90);
    let somewhere = if random.chance(70) { "somewhere" } else { "elsewhere" };
    let style = LandingStyle::ALL[random.place(LandingStyle::ALL.len())];
    Submission {
        run: run_id(name),
        plan: Arc::new(Plan { landing: style, ..plan(random) }),
        plan_blob: blob(&format!("plan {name}")),
        repository: lands.then(|| Repository {
            id: RepositoryId::of(somewhere),
            location: somewhere.to_owned(),
            target: TARGET.to_owned(),
            head: commit("start"),
            style,
        }),
        notice: String::new(),
    }
}

/// A plan without cycles whose order says nothing about its needs.
fn plan(random: &mut Random) -> Plan {
    let most = if random.below(LARGE_ONE_IN) == 0 { ITEMS_LARGE_MAX } else { ITEMS_MAX };
    // Small plans find most faults and cost least.
    let count = 1 + random.below(most).min(random.below(most));
    let mut items: Vec<PlanItem> = Vec::new();
    for place in 0..count {
        let mut needs = Vec::new();
        for _ in 0..random.below(3) {
            if let Some(need) = random.pick(&items).map(|item| item.id.clone())
                && !needs.contains(&need)
            {
                needs.push(need);
            }
        }
        let special = random.chance(20);
        items.push(PlanItem {
            id: item_id(&format!("i{place}")),
            needs,
            role: role(if special { "specialist" } else { "worker" }),
            verifier: role("verifier"),
            complexity: Complexity::ALL[random.place(Complexity::ALL.len())],
            effort: None,
            priority: i32::try_from(random.below(3)).unwrap_or(0),
            attempts_max: random.small(1, 4),
            contract: Arc::new(contract(random, place)),
        });
    }
    for place in (1..items.len()).rev() {
        items.swap(place, random.place(place + 1));
    }
    let limited = random.chance(30);
    Plan {
        repository: None,
        target: None,
        landing: LandingStyle::Merge,
        budgets: RunBudgets {
            max_agents: random.chance(20).then(|| random.small(1, 3)),
            token_budget: limited.then(|| random.between(20, 400) * 1_000),
            cost_budget: random.chance(10).then(|| MicroUsd(random.between(1, 30) * 100_000)),
            wall_clock_minutes: random.chance(10).then(|| random.small(4, 25)),
        },
        items,
    }
}

fn contract(random: &mut Random, place: u64) -> Contract {
    let criterion = |number: u64| Criterion {
        id: CriterionId::new(format!("AC-{number:02}")).expect("a valid name"),
        statement: "it holds".to_owned(),
        checker: format!("check {place} {number}"),
    };
    Contract {
        goal: format!("goal {place}"),
        deliverables: vec![],
        acceptance_criteria: (1..=random.between(1, 2)).map(criterion).collect(),
        non_goals: vec![],
        allowed_scope: AllowedScope { paths: vec!["src/".to_owned()], tools: vec![] },
        budgets: Budgets {
            wall_clock_minutes: random.small(2, 12),
            token_budget: random.chance(40).then(|| random.between(10, 100) * 1_000),
            cost_budget: random.chance(20).then(|| MicroUsd(random.between(1, 10) * 1_000_000)),
            max_agents: 1,
            verification_ratio: 0.25,
            first_artifact_ratio: 0.30,
        },
        forbidden_actions: vec!["dependency_upgrade".to_owned()],
    }
}
