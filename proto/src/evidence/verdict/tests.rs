//! One case per reason why evidence does not count, and per way that it decides.

use super::super::attest::attest;
use super::super::keys::SigningKey;
use super::super::receipt::Ending;
use super::super::samples::{
    contract, coordinator_key, evidence, question, receipt, stranger_key, trust, verifier_key,
};
use super::*;

fn weighed(evidence: &[Evidence]) -> Verdict {
    verdict(&question(), evidence, &trust(), Policy::default())
}

fn reason(evidence: &[Evidence]) -> String {
    match weighed(evidence) {
        Verdict::Inconclusive { reason } => reason,
        other => panic!("{other:?}"),
    }
}

fn findings(evidence: &[Evidence]) -> Vec<String> {
    match weighed(evidence) {
        Verdict::Refuted { findings } => findings,
        other => panic!("{other:?}"),
    }
}

/// The good evidence with that of the first criterion made from a receipt that was changed.
fn with_first(change: impl FnOnce(&mut Receipt)) -> Vec<Evidence> {
    signed_by(&verifier_key(), change)
}

fn signed_by(key: &SigningKey, change: impl FnOnce(&mut Receipt)) -> Vec<Evidence> {
    let mut changed = receipt(0);
    change(&mut changed);
    let mut all = evidence();
    all[0] = attest(&changed, key).unwrap();
    all
}

/// A statement that passes and names this receipt, whatever that says.
fn claiming_passed(receipt: &Receipt) -> Evidence {
    let envelope = dsse::sign(&receipt.encode(), &verifier_key());
    let result = TestResult {
        subject: receipt.subject.clone(),
        binding: receipt.binding.clone(),
        outcome: Outcome::Passed,
        receipt: Digest::of(&envelope),
    };
    Evidence {
        criterion: receipt.binding.criterion.clone(),
        statement: dsse::sign(&result.encode(), &verifier_key()),
        receipt: envelope,
    }
}

#[test]
fn evidence_for_every_criterion_verifies() {
    assert_eq!(weighed(&evidence()), Verdict::Verified);
    let mut reversed = evidence();
    reversed.reverse();
    assert_eq!(weighed(&reversed), Verdict::Verified);
}

#[test]
fn missing_is_not_verified() {
    assert_eq!(reason(&evidence()[..1]), "AC 2/é: there is no evidence");
    assert!(reason(&[]).contains("AC-01: there is no evidence"));
    // Twice the same is not two.
    let twice = [evidence()[0].clone(), evidence()[0].clone()];
    assert_eq!(reason(&twice), "AC 2/é: there is no evidence");
    // The unsigned field does not move evidence to another criterion.
    let mut moved = twice;
    moved[1].criterion = receipt(1).binding.criterion;
    assert_eq!(reason(&moved), "AC 2/é: there is no evidence");
}

#[test]
fn a_contract_without_criteria_is_not_verified() {
    let mut nothing = question();
    nothing.checkers.clear();
    let verdict = verdict(&nothing, &evidence(), &trust(), Policy::default());
    assert!(matches!(verdict, Verdict::Inconclusive { .. }), "{verdict:?}");
}

#[test]
fn only_trusted_verifiers_count() {
    for key in [stranger_key(), coordinator_key()] {
        let reason = reason(&signed_by(&key, |_| {}));
        assert!(reason.contains("AC-01: statement not believed: no signature"), "{reason}");
    }
    // What a stranger calls failed refutes nothing.
    let slander = signed_by(&stranger_key(), |receipt| receipt.ending = Ending::Exit(1));
    reason(&slander);
}

#[test]
fn another_tree_is_named_beside_the_right_one() {
    let other = "b".repeat(40);
    let all = with_first(|receipt| receipt.subject.tree = TreeId::new(&other).unwrap());
    let expected =
        format!("AC-01: evidence is for tree {other}, not for {}", question().subject.tree);
    assert_eq!(reason(&all), expected);
}

