//! Evidence or abstain (SPEC B7): what the ledger says of a claim.
//!
//! Verified is what a verifier's evidence decided, and nothing else; confidence in prose promotes nothing. A
//! receipt shows that a command ran in the worker's hands: a claim may rest on one of its own attempt, and
//! is still no more than unverified until the evidence covers that command.

use cantus_proto::evidence::receipt::checker_argv;
use cantus_proto::ids::{AttemptNumber, Digest};
use cantus_proto::message::{Claim, ClaimKind, Exit, Receipt};

use crate::event::Proof;
use crate::item::{Attempt, Item, Outcome, State};

/// Words with which claims say that a check ran.
const CHECK_WORDS: [&str; 9] =
    ["test", "tests", "tested", "passes", "passed", "checked", "lint", "build", "builds"];

/// What a claim is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// Evidence for the verified tree decided it.
    Verified,
    /// Nothing decided it.
    Unverified,
    /// Its author infers it.
    Inference,
    /// Its author supposes it.
    Hypothesis,
    /// Its author could not look.
    Inaccessible,
    /// The verification of its result found otherwise.
    Refuted,
}

impl Status {
    /// The word in views.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Unverified => "unverified",
            Self::Inference => "inference",
            Self::Hypothesis => "hypothesis",
            Self::Inaccessible => "inaccessible",
            Self::Refuted => "refuted",
        }
    }
}

/// What the ledger says of a claim of this attempt, and why.
#[must_use]
pub fn status(claim: &Claim, item: &Item, attempt: AttemptNumber) -> (Status, String) {
    let (status, why) = match claim.kind {
        ClaimKind::Inference => (Status::Inference, "its author infers it"),
        ClaimKind::Hypothesis => (Status::Hypothesis, "its author supposes it"),
        ClaimKind::Inaccessible => (Status::Inaccessible, "its author could not look"),
        ClaimKind::Observation => {
            let outcome = item.attempt(attempt).and_then(|tried| tried.outcome.as_ref());
            if !matches!(outcome, Some(Outcome::Refuted(_))) {
                return match evidence(claim, item, attempt) {
                    Ok(why) => (Status::Verified, why),
                    Err(why) => (Status::Unverified, why),
                };
            }
            (Status::Refuted, "the verification refuted its result")
        }
    };
    (status, why.to_owned())
}

/// The evidence that decided a claim, or why none did.
fn evidence(claim: &Claim, item: &Item, attempt: AttemptNumber) -> Result<String, String> {
    let tried = item.attempt(attempt).ok_or(format!("the item has no attempt {attempt}"))?;
    let receipt = claim.receipt.as_ref().map(|output| cited(output, item, tried)).transpose()?;
    let criteria = &item.contract.acceptance_criteria;
    let criterion = match (&claim.criterion, receipt) {
        (Some(named), _) => criteria
            .iter()
            .find(|criterion| criterion.id == *named)
            .ok_or(format!("the contract has no criterion {named}"))?,
        (None, Some(receipt)) => criteria
            .iter()
            .find(|criterion| receipt.argv == checker_argv(&criterion.checker))
            .ok_or("its command ran in the worker, and no evidence covers that command")?,
        (None, None) => return Err(words_alone(&claim.text).to_owned()),
    };
    let id = &criterion.id;
    match proof(item, attempt) {
        Some(proof) => Ok(format!("evidence for tree {} decides {id}", proof.tree)),
        None if receipt.is_some() => {
            Err(format!("its command ran in the worker, and no evidence decides {id} so far"))
        }
        None => Err(format!("it cites no receipt, and no evidence decides {id} so far")),
    }
}

/// The receipt of this attempt with this output, if all commands with that output ended well.
fn cited<'a>(output: &Digest, item: &Item, tried: &'a Attempt) -> Result<&'a Receipt, String> {
    let mut own = receipts(tried).iter().filter(|receipt| receipt.stdout_sha256 == *output);
    let Some(first) = own.next() else {
        let mut others = item.attempts.iter().zip(1_u32..);
        let other =
            others.find(|(other, _)| receipts(other).iter().any(|r| r.stdout_sha256 == *output));
        return Err(match other {
            Some((_, number)) => {
                format!("it cites a receipt of attempt {number}, not of its own")
            }
            None => "it cites a receipt that no attempt of this item has".to_owned(),
        });
    };
    let well = |receipt: &Receipt| receipt.exit == Exit::Code(0) && !receipt.timed_out;
    if well(first) && own.all(well) {
        return Ok(first);
    }
    Err("it cites the output of a command that did not end with 0".to_owned())
}

fn receipts(attempt: &Attempt) -> &[Receipt] {
    attempt.result.as_deref().map_or(&[], |result| &result.receipts)
}

/// The proof of this attempt's result. What landed must be what was verified.
fn proof(item: &Item, attempt: AttemptNumber) -> Option<&Proof> {
    let (number, _) = item.work()?;
    let proof = item.proof.as_deref().filter(|_| number == attempt)?;
    let landed = match &item.state {
        State::Landed(landed) => landed.tree == proof.tree,
        _ => true,
    };
    landed.then_some(proof)
}

fn words_alone(text: &str) -> &'static str {
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    match words.any(|word| CHECK_WORDS.iter().any(|check| word.eq_ignore_ascii_case(check))) {
        true => "it says that a check ran and cites no receipt",
        false => "it names no criterion and cites no receipt: words alone",
    }
}

#[cfg(test)]
mod tests;
