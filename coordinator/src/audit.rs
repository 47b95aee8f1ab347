//! The audit: does every landed commit have valid evidence for its exact tree?
//!
//! It needs nothing but a repository and the trusted keys: no network, no bus, no journal, no git command.
//! libgit2 reads the objects; it does not honour `refs/replace/`, and a repository with grafts or a shallow
//! history is refused, so that what is checked is what the commits really say. Nothing is written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cantus_proto::evidence::Trust;
use cantus_proto::ids::{CommitId, CriterionId, Digest, ItemId, RunId, TreeId};
use git2::Repository;

mod chain;
mod landing;
mod listing;
mod range;
pub(crate) mod trailers;

pub use listing::{ListingError, listing_sha256};

/// Longest first line of a message that is shown, in characters.
const TITLE_CHARS_MAX: usize = 100;

/// Why there is no audit at all. What is wrong with a commit is in the report instead.
#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    /// No repository there, or none that libgit2 can open.
    #[error(
        "{path} cannot be opened as a git repository: name its top directory or a bare repository"
    )]
    Open {
        /// As given.
        path: PathBuf,
        /// Why.
        source: git2::Error,
    },
    /// History is cut off, so what landed cannot be told.
    #[error("{path} is a shallow clone, which hides commits: run `git fetch --unshallow` first")]
    Shallow {
        /// As given.
        path: PathBuf,
    },
    /// History is rewritten for readers.
    #[error("{path} has grafts, which show another history than the commits have: remove {file}")]
    Grafts {
        /// As given.
        path: PathBuf,
        /// The grafts.
        file: PathBuf,
    },
    /// The range names no commits.
    #[error("range {range:?} cannot be used: {reason}")]
    Range {
        /// As given.
        range: String,
        /// Why.
        reason: String,
    },
    /// An object is missing or damaged.
    #[error("{what} cannot be read: run `git fsck`")]
    Read {
        /// What was read.
        what: &'static str,
        /// Why.
        source: git2::Error,
    },
    /// See [`ListingError`].
    #[error(transparent)]
    Listing(#[from] ListingError),
}

impl AuditError {
    fn read(what: &'static str) -> impl Fn(git2::Error) -> Self {
        move |source| Self::Read { what, source }
    }
}

/// What an audit found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditReport {
    /// The range as people would write it.
    pub range: String,
    /// The oldest first.
    pub commits: Vec<CommitAudit>,
}

/// What an audit found out about one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitAudit {
    /// The commit.
    pub commit: CommitId,
    /// Its tree: what evidence must be for.
    pub tree: TreeId,
    /// First line of its message, cut and with what cannot be shown escaped.
    pub title: String,
    /// From the trailers.
    pub run: Option<RunId>,
    /// From the trailers.
    pub item: Option<ItemId>,
    /// Digest of the manifest, from the trailers.
    pub evidence: Option<Digest>,
    /// The criteria of its contract, as the coordinator's summary lists them.
    pub criteria: Vec<CriterionId>,
    /// Whether a checker ran as a mere process, which the coordinator was told to allow.
    pub process_isolation: bool,
    /// What it lacks, one line each; nothing when its evidence is complete.
    pub findings: Vec<String>,
}

/// The audit in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditOutcome {
    /// Every commit has valid evidence.
    Passed,
    /// At least one has not.
    Failed,
    /// There was nothing to check, which proves nothing.
    Empty,
}

impl AuditReport {
    /// The audit in one word.
    #[must_use]
    pub fn outcome(&self) -> AuditOutcome {
        if self.commits.is_empty() {
            AuditOutcome::Empty
        } else if self.commits.iter().all(|commit| commit.findings.is_empty()) {
            AuditOutcome::Passed
        } else {
            AuditOutcome::Failed
        }
    }

    /// The audit in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let (range, all) = (&self.range, self.commits.len());
        let sound = self.commits.iter().filter(|commit| commit.findings.is_empty()).count();
        match self.outcome() {
            AuditOutcome::Empty => format!("nothing to audit: {range} has no landed commits"),
            AuditOutcome::Passed => format!("{range}: all {all} commits have valid evidence"),
            AuditOutcome::Failed => {
                format!("{range}: {} of {all} commits lack valid evidence", all - sound)
            }
        }
    }
}

