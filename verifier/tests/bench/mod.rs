//! A candidate on a stage, and the coordinator's view of what a verifier says about it.

use cantus_proto::evidence::{
    self, Policy, Question, SigningKey, Trust, TrustedKey, Verdict, verdict,
};
use cantus_proto::ids::{CommitId, Digest, TreeId};
use cantus_proto::message::{Attempt, Candidate, Evidence, LeaseEvent, Verification, Work};

use crate::support::{MIB, PATIENCE, Stage, exits_with, git};

const BINARY: &str = env!("CARGO_BIN_EXE_cantus-verifier");

pub(crate) struct Bench {
    pub(crate) stage: Stage,
    pub(crate) key: SigningKey,
    pub(crate) candidate: Candidate,
}

impl Bench {
    /// With a candidate that adds `src/b.txt`, bundled by the real git.
    pub(crate) async fn new() -> Self {
        let stage = Stage::new(BINARY, "verifier").await;
        let source = &stage.source;
        std::fs::write(source.join("src/b.txt"), "hello\n").unwrap();
        git(source, &["add", "-A"]);
        git(source, &["commit", "-q", "-m", "candidate"]);
        let file = stage.directory.path().join("candidate.bundle");
        let range = format!("{}..main", stage.base);
        git(source, &["bundle", "create", "-q", file.to_str().unwrap(), &range]);
        let listing = std::process::Command::new("git")
            .args(["-C", source.to_str().unwrap(), "ls-tree", "-r", "-z", "--full-tree", "HEAD"])
            .output()
            .unwrap();
        let bundle = std::fs::read(&file).unwrap();
        let candidate = Candidate {
            commit: CommitId::new(git(source, &["rev-parse", "HEAD"])).unwrap(),
            tree: TreeId::new(git(source, &["rev-parse", "HEAD^{tree}"])).unwrap(),
            base: stage.base.clone(),
            bundle: stage.bus.put_blob(&bundle, MIB, PATIENCE).await.unwrap(),
            listing_sha256: Digest::of(&listing.stdout),
        };
        Self { stage, key: SigningKey::generate().unwrap(), candidate }
    }

    pub(crate) fn attempt(&self, criteria: &[(&str, &str)]) -> Attempt {
        let verification =
            Verification { candidate: self.candidate.clone(), worker_excluded: None };
        self.stage.attempt(Work::Verify(verification), criteria)
    }

    pub(crate) fn spawn(&self) -> tokio::process::Child {
        let mut command = self.stage.command("", "lease");
        command.env("CANTUS_SIGNING_KEY", self.key.to_pem()).spawn().unwrap()
    }

    /// Runs one verification to its end; what follows the lease.
    pub(crate) async fn run(&mut self, attempt: &Attempt) -> LeaseEvent {
        self.stage.bus.publish_attempt(attempt).await.unwrap();
        let child = self.spawn();
        self.ended(child).await
    }

    /// What a verifier says after its lease, when it has ended well.
    pub(crate) async fn ended(&mut self, child: tokio::process::Child) -> LeaseEvent {
        exits_with(child, 0).await;
        match self.stage.next().await {
            LeaseEvent::Leased(leased) => assert_eq!(leased.base, None),
            other => panic!("{other:?}"),
        }
        self.stage.next().await
    }

    pub(crate) async fn evidence(&mut self, criteria: &[(&str, &str)]) -> Evidence {
        let attempt = self.attempt(criteria);
        match self.run(&attempt).await {
            LeaseEvent::Evidence(evidence) => evidence,
            other => panic!("{other:?}"),
        }
    }

    /// The evidence of a verifier that was started by the test.
    pub(crate) async fn handed_in(&mut self, child: tokio::process::Child) -> Evidence {
        match self.ended(child).await {
            LeaseEvent::Evidence(evidence) => evidence,
            other => panic!("{other:?}"),
        }
    }

    /// The coordinator's view of the evidence, mere processes allowed.
    pub(crate) fn verdict(&self, evidence: &Evidence, criteria: &[(&str, &str)]) -> Verdict {
        self.verdict_under(evidence, criteria, Policy { allow_process_isolation: true })
    }

    /// The coordinator's view of the evidence.
    pub(crate) fn verdict_under(
        &self,
        evidence: &Evidence,
        criteria: &[(&str, &str)],
        policy: Policy,
    ) -> Verdict {
        let attempt = self.attempt(criteria);
        let question = Question::new(
            attempt.run.clone(),
            attempt.item.clone(),
            &attempt.contract,
            self.candidate.tree.clone(),
            self.candidate.listing_sha256.clone(),
        );
        let envelopes: Vec<evidence::Evidence> = evidence
            .envelopes
            .iter()
            .map(|envelope| evidence::Evidence {
                criterion: envelope.criterion.clone(),
                statement: envelope.statement.clone(),
                receipt: envelope.receipt.clone(),
            })
            .collect();
        let key = TrustedKey::new(self.key.verifying_key(), None);
        let trust = Trust::new(vec![key], Vec::new()).unwrap();
        verdict(&question, &envelopes, &trust, policy)
    }
}
