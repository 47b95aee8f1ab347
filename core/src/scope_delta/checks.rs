//! What the checkers run, and which tests are selected (SPEC B6, W12): not the worker's to edit.
//!
//! The commands come from the contract; here is what they lead to. A file that the contract's scope names itself,
//! or that a deliverable begins with, was asked for. Files of a continuous integration are no check of the kernel's.

mod commands;
mod selection;

use std::collections::BTreeSet;

use cantus_proto::contract::Contract;

use super::finding::{Finding, Rule, list, quote};
use super::tests_of;
use super::text::lossy;
use super::{Content, FileChange};

/// All edits of commands and of the selection of tests.
pub(super) fn weigh(contract: &Contract, changes: &[FileChange]) -> Vec<Finding> {
    let checkers: Vec<&str> =
        contract.acceptance_criteria.iter().map(|criterion| criterion.checker.as_str()).collect();
    let commands = commands::read(&checkers);
    let mut found = Vec::new();
    for change in changes {
        let path = lossy(&change.path);
        if !is_asked_for(contract, &path) {
            found.extend(edited(&commands, change, &path));
        }
        if !change.is_mode_only() {
            found.extend(selection::weigh(change));
        }
    }
    found
}

fn is_asked_for(contract: &Contract, path: &str) -> bool {
    let begins = |text: &String| {
        let rest = text.strip_prefix(path);
        rest.is_some_and(|rest| {
            !rest.starts_with(|c: char| c.is_alphanumeric() || "/._-".contains(c))
        })
    };
    contract.allowed_scope.paths.iter().any(|entry| entry == path)
        || contract.deliverables.iter().any(begins)
}

/// A file that a checker runs, or that a tool which it calls reads its commands from.
fn edited(commands: &commands::Commands, change: &FileChange, path: &str) -> Option<Finding> {
    if tests_of::is_test(&change.path) && tests_of::language(&change.path).is_some() {
        // What becomes of tests is weighed as tests.
        return None;
    }
    let is_new = change.mode_old == 0;
    let (line, why) = if commands.runs(path) && !is_new {
        (None, "a checker runs this file".to_owned())
    } else if let Some(tool) = commands.tool_reads(path).filter(|_| !change.is_mode_only()) {
        (None, format!("a checker calls {}, which reads its commands here", quote(tool)))
    } else if commands.calls_scripts() && change.name() == b"package.json" && !is_new {
        let (line, scripts) = scripts_edited(commands, &change.old, &change.new)?;
        (line, format!("a checker runs the scripts {}", list(scripts.iter().map(String::as_str))))
    } else {
        return None;
    };
    let what = if change.is_mode_only() { "its mode is changed" } else { "it is edited" };
    let text = format!(
        "{why}, and {what}: a check that its worker can edit shows nothing; leave it as it was, or let the \
         contract name this file"
    );
    Some(Finding::new(Rule::CheckEdited, &change.path, line, text))
}

/// Scripts that the checkers call, by themselves or through others, and that read otherwise now.
fn scripts_edited(
    commands: &commands::Commands,
    old: &Content,
    new: &Content,
) -> Option<(Option<u32>, Vec<String>)> {
    let (old, new) =
        (commands::scripts(old.weighed()?), commands::scripts(new.weighed().unwrap_or(b"")));
    let called: BTreeSet<String> = commands.scripts_called(&old);
    let text =
        |scripts: &commands::Scripts, name: &str| scripts.get(name).map(|(text, _)| text.clone());
    let edited: Vec<String> =
        called.into_iter().filter(|name| text(&old, name) != text(&new, name)).collect();
    let line = edited.iter().find_map(|name| new.get(name)).map(|(_, line)| *line);
    (!edited.is_empty()).then_some((line, edited))
}
