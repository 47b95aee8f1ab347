//! Contracts on the wire. What makes a contract good is the linter's affair; here it is only well formed.

use std::collections::BTreeSet;

use super::{WireError, check, v1};
use crate::contract::{AllowedScope, Budgets, Contract, Criterion};
use crate::ids::CriterionId;
use crate::units::MicroUsd;

impl From<&Contract> for v1::Contract {
    fn from(contract: &Contract) -> Self {
        Self {
            goal: contract.goal.clone(),
            deliverables: contract.deliverables.clone(),
            acceptance_criteria: contract.acceptance_criteria.iter().map(Into::into).collect(),
            non_goals: contract.non_goals.clone(),
            scope_paths: contract.allowed_scope.paths.clone(),
            scope_tools: contract.allowed_scope.tools.clone(),
            budgets: Some((&contract.budgets).into()),
            forbidden_actions: contract.forbidden_actions.clone(),
        }
    }
}

impl TryFrom<v1::Contract> for Contract {
    type Error = WireError;

    fn try_from(wire: v1::Contract) -> Result<Self, WireError> {
        let acceptance_criteria =
            check::list("acceptance criteria", wire.acceptance_criteria, Criterion::try_from)?;
        if acceptance_criteria.is_empty() {
            return Err(WireError::Missing { field: "acceptance criteria" });
        }
        let ids: BTreeSet<_> = acceptance_criteria.iter().map(|criterion| &criterion.id).collect();
        if ids.len() < acceptance_criteria.len() {
            return Err(WireError::Invalid {
                field: "acceptance criteria",
                reason: "two have one id",
            });
        }
        Ok(Self {
            goal: check::text("goal", wire.goal)?,
            deliverables: check::texts("deliverables", wire.deliverables)?,
            acceptance_criteria,
            non_goals: check::texts("non-goals", wire.non_goals)?,
            allowed_scope: AllowedScope {
                paths: check::texts("scope paths", wire.scope_paths)?,
                tools: check::texts("scope tools", wire.scope_tools)?,
            },
            budgets: check::required("budgets", wire.budgets)?.try_into()?,
            forbidden_actions: check::texts("forbidden actions", wire.forbidden_actions)?,
        })
    }
}

impl From<&Criterion> for v1::Criterion {
    fn from(criterion: &Criterion) -> Self {
        Self {
            id: criterion.id.to_string(),
            statement: criterion.statement.clone(),
            checker: criterion.checker.clone(),
        }
    }
}

impl TryFrom<v1::Criterion> for Criterion {
    type Error = WireError;

    fn try_from(wire: v1::Criterion) -> Result<Self, WireError> {
        if wire.checker.is_empty() {
            return Err(WireError::Missing { field: "checker" });
        }
        Ok(Self {
            id: check::id("criterion", &wire.id, CriterionId::new)?,
            statement: check::text("statement", wire.statement)?,
            checker: check::text("checker", wire.checker)?,
        })
    }
}

impl From<&Budgets> for v1::Budgets {
    fn from(budgets: &Budgets) -> Self {
        Self {
            wall_clock_minutes: budgets.wall_clock_minutes,
            token_budget: budgets.token_budget.unwrap_or(0),
            max_agents: budgets.max_agents,
            verification_ratio: budgets.verification_ratio,
            cost_budget_microusd: budgets.cost_budget.map_or(0, |cost| cost.0),
            first_artifact_ratio: budgets.first_artifact_ratio,
        }
    }
}

impl TryFrom<v1::Budgets> for Budgets {
    type Error = WireError;

    fn try_from(wire: v1::Budgets) -> Result<Self, WireError> {
        check::above_zero("wall clock", u64::from(wire.wall_clock_minutes))?;
        check::above_zero("agents", u64::from(wire.max_agents))?;
        for (field, ratio) in [
            ("verification ratio", wire.verification_ratio),
            ("first artifact ratio", wire.first_artifact_ratio),
        ] {
            if !(ratio > 0.0 && ratio < 1.0) {
                return Err(WireError::Invalid { field, reason: "it is not between 0 and 1" });
            }
        }
        Ok(Self {
            wall_clock_minutes: wire.wall_clock_minutes,
            token_budget: check::unless_zero(wire.token_budget),
            cost_budget: check::unless_zero(wire.cost_budget_microusd).map(MicroUsd),
            max_agents: wire.max_agents,
            verification_ratio: wire.verification_ratio,
            first_artifact_ratio: wire.first_artifact_ratio,
        })
    }
}
