//! `learnings.jsonl`: what later attempts should know (SPEC E5).

use std::collections::BTreeSet;

use cantus_proto::ids::LearningId;
use cantus_proto::message::Learning;
use serde_json::Value;

use super::{quote, text};

/// The learnings among the lines; each rule once, as it was said first.
pub(super) fn read(lines: &[Value], findings: &mut Vec<String>) -> Vec<Learning> {
    let mut known = BTreeSet::new();
    let mut learnings = Vec::new();
    for (number, line) in (1..).zip(lines) {
        match learning(line) {
            Ok(learning) if known.insert(learning.id.clone()) => learnings.push(learning),
            Ok(_) => {}
            Err(reason) => findings.push(format!("learning {number}: {reason}")),
        }
    }
    learnings
}

fn learning(line: &Value) -> Result<Learning, String> {
    let rule = match text(line, "rule")? {
        Some(rule) => rule,
        None => text(line, "text")?.ok_or_else(|| format!("it has no rule: {}", quote(line)))?,
    };
    let or_nothing = |key| Ok::<_, String>(text(line, key)?.unwrap_or_default().to_owned());
    Ok(Learning {
        id: LearningId::of(rule),
        context: or_nothing("context")?,
        discovery: or_nothing("discovery")?,
        rule: rule.to_owned(),
        check: text(line, "check")?.map(str::to_owned),
    })
}

/// Bytes of its texts.
pub(super) fn bytes(learning: &Learning) -> usize {
    let Learning { id: _, context, discovery, rule, check } = learning;
    context.len() + discovery.len() + rule.len() + check.as_ref().map_or(0, String::len)
}
