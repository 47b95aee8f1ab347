//! The verdict: verified, refuted or inconclusive, a pure function of contract, tree and evidence.
//!
//! Evidence counts only if a trusted verifier signed it for exactly this tree, this checker and this item.
//! What counts decides; what does not count is a reason, never a pass.

use std::collections::BTreeMap;

use super::attest::{Evidence, Judgement, judge};
use super::dsse;
use super::receipt::{Receipt, checker_digest};
use super::statement::{Binding, Subject};
use super::test_result::{Outcome, TestResult};
use super::trust::Trust;
use crate::contract::Contract;
use crate::ids::{CriterionId, Digest, ItemId, RunId, TreeId};
use crate::message::Isolation;

/// The flag with which results of process isolation may land.
pub const PROCESS_ISOLATION_FLAG: &str = "--allow-process-isolation";

/// What evidence has to show, and about what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The run.
    pub run: RunId,
    /// The item.
    pub item: ItemId,
    /// The tree that would land.
    pub subject: Subject,
    /// Each criterion with the digest of its checker's text.
    pub checkers: BTreeMap<CriterionId, Digest>,
}

impl Question {
    /// Asks whether this tree fulfils this contract.
    #[must_use]
    pub fn new(
        run: RunId,
        item: ItemId,
        contract: &Contract,
        tree: TreeId,
        listing: Digest,
    ) -> Self {
        let criteria = contract.acceptance_criteria.iter();
        let checkers = criteria.map(|c| (c.id.clone(), checker_digest(c))).collect();
        Self { run, item, subject: Subject { tree, listing }, checkers }
    }
}

/// What may land beyond the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Policy {
    /// Whether a checker that ran as a mere process counts.
    pub allow_process_isolation: bool,
}

/// What evidence shows about a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// Every criterion holds.
    Verified,
    /// At least one does not.
    Refuted {
        /// Each begins with its criterion.
        findings: Vec<String>,
    },
    /// Not known. Never a pass.
    Inconclusive {
        /// What is missing, for each criterion.
        reason: String,
    },
}

/// What the evidence shows about one criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It holds.
    Holds {
        /// Position in the evidence.
        evidence: usize,
        /// How the checker ran.
        isolation: Isolation,
    },
    /// It does not hold.
    Refuted(Vec<String>),
    /// Nothing that counts was said; why what there is does not count.
    Open(Vec<String>),
}

/// Weighs the evidence for a tree.
pub fn verdict(
    question: &Question,
    evidence: &[Evidence],
    trust: &Trust,
    policy: Policy,
) -> Verdict {
    let (mut findings, mut reasons) = (Vec::new(), Vec::new());
    for (criterion, standing) in examine(question, evidence, trust, policy) {
        match standing {
            Standing::Holds { .. } => {}
            Standing::Refuted(why) => {
                findings.extend(why.iter().map(|why| format!("{criterion}: {why}")));
            }
            Standing::Open(why) => reasons.push(format!("{criterion}: {}", why.join("; "))),
        }
    }
    if !findings.is_empty() {
        Verdict::Refuted { findings }
    } else if question.checkers.is_empty() {
        // Nothing to show is not everything shown.
        Verdict::Inconclusive { reason: "the contract has no acceptance criteria".to_owned() }
    } else if reasons.is_empty() {
        Verdict::Verified
    } else {
        Verdict::Inconclusive { reason: reasons.join("; ") }
    }
}

/// Weighs the evidence for each criterion of the question.
#[must_use]
pub fn examine(
    question: &Question,
    evidence: &[Evidence],
    trust: &Trust,
    policy: Policy,
) -> BTreeMap<CriterionId, Standing> {
    let nothing = |criterion: &CriterionId| (criterion.clone(), Standing::Open(Vec::new()));
    let mut standings: BTreeMap<_, _> = question.checkers.keys().map(nothing).collect();
    for (position, item) in evidence.iter().enumerate() {
        let (criterion, found) = weigh(question, item, trust, policy, position);
        if let Some(standing) = standings.get_mut(&criterion) {
            add(standing, found);
        }
    }
    for standing in standings.values_mut() {
        if matches!(standing, Standing::Open(why) if why.is_empty()) {
            *standing = Standing::Open(vec!["there is no evidence".to_owned()]);
        }
    }
    standings
}

