//! Evidence that holds, and what is found when something about it does not.

use cantus_proto::contract::{AllowedScope, Budgets, Criterion};
use cantus_proto::evidence::receipt::{checker_argv, checker_digest};
use cantus_proto::evidence::{
    Binding, Ending, Receipt, SigningKey, Stamp, TrustedKey, attest, dossier,
};
use cantus_proto::ids::{AttemptNumber, RepositoryId};
use cantus_proto::wire::v1::EvidenceFile;

use super::*;

/// One item with its evidence, as a coordinator hands it out.
pub(in crate::cli) struct Sample {
    pub(in crate::cli) run: RunId,
    pub(in crate::cli) item: ItemId,
    pub(in crate::cli) tree: TreeId,
    pub(in crate::cli) contract: Contract,
    pub(in crate::cli) trust: Trust,
    pub(in crate::cli) response: EvidenceResponse,
}

impl Sample {
    fn check(&self) -> Proof {
        let Self { run, item, tree, contract, trust, response } = self;
        check(&Asked { run, item, tree, contract }, response, trust)
    }

    fn has(&self, text: &str) {
        let proof = self.check();
        assert!(!proof.holds());
        let told = format!("{:?} {:?}", proof.criteria, proof.findings);
        assert!(told.contains(text), "{text:?} not in {told}");
    }

    fn file(&mut self, name: &str) -> &mut EvidenceFile {
        self.response.files.iter_mut().find(|file| file.name == name).unwrap()
    }
}

/// Landed, two criteria, all of it sound.
pub(in crate::cli) fn sample(isolation: Isolation) -> Sample {
    let (verifier, coordinator) =
        (SigningKey::from_bytes(&[1; 32]), SigningKey::from_bytes(&[2; 32]));
    let trusted = |key: &SigningKey| vec![TrustedKey::new(key.verifying_key(), None)];
    let trust = Trust::new(trusted(&verifier), trusted(&coordinator)).unwrap();
    let (run, item) = (RunId::new("nightly").unwrap(), ItemId::new("a b").unwrap());
    let tree = TreeId::new("01".repeat(20)).unwrap();
    let contract = contract();
    let listing = Digest::of(b"listing");
    let question = Question::new(run.clone(), item.clone(), &contract, tree.clone(), listing);
    let evidence: Vec<Evidence> = contract
        .acceptance_criteria
        .iter()
        .map(|criterion| attest(&receipt(&question, criterion, isolation), &verifier).unwrap())
        .collect();
    let policy = Policy { allow_process_isolation: true };
    let stamp = Stamp {
        repository: RepositoryId::of("here"),
        target: "refs/heads/main".to_owned(),
        verified_s: 0,
    };
    let dossier = dossier(&question, &evidence, &trust, policy, &stamp, &coordinator).unwrap();
    let file = |(name, content)| EvidenceFile { name, content };
    let response = EvidenceResponse {
        tree: tree.to_string(),
        commit: "02".repeat(20),
        digest: format!("sha256:{}", dossier.digest),
        files: dossier.files.into_iter().map(file).collect(),
    };
    Sample { run, item, tree, contract, trust, response }
}

fn contract() -> Contract {
    let criterion = |id: &str, checker: &str| Criterion {
        id: CriterionId::new(id).unwrap(),
        statement: "it holds".to_owned(),
        checker: checker.to_owned(),
    };
    Contract {
        goal: "Something holds".to_owned(),
        deliverables: vec!["a".to_owned()],
        acceptance_criteria: vec![criterion("AC-01", "test -f a"), criterion("AC-02", "true")],
        non_goals: vec![],
        allowed_scope: AllowedScope { paths: vec!["a".to_owned()], tools: vec![] },
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

fn receipt(question: &Question, criterion: &Criterion, isolation: Isolation) -> Receipt {
    Receipt {
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
    }
}

#[test]
fn sound_evidence_holds_and_says_how_it_was_checked() {
    let proof = sample(Isolation::Container).check();
    assert!(proof.holds(), "{proof:?}");
    assert_eq!((proof.held(), proof.notes.len()), (2, 0));
    let proof = sample(Isolation::Process).check();
    assert!(proof.holds() && proof.notes[0].contains("without a container"), "{proof:?}");
}

#[test]
fn what_has_not_landed_or_comes_without_its_summary_is_noted() {
    let mut sample = sample(Isolation::Container);
    sample.response.files.retain(|file| file.name != SUMMARY_NAME);
    let proof = sample.check();
    assert!(proof.holds() && proof.notes[0].contains("cantus audit"), "{proof:?}");
    sample.response.commit.clear();
    assert_eq!(sample.check().notes, ["not landed yet"]);
}

#[test]
fn each_part_that_is_wrong_is_found() {
    let spoiled = |spoil: fn(&mut Sample), text: &str| {
        let mut sample = sample(Isolation::Container);
        spoil(&mut sample);
        sample.has(text);
    };
    spoiled(|s| s.response.files.retain(|f| f.name != "AC-02.dsse.json"), "there is no evidence");
    spoiled(|s| s.file("AC-01.dsse.json").content[40] ^= 1, "statement not believed");
    spoiled(|s| s.file("AC-01.receipt.json").content.push(b' '), "the receipt has sha256");
    spoiled(|s| s.file(SUMMARY_NAME).content.push(b'x'), "summary.vsa.dsse.json not believed");
    spoiled(|s| s.tree = TreeId::new("ff".repeat(20)).unwrap(), "evidence is for tree 0101");
    spoiled(|s| s.item = ItemId::new("other").unwrap(), "evidence is for item a b");
    spoiled(
        |s| s.contract.acceptance_criteria[0].checker = "false".to_owned(),
        "evidence is for checker",
    );
    spoiled(
        |s| s.response.digest = format!("sha256:{}", "0".repeat(64)),
        "the commit names sha256:0000",
    );
    spoiled(|s| s.trust = Trust::default(), "statement not believed");
    spoiled(
        |s| s.response.files.push(EvidenceFile { name: "x.json".to_owned(), content: vec![] }),
        "x.json is not in the summary",
    );
    spoiled(|s| s.response.files.push(s.response.files[0].clone()), "was sent twice");
    spoiled(|s| s.contract.acceptance_criteria.clear(), "{}");
}
