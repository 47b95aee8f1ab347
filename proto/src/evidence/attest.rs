//! From a receipt to signed evidence: what one run of a checker shows.
//!
//! Exit code and counts decide, not what the output claims (W11). Where the check could not run to its end
//! nothing is attested: inconclusive is neither passed nor failed (W13, G9).

use super::dsse;
use super::keys::SigningKey;
use super::receipt::{Ending, Receipt};
use super::test_result::{Outcome, TestResult};
use crate::ids::{CriterionId, Digest};

/// What the shell answers when a command is not executable.
const EXIT_NOT_EXECUTABLE: i32 = 126;
/// What the shell answers when a command does not exist.
const EXIT_NOT_FOUND: i32 = 127;
/// Nothing but the system or a person sends it: most often memory ran out.
const SIGNAL_KILL: i32 = 9;
/// What the shell adds to the number of the signal that ended its command.
const EXIT_SIGNAL_BASE: i32 = 128;

/// Two envelopes about one criterion, as they cross the bus and land.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// Says where it belongs; what is signed decides.
    pub criterion: CriterionId,
    /// DSSE JSON of the [`TestResult`].
    pub statement: Vec<u8>,
    /// DSSE JSON of the [`Receipt`].
    pub receipt: Vec<u8>,
}

/// What a receipt shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// The criterion holds.
    Passed,
    /// It does not, for these reasons.
    Failed(String),
    /// The check could not run to its end.
    Inconclusive(String),
}

/// Judges one receipt.
#[must_use]
pub fn judge(receipt: &Receipt) -> Judgement {
    let unable = match receipt.ending {
        Ending::TimedOut => Some("the checker ran into its time limit".to_owned()),
        Ending::Signal(SIGNAL_KILL) => {
            Some("the checker was killed (signal 9): memory may have run out".to_owned())
        }
        Ending::Exit(code) if code == EXIT_SIGNAL_BASE + SIGNAL_KILL => {
            Some(format!("the checker was killed (exit code {code}): memory may have run out"))
        }
        Ending::Exit(code @ (EXIT_NOT_EXECUTABLE | EXIT_NOT_FOUND)) => {
            Some(format!("the checker cannot run (exit code {code}): a command is not there"))
        }
        Ending::Exit(_) | Ending::Signal(_) => None,
    };
    if let Some(reason) = unable {
        return Judgement::Inconclusive(reason);
    }
    let mut failures = Vec::new();
    match receipt.ending {
        Ending::Exit(0) | Ending::TimedOut => {}
        Ending::Exit(code) => failures.push(format!("exit code {code}")),
        Ending::Signal(signal) => failures.push(format!("ended by signal {signal}")),
    }
    if let Some(counts) = receipt.counts {
        if !counts.clean() && failures.is_empty() {
            failures.push(format!("{counts}, although the exit code is 0"));
        } else if !failures.is_empty() {
            failures.push(counts.to_string());
        }
    }
    if !receipt.changed_files.is_empty() {
        let files = receipt.changed_files.join(", ");
        failures.push(format!("the checker changed tracked files: {files}"));
    }
    if failures.is_empty() { Judgement::Passed } else { Judgement::Failed(failures.join("; ")) }
}

/// Judges the receipt and signs both the receipt and what follows from it.
///
/// # Errors
/// The reason, when the check is inconclusive: then there is nothing to sign.
pub fn attest(receipt: &Receipt, key: &SigningKey) -> Result<Evidence, String> {
    let outcome = match judge(receipt) {
        Judgement::Passed => Outcome::Passed,
        Judgement::Failed(_) => Outcome::Failed,
        Judgement::Inconclusive(reason) => return Err(reason),
    };
    let receipt_envelope = dsse::sign(&receipt.encode(), key);
    let result = TestResult {
        subject: receipt.subject.clone(),
        binding: receipt.binding.clone(),
        outcome,
        receipt: Digest::of(&receipt_envelope),
    };
    Ok(Evidence {
        criterion: receipt.binding.criterion.clone(),
        statement: dsse::sign(&result.encode(), key),
        receipt: receipt_envelope,
    })
}

#[cfg(test)]
mod tests;
