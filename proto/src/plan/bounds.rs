//! The bounds of plans and contracts. Each has its unit and its reason; `docs/PLAN.md` lists them.

use std::ops::RangeInclusive;

/// Largest plan file in bytes: room for [`ITEMS_MAX`] short items; more is not written for people or by them.
pub const PLAN_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Most items of a plan: twice what the coordinator is measured with.
pub const ITEMS_MAX: usize = 200_000;

/// Most needs of a plan in total, since aliases can multiply lists: twenty per item at [`ITEMS_MAX`].
pub const NEEDS_MAX: usize = 4_000_000;

/// Most bytes of all contracts together, since defaults and aliases can multiply texts.
pub const CONTRACTS_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Deepest nesting of lists and mappings: the format itself needs seven.
pub const DEPTH_MAX: u16 = 16;

/// Most diagnostics kept of each severity: more are counted, so that a broken generator does not drown its reader.
pub const DIAGNOSTICS_MAX: usize = 1_000;

/// Longest prose text (goal, statement, deliverable, path) in bytes.
pub const TEXT_BYTES_MAX: usize = 4_000;

/// Longest checker in bytes: longer ones belong into a script of the repository.
pub const CHECKER_BYTES_MAX: usize = 16_000;

/// Most entries of one list of a contract.
pub const LIST_MAX: usize = 500;

/// Largest contract in bytes of text: it travels in one bus message with everything else about the attempt.
pub const CONTRACT_BYTES_MAX: usize = 256 * 1024;

/// Longest attempt in minutes: a day. What takes longer is to be split, or it cannot be repaired in time.
pub const WALL_CLOCK_MINUTES_MAX: u32 = 24 * 60;

/// Largest token budget of an item: more than any model session of a day can use.
pub const TOKEN_BUDGET_MAX: u64 = 1_000_000_000;

/// Most money of an item or of a run, in dollars: more is a slip of the hand.
pub const COST_USD_MAX: u32 = 1_000_000;

/// Most agents in one attempt.
pub const AGENTS_MAX: u32 = 64;

/// Longest run in minutes: thirty days. By then the target has moved on, and the plan with it.
pub const RUN_WALL_CLOCK_MINUTES_MAX: u32 = 30 * 24 * 60;

/// Largest token budget of a run: a thousand items of the largest, and still exact in any JSON reader.
pub const RUN_TOKEN_BUDGET_MAX: u64 = 1_000 * TOKEN_BUDGET_MAX;

/// Most workers of one run at the same time: more than the pools that one bus serves.
pub const RUN_AGENTS_MAX: u32 = 1_024;

/// Usual share of verification (SPEC B5); outside of it is a warning.
pub const VERIFICATION_RATIO_USUAL: RangeInclusive<f64> = 0.20..=0.30;

/// Share of verification when nobody states one: the middle of [`VERIFICATION_RATIO_USUAL`].
pub const VERIFICATION_RATIO_DEFAULT: f64 = 0.25;

/// Agents of an attempt when nobody states a number.
pub const AGENTS_DEFAULT: u32 = 1;

/// Most attempts at one item: by then a person has to look.
pub const ATTEMPTS_MAX_MAX: u32 = 20;

/// Attempts when nobody states a number: the first try, and two repairs.
pub const ATTEMPTS_MAX_DEFAULT: u32 = 3;

/// Range of priorities: wide enough for any scale that people use.
pub const PRIORITY: RangeInclusive<i32> = -1_000_000..=1_000_000;

/// Role of items and of verification when nobody states one.
pub const ROLE_DEFAULT: &str = "worker";
/// See [`ROLE_DEFAULT`].
pub const VERIFIER_DEFAULT: &str = "verifier";

/// Shares of an attempt's budget after which it may have to have an artifact (SPEC B4).
pub const FIRST_ARTIFACT_RATIO: RangeInclusive<f64> = 0.25..=0.30;

/// The share when nobody states one: the upper end of [`FIRST_ARTIFACT_RATIO`].
pub const FIRST_ARTIFACT_RATIO_DEFAULT: f64 = 0.30;
