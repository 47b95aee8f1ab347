//! Dependencies that a change adds (SPEC B6), or touches where the contract forbids it.
//!
//! A manifest is read before and after, and the sets are compared; what else changes in it is nobody's concern
//! here. A contract that names the manifest itself, as a path and not as a directory or pattern, lets
//! dependencies be added to it. `forbidden_actions: dependency_upgrade` forbids any change of the set and of locks.

mod go;
mod java;
mod javascript;
mod manifests;
mod python;
mod rust;
pub(super) mod toml_text;

use std::collections::{BTreeMap, BTreeSet};

use cantus_proto::contract::Contract;

use super::FileChange;
use super::finding::{Finding, Rule, list, quote};
pub(super) use manifests::is_lock;
use manifests::{Manifest, manifest};

/// The word of a contract that forbids any change of dependencies.
const FORBIDDEN_ACTION: &str = "dependency_upgrade";
/// Git's mode of a symbolic link: it has a finding of its own.
const MODE_SYMLINK: u32 = 0o120_000;

/// Something that a manifest declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Declared {
    /// Which of the manifest's tables it stands in.
    pub(super) table: String,
    pub(super) name: String,
    /// Version, source, features: all that is said of it.
    pub(super) requirement: String,
    pub(super) line: u32,
    /// It adds nothing by itself: a version that others refer to.
    pub(super) is_pin: bool,
}

/// Why a manifest cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unreadable {
    pub(super) line: Option<u32>,
    pub(super) reason: String,
}

impl Declared {
    pub(super) fn new(table: &str, name: &str, requirement: &str, line: u32) -> Self {
        let [table, name, requirement] = [table, name, requirement].map(ToOwned::to_owned);
        Self { table, name, requirement, line, is_pin: false }
    }

    pub(super) fn pin(table: &str, name: &str, requirement: &str, line: u32) -> Self {
        Self { is_pin: true, ..Self::new(table, name, requirement, line) }
    }

    fn key(&self) -> (&str, &str, &str) {
        (&self.table, &self.name, &self.requirement)
    }
}

/// All manifests and locks among the changes.
pub(super) fn weigh(contract: &Contract, changes: &[FileChange]) -> Vec<Finding> {
    let is_forbidden = contract.forbidden_actions.iter().any(|action| action == FORBIDDEN_ACTION);
    let changed = |change: &&FileChange| !change.is_mode_only() && change.mode_new != MODE_SYMLINK;
    let mut found = Vec::new();
    for change in changes.iter().filter(changed) {
        let path = &change.path;
        let is_named =
            contract.allowed_scope.paths.iter().any(|entry| entry.as_bytes() == path.as_slice());
        match manifest(path) {
            None => {}
            Some(Manifest::Lock) if is_forbidden => {
                let text = "a lock of dependencies is changed, and the contract forbids dependency_upgrade: \
                            leave it as it was";
                found.push(Finding::new(Rule::DependencyForbidden, path, None, text.to_owned()));
            }
            Some(Manifest::Lock) => {}
            Some(Manifest::Unread) => found.extend(unread(path, is_forbidden, is_named)),
            Some(kind) => {
                let is_new = change.mode_old == 0;
                let gone = if is_new { names_gone(changes, kind) } else { BTreeSet::new() };
                found.extend(compare(change, (kind, &gone), is_forbidden, is_named));
            }
        }
    }
    found
}

/// A manifest of an ecosystem that is known by name only.
fn unread(path: &[u8], is_forbidden: bool, is_named: bool) -> Option<Finding> {
    let (rule, text) = if is_forbidden {
        (
            Rule::DependencyForbidden,
            "a manifest of dependencies is changed, and the contract forbids dependency_upgrade: leave it as it was",
        )
    } else if !is_named {
        (
            Rule::DependencyAdded,
            "a manifest that the gate cannot read is changed and may declare a new dependency: leave it as it \
             was, or let the contract name this file",
        )
    } else {
        return None;
    };
    Some(Finding::new(rule, path, None, text.to_owned()))
}

