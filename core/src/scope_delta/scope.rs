//! Which paths a result may touch, and which kinds of tree entries it may leave behind.
//!
//! A rename is a deletion and an addition, so both of its ends are looked at; a change of the mode is a change.

use cantus_proto::contract::Contract;

use super::FileChange;
use super::finding::{Finding, Rule, list};

/// Git's file modes, as tree entries have them.
const MODE_SYMLINK: u32 = 0o120_000;
const MODE_GITLINK: u32 = 0o160_000;

/// A path out of the scope is told as that and nothing more: it must go back to what it was.
pub(super) fn weigh(contract: &Contract, changes: &[FileChange]) -> Vec<Finding> {
    changes.iter().filter_map(|change| finding(contract, change)).collect()
}

fn finding(contract: &Contract, change: &FileChange) -> Option<Finding> {
    let (rule, text) = if !contract.allowed_scope.covers(&change.path) {
        let scope = list(contract.allowed_scope.paths.iter().map(String::as_str));
        let text = format!("is outside the allowed scope ({scope}): leave it as it was");
        (Rule::OutOfScope, text)
    } else if change.mode_new == MODE_GITLINK {
        let text = "is a nested repository, whose files nobody can see here: commit its files or leave it out";
        (Rule::NestedRepository, text.to_owned())
    } else if change.mode_new == MODE_SYMLINK {
        let text =
            "is a new or changed symbolic link: a link can lead out of the scope; use a file";
        (Rule::SymbolicLink, text.to_owned())
    } else {
        return None;
    };
    Some(Finding::new(rule, &change.path, None, text))
}
