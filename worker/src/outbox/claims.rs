//! `claims.jsonl`: what an agent says about its work, and what it rests on (SPEC B7).

use std::collections::BTreeSet;

use cantus_proto::ids::{CriterionId, Digest};
use cantus_proto::message::{Claim, ClaimKind};
use cantus_runner::text::cut;
use serde_json::Value;

use super::{quote, text};

/// Longest id of a claim, in bytes.
const ID_BYTES_MAX: usize = 100;

/// The claims among the lines.
pub(super) fn read(lines: &[Value], findings: &mut Vec<String>) -> Vec<Claim> {
    let mut ids = BTreeSet::new();
    let claims = (1..).zip(lines).map(|(number, line)| claim(line, number, &mut ids, findings));
    claims.collect::<Vec<_>>().into_iter().flatten().collect()
}

fn claim(
    line: &Value,
    number: usize,
    ids: &mut BTreeSet<String>,
    findings: &mut Vec<String>,
) -> Option<Claim> {
    let Ok(Some(words)) = text(line, "text") else {
        findings.push(format!("claim {number} has no text: {}", quote(line)));
        return None;
    };
    let mut id = match line.get("id").and_then(Value::as_str).unwrap_or_default() {
        "" => format!("claim-{number}"),
        given => cut(given, ID_BYTES_MAX).to_owned(),
    };
    if !ids.insert(id.clone()) {
        id = format!("{id}-{number}");
        ids.insert(id.clone());
    }
    let mut part = |key: &str| {
        text(line, key).unwrap_or_else(|reason| {
            findings.push(format!("claim {id}: {reason}"));
            None
        })
    };
    let (criterion, kind, receipt) = (part("criterion"), part("kind"), part("receipt"));
    let criterion = criterion.and_then(|name| {
        let named = CriterionId::new(name);
        named.map_err(|e| findings.push(format!("claim {id} names no valid criterion: {e}"))).ok()
    });
    let receipt = receipt.and_then(|digest| {
        let named = Digest::new(digest);
        named.map_err(|e| findings.push(format!("claim {id} names no valid receipt: {e}"))).ok()
    });
    let kind = match kind {
        None | Some("observation") => ClaimKind::Observation,
        Some("inference") => ClaimKind::Inference,
        Some("hypothesis") => ClaimKind::Hypothesis,
        Some("inaccessible") => ClaimKind::Inaccessible,
        Some(other) => {
            // Of the kinds that promise the least.
            let other = quote(&Value::from(other));
            findings.push(format!("claim {id} has the unknown kind {other}; taken as hypothesis"));
            ClaimKind::Hypothesis
        }
    };
    Some(Claim { id, text: words.to_owned(), criterion, kind, receipt })
}