#[test]
fn evidence_of_other_work_does_not_count() {
    type Change = fn(&mut Receipt);
    let changes: [(&str, Change); 5] = [
        ("git ls-tree sha256", |r| r.subject.listing = Digest::of(b"other")),
        ("run", |r| r.binding.run = RunId::new("run-2").unwrap()),
        ("item", |r| r.binding.item = ItemId::new("item.2").unwrap()),
        ("checker", |r| r.binding.checker = Digest::of(b"exit 0")),
        // Failed for another tree is no failure of this one.
        ("tree", |r| {
            r.subject.tree = TreeId::new("b".repeat(40)).unwrap();
            r.ending = Ending::Exit(1);
        }),
    ];
    for (what, change) in changes {
        let reason = reason(&with_first(change));
        assert!(reason.contains(&format!("AC-01: evidence is for {what} ")), "{reason}");
    }
    let stray = with_first(|r| r.binding.criterion = CriterionId::new("AC-99").unwrap());
    assert_eq!(reason(&stray), "AC-01: there is no evidence");
}

#[test]
fn a_trusted_failure_refutes_whatever_else_passed() {
    let failed = with_first(|receipt| receipt.ending = Ending::Exit(1))[0].clone();
    for position in [0, 2] {
        let mut all = evidence();
        all.insert(position, failed.clone());
        assert_eq!(findings(&all), ["AC-01: exit code 1"]);
    }
    // Also without its receipt, and beside evidence that is missing.
    let bare = Evidence { receipt: vec![], ..failed };
    assert_eq!(findings(&[bare]), ["AC-01: a trusted verifier says FAILED"]);
}

#[test]
fn the_receipt_decides_over_the_statement() {
    let mut failed = receipt(0);
    failed.ending = Ending::Exit(1);
    let found = findings(&[claiming_passed(&failed), evidence()[1].clone()]);
    assert_eq!(found, ["AC-01: the statement says PASSED, but its receipt shows: exit code 1"]);
    failed.ending = Ending::TimedOut;
    let reason = reason(&[claiming_passed(&failed), evidence()[1].clone()]);
    assert!(reason.contains("time limit"), "{reason}");
}

#[test]
fn a_pass_needs_its_own_receipt() {
    let mut swapped = evidence();
    swapped[0].receipt = swapped[1].receipt.clone();
    assert!(reason(&swapped).contains("the statement names"));
    let mut other_command = receipt(0);
    other_command.argv = super::super::receipt::checker_argv("true");
    let reason = reason(&[claiming_passed(&other_command), evidence()[1].clone()]);
    assert!(reason.contains("argv is not the checker"), "{reason}");
}

#[test]
fn a_pass_makes_up_for_what_does_not_count() {
    let mut all = signed_by(&stranger_key(), |_| {});
    all.push(evidence()[0].clone());
    assert_eq!(weighed(&all), Verdict::Verified);
    let broken = Evidence { statement: b"{".to_vec(), ..evidence()[0].clone() };
    all.push(broken);
    assert_eq!(weighed(&all), Verdict::Verified);
}

#[test]
fn process_isolation_lands_by_flag_alone() {
    let all = with_first(|receipt| receipt.binding.isolation = Isolation::Process);
    assert!(reason(&all).contains(PROCESS_ISOLATION_FLAG));
    let policy = Policy { allow_process_isolation: true };
    assert_eq!(verdict(&question(), &all, &trust(), policy), Verdict::Verified);
}

#[test]
fn a_changed_checker_makes_old_evidence_useless() {
    let mut edited = contract();
    edited.acceptance_criteria[0].checker = "pytest -q || true".to_owned();
    let Question { run, item, subject, .. } = question();
    let edited = Question::new(run, item, &edited, subject.tree, subject.listing);
    let verdict = verdict(&edited, &evidence(), &trust(), Policy::default());
    assert!(matches!(verdict, Verdict::Inconclusive { .. }), "{verdict:?}");
}
