//! What an attempt is told of those before it when a breaker made it another one: the kernel's words only.

use std::fmt::Write as _;

use cantus_proto::message::FailureKind;

use super::tries;
use crate::item::{Attempt, Item, Outcome};
use crate::record::{Breaker, DemandKind, Ending};

/// Longest preamble in bytes: it is read before the contract and must not drown it.
const PREAMBLE_BYTES_MAX: usize = 2 * 1024;
/// Longest finding that is repeated, in bytes.
const FINDING_BYTES_MAX: usize = 240;

/// The recovery preamble: what was tried, how each try ended, and what to do differently. Of many tries the newest
/// are told.
#[must_use]
pub fn preamble(item: &Item, breaker: Breaker) -> String {
    let (why, advice) = words(breaker);
    let head = format!("Earlier attempts at this item failed: {why}.\n");
    let tail = format!("Do it differently: {advice}.\n");
    let lines: Vec<String> = tries(item)
        .map(|(number, attempt)| format!("- attempt {number}: {}\n", told(attempt)))
        .collect();
    // The line that counts what is left out takes less than this.
    let mut room = PREAMBLE_BYTES_MAX.saturating_sub(head.len() + tail.len() + 64);
    let fits = |line: &&String| {
        let fits = line.len() <= room;
        room = if fits { room - line.len() } else { 0 };
        fits
    };
    let shown = lines.iter().rev().take_while(fits).count();
    let mut text = head;
    if shown < lines.len() {
        writeln!(text, "- {} more before", lines.len() - shown).expect("a string takes all");
    }
    text.extend(lines.into_iter().rev().take(shown).rev());
    text + &tail
}

fn words(breaker: Breaker) -> (&'static str, &'static str) {
    match breaker {
        Breaker::Stuck => (
            "they went round without a commit, or to the same defect again",
            "read the findings first, take another approach than the one that led there, and commit \
             small steps early",
        ),
        Breaker::Predicted => (
            "at their pace the budget would have ended before the work",
            "do the smallest thing that fulfils the contract, and commit it before anything else",
        ),
        Breaker::Failures => (
            "it was not done in several tries",
            "find out why each of them ended as it did before you change anything",
        ),
        Breaker::Diagnosis => (
            "the last one asked for a stronger model",
            "look at the whole contract anew and do not repeat what is listed here",
        ),
    }
}

/// How an attempt ended. What workers say of it stays out: the reason of a failure is theirs.
fn told(attempt: &Attempt) -> String {
    let outcome = match &attempt.outcome {
        None => "goes on".to_owned(),
        Some(Outcome::InVain(Ending::Failed(kind), _)) => failure(*kind).to_owned(),
        Some(
            outcome @ (Outcome::KeptOut(why) | Outcome::Conflict(why) | Outcome::Refuted(why)),
        ) => {
            let end = why.floor_char_boundary(FINDING_BYTES_MAX.min(why.len()));
            let more = if end < why.len() { "…" } else { "" };
            format!("{}: {}{more}", outcome.name(), why[..end].replace(['\n', '\r'], " "))
        }
        Some(outcome) => outcome.name().to_owned(),
    };
    let mut asked: Vec<&str> = attempt.demands().iter().map(|(_, d)| demand(d.kind)).collect();
    asked.dedup();
    match asked.is_empty() {
        true => outcome,
        false => format!("{outcome}; it had been asked for {}", asked.join(", ")),
    }
}

fn failure(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Agent => "the agent failed",
        FailureKind::Workspace => "it had no usable workspace",
        FailureKind::TooLarge => "its result was too large",
        FailureKind::Timeout => "its time was over",
        FailureKind::Stopped => "it was stopped",
    }
}

fn demand(kind: DemandKind) -> &'static str {
    match kind {
        DemandKind::FirstArtifact => "a first artifact",
        DemandKind::NewApproach => "another approach",
        DemandKind::PartialResult => "what there is",
        DemandKind::Commit => "a commit",
        DemandKind::Budget => "an end within its budget",
    }
}
