//! What things are called in these tests: settings, plans, and ids that stand for words.

use std::sync::Arc;

use cantus_proto::contract::{AllowedScope, Budgets, Contract, Criterion};
use cantus_proto::evidence::{SigningKey, Trust, TrustedKey};
use cantus_proto::ids::{
    Blob, CommitId, ContainerName, CriterionId, Digest, ItemId, LeaseId, RepositoryId, RoleName,
    RunId, TreeId,
};
use cantus_proto::message::{Candidate, Failed, FailureKind, LeaseEvent, Usage, WorkResult};
use cantus_proto::plan::{Complexity, LandingStyle, Plan, PlanItem, RunBudgets};

use super::super::Settings;
use super::super::event::{Event, Millis, Repository, Submission};
use super::super::rules::Rules;
use super::super::scope_delta::{Content, FileChange};

/// When every world begins: some time in 2026, so that nothing rests on zero.
pub(super) const START: Millis = Millis(1_780_000_000_000);
/// Milliseconds of a lease in [`settings`].
pub(super) const LEASE_MS: u64 = 15_000;
/// Milliseconds that an attempt waits in its queue in [`settings`].
pub(super) const QUEUE_WAIT_MS: u64 = 600_000;

/// Settings with two verifications ahead and wide windows.
pub(super) fn settings() -> Settings {
    let trusted = vec![TrustedKey::new(verifier_key().verifying_key(), None)];
    Settings {
        lease_ms: LEASE_MS,
        heartbeat_ms: 2_000,
        queue_wait_ms: QUEUE_WAIT_MS,
        queue_window: 100,
        verify_ahead: 2,
        checks_max: 2,
        artifact_bytes_max: 1 << 20,
        files_max: 1_000,
        rules: Rules::default(),
        trust: Trust::new(trusted, vec![]).unwrap(),
        allow_process_isolation: false,
    }
}

pub(super) fn verifier_key() -> SigningKey {
    SigningKey::from_bytes(&[1; 32])
}

/// A plan in one line: `"a, b: a, c: a b"` has three items, of which `c` needs both others.
pub(super) fn plan(line: &str) -> Plan {
    let items = line.split(',').map(str::trim).filter(|part| !part.is_empty()).map(|part| {
        let (id, needs) = part.split_once(':').unwrap_or((part, ""));
        PlanItem {
            id: item_id(id.trim()),
            needs: needs.split_whitespace().map(item_id).collect(),
            role: role("worker"),
            verifier: role("verifier"),
            complexity: Complexity::Small,
            effort: None,
            priority: 0,
            attempts_max: 3,
            contract: std::sync::Arc::new(contract(id.trim())),
        }
    });
    Plan {
        repository: None,
        target: None,
        landing: LandingStyle::Merge,
        budgets: RunBudgets::default(),
        items: items.collect(),
    }
}

pub(crate) fn contract(goal: &str) -> Contract {
    Contract {
        goal: goal.to_owned(),
        deliverables: vec![],
        acceptance_criteria: vec![Criterion {
            id: CriterionId::new("AC-01").unwrap(),
            statement: "it holds".to_owned(),
            checker: format!("check {goal}"),
        }],
        non_goals: vec![],
        allowed_scope: AllowedScope { paths: vec!["src/".to_owned()], tools: vec![] },
        budgets: Budgets {
            wall_clock_minutes: 10,
            token_budget: Some(1_000),
            cost_budget: None,
            max_agents: 1,
            verification_ratio: 0.25,
            first_artifact_ratio: 0.30,
        },
        forbidden_actions: vec!["dependency_upgrade".to_owned()],
    }
}

pub(super) fn run_id(name: &str) -> RunId {
    RunId::new(name).unwrap()
}

pub(super) fn item_id(name: &str) -> ItemId {
    ItemId::new(name).unwrap()
}

pub(super) fn role(name: &str) -> RoleName {
    RoleName::new(name).unwrap()
}

pub(super) fn container(name: &str) -> ContainerName {
    ContainerName::new(name).unwrap()
}

/// The commit, tree, digest or blob that stands for a word.
pub(super) fn commit(word: &str) -> CommitId {
    CommitId::new(&Digest::of(word.as_bytes()).as_str()[..40]).unwrap()
}

/// See [`commit`].
pub(super) fn tree(word: &str) -> TreeId {
    TreeId::new(&Digest::of(format!("tree {word}").as_bytes()).as_str()[..40]).unwrap()
}

/// See [`commit`].
pub(super) fn digest(word: &str) -> Digest {
    Digest::of(word.as_bytes())
}

/// See [`commit`].
pub(super) fn blob(word: &str) -> Blob {
    Blob { sha256: digest(word), size_bytes: 1 }
}

pub(super) fn lease_id(drawn: u64) -> LeaseId {
    LeaseId::from_bytes(u128::from(drawn).to_be_bytes())
}

/// The work that stands for a word, without claims.
pub(super) fn work(word: &str) -> WorkResult {
    // No model, no tokens: that is measured.
    let usage = Some(Usage::default());
    WorkResult { usage, ..WorkResult::new(commit("start"), commit(word), Some(blob(word))) }
}

/// The merge of something onto a head, which has this tree.
pub(super) fn candidate(tree_word: &str, onto: &str) -> Candidate {
    Candidate {
        commit: commit(&format!("merge {tree_word} {onto}")),
        tree: tree(tree_word),
        base: commit(onto),
        bundle: blob(&format!("merge {tree_word} {onto}")),
        listing_sha256: digest(&format!("listing {tree_word}")),
    }
}

pub(super) fn submission(name: &str, plan: Plan) -> Event {
    Event::Submitted(Box::new(Submission {
        run: run_id(name),
        plan: Arc::new(plan),
        plan_blob: blob("plan"),
        repository: Some(Repository {
            id: RepositoryId::of("somewhere"),
            location: "somewhere".to_owned(),
            target: "refs/heads/main".to_owned(),
            head: commit("start"),
            style: LandingStyle::Merge,
        }),
        notice: String::new(),
    }))
}

/// An agent that gave up.
pub(super) fn failed(reason: &str) -> LeaseEvent {
    LeaseEvent::Failed(Failed::new(FailureKind::Agent, reason))
}

/// A new file with a line.
pub(super) fn added(path: &str) -> FileChange {
    FileChange {
        path: path.as_bytes().to_vec(),
        mode_old: 0,
        mode_new: 0o100_644,
        old: Content::Absent,
        new: Content::Bytes(b"a line\n".to_vec()),
    }
}
