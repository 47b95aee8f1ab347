//! The outbox: files of JSON lines in which an agent says what it wants to say.
//!
//! Everything in it is a stranger's data, read within limits. A line that cannot be read or is not what its file is
//! for becomes a finding with the reason; nothing is dropped in silence. What each file may hold is in the module
//! of its name.

use std::path::Path;

use cantus_proto::message::{Claim, Learning, Proposal, Usage};
use cantus_runner::text::cut;
use serde_json::Value;

mod claims;
mod files;
mod learnings;
mod progress;
mod proposals;
mod usage;

use files::{Bounds, Files, PLAIN};
pub(crate) use progress::Progress;

/// Most text of all files together, in bytes: with the rest of a result it must fit into one report.
const OUTBOX_BYTES_MAX: usize = 512 * 1024;

/// Most findings, in number: they are read by people, and a report has room for a thousand.
const FINDINGS_MAX: usize = 400;

/// Longest quote of a line that is not what it should be, in bytes.
const QUOTE_BYTES_MAX: usize = 200;

/// Proposals have room for parts with their deliverables.
const PROPOSALS: Bounds = Bounds { line_bytes_max: 16 * 1024, ..PLAIN };

/// One line for each call of a model adds up over a long attempt.
const USAGE: Bounds = Bounds { lines_max: 20_000, bytes_max: 4 * 1024 * 1024, ..PLAIN };

/// The outbox of one attempt.
#[derive(Debug)]
pub(crate) struct Outbox(Files);

/// What an agent said.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Said {
    pub(crate) claims: Vec<Claim>,
    pub(crate) findings: Vec<String>,
    pub(crate) learnings: Vec<Learning>,
    pub(crate) proposals: Vec<Proposal>,
    /// Nothing when it was not measured, which is not zero.
    pub(crate) usage: Option<Usage>,
}

impl Outbox {
    /// Opens the directory before any agent can replace it; only `owner`'s files are read.
    pub(crate) fn open(path: &Path, owner: u32) -> Result<Self, std::io::Error> {
        Files::open(path, owner).map(Self)
    }

    /// Reads everything, when the agent has ended.
    pub(crate) fn read(&self) -> Said {
        let mut said = Said::default();
        let mut unread = Vec::new();
        let mut room = Room { left: OUTBOX_BYTES_MAX, left_out: 0 };
        let claims = self.0.lines("claims.jsonl", PLAIN, &mut unread);
        let claims = claims::read(&claims, &mut unread);
        said.claims = room.keep(claims, |claim| claim.text.len() + claim.id.len());
        let findings = self.0.lines("findings.jsonl", PLAIN, &mut unread);
        said.findings = room.keep(findings.iter().map(words), String::len);
        let learnings = self.0.lines("learnings.jsonl", PLAIN, &mut unread);
        let learnings = learnings::read(&learnings, &mut unread);
        said.learnings = room.keep(learnings, learnings::bytes);
        let proposals = self.0.lines("proposals.jsonl", PROPOSALS, &mut unread);
        let proposals = proposals::read(&proposals, &mut unread);
        said.proposals = room.keep(proposals, proposals::bytes);
        said.usage = self.usage(&mut unread);
        said.findings.append(&mut unread);
        if room.left_out > 0 {
            said.findings.push(format!(
                "the outbox says more than {OUTBOX_BYTES_MAX} bytes; {} lines were left out",
                room.left_out
            ));
        }
        if said.findings.len() > FINDINGS_MAX {
            let more = said.findings.len() - FINDINGS_MAX;
            said.findings.truncate(FINDINGS_MAX);
            said.findings.push(format!("{more} more findings were left out"));
        }
        said
    }

    /// What was used so far; nothing when it was not measured.
    pub(crate) fn usage_so_far(&self) -> Option<Usage> {
        let mut unread = Vec::new();
        let lines = self.0.whole_lines("usage.jsonl", USAGE, &mut unread);
        if unread.is_empty() { usage::add_up(&lines).unwrap_or_default() } else { None }
    }

    /// How many claims there are so far.
    pub(crate) fn claims_so_far(&self) -> usize {
        self.0.whole_lines("claims.jsonl", PLAIN, &mut Vec::new()).len()
    }

    /// Reads what progress was told since the last look.
    pub(crate) fn progress(&self, progress: &mut Progress) -> Vec<String> {
        progress.look(&self.0)
    }

    fn usage(&self, findings: &mut Vec<String>) -> Option<Usage> {
        let before = findings.len();
        let lines = self.0.lines("usage.jsonl", USAGE, findings);
        if findings.len() > before {
            return None;
        }
        usage::add_up(&lines).unwrap_or_else(|reason| {
            findings.push(format!("usage.jsonl: {reason}; the usage counts as not measured"));
            None
        })
    }
}

/// The room that all texts share.
struct Room {
    left: usize,
    left_out: usize,
}

impl Room {
    /// Those that fit.
    fn keep<T>(
        &mut self,
        entries: impl IntoIterator<Item = T>,
        bytes: impl Fn(&T) -> usize,
    ) -> Vec<T> {
        let mut kept = Vec::new();
        for entry in entries {
            match self.left.checked_sub(bytes(&entry)) {
                Some(left) => {
                    self.left = left;
                    kept.push(entry);
                }
                None => self.left_out += 1,
            }
        }
        kept
    }
}

/// The text of a line; a line without one is kept as its JSON.
fn words(line: &Value) -> String {
    match line.get("text") {
        Some(Value::String(text)) => text.clone(),
        _ => line.to_string(),
    }
}

/// A text of a line that may be missing; the error says what else it is.
fn text<'a>(line: &'a Value, key: &str) -> Result<Option<&'a str>, String> {
    match line.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.trim()).filter(|text| !text.is_empty())),
        Some(other) => Err(format!("{key} is not a text but {}", quote(other))),
    }
}

fn quote(value: &Value) -> String {
    cut(&value.to_string(), QUOTE_BYTES_MAX).to_owned()
}

#[cfg(test)]
mod tests;
