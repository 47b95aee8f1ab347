//! Compiles a plan or a single contract from YAML, with every diagnostic at once.
//!
//! The way: `tree` reads YAML into nodes with places and hands items on as they come,
//! `items` and `contracts` make values of them, `lint` judges,
//! `graph` checks the needs. What is wrong goes to one sink; a plan comes out only if none of it
//! is an error. Reading files is left to the caller.

use std::borrow::Cow;
use std::path::Path;

use super::bounds::PLAN_BYTES_MAX;
use super::contracts;
use super::fields::{self, Fields, place};
use super::items::{self, HEAD_KEYS, Items, choice};
use super::sink::{At, START, Sink, shown};
use super::tree::{self, Entry, ITEMS, Kind, Node};
use super::{Compiled, LandingStyle, Plan, RunBudgets, codes};
use crate::ids::ItemId;

/// The format that is read.
const VERSION: i128 = 1;

const PLAN_KEYS: &[&str] =
    &["version", "repository", "target", "landing", "budgets", "defaults", ITEMS];

/// Compiles a plan, or a single contract as a plan of one item.
///
/// `file` is the name used in diagnostics; a contract without `id` takes its stem. Never fails: what is wrong is
/// in [`Compiled::diagnostics`], by position.
#[must_use]
pub fn compile(file: &str, text: &str) -> Compiled {
    let mut sink = Sink::new(file);
    if text.len() > PLAN_BYTES_MAX {
        let message = format!("the file has {} bytes, the limit is {PLAN_BYTES_MAX}", text.len());
        sink.add(codes::FILE_TOO_LARGE, START, message, "submit it as several plans");
        return Compiled { plan: None, diagnostics: sink.finish(START) };
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut items = Items::new(file, None);
    let mut root =
        tree::read(text, &mut sink, &mut |root, node, sink| items.take(root, node, sink));
    if let Some(entries) = root.as_deref().and_then(head_after_items) {
        // The items were read without what follows them: once more, now with it.
        sink = Sink::new(file);
        items = Items::new(file, Some(entries.to_vec()));
        root = tree::read(text, &mut sink, &mut |root, node, sink| items.take(root, node, sink));
    }
    let plan = root.and_then(|root| build(file, &root, items, &mut sink));
    let plan = plan.filter(|_| !sink.has_errors());
    let lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX).max(1);
    Compiled { plan, diagnostics: sink.finish(At { line: lines, column: 1 }) }
}

/// As [`compile`], for the bytes of a file; tells where they are not UTF-8.
#[must_use]
pub fn compile_bytes(file: &str, bytes: &[u8]) -> Compiled {
    let error = match std::str::from_utf8(bytes) {
        Ok(text) => return compile(file, text),
        Err(error) => error,
    };
    let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let bounded = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let at = At { line: bounded(line), column: bounded(column) };
    let reason: Cow<'_, str> = match bytes {
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => "the file is UTF-16, plans are UTF-8".into(),
        _ => format!("the byte 0x{:02X} is not UTF-8", bytes[error.valid_up_to()]).into(),
    };
    let mut sink = Sink::new(file);
    sink.add(codes::NOT_UTF8, at, reason, "save the file as UTF-8");
    Compiled { plan: None, diagnostics: sink.finish(at) }
}

/// The root's entries, if something that items depend on stands after them.
fn head_after_items(root: &Node) -> Option<&[Entry]> {
    let Kind::Map(entries) = &root.kind else { return None };
    let items = entries.iter().position(|entry| &*entry.key == ITEMS)?;
    let late = |entry: &Entry| HEAD_KEYS.contains(&&*entry.key);
    entries[items..].iter().any(late).then_some(entries)
}

fn build(file: &str, root: &Node, items: Items<'_>, sink: &mut Sink<'_>) -> Option<Plan> {
    let Kind::Map(entries) = &root.kind else {
        let hint = "a plan begins with `version: 1`, a contract with `goal:`";
        sink.add(codes::NOT_A_PLAN, root.at, "the file is neither a plan nor a contract", hint);
        return None;
    };
    let has = |keys: &[&str]| entries.iter().any(|entry| keys.contains(&&*entry.key));
    if has(&[ITEMS]) || !has(contracts::KEYS) && has(PLAN_KEYS) {
        return build_plan(root, items, sink);
    }
    if has(contracts::KEYS) {
        return build_contract(file, root, sink);
    }
    let hint = "a plan has `version` and `items`, a contract has `goal` and `acceptance_criteria`";
    let message =
        format!("the file is neither a plan nor a contract: it begins with {}", first_key(entries));
    sink.add(codes::NOT_A_PLAN, root.at, message, hint);
    None
}

fn first_key(entries: &[Entry]) -> String {
    entries.first().map_or_else(|| "nothing".to_owned(), |entry| shown(&entry.key))
}

