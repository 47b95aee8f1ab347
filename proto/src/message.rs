//! What crosses the bus, as the domain sees it: every value here is valid.
//!
//! How a message becomes bytes and back is in [`crate::wire`]; there is no other way in from outside. What
//! the messages mean for an item is the coordinator's affair.

mod agent;

use std::collections::BTreeMap;

pub use agent::{
    Claim, ClaimKind, Diagnosis, Learning, LearningCheck, ModelTokens, Part, Phase, Proposal,
    Pulse, Remedy, Usage, UsageSource,
};

use crate::contract::Contract;
/// Signed evidence about one criterion, as it crosses the bus.
pub use crate::evidence::Evidence as Envelope;
use crate::ids::{
    AttemptNumber, Blob, CommitId, ContainerName, Digest, HostName, ItemId, LeaseId, RepositoryId,
    RoleName, RunId, TreeId,
};
use crate::plan::Effort;
use crate::units::MicroUsd;

/// One attempt at an item, published for a worker or verifier to take.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// Whose item it is.
    pub run: RunId,
    /// Which item.
    pub item: ItemId,
    /// Which attempt, counted in the journal.
    pub number: AttemptNumber,
    /// Who may take it.
    pub role: RoleName,
    /// What must be achieved.
    pub contract: Contract,
    /// Which mirror has the source.
    pub repository: RepositoryId,
    /// Full name of the ref that the work is for, as `refs/heads/main`.
    pub target: String,
    /// The base must contain this commit; for a verification it is the candidate's base.
    pub base_min: CommitId,
    /// What to do.
    pub work: Work,
    /// Which model, and how hard it should try.
    pub route: Route,
    /// What went before, when the route was changed because of it; for the agent.
    pub preamble: Option<String>,
    /// Of work: to be applied. Of a verification: to be looked for.
    pub learnings: Vec<Learning>,
    /// Bounds of this attempt.
    pub limits: AttemptLimits,
}

/// Which model works, and how hard it should try (SPEC E3).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Route {
    /// As the agent's command line knows it; empty: the role's own.
    pub model: String,
    /// For models that can be told.
    pub effort: Effort,
}

/// What an attempt is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// Fulfil the contract from the base.
    Produce,
    /// Fulfil it after a refuted attempt.
    Repair(Defect),
    /// Check a candidate.
    Verify(Verification),
}

/// What an attempt is to do, without the particulars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AttemptKind {
    /// See [`Work::Produce`].
    Produce,
    /// See [`Work::Repair`].
    Repair,
    /// See [`Work::Verify`].
    Verify,
}

/// A candidate to check, and who must not check it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// The commit under test.
    pub candidate: Candidate,
    /// The container that produced it (SPEC B12).
    pub worker_excluded: Option<ContainerName>,
}

/// A commit under test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The merge of base and result.
    pub commit: CommitId,
    /// What evidence binds to.
    pub tree: TreeId,
    /// The commit of the target that it was merged onto.
    pub base: CommitId,
    /// `base..commit`.
    pub bundle: Blob,
    /// sha256 of `git ls-tree -r -z --full-tree`.
    pub listing_sha256: Digest,
}

/// What a repair may know of the attempt before it: the findings and the diff, never the producer's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defect {
    /// One line.
    pub summary: String,
    /// What was found, in order.
    pub findings: Vec<String>,
    /// The refuted work, when there was any.
    pub work: Option<Commits>,
}

/// Commits that were put into the blob store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commits {
    /// The git bundle of `base..head`.
    pub bundle: Blob,
    /// The bundle needs it.
    pub base: CommitId,
    /// The bundle brings it.
    pub head: CommitId,
}

/// Bounds of one attempt; all are above zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptLimits {
    /// Pause between heartbeats, in milliseconds; below the lease.
    pub heartbeat_ms: u64,
    /// A lease without a heartbeat for this long is over, in milliseconds.
    pub lease_ms: u64,
    /// The whole attempt, in milliseconds.
    pub wall_clock_ms: u64,
    /// One artifact, in bytes.
    pub artifact_bytes_max: u64,
    /// Files that the result may change.
    pub files_max: u32,
    /// Tokens reserved for it; nothing when they are not limited.
    pub tokens_max: Option<u64>,
    /// Money reserved for it; nothing when it is not limited.
    pub cost_max: Option<MicroUsd>,
    /// How often the workspace is looked at for progress, in milliseconds.
    pub window_ms: u64,
}

