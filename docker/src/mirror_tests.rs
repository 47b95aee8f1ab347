//! Mirrors on real git: order, repetition, readability, refusals.

use super::*;
use cantus_proto::ids::{Blob, Digest};
use std::process::Command;

/// A repository to take bundles from.
struct Source {
    root: tempfile::TempDir,
    repository: RepositoryId,
}

impl Source {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let source = Self { root, repository: RepositoryId::of("test") };
        source.git(&["init", "--quiet", "--initial-branch=main"]);
        source
    }

    fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .current_dir(self.root.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .envs([
                ("GIT_CONFIG_GLOBAL", "/dev/null"),
                ("GIT_CONFIG_NOSYSTEM", "1"),
                ("HOME", "/nonexistent"),
            ])
            .envs([
                ("GIT_AUTHOR_NAME", "a"),
                ("GIT_AUTHOR_EMAIL", "a@b"),
                ("GIT_COMMITTER_NAME", "a"),
            ])
            .envs([("GIT_COMMITTER_EMAIL", "a@b")])
            .args(arguments)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn commit(&self, text: &str) -> CommitId {
        std::fs::write(self.root.path().join("file"), text).unwrap();
        self.git(&["add", "file"]);
        self.git(&["commit", "--quiet", "-m", text]);
        CommitId::new(self.git(&["rev-parse", "HEAD"])).unwrap()
    }

    fn bundle(
        &self,
        name: &str,
        after: Option<&CommitId>,
        head: &CommitId,
    ) -> (SourceUpdate, PathBuf) {
        let path = self.root.path().join(name);
        let range = after.map(|after| format!("^{after}")).unwrap_or_default();
        let mut arguments = vec!["bundle", "create", "--quiet", path.to_str().unwrap(), "main"];
        if !range.is_empty() {
            arguments.push(&range);
        }
        self.git(&arguments);
        let update = SourceUpdate {
            repository: self.repository.clone(),
            target: "refs/heads/main".into(),
            head: head.clone(),
            prerequisite: after.cloned(),
            bundle: Blob { sha256: Digest::of(b""), size_bytes: 0 },
        };
        (update, path)
    }
}

fn head(mirrors: &Mirrors, source: &Source) -> String {
    let path = mirrors.path(&source.repository);
    source.git(&["--git-dir", path.to_str().unwrap(), "rev-parse", "refs/heads/main"])
}

#[tokio::test]
async fn updates_are_applied_in_order_and_twice_is_the_same() {
    let (source, root) = (Source::new(), tempfile::tempdir().unwrap());
    let mirrors = Mirrors::open(&root.path().join("mirrors")).unwrap();
    let one = source.commit("one");
    let (complete, complete_path) = source.bundle("1", None, &one);
    let two = source.commit("two");
    let (next, next_path) = source.bundle("2", Some(&one), &two);

    let early = mirrors.need(&next).await.unwrap_err();
    assert!(
        matches!(&early, MirrorError::Prerequisite { prerequisite, .. } if *prerequisite == one),
        "{early}"
    );
    assert_eq!(mirrors.need(&complete).await.unwrap(), Need::Bundle);
    mirrors.apply(&complete, &complete_path).await.unwrap();
    assert_eq!(mirrors.need(&next).await.unwrap(), Need::Bundle);
    mirrors.apply(&next, &next_path).await.unwrap();
    assert_eq!(head(&mirrors, &source), two.as_str());

    mirrors.apply(&next, &next_path).await.unwrap();
    assert_eq!(mirrors.need(&next).await.unwrap(), Need::Nothing);
    mirrors.point(&next).await.unwrap();
    assert_eq!(head(&mirrors, &source), two.as_str());
    mirrors.point(&complete).await.unwrap();
    assert_eq!(
        head(&mirrors, &source),
        one.as_str(),
        "a target that a person moved back is followed"
    );
}

#[tokio::test]
async fn everybody_can_read_a_mirror_whatever_the_umask() {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let (source, root) = (Source::new(), tempfile::tempdir().unwrap());
    let mirrors = Mirrors::open(&root.path().join("mirrors")).unwrap();
    for number in 0..3 {
        let head = source.commit(&number.to_string());
        let (update, path) = source.bundle("b", None, &head);
        mirrors.apply(&update, &path).await.unwrap();
    }
    let mut unread = vec![mirrors.dir().to_owned()];
    let mut files = 0;
    while let Some(path) = unread.pop() {
        let found = std::fs::symlink_metadata(&path).unwrap();
        let wanted = if found.is_dir() { 0o555 } else { 0o444 };
        let mode = found.permissions().mode() & 0o777;
        assert_eq!(mode & wanted, wanted, "{} has {mode:o}", path.display());
        assert_eq!(mode & 0o022, 0, "{} is writable by others", path.display());
        if found.is_dir() {
            unread.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            files += 1;
        }
    }
    assert!(files > 5, "{files} files");
}

#[tokio::test]
async fn what_is_not_as_announced_is_refused_and_the_ref_stays() {
    let (source, root) = (Source::new(), tempfile::tempdir().unwrap());
    let mirrors = Mirrors::open(&root.path().join("mirrors")).unwrap();
    let one = source.commit("one");
    let (complete, path) = source.bundle("1", None, &one);
    mirrors.apply(&complete, &path).await.unwrap();

    let lie = SourceUpdate { head: CommitId::new("a".repeat(40)).unwrap(), ..complete.clone() };
    assert!(matches!(mirrors.apply(&lie, &path).await, Err(MirrorError::Bundle { .. })));
    let garbage = root.path().join("garbage");
    std::fs::write(&garbage, b"not a bundle").unwrap();
    assert!(matches!(mirrors.apply(&complete, &garbage).await, Err(MirrorError::Git { .. })));
    let two = source.commit("two");
    let (next, next_path) = source.bundle("2", Some(&one), &two);
    let whole = std::fs::read(&next_path).unwrap();
    std::fs::write(&next_path, &whole[..whole.len() - 30]).unwrap();
    assert!(matches!(mirrors.apply(&next, &next_path).await, Err(MirrorError::Git { .. })));
    assert_eq!(head(&mirrors, &source), one.as_str());
    for target in
        ["main", "--upload-pack=x", "refs/heads/a..b", "refs/../../x", "", "refs/heads/\u{7f}"]
    {
        let update = SourceUpdate { target: target.into(), ..complete.clone() };
        let error = mirrors.need(&update).await.unwrap_err();
        assert!(matches!(error, MirrorError::Target { .. }), "{target}: {error}");
    }
}
