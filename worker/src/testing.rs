//! A contract for this crate's tests.

use cantus_proto::contract::{AllowedScope, Budgets, Contract, Criterion};
use cantus_proto::ids::CriterionId;

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