/// What manifests of this kind declared that are gone: one that only moved adds nothing.
fn names_gone(changes: &[FileChange], kind: Manifest) -> BTreeSet<String> {
    let gone = changes
        .iter()
        .filter(|change| change.mode_new == 0 && manifest(&change.path) == Some(kind));
    let declared = gone.filter_map(|change| kind.read(change.old.weighed()?).ok());
    declared.flatten().map(|declared| declared.name).collect()
}

fn compare(
    change: &FileChange,
    (kind, gone): (Manifest, &BTreeSet<String>),
    is_forbidden: bool,
    is_named: bool,
) -> Vec<Finding> {
    let path = &change.path;
    let unreadable = |line, reason: &str| {
        let text = format!(
            "a manifest that cannot be read may declare anything: {reason}; write it so that its tools read it"
        );
        vec![Finding::new(Rule::DependencyAdded, path, line, text)]
    };
    if change.new.is_too_large() {
        return unreadable(None, "it is too large to be weighed");
    }
    let new = match change.new.weighed().map(|bytes| kind.read(bytes)) {
        Some(Ok(declared)) => declared,
        Some(Err(Unreadable { line, reason })) => return unreadable(line, &reason),
        None => Vec::new(),
    };
    let old = change.old.weighed().and_then(|bytes| kind.read(bytes).ok()).unwrap_or_default();
    if is_forbidden {
        return forbidden(path, &old, &new);
    }
    if is_named {
        return Vec::new();
    }
    let known: BTreeSet<&str> = old.iter().map(|declared| declared.name.as_str()).collect();
    let is_added = |declared: &&Declared| {
        let moved = change.mode_old == 0 && gone.contains(&declared.name);
        !(declared.is_pin || moved || known.contains(declared.name.as_str()))
    };
    let mut lines: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
    for declared in new.iter().filter(is_added) {
        lines.entry(declared.line).or_default().insert(&declared.name);
    }
    let tell = |(line, names): (u32, BTreeSet<&str>)| {
        let text = format!(
            "dependency {} is added: others' code comes in with it; do without it, or let the contract name this \
             file",
            list(names)
        );
        Finding::new(Rule::DependencyAdded, path, Some(line), text)
    };
    lines.into_iter().map(tell).collect()
}

/// Each line that declares something else than before, and all that is gone.
fn forbidden(path: &[u8], old: &[Declared], new: &[Declared]) -> Vec<Finding> {
    let mut counts: BTreeMap<_, i64> = BTreeMap::new();
    old.iter().for_each(|declared| *counts.entry(declared.key()).or_default() -= 1);
    new.iter().for_each(|declared| *counts.entry(declared.key()).or_default() += 1);
    let names: BTreeSet<&str> = new.iter().map(|declared| declared.name.as_str()).collect();
    let mut lines: BTreeMap<Option<u32>, BTreeSet<&str>> = BTreeMap::new();
    for declared in new.iter().filter(|declared| counts[&declared.key()] > 0) {
        lines.entry(Some(declared.line)).or_default().insert(&declared.name);
    }
    let gone = |declared: &&Declared| {
        counts[&declared.key()] < 0 && !names.contains(declared.name.as_str())
    };
    for declared in old.iter().filter(gone) {
        lines.entry(None).or_default().insert(&declared.name);
    }
    // Gone from one of its tables and still in another.
    let moved = |declared: &&Declared| counts[&declared.key()] < 0;
    if lines.is_empty()
        && let Some(declared) = old.iter().find(moved)
    {
        lines.entry(None).or_default().insert(&declared.name);
    }
    let tell = |(line, names): (Option<u32>, BTreeSet<&str>)| {
        let what = if line.is_some() { "is added or changed" } else { "is removed" };
        let text = format!(
            "dependency {} {what}, and the contract forbids dependency_upgrade: leave it as it was",
            list(names)
        );
        Finding::new(Rule::DependencyForbidden, path, line, text)
    };
    lines.into_iter().map(tell).collect()
}

/// A reason that quotes what a parser says, bounded.
pub(super) fn reason(what: &str, error: &str) -> String {
    format!("it is no {what} ({})", quote(error.lines().next().unwrap_or_default()))
}
