//! Takes in what a worker handed in: checked apart from the hub, moved into it only when whole and within limits.
//!
//! The pack of the bundle is indexed strictly in a bare repository of its own that borrows the hub's
//! objects. What is refused is thrown away with that repository; what passes is moved and pinned. Whether the changes
//! are *allowed* is the gate's question.

use std::fs::File;
use std::path::Path;

use cantus_proto::ids::{AttemptNumber, CommitId, ItemId, RepositoryId, RunId};

use super::bundle::{self, Header};
use super::changes::{self, Change, Offender, ResultLimits};
use super::{Hub, HubError, Store, oid, refs};

/// Complaints of git that are about this machine and not about the bundle.
const OWN_TROUBLE: &[&str] = &[
    "Permission denied",
    "Read-only file system",
    "Input/output error",
    "Too many open files",
    "Resource temporarily unavailable",
    "unable to create thread",
    "Out of memory",
];

/// A result to be taken in.
#[derive(Debug, Clone, Copy)]
pub struct InspectRequest<'a> {
    /// Whose run.
    pub run: &'a RunId,
    /// Which item.
    pub item: &'a ItemId,
    /// Which attempt at it.
    pub attempt: AttemptNumber,
    /// The commit that the work began from, as recorded at lease.
    pub base: &'a CommitId,
    /// The commit that was handed in.
    pub head: &'a CommitId,
    /// The bundle `base..head`; none when nothing was changed, or when the hub has the work already.
    pub bundle: Option<&'a Path>,
    /// How much it may be.
    pub limits: ResultLimits,
}

/// What came of it.
#[derive(Debug)]
pub enum Inspection {
    /// Not taken in; the hub is as before.
    Refused {
        /// Why.
        refusal: Refusal,
        /// What makes it too large, biggest first; empty for other reasons.
        offenders: Vec<Offender>,
    },
    /// In the hub, and pinned until the run is pruned.
    Inspected {
        /// All changed entries from base to head.
        changes: Vec<Change>,
    },
}

/// Why a result is not taken in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Not a bundle.
    #[error("the bundle cannot be read: {0}")]
    Unreadable(String),
    /// Larger than the limit.
    #[error(
        "the bundle has {bytes} bytes, the limit is {limit}: leave data and build output out of the commits"
    )]
    BundleTooLarge {
        /// Its length.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// It holds something else than was reported.
    #[error("the report names {claimed} as head, but the bundle's tip is {}: hand in the commit that is reported", list(.found))]
    TipDiffers {
        /// From the report.
        claimed: CommitId,
        /// In the bundle.
        found: Vec<CommitId>,
    },
    /// It builds on something that the hub never saw.
    #[error(
        "the bundle needs commit {0}, which the hub does not have: begin from the base of the lease"
    )]
    PrerequisiteUnknown(CommitId),
    /// Git's checks of the objects failed, or some are missing.
    #[error("the bundle's objects are broken or not whole: {0}")]
    Objects(String),
    /// The base is none of the hub's commits.
    #[error("the base {0} is not in the hub: begin from the mirror's target")]
    BaseUnknown(CommitId),
    /// No bundle, and the hub does not have the commit.
    #[error("the head {0} is not in the hub and no bundle was handed in: hand in a bundle")]
    HeadMissing(CommitId),
    /// History was rewritten.
    #[error(
        "the head {head} does not descend from the base {base}: add commits on the base and rewrite none below it"
    )]
    NotDescendant {
        /// The head.
        head: CommitId,
        /// The base.
        base: CommitId,
    },
    /// Too many changed paths.
    #[error("the result changes {}{files} files, the limit is {limit}: leave generated files out", if *.at_least { "at least " } else { "" })]
    TooManyFiles {
        /// How many.
        files: u64,
        /// There are more than could be counted.
        at_least: bool,
        /// The limit.
        limit: u32,
    },
    /// Too much content.
    #[error(
        "the changed files have {bytes} bytes, the limit is {limit}: leave data and build output out"
    )]
    TooLarge {
        /// The sum of new contents.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
}

