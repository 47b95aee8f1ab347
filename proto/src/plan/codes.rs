//! Every diagnostic code of plans and contracts, with its severity, in one place.
//!
//! A code is stable: its meaning never changes and a retired one is not used again. `Y` is about the file, `P` about
//! the plan and its fields, `C` about the contract, `S` about the scope. `docs/PLAN.md` explains each to users;
//! a test holds the two together.

use super::Severity;

/// A kind of diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// The stable name, as `C012`.
    pub id: &'static str,
    /// The same wherever the code is used.
    pub severity: Severity,
    /// What it says, in a few words.
    pub title: &'static str,
}

const fn error(id: &'static str, title: &'static str) -> Code {
    Code { id, severity: Severity::Error, title }
}

const fn warning(id: &'static str, title: &'static str) -> Code {
    Code { id, severity: Severity::Warning, title }
}

pub(super) const FILE_EMPTY: Code = error("Y001", "the file holds nothing");
pub(super) const NOT_UTF8: Code = error("Y002", "the file is not UTF-8");
pub(super) const FILE_TOO_LARGE: Code = error("Y003", "the file is too large");
pub(super) const SYNTAX: Code = error("Y004", "the file is not YAML");
pub(super) const DOCUMENTS: Code = error("Y005", "more than one document");
pub(super) const KEY_TWICE: Code = error("Y006", "a key stands twice in one mapping");
pub(super) const TOO_DEEP: Code = error("Y007", "nested too deeply");
pub(super) const ALIAS: Code = error("Y008", "an alias that cannot be followed");
pub(super) const TAG: Code = error("Y009", "a YAML tag");
pub(super) const KEY_NOT_TEXT: Code = error("Y010", "a key that is not text");

pub(super) const NOT_A_PLAN: Code = error("P001", "neither a plan nor a contract");
pub(super) const UNKNOWN_KEY: Code = error("P002", "an unknown key");
pub(super) const MISSING_KEY: Code = error("P003", "a required key is missing");
pub(super) const WRONG_TYPE: Code = error("P004", "a value of the wrong type");
pub(super) const VERSION: Code = error("P005", "an unsupported version");
pub(super) const NOT_A_CHOICE: Code = error("P006", "not one of the possible values");
pub(super) const OUT_OF_RANGE: Code = error("P007", "a number outside its range");
pub(super) const NAME_EMPTY: Code = error("P008", "an empty id or name");
pub(super) const NAME_INVALID: Code = error("P009", "an id or name that cannot be one");
pub(super) const ID_TWICE: Code = error("P010", "two items with one id");
pub(super) const NEED_UNKNOWN: Code = error("P011", "a need that is no item of the plan");
pub(super) const NEEDS_ITSELF: Code = error("P012", "an item that needs itself");
pub(super) const CYCLE: Code = error("P013", "a cycle of needs");
pub(super) const NEED_TWICE: Code = warning("P014", "a need named twice");
pub(super) const PLAN_TOO_LARGE: Code =
    error("P015", "too many items, needs or bytes of contracts");
pub(super) const TEXT_EMPTY: Code = error("P016", "an empty text");
pub(super) const TEXT_TOO_LONG: Code = error("P017", "a text that is too long");
pub(super) const TEXT_CONTROL: Code = error("P018", "a control character in a text");
pub(super) const LIST_TOO_LONG: Code = error("P019", "a list that is too long");
pub(super) const REPOSITORY: Code = error("P020", "not a location of a repository");
pub(super) const TARGET: Code = error("P021", "not a branch name");
pub(super) const MORE_ERRORS: Code = error("P022", "more errors than are shown");
pub(super) const MORE_WARNINGS: Code = warning("P023", "more warnings than are shown");
pub(super) const BUDGET_BEYOND_RUN: Code = warning("P024", "a budget larger than the run's");

pub(super) const NO_CRITERION: Code = error("C001", "no acceptance criterion");
pub(super) const NO_CHECKER: Code = error("C002", "a criterion without a checker");
pub(super) const CRITERION_TWICE: Code = error("C003", "two criteria with one id");
pub(super) const DELIVERABLE_OUTSIDE: Code =
    error("C004", "a deliverable outside the allowed scope");
