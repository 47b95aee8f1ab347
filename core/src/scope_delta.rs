//! The scope delta gate (SPEC B6): what a result may not change without a person's word.
//!
//! Everything is read from tree entries and bytes, never from a file system. Each rule is a function of the
//! contract and the changes, in the module of its name, and knows nothing of the others:
//!
//! 1. An *explanation* was asked for: any change is one finding, and nothing else is weighed.
//! 2. *Scope*: every path, and both ends of a rename, lies in the allowed scope; no nested repository, no link.
//! 3. *Dependencies*: no manifest declares more than before, unless the contract names that very file; nothing
//!    about them changes where the contract forbids it.
//! 4. *Weakening*: no test is removed, skipped, or made to expect less than before.
//! 5. *Checks*: neither the commands that checkers run nor the selection of the tests is edited.
//! 6. *Refactor*: the change is not far larger than the item's complexity.
//!
//! It is a filter that puts a change to a person, not a proof: `docs/GATES.md` says what it cannot see.

mod checks;
mod dependencies;
mod explanation;
mod finding;
mod ini;
mod refactor;
mod scope;
#[cfg(test)]
mod tests;
mod tests_of;
mod text;
mod tokens;
mod weakening;

use cantus_proto::contract::Contract;
use cantus_proto::plan::Complexity;

pub use finding::{Finding, Rule};

/// Largest file whose text is weighed, in bytes. People write no larger tests or manifests by hand, and each
/// reading keeps a few times its size in memory.
pub const WEIGHED_BYTES_MAX: usize = 1024 * 1024;

/// One path whose tree entry differs between base and result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Raw, relative to the root of the repository.
    pub path: Vec<u8>,
    /// Git's mode before; 0 where the path was absent.
    pub mode_old: u32,
    /// Git's mode after; 0 where the path is gone.
    pub mode_new: u32,
    /// What it held before.
    pub old: Content,
    /// What it holds now.
    pub new: Content,
}

/// What one side of a change holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// There is no file: the path is absent, or a nested repository.
    Absent,
    /// The whole file, or the target of a link.
    Bytes(Vec<u8>),
    /// Not read, because it is so many bytes.
    TooLarge(u64),
}

impl Content {
    /// The bytes, where there are any and they are few enough to be weighed.
    fn weighed(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) if bytes.len() <= WEIGHED_BYTES_MAX => Some(bytes),
            _ => None,
        }
    }

    fn is_too_large(&self) -> bool {
        match self {
            Self::Absent => false,
            Self::Bytes(bytes) => bytes.len() > WEIGHED_BYTES_MAX,
            Self::TooLarge(_) => true,
        }
    }
}

impl FileChange {
    /// Nothing but the mode differs.
    fn is_mode_only(&self) -> bool {
        self.mode_old != 0
            && self.mode_new != 0
            && self.old == self.new
            && matches!(self.old, Content::Bytes(_))
    }

    fn name(&self) -> &[u8] {
        tests_of::name(&self.path)
    }
}

/// What a person must look at before this result may be merged, by path, line and rule; nothing when it passes.
#[must_use]
pub fn findings(
    contract: &Contract,
    complexity: Complexity,
    changes: &[FileChange],
) -> Vec<Finding> {
    if let Some(finding) = explanation::weigh(contract, changes) {
        return vec![finding];
    }
    let mut findings = scope::weigh(contract, changes);
    findings.extend(dependencies::weigh(contract, changes));
    findings.extend(weakening::weigh(changes));
    findings.extend(checks::weigh(contract, changes));
    findings.extend(refactor::weigh(complexity, changes));
    let place = |finding: &Finding| (finding.path.clone(), finding.line, finding.rule);
    findings.sort_by_cached_key(place);
    findings.dedup_by(|a, b| a.rule == b.rule && a.path == b.path && a.line == b.line);
    findings
}

/// Whether the gate needs the bytes of this file: not those of locks, pictures and other binaries.
#[must_use]
pub fn wants_content(path: &[u8]) -> bool {
    !dependencies::is_lock(path) && !tests_of::is_binary(path)
}
