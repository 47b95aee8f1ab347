//! The contract: what one piece of work must achieve, with limits (SPEC B1).
//!
//! These are plain values; they become valid in [`crate::plan`], which compiles them from YAML.

use crate::ids::CriterionId;
use crate::units::MicroUsd;

/// What one piece of work must achieve.
#[derive(Debug, Clone, PartialEq)]
pub struct Contract {
    /// One sentence.
    pub goal: String,
    /// Free text that may begin with a path.
    pub deliverables: Vec<String>,
    /// At least one; each has a checker.
    pub acceptance_criteria: Vec<Criterion>,
    /// What must not be done.
    pub non_goals: Vec<String>,
    /// What may be touched.
    pub allowed_scope: AllowedScope,
    /// All bounded and above zero.
    pub budgets: Budgets,
    /// Words for actions that the gates refuse.
    pub forbidden_actions: Vec<String>,
}

/// One thing that must be true of the result, and the command that shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    /// Unique in its contract.
    pub id: CriterionId,
    /// For people.
    pub statement: String,
    /// Run by `/bin/sh -c` in the root of the tree; exit code 0 means that it holds.
    pub checker: String,
}

/// Paths and tools that the work may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedScope {
    /// Repository paths; what they cover is in [`crate::plan::scope`].
    pub paths: Vec<String>,
    /// Names of tools.
    pub tools: Vec<String>,
}

/// Limits of one item, over all attempts since it was last put back.
#[derive(Debug, Clone, PartialEq)]
pub struct Budgets {
    /// Time in workers' and verifiers' hands, in minutes.
    pub wall_clock_minutes: u32,
    /// Tokens; nothing when they are not limited, and then they need not be measured.
    pub token_budget: Option<u64>,
    /// Money; nothing when it is not limited, and then no price need be known.
    pub cost_budget: Option<MicroUsd>,
    /// Agents at the same time.
    pub max_agents: u32,
    /// Share of the budget that belongs to verification, 0.20 to 0.30 as a rule (SPEC B5).
    pub verification_ratio: f64,
    /// Share of an attempt's time or tokens after which it must have an artifact, 0.25 to 0.30 (SPEC B4).
    pub first_artifact_ratio: f64,
}
