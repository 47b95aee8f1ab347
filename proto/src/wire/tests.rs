//! Golden bytes hold version 2: a change here needs a new version.

use std::collections::BTreeMap;

use super::*;
use crate::contract::{AllowedScope, Budgets, Contract, Criterion};
use crate::ids::{
    AttemptNumber, Blob, CommitId, ContainerName, CriterionId, Digest, HostName, ItemId,
    LearningId, LeaseId, RepositoryId, RoleName, RunId, TreeId, hex,
};
use crate::message::*;
use crate::plan::Effort;
use crate::units::MicroUsd;

fn blob(seed: &str) -> Blob {
    Blob { sha256: Digest::of(seed.as_bytes()), size_bytes: 42 }
}

fn commit(digit: &str) -> CommitId {
    CommitId::new(digit.repeat(40)).unwrap()
}

fn attempt(work: Work) -> Attempt {
    let criterion = Criterion {
        id: CriterionId::new("tests").unwrap(),
        statement: "the tests pass".into(),
        checker: "make test".into(),
    };
    Attempt {
        run: RunId::new("r1").unwrap(),
        item: ItemId::new("a.b 🎼").unwrap(),
        number: AttemptNumber(2),
        role: RoleName::new("coder").unwrap(),
        contract: Contract {
            goal: "goal".into(),
            deliverables: vec!["src/a.rs: code".into()],
            acceptance_criteria: vec![criterion],
            non_goals: vec!["no".into()],
            allowed_scope: AllowedScope { paths: vec!["src/".into()], tools: vec!["sh".into()] },
            budgets: Budgets {
                wall_clock_minutes: 5,
                token_budget: Some(1000),
                cost_budget: None,
                max_agents: 1,
                verification_ratio: 0.25,
                first_artifact_ratio: 0.30,
            },
            forbidden_actions: vec!["network".into()],
        },
        repository: RepositoryId::of("/repo"),
        target: "refs/heads/main".into(),
        base_min: commit("a"),
        work,
        limits: AttemptLimits {
            heartbeat_ms: 2000,
            lease_ms: 15000,
            wall_clock_ms: 300_000,
            artifact_bytes_max: 1 << 20,
            files_max: 100,
            tokens_max: Some(750),
            cost_max: Some(MicroUsd(20)),
            window_ms: 60_000,
        },
        route: Route { model: "fast".into(), effort: Effort::High },
        preamble: Some("the last try was stuck".into()),
        learnings: vec![learning()],
    }
}

fn commits() -> Commits {
    Commits { bundle: blob("bundle"), base: commit("a"), head: commit("b") }
}

fn verification() -> Work {
    Work::Verify(Verification {
        candidate: Candidate {
            commit: commit("c"),
            tree: TreeId::new("d".repeat(40)).unwrap(),
            base: commit("a"),
            bundle: blob("candidate"),
            listing_sha256: Digest::of(b"listing"),
        },
        worker_excluded: Some(ContainerName::new("w-1").unwrap()),
    })
}

fn defect() -> Work {
    let findings = vec!["tests: exit code 1".into()];
    Work::Repair(Defect { summary: "refuted".into(), findings, work: Some(commits()) })
}

fn lease_report(body: LeaseEvent) -> Report {
    Report::Lease(LeaseReport {
        lease: LeaseId::from_bytes([7; 16]),
        run: RunId::new("r1").unwrap(),
        item: ItemId::new("a").unwrap(),
        attempt: AttemptNumber(1),
        kind: AttemptKind::Produce,
        body,
    })
}

fn result() -> WorkResult {
    WorkResult {
        base: commit("a"),
        head: commit("b"),
        bundle: Some(blob("bundle")),
        receipts: vec![Receipt {
            argv: vec!["sh".into(), "-c".into()],
            exit: Exit::Signal(9),
            timed_out: true,
            stdout_sha256: Digest::of(b"out"),
            stderr_sha256: Digest::of(b""),
            duration_ms: 12,
            environment: BTreeMap::from([("LANG".into(), "C".into())]),
            output_truncated: true,
            purpose: "agent".into(),
        }],
        claims: vec![Claim {
            id: "c1".into(),
            text: "done".into(),
            criterion: Some(CriterionId::new("tests").unwrap()),
            kind: ClaimKind::Inference,
            receipt: Some(Digest::of(b"out")),
        }],
        usage: Some(usage()),
        findings: vec!["f".into()],
        log: Some(blob("log")),
        learnings: vec![learning()],
        proposals: proposals(),
        phases: vec![Phase { name: "agent".into(), duration_ms: 12 }],
    }
}

fn usage() -> Usage {
    let tokens = ModelTokens { model: "m".into(), input_tokens: 0, output_tokens: 1 };
    Usage { input_tokens: 0, output_tokens: 3, cost: MicroUsd(500_000), unpriced: vec![tokens] }
}

