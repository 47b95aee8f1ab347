//! The outbox: files of JSON lines in which an agent says what it wants to say.
//!
//! The directory is ours and the files are the agent's, so they are data of a stranger: opened without following
//! links, never blocking, only if the agent owns them, and read within limits. A line that cannot be read
//! becomes a finding; nothing is dropped in silence.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::Path;

use cantus_proto::ids::{CriterionId, LearningId};
use cantus_proto::limits::{OUTBOX_LINE_BYTES_MAX, OUTBOX_LINES_MAX};
use cantus_proto::message::{Claim, ClaimKind, Learning, Proposal, Usage};
use cantus_proto::units::MicroUsd;
use cantus_runner::text::cut;
use rustix::fs::{Mode, OFlags, openat};
use serde_json::{Map, Value};

/// Most text of all files together, in bytes: with the rest of a result it must fit into one report.
const OUTBOX_BYTES_MAX: usize = 512 * 1024;

/// Most findings, in number: they are read by people, and a report has room for a thousand.
const FINDINGS_MAX: usize = 400;

/// Longest quote of a line that is no claim, in bytes.
const QUOTE_BYTES_MAX: usize = 200;

/// Longest id of a claim, in bytes.
const CLAIM_ID_BYTES_MAX: usize = 100;

/// The outbox of one attempt.
#[derive(Debug)]
pub(crate) struct Outbox {
    directory: OwnedFd,
    /// The only user whose files are read.
    owner: u32,
}

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
    /// Opens the directory before any agent can replace it.
    pub(crate) fn open(path: &Path, owner: u32) -> Result<Self, std::io::Error> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self { directory: rustix::fs::open(path, flags, Mode::empty())?, owner })
    }

    /// Reads everything, when the agent has ended.
    pub(crate) fn read(&self) -> Said {
        let mut said = Said::default();
        let mut room = OUTBOX_BYTES_MAX;
        let mut ids = BTreeSet::new();
        for (number, line) in self.lines("claims.jsonl", &mut said.findings).into_iter().enumerate()
        {
            let claim = claim(&line, number + 1, &mut ids, &mut said.findings);
            said.claims
                .extend(claim.filter(|claim| fits(&mut room, claim.text.len() + claim.id.len())));
        }
        let mut findings = std::mem::take(&mut said.findings);
        let mut left_out = 0;
        let (mut learnings, mut proposals) = (Vec::new(), Vec::new());
        for (file, into) in [
            ("findings.jsonl", &mut said.findings),
            ("learnings.jsonl", &mut learnings),
            ("proposals.jsonl", &mut proposals),
        ] {
            for line in self.lines(file, &mut findings) {
                let text = words(&line);
                if fits(&mut room, text.len()) {
                    into.push(text);
                } else {
                    left_out += 1;
                }
            }
        }
        said.learnings = learnings.into_iter().map(learning).collect();
        said.proposals = proposals.into_iter().map(Proposal::Note).collect();
        said.findings.append(&mut findings);
        if left_out > 0 || room == 0 {
            said.findings.push(format!(
                "the outbox says more than {OUTBOX_BYTES_MAX} bytes; {left_out} lines were left out"
            ));
        }
        said.usage = self.usage(&mut said.findings);
        if said.findings.len() > FINDINGS_MAX {
            let more = said.findings.len() - FINDINGS_MAX;
            said.findings.truncate(FINDINGS_MAX);
            said.findings.push(format!("{more} more findings were left out"));
        }
        said
    }

    /// The lines of progress after the first `from`.
    pub(crate) fn progress(&self, from: usize) -> Vec<String> {
        let mut ignored = Vec::new();
        self.lines("progress.jsonl", &mut ignored).iter().skip(from).map(words).collect()
    }

    fn usage(&self, findings: &mut Vec<String>) -> Option<Usage> {
        let before = findings.len();
        let lines = self.lines("usage.jsonl", findings);
        if lines.is_empty() || findings.len() > before {
            return None;
        }
        let mut total = Usage::default();
        for line in &lines {
            match usage(line) {
                Ok(usage) => {
                    total.input_tokens = total.input_tokens.saturating_add(usage.input_tokens);
                    total.output_tokens = total.output_tokens.saturating_add(usage.output_tokens);
                    total.cost = total.cost.plus(usage.cost);
                }
                Err(reason) => {
                    findings
                        .push(format!("usage.jsonl: {reason}; the usage counts as not measured"));
                    return None;
                }
            }
        }
        Some(total)
    }

    fn lines(&self, file: &str, findings: &mut Vec<String>) -> Vec<Value> {
        match self.content(file) {
            Ok(Some(content)) => lines(file, &content, findings),
            Ok(None) => Vec::new(),
            Err(reason) => {
                findings.push(format!("{file} was not read: {reason}"));
                Vec::new()
            }
        }
    }

    fn content(&self, file: &str) -> Result<Option<Vec<u8>>, String> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = match openat(&self.directory, file, flags, Mode::empty()) {
            Ok(opened) => opened,
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(rustix::io::Errno::LOOP) => return Err("it is a link".to_owned()),
            Err(error) => return Err(error.to_string()),
        };
        let stat = rustix::fs::fstat(&opened).map_err(|error| error.to_string())?;
        if !rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file() {
            return Err("it is not a file".to_owned());
        }
        if stat.st_uid != self.owner {
            return Err("it belongs to another user".to_owned());
        }
        let bytes_max = (OUTBOX_LINES_MAX + 1) * (OUTBOX_LINE_BYTES_MAX + 1);
        let mut content = Vec::new();
        std::fs::File::from(opened)
            .take(bytes_max as u64)
            .read_to_end(&mut content)
            .map_err(|error| error.to_string())?;
        Ok(Some(content))
    }
}

