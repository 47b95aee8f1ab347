//! The verification summary (VSA v1) that the coordinator signs when a tree lands.
//!
//! It lists the criteria of the contract and every envelope that was weighed, so that one taken away later
//! is missed. The files around it are in [`super::dossier`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::statement::{self, Sha256Json, StatementError, Subject};
use super::timestamp;
use super::verdict::{Policy, Question};
use crate::ids::{CriterionId, Digest, ItemId, RepositoryId, RunId};
use crate::subjects::token;

/// The predicate's type.
pub const PREDICATE_TYPE: &str = "https://slsa.dev/verification_summary/v1";

const VERIFIER: &str = "urn:cantus:coordinator";
const POLICY: &str = "urn:cantus:contract";
const REPOSITORY_PREFIX: &str = "urn:cantus:repository:";
const PASSED: &str = "PASSED";
/// The one level that Cantus gives: names that begin with `SLSA_` are not ours to give.
const LEVEL: &str = "CANTUS_EVERY_CRITERION_VERIFIED";

/// The coordinator's statement that a tree fulfils a contract. There is none for a tree that does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// What was asked: run, item, tree and criteria.
    pub question: Question,
    /// What was allowed beyond the default.
    pub policy: Policy,
    /// Which repository, by its id: a location could hold a password.
    pub repository: RepositoryId,
    /// Full name of the target ref.
    pub target: String,
    /// When, in seconds since 1970.
    pub verified_s: u64,
    /// The envelopes that were weighed: file name and sha256.
    pub inputs: BTreeMap<String, Digest>,
}

/// The digest of all criteria: sha256 of one line `<checker sha256>  <criterion token>` each, by criterion.
#[must_use]
pub fn criteria_digest(checkers: &BTreeMap<CriterionId, Digest>) -> Digest {
    let line =
        |(id, checker): (&CriterionId, &Digest)| format!("{checker}  {}\n", token(id.as_str()));
    Digest::of(checkers.iter().map(line).collect::<String>().as_bytes())
}

impl Summary {
    /// The statement's JSON, to be signed.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let Question { run, item, subject, checkers } = &self.question;
        let criteria = checkers
            .iter()
            .map(|(id, checker)| CriterionJson {
                id: id.to_string(),
                checker: Sha256Json::of(checker),
            })
            .collect();
        let input = |(name, digest): (&String, &Digest)| InputJson {
            uri: name.clone(),
            digest: Sha256Json::of(digest),
        };
        let predicate = PredicateJson {
            verifier: VerifierJson { id: VERIFIER.to_owned() },
            time_verified: timestamp::print(self.verified_s),
            resource_uri: format!("{REPOSITORY_PREFIX}{}#{}", self.repository, self.target),
            policy: PolicyJson {
                uri: POLICY.to_owned(),
                digest: Sha256Json::of(&criteria_digest(checkers)),
                annotations: AnnotationsJson {
                    run: run.to_string(),
                    item: item.to_string(),
                    process_isolation_allowed: self.policy.allow_process_isolation,
                    criteria,
                },
            },
            input_attestations: self.inputs.iter().map(input).collect(),
            verification_result: PASSED.to_owned(),
            verified_levels: vec![LEVEL.to_owned()],
        };
        statement::encode(subject, PREDICATE_TYPE, predicate)
    }

    /// Reads what [`Summary::encode`] writes.
    ///
    /// # Errors
    /// [`StatementError`] names the field. A summary that says anything but PASSED is an error too.
    pub fn decode(payload: &[u8]) -> Result<Self, StatementError> {
        let (subject, predicate): (Subject, PredicateJson) =
            statement::decode(payload, PREDICATE_TYPE)?;
        let value = StatementError::value;
        if predicate.verification_result != PASSED {
            let found = &predicate.verification_result;
            return Err(value("verificationResult", found, "only PASSED lands"));
        }
        if !predicate.verified_levels.iter().any(|level| level == LEVEL) {
            let found = predicate.verified_levels.join(", ");
            return Err(value("verifiedLevels", &found, "every criterion must be verified"));
        }
        let (repository, target) = predicate
            .resource_uri
            .strip_prefix(REPOSITORY_PREFIX)
            .and_then(|rest| rest.split_once('#'))
            .ok_or_else(|| value("resourceUri", &predicate.resource_uri, "not a repository"))?;
        let verified_s = timestamp::parse(&predicate.time_verified)
            .ok_or_else(|| value("timeVerified", &predicate.time_verified, "not a time in UTC"))?;
        let PolicyJson { digest, annotations, .. } = predicate.policy;
        let checkers = read_criteria(annotations.criteria)?;
        if digest.sha256 != criteria_digest(&checkers).as_str() {
            return Err(value("policy.digest", &digest.sha256, "not that of the criteria"));
        }
        let (run, item) = (RunId::new(annotations.run)?, ItemId::new(annotations.item)?);
        Ok(Self {
            question: Question { run, item, subject, checkers },
            policy: Policy { allow_process_isolation: annotations.process_isolation_allowed },
            repository: RepositoryId::new(repository)?,
            target: target.to_owned(),
            verified_s,
            inputs: read_inputs(predicate.input_attestations)?,
        })
    }
}

fn read_criteria(
    criteria: Vec<CriterionJson>,
) -> Result<BTreeMap<CriterionId, Digest>, StatementError> {
    let mut checkers = BTreeMap::new();
    for CriterionJson { id, checker } in criteria {
        let twice = StatementError::value("criteria", &id, "named twice");
        if checkers.insert(CriterionId::new(id)?, Digest::new(checker.sha256)?).is_some() {
            return Err(twice);
        }
    }
    Ok(checkers)
}

fn read_inputs(inputs: Vec<InputJson>) -> Result<BTreeMap<String, Digest>, StatementError> {
    let mut files = BTreeMap::new();
    for InputJson { uri, digest } in inputs {
        let twice = StatementError::value("inputAttestations", &uri, "named twice");
        if files.insert(uri, Digest::new(digest.sha256)?).is_some() {
            return Err(twice);
        }
    }
    Ok(files)
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PredicateJson {
    verifier: VerifierJson,
    time_verified: String,
    resource_uri: String,
    policy: PolicyJson,
    input_attestations: Vec<InputJson>,
    verification_result: String,
    verified_levels: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct VerifierJson {
    id: String,
}

#[derive(Serialize, Deserialize)]
struct PolicyJson {
    uri: String,
    digest: Sha256Json,
    annotations: AnnotationsJson,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnnotationsJson {
    run: String,
    item: String,
    process_isolation_allowed: bool,
    criteria: Vec<CriterionJson>,
}

#[derive(Serialize, Deserialize)]
struct CriterionJson {
    id: String,
    checker: Sha256Json,
}

#[derive(Serialize, Deserialize)]
struct InputJson {
    uri: String,
    digest: Sha256Json,
}
