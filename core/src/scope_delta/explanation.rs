//! A change where only an explanation was asked (SPEC B6).
//!
//! A contract without allowed paths asks for words: for a report, an answer, a diagnosis.

use cantus_proto::contract::Contract;

use super::finding::{Finding, Rule, list};
use super::{FileChange, text};

/// One finding for all changes, when there should be none.
pub(super) fn weigh(contract: &Contract, changes: &[FileChange]) -> Option<Finding> {
    let first = changes.iter().map(|change| &change.path).min()?;
    if !contract.allowed_scope.paths.is_empty() {
        return None;
    }
    let names: Vec<String> = changes.iter().map(|change| text::lossy(&change.path)).collect();
    let text = format!(
        "the contract asks for an explanation, not for changes, and {} changed: {}; leave the tree as it was \
         and answer in the report",
        if changes.len() == 1 { "one file".to_owned() } else { format!("{} files", changes.len()) },
        list(names.iter().map(String::as_str)),
    );
    Some(Finding::new(Rule::ExplanationOnly, first, None, text))
}
