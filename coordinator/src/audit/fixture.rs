//! Repositories for the tests of the audit, built with the git command line, with landings made by hand.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use cantus_proto::contract::{AllowedScope, Budgets, Contract, Criterion};
use cantus_proto::evidence::dossier::{evidence_ref, manifest};
use cantus_proto::evidence::receipt::{checker_argv, checker_digest};
use cantus_proto::evidence::{
    Binding, Dossier, Ending, Evidence, Policy, Question, Receipt, SigningKey, Stamp, Trust,
    TrustedKey, attest, dossier,
};
use cantus_proto::ids::{AttemptNumber, CriterionId, Digest, ItemId, RepositoryId, RunId, TreeId};
use cantus_proto::message::Isolation;

use crate::audit::{AuditError, AuditReport, audit};

/// Who signs.
pub(super) struct Signers {
    pub(super) verifier: SigningKey,
    pub(super) coordinator: SigningKey,
}

impl Signers {
    fn new(byte: u8) -> Self {
        Self {
            verifier: SigningKey::from_bytes(&[byte; 32]),
            coordinator: SigningKey::from_bytes(&[byte + 1; 32]),
        }
    }

    pub(super) fn trust(&self) -> Trust {
        let trusted = |key: &SigningKey| vec![TrustedKey::new(key.verifying_key(), None)];
        Trust::new(trusted(&self.verifier), trusted(&self.coordinator)).unwrap()
    }
}

pub(super) struct Fixture {
    pub(super) directory: tempfile::TempDir,
    pub(super) ours: Signers,
    pub(super) strangers: Signers,
}

/// A landing that a test may spoil before it is committed.
pub(super) struct Draft {
    pub(super) run: RunId,
    pub(super) item: ItemId,
    /// Of the commit.
    pub(super) tree: String,
    /// Name of the evidence's directory.
    pub(super) directory: String,
    pub(super) files: BTreeMap<String, Vec<u8>>,
    pub(super) message: String,
}

impl Draft {
    /// Writes the message anew, for the files as they are now.
    pub(super) fn rename_evidence(&mut self) {
        let digest = manifest(&self.files).1;
        let (run, item) = (&self.run, &self.item);
        self.message = format!(
            "Land {item}\n\nCantus-Run: {run}\nCantus-Item: {item}\nCantus-Evidence: sha256:{digest}\n"
        );
    }
}

