//! From what a person wrote in a plan to an address and a ref, and what can be seen of a local repository before
//! anything is fetched.

use std::path::{Path, PathBuf};

use super::super::Hub;
use super::super::git::{OUTPUT_BYTES_MAX, to_path};
use super::{ConnectError, Upstream};

/// Most branch names suggested for one that is missing.
const SUGGESTIONS_MAX: usize = 5;
/// Longest branch name, in bytes, for which a likeness is worked out: the work grows with the square.
const LIKENESS_BYTES_MAX: usize = 200;

impl Hub {
    /// Turns an address into the form that is kept, and checks a local repository as far as can be seen.
    pub(super) fn resolve(&self, location: &str) -> Result<Upstream, ConnectError> {
        let path = Path::new(location.strip_prefix("file://").unwrap_or(location));
        if is_remote(location) && !path.exists() {
            if has_password(location) {
                let shown = location.split("://").next().unwrap_or_default();
                return Err(ConnectError::Password(format!("{shown}://…")));
            }
            return Ok(Upstream::new(location.to_owned()));
        }
        let shown = || path.display().to_string();
        let real = path.canonicalize().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => ConnectError::Missing(shown()),
            _ => ConnectError::Unreachable { location: shown(), reason: error.to_string() },
        })?;
        if !real.is_dir() {
            return Err(ConnectError::NotRepository(shown()));
        }
        let common = self.check_local(&real, &shown())?;
        let location = common.into_os_string().into_string().map_err(|path| {
            let reason = "its path is not UTF-8, rename a directory".to_owned();
            ConnectError::Unreachable { location: path.display().to_string(), reason }
        })?;
        Ok(Upstream::new(location))
    }

    /// Answers the common directory of a local repository, which all its work trees share.
    fn check_local(&self, path: &Path, shown: &str) -> Result<PathBuf, ConnectError> {
        let shown = || shown.to_owned();
        let output = self
            .git
            .call_at(path, "rev-parse")
            .args(["--is-shallow-repository", "--show-object-format"])
            .args(["--path-format=absolute", "--git-common-dir"])
            .run_any(OUTPUT_BYTES_MAX)?;
        if !output.status.success() {
            return Err(match output.complaint {
                text if text.contains("dubious ownership") => ConnectError::NotOwned(shown()),
                text if text.contains("not a git repository") => {
                    ConnectError::NotRepository(shown())
                }
                reason => ConnectError::Unreachable { location: shown(), reason },
            });
        }
        let mut lines = output.stdout.splitn(3, |&byte| byte == b'\n');
        let mut line = || lines.next().unwrap_or_default();
        let (shallow, format, common) = (line(), line(), line());
        if shallow == b"true" {
            return Err(ConnectError::Shallow(shown()));
        }
        if format != b"sha1" {
            let format = String::from_utf8_lossy(format).into_owned();
            return Err(ConnectError::ObjectFormat(shown(), format));
        }
        let partial = self
            .git
            .call_at(path, "config")
            .args(["-z", "--name-only", "--get-regexp"])
            .arg(r"^(extensions\.partialclone|remote\..*\.promisor)$")
            .run_any(OUTPUT_BYTES_MAX)?;
        if partial.status.success() {
            return Err(ConnectError::Partial(shown()));
        }
        let common = to_path(common.strip_suffix(b"\n").unwrap_or(common));
        let writable = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
        rustix::fs::access(common.join("objects"), writable)
            .map_err(|error| ConnectError::NotWritable(shown(), error.to_string()))?;
        Ok(common)
    }
}

pub(super) fn full_ref(target: &str) -> Result<String, ConnectError> {
    let name = target.strip_prefix("refs/heads/").unwrap_or(target);
    let reference = format!("refs/heads/{name}");
    let fits = !name.starts_with('-') && name != "HEAD" && !name.starts_with("refs/");
    if fits && git2::Reference::is_valid_name(&reference) {
        return Ok(reference);
    }
    Err(ConnectError::TargetName(target.chars().take(LIKENESS_BYTES_MAX).collect()))
}

/// `scheme://…`, `helper::…`, or `host:path` as ssh has it.
fn is_remote(location: &str) -> bool {
    if location.starts_with("file://") {
        return false;
    }
    let before_slash = location.split('/').next().unwrap_or_default();
    before_slash.contains(':')
}

fn has_password(location: &str) -> bool {
    let Some((_, rest)) = location.split_once("://") else { return false };
    let authority = rest.split('/').next().unwrap_or_default();
    authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
}

/// Short names of branches, most alike first.
pub(super) fn most_alike<'a>(
    target: &str,
    references: impl Iterator<Item = &'a String>,
) -> Vec<String> {
    let wanted = target.strip_prefix("refs/heads/").unwrap_or(target);
    let mut names: Vec<_> = references
        .filter_map(|reference| reference.strip_prefix("refs/heads/"))
        .map(|name| (distance(wanted.as_bytes(), name.as_bytes()), name))
        .collect();
    names.sort();
    names.into_iter().take(SUGGESTIONS_MAX).map(|(_, name)| name.to_owned()).collect()
}

/// The number of single-byte edits between two names (Levenshtein).
fn distance(a: &[u8], b: &[u8]) -> usize {
    if a.len() > LIKENESS_BYTES_MAX || b.len() > LIKENESS_BYTES_MAX {
        return a.len().max(b.len());
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
