//! Which commits an audit looks at: the first-parent history of a ref, or what the user named.

use std::collections::HashSet;

use git2::{Commit, Oid, Repository};

use super::{AuditError, trailers};

/// The commits of a range, the oldest first.
#[derive(Debug)]
pub(super) struct Range<'repo> {
    /// As people would write it.
    pub(super) name: String,
    pub(super) commits: Vec<Commit<'repo>>,
}

/// Resolves `A..B` to the first-parent commits of B that A does not reach, and a single name (HEAD by default) to
/// its first-parent history from the first commit with our trailers onwards.
pub(super) fn resolve<'repo>(
    repo: &'repo Repository,
    range: Option<&str>,
) -> Result<Range<'repo>, AuditError> {
    let name = range.unwrap_or("HEAD");
    let refused = |reason: String| AuditError::Range { range: name.to_owned(), reason };
    if name.contains("...") {
        let reason = "a symmetric difference has no order: write A..B".to_owned();
        return Err(refused(reason));
    }
    if repo.is_empty().map_err(AuditError::read("HEAD"))? {
        return Err(refused("the repository has no commits yet".to_owned()));
    }
    let commit = |name: &str| {
        let name = if name.is_empty() { "HEAD" } else { name };
        let found = repo.revparse_single(name).and_then(|object| object.peel_to_commit());
        found.map_err(|error| refused(error.message().to_owned()))
    };
    let Some((from, to)) = name.split_once("..") else {
        let mut commits = first_parents(commit(name)?, |_| false)?;
        let landed = |c: &Commit<'_>| !matches!(trailers::parse(c.message_raw_bytes()), Ok(None));
        let first = commits.iter().position(landed);
        commits.drain(..first.unwrap_or(commits.len()));
        return Ok(Range { name: name.to_owned(), commits });
    };
    let reached = ancestors(repo, commit(from)?.id())?;
    let commits = first_parents(commit(to)?, |id| reached.contains(&id))?;
    Ok(Range { name: name.to_owned(), commits })
}

fn first_parents(
    tip: Commit<'_>,
    stop: impl Fn(Oid) -> bool,
) -> Result<Vec<Commit<'_>>, AuditError> {
    let mut commits = Vec::new();
    let mut next = Some(tip);
    while let Some(commit) = next.filter(|commit| !stop(commit.id())) {
        next = match commit.parent_count() {
            0 => None,
            _ => Some(commit.parent(0).map_err(AuditError::read("the history"))?),
        };
        commits.push(commit);
    }
    commits.reverse();
    Ok(commits)
}

/// The commit and all that it reaches.
fn ancestors(repo: &Repository, tip: Oid) -> Result<HashSet<Oid>, AuditError> {
    let read = AuditError::read("the history");
    let walk = repo.revwalk().and_then(|mut walk| walk.push(tip).map(|()| walk)).map_err(&read)?;
    walk.collect::<Result<_, _>>().map_err(read)
}
