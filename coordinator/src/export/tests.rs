//! Exports of the sample run: the tree of B15, the keys of its state, and a place that is never half taken.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use cantus_proto::plan::compile::compile;
use serde_json::Value;

use super::*;
use crate::report::samples::{self, Sample};

fn fetched(sample: &Sample) -> Fetched {
    wanted(sample.run()).into_iter().map(|wanted| (wanted.path, Ok(()))).collect()
}

fn exported(sample: &Sample) -> Tree {
    tree(sample.run(), &sample.records, &sample.report(), &fetched(sample))
}

fn json(tree: &Tree, path: &str) -> Value {
    serde_json::from_slice(&tree.files[path]).unwrap()
}

fn text<'t>(tree: &'t Tree, path: &str) -> &'t str {
    std::str::from_utf8(&tree.files[path]).unwrap()
}

fn lines(tree: &Tree, path: &str) -> Vec<Value> {
    text(tree, path).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What lies on the disk, directories with a slash.
fn listing(directory: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut front = vec![directory.to_owned()];
    while let Some(next) = front.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(directory).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                found.insert(name + "/");
                front.push(path);
            } else {
                found.insert(name);
            }
        }
    }
    found
}

#[test]
fn the_tree_is_that_of_the_specification() {
    let sample = samples::ended();
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("new").join(".harness");
    let place = Place::prepare(&out).unwrap();
    place.finish(&exported(&sample)).unwrap();
    let found = listing(&out);
    let named = [
        "task.yaml",
        "state.json",
        "plan.json",
        "memory/architecture.md",
        "memory/testing.md",
        "memory/decisions.md",
        "memory/known_failures.md",
        "evidence/claims.jsonl",
        "evidence/tool_receipts/",
        "evidence/test_results/",
        "evidence/citations/",
        "evidence/verification.json",
        "artifacts/final/",
        "checkpoints/",
        "traces/events.jsonl",
        "reports/progress.md",
        "reports/final.md",
    ];
    for name in named {
        assert!(found.contains(name), "{name} is missing");
    }
    let depth = |depth: usize| {
        let at = |name: &&String| name.trim_end_matches('/').matches('/').count() == depth;
        found.iter().filter(at).map(|name| name.trim_end_matches('/')).collect::<BTreeSet<_>>()
    };
    assert_eq!(depth(0), TOP.into(), "nothing else is at the top");
    for name in depth(1)
        .iter()
        .filter(|name| !name.starts_with("artifacts/") && !name.starts_with("checkpoints/"))
    {
        let is_named = named.iter().any(|known| known.trim_end_matches('/') == *name);
        assert!(is_named, "{name} is not of the specification");
    }
    assert_eq!(
        listing(&directory.path().join("new"))
            .iter()
            .filter(|name| name.starts_with(".cantus"))
            .count(),
        0
    );
}

