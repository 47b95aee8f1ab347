//! Plans and contracts as text, and what is said of them: (line, column, code).

mod contracts;
mod plans;
mod yaml;

use super::super::codes::ALL;
use super::super::{Compiled, Plan, Severity};
use super::*;

type Found = (u32, u32, &'static str);

/// A whole contract as people write it (SPEC B1).
const EXAMPLE: &str = r#"goal: "Empty passwords are refused at login"
deliverables: ["src/auth/validator.ts smallest change", "a regression test and a report"]
acceptance_criteria:
  - {id: AC-01, statement: "an empty password gives a validation error", checker: "pytest tests/auth/test_login.py::test_empty_password"}
  - {id: AC-02, statement: "the login tests that exist still pass", checker: "pytest tests/auth"}
non_goals: ["replacing the auth library", "unrelated refactoring", "removing or weakening tests"]
allowed_scope: {paths: ["src/auth/validator.ts", "tests/auth/"], tools: ["read", "edit", "bash:test"]}
budgets: {wall_clock_minutes: 45, token_budget: 350000, max_agents: 2, verification_ratio: 0.25}
forbidden_actions: ["dependency_upgrade", "network_egress", "production_deploy"]
"#;

/// The rest of an item's line, after its own keys.
const CONTRACT: &str = "contract: {goal: g, deliverables: [a report], acceptance_criteria: \
     [{id: A, statement: s, checker: test -f a}], allowed_scope: {paths: [src/]}}";

fn found(compiled: &Compiled) -> Vec<Found> {
    compiled.diagnostics.iter().map(|d| (d.line, d.column, d.code)).collect()
}

#[track_caller]
fn assert_found(text: &str, expected: &[Found]) -> Compiled {
    let compiled = compile("plan.yaml", text);
    assert_eq!(found(&compiled), expected, "of:\n{text}\n{:#?}", compiled.diagnostics);
    let refused = compiled.diagnostics.iter().any(|d| d.severity == Severity::Error);
    assert_eq!(compiled.plan.is_none(), refused, "a plan comes out just when there is no error");
    for diagnostic in &compiled.diagnostics {
        assert!(!diagnostic.message.is_empty() && !diagnostic.hint.is_empty(), "{diagnostic}");
    }
    compiled
}

#[track_caller]
fn assert_compiles(text: &str) -> Plan {
    assert_found(text, &[]).plan.expect("nothing was found")
}

/// Items on lines 4 and on, each `- {<its keys>, contract: …}`: its first key is in column 4.
fn plan_of(items: &[&str]) -> String {
    let mut text =
        "version: 1\ndefaults: {budgets: {wall_clock_minutes: 5, token_budget: 9}}\nitems:\n"
            .to_owned();
    for item in items {
        text.push_str(&format!("- {{{item}, {CONTRACT}}}\n"));
    }
    text
}

#[test]
fn every_code_has_a_test_and_is_documented_once() {
    let tests = [
        include_str!("tests/contracts.rs"),
        include_str!("tests/plans.rs"),
        include_str!("tests/yaml.rs"),
    ];
    let documented = include_str!("../../../../docs/PLAN.md");
    for code in ALL {
        let quoted = format!("\"{}\"", code.id);
        assert!(tests.iter().any(|text| text.contains(&quoted)), "{} has no test", code.id);
        let row = format!("| {} | {} |", code.id, code.severity);
        assert_eq!(documented.matches(&row).count(), 1, "docs/PLAN.md must have one row {row:?}");
        assert_eq!(
            ALL.iter().filter(|other| other.id == code.id).count(),
            1,
            "{} is used twice",
            code.id
        );
    }
    let rows =
        documented.lines().filter(|l| l.contains("| error |") || l.contains("| warning |")).count();
    assert_eq!(rows, ALL.len(), "docs/PLAN.md has rows of codes that do not exist");
}

#[test]
fn the_examples_of_the_documentation_compile() {
    let mut blocks = include_str!("../../../../docs/PLAN.md").split("```yaml\n").skip(1).peekable();
    assert!(blocks.peek().is_some());
    for block in blocks {
        assert_compiles(block.split("```").next().unwrap());
    }
}
