//! The dossier: the files that land beside a verified commit, and the manifest that its trailer names.
//!
//! [`dossier`] is the only way to make one, and it asks for the verdict itself: what is not verified has no
//! dossier. Where the files go (`refs/evidence/<run token>`, directory `<tree id>/`) is the landing's work.

use std::collections::BTreeMap;

use super::attest::Evidence;
use super::dsse;
use super::keys::SigningKey;
use super::summary::Summary;
use super::trust::Trust;
use super::verdict::{Policy, Question, Standing, Verdict, examine, verdict};
use crate::ids::{CriterionId, Digest, RepositoryId, RunId};
use crate::subjects::token;

const STATEMENT_SUFFIX: &str = ".dsse.json";
/// Short, because the longest token and this must fit the 255 bytes of a file name.
const RECEIPT_SUFFIX: &str = ".receipt.json";

/// The coordinator's summary. A token has no dot, so no criterion's file can have this name.
pub const SUMMARY_NAME: &str = "summary.vsa.dsse.json";

/// The ref that holds a run's evidence.
#[must_use]
pub fn evidence_ref(run: &RunId) -> String {
    format!("refs/evidence/{}", token(run.as_str()))
}

/// File name of a criterion's test result.
#[must_use]
pub fn statement_name(criterion: &CriterionId) -> String {
    token(criterion.as_str()) + STATEMENT_SUFFIX
}

/// File name of a criterion's receipt.
#[must_use]
pub fn receipt_name(criterion: &CriterionId) -> String {
    token(criterion.as_str()) + RECEIPT_SUFFIX
}

/// One line `<sha256>  <name>` per file, by name, as `sha256sum` prints and checks it; and its digest, which
/// is what the trailer `Cantus-Evidence` names.
#[must_use]
pub fn manifest(files: &BTreeMap<String, Vec<u8>>) -> (String, Digest) {
    let line = |(name, bytes): (&String, &Vec<u8>)| format!("{}  {name}\n", Digest::of(bytes));
    let text: String = files.iter().map(line).collect();
    let digest = Digest::of(text.as_bytes());
    (text, digest)
}

/// Where and when a tree lands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// The repository.
    pub repository: RepositoryId,
    /// Full name of the target ref.
    pub target: String,
    /// Seconds since 1970.
    pub verified_s: u64,
}

/// The evidence of one landing, as files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dossier {
    /// Name and bytes.
    pub files: BTreeMap<String, Vec<u8>>,
    /// See [`manifest`].
    pub manifest: String,
    /// Of the manifest.
    pub digest: Digest,
}

/// Collects the evidence of a verified tree and signs the summary of it.
///
/// # Errors
/// The verdict, when it is not [`Verdict::Verified`].
pub fn dossier(
    question: &Question,
    evidence: &[Evidence],
    trust: &Trust,
    policy: Policy,
    stamp: &Stamp,
    key: &SigningKey,
) -> Result<Dossier, Verdict> {
    match verdict(question, evidence, trust, policy) {
        Verdict::Verified => {}
        other => return Err(other),
    }
    let mut files = BTreeMap::new();
    for (criterion, standing) in examine(question, evidence, trust, policy) {
        if let Standing::Holds { evidence: position, .. } = standing {
            let Evidence { statement, receipt, .. } = evidence[position].clone();
            files.insert(statement_name(&criterion), statement);
            files.insert(receipt_name(&criterion), receipt);
        }
    }
    let summary = Summary {
        question: question.clone(),
        policy,
        repository: stamp.repository.clone(),
        target: stamp.target.clone(),
        verified_s: stamp.verified_s,
        inputs: files.iter().map(|(name, bytes)| (name.clone(), Digest::of(bytes))).collect(),
    };
    files.insert(SUMMARY_NAME.to_owned(), dsse::sign(&summary.encode(), key));
    let (manifest, digest) = manifest(&files);
    Ok(Dossier { files, manifest, digest })
}

#[cfg(test)]
mod tests;
