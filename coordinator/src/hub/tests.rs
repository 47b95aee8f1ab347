//! The hub on real git: a bare upstream, work made apart from it, everything in a directory of the test's own.

use std::path::{Path, PathBuf};
use std::process::Command;

use cantus_proto::ids::{AttemptNumber, CommitId, ItemId, RunId, TreeId};
use cantus_proto::plan::LandingStyle;
use tempfile::TempDir;

use super::*;

mod connect;
mod inspect;
mod land;
mod merge;
mod wild;

/// 2026-01-02 03:04:05 UTC.
const NOW: i64 = 1_767_323_045;
const LIMITS: ResultLimits = ResultLimits { artifact_bytes_max: 4 << 20, files_max: 1_000 };
const FILE: u32 = 0o100_644;

/// One entry of a commit to be made: a path, and its mode and content, or nothing to delete it.
type Edit<'a> = (&'a [u8], Option<(u32, &'a [u8])>);

fn put<'a>(path: &'a str, content: &'a str) -> Edit<'a> {
    (path.as_bytes(), Some((FILE, content.as_bytes())))
}

/// Plain git as a person runs it, without this machine's settings.
fn git_any(dir: &Path, args: &[&str]) -> std::process::Output {
    Command::new("git")
        .args(["-c", "protocol.file.allow=always", "-c", "init.defaultBranch=main"])
        .args(args)
        .current_dir(dir)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", dir)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "A Person")))
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "a@example.org")))
        .output()
        .unwrap()
}

