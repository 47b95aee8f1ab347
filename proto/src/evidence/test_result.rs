//! The predicate `test-result/v0.1` of in-toto: whether one criterion holds for one tree.
//!
//! How the outcome is reached from a receipt is in [`super::attest`].

use serde::{Deserialize, Serialize};

use super::dossier;
use super::statement::{self, Binding, BindingJson, Sha256Json, StatementError, Subject};
use crate::ids::Digest;

/// The predicate's type.
pub const PREDICATE_TYPE: &str = "https://in-toto.io/attestation/test-result/v0.1";

/// Name of the configuration entry that is the checker's text.
const CHECKER: &str = "checker";
/// Name of the configuration entry that is the receipt's envelope.
const RECEIPT: &str = "receipt";

/// What a check showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The criterion holds.
    Passed,
    /// Passed with warnings. Cantus's verifiers never say it, and it proves nothing.
    Warned,
    /// The criterion does not hold.
    Failed,
}

impl Outcome {
    /// The word in statements.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "PASSED",
            Self::Warned => "WARNED",
            Self::Failed => "FAILED",
        }
    }
}

/// A verifier's statement that a criterion holds, or does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestResult {
    /// The tree that was checked.
    pub subject: Subject,
    /// For which work.
    pub binding: Binding,
    /// What it showed.
    pub outcome: Outcome,
    /// Of the receipt's envelope, as a file.
    pub receipt: Digest,
}

impl TestResult {
    /// The statement's JSON, to be signed.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let criterion = &self.binding.criterion;
        let tests = |of: Outcome| -> Vec<String> {
            (self.outcome == of).then(|| criterion.to_string()).into_iter().collect()
        };
        let predicate = PredicateJson {
            result: self.outcome.as_str().to_owned(),
            configuration: vec![
                ResourceJson {
                    name: CHECKER.to_owned(),
                    uri: None,
                    digest: Sha256Json::of(&self.binding.checker),
                    annotations: Some(BindingJson::of(&self.binding)),
                },
                ResourceJson {
                    name: RECEIPT.to_owned(),
                    uri: Some(dossier::receipt_name(criterion)),
                    digest: Sha256Json::of(&self.receipt),
                    annotations: None,
                },
            ],
            passed_tests: tests(Outcome::Passed),
            warned_tests: tests(Outcome::Warned),
            failed_tests: tests(Outcome::Failed),
        };
        statement::encode(&self.subject, PREDICATE_TYPE, predicate)
    }

    /// Reads what [`TestResult::encode`] writes.
    ///
    /// # Errors
    /// [`StatementError`] names the field.
    pub fn decode(payload: &[u8]) -> Result<Self, StatementError> {
        let (subject, predicate): (Subject, PredicateJson) =
            statement::decode(payload, PREDICATE_TYPE)?;
        let outcome = match predicate.result.as_str() {
            "PASSED" => Outcome::Passed,
            "WARNED" => Outcome::Warned,
            "FAILED" => Outcome::Failed,
            other => {
                return Err(StatementError::value("result", other, "PASSED, WARNED or FAILED"));
            }
        };
        if outcome == Outcome::Passed && !predicate.failed_tests.is_empty() {
            let reason = "PASSED beside failed tests contradicts itself";
            return Err(StatementError::value("failedTests", &predicate.failed_tests[0], reason));
        }
        let [checker, receipt] = <[ResourceJson; 2]>::try_from(predicate.configuration)
            .map_err(|entries| configuration_error(entries.len()))?;
        let Some(binding) = checker.annotations.filter(|_| checker.name == CHECKER) else {
            return Err(configuration_error(2));
        };
        if receipt.name != RECEIPT {
            return Err(configuration_error(2));
        }
        let binding = binding.read(checker.digest)?;
        Ok(Self { subject, binding, outcome, receipt: Digest::new(receipt.digest.sha256)? })
    }
}

fn configuration_error(entries: usize) -> StatementError {
    let reason = "must be the annotated checker and the receipt";
    StatementError::value("configuration", &format!("{entries} entries"), reason)
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PredicateJson {
    result: String,
    configuration: Vec<ResourceJson>,
    #[serde(default)]
    passed_tests: Vec<String>,
    #[serde(default)]
    warned_tests: Vec<String>,
    #[serde(default)]
    failed_tests: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct ResourceJson {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    uri: Option<String>,
    digest: Sha256Json,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    annotations: Option<BindingJson>,
}