impl Fixture {
    /// A repository with one commit that no item landed.
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let fixture = Self { directory, ours: Signers::new(1), strangers: Signers::new(11) };
        std::fs::create_dir(fixture.path()).unwrap();
        fixture.git(&["init", "--quiet", "--initial-branch=main"]);
        fixture.git(&["commit", "--quiet", "--allow-empty", "--message=Begin"]);
        fixture
    }

    pub(super) fn path(&self) -> PathBuf {
        self.directory.path().join("repo")
    }

    pub(super) fn git(&self, arguments: &[&str]) -> String {
        String::from_utf8(self.git_bytes(arguments, b"")).unwrap().trim_end().to_owned()
    }

    pub(super) fn git_bytes(&self, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let mut child = Command::new("git")
            .current_dir(self.path())
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.directory.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "A")))
            .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "a@b")))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the git command is missing: install it (Debian: apt-get install git)");
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "git {arguments:?} failed");
        output.stdout
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    /// The tree of what lies in the working directory, and its listing digest by the git command line.
    pub(super) fn tree(&self) -> (String, Digest) {
        self.git(&["add", "--all"]);
        let tree = self.git(&["write-tree"]);
        let listing = self.git_bytes(&["ls-tree", "-r", "-z", "--full-tree", &tree], b"");
        (tree, Digest::of(&listing))
    }

    /// A landing of an item that writes one file, with evidence by our own keys.
    pub(super) fn draft(&self, item: &str) -> Draft {
        self.write(item, item);
        self.draft_by(&self.ours, item, Isolation::Container)
    }

    /// A landing of the working directory as it is.
    pub(super) fn draft_by(&self, signers: &Signers, item: &str, isolation: Isolation) -> Draft {
        let (tree, listing) = self.tree();
        let (run, item) = (RunId::new("run.1").unwrap(), ItemId::new(item).unwrap());
        let id = TreeId::new(&tree).unwrap();
        let question = Question::new(run.clone(), item.clone(), &contract(), id, listing);
        let policy = Policy { allow_process_isolation: isolation == Isolation::Process };
        let evidence = evidence(&question, signers, isolation);
        let stamp = Stamp {
            repository: RepositoryId::of("here"),
            target: "refs/heads/main".to_owned(),
            verified_s: 0,
        };
        let (trust, key) = (signers.trust(), &signers.coordinator);
        let Dossier { files, .. } =
            dossier(&question, &evidence, &trust, policy, &stamp, key).unwrap();
        let directory = tree.clone();
        let mut draft = Draft { run, item, tree, directory, files, message: String::new() };
        draft.rename_evidence();
        draft
    }

    /// Lands it on HEAD, and its evidence on its ref.
    pub(super) fn commit(&self, draft: &Draft) -> String {
        let parent = self.git(&["rev-parse", "HEAD"]);
        let arguments = ["commit-tree", &draft.tree, "-p", &parent, "-m", &draft.message];
        let commit = self.git(&arguments);
        self.git(&["update-ref", "HEAD", &commit]);
        self.append_evidence(draft);
        commit
    }

    fn append_evidence(&self, draft: &Draft) {
        let reference = evidence_ref(&draft.run);
        let mut files = Vec::new();
        for (name, bytes) in &draft.files {
            let blob = self.git_bytes(&["hash-object", "-w", "--stdin"], bytes);
            let blob = String::from_utf8(blob).unwrap();
            files.extend(format!("100644 blob {}\t{name}\n", blob.trim_end()).into_bytes());
        }
        let directory = String::from_utf8(self.git_bytes(&["mktree"], &files)).unwrap();
        let exists = !self.git(&["for-each-ref", &reference]).is_empty();
        let before = if exists { self.git(&["ls-tree", &reference]) } else { String::new() };
        let mut root: Vec<_> =
            before.lines().filter(|line| !line.ends_with(&draft.directory)).collect();
        let line = format!("040000 tree {}\t{}", directory.trim_end(), draft.directory);
        root.push(&line);
        let tree = self.git_bytes(&["mktree"], (root.join("\n") + "\n").as_bytes());
        let tree = String::from_utf8(tree).unwrap();
        let mut arguments = vec!["commit-tree", tree.trim_end(), "-m", "Evidence"];
        if exists {
            arguments.extend(["-p", &reference]);
        }
        let commit = self.git(&arguments);
        self.git(&["update-ref", &reference, &commit]);
    }

    pub(super) fn audit(&self) -> AuditReport {
        self.audit_range(None).unwrap()
    }

    pub(super) fn audit_range(&self, range: Option<&str>) -> Result<AuditReport, AuditError> {
        audit(&self.path(), range, &self.ours.trust())
    }

    /// All findings of a landing that was spoiled; those before it stay as they were, the one after is sound.
    pub(super) fn findings(&self, spoiled: &Draft) -> Vec<String> {
        let before = self.audit().commits;
        self.commit(spoiled);
        self.commit(&self.draft("after"));
        let mut report = self.audit();
        assert_eq!(report.commits.pop().unwrap().findings, Vec::<String>::new());
        let found = report.commits.pop().unwrap().findings;
        assert_eq!(report.commits, before);
        found
    }
}

fn contract() -> Contract {
    let criterion = |id: &str, checker: &str| Criterion {
        id: CriterionId::new(id).unwrap(),
        statement: "it holds".to_owned(),
        checker: checker.to_owned(),
    };
    Contract {
        goal: "Something holds".to_owned(),
        deliverables: vec![],
        acceptance_criteria: vec![criterion("AC-01", "test -f a"), criterion("AC-02", "true")],
        non_goals: vec![],
        allowed_scope: AllowedScope { paths: vec![], tools: vec![] },
        budgets: Budgets {
            wall_clock_minutes: 1,
            token_budget: Some(1),
            cost_budget: None,
            max_agents: 1,
            verification_ratio: 0.25,
            first_artifact_ratio: 0.30,
        },
        forbidden_actions: vec![],
    }
}

fn evidence(question: &Question, signers: &Signers, isolation: Isolation) -> Vec<Evidence> {
    let attest = |criterion: &Criterion| {
        let receipt = Receipt {
            subject: question.subject.clone(),
            binding: Binding {
                run: question.run.clone(),
                item: question.item.clone(),
                attempt: AttemptNumber(2),
                criterion: criterion.id.clone(),
                checker: checker_digest(criterion),
                isolation,
            },
            argv: checker_argv(&criterion.checker),
            ending: Ending::Exit(0),
            stdout: Digest::of(b""),
            stderr: Digest::of(b""),
            output_truncated: false,
            duration_ms: 1,
            image: "image".to_owned(),
            host: "host".to_owned(),
            counts: None,
            changed_files: vec![],
        };
        attest(&receipt, &signers.verifier).unwrap()
    };
    contract().acceptance_criteria.iter().map(attest).collect()
}
