//! The verifier's binary on a real bus: what checkers show, what they hide, and what cannot be shown.

#![expect(
    clippy::unwrap_used,
    reason = "a test ends at the first thing that is not as it should be"
)]

#[path = "../../worker/tests/support/mod.rs"]
#[expect(dead_code, reason = "shared with the worker's tests; each uses a part")]
mod support;

#[expect(dead_code, reason = "shared with the test in a container")]
mod bench;

use bench::Bench;
use cantus_proto::evidence::Verdict;
use cantus_proto::ids::{ContainerName, LearningId, TreeId};
use cantus_proto::message::{
    FailureKind, HeartbeatReply, Learning, LearningCheck, LeaseEvent, Work,
};
use support::exits_with;

#[tokio::test]
async fn every_criterion_is_checked_on_the_candidate_and_signed() {
    let mut bench = Bench::new().await;
    let criteria = [
        (
            "AC-1",
            "grep -q hello src/b.txt && test -z \"$CANTUS_SIGNING_KEY$CANTUS_BUS_PASSWORD$SECRET\"",
        ),
        (
            "AC-2",
            "test \"$CANTUS_CRITERION\" = AC-2 && test -d \"$HOME\" && git status --porcelain",
        ),
    ];
    let evidence = bench.evidence(&criteria).await;
    assert_eq!(evidence.tree, bench.candidate.tree);
    assert_eq!(evidence.inconclusive, None);
    assert_eq!(bench.verdict(&evidence, &criteria), Verdict::Verified);
    let log = String::from_utf8(bench.stage.blob(&evidence.log.unwrap()).await).unwrap();
    assert!(log.contains("== AC-1: grep") && log.contains("== AC-2: Exit(0)"), "{log}");
}

#[tokio::test]
async fn a_failing_checker_refutes() {
    let mut bench = Bench::new().await;
    let criteria = [("AC-1", "true"), ("AC-2", "grep -q goodbye src/b.txt")];
    let evidence = bench.evidence(&criteria).await;
    let Verdict::Refuted { findings } = bench.verdict(&evidence, &criteria) else {
        panic!("not refuted")
    };
    assert_eq!(findings.len(), 1);
    assert!(findings[0].starts_with("AC-2"), "{findings:?}");
}

/// W11: the exit code says yes, the counts say no.
#[tokio::test]
async fn counts_beat_a_friendly_exit_code() {
    let mut bench = Bench::new().await;
    let criteria = [("AC-1", "echo '=== 612 passed, 1 error in 3.21s ==='")];
    let evidence = bench.evidence(&criteria).await;
    let Verdict::Refuted { findings } = bench.verdict(&evidence, &criteria) else {
        panic!("not refuted")
    };
    assert!(findings[0].contains("1 error"), "{findings:?}");
}

/// W13: a check that cannot run decides nothing, and the others still count.
#[tokio::test]
async fn a_checker_that_cannot_run_is_inconclusive() {
    let mut bench = Bench::new().await;
    let criteria = [("AC-1", "no-such-command --flag"), ("AC-2", "true"), ("AC-3", "kill -9 $$")];
    let evidence = bench.evidence(&criteria).await;
    let why = evidence.inconclusive.clone().unwrap();
    assert!(why.contains("AC-1: the checker cannot run (exit code 127)"), "{why}");
    assert!(why.contains("AC-3"), "{why}");
    assert_eq!(evidence.envelopes.len(), 1);
    assert!(matches!(bench.verdict(&evidence, &criteria), Verdict::Inconclusive { .. }));
}

/// G9: a verifier that hangs is ended by its limit, and that is not a failure of the work.
#[tokio::test]
async fn a_hanging_checker_is_ended_and_inconclusive() {
    let mut bench = Bench::new().await;
    let criteria = [("AC-1", "exec sleep 300"), ("AC-2", "true")];
    let mut attempt = bench.attempt(&criteria);
    attempt.limits.wall_clock_ms = 2_000;
    let LeaseEvent::Evidence(evidence) = bench.run(&attempt).await else { panic!("no evidence") };
    let why = evidence.inconclusive.clone().unwrap();
    assert!(why.contains("AC-1: the checker ran into its time limit"), "{why}");
    assert!(why.contains("AC-2: not run"), "{why}");
    assert!(matches!(bench.verdict(&evidence, &criteria), Verdict::Inconclusive { .. }));
}

/// G29: a checker that rewrites the tree under test is seen, also when it hides it from git.
#[tokio::test]
async fn a_checker_that_rewrites_the_tree_is_detected() {
    let mut bench = Bench::new().await;
    let hide = "echo fake > src/b.txt; git add -A; git -c user.name=x -c user.email=x commit -q -m x; true";
    let criteria = [("AC-1", hide), ("AC-2", "grep -q hello src/b.txt")];
    let evidence = bench.evidence(&criteria).await;
    let Verdict::Refuted { findings } = bench.verdict(&evidence, &criteria) else {
        panic!("not refuted")
    };
    assert_eq!(findings.len(), 1, "the next checker has a checkout of its own: {findings:?}");
    assert!(findings[0].contains("src/b.txt has other content"), "{findings:?}");
}

