//! The gate by its own language: two sides of some files in, rules and lines out.
//!
//! Names of cases as W12 are those of the list of cases.

mod checks;
mod dependencies;
mod go;
mod hostile;
mod java;
mod javascript;
mod ordinary;
mod paths;
mod python;
mod refactor;
mod rust;

use cantus_proto::contract::Contract;
use cantus_proto::plan::Complexity;

use super::{Content, FileChange, Finding, findings};
use crate::tests::words;

const FILE: u32 = 0o100_644;
const PROGRAM: u32 = 0o100_755;

/// A contract that lets everything be touched and forbids nothing.
fn contract() -> Contract {
    let mut contract = words::contract("a");
    contract.allowed_scope.paths = vec!["**".to_owned()];
    contract.acceptance_criteria[0].checker = "true".to_owned();
    contract.forbidden_actions.clear();
    contract
}

/// The same with this checker.
fn checked_by(checker: &str) -> Contract {
    let mut contract = contract();
    contract.acceptance_criteria[0].checker = checker.to_owned();
    contract
}

/// A file of which one side or both are there.
fn change(path: &str, old: Option<&str>, new: Option<&str>) -> FileChange {
    let content =
        |text: Option<&str>| text.map_or(Content::Absent, |text| Content::Bytes(text.into()));
    let mode = |text: Option<&str>| if text.is_some() { FILE } else { 0 };
    FileChange {
        path: path.into(),
        mode_old: mode(old),
        mode_new: mode(new),
        old: content(old),
        new: content(new),
    }
}

/// `rule path:line`, or `rule path`, of each finding.
fn short(findings: &[Finding]) -> Vec<String> {
    let one = |finding: &Finding| {
        let path = String::from_utf8_lossy(&finding.path);
        let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{} {path}{line}", finding.rule.as_str())
    };
    findings.iter().map(one).collect()
}

/// What is found in these changes under this contract, without a bound of size.
fn found_under(contract: &Contract, changes: &[FileChange]) -> Vec<String> {
    short(&findings(contract, Complexity::ExtraLarge, changes))
}

fn found(changes: &[FileChange]) -> Vec<String> {
    found_under(&contract(), changes)
}

/// A row of a table: what it shows, before, after, and the expected `rule:line` of the one file.
type Row = (&'static str, &'static str, &'static str, &'static [&'static str]);

/// Runs a table over one path and tells all rows that fail at once.
fn table(path: &str, rows: &[Row]) {
    let mut failed = String::new();
    for (name, old, new, expected) in rows {
        let findings =
            findings(&contract(), Complexity::ExtraLarge, &[change(path, Some(old), Some(new))]);
        let one = |finding: &Finding| match finding.line {
            Some(line) => format!("{}:{line}", finding.rule.as_str()),
            None => finding.rule.as_str().to_owned(),
        };
        let actual: Vec<String> = findings.iter().map(one).collect();
        if actual != *expected {
            let texts: Vec<String> = findings.iter().map(ToString::to_string).collect();
            failed.push_str(&format!("{name}: expected {expected:?}, was {actual:?} {texts:#?}\n"));
        }
    }
    assert!(failed.is_empty(), "{failed}");
}