/// The files that landed beside a tree, from a clone that keeps the run's evidence ref as `reference`.
///
/// Their signatures are not looked at.
///
/// # Errors
/// [`AuditError`] when the repository cannot be read.
pub fn landed_files(
    repo: &git2::Repository,
    reference: String,
    tree: &TreeId,
    digest: &Digest,
) -> Result<Option<BTreeMap<String, Vec<u8>>>, AuditError> {
    let read = AuditError::read("the evidence");
    let Some(chain) = chain::Chain::open_at(repo, reference)? else { return Ok(None) };
    let tree = git2::Oid::from_str(tree.as_str()).map_err(read)?;
    let found = chain.directory(repo, tree, digest)?;
    Ok(found.filter(|directory| directory.digest == *digest).map(|directory| directory.files))
}

/// Audits the first-parent commits of a range, or from the first landed commit of HEAD (or of a named ref) on.
///
/// `repo` is the top directory of a repository or a bare one; nothing above it is looked at.
///
/// # Errors
/// [`AuditError`] when the repository or the range cannot be read at all.
pub fn audit(repo: &Path, range: Option<&str>, trust: &Trust) -> Result<AuditReport, AuditError> {
    let repo = open(repo)?;
    let range = range::resolve(&repo, range)?;
    let mut chains = BTreeMap::new();
    let mut commits = Vec::with_capacity(range.commits.len());
    for commit in &range.commits {
        commits.push(audit_commit(&repo, commit, &mut chains, trust)?);
    }
    Ok(AuditReport { range: range.name, commits })
}

fn open(path: &Path) -> Result<Repository, AuditError> {
    let repo = Repository::open(path)
        .map_err(|source| AuditError::Open { path: path.to_owned(), source })?;
    if repo.is_shallow() {
        return Err(AuditError::Shallow { path: path.to_owned() });
    }
    let file = repo.commondir().join("info/grafts");
    if file.exists() {
        return Err(AuditError::Grafts { path: path.to_owned(), file });
    }
    Ok(repo)
}

fn audit_commit(
    repo: &Repository,
    commit: &git2::Commit<'_>,
    chains: &mut BTreeMap<RunId, Option<chain::Chain>>,
    trust: &Trust,
) -> Result<CommitAudit, AuditError> {
    let message = commit.message_raw_bytes();
    let mut audit = CommitAudit {
        commit: CommitId::new(commit.id().to_string()).expect("git gives valid object ids"),
        tree: landing::tree_id(commit),
        title: title(message),
        run: None,
        item: None,
        evidence: None,
        criteria: Vec::new(),
        process_isolation: false,
        findings: Vec::new(),
    };
    let trailers = match trailers::parse(message) {
        Ok(Some(trailers)) => trailers,
        Ok(None) => {
            audit.findings.push("no Cantus trailers: it did not land through Cantus".to_owned());
            return Ok(audit);
        }
        Err(error) => {
            audit.findings.push(error.to_string());
            return Ok(audit);
        }
    };
    if !chains.contains_key(&trailers.run) {
        chains.insert(trailers.run.clone(), chain::Chain::open(repo, &trailers.run)?);
    }
    landing::check(repo, &trailers, chains[&trailers.run].as_ref(), trust, &mut audit)?;
    (audit.run, audit.item) = (Some(trailers.run), Some(trailers.item));
    audit.evidence = Some(trailers.evidence);
    Ok(audit)
}

fn title(message: &[u8]) -> String {
    let message = String::from_utf8_lossy(message);
    let line = message.lines().next().unwrap_or_default();
    let mut title = String::new();
    for c in line.chars().take(TITLE_CHARS_MAX) {
        match c {
            '"' | '\'' | '\\' => title.push(c),
            c => title.extend(c.escape_debug()),
        }
    }
    title
}

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;
