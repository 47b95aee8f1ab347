//! What the helper process does: one step, its answer on stdout, its complaint on stderr.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::Path;
use std::process::ExitCode;

use cantus_proto::ids::{CommitId, Digest, NameError, TreeId};
use git2::{DiffFormat, Oid, Repository};

use super::{CollectedJson, EXIT_TOO_LARGE, EXIT_WORKSPACE, LookJson};
use crate::checkout::{self, CheckoutError};
use crate::checks::point;
use crate::cli::{CollectArgs, Command, CompareArgs, LooseArgs, PrepareArgs, PulseArgs, ReapArgs};
use crate::jail;
use crate::text::chain;
use crate::workspace::collect::{Collection, Limits, collect, discard};
use crate::workspace::loose;
use crate::workspace::pulse::look;
use crate::workspace::{self, DEFECT_REF, Preparation, WorkspaceError};

/// Most of a diff that goes into a prompt, in bytes: more does not help a repair.
const DIFF_BYTES_MAX: usize = 100 * 1024;

#[derive(Debug, thiserror::Error)]
enum ServeError {
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(transparent)]
    Checkout(#[from] CheckoutError),
    #[error("an argument is not valid")]
    Name(#[from] NameError),
    #[error("the diff of the refuted work cannot be made")]
    Diff(#[source] git2::Error),
    #[error("the step cannot read or write")]
    Io(#[from] std::io::Error),
    #[error("the step cannot form its answer")]
    Json(#[from] serde_json::Error),
}

/// Does the step; nothing when the command is none of these.
#[must_use]
pub fn serve(command: &Command) -> Option<ExitCode> {
    let done = match command {
        Command::Lease | Command::Salvage => return None,
        Command::WorkspacePrepare(arguments) => prepare(arguments),
        Command::WorkspaceCollect(arguments) => take_up(arguments),
        Command::WorkspaceCompare(arguments) => compare(arguments),
        Command::WorkspacePulse(arguments) => pulse(arguments),
        Command::WorkspaceLoose(arguments) => loose(arguments),
        Command::Check(arguments) => return Some(point::serve(arguments)),
        Command::Reap(arguments) => reap(arguments),
    };
    Some(match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The pipe may be closed already; then nobody asks any more.
            let _ = writeln!(std::io::stderr(), "{}", chain(&error));
            match error {
                ServeError::Workspace(WorkspaceError::TooLarge(_)) => EXIT_TOO_LARGE.into(),
                _ => EXIT_WORKSPACE.into(),
            }
        }
    })
}

fn prepare(arguments: &PrepareArgs) -> Result<(), ServeError> {
    room(&arguments.room)?;
    let mut bundle = Vec::new();
    if arguments.bundle {
        std::io::stdin().read_to_end(&mut bundle)?;
    }
    let commit = CommitId::new(&arguments.commit)?;
    let repository = workspace::prepare(&Preparation {
        root: &arguments.work,
        tree: &arguments.tree,
        objects: &arguments.objects,
        commit: &commit,
        bundle: arguments.bundle.then_some((bundle.as_slice(), arguments.bundle_ref.as_deref())),
        commit_check: arguments.commit_check.as_deref(),
    })?;
    let mut answer = Vec::new();
    if let Some(base) = &arguments.diff_base {
        answer = diff(&repository, base).map_err(ServeError::Diff)?;
    }
    if let (Some(tree), Some(sha256)) = (&arguments.listing_tree, &arguments.listing_sha256) {
        let (tree, sha256) = (TreeId::new(tree)?, Digest::new(sha256)?);
        answer = checkout::listing_of_head(&repository, &tree, &sha256)?;
    }
    std::io::stdout().write_all(&answer)?;
    Ok(())
}

/// HOME and TMPDIR of one command, for nobody else.
fn room(room: &Path) -> Result<(), std::io::Error> {
    let mut builder = std::fs::DirBuilder::new();
    builder.mode(0o700);
    for directory in [room, &room.join("home"), &room.join("tmp")] {
        builder.create(directory)?;
    }
    Ok(())
}

/// The patch from the base to the refuted work and, where the target has moved on in the same files, the patch
/// of that: who redoes a conflict needs both sides.
fn diff(repository: &Repository, base: &str) -> Result<Vec<u8>, git2::Error> {
    let before = repository.find_commit(Oid::from_str(base)?)?.tree()?;
    let refuted = repository.find_reference(DEFECT_REF)?.peel_to_tree()?;
    let now = repository.head()?.peel_to_tree()?;
    let mine = repository.diff_tree_to_tree(Some(&before), Some(&refuted), None)?;
    let mut same_files = git2::DiffOptions::new();
    same_files.disable_pathspec_match(true);
    let mut touched = 0;
    for path in mine.deltas().filter_map(|delta| delta.new_file().path_bytes().map(<[u8]>::to_vec))
    {
        same_files.pathspec(path);
        touched += 1;
    }
    let mut text = patch(&mine)?;
    if touched > 0 {
        let theirs =
            repository.diff_tree_to_tree(Some(&before), Some(&now), Some(&mut same_files))?;
        if theirs.deltas().len() > 0 {
            text.extend_from_slice(b"\n[what has landed in the same files since]\n");
            text.extend(patch(&theirs)?);
        }
    }
    Ok(text)
}

/// A patch as text, cut where it gets too long.
fn patch(diff: &git2::Diff<'_>) -> Result<Vec<u8>, git2::Error> {
    let mut patch = Vec::new();
    let printed = diff.print(DiffFormat::Patch, |_, _, line| {
        if matches!(line.origin(), '+' | '-' | ' ') {
            patch.extend(line.origin().to_string().into_bytes());
        }
        patch.extend_from_slice(line.content());
        patch.len() <= DIFF_BYTES_MAX
    });
    if patch.len() > DIFF_BYTES_MAX {
        patch.truncate(DIFF_BYTES_MAX);
        patch.extend_from_slice(b"\n[the rest of the diff was left out]\n");
        return Ok(patch);
    }
    printed?;
    Ok(patch)
}

fn take_up(arguments: &CollectArgs) -> Result<(), ServeError> {
    let base = CommitId::new(&arguments.base)?;
    let mut builder = std::fs::DirBuilder::new();
    discard(&arguments.scratch)?;
    builder.mode(0o700).create(&arguments.scratch)?;
    let collected = collect(&Collection {
        root: &arguments.work,
        tree: &arguments.tree,
        objects: &arguments.objects,
        base: &base,
        limits: Limits { bytes_max: arguments.bytes_max, files_max: arguments.files_max },
        scratch: &arguments.scratch,
    });
    discard(&arguments.scratch)?;
    let collected = collected?;
    let json = CollectedJson {
        head: collected.head.to_string(),
        kept: collected.kept.map(|kept| kept.to_string()),
        findings: collected.findings,
        broken: collected.broken,
        bundle: collected.bundle.is_some(),
    };
    let mut stdout = std::io::stdout().lock();
    serde_json::to_writer(&mut stdout, &json)?;
    stdout.write_all(b"\n")?;
    stdout.write_all(&collected.bundle.unwrap_or_default())?;
    stdout.flush()?;
    Ok(())
}

fn compare(arguments: &CompareArgs) -> Result<(), ServeError> {
    let mut listing = Vec::new();
    std::io::stdin().read_to_end(&mut listing)?;
    let changed = checkout::changed(&arguments.tree, &listing)?;
    serde_json::to_writer(std::io::stdout(), &changed)?;
    Ok(())
}

fn pulse(arguments: &PulseArgs) -> Result<(), ServeError> {
    let seen = look(&arguments.tree, &CommitId::new(&arguments.base)?)?;
    let json = LookJson {
        commits: seen.commits,
        changed_count: seen.changed_count,
        fingerprint: seen.fingerprint,
    };
    let mut answer = serde_json::to_vec(&json)?;
    answer.push(b'\n');
    answer.extend(seen.changed.into_iter().flat_map(|path| path.into_iter().chain([0])));
    std::io::stdout().write_all(&answer)?;
    Ok(())
}

fn loose(arguments: &LooseArgs) -> Result<(), ServeError> {
    if !arguments.remove_new {
        std::io::stdout().write_all(&loose::join(&loose::loose(&arguments.tree)?))?;
        return Ok(());
    }
    let mut before = Vec::new();
    std::io::stdin().read_to_end(&mut before)?;
    loose::remove_new(&arguments.tree, &loose::split(&before))?;
    Ok(())
}

fn reap(arguments: &ReapArgs) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    runtime.block_on(jail::reap_own_user())?;
    let own = rustix::process::geteuid().as_raw();
    for directory in &arguments.wipe {
        let Ok(entries) = std::fs::read_dir(directory) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let Ok(metadata) = std::fs::symlink_metadata(&path) else { continue };
            if metadata.uid() != own {
                continue;
            }
            if metadata.is_dir() {
                std::fs::remove_dir_all(&path)?;
            } else {
                std::fs::remove_file(&path)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(
        repository: &Repository,
        reference: &str,
        parent: Option<Oid>,
        files: &[(&str, &str)],
    ) -> Oid {
        let mut builder = repository.treebuilder(None).unwrap();
        for (name, text) in files {
            builder.insert(name, repository.blob(text.as_bytes()).unwrap(), 0o100_644).unwrap();
        }
        let tree = repository.find_tree(builder.write().unwrap()).unwrap();
        let who = git2::Signature::new("t", "t@localhost", &git2::Time::new(0, 0)).unwrap();
        let parent = parent.map(|id| repository.find_commit(id).unwrap());
        let parents: Vec<_> = parent.iter().collect();
        let id = repository.commit(None, &who, &who, "t", &tree, &parents).unwrap();
        repository.reference(reference, id, true, "t").unwrap();
        id
    }

    /// W8: the redo of a conflict sees both sides, of the files that both touched.
    #[test]
    fn a_redo_sees_its_own_diff_and_what_landed_in_the_same_files() {
        let directory = tempfile::tempdir().unwrap();
        let repository = Repository::init(directory.path()).unwrap();
        let base = commit(&repository, "refs/heads/base", None, &[("a", "old\n"), ("b", "old\n")]);
        commit(&repository, DEFECT_REF, Some(base), &[("a", "mine\n"), ("b", "old\n")]);
        repository.set_head("refs/heads/now").unwrap();
        commit(&repository, "refs/heads/now", Some(base), &[("a", "old\n"), ("b", "other\n")]);
        let alone = String::from_utf8(diff(&repository, &base.to_string()).unwrap()).unwrap();
        assert!(alone.contains("+mine") && !alone.contains("has landed"), "{alone}");
        commit(&repository, "refs/heads/now", Some(base), &[("a", "theirs\n"), ("b", "other\n")]);
        let both = String::from_utf8(diff(&repository, &base.to_string()).unwrap()).unwrap();
        let (mine, theirs) = both.split_once("[what has landed in the same files since]").unwrap();
        assert!(mine.contains("+mine") && theirs.contains("+theirs"), "{both}");
        assert!(!both.contains("other"), "{both}");
    }
}