/// What pools, workers and verifiers tell the coordinator.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "nearly every report is the large one")]
pub enum Report {
    /// About a lease, by its holder or by the salvage of its workspace.
    Lease(LeaseReport),
    /// A pool saw a container end, whatever it was doing.
    ContainerExited(ContainerExited),
}

/// A report about one lease.
#[derive(Debug, Clone, PartialEq)]
pub struct LeaseReport {
    /// Chosen by the holder.
    pub lease: LeaseId,
    /// Of the attempt taken.
    pub run: RunId,
    /// Of the attempt taken.
    pub item: ItemId,
    /// Of the attempt taken.
    pub attempt: AttemptNumber,
    /// Of the attempt taken.
    pub kind: AttemptKind,
    /// What happened.
    pub body: LeaseEvent,
}

/// What happened to a lease.
#[derive(Debug, Clone, PartialEq)]
pub enum LeaseEvent {
    /// It began.
    Leased(Leased),
    /// The agent said something.
    Progress(String),
    /// A worker hands in.
    Result(WorkResult),
    /// A verifier hands in.
    Evidence(Evidence),
    /// It ended without a hand-in.
    Failed(Failed),
    /// Its work was kept before its workspace went.
    Saved(Saved),
}

/// Who took an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leased {
    /// Role of the taker.
    pub role: RoleName,
    /// Where it runs.
    pub host: HostName,
    /// Which container (or process).
    pub container: ContainerName,
    /// How it is kept apart.
    pub isolation: Isolation,
    /// The commit that the work starts from; nothing for a verification.
    pub base: Option<CommitId>,
    /// The image that it runs in, for the evidence.
    pub image: String,
}

/// How an agent is kept apart from the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isolation {
    /// A container without network.
    Container,
    /// A plain process: development and benchmarks only.
    Process,
}

/// What a worker hands in.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkResult {
    /// The commit that the work started from.
    pub base: CommitId,
    /// Its last commit; equal to `base` when nothing was done.
    pub head: CommitId,
    /// `base..head`; nothing exactly when they are equal.
    pub bundle: Option<Blob>,
    /// Commands that ran.
    pub receipts: Vec<Receipt>,
    /// What the agent says.
    pub claims: Vec<Claim>,
    /// Nothing when it was not measured, which is not zero.
    pub usage: Option<Usage>,
    /// What the agent noticed.
    pub findings: Vec<String>,
    /// Output of the agent.
    pub log: Option<Blob>,
    /// For later attempts.
    pub learnings: Vec<Learning>,
    /// What it wishes.
    pub proposals: Vec<Proposal>,
    /// What its time went into.
    pub phases: Vec<Phase>,
}

impl WorkResult {
    /// A result of which nothing else is known.
    #[must_use]
    pub fn new(base: CommitId, head: CommitId, bundle: Option<Blob>) -> Self {
        Self {
            base,
            head,
            bundle,
            receipts: Vec::new(),
            claims: Vec::new(),
            usage: None,
            findings: Vec::new(),
            log: None,
            learnings: Vec::new(),
            proposals: Vec::new(),
            phases: Vec::new(),
        }
    }
}

impl Failed {
    /// A failure of which nothing else is known.
    #[must_use]
    pub fn new(kind: FailureKind, reason: impl Into<String>) -> Self {
        Self {
            kind,
            reason: reason.into(),
            log: None,
            usage: None,
            learnings: Vec::new(),
            proposals: Vec::new(),
            phases: Vec::new(),
        }
    }
}

