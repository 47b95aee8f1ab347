//! The gates on a result's tree: what a change may touch (SPEC B6, in its first form).
//!
//! They read tree entries, never a file system: path, mode before, mode after. All findings at once.

use cantus_proto::contract::Contract;

use crate::event::Change;
use crate::text::show;

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
pub fn findings(contract: &Contract, changes: &[Change]) -> Vec<String> {
    changes.iter().filter_map(|change| finding(contract, change)).collect()
}

fn finding(contract: &Contract, change: &Change) -> Option<String> {
    let path = show(&change.path);
    if !contract.allowed_scope.covers(&change.path) {
        let scope = contract.allowed_scope.paths.join(", ");
        return Some(format!("{path} is outside the allowed scope ({scope}): leave it as it was"));
    }
    if change.mode_new == MODE_GITLINK {
        return Some(format!("{path} is a nested repository: commit its files or leave it out"));
    }
    if change.mode_new == MODE_SYMLINK {
        return Some(format!(
            "{path} is a new or changed symbolic link: a link can lead out of the scope; use a file"
        ));
    }
    let name = change.path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let upgrades = contract.forbidden_actions.iter().any(|action| action == "dependency_upgrade");
    if upgrades && DEPENDENCY_FILES.iter().any(|file| file.as_bytes() == name) {
        return Some(format!(
            "{path} declares dependencies, and the contract forbids dependency_upgrade"
        ));
    }
    None
}
