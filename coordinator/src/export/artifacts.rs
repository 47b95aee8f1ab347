//! `artifacts/`: bundles and logs by the worker that made them, and what landed.

use cantus_core::item::State;
use cantus_core::run::Run;
use cantus_proto::ids::{AttemptNumber, Blob};
use serde_json::{Value, json};

use super::{Fetched, name};

/// An artifact that the export should hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Where it goes.
    pub path: String,
    /// What it is.
    pub blob: Blob,
    kind: &'static str,
    item: String,
    attempt: AttemptNumber,
}

/// All artifacts of a run, in the order in which they should be fetched: what landed comes first.
#[must_use]
pub fn wanted(run: &Run) -> Vec<Wanted> {
    let (mut last, mut others) = (Vec::new(), Vec::new());
    for item in &run.items {
        let id = name(item.id.as_str());
        let landed = matches!(item.state, State::Landed(_));
        let newest = item.work().map(|(number, _)| number);
        for (attempt, number) in item.attempts.iter().zip(1..) {
            let number = AttemptNumber(number);
            let holder = attempt.holder.as_deref();
            let worker = holder.map_or("nobody", |holder| holder.leased.container.as_str());
            let worker = format!("artifacts/{}", directory(worker));
            let want = |to: &mut Vec<Wanted>, path: String, kind, blob: &Blob| {
                to.push(Wanted {
                    path,
                    blob: blob.clone(),
                    kind,
                    item: item.id.to_string(),
                    attempt: number,
                });
            };
            let result = attempt.result.as_deref();
            if let Some(bundle) = result.and_then(|result| result.bundle.as_ref()) {
                want(&mut others, format!("{worker}/{id}/{number}.bundle"), "bundle", bundle);
                if landed && newest == Some(number) {
                    want(&mut last, format!("artifacts/final/{id}.bundle"), "bundle", bundle);
                }
            }
            let log = attempt.log.as_ref().or(result.and_then(|result| result.log.as_ref()));
            if let Some(log) = log {
                want(&mut others, format!("{worker}/{id}/{number}.log"), "log", log);
            }
        }
        for (saved, place) in item.saved.iter().zip(1..) {
            others.push(Wanted {
                path: format!("checkpoints/{id}/{}.{place}.bundle", saved.number),
                blob: saved.commits.bundle.clone(),
                kind: "saved work",
                item: item.id.to_string(),
                attempt: saved.number,
            });
        }
    }
    last.into_iter().chain(others).collect()
}

/// A worker's directory: `final` is taken.
fn directory(worker: &str) -> String {
    let directory = name(worker);
    if directory == "final" { "=66inal".to_owned() } else { directory }
}

/// For `state.json`: each artifact, with why it is missing if it is.
pub(super) fn list(run: &Run, fetched: &Fetched) -> Vec<Value> {
    let entry = |wanted: &Wanted| {
        let missing = match fetched.get(&wanted.path) {
            Some(Ok(())) => None,
            Some(Err(reason)) => Some(reason.as_str()),
            None => Some("it was not asked for"),
        };
        json!({
            "path": wanted.path,
            "kind": wanted.kind,
            "item": wanted.item,
            "attempt": wanted.attempt.0,
            "sha256": wanted.blob.sha256.as_str(),
            "size_bytes": wanted.blob.size_bytes,
            "missing": missing,
        })
    };
    wanted(run).iter().map(entry).collect()
}

/// `artifacts/final/landed.json`: what the target contains.
pub(super) fn landed(run: &Run) -> Value {
    let items = run.items.iter().filter_map(|item| {
        let State::Landed(landed) = &item.state else { return None };
        Some(json!({
            "item": item.id.as_str(),
            "goal": item.contract.goal,
            "commit": landed.commit.as_str(),
            "tree": landed.tree.as_str(),
            "evidence": format!("sha256:{}", landed.evidence),
            "at_ms": item.since.0,
        }))
    });
    json!({
        "repository": run.repository.as_ref().map(|repository| &repository.location),
        "target": run.repository.as_ref().map(|repository| &repository.target),
        "head": run.head.as_ref().map(|head| head.as_str()),
        "landed": items.collect::<Vec<_>>(),
    })
}
