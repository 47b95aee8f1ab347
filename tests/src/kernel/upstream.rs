//! A person's repository for one test, and clones in which fake workers commit. All with the git command line.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use cantus_coordinator::audit::{AuditOutcome, audit};
use cantus_proto::ids::CommitId;
use tempfile::TempDir;

use super::trust;
use crate::installation::git;

/// A bare repository with a branch `main`, and a place for the hub and for clones beside it.
#[derive(Debug)]
pub struct Upstream {
    directory: TempDir,
    clones: AtomicU32,
}

/// A work tree of its own.
#[derive(Debug)]
pub struct Checkout {
    path: PathBuf,
}

/// Commits that were made, as a worker hands them in.
#[derive(Debug, Clone)]
pub struct Work {
    /// Where the work began.
    pub base: CommitId,
    /// Where it ended.
    pub head: CommitId,
    /// `base..head`; nothing when nothing was done.
    pub bundle: Option<Vec<u8>>,
}

impl Default for Upstream {
    fn default() -> Self {
        Self::new()
    }
}

impl Upstream {
    /// One with the file `shared/list.txt` of three lines.
    ///
    /// # Panics
    /// When git fails.
    #[must_use]
    pub fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory can be made");
        let this = Self { directory, clones: AtomicU32::new(0) };
        git(this.directory.path(), &["init", "-q", "--bare", "-b", "main", "up.git"]);
        let seed = this.directory.path().join("seed");
        git(this.directory.path(), &["init", "-q", "-b", "main", "seed"]);
        std::fs::create_dir(seed.join("shared")).expect("a directory can be made");
        std::fs::write(seed.join("shared/list.txt"), "one\ntwo\nthree\n")
            .expect("a file is written");
        git(&seed, &["add", "-A"]);
        git(&seed, &["commit", "-q", "-m", "seed"]);
        git(&seed, &["push", "-q", "../up.git", "main"]);
        this
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.directory.path().join("up.git")
    }

    /// Where a hub for it may be.
    #[must_use]
    pub fn hub(&self) -> PathBuf {
        self.directory.path().join("hub")
    }

    /// Git on it.
    ///
    /// # Panics
    /// When git fails.
    #[must_use]
    pub fn git(&self, arguments: &[&str]) -> String {
        git(&self.path(), arguments)
    }

    /// Where `main` stands.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn head(&self) -> CommitId {
        CommitId::new(self.git(&["rev-parse", "main"])).expect("git prints commit ids")
    }

    /// A new clone.
    ///
    /// # Panics
    /// When git fails.
    #[must_use]
    pub fn checkout(&self) -> Checkout {
        let name = format!("clone-{}", self.clones.fetch_add(1, Ordering::Relaxed));
        git(self.directory.path(), &["clone", "-q", "up.git", &name]);
        Checkout { path: self.directory.path().join(name) }
    }

    /// A person pushes so many commits, each with a file of its own.
    ///
    /// # Panics
    /// When git fails.
    pub fn push_by_hand(&self, name: &str, commits: u32) -> CommitId {
        let clone = self.checkout();
        for number in 0..commits {
            std::fs::write(clone.path.join(format!("{name}-{number}.txt")), name).expect("written");
            git(&clone.path, &["add", "-A"]);
            git(&clone.path, &["commit", "-q", "-m", &format!("{name} {number}")]);
        }
        git(&clone.path, &["push", "-q", "origin", "HEAD:main"]);
        self.head()
    }

    /// The values of a trailer on the first parents of `main`, oldest first; commits without it are left out.
    ///
    /// # Panics
    /// When git fails.
    #[must_use]
    pub fn trailers(&self, key: &str) -> Vec<String> {
        let format = format!("--format=%(trailers:key={key},valueonly)");
        let text = self.git(&["log", "--first-parent", "--reverse", &format, "main"]);
        text.lines().filter(|line| !line.is_empty()).map(ToOwned::to_owned).collect()
    }

    /// Every landing of these commits has evidence for its exact tree.
    ///
    /// # Panics
    /// When one has not, with all that is wrong.
    pub fn assert_audited(&self, landings: usize) {
        let report = audit(&self.path(), None, &trust()).expect("the repository can be audited");
        let landed = report.commits.iter().filter(|commit| commit.run.is_some()).count();
        assert_eq!(report.outcome(), AuditOutcome::Passed, "{report:#?}");
        assert_eq!(landed, landings, "{report:#?}");
    }
}

impl Checkout {
    /// Its work tree.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Edits the work tree at the newest `main` and commits.
    ///
    /// # Panics
    /// When git fails.
    pub fn work(&self, edit: impl FnOnce(&Path)) -> Work {
        git(&self.path, &["fetch", "-q", "origin", "main"]);
        self.work_at("FETCH_HEAD", edit)
    }

    /// Edits the work tree at this commit and commits.
    ///
    /// # Panics
    /// When git fails.
    pub fn work_at(&self, base: &str, edit: impl FnOnce(&Path)) -> Work {
        git(&self.path, &["checkout", "-q", "-f", "--detach", base]);
        let base = git(&self.path, &["rev-parse", "HEAD"]);
        edit(&self.path);
        git(&self.path, &["add", "-A"]);
        let changed = git(&self.path, &["status", "--porcelain"]);
        let bundle = (!changed.is_empty()).then(|| {
            git(&self.path, &["commit", "-q", "-m", "work"]);
            git(&self.path, &["bundle", "create", "-q", ".git/w.bundle", &format!("{base}..HEAD")]);
            std::fs::read(self.path.join(".git/w.bundle")).expect("git wrote the bundle")
        });
        let head = git(&self.path, &["rev-parse", "HEAD"]);
        let commit = |text| CommitId::new(text).expect("git prints commit ids");
        Work { base: commit(base), head: commit(head), bundle }
    }
}
