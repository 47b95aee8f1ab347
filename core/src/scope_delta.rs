//! The scope delta gate (SPEC B6): what a change may touch.
//!
//! It reads tree entries, never a file system: path, modes and bytes before and after. All findings at once.

mod finding;

use cantus_proto::contract::Contract;
use cantus_proto::plan::Complexity;

pub use finding::{Finding, Rule};

/// One tree entry that a result changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// Raw bytes.
    pub path: Vec<u8>,
    /// Mode before, 0 when it did not exist.
    pub mode_old: u32,
    /// Mode after, 0 when it is gone.
    pub mode_new: u32,
    /// What it held.
    pub old: Content,
    /// What it holds.
    pub new: Content,
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// There is none: the entry is not there, or not a file.
    Absent,
    /// All of it.
    Bytes(Vec<u8>),
    /// It was not read; its size in bytes.
    TooLarge(u64),
}

/// Whether the gate needs to see what a file holds.
#[must_use]
pub fn wants_content(_path: &[u8]) -> bool {
    true
}

/// Git's file modes, as tree entries have them.
const MODE_SYMLINK: u32 = 0o120_000;
const MODE_GITLINK: u32 = 0o160_000;

/// Files whose change is a change of dependencies, whatever the language.
const DEPENDENCY_FILES: [&str; 21] = [
    "Cargo.lock",
    "Cargo.toml",
    "Gemfile",
    "Gemfile.lock",
    "Pipfile",
    "Pipfile.lock",
    "build.gradle",
    "composer.json",
    "composer.lock",
    "go.mod",
    "go.sum",
    "package-lock.json",
    "package.json",
    "pnpm-lock.yaml",
    "poetry.lock",
    "pom.xml",
    "pyproject.toml",
    "requirements.txt",
    "setup.py",
    "uv.lock",
    "yarn.lock",
];

/// What is wrong with these changes under this contract; nothing when they pass.
#[must_use]
pub fn findings(
    contract: &Contract,
    _complexity: Complexity,
    changes: &[FileChange],
) -> Vec<Finding> {
    changes.iter().filter_map(|change| finding(contract, change)).collect()
}

fn finding(contract: &Contract, change: &FileChange) -> Option<Finding> {
    let found = |rule, text: &str| {
        Some(Finding { rule, path: change.path.clone(), line: None, text: text.to_owned() })
    };
    if !contract.allowed_scope.covers(&change.path) {
        let scope = contract.allowed_scope.paths.join(", ");
        let text = format!("is outside the allowed scope ({scope}): leave it as it was");
        return found(Rule::OutOfScope, &text);
    }
    if change.mode_new == MODE_GITLINK {
        let text = "is a nested repository: commit its files or leave it out";
        return found(Rule::NestedRepository, text);
    }
    if change.mode_new == MODE_SYMLINK {
        let text =
            "is a new or changed symbolic link: a link can lead out of the scope; use a file";
        return found(Rule::SymbolicLink, text);
    }
    let name = change.path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let upgrades = contract.forbidden_actions.iter().any(|action| action == "dependency_upgrade");
    if upgrades && DEPENDENCY_FILES.iter().any(|file| file.as_bytes() == name) {
        let text = "declares dependencies, and the contract forbids dependency_upgrade";
        return found(Rule::DependencyForbidden, text);
    }
    None
}
