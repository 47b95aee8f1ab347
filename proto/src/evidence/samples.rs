//! Values that the tests of evidence share: fixed keys, one contract, one tree.

use super::attest::{Evidence, attest};
use super::keys::SigningKey;
use super::receipt::{Ending, Receipt, checker_argv, checker_digest};
use super::statement::{Binding, Subject};
use super::trust::{Trust, TrustedKey};
use super::verdict::Question;
use crate::contract::{AllowedScope, Budgets, Contract, Criterion};
use crate::ids::{AttemptNumber, CriterionId, Digest, ItemId, RunId, TreeId};
use crate::message::Isolation;

pub(super) fn verifier_key() -> SigningKey {
    SigningKey::from_bytes(&[1; 32])
}

pub(super) fn coordinator_key() -> SigningKey {
    SigningKey::from_bytes(&[2; 32])
}

pub(super) fn stranger_key() -> SigningKey {
    SigningKey::from_bytes(&[3; 32])
}

pub(super) fn trust() -> Trust {
    let trusted = |key: SigningKey| vec![TrustedKey::new(key.verifying_key(), None)];
    Trust::new(trusted(verifier_key()), trusted(coordinator_key())).unwrap()
}

pub(super) fn subject() -> Subject {
    Subject {
        tree: TreeId::new("4b825dc642cb6eb9a060e54bf8d69288fbee4904").unwrap(),
        listing: Digest::of(b""),
    }
}

pub(super) fn contract() -> Contract {
    let criterion = |id: &str, checker: &str| Criterion {
        id: CriterionId::new(id).unwrap(),
        statement: "it holds".to_owned(),
        checker: checker.to_owned(),
    };
    Contract {
        goal: "Something holds".to_owned(),
        deliverables: vec![],
        acceptance_criteria: vec![criterion("AC-01", "pytest -q"), criterion("AC 2/é", "true")],
        non_goals: vec![],
        allowed_scope: AllowedScope { paths: vec![], tools: vec![] },
        budgets: Budgets {
            wall_clock_minutes: 1,
            token_budget: Some(1),
            cost_budget: None,
            max_agents: 1,
            verification_ratio: 0.25,
            first_artifact_ratio: 0.30,
        },
        forbidden_actions: vec![],
    }
}

pub(super) fn question() -> Question {
    let Subject { tree, listing } = subject();
    let (run, item) = (RunId::new("run-1").unwrap(), ItemId::new("item.1").unwrap());
    Question::new(run, item, &contract(), tree, listing)
}

/// A receipt of the contract's criterion with this position, that ended well.
pub(super) fn receipt(criterion: usize) -> Receipt {
    let criterion = &contract().acceptance_criteria[criterion];
    Receipt {
        subject: subject(),
        binding: Binding {
            run: RunId::new("run-1").unwrap(),
            item: ItemId::new("item.1").unwrap(),
            attempt: AttemptNumber(2),
            criterion: criterion.id.clone(),
            checker: checker_digest(criterion),
            isolation: Isolation::Container,
        },
        argv: checker_argv(&criterion.checker),
        ending: Ending::Exit(0),
        stdout: Digest::of(b"out"),
        stderr: Digest::of(b""),
        output_truncated: false,
        duration_ms: 1_234,
        image: "sha256:abc".to_owned(),
        host: "host-1".to_owned(),
        counts: None,
        changed_files: vec![],
    }
}

/// Evidence for every criterion, that holds.
pub(super) fn evidence() -> Vec<Evidence> {
    (0..2).map(|n| attest(&receipt(n), &verifier_key()).unwrap()).collect()
}
