//! The shapes that are measured.

use cantus_proto::contract::{AllowedScope, Budgets, Contract, Criterion};
use cantus_proto::ids::{CriterionId, ItemId, RoleName};
use cantus_proto::plan::{Complexity, LandingStyle, Plan, PlanItem, RunBudgets};

/// A plan's shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Shape {
    /// No needs at all.
    Flat,
    /// Layers of 20; each item needs two of the layer before.
    Layered,
    /// Each item needs the one before: workers idle, so the wait for a lease is the bus's and ours alone.
    Chain,
}

/// Items of one layer.
pub const LAYER: usize = 20;

/// The role of every item.
pub fn role() -> RoleName {
    RoleName::new("worker").expect("a constant")
}

/// A plan of no-op items.
pub fn plan(shape: Shape, items: usize) -> Plan {
    let id = |number: usize| ItemId::new(format!("item-{number:06}")).expect("short and plain");
    let needs = |number: usize| match shape {
        Shape::Flat => Vec::new(),
        Shape::Chain if number == 0 => Vec::new(),
        Shape::Chain => vec![id(number - 1)],
        Shape::Layered if number < LAYER => Vec::new(),
        Shape::Layered => {
            let before = (number / LAYER - 1) * LAYER;
            vec![id(before + number % LAYER), id(before + (number + 1) % LAYER)]
        }
    };
    let contract = std::sync::Arc::new(contract());
    let items = (0..items).map(|number| PlanItem {
        id: id(number),
        needs: needs(number),
        role: role(),
        verifier: RoleName::new("verifier").expect("a constant"),
        complexity: Complexity::Small,
        priority: 0,
        effort: None,
        attempts_max: 3,
        contract: std::sync::Arc::clone(&contract),
    });
    Plan {
        repository: None,
        target: None,
        landing: LandingStyle::Merge,
        budgets: RunBudgets::default(),
        items: items.collect(),
    }
}

fn contract() -> Contract {
    Contract {
        goal: "Nothing is done".to_owned(),
        deliverables: vec!["nothing".to_owned()],
        acceptance_criteria: vec![Criterion {
            id: CriterionId::new("AC-01").expect("a constant"),
            statement: "nothing has changed".to_owned(),
            checker: "test -e .".to_owned(),
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
        forbidden_actions: Vec::new(),
    }
}