fn lines(file: &str, content: &[u8], findings: &mut Vec<String>) -> Vec<Value> {
    let mut values = Vec::new();
    let mut lines =
        content.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    for (number, line) in (1..).zip(lines.by_ref().take(OUTBOX_LINES_MAX)) {
        if line.len() > OUTBOX_LINE_BYTES_MAX {
            findings.push(format!(
                "unreadable line {number} of {file}: it has more than {OUTBOX_LINE_BYTES_MAX} bytes"
            ));
            continue;
        }
        match serde_json::from_slice(line) {
            Ok(value) => values.push(value),
            Err(error) => findings.push(format!("unreadable line {number} of {file}: {error}")),
        }
    }
    if lines.next().is_some() {
        findings
            .push(format!("{file} has more than {OUTBOX_LINES_MAX} lines; the rest was left out"));
    }
    values
}

/// The text of a line; a line without one is kept as its JSON.
fn words(line: &Value) -> String {
    match line.get("text") {
        Some(Value::String(text)) => text.clone(),
        _ => line.to_string(),
    }
}

fn claim(
    line: &Value,
    number: usize,
    ids: &mut BTreeSet<String>,
    findings: &mut Vec<String>,
) -> Option<Claim> {
    let Some(Value::String(text)) = line.get("text") else {
        let line = line.to_string();
        findings.push(format!("claim {number} has no text: {}", cut(&line, QUOTE_BYTES_MAX)));
        return None;
    };
    let given = line.get("id").and_then(Value::as_str).unwrap_or_default();
    let mut id = match given {
        "" => format!("claim-{number}"),
        given => cut(given, CLAIM_ID_BYTES_MAX).to_owned(),
    };
    if !ids.insert(id.clone()) {
        id = format!("{id}-{number}");
        ids.insert(id.clone());
    }
    let criterion = match line.get("criterion").and_then(Value::as_str) {
        None | Some("") => None,
        Some(name) => match CriterionId::new(name) {
            Ok(criterion) => Some(criterion),
            Err(error) => {
                findings.push(format!("claim {id} names no valid criterion: {error}"));
                None
            }
        },
    };
    Some(Claim { id, text: text.clone(), criterion, kind: ClaimKind::Observation, receipt: None })
}

fn learning(rule: String) -> Learning {
    Learning {
        id: LearningId::of(&rule),
        context: String::new(),
        discovery: String::new(),
        rule,
        check: None,
    }
}

/// All three must be there, and no token count that we do not know: missing is not zero.
fn usage(line: &Value) -> Result<Usage, String> {
    let line = line.as_object().ok_or("a line is not an object")?;
    let unknown = |key: &&String| {
        key.contains("token") && !["input_tokens", "output_tokens"].contains(&key.as_str())
    };
    if let Some(key) = line.keys().find(unknown) {
        return Err(format!("the token count {key:?} is unknown"));
    }
    let cost_usd = line.get("cost_usd").and_then(Value::as_f64);
    Ok(Usage {
        input_tokens: tokens(line, "input_tokens")?,
        output_tokens: tokens(line, "output_tokens")?,
        cost: cost_usd
            .and_then(MicroUsd::from_dollars)
            .ok_or("cost_usd is missing or no amount")?,
        unpriced: Vec::new(),
    })
}

fn tokens(line: &Map<String, Value>, key: &str) -> Result<u64, String> {
    line.get(key).and_then(Value::as_u64).ok_or_else(|| format!("{key} is missing or no count"))
}

/// Takes `bytes` from the room, if there are as many.
fn fits(room: &mut usize, bytes: usize) -> bool {
    match room.checked_sub(bytes) {
        Some(rest) => {
            *room = rest;
            true
        }
        None => false,
    }
}

#[cfg(test)]
mod tests;
