//! What one landed commit lacks: its trailers, its evidence, the summary and each criterion, against the trust.

use cantus_proto::evidence::dossier::{SUMMARY_NAME, receipt_name, statement_name};
use cantus_proto::evidence::summary::Summary;
use cantus_proto::evidence::verdict::{Question, Standing, examine};
use cantus_proto::evidence::{Evidence, Subject, Trust, dsse};
use cantus_proto::ids::{CriterionId, Digest, TreeId};
use cantus_proto::message::Isolation;
use git2::Repository;

use super::chain::{Chain, Directory};
use super::listing::listing_sha256;
use super::trailers::Trailers;
use super::{AuditError, CommitAudit};

/// Checks the evidence of a commit and adds what is wrong to its findings.
pub(super) fn check(
    repo: &Repository,
    trailers: &Trailers,
    chain: Option<&Chain>,
    trust: &Trust,
    audit: &mut CommitAudit,
) -> Result<(), AuditError> {
    let Some(chain) = chain else {
        let reference = cantus_proto::evidence::dossier::evidence_ref(&trailers.run);
        audit.findings.push(format!(
            "there is no {reference} here: get it with \
             `git fetch origin 'refs/evidence/*:refs/evidence/*'`"
        ));
        return Ok(());
    };
    let tree = git2::Oid::from_str(audit.tree.as_str()).map_err(AuditError::read("the tree"))?;
    let Some(directory) = chain.directory(repo, tree, &trailers.evidence)? else {
        let reference = &chain.reference;
        audit.findings.push(match chain.tree_of(repo, &trailers.evidence)? {
            Some(other) => format!(
                "its evidence sha256:{} is for tree {other}, the commit has tree {tree}",
                trailers.evidence
            ),
            None => format!("{reference} has no evidence for tree {tree}"),
        });
        return Ok(());
    };
    audit.findings.extend(directory.findings.iter().cloned());
    if directory.digest != trailers.evidence {
        audit.findings.push(format!(
            "its trailer names evidence sha256:{}, that of tree {tree} is sha256:{}",
            trailers.evidence, directory.digest
        ));
    }
    let subject = Subject { tree: audit.tree.clone(), listing: listing_sha256(repo, tree)? };
    match read_summary(&directory, trust) {
        Ok(summary) => check_summary(&summary, &directory, trailers, subject, trust, audit),
        Err(reason) => audit.findings.push(reason),
    }
    Ok(())
}

fn read_summary(directory: &Directory, trust: &Trust) -> Result<Summary, String> {
    let envelope = directory
        .files
        .get(SUMMARY_NAME)
        .ok_or_else(|| format!("the evidence has no {SUMMARY_NAME}"))?;
    let opened = dsse::open(envelope, trust.coordinator())
        .map_err(|error| format!("{SUMMARY_NAME} not believed: {error}"))?;
    Summary::decode(&opened.payload)
        .map_err(|error| format!("{SUMMARY_NAME} not understood: {error}"))
}

fn check_summary(
    summary: &Summary,
    directory: &Directory,
    trailers: &Trailers,
    subject: Subject,
    trust: &Trust,
    audit: &mut CommitAudit,
) {
    let found = &summary.question;
    let differences = [
        ("tree", found.subject.tree.as_str(), subject.tree.as_str()),
        ("git ls-tree sha256", found.subject.listing.as_str(), subject.listing.as_str()),
        ("run", found.run.as_str(), trailers.run.as_str()),
        ("item", found.item.as_str(), trailers.item.as_str()),
    ];
    for (what, found, wanted) in differences.iter().filter(|(_, found, wanted)| found != wanted) {
        let text = format!("{SUMMARY_NAME} is for {what} {found}, the commit has {what} {wanted}");
        audit.findings.push(text);
    }
    check_files(summary, directory, audit);
    if found.checkers.is_empty() {
        audit.findings.push(format!("{SUMMARY_NAME} names no criteria"));
    }
    // The commit itself is asked about, never what the summary says of it; the criteria are the summary's.
    let question = Question {
        run: trailers.run.clone(),
        item: trailers.item.clone(),
        subject,
        checkers: found.checkers.clone(),
    };
    let evidence: Vec<_> =
        found.checkers.keys().filter_map(|criterion| evidence_of(directory, criterion)).collect();
    for (criterion, standing) in examine(&question, &evidence, trust, summary.policy) {
        match standing {
            Standing::Holds { isolation, .. } => {
                audit.process_isolation |= isolation == Isolation::Process;
            }
            Standing::Refuted(reasons) | Standing::Open(reasons) => {
                let lines = reasons.iter().map(|reason| format!("criterion {criterion}: {reason}"));
                audit.findings.extend(lines);
            }
        }
        audit.criteria.push(criterion);
    }
}

/// The files are exactly those that the summary names.
fn check_files(summary: &Summary, directory: &Directory, audit: &mut CommitAudit) {
    for (name, digest) in &summary.inputs {
        match directory.files.get(name).map(|bytes| Digest::of(bytes)) {
            None => audit.findings.push(format!("{name} is in the summary, and is missing")),
            Some(found) if found != *digest => {
                let text = format!("{name} has sha256 {found}, the summary names {digest}");
                audit.findings.push(text);
            }
            Some(_) => {}
        }
    }
    for name in directory.files.keys().filter(|name| *name != SUMMARY_NAME) {
        if !summary.inputs.contains_key(name) {
            audit.findings.push(format!("{name} is not in the summary"));
        }
    }
}

/// Nothing when there is no statement; a receipt that is missing is found by its digest.
fn evidence_of(directory: &Directory, criterion: &CriterionId) -> Option<Evidence> {
    let statement = directory.files.get(&statement_name(criterion))?.clone();
    let receipt = directory.files.get(&receipt_name(criterion)).cloned().unwrap_or_default();
    Some(Evidence { criterion: criterion.clone(), statement, receipt })
}

/// The tree of a commit.
pub(super) fn tree_id(commit: &git2::Commit<'_>) -> TreeId {
    TreeId::new(commit.tree_id().to_string()).expect("git gives valid object ids")
}