fn build_plan(root: &Node, mut items: Items<'_>, sink: &mut Sink<'_>) -> Option<Plan> {
    let fields = Fields::open(root, "the plan", PLAN_KEYS, sink)?;
    fields.require("version", "write `version: 1`", sink, read_version);
    let repository = fields.get("repository", sink, read_repository).valid();
    let target = fields.get("target", sink, read_target).valid();
    let landing = fields
        .get("landing", sink, |e, s| choice(e, &LandingStyle::ALL, LandingStyle::as_str, s))
        .valid()
        .unwrap_or_default();
    fields.require(ITEMS, "write `items: []` for a plan without work", sink, |e, s| {
        fields::list(&e.value, place(e), "`items`", usize::MAX, s).map(|_| ())
    });
    let budgets = items.run_budgets(fields.entries, sink);
    let items = items.finish(sink);
    Some(Plan { repository, target, landing, budgets, items })
}

fn build_contract(file: &str, root: &Node, sink: &mut Sink<'_>) -> Option<Plan> {
    let known: Vec<&str> = ["version", "id"].iter().chain(contracts::KEYS).copied().collect();
    let fields = Fields::open(root, "the contract", &known, sink)?;
    fields.get("version", sink, read_version);
    let id = match fields.entry("id") {
        Some(entry) => fields::name(&entry.value, place(entry), "`id`", sink, ItemId::new),
        None => id_of_file(file, root.at, sink),
    };
    // The contract is looked at even if its id is refused: all errors at once.
    let stand_in = || ItemId::new("contract").expect("a word is a valid id");
    let item = items::single(id.unwrap_or_else(stand_in), file, &fields, sink);
    let landing = LandingStyle::default();
    Some(Plan {
        repository: None,
        target: None,
        landing,
        budgets: RunBudgets::default(),
        items: vec![item],
    })
}

fn id_of_file(file: &str, at: At, sink: &mut Sink<'_>) -> Option<ItemId> {
    let stem = match Path::new(file).file_stem() {
        Some(stem) if !file.starts_with(['<', '-']) => stem.to_string_lossy(),
        _ => "contract".into(),
    };
    let id = ItemId::new(&stem);
    if let Err(error) = &id {
        let message = format!("the file's name gives no id: {error}");
        sink.add(codes::NAME_INVALID, at, message, "write `id:` at the top of the contract");
    }
    id.ok()
}

fn read_version(entry: &Entry, sink: &mut Sink<'_>) -> Option<()> {
    let version = fields::whole_number(entry, "`version`", sink)?;
    if version != VERSION {
        let message = format!("`version` is {version}, this Cantus reads {VERSION}");
        sink.add(
            codes::VERSION,
            place(entry),
            message,
            "write `version: 1`, or use a newer Cantus",
        );
        return None;
    }
    Some(())
}

/// A path or URL that git can neither take for an option nor for a program to run.
fn read_repository(entry: &Entry, sink: &mut Sink<'_>) -> Option<String> {
    let at = place(entry);
    let location = fields::prose(&entry.value, at, "`repository`", sink)?;
    let reason = if location.starts_with('-') {
        "git would take it for an option"
    } else if location.contains("::") && !location.contains('/') || has_helper(&location) {
        "it names a transport helper, which is a program"
    } else if location.contains(['\n', '\t']) {
        "it holds a tab or a line break"
    } else {
        return Some(location);
    };
    let message = format!("the repository {} is not usable: {reason}", shown(&location));
    sink.add(codes::REPOSITORY, at, message, "write a path, or an https:// or ssh:// URL");
    None
}

/// Git's `<helper>::<address>`.
fn has_helper(location: &str) -> bool {
    location.split_once("::").is_some_and(|(helper, _)| {
        !helper.is_empty()
            && helper.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    })
}

/// A branch name by the rules of `git check-ref-format --branch`.
fn read_target(entry: &Entry, sink: &mut Sink<'_>) -> Option<String> {
    let at = place(entry);
    let target = fields::prose(&entry.value, at, "`target`", sink)?;
    let short = target.strip_prefix("refs/heads/").unwrap_or(&target);
    let component_ok = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && !part.ends_with('.')
            && !part.ends_with(".lock")
    };
    let refused = short.starts_with('-')
        || short == "@"
        || short == "HEAD"
        || short.starts_with("refs/")
        || short.contains("..")
        || short.contains("@{")
        || short.contains(|c: char| c.is_control() || " ~^:?*[\\".contains(c))
        || !short.split('/').all(component_ok);
    if refused {
        let message = format!("the target {} is not a branch name", shown(&target));
        sink.add(codes::TARGET, at, message, "write a branch such as `main` or `refs/heads/main`");
        return None;
    }
    Some(target)
}

#[cfg(test)]
mod tests;
