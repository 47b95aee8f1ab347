//! The in-toto Statement v1 around every predicate: which tree it is about, and for which work.
//!
//! Domain values in, JSON out, and back; the JSON types are private. What a predicate says is in the
//! modules [`super::test_result`], [`super::receipt`] and [`super::summary`].

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::ids::{AttemptNumber, CriterionId, Digest, ItemId, NameError, RunId, TreeId};
use crate::message::Isolation;

const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
/// Name of the subject that is the git tree.
const TREE_SUBJECT: &str = "tree";
/// Name of the subject that is the sha256 of `git ls-tree -r -z --full-tree`.
const LISTING_SUBJECT: &str = "git-ls-tree";

/// Why a payload is not the statement that was expected.
#[derive(Debug, thiserror::Error)]
pub enum StatementError {
    /// Not JSON, or a field is missing or of another type.
    #[error("not an in-toto statement with predicate {expected}")]
    Json {
        /// The predicate type that was looked for.
        expected: &'static str,
        /// Where.
        source: serde_json::Error,
    },
    /// Another kind of statement.
    #[error("{field} is {found:?}, expected {expected:?}")]
    Type {
        /// `_type` or `predicateType`.
        field: &'static str,
        /// As the statement says, cut.
        found: String,
        /// What it must be.
        expected: &'static str,
    },
    /// Not exactly one tree and one listing, each with one digest.
    #[error(
        "the subjects are not exactly {TREE_SUBJECT:?} with a gitTree digest and \
         {LISTING_SUBJECT:?} with a sha256 digest"
    )]
    Subject,
    /// A name or digest that is not valid.
    #[error("the statement has a name that is not valid")]
    Name(#[from] NameError),
    /// A value that the predicate does not allow.
    #[error("the predicate's {field} is {found:?}: {reason}")]
    Value {
        /// Which field.
        field: &'static str,
        /// As the statement says, cut.
        found: String,
        /// What is wrong with it.
        reason: &'static str,
    },
}

impl StatementError {
    pub(super) fn value(field: &'static str, found: &str, reason: &'static str) -> Self {
        Self::Value { field, found: found.chars().take(120).collect(), reason }
    }
}

/// What a statement is about: one git tree, named twice. The listing's sha256 holds where sha1 is broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Git's id of the tree.
    pub tree: TreeId,
    /// See [`super::listing`].
    pub listing: Digest,
}

/// The word for it in statements.
fn isolation_word(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::Container => "container",
        Isolation::Process => "process",
    }
}

fn read_isolation(word: &str) -> Result<Isolation, StatementError> {
    match word {
        "container" => Ok(Isolation::Container),
        "process" => Ok(Isolation::Process),
        other => Err(StatementError::value("isolation", other, "container or process")),
    }
}

/// For which work a check ran. Evidence that is bound to something else proves nothing here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// The run.
    pub run: RunId,
    /// The item in it.
    pub item: ItemId,
    /// The verify attempt.
    pub attempt: AttemptNumber,
    /// The criterion that was checked.
    pub criterion: CriterionId,
    /// Of the checker's text, see [`super::receipt::checker_digest`].
    pub checker: Digest,
    /// How the checker ran.
    pub isolation: Isolation,
}

/// The statement's JSON. Field order is fixed, so the bytes are too.
pub(super) fn encode<P: Serialize>(
    subject: &Subject,
    predicate_type: &'static str,
    predicate: P,
) -> Vec<u8> {
    let tree = DigestsJson { git_tree: Some(subject.tree.to_string()), sha256: None };
    let listing = DigestsJson { git_tree: None, sha256: Some(subject.listing.to_string()) };
    let statement = StatementJson {
        kind: STATEMENT_TYPE.to_owned(),
        subject: vec![
            SubjectJson { name: TREE_SUBJECT.to_owned(), digest: tree },
            SubjectJson { name: LISTING_SUBJECT.to_owned(), digest: listing },
        ],
        predicate_type: predicate_type.to_owned(),
        predicate,
    };
    serde_json::to_vec(&statement).expect("strings and numbers always have a JSON form")
}

