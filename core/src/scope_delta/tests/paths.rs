//! Scope, kinds of entries, explanations, and the words and order of findings.

use super::{Content, FILE, FileChange, PROGRAM, change, contract, found, found_under};
use crate::scope_delta::{Finding, Rule, findings, wants_content};
use cantus_proto::plan::Complexity;

#[test]
fn both_ends_of_a_rename_are_in_scope_or_told() {
    let mut contract = contract();
    contract.allowed_scope.paths = vec!["src/".to_owned()];
    let inside = [
        change("src/a.rs", Some("fn a() {}\n"), None),
        change("src/b.rs", None, Some("fn a() {}\n")),
    ];
    assert!(found_under(&contract, &inside).is_empty());
    let out = [
        change("src/a.rs", Some("fn a() {}\n"), None),
        change("lib/a.rs", None, Some("fn a() {}\n")),
    ];
    assert_eq!(found_under(&contract, &out), ["out-of-scope lib/a.rs"]);
    let into = [
        change("lib/a.rs", Some("fn a() {}\n"), None),
        change("src/a.rs", None, Some("fn a() {}\n")),
    ];
    assert_eq!(found_under(&contract, &into), ["out-of-scope lib/a.rs"]);
}

#[test]
fn a_change_of_the_mode_is_a_change() {
    let mut contract = contract();
    contract.allowed_scope.paths = vec!["src/".to_owned()];
    contract.acceptance_criteria[0].checker = "src/check.sh && sh tests/run.sh".to_owned();
    let mode =
        |path: &str| FileChange { mode_new: PROGRAM, ..change(path, Some("x\n"), Some("x\n")) };
    assert_eq!(found_under(&contract, &[mode("lib/a.sh")]), ["out-of-scope lib/a.sh"]);
    assert!(found_under(&contract, &[mode("src/a.sh")]).is_empty());
    assert!(found_under(&contract, &[mode("src/test_a.py")]).is_empty());
    assert_eq!(found_under(&contract, &[mode("src/check.sh")]), ["check-edited src/check.sh"]);
}

#[test]
fn links_and_nested_repositories_are_told() {
    let entry = |mode_new| FileChange {
        path: b"src/x".to_vec(),
        mode_old: FILE,
        mode_new,
        old: Content::Bytes(b"x".to_vec()),
        new: Content::Absent,
    };
    assert_eq!(found(&[entry(0o160_000)]), ["nested-repository src/x"]);
    assert_eq!(found(&[entry(0o120_000)]), ["symbolic-link src/x"]);
    assert!(found(&[entry(0)]).is_empty());
}

#[test]
fn an_explanation_changes_nothing() {
    let mut contract = contract();
    contract.allowed_scope.paths.clear();
    assert!(found_under(&contract, &[]).is_empty());
    let changes = [change("b", None, Some("x")), change("a", None, Some("x"))];
    assert_eq!(found_under(&contract, &changes), ["explanation-only a"]);
    let text = findings(&contract, Complexity::Small, &changes)[0].to_string();
    assert_eq!(
        text,
        "a: the contract asks for an explanation, not for changes, and 2 files changed: `b`, `a`; leave the tree \
         as it was and answer in the report"
    );
}

#[test]
fn findings_are_in_order_and_paths_are_escaped() {
    let mut contract = contract();
    contract.allowed_scope.paths = vec!["src/".to_owned()];
    let mut raw = change("x", None, Some("x"));
    raw.path = b"caf\xe9/\x1b[31m\n".to_vec();
    let test = "#[test]\nfn a() { assert_eq!(f(), 1); }\n#[test]\nfn b() { assert_eq!(g(), 1); }\n";
    let changes =
        [change("tests/z.rs", Some(test), Some("")), raw, change("tests/b.rs", Some(test), None)];
    assert_eq!(
        found_under(&contract, &changes),
        [
            "out-of-scope caf\u{fffd}/\u{1b}[31m\n",
            "out-of-scope tests/b.rs",
            "test-removed tests/b.rs",
            "out-of-scope tests/z.rs",
            "test-removed tests/z.rs:2",
            "test-removed tests/z.rs:4",
        ]
    );
    let shown = findings(&contract, Complexity::Small, &changes)[0].to_string();
    assert!(
        shown.starts_with("caf\u{fffd}/\\u{1b}[31m\\n: is outside the allowed scope (`src/`)"),
        "{shown}"
    );
    let line = Finding {
        rule: Rule::TestRemoved,
        path: b"a".to_vec(),
        line: Some(3),
        text: "t".to_owned(),
    };
    assert_eq!(line.to_string(), "a:3: t");
}

#[test]
fn every_rule_has_its_word() {
    for rule in Rule::ALL {
        assert_eq!(Rule::from_word(rule.as_str()), Some(rule));
    }
    let mut words: Vec<&str> = Rule::ALL.iter().map(|rule| rule.as_str()).collect();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words.len(), 11);
    assert_eq!(Rule::from_word("no-rule"), None);
}

#[test]
fn content_is_wanted_of_texts() {
    for path in ["src/a.rs", "package.json", "Makefile", "a.test.ts", "README.md", "bin/tool"] {
        assert!(wants_content(path.as_bytes()), "{path}");
    }
    for path in ["Cargo.lock", "a/yarn.lock", "logo.PNG", "x.wasm", "lib/a.jar"] {
        assert!(!wants_content(path.as_bytes()), "{path}");
    }
}