fn list(commits: &[CommitId]) -> String {
    match commits {
        [] => "missing".to_owned(),
        [first] => first.to_string(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    }
}

/// How a step inside ends early: with a refusal, or with trouble of our own.
enum Stop {
    Refuse(Refusal, Vec<Offender>),
    Trouble(HubError),
}

impl From<HubError> for Stop {
    fn from(error: HubError) -> Self {
        Self::Trouble(error)
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refuse(refusal, Vec::new())
    }
}

impl Hub {
    /// Checks a result and, if it passes, moves it into the hub and pins it.
    ///
    /// Doing it again with the same result changes nothing and answers the same.
    ///
    /// # Errors
    /// [`HubError`] for trouble that is not the result's fault: disk, time, an unknown repository.
    pub fn inspect(
        &self,
        repository: &RepositoryId,
        request: &InspectRequest<'_>,
    ) -> Result<Inspection, HubError> {
        let store = self.store(repository)?;
        let done = self.take_in(&store, request).and_then(|changes| {
            let name = refs::work(request.run, request.item, request.attempt, request.head);
            store.pin(&name, request.head)?;
            Ok(changes)
        });
        match done {
            Ok(changes) => Ok(Inspection::Inspected { changes }),
            Err(Stop::Refuse(refusal, offenders)) => Ok(Inspection::Refused { refusal, offenders }),
            Err(Stop::Trouble(error)) => Err(error),
        }
    }

    fn take_in(&self, store: &Store, request: &InspectRequest<'_>) -> Result<Vec<Change>, Stop> {
        if !store.has_commit(request.base) {
            return Err(Refusal::BaseUnknown(request.base.clone()).into());
        }
        let Some(path) = request.bundle else {
            if !store.has_commit(request.head) {
                return Err(Refusal::HeadMissing(request.head.clone()).into());
            }
            return self.check(store, request);
        };
        let io = |what, path: &Path| {
            let path = path.to_owned();
            move |source| Stop::Trouble(HubError::Io { what, path, source })
        };
        let file = File::open(path).map_err(io("open the bundle", path))?;
        let bytes = file.metadata().map_err(io("measure the bundle", path))?.len();
        let limit = request.limits.artifact_bytes_max;
        if bytes > limit {
            return Err(Refusal::BundleTooLarge { bytes, limit }.into());
        }
        let header = bundle::read_header(&file).map_err(Refusal::Unreadable)?;
        check_header(store, &header, request.head)?;
        let scratch = self.scratch();
        let directory = tempfile::Builder::new()
            .prefix("quarantine-")
            .tempdir_in(&scratch)
            .map_err(io("create a quarantine in", &scratch))?;
        let quarantine = open_quarantine(directory.path(), store)?;
        let pack = bundle::pack_of(&file, &header).map_err(io("read the bundle", path))?;
        self.index(&quarantine, pack, limit)?;
        let changes = self.check(&quarantine, request)?;
        // Handles are closed before files move.
        let (from, to) = (quarantine.path.join("objects/pack"), store.path.join("objects/pack"));
        drop(quarantine);
        move_packs(&from, &to).map_err(io("move the checked pack into", &to))?;
        Ok(changes)
    }

    /// Lets git index the pack: every object is parsed and checked, thin deltas are completed.
    fn index(&self, quarantine: &Store, pack: File, bytes_max: u64) -> Result<(), Stop> {
        let output = self
            .git
            .call_in(&quarantine.path, "index-pack")
            .args(["--stdin", "--fix-thin", "--strict"])
            .arg(format!("--max-input-size={bytes_max}"))
            .input_file(pack)
            .hostile_input()
            .run_any(super::git::OUTPUT_BYTES_MAX)
            .map_err(HubError::from)?;
        objects_verdict(output, "index-pack")
    }

    /// The checks that need objects: whole history, descent, changes and limits.
    fn check(&self, store: &Store, request: &InspectRequest<'_>) -> Result<Vec<Change>, Stop> {
        let (base, head) = (request.base, request.head);
        if !store.has_commit(head) {
            return Err(Refusal::Objects(format!("{head} is missing or is no commit")).into());
        }
        let output = self
            .git
            .call_in(&store.path, "rev-list")
            .args(["--objects", "--quiet", head.as_str(), &format!("^{base}"), "--"])
            .hostile_input()
            .run_any(super::git::OUTPUT_BYTES_MAX)
            .map_err(HubError::from)?;
        objects_verdict(output, "rev-list")?;
        let descends = oid(head.as_str())
            .and_then(|head| Ok((head, oid(base.as_str())?)))
            .and_then(
                |(head, base)| Ok(head == base || store.git2.graph_descendant_of(head, base)?),
            )
            .map_err(store.failed("walking the history"))?;
        if !descends {
            let refusal = Refusal::NotDescendant { head: head.clone(), base: base.clone() };
            return Err(refusal.into());
        }
        let difference = changes::list(store, base, head)?;
        check_limits(&difference, request.limits)?;
        Ok(difference.changes)
    }
}

fn check_header(store: &Store, header: &Header, head: &CommitId) -> Result<(), Refusal> {
    if header.tips.is_empty() || header.tips.iter().any(|tip| tip != head) {
        return Err(Refusal::TipDiffers { claimed: head.clone(), found: header.tips.clone() });
    }
    match header.prerequisites.iter().find(|commit| !store.has_commit(commit)) {
        Some(unknown) => Err(Refusal::PrerequisiteUnknown(unknown.clone())),
        None => Ok(()),
    }
}

/// A bare repository in which the hub's objects can be read and into which only the pack is written.
fn open_quarantine(directory: &Path, store: &Store) -> Result<Store, HubError> {
    let options = bare_options();
    git2::Repository::init_opts(directory, &options)
        .map_err(store.failed("making a quarantine"))?;
    let alternates = directory.join("objects/info/alternates");
    let mut line = store.path.join("objects").into_os_string().into_encoded_bytes();
    line.push(b'\n');
    let write = |path: &Path| {
        std::fs::create_dir_all(path.parent().unwrap_or(path))?;
        std::fs::write(path, line)
    };
    write(&alternates).map_err(|source| HubError::Io {
        what: "write",
        path: alternates.clone(),
        source,
    })?;
    Store::open(directory, &store.repository)
}

/// A bare repository without anybody's template.
pub(super) fn bare_options() -> git2::RepositoryInitOptions {
    let mut options = git2::RepositoryInitOptions::new();
    options.bare(true).external_template(false).no_reinit(false).initial_head("cantus-unborn");
    options
}

fn objects_verdict(output: super::git::Output, command: &str) -> Result<(), Stop> {
    if output.status.success() {
        return Ok(());
    }
    let ours = output.status.code().is_none()
        || OWN_TROUBLE.iter().any(|trouble| output.complaint.contains(trouble));
    if ours {
        return Err(HubError::from(output.failed(command)).into());
    }
    Err(Refusal::Objects(output.complaint).into())
}

fn check_limits(difference: &changes::Difference, limits: ResultLimits) -> Result<(), Stop> {
    let files = difference.changes.len() as u64;
    if difference.cut || files > u64::from(limits.files_max) {
        let at_least = difference.cut;
        let refusal = Refusal::TooManyFiles { files, at_least, limit: limits.files_max };
        return Err(Stop::Refuse(refusal, changes::fullest_directories(&difference.changes)));
    }
    let sizes = difference.changes.iter().map(|change| change.size_bytes);
    let bytes = sizes.fold(0_u64, u64::saturating_add);
    if bytes > limits.artifact_bytes_max {
        let refusal = Refusal::TooLarge { bytes, limit: limits.artifact_bytes_max };
        return Err(Stop::Refuse(refusal, changes::biggest_files(&difference.changes)));
    }
    Ok(())
}

/// Moves packs so that no reader sees an index whose pack is not there yet.
fn move_packs(from: &Path, to: &Path) -> std::io::Result<()> {
    let mut names: Vec<_> = std::fs::read_dir(from)?
        .map(|entry| entry.map(|entry| entry.file_name()))
        .collect::<Result<_, _>>()?;
    names.sort_by_key(|name| Path::new(name).extension().is_some_and(|e| e == "idx"));
    names.iter().try_for_each(|name| std::fs::rename(from.join(name), to.join(name)))
}