fn git(dir: &Path, args: &[&str]) -> String {
    let output = git_any(dir, args);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {args:?}: {complaint}");
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

fn head_of(dir: &Path, reference: &str) -> CommitId {
    let repo = git2::Repository::open(dir).unwrap();
    commit_id(repo.refname_to_id(reference).unwrap())
}

fn set_ref(dir: &Path, reference: &str, commit: &CommitId) {
    let repo = git2::Repository::open(dir).unwrap();
    repo.reference(reference, oid(commit.as_str()).unwrap(), true, "test").unwrap();
}

/// Writes one commit into a repository without touching any work tree or ref.
fn commit(repo: &Path, parents: &[&CommitId], edits: &[Edit<'_>], message: &str) -> CommitId {
    let repo = git2::Repository::open(repo).unwrap();
    let parents: Vec<_> =
        parents.iter().map(|id| repo.find_commit(oid(id.as_str()).unwrap()).unwrap()).collect();
    let mut index = git2::Index::new().unwrap();
    if let Some(first) = parents.first() {
        index.read_tree(&first.tree().unwrap()).unwrap();
    }
    for (path, entry) in edits {
        let Some((mode, content)) = entry else {
            index.remove_path(&git::to_path(path)).unwrap();
            continue;
        };
        let id = if *mode == 0o160_000 {
            oid(std::str::from_utf8(content).unwrap()).unwrap()
        } else {
            repo.blob(content).unwrap()
        };
        let zero = git2::IndexTime::new(0, 0);
        let entry = git2::IndexEntry {
            ctime: zero,
            mtime: zero,
            dev: 0,
            ino: 0,
            mode: *mode,
            uid: 0,
            gid: 0,
            file_size: 0,
            id,
            flags: 0,
            flags_extended: 0,
            path: path.to_vec(),
        };
        index.add(&entry).unwrap();
    }
    let tree = repo.find_tree(index.write_tree_to(&repo).unwrap()).unwrap();
    commit_tree(&repo, tree.id(), &parents.iter().collect::<Vec<_>>(), message)
}

fn commit_tree(
    repo: &git2::Repository,
    tree: git2::Oid,
    parents: &[&git2::Commit<'_>],
    message: &str,
) -> CommitId {
    let tree = repo.find_tree(tree).unwrap();
    let who =
        git2::Signature::new("A Person", "a@example.org", &git2::Time::new(NOW - 9, 0)).unwrap();
    commit_id(repo.commit(None, &who, &who, message, &tree, parents).unwrap())
}

/// What a worker hands in.
struct Work {
    base: CommitId,
    head: CommitId,
    bundle: PathBuf,
}

struct World {
    root: TempDir,
    hub: Hub,
    upstream: PathBuf,
    connected: Connected,
    run: RunId,
}

impl World {
    /// A bare upstream with `main`: `a.txt` and `b.txt` of twenty lines.
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let upstream = root.path().join("upstream.git");
        git(root.path(), &["init", "-q", "--bare", "upstream.git"]);
        let first = commit(
            &upstream,
            &[],
            &[put("a.txt", &lines(&[])), put("b.txt", &lines(&[]))],
            "first",
        );
        set_ref(&upstream, "refs/heads/main", &first);
        let hub = Hub::open(&root.path().join("hub")).unwrap();
        let connected = hub.connect(upstream.to_str().unwrap(), "main").unwrap();
        Self { root, hub, upstream, connected, run: RunId::new("run 1").unwrap() }
    }

    fn base(&self) -> CommitId {
        self.connected.head.clone()
    }

    fn store_path(&self) -> PathBuf {
        self.hub.path(&self.connected.repository)
    }

    /// A commit by somebody else on the target.
    fn move_target(&self, edits: &[Edit<'_>]) -> CommitId {
        let head = head_of(&self.upstream, "refs/heads/main");
        let moved = commit(&self.upstream, &[&head], edits, "by somebody else");
        set_ref(&self.upstream, "refs/heads/main", &moved);
        moved
    }

    /// A repository that borrows upstream's objects, as a workspace does.
    fn workspace(&self, name: &str) -> PathBuf {
        let path = self.root.path().join(name);
        git2::Repository::init_bare(&path).unwrap();
        let alternates = path.join("objects/info/alternates");
        std::fs::write(alternates, format!("{}\n", self.upstream.join("objects").display()))
            .unwrap();
        path
    }

    fn work(&self, name: &str, base: &CommitId, edits: &[Edit<'_>]) -> Work {
        let path = self.workspace(name);
        let head = commit(&path, &[base], edits, "words of the worker");
        self.bundle(name, &path, base, &head)
    }

    fn bundle(&self, name: &str, workspace: &Path, base: &CommitId, head: &CommitId) -> Work {
        set_ref(workspace, "refs/heads/work", head);
        let bundle = self.root.path().join(format!("{name}.bundle"));
        let file = bundle.to_str().unwrap();
        git(workspace, &["bundle", "create", "-q", file, "refs/heads/work", &format!("^{base}")]);
        Work { base: base.clone(), head: head.clone(), bundle }
    }

    fn inspect(&self, item: &str, work: &Work) -> Inspection {
        self.inspect_as(item, work, &work.head, LIMITS)
    }

    fn inspect_as(
        &self,
        item: &str,
        work: &Work,
        head: &CommitId,
        limits: ResultLimits,
    ) -> Inspection {
        let request = InspectRequest {
            run: &self.run,
            item: &id(item),
            attempt: AttemptNumber(1),
            base: &work.base,
            head,
            bundle: Some(&work.bundle),
            limits,
        };
        self.hub.inspect(&self.connected.repository, &request).unwrap()
    }

    fn merge(&self, item: &str, head: &CommitId, onto: &CommitId) -> MergeOutcome {
        let item = id(item);
        let request = MergeRequest { run: &self.run, item: &item, head, onto, now_unix_s: NOW };
        self.hub.merge(&self.connected.repository, &request).unwrap()
    }

    /// Takes work in and merges it, both of which must go well.
    fn candidate(&self, item: &str, work: &Work, onto: &CommitId) -> Merged {
        changes(self.inspect(item, work));
        merged(self.merge(item, &work.head, onto))
    }

    fn land(&self, item: &str, work: &Work, merged: &Merged) -> Result<LandOutcome, LandError> {
        let item = id(item);
        let evidence = evidence(item.as_str());
        self.hub.land(&self.connected.repository, &self.landing(&item, work, merged, &evidence))
    }

    fn landing<'a>(
        &'a self,
        item: &'a ItemId,
        work: &'a Work,
        merged: &'a Merged,
        evidence: &'a [EvidenceFile],
    ) -> LandRequest<'a> {
        LandRequest {
            run: &self.run,
            item,
            style: LandingStyle::Merge,
            reference: &self.connected.target,
            onto: &merged.onto,
            head: &work.head,
            tree: &merged.tree,
            evidence,
            title: "Make it so",
            now_unix_s: NOW,
        }
    }

    /// Everything that can be seen of the hub's repository: refs, and objects in packs and loose.
    fn snapshot(&self) -> (String, String) {
        let store = self.store_path();
        let refs = git(&store, &["for-each-ref", "--format=%(refname) %(objectname)"]);
        let objects =
            git(&store, &["cat-file", "--batch-all-objects", "--batch-check", "--unordered"]);
        let mut objects: Vec<_> = objects.lines().collect();
        objects.sort_unstable();
        (refs, objects.join("\n"))
    }
}

fn evidence(about: &str) -> Vec<EvidenceFile> {
    ["AC-01.dsse.json", "summary.dsse.json"]
        .map(|name| EvidenceFile { name: name.to_owned(), bytes: about.as_bytes().to_vec() })
        .to_vec()
}

fn id(item: &str) -> ItemId {
    ItemId::new(item).unwrap()
}

/// Twenty lines, some of them replaced.
fn lines(replaced: &[(usize, &str)]) -> String {
    let line = |n| replaced.iter().find(|(at, _)| *at == n).map_or("line", |(_, text)| *text);
    (1..=20).map(|n| format!("{n} {}\n", line(n))).collect()
}

fn changes(inspection: Inspection) -> Vec<Change> {
    match inspection {
        Inspection::Inspected { changes } => changes,
        Inspection::Refused { refusal, .. } => panic!("refused: {refusal}"),
    }
}

fn refused(inspection: Inspection) -> (Refusal, Vec<Offender>) {
    match inspection {
        Inspection::Refused { refusal, offenders } => (refusal, offenders),
        Inspection::Inspected { .. } => panic!("it was let in"),
    }
}

fn merged(outcome: MergeOutcome) -> Merged {
    match outcome {
        MergeOutcome::Merged(merged) => merged,
        MergeOutcome::Conflict { paths, .. } => {
            panic!(
                "conflict in {:?}",
                paths.iter().map(|path| git::escape(path)).collect::<Vec<_>>()
            )
        }
    }
}

fn landed(outcome: LandOutcome) -> CommitId {
    match outcome {
        LandOutcome::Landed { commit } => commit,
        LandOutcome::Moved { head } => panic!("moved to {head}"),
    }
}

fn tree_of(repo: &Path, commit: &CommitId) -> TreeId {
    let repo = git2::Repository::open(repo).unwrap();
    let commit = repo.find_commit(oid(commit.as_str()).unwrap()).unwrap();
    TreeId::new(commit.tree_id().to_string()).unwrap()
}

/// Writes an executable file.
fn script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
