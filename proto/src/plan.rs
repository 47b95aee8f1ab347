//! The plan: a set of items with `needs` edges (SPEC A1, B1), valid by construction.
//!
//! [`compile`](compile::compile) is the only way from text to a plan; `lint` and `submit` both use it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::contract::Contract;
use crate::ids::{ItemId, RoleName};
use crate::units::MicroUsd;

pub mod bounds;
mod budgets;
pub mod codes;
pub mod compile;
mod contracts;
mod fields;
mod graph;
mod items;
mod lint;
mod nearest;
pub mod scope;
mod sink;
mod tree;

pub use lint::ACTIONS;

/// A compiled plan: ids are unique, every need exists, there is no cycle.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Location of the repository: a path or URL. Absent when the submitter gives it.
    pub repository: Option<String>,
    /// Branch that the run lands on, short (`main`) or full (`refs/heads/main`).
    pub target: Option<String>,
    /// How results land.
    pub landing: LandingStyle,
    /// Limits of the whole run.
    pub budgets: RunBudgets,
    /// In the order of the file.
    pub items: Vec<PlanItem>,
}

/// Limits of a whole run, over all its items and attempts; nothing where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunBudgets {
    /// Time since the submission, in minutes.
    pub wall_clock_minutes: Option<u32>,
    /// Tokens.
    pub token_budget: Option<u64>,
    /// Money.
    pub cost_budget: Option<MicroUsd>,
    /// Workers at the same time.
    pub max_agents: Option<u32>,
}

/// The shape of the commit that lands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LandingStyle {
    /// A merge commit of target and result.
    #[default]
    Merge,
    /// One commit with the verified tree on top of the target: a linear history.
    FastForward,
}

/// One node of the plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanItem {
    /// Unique in the plan.
    pub id: ItemId,
    /// Items that must have landed before.
    pub needs: Vec<ItemId>,
    /// Who works on it.
    pub role: RoleName,
    /// Who verifies it.
    pub verifier: RoleName,
    /// Expected size (SPEC E2).
    pub complexity: Complexity,
    /// How hard a model should try; nothing: as routed.
    pub effort: Option<Effort>,
    /// Higher goes first among equals on the critical path; 0 by default.
    pub priority: i32,
    /// Attempts at producing or repairing, at most; from 1.
    pub attempts_max: u32,
    /// What it must achieve; shared by items that are alike.
    pub contract: Arc<Contract>,
}

/// Expected size of an item (SPEC E2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Complexity {
    /// One file, under 50 lines.
    Small,
    /// Two to three files, under 200 lines.
    #[default]
    Medium,
    /// Four files or more, 200 to 500 lines.
    Large,
    /// System-wide, over 500 lines.
    ExtraLarge,
}

/// How hard a model should try (SPEC B14).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Effort {
    /// For chores.
    Low,
    /// A worker's, by default.
    #[default]
    Medium,
    /// A verifier's, by default, and a worker's after failures.
    High,
}

impl Effort {
    /// All of them, the least first.
    pub const ALL: [Self; 3] = [Self::Low, Self::Medium, Self::High];

    /// The word in a plan and in `CANTUS_EFFORT`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

impl LandingStyle {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Merge, Self::FastForward];

    /// The word in a plan.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::FastForward => "fast-forward",
        }
    }
}

impl Complexity {
    /// All of them, the smallest first.
    pub const ALL: [Self; 4] = [Self::Small, Self::Medium, Self::Large, Self::ExtraLarge];

    /// The word in a plan.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Small => "S",
            Self::Medium => "M",
            Self::Large => "L",
            Self::ExtraLarge => "XL",
        }
    }

    /// Files and lines that items of this size change at most; nothing where there is no bound (SPEC E2).
    #[must_use]
    pub fn bounds(self) -> Option<(u32, u32)> {
        match self {
            Self::Small => Some((1, 50)),
            Self::Medium => Some((3, 200)),
            Self::Large => Some((20, 500)),
            Self::ExtraLarge => None,
        }
    }

    /// Relative length used for the critical path: the upper bound of lines in units of 50.
    #[must_use]
    pub fn weight(self) -> u64 {
        match self {
            Self::Small => 1,
            Self::Medium => 4,
            Self::Large => 10,
            Self::ExtraLarge => 20,
        }
    }
}

/// A message about a plan or contract.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// As the user named it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
    /// Stable code, as `C012`; listed in the docs.
    pub code: &'static str,
    /// Errors refuse the plan; warnings do not.
    pub severity: Severity,
    /// The thing and the reason.
    pub message: String,
    /// The way out.
    pub hint: String,
}

/// Whether a diagnostic refuses the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Refuses.
    Error,
    /// Told, not refused.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

impl fmt::Display for Diagnostic {
    /// `file:line:column: error[C012]: message (hint)`, on one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, code, severity, message, hint } = self;
        write!(f, "{file}:{line}:{column}: {severity}[{code}]: {message} ({hint})")
    }
}

/// What compilation gives: the plan when no diagnostic is an error.
#[derive(Debug, Clone, PartialEq)]
pub struct Compiled {
    /// Absent when refused.
    pub plan: Option<Plan>,
    /// All of them, by position.
    pub diagnostics: Vec<Diagnostic>,
}

impl Plan {
    /// Length of the longest chain that starts at each item, its own weight included; the scheduler's first key.
    #[must_use]
    pub fn critical_paths(&self) -> BTreeMap<ItemId, u64> {
        let by_id: BTreeMap<&ItemId, &PlanItem> = self.items.iter().map(|i| (&i.id, i)).collect();
        let mut dependents_open: BTreeMap<&ItemId, usize> =
            self.items.iter().map(|item| (&item.id, 0)).collect();
        for need in self.items.iter().flat_map(|item| &item.needs) {
            *dependents_open.entry(need).or_default() += 1;
        }
        let mut paths: BTreeMap<ItemId, u64> =
            self.items.iter().map(|i| (i.id.clone(), i.complexity.weight())).collect();
        let mut ready: Vec<&ItemId> =
            dependents_open.iter().filter(|(_, open)| **open == 0).map(|(id, _)| *id).collect();
        while let Some(id) = ready.pop() {
            let length = paths[id];
            for need in &by_id[id].needs {
                let through = length + by_id[need].complexity.weight();
                let path = paths.get_mut(need).expect("every need is an item of the plan");
                *path = (*path).max(through);
                let open = dependents_open.get_mut(need).expect("every need was counted");
                *open -= 1;
                if *open == 0 {
                    ready.push(need);
                }
            }
        }
        paths
    }
}