/// Reads a statement of this predicate type. Fields that are unknown are ignored, as in-toto demands, but not
/// in the subjects: those must be exact.
pub(super) fn decode<P: DeserializeOwned>(
    payload: &[u8],
    expected: &'static str,
) -> Result<(Subject, P), StatementError> {
    let json = |source| StatementError::Json { expected, source };
    let head: HeadJson = serde_json::from_slice(payload).map_err(json)?;
    for (field, found, expected) in
        [("_type", &head.kind, STATEMENT_TYPE), ("predicateType", &head.predicate_type, expected)]
    {
        if found != expected {
            let found = found.chars().take(120).collect();
            return Err(StatementError::Type { field, found, expected });
        }
    }
    let statement: StatementJson<P> = serde_json::from_slice(payload).map_err(json)?;
    Ok((read_subject(statement.subject)?, statement.predicate))
}

fn read_subject(subjects: Vec<SubjectJson>) -> Result<Subject, StatementError> {
    let [tree, listing] =
        <[SubjectJson; 2]>::try_from(subjects).map_err(|_| StatementError::Subject)?;
    if tree.name != TREE_SUBJECT || listing.name != LISTING_SUBJECT {
        return Err(StatementError::Subject);
    }
    // Two digests in one set mean that either may match: each subject has one.
    match (tree.digest, listing.digest) {
        (
            DigestsJson { git_tree: Some(tree), sha256: None },
            DigestsJson { git_tree: None, sha256: Some(listing) },
        ) => Ok(Subject { tree: TreeId::new(tree)?, listing: Digest::new(listing)? }),
        _ => Err(StatementError::Subject),
    }
}

#[derive(Deserialize)]
struct HeadJson {
    #[serde(rename = "_type")]
    kind: String,
    #[serde(rename = "predicateType")]
    predicate_type: String,
}

#[derive(Serialize, Deserialize)]
struct StatementJson<P> {
    #[serde(rename = "_type")]
    kind: String,
    subject: Vec<SubjectJson>,
    #[serde(rename = "predicateType")]
    predicate_type: String,
    predicate: P,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SubjectJson {
    name: String,
    digest: DigestsJson,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DigestsJson {
    #[serde(rename = "gitTree", default, skip_serializing_if = "Option::is_none")]
    git_tree: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
}

/// A digest set of in-toto with the one digest that Cantus uses for everything but trees.
#[derive(Serialize, Deserialize)]
pub(super) struct Sha256Json {
    pub(super) sha256: String,
}

impl Sha256Json {
    pub(super) fn of(digest: &Digest) -> Self {
        Self { sha256: digest.to_string() }
    }
}

/// [`Binding`] as the predicates carry it.
#[derive(Serialize, Deserialize)]
pub(super) struct BindingJson {
    run: String,
    item: String,
    attempt: u32,
    criterion: String,
    isolation: String,
}

impl BindingJson {
    pub(super) fn of(binding: &Binding) -> Self {
        Self {
            run: binding.run.to_string(),
            item: binding.item.to_string(),
            attempt: binding.attempt.0,
            criterion: binding.criterion.to_string(),
            isolation: isolation_word(binding.isolation).to_owned(),
        }
    }

    pub(super) fn read(self, checker: Sha256Json) -> Result<Binding, StatementError> {
        Ok(Binding {
            run: RunId::new(self.run)?,
            item: ItemId::new(self.item)?,
            attempt: AttemptNumber(self.attempt),
            criterion: CriterionId::new(self.criterion)?,
            checker: Digest::new(checker.sha256)?,
            isolation: read_isolation(&self.isolation)?,
        })
    }
}

#[cfg(test)]
mod tests;