/// One trusted failure refutes, whatever else passed; a pass makes up for evidence that does not count.
fn add(standing: &mut Standing, found: Standing) {
    match (&mut *standing, found) {
        (Standing::Refuted(why), Standing::Refuted(more))
        | (Standing::Open(why), Standing::Open(more)) => why.extend(more),
        (_, found @ Standing::Refuted(_)) | (Standing::Open(_), found @ Standing::Holds { .. }) => {
            *standing = found;
        }
        (Standing::Refuted(_) | Standing::Holds { .. }, _) => {}
    }
}

fn weigh(
    question: &Question,
    evidence: &Evidence,
    trust: &Trust,
    policy: Policy,
    position: usize,
) -> (CriterionId, Standing) {
    let result = match read_result(evidence, trust) {
        Ok(result) => result,
        Err(why) => return (evidence.criterion.clone(), Standing::Open(vec![why])),
    };
    let criterion = result.binding.criterion.clone();
    if let Some(why) = misbound(question, &result.subject, &result.binding) {
        return (criterion, Standing::Open(vec![why]));
    }
    let judgement = read_receipt(evidence, &result, trust).map(|receipt| judge(&receipt));
    let isolation = result.binding.isolation;
    let standing = match (result.outcome, judgement) {
        (Outcome::Failed, Ok(Judgement::Failed(why))) => Standing::Refuted(vec![why]),
        (Outcome::Failed, _) => {
            Standing::Refuted(vec!["a trusted verifier says FAILED".to_owned()])
        }
        (Outcome::Passed, Ok(Judgement::Failed(why))) => {
            let why = format!("the statement says PASSED, but its receipt shows: {why}");
            Standing::Refuted(vec![why])
        }
        (Outcome::Passed, Ok(Judgement::Inconclusive(why)) | Err(why)) => Standing::Open(vec![why]),
        (Outcome::Warned, _) => {
            Standing::Open(vec!["the statement says WARNED, which proves nothing".to_owned()])
        }
        (Outcome::Passed, Ok(Judgement::Passed))
            if isolation == Isolation::Process && !policy.allow_process_isolation =>
        {
            Standing::Open(vec![format!(
                "its checker ran with process isolation, which does not land without \
                 {PROCESS_ISOLATION_FLAG}: use containers, or give the flag"
            )])
        }
        (Outcome::Passed, Ok(Judgement::Passed)) => {
            Standing::Holds { evidence: position, isolation }
        }
    };
    (criterion, standing)
}

fn read_result(evidence: &Evidence, trust: &Trust) -> Result<TestResult, String> {
    let opened = dsse::open(&evidence.statement, trust.verifier())
        .map_err(|error| format!("statement not believed: {}", with_cause(&error)))?;
    TestResult::decode(&opened.payload)
        .map_err(|error| format!("statement not understood: {}", with_cause(&error)))
}

/// Why the statement is not about the question; both sides are named (G1).
fn misbound(question: &Question, subject: &Subject, binding: &Binding) -> Option<String> {
    let checker = question.checkers.get(&binding.criterion);
    let differences = [
        ("tree", subject.tree.as_str(), question.subject.tree.as_str()),
        ("git ls-tree sha256", subject.listing.as_str(), question.subject.listing.as_str()),
        ("run", binding.run.as_str(), question.run.as_str()),
        ("item", binding.item.as_str(), question.item.as_str()),
        ("checker", binding.checker.as_str(), checker.map_or("none", Digest::as_str)),
    ];
    differences
        .into_iter()
        .find(|(_, found, wanted)| found != wanted)
        .map(|(what, found, wanted)| format!("evidence is for {what} {found}, not for {wanted}"))
}

fn read_receipt(
    evidence: &Evidence,
    result: &TestResult,
    trust: &Trust,
) -> Result<Receipt, String> {
    let digest = Digest::of(&evidence.receipt);
    if digest != result.receipt {
        let wanted = &result.receipt;
        return Err(format!("the receipt has sha256 {digest}, the statement names {wanted}"));
    }
    let opened = dsse::open(&evidence.receipt, trust.verifier())
        .map_err(|error| format!("receipt not believed: {}", with_cause(&error)))?;
    let receipt = Receipt::decode(&opened.payload)
        .map_err(|error| format!("receipt not understood: {}", with_cause(&error)))?;
    if receipt.subject != result.subject || receipt.binding != result.binding {
        return Err("the receipt is bound to other work than the statement".to_owned());
    }
    if !receipt.ran_its_checker() {
        return Err("the receipt's argv is not the checker that it is bound to".to_owned());
    }
    Ok(receipt)
}

/// One line with the error and what caused it.
fn with_cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", with_cause(source)),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests;