pub(super) const NO_DELIVERABLE: Code = error("C005", "no deliverable");
pub(super) const BUDGET_NOT_POSITIVE: Code = error("C006", "a budget that is not above zero");
pub(super) const BUDGET_TOO_LARGE: Code = error("C007", "a budget above its bound");
pub(super) const RATIO_OUTSIDE: Code = error("C008", "a verification ratio that is not a share");
pub(super) const RATIO_UNUSUAL: Code = warning("C009", "a verification ratio outside 0.20 to 0.30");
pub(super) const CHECKER_CANNOT_FAIL: Code = error("C010", "a checker that cannot fail");
pub(super) const CHECKER_MASKED: Code = warning("C011", "a checker whose result a pipe hides");
pub(super) const CHECKER_NETWORK: Code = warning("C012", "a checker that needs the network");
pub(super) const VAGUE: Code = warning("C013", "a vague word");
pub(super) const SEVERAL_THINGS: Code =
    warning("C014", "a criterion that states more than one thing");
pub(super) const CONTRACT_TOO_LARGE: Code = error("C015", "a contract that is too large");
pub(super) const ACTION_MISSPELT: Code = warning("C016", "a forbidden action that looks misspelt");
pub(super) const FIRST_ARTIFACT_OUTSIDE: Code =
    error("C017", "a first artifact ratio outside 0.25 to 0.30");

pub(super) const PATH_ABSOLUTE: Code = error("S001", "an absolute path in the scope");
pub(super) const PATH_PARENT: Code = error("S002", "`..` in the scope");
pub(super) const PATH_MALFORMED: Code = error("S003", "a scope path that can never match");
pub(super) const PATH_GIT: Code = error("S004", "`.git` in the scope");
pub(super) const SCOPE_WHOLE: Code = warning("S005", "the scope is the whole repository");
pub(super) const SCOPE_CONTROLS: Code = warning("S006", "the scope holds CI or git configuration");
pub(super) const SCOPE_LOCKFILE: Code = warning("S007", "the scope holds a lockfile");
pub(super) const SCOPE_PLAN: Code = error("S008", "the scope holds the plan itself");

/// All codes, in the order of the documentation.
pub const ALL: &[Code] = &[
    FILE_EMPTY,
    NOT_UTF8,
    FILE_TOO_LARGE,
    SYNTAX,
    DOCUMENTS,
    KEY_TWICE,
    TOO_DEEP,
    ALIAS,
    TAG,
    KEY_NOT_TEXT,
    NOT_A_PLAN,
    UNKNOWN_KEY,
    MISSING_KEY,
    WRONG_TYPE,
    VERSION,
    NOT_A_CHOICE,
    OUT_OF_RANGE,
    NAME_EMPTY,
    NAME_INVALID,
    ID_TWICE,
    NEED_UNKNOWN,
    NEEDS_ITSELF,
    CYCLE,
    NEED_TWICE,
    PLAN_TOO_LARGE,
    TEXT_EMPTY,
    TEXT_TOO_LONG,
    TEXT_CONTROL,
    LIST_TOO_LONG,
    REPOSITORY,
    TARGET,
    MORE_ERRORS,
    MORE_WARNINGS,
    BUDGET_BEYOND_RUN,
    NO_CRITERION,
    NO_CHECKER,
    CRITERION_TWICE,
    DELIVERABLE_OUTSIDE,
    NO_DELIVERABLE,
    BUDGET_NOT_POSITIVE,
    BUDGET_TOO_LARGE,
    RATIO_OUTSIDE,
    RATIO_UNUSUAL,
    CHECKER_CANNOT_FAIL,
    CHECKER_MASKED,
    CHECKER_NETWORK,
    VAGUE,
    SEVERAL_THINGS,
    CONTRACT_TOO_LARGE,
    ACTION_MISSPELT,
    FIRST_ARTIFACT_OUTSIDE,
    PATH_ABSOLUTE,
    PATH_PARENT,
    PATH_MALFORMED,
    PATH_GIT,
    SCOPE_WHOLE,
    SCOPE_CONTROLS,
    SCOPE_LOCKFILE,
    SCOPE_PLAN,
];