#[tokio::test]
async fn one_checker_leaves_nothing_for_the_next() {
    let mut bench = Bench::new().await;
    let criteria = [
        (
            "AC-1",
            "touch planted \"$HOME/planted\" \"$TMPDIR/planted\"; git config core.fsmonitor false",
        ),
        (
            "AC-2",
            "! test -e planted && ! test -e \"$HOME/planted\" && ! test -e \"$TMPDIR/planted\"",
        ),
        ("AC-3", "! git config core.fsmonitor"),
    ];
    let evidence = bench.evidence(&criteria).await;
    assert_eq!(bench.verdict(&evidence, &criteria), Verdict::Verified);
}

#[tokio::test]
async fn another_tree_than_the_one_named_is_refused() {
    let mut bench = Bench::new().await;
    bench.candidate.tree = TreeId::new("1".repeat(40)).unwrap();
    let attempt = bench.attempt(&[("AC-1", "true")]);
    let LeaseEvent::Failed(failed) = bench.run(&attempt).await else { panic!("not failed") };
    assert_eq!(failed.kind, FailureKind::Workspace);
    assert!(failed.reason.contains("the attempt names 1111"), "{}", failed.reason);
}

#[tokio::test]
async fn a_stop_ends_a_check_without_evidence() {
    let mut bench = Bench::new().await;
    *bench.stage.reply.lock().unwrap() = HeartbeatReply::Stop("superseded".to_owned());
    let attempt = bench.attempt(&[("AC-1", "exec sleep 300")]);
    let LeaseEvent::Failed(failed) = bench.run(&attempt).await else { panic!("not failed") };
    assert_eq!(failed.kind, FailureKind::Stopped);
}

/// B12: the container that produced it gives it back; another one takes it.
#[tokio::test]
async fn the_producers_container_does_not_verify() {
    let mut bench = Bench::new().await;
    let mut attempt = bench.attempt(&[("AC-1", "true")]);
    let Work::Verify(verification) = &mut attempt.work else { panic!("it verifies") };
    verification.worker_excluded = Some(ContainerName::new("c1").unwrap());
    bench.stage.bus.publish_attempt(&attempt).await.unwrap();
    let excluded = bench.spawn();
    let mut command = bench.stage.command("", "lease");
    let other = bench.stage.directory.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::os::unix::fs::symlink(
        bench.stage.directory.path().join("root/mirror"),
        other.join("mirror"),
    )
    .unwrap();
    let taker = command
        .args(["--root", other.to_str().unwrap()])
        .env("CANTUS_CONTAINER", "c2")
        .env("CANTUS_SIGNING_KEY", bench.key.to_pem())
        .spawn();
    exits_with(taker.unwrap(), 0).await;
    let LeaseEvent::Leased(leased) = bench.stage.next().await else { panic!("not leased") };
    assert_eq!(leased.container.as_str(), "c2");
    let LeaseEvent::Evidence(_) = bench.stage.next().await else { panic!("no evidence") };
    drop(excluded);
}

/// E5: what was learned is looked for in the candidate when all else is decided, and decides nothing.
#[tokio::test]
async fn learnings_are_looked_for_and_decide_nothing() {
    let mut bench = Bench::new().await;
    let criteria = [("AC-1", "grep -q hello src/b.txt")];
    let mut attempt = bench.attempt(&criteria);
    let learning = |rule: &str, check: Option<&str>| Learning {
        id: LearningId::of(rule),
        context: String::new(),
        discovery: String::new(),
        rule: rule.to_owned(),
        check: check.map(str::to_owned),
    };
    attempt.learnings = vec![
        learning("applied", Some("grep -q hello src/b.txt && echo gone > src/b.txt")),
        learning("not applied", Some("grep -q bye src/b.txt")),
        learning("unknown", None),
        learning("cannot be told", Some("no-such-command")),
        learning("fresh", Some("grep -q hello src/b.txt && test -z \"$CANTUS_SIGNING_KEY\"")),
    ];
    let LeaseEvent::Evidence(evidence) = bench.run(&attempt).await else { panic!("no evidence") };
    let check = |rule: &str, applied| LearningCheck { id: LearningId::of(rule), applied };
    assert_eq!(
        evidence.learnings,
        [check("applied", true), check("not applied", false), check("fresh", true)]
    );
    assert_eq!(evidence.inconclusive, None);
    assert_eq!(bench.verdict(&evidence, &criteria), Verdict::Verified);
}

/// A learning whose check hangs costs neither the evidence nor more than the time there is.
#[tokio::test]
async fn a_learning_that_hangs_costs_no_evidence() {
    let mut bench = Bench::new().await;
    let criteria = [("AC-1", "true")];
    let mut attempt = bench.attempt(&criteria);
    attempt.limits.wall_clock_ms = 3_000;
    attempt.learnings = vec![Learning {
        id: LearningId::of("hang"),
        context: String::new(),
        discovery: String::new(),
        rule: "hang".to_owned(),
        check: Some("exec sleep 300".to_owned()),
    }];
    let LeaseEvent::Evidence(evidence) = bench.run(&attempt).await else { panic!("no evidence") };
    assert_eq!(evidence.learnings, []);
    assert_eq!(bench.verdict(&evidence, &criteria), Verdict::Verified);
}
