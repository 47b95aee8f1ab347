//! Checks the evidence that the coordinator hands out, against the contract and the trusted keys.
//!
//! The coordinator is believed in nothing but which contract the item has; signatures decide. That a commit
//! really has this tree is what `audit` checks, in the repository.

use std::collections::BTreeMap;

use cantus_proto::contract::Contract;
use cantus_proto::evidence::dossier::{SUMMARY_NAME, manifest, receipt_name, statement_name};
use cantus_proto::evidence::summary::Summary;
use cantus_proto::evidence::test_result::TestResult;
use cantus_proto::evidence::verdict::{Policy, Question, Standing, examine};
use cantus_proto::evidence::{Evidence, Trust, dsse};
use cantus_proto::ids::{CriterionId, Digest, ItemId, RunId, TreeId};
use cantus_proto::message::Isolation;
use cantus_proto::wire::v1::EvidenceResponse;

use crate::kernel::chain;

/// What the evidence of one item shows.
#[derive(Debug)]
pub(super) struct Proof {
    /// Each criterion of the contract.
    pub(super) criteria: BTreeMap<CriterionId, Standing>,
    /// What is wrong with the whole.
    pub(super) findings: Vec<String>,
    /// What a reader should know.
    pub(super) notes: Vec<String>,
    /// By name.
    pub(super) files: BTreeMap<String, Vec<u8>>,
}

impl Proof {
    /// Whether every criterion holds and nothing else is wrong.
    pub(super) fn holds(&self) -> bool {
        let holds = |standing: &Standing| matches!(standing, Standing::Holds { .. });
        self.findings.is_empty() && !self.criteria.is_empty() && self.criteria.values().all(holds)
    }

    /// How many criteria hold.
    pub(super) fn held(&self) -> usize {
        self.criteria.values().filter(|standing| matches!(standing, Standing::Holds { .. })).count()
    }
}

/// What is asked about.
pub(super) struct Asked<'a> {
    pub(super) run: &'a RunId,
    pub(super) item: &'a ItemId,
    pub(super) tree: &'a TreeId,
    pub(super) contract: &'a Contract,
}

/// Checks all that was handed out.
pub(super) fn check(asked: &Asked<'_>, response: &EvidenceResponse, trust: &Trust) -> Proof {
    let (mut findings, mut notes) = (Vec::new(), Vec::new());
    let mut files = BTreeMap::new();
    for file in &response.files {
        if files.insert(file.name.clone(), file.content.clone()).is_some() {
            findings.push(format!("{} was sent twice", file.name));
        }
    }
    let Asked { run, item, tree, contract } = *asked;
    let listing = listing(&files, tree, trust);
    let question = Question::new(run.clone(), item.clone(), contract, tree.clone(), listing);
    let evidence: Vec<Evidence> =
        question.checkers.keys().filter_map(|criterion| evidence(&files, criterion)).collect();
    let policy = Policy { allow_process_isolation: true };
    let criteria = examine(&question, &evidence, trust, policy);
    let process = criteria
        .values()
        .any(|s| matches!(s, Standing::Holds { isolation: Isolation::Process, .. }));
    if process {
        notes.push(
            "checked without a container, which lands only where that was allowed".to_owned(),
        );
    }
    match files.get(SUMMARY_NAME) {
        Some(envelope) => {
            findings.extend(check_summary(envelope, &question, &files, trust));
            let digest = format!("sha256:{}", manifest(&files).1);
            if !response.digest.is_empty() && digest != response.digest {
                findings.push(format!(
                    "the files have digest {digest}, the commit names {}",
                    response.digest
                ));
            }
        }
        None if response.commit.is_empty() => notes.push("not landed yet".to_owned()),
        None => notes
            .push("the coordinator's summary is in the repository: see `cantus audit`".to_owned()),
    }
    Proof { criteria, findings, notes, files }
}

/// The second name of the tree, as a trusted verifier signed it; any, if none did: then nothing is believed.
fn listing(files: &BTreeMap<String, Vec<u8>>, tree: &TreeId, trust: &Trust) -> Digest {
    let subjects = files.values().filter_map(|envelope| {
        let opened = dsse::open(envelope, trust.verifier()).ok()?;
        TestResult::decode(&opened.payload).ok().map(|result| result.subject)
    });
    let mut of_tree = subjects.filter(|subject| subject.tree == *tree);
    of_tree.next().map_or_else(|| Digest::of(b""), |subject| subject.listing)
}

fn evidence(files: &BTreeMap<String, Vec<u8>>, criterion: &CriterionId) -> Option<Evidence> {
    Some(Evidence {
        criterion: criterion.clone(),
        statement: files.get(&statement_name(criterion))?.clone(),
        receipt: files.get(&receipt_name(criterion)).cloned().unwrap_or_default(),
    })
}

fn check_summary(
    envelope: &[u8],
    question: &Question,
    files: &BTreeMap<String, Vec<u8>>,
    trust: &Trust,
) -> Vec<String> {
    let opened = match dsse::open(envelope, trust.coordinator()) {
        Ok(opened) => opened,
        Err(error) => return vec![format!("{SUMMARY_NAME} not believed: {}", chain(&error))],
    };
    let summary = match Summary::decode(&opened.payload) {
        Ok(summary) => summary,
        Err(error) => return vec![format!("{SUMMARY_NAME} not understood: {}", chain(&error))],
    };
    let mut findings = Vec::new();
    if summary.question != *question {
        findings.push(format!("{SUMMARY_NAME} is about another run, item, tree or contract"));
    }
    for (name, wanted) in &summary.inputs {
        match files.get(name).map(|bytes| Digest::of(bytes)) {
            Some(found) if found == *wanted => {}
            Some(found) => {
                findings.push(format!("{name} has sha256 {found}, the summary names {wanted}"))
            }
            None => findings.push(format!("{name} is in the summary, and is missing")),
        }
    }
    let unnamed =
        files.keys().filter(|name| *name != SUMMARY_NAME && !summary.inputs.contains_key(*name));
    findings.extend(unnamed.map(|name| format!("{name} is not in the summary")));
    findings
}

#[cfg(test)]
pub(super) mod tests;
