//! `proposals.jsonl`: what a model wishes (SPEC B2, E8, E10): an opinion until the kernel confirms it.

use cantus_proto::ids::{CriterionId, ItemId};
use cantus_proto::message::{Diagnosis, Part, Proposal, Remedy};
use serde::Deserialize;
use serde_json::Value;

use super::{quote, words};

/// One line.
#[derive(Deserialize)]
#[serde(tag = "propose", rename_all = "lowercase")]
enum Wish {
    Done,
    Partial {
        reason: String,
    },
    Diagnosis {
        reason: String,
        decision: Decision,
        #[serde(default)]
        split_into: Vec<PartLine>,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Decision {
    Retry,
    Split,
    Escalate,
    Skip,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PartLine {
    id: String,
    goal: String,
    #[serde(default)]
    deliverables: Vec<String>,
    #[serde(default)]
    criteria: Vec<String>,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    needs: Vec<String>,
}

/// The proposals among the lines.
pub(super) fn read(lines: &[Value], findings: &mut Vec<String>) -> Vec<Proposal> {
    let mut proposals = Vec::new();
    for (number, line) in (1..).zip(lines) {
        match proposal(line) {
            Ok(proposal) => proposals.push(proposal),
            Err(reason) => {
                findings.push(format!("proposal {number}: {reason}: {}", quote(line)));
            }
        }
    }
    proposals
}

fn proposal(line: &Value) -> Result<Proposal, String> {
    if line.get("propose").is_none() {
        return match line.get("text") {
            Some(Value::String(_)) => Ok(Proposal::Note(words(line))),
            _ => Err("it has neither propose nor text".to_owned()),
        };
    }
    let reasoned = |reason: String| match reason.trim() {
        "" => Err("its reason is empty".to_owned()),
        reason => Ok(reason.to_owned()),
    };
    Ok(match Wish::deserialize(line).map_err(|error| error.to_string())? {
        Wish::Done => Proposal::Done,
        Wish::Partial { reason } => Proposal::Partial(reasoned(reason)?),
        Wish::Diagnosis { reason, decision, split_into } => Proposal::Diagnosis(Diagnosis {
            reason: reasoned(reason)?,
            remedy: remedy(&decision, split_into)?,
        }),
    })
}

fn remedy(decision: &Decision, parts: Vec<PartLine>) -> Result<Remedy, String> {
    Ok(match decision {
        Decision::Split if parts.is_empty() => return Err("SPLIT has no split_into".to_owned()),
        Decision::Split => Remedy::Split(parts.into_iter().map(part).collect::<Result<_, _>>()?),
        _ if !parts.is_empty() => return Err("split_into belongs to SPLIT".to_owned()),
        Decision::Retry => Remedy::Retry,
        Decision::Escalate => Remedy::Escalate,
        Decision::Skip => Remedy::Skip,
    })
}

fn part(line: PartLine) -> Result<Part, String> {
    let item = |id: String| ItemId::new(&id).map_err(|error| format!("item {id:?}: {error}"));
    let criterion =
        |id: String| CriterionId::new(&id).map_err(|error| format!("criterion {id:?}: {error}"));
    let id = item(line.id)?;
    if line.goal.trim().is_empty() {
        return Err(format!("part {id} has no goal"));
    }
    Ok(Part {
        id,
        goal: line.goal,
        deliverables: line.deliverables,
        criteria: line.criteria.into_iter().map(criterion).collect::<Result<_, _>>()?,
        paths: line.paths,
        needs: line.needs.into_iter().map(item).collect::<Result<_, _>>()?,
    })
}

/// Bytes of its texts.
pub(super) fn bytes(proposal: &Proposal) -> usize {
    match proposal {
        Proposal::Done => 0,
        Proposal::Note(text) | Proposal::Partial(text) => text.len(),
        Proposal::Diagnosis(Diagnosis { reason, remedy: Remedy::Split(parts) }) => {
            reason.len() + parts.iter().map(part_bytes).sum::<usize>()
        }
        Proposal::Diagnosis(diagnosis) => diagnosis.reason.len(),
    }
}

fn part_bytes(part: &Part) -> usize {
    let texts = part.deliverables.iter().chain(&part.paths).map(String::len);
    let ids = part.needs.iter().map(|id| id.as_str().len());
    let criteria = part.criteria.iter().map(|id| id.as_str().len());
    part.id.as_str().len() + part.goal.len() + texts.chain(ids).chain(criteria).sum::<usize>()
}