fn learning() -> Learning {
    Learning {
        id: LearningId::of("use  make TEST"),
        context: "tests".into(),
        discovery: "pytest is not on the path".into(),
        rule: "Use make test".into(),
        check: Some("! grep -rn pytest Makefile".into()),
    }
}

fn proposals() -> Vec<Proposal> {
    let part = Part {
        id: ItemId::new("a/parser").unwrap(),
        goal: "parse".into(),
        deliverables: vec!["src/parser.rs".into()],
        criteria: vec![CriterionId::new("tests").unwrap()],
        paths: vec!["src/parser.rs".into()],
        needs: vec![ItemId::new("a/lexer").unwrap()],
    };
    let diagnosis = |remedy| Proposal::Diagnosis(Diagnosis { reason: "too much".into(), remedy });
    vec![
        Proposal::Note("n".into()),
        Proposal::Done,
        Proposal::Partial("half".into()),
        diagnosis(Remedy::Retry),
        diagnosis(Remedy::Split(vec![part])),
        diagnosis(Remedy::Escalate),
        diagnosis(Remedy::Skip),
    ]
}

fn leased() -> Leased {
    Leased {
        role: RoleName::new("coder").unwrap(),
        host: HostName::new("h").unwrap(),
        container: ContainerName::new("c").unwrap(),
        isolation: Isolation::Container,
        base: Some(commit("a")),
        image: "image:1".into(),
    }
}

fn evidence() -> Evidence {
    let criterion = CriterionId::new("tests").unwrap();
    Evidence {
        tree: TreeId::new("d".repeat(40)).unwrap(),
        envelopes: vec![Envelope { criterion, statement: b"{}".to_vec(), receipt: b"{}".to_vec() }],
        log: None,
        inconclusive: Some("the checker hung".into()),
        learnings: vec![LearningCheck { id: learning().id, applied: true }],
    }
}

fn reports() -> Vec<(&'static str, Report)> {
    let failed = Failed {
        usage: Some(usage()),
        learnings: vec![learning()],
        proposals: vec![Proposal::Done],
        phases: vec![Phase { name: "agent".into(), duration_ms: 12 }],
        ..Failed::new(FailureKind::Timeout, "5 min")
    };
    let saved = Saved { commits: commits(), reason: "lease expired".into() };
    let exited = ContainerExited {
        container: ContainerName::new("c").unwrap(),
        exit_code: 137,
        out_of_memory: true,
    };
    vec![
        ("report.leased", lease_report(LeaseEvent::Leased(leased()))),
        ("report.progress", lease_report(LeaseEvent::Progress("50 %".into()))),
        ("report.result", lease_report(LeaseEvent::Result(result()))),
        ("report.evidence", lease_report(LeaseEvent::Evidence(evidence()))),
        ("report.failed", lease_report(LeaseEvent::Failed(failed))),
        ("report.saved", lease_report(LeaseEvent::Saved(saved))),
        ("report.container_exited", Report::ContainerExited(exited)),
    ]
}

fn heartbeat() -> Heartbeat {
    Heartbeat {
        lease: LeaseId::from_bytes([7; 16]),
        run: RunId::new("r1").unwrap(),
        item: ItemId::new("a").unwrap(),
        attempt: AttemptNumber(1),
        note: "tests".into(),
        pulse: Some(Pulse {
            commits: 1,
            changed: vec![b"src/\xff".to_vec()],
            changed_count: 2,
            fingerprint: "f".into(),
            evidence: 3,
            score: Some(-0.5),
            blocker: Some("no network".into()),
            next_action: Some("the parser".into()),
            iterations: 4,
            usage: Some(usage()),
        }),
    }
}

fn source_update() -> SourceUpdate {
    SourceUpdate {
        repository: RepositoryId::of("/repo"),
        target: "refs/heads/main".into(),
        head: commit("b"),
        prerequisite: Some(commit("a")),
        bundle: blob("source"),
    }
}

fn lease_note() -> LeaseNote {
    LeaseNote {
        lease: LeaseId::from_bytes([7; 16]),
        run: RunId::new("r1").unwrap(),
        item: ItemId::new("a").unwrap(),
        attempt: AttemptNumber(1),
        kind: AttemptKind::Repair,
        repository: RepositoryId::of("/repo"),
        base: commit("a"),
        artifact_bytes_max: 10,
        files_max: 1,
    }
}

