//! Golden bytes of each statement, and subjects that are not exact.

use super::super::receipt::{Ending, Receipt};
use super::super::samples::{question, receipt, subject};
use super::super::summary::Summary;
use super::super::test_result::{Outcome, TestResult};
use super::super::verdict::Policy;
use super::super::{counts::TestCounts, dossier};
use super::*;
use crate::ids::RepositoryId;

fn result() -> TestResult {
    let Receipt { subject, binding, .. } = receipt(0);
    TestResult { subject, binding, outcome: Outcome::Passed, receipt: Digest::of(b"receipt") }
}

fn summary() -> Summary {
    Summary {
        question: question(),
        policy: Policy::default(),
        repository: RepositoryId::new("0123456789abcdef").unwrap(),
        target: "refs/heads/main".to_owned(),
        verified_s: 1_796_060_768,
        inputs: [(dossier::statement_name(&receipt(0).binding.criterion), Digest::of(b"s"))].into(),
    }
}

#[test]
fn the_bytes_of_statements_stay() {
    for (name, golden, bytes) in [
        ("test result", include_str!("golden/test_result.json"), result().encode()),
        ("receipt", include_str!("golden/receipt.json"), full_receipt().encode()),
        ("summary", include_str!("golden/summary.json"), summary().encode()),
    ] {
        assert_eq!(String::from_utf8(bytes).unwrap(), golden.trim_end(), "{name}");
    }
}

fn full_receipt() -> Receipt {
    Receipt {
        ending: Ending::Signal(11),
        counts: Some(TestCounts { passed: 612, failed: 0, errors: 1, skipped: 2 }),
        changed_files: vec!["a b".to_owned()],
        output_truncated: true,
        ..receipt(1)
    }
}

#[test]
fn statements_come_back() {
    for outcome in [Outcome::Passed, Outcome::Warned, Outcome::Failed] {
        let result = TestResult { outcome, ..result() };
        assert_eq!(TestResult::decode(&result.encode()).unwrap(), result);
    }
    for ending in [Ending::Exit(0), Ending::Exit(3), Ending::Signal(9), Ending::TimedOut] {
        let receipt = Receipt { ending, ..full_receipt() };
        assert_eq!(Receipt::decode(&receipt.encode()).unwrap(), receipt);
    }
    assert_eq!(Summary::decode(&summary().encode()).unwrap(), summary());
}

#[test]
fn the_subjects_are_exact() {
    let text = String::from_utf8(result().encode()).unwrap();
    let tree = format!(r#"{{"name":"tree","digest":{{"gitTree":"{}"}}}}"#, subject().tree);
    let listing =
        format!(r#"{{"name":"git-ls-tree","digest":{{"sha256":"{}"}}}}"#, subject().listing);
    assert!(text.contains(&format!("[{tree},{listing}]")), "{text}");
    let both = tree.replace("}}", &format!(r#","sha256":"{}"}}}}"#, subject().listing));
    for (from, to) in [
        (tree.clone(), both),
        (format!("{tree},"), String::new()),
        (tree.clone(), format!("{tree},{tree}")),
        (format!("{tree},{listing}"), format!("{listing},{tree}")),
        (listing.clone(), format!("{listing},{listing}")),
        (r#"{"name":"tree","#.to_owned(), r#"{"uri":"x","name":"tree","#.to_owned()),
        (r#"{"gitTree""#.to_owned(), r#"{"gitCommit""#.to_owned()),
        ("4b825d".to_owned(), "4B825D".to_owned()),
    ] {
        let changed = text.replace(&from, &to);
        assert_ne!(changed, text, "{from}");
        assert!(TestResult::decode(changed.as_bytes()).is_err(), "{to}");
    }
}

#[test]
fn one_kind_is_not_read_as_another() {
    assert!(matches!(TestResult::decode(&receipt(0).encode()), Err(StatementError::Type { .. })));
    assert!(matches!(Receipt::decode(&summary().encode()), Err(StatementError::Type { .. })));
    assert!(matches!(Summary::decode(&result().encode()), Err(StatementError::Type { .. })));
    assert!(matches!(Summary::decode(b"[]"), Err(StatementError::Json { .. })));
}

#[test]
fn values_that_make_no_sense_are_named() {
    let refused = |text: Vec<u8>, from: &str, to: &str| {
        let text = String::from_utf8(text).unwrap();
        let changed = text.replace(from, to);
        assert_ne!(changed, text, "{from}");
        changed
    };
    for (from, to) in [
        ("PASSED", "GREAT"),
        (r#""failedTests":[]"#, r#""failedTests":["x"]"#),
        (r#""name":"checker""#, r#""name":"other""#),
        (r#""isolation":"container""#, r#""isolation":"none""#),
        (r#""run":"run-1""#, r#""run":"""#),
    ] {
        let text = refused(result().encode(), from, to);
        assert!(TestResult::decode(text.as_bytes()).is_err(), "{to}");
    }
    for (from, to) in [
        (r#""signal":11"#, r#""signal":11,"exitCode":0"#),
        (r#""timedOut":false"#, r#""timedOut":true"#),
        (r#""signal":11,"#, ""),
    ] {
        let text = refused(full_receipt().encode(), from, to);
        assert!(Receipt::decode(text.as_bytes()).is_err(), "{to}");
    }
    for (from, to) in [
        (r#""verificationResult":"PASSED""#, r#""verificationResult":"FAILED""#),
        ("CANTUS_EVERY_CRITERION_VERIFIED", "FAILED"),
        ("2026-11-30T17:46:08Z", "yesterday"),
        (r#""id":"AC-01""#, r#""id":"AC-02""#),
        ("urn:cantus:repository:", "https://"),
    ] {
        let text = refused(summary().encode(), from, to);
        assert!(Summary::decode(text.as_bytes()).is_err(), "{to}");
    }
}
