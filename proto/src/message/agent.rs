//! What agents say, measured and in words: use of models, claims, learnings, wishes, and signs of progress.

use crate::ids::{CriterionId, Digest, ItemId, LearningId};
use crate::units::MicroUsd;

/// What an agent found out and later attempts should know (SPEC E5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learning {
    /// Follows from the rule: who learns the same again learns nothing new.
    pub id: LearningId,
    /// Where it matters.
    pub context: String,
    /// What was found.
    pub discovery: String,
    /// What to do from now on.
    pub rule: String,
    /// A command that exits with 0 in a tree that follows the rule.
    pub check: Option<String>,
}

/// Whether a tree shows that a learning was applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearningCheck {
    /// Which learning.
    pub id: LearningId,
    /// Its check exited with 0.
    pub applied: bool,
}

/// A part of an attempt's time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// `workspace`, `agent`, `checks` or `collection`.
    pub name: String,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

/// What a model wishes (SPEC B2): an opinion until the kernel confirms it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proposal {
    /// Something for people.
    Note(String),
    /// The contract is fulfilled: half of a completion, the other half is the verdict (SPEC E10).
    Done,
    /// It is not, for this reason.
    Partial(String),
    /// What should become of the item (SPEC E8).
    Diagnosis(Diagnosis),
}

/// An agent's own view of why its item fails, and of what should be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnosis {
    /// Why.
    pub reason: String,
    /// What should be done.
    pub remedy: Remedy,
}

/// See [`Diagnosis`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Try again as it is.
    Retry,
    /// Do these parts first.
    Split(Vec<Part>),
    /// A stronger model.
    Escalate,
    /// Leave it to a person.
    Skip,
}

/// A new item that a split proposes, in the terms of the item that it is a part of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Unique in the run.
    pub id: ItemId,
    /// One sentence.
    pub goal: String,
    /// As in a contract.
    pub deliverables: Vec<String>,
    /// Those of the whole's criteria that it fulfils.
    pub criteria: Vec<CriterionId>,
    /// Inside the whole's scope; empty: the whole's.
    pub paths: Vec<String>,
    /// Parts that must land before.
    pub needs: Vec<ItemId>,
}

/// What an agent says about its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Unique in the result.
    pub id: String,
    /// As said.
    pub text: String,
    /// The criterion that it is about, if it names one.
    pub criterion: Option<CriterionId>,
    /// How its author came to it.
    pub kind: ClaimKind,
    /// The standard output that it rests on, by the digest in a receipt, if it names one.
    pub receipt: Option<Digest>,
}

/// How the author of a claim came to it (SPEC B7): none of these is evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum ClaimKind {
    /// It was seen to be so.
    #[default]
    Observation,
    /// It follows from something else.
    Inference,
    /// It may be so.
    Hypothesis,
    /// It could not be looked at.
    Inaccessible,
}

/// Measured use of models.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Usage {
    /// Read by models.
    pub input_tokens: u64,
    /// Written by models.
    pub output_tokens: u64,
    /// The price of what the agent itself put a price on.
    pub cost: MicroUsd,
    /// What is left to be priced, by model; part of the sums above.
    pub unpriced: Vec<ModelTokens>,
}

/// Tokens of one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelTokens {
    /// As the agent names it; empty when it does not.
    pub model: String,
    /// Read.
    pub input_tokens: u64,
    /// Written.
    pub output_tokens: u64,
}

/// Where it is measured what a role's command uses of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum UsageSource {
    /// The agent tells it in its outbox.
    #[default]
    Outbox,
    /// The command calls no model: it is zero, and that is certain.
    None,
}

/// What there is of an attempt's work so far (SPEC B8). Counts only grow.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Pulse {
    /// Since the base.
    pub commits: u32,
    /// Some of the paths that differ from the base, as bytes.
    pub changed: Vec<Vec<u8>>,
    /// How many paths differ.
    pub changed_count: u32,
    /// Of head and changed files: other when the work is other.
    pub fingerprint: String,
    /// Claims and receipts.
    pub evidence: u32,
    /// The best that the agent told; finite.
    pub score: Option<f64>,
    /// What the agent says it cannot get past.
    pub blocker: Option<String>,
    /// What the agent says it does next.
    pub next_action: Option<String>,
    /// Rounds that the agent told.
    pub iterations: u32,
    /// Measured so far.
    pub usage: Option<Usage>,
}

impl Usage {
    /// All tokens.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl UsageSource {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Outbox, Self::None];

    /// The word in a configuration and in `CANTUS_USAGE`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Outbox => "outbox",
            Self::None => "none",
        }
    }
}