/// The record that one command ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Program and arguments.
    pub argv: Vec<String>,
    /// How it ended.
    pub exit: Exit,
    /// Its wall clock ended it.
    pub timed_out: bool,
    /// Digest of all its standard output.
    pub stdout_sha256: Digest,
    /// Digest of all its standard error.
    pub stderr_sha256: Digest,
    /// How long it ran, in milliseconds.
    pub duration_ms: u64,
    /// What it ran for: `agent`, `build`, `typecheck`, `lint` or `test`.
    pub purpose: String,
    /// What it could see of the environment that matters.
    pub environment: BTreeMap<String, String>,
    /// The log has not all of its output.
    pub output_truncated: bool,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// By itself.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// What a verifier hands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// What it is about.
    pub tree: TreeId,
    /// One for each criterion that was decided.
    pub envelopes: Vec<Envelope>,
    /// Output of the checkers.
    pub log: Option<Blob>,
    /// Why something could not be decided.
    pub inconclusive: Option<String>,
    /// Of the learnings that have a check.
    pub learnings: Vec<LearningCheck>,
}

/// An attempt that ended without a hand-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// For decisions.
    pub kind: FailureKind,
    /// For people.
    pub reason: String,
    /// What there was of output.
    pub log: Option<Blob>,
    /// As of a result.
    pub usage: Option<Usage>,
    /// As of a result.
    pub learnings: Vec<Learning>,
    /// As of a result.
    pub proposals: Vec<Proposal>,
    /// As of a result.
    pub phases: Vec<Phase>,
}

/// Why an attempt ended without a hand-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FailureKind {
    /// The agent or its command failed.
    Agent,
    /// No usable workspace.
    Workspace,
    /// An artifact over its limit.
    TooLarge,
    /// Wall clock.
    Timeout,
    /// Told to stop.
    Stopped,
}

/// Work kept of a lease that ended without a hand-in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// What was kept.
    pub commits: Commits,
    /// Why it was necessary.
    pub reason: String,
}

/// A container ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerExited {
    /// Which one.
    pub container: ContainerName,
    /// Its exit code.
    pub exit_code: i64,
    /// The kernel ended it for its memory.
    pub out_of_memory: bool,
}

/// A lease holder asks whether to go on.
#[derive(Debug, Clone, PartialEq)]
pub struct Heartbeat {
    /// Its lease.
    pub lease: LeaseId,
    /// Of the attempt taken.
    pub run: RunId,
    /// Of the attempt taken.
    pub item: ItemId,
    /// Of the attempt taken.
    pub attempt: AttemptNumber,
    /// What it is doing, for people; may be empty.
    pub note: String,
    /// What there is of its work; nothing until the workspace was looked at.
    pub pulse: Option<Pulse>,
}

/// The coordinator's answer to a heartbeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeartbeatReply {
    /// The lease holds. All that the kernel demands of the attempt so far, in order.
    GoOn(Vec<String>),
    /// It does not: superseded, cancelled, expired or unknown.
    Stop(String),
}

/// The target moved, and this bundle brings a mirror up to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceUpdate {
    /// Which mirror.
    pub repository: RepositoryId,
    /// Full name of the ref.
    pub target: String,
    /// Where it points now.
    pub head: CommitId,
    /// What the bundle needs; nothing when it is complete.
    pub prerequisite: Option<CommitId>,
    /// The bundle.
    pub bundle: Blob,
}

/// What a workspace remembers of its lease, for salvage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseNote {
    /// Whose workspace it is.
    pub lease: LeaseId,
    /// Of the attempt taken.
    pub run: RunId,
    /// Of the attempt taken.
    pub item: ItemId,
    /// Of the attempt taken.
    pub attempt: AttemptNumber,
    /// Of the attempt taken.
    pub kind: AttemptKind,
    /// Which mirror has the base.
    pub repository: RepositoryId,
    /// The commit that the work started from.
    pub base: CommitId,
    /// One artifact, in bytes.
    pub artifact_bytes_max: u64,
    /// Files that the result may change.
    pub files_max: u32,
}

impl Work {
    /// What it is, without the particulars.
    #[must_use]
    pub fn kind(&self) -> AttemptKind {
        match self {
            Self::Produce => AttemptKind::Produce,
            Self::Repair(_) => AttemptKind::Repair,
            Self::Verify(_) => AttemptKind::Verify,
        }
    }
}
