//! Helpers of this crate's tests: a mirror made with the real git, and shorthands.

use std::path::{Path, PathBuf};
use std::process::Command;

use cantus_proto::ids::CommitId;
use tempfile::TempDir;

use crate::workspace::collect::{Collected, Collection, Limits, collect};
use crate::workspace::{Preparation, WorkspaceError, prepare};

pub(crate) const LIMITS: Limits = Limits { bytes_max: 1024 * 1024, files_max: 100 };

/// Runs git, hermetically; its trimmed output.
pub(crate) fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = git_output(directory, arguments);
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

pub(crate) fn git_output(directory: &Path, arguments: &[&str]) -> std::process::Output {
    Command::new("git")
        .arg("-C")
        .arg(directory)
        .args(arguments)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", "/nonexistent")
        .envs([("GIT_AUTHOR_NAME", "A"), ("GIT_AUTHOR_EMAIL", "a@localhost")])
        .envs([("GIT_COMMITTER_NAME", "A"), ("GIT_COMMITTER_EMAIL", "a@localhost")])
        .output()
        .expect("the tests need git: install it")
}

/// A mirror with one commit, and a place for workspaces.
pub(crate) struct Fixture {
    pub(crate) directory: TempDir,
    pub(crate) source: PathBuf,
    pub(crate) mirror: PathBuf,
    pub(crate) work: PathBuf,
    pub(crate) base: CommitId,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let source = directory.path().join("source");
        std::fs::create_dir(&source).unwrap();
        git(&source, &["init", "-q", "-b", "main"]);
        std::fs::create_dir(source.join("src")).unwrap();
        write(&source, "src/a.txt", "one\r\ntwo\n");
        write(&source, "run.sh", "#!/bin/sh\n");
        make_executable(&source.join("run.sh"));
        std::os::unix::fs::symlink("src/a.txt", source.join("link")).unwrap();
        write(&source, ".gitignore", "build/\n*.log\n");
        git(&source, &["add", "-A", "."]);
        // Only now, so that the carriage return is in the object store.
        write(&source, ".gitattributes", "* text=auto\n*.txt filter=evil ident\n");
        git(&source, &["add", ".gitattributes"]);
        Self::of(directory, source)
    }

    fn of(directory: TempDir, source: PathBuf) -> Self {
        git(&source, &["commit", "-q", "-m", "base"]);
        let mirror = directory.path().join("mirror/0123456789abcdef.git");
        let arguments = ["clone", "-q", "--bare", ".", mirror.to_str().unwrap()];
        git(&source, &arguments);
        let base = CommitId::new(git(&mirror, &["rev-parse", "main"])).unwrap();
        let work = directory.path().join("work");
        std::fs::create_dir(&work).unwrap();
        Self { directory, source, mirror, work, base }
    }

    pub(crate) fn tree(&self) -> PathBuf {
        self.work.join("tree")
    }

    pub(crate) fn objects(&self) -> PathBuf {
        self.mirror.join("objects")
    }

    pub(crate) fn prepare(&self) -> PathBuf {
        let tree = self.tree();
        self.prepare_at(&tree).unwrap();
        tree
    }

    pub(crate) fn prepare_at(&self, tree: &Path) -> Result<(), WorkspaceError> {
        prepare(&Preparation {
            root: &self.work,
            tree,
            objects: &self.objects(),
            commit: &self.base,
            bundle: None,
            commit_check: None,
        })
        .map(|_| ())
    }

    pub(crate) fn collect(&self) -> Result<Collected, WorkspaceError> {
        self.collect_within(LIMITS)
    }

    pub(crate) fn collect_within(&self, limits: Limits) -> Result<Collected, WorkspaceError> {
        let scratch = TempDir::new().unwrap();
        collect(&Collection {
            root: &self.work,
            tree: &self.tree(),
            objects: &self.objects(),
            base: &self.base,
            limits,
            scratch: scratch.path(),
        })
    }

    /// Brings a bundle into a clone of the mirror with the real git, strictly; the clone.
    pub(crate) fn receive(&self, bundle: &[u8]) -> PathBuf {
        let clone = self.directory.path().join("received.git");
        let _ = std::fs::remove_dir_all(&clone);
        git(
            self.directory.path(),
            &["clone", "-q", "--bare", self.mirror.to_str().unwrap(), clone.to_str().unwrap()],
        );
        let file = self.directory.path().join("work.bundle");
        std::fs::write(&file, bundle).unwrap();
        let file = file.to_str().unwrap();
        git(&clone, &["bundle", "verify", "-q", file]);
        git(&clone, &["-c", "fetch.fsckObjects=true", "fetch", "-q", file, "refs/*:refs/got/*"]);
        git(&clone, &["fsck", "--full", "--strict"]);
        clone
    }
}

pub(crate) fn write(root: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

pub(crate) fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