#[test]
fn version_two_is_as_recorded() {
    let mut lines = Vec::new();
    let works = [("produce", Work::Produce), ("repair", defect()), ("verify", verification())];
    for (name, work) in works {
        let sample = attempt(work);
        let bytes = sample.encode().unwrap();
        assert_eq!(Attempt::decode(&bytes).unwrap(), sample);
        lines.push(format!("attempt.{name}={}", hex(&bytes)));
    }
    for (name, sample) in reports() {
        let bytes = sample.encode().unwrap();
        assert_eq!(Report::decode(&bytes).unwrap(), sample);
        lines.push(format!("{name}={}", hex(&bytes)));
    }
    let bytes = heartbeat().encode().unwrap();
    assert_eq!(Heartbeat::decode(&bytes).unwrap(), heartbeat());
    lines.push(format!("heartbeat={}", hex(&bytes)));
    let demands = HeartbeatReply::GoOn(vec!["commit what there is".into()]);
    for reply in [demands, HeartbeatReply::Stop("superseded".into())] {
        let bytes = reply.encode().unwrap();
        assert_eq!(HeartbeatReply::decode(&bytes).unwrap(), reply);
        lines.push(format!("heartbeat_reply={}", hex(&bytes)));
    }
    let bytes = source_update().encode().unwrap();
    assert_eq!(SourceUpdate::decode(&bytes).unwrap(), source_update());
    lines.push(format!("source_update={}", hex(&bytes)));
    let bytes = lease_note().encode().unwrap();
    assert_eq!(LeaseNote::decode(&bytes).unwrap(), lease_note());
    lines.push(format!("lease_note={}", hex(&bytes)));
    let lines = lines.join("\n") + "\n";
    assert_eq!(lines, include_str!("golden_v2.txt"), "\n{lines}");
}

fn refused(change: impl FnOnce(&mut v1::Attempt)) -> String {
    let mut wire = v1::Attempt::from(&attempt(verification()));
    change(&mut wire);
    Attempt::decode(&wire.encode_to_vec()).unwrap_err().to_string()
}

#[test]
fn a_bad_attempt_is_refused_with_the_part() {
    assert!(refused(|a| a.version = 1).contains("attempt has version 1, this program knows 2"));
    assert!(refused(|a| a.version = 3).contains("attempt has version 3, this program knows 2"));
    assert_eq!(refused(|a| a.item.clear()), "item is not valid");
    assert_eq!(refused(|a| a.contract = None), "contract is missing");
    assert_eq!(refused(|a| a.candidate = None), "candidate is missing");
    assert_eq!(refused(|a| a.number = 0), "attempt is not valid: it must be above zero");
    assert!(refused(|a| a.kind = 9).contains("unknown to this program"));
    assert!(refused(|a| a.base_min = "--exec=x".into()).contains("least base"));
    for target in [
        "main",
        "refs/heads/a b",
        "refs/heads/../x",
        "refs//x",
        "refs/heads/x.lock",
        "refs/heads/.x",
    ] {
        assert!(refused(|a| a.target = target.into()).starts_with("target"), "{target}");
    }
    let long = "x".repeat(TEXT_BYTES_MAX + 1);
    assert!(refused(|a| a.contract.as_mut().unwrap().goal = long).contains("the limit is 65536"));
    let many = vec![String::new(); LIST_COUNT_MAX + 1];
    assert!(refused(|a| a.contract.as_mut().unwrap().non_goals = many).contains("1001 entries"));
    assert!(refused(|a| a.limits.as_mut().unwrap().lease_ms = 1).contains("below the lease"));
    assert!(Attempt::decode(&[0xff]).unwrap_err().to_string().contains("cannot be decoded"));
}

#[test]
fn a_bundle_is_there_exactly_when_commits_are() {
    for (bundle, head) in [(None, commit("b")), (Some(blob("x")), commit("a"))] {
        let bad = lease_report(LeaseEvent::Result(WorkResult { bundle, head, ..result() }));
        assert!(
            Report::decode(&bad.encode().unwrap()).unwrap_err().to_string().starts_with("bundle")
        );
    }
}

#[test]
fn unmeasured_usage_is_not_zero() {
    let mut wire = v1::Report::from(&lease_report(LeaseEvent::Result(result())));
    let Some(v1::report::Body::Result(body)) = wire.body.as_mut() else { panic!("it is a result") };
    body.usage.as_mut().unwrap().measured = false;
    let Report::Lease(LeaseReport { body: LeaseEvent::Result(read), .. }) =
        Report::decode(&wire.encode_to_vec()).unwrap()
    else {
        panic!("it is a result")
    };
    assert_eq!(read.usage, None);
}

#[test]
fn a_report_over_the_limit_is_refused_with_size_and_limit() {
    let statement = vec![b' '; STATEMENT_BYTES_MAX];
    let envelope = Envelope {
        criterion: CriterionId::new("t").unwrap(),
        statement: statement.clone(),
        receipt: statement,
    };
    let big = Evidence { envelopes: vec![envelope.clone(), envelope], ..evidence() };
    let error = lease_report(LeaseEvent::Evidence(big)).encode().unwrap_err().to_string();
    assert!(error.contains("the limit is 921600"), "{error}");
}
