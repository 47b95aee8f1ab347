//! An attempt for this crate's tests.

use cantus_proto::contract::{AllowedScope, Budgets, Contract, Criterion};
use cantus_proto::ids::{
    AttemptNumber, CommitId, CriterionId, ItemId, RepositoryId, RoleName, RunId,
};
use cantus_proto::message::{Attempt, AttemptLimits, Route, Work};

pub(crate) fn contract() -> Contract {
    Contract {
        goal: "Say \"hello\"".to_owned(),
        deliverables: vec!["src/hello.txt the greeting".to_owned()],
        acceptance_criteria: vec![Criterion {
            id: CriterionId::new("AC-1").unwrap(),
            statement: "it greets".to_owned(),
            checker: "grep -q hello src/hello.txt".to_owned(),
        }],
        non_goals: Vec::new(),
        allowed_scope: AllowedScope { paths: vec!["src/".to_owned()], tools: Vec::new() },
        budgets: Budgets {
            wall_clock_minutes: 5,
            token_budget: Some(1000),
            cost_budget: None,
            max_agents: 1,
            verification_ratio: 0.25,
            first_artifact_ratio: 0.30,
        },
        forbidden_actions: vec!["network_egress".to_owned()],
    }
}

pub(crate) fn attempt() -> Attempt {
    Attempt {
        run: RunId::new("run").unwrap(),
        item: ItemId::new("item").unwrap(),
        number: AttemptNumber(1),
        role: RoleName::new("coder").unwrap(),
        contract: contract(),
        repository: RepositoryId::of("test"),
        target: "refs/heads/main".to_owned(),
        base_min: CommitId::new("a".repeat(40)).unwrap(),
        work: Work::Produce,
        route: Route::default(),
        preamble: None,
        learnings: Vec::new(),
        limits: AttemptLimits {
            heartbeat_ms: 1,
            lease_ms: 2,
            wall_clock_ms: 300_000,
            artifact_bytes_max: 1,
            files_max: 1,
            tokens_max: None,
            cost_max: None,
            window_ms: 1,
        },
    }
}