#[test]
fn the_state_has_exactly_its_keys() {
    let sample = samples::ended();
    let state = json(&exported(&sample), "state.json");
    let keys = |value: &Value| -> BTreeSet<String> {
        value.as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(keys(&state), STATE_KEYS.map(str::to_owned).into());
    let budget = ["elapsed_seconds", "tokens_used", "verification_remaining"];
    assert_eq!(keys(&state["budget"]), budget.map(str::to_owned).into());
    assert_eq!(
        keys(&state["claims"][0]),
        ["evidence", "id", "status", "text"].map(str::to_owned).into()
    );
    assert_eq!(state["task_id"], "nightly");
    assert_eq!(state["state"], "failed");
    assert_eq!(state["current_owner"], Value::Null);
    assert_eq!(state["next_transition"], Value::Null);
    assert_eq!(state["budget"]["elapsed_seconds"], 562);
    assert_eq!(state["budget"]["tokens_used"], Value::Null, "one attempt's are not known");
    assert_eq!(state["budget"]["verification_remaining"], 0);
    assert_eq!(state["claims"][0]["status"], "verified");
    assert_eq!(state["claims"][1]["status"], "unverified");
    assert_eq!(state["claims"][1]["evidence"], Value::Null);
    assert_eq!(state["scope_delta"][0]["let_through_by"], "ada");
}

#[test]
fn a_run_that_goes_on_says_who_has_it_and_what_is_next() {
    let sample = samples::running();
    let tree = exported(&sample);
    let state = json(&tree, "state.json");
    assert_eq!(state["state"], "running");
    assert_eq!(state["current_owner"], "worker-3 on host-a (cli)");
    assert_eq!(state["next_transition"], "cli is handed in by its worker");
    // Five items are open, each with a quarter of ten minutes.
    assert_eq!(state["budget"]["verification_remaining"], 5 * 150);
    assert_eq!(state["budget"]["tokens_used"], 42_000);
    assert!(text(&tree, "reports/final.md").contains("The run goes on"));
}

#[test]
fn the_task_can_be_submitted_again() {
    let sample = samples::ended();
    let yaml = exported(&sample);
    let compiled = compile("task.yaml", text(&yaml, "task.yaml"));
    let plan = compiled.plan.unwrap_or_else(|| panic!("{:#?}", compiled.diagnostics));
    assert_eq!(plan.items, samples::plan().items);
    assert_eq!(plan.budgets, samples::plan().budgets);
    assert_eq!(plan.repository.as_deref(), Some("/srv/wait"));
}

#[test]
fn names_lead_nowhere_and_stay_different() {
    let sample = samples::ended();
    let wanted = wanted(sample.run());
    let tree = exported(&sample);
    let paths: BTreeSet<&str> = tree
        .files
        .keys()
        .map(String::as_str)
        .chain(wanted.iter().map(|w| w.path.as_str()))
        .collect();
    assert_eq!(paths.len(), tree.files.len() + wanted.len());
    for path in paths {
        for name in path.split('/') {
            assert!(!name.is_empty() && !name.starts_with('.') && name.len() <= 255, "{path}");
            assert!(
                name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-=.".contains(&b)),
                "{path}"
            );
        }
    }
    assert_eq!(name(".."), "=2E=2E");
    assert_ne!(name("a/b"), name("a=2Fb"));
    assert!(text(&tree, "plan.json").contains("../docs/<b>"), "inside a document it is as it was");
}

#[test]
fn every_record_is_an_event() {
    let sample = samples::ended();
    let events = lines(&exported(&sample), "traces/events.jsonl");
    assert_eq!(events.len(), sample.records.len());
    assert_eq!(events[0]["fact"], "submitted");
    assert_eq!(events[0]["position"], 1);
    assert_eq!(events[0]["at"], "2026-11-30T08:00:00Z");
    assert_eq!(events[2]["item"], "parser");
    assert_eq!(events[2]["text"], "attempt 1 leased by worker-1 on host-a");
}

#[test]
fn what_is_missing_is_listed_with_the_reason() {
    let sample = samples::ended();
    let mut fetched: BTreeMap<_, _> = fetched(&sample);
    let first = wanted(sample.run())[0].path.clone();
    assert_eq!(first, "artifacts/final/parser.bundle");
    fetched.insert(first.clone(), Err("it is larger than the limit".to_owned()));
    let tree = tree(sample.run(), &sample.records, &sample.report(), &fetched);
    let artifacts = json(&tree, "state.json")["artifacts"].clone();
    assert_eq!(artifacts[0]["path"], first);
    assert_eq!(artifacts[0]["missing"], "it is larger than the limit");
    assert_eq!(artifacts[1]["missing"], Value::Null);
}

#[test]
fn memories_hold_what_was_learned_decided_and_failed() {
    let tree = exported(&samples::ended());
    assert!(text(&tree, "memory/testing.md").contains("## Tests write to tmp\\_path only"));
    assert!(text(&tree, "memory/architecture.md").contains("## Units live in src/units.py"));
    assert!(!text(&tree, "memory/architecture.md").contains("## Tests write"));
    let decisions = text(&tree, "memory/decisions.md");
    assert!(
        decisions.contains("cli: ada let through what the gates found in attempt 3"),
        "{decisions}"
    );
    let failures = text(&tree, "memory/known_failures.md");
    for heading in ["## agent", "## infrastructure"] {
        assert!(failures.contains(heading), "{failures}");
    }
    assert!(!failures.contains("<script"), "{failures}");
}

#[test]
fn only_an_earlier_export_is_replaced() {
    let sample = samples::ended();
    let tree = exported(&sample);
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    fs::create_dir(&out).unwrap();
    Place::prepare(&out).unwrap().finish(&tree).unwrap();
    fs::write(out.join("memory/old"), "old").unwrap();
    Place::prepare(&out).unwrap().finish(&tree).unwrap();
    assert!(!out.join("memory/old").exists(), "an earlier export goes as a whole");

    fs::write(out.join("mine.txt"), "mine").unwrap();
    let error = Place::prepare(&out).unwrap_err();
    assert!(error.to_string().contains("with other things in it"), "{error}");
    fs::remove_file(out.join("mine.txt")).unwrap();
    fs::write(out.join("state.json"), "{\"task_id\": 1}").unwrap();
    assert!(matches!(Place::prepare(&out), Err(ExportError::Taken { .. })));

    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(Place::prepare(&file).unwrap_err().to_string().contains("is a file"));
    let link = directory.path().join("link");
    std::os::unix::fs::symlink(directory.path(), &link).unwrap();
    assert!(Place::prepare(&link).unwrap_err().to_string().contains("a symbolic link"));
}

#[test]
fn what_is_not_finished_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("out");
    let place = Place::prepare(&out).unwrap();
    place.write("memory/testing.md", b"half").unwrap();
    drop(place);
    assert_eq!(listing(directory.path()), BTreeSet::new());
    // Something came to the place meanwhile: it stays, and nothing of ours does.
    let place = Place::prepare(&out).unwrap();
    fs::create_dir(&out).unwrap();
    fs::write(out.join("mine.txt"), "mine").unwrap();
    place.finish(&exported(&samples::running())).unwrap_err();
    assert_eq!(listing(directory.path()), ["out/", "out/mine.txt"].map(str::to_owned).into());
}
