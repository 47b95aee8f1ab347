//! The project's own checks around a real agent: before each commit, at each write, and before the hand-in.

#![expect(
    clippy::unwrap_used,
    reason = "a test ends at the first thing that is not as it should be"
)]

#[expect(dead_code, reason = "shared with other tests; each uses a part")]
mod support;

use cantus_proto::message::{Exit, FailureKind, LeaseEvent, Work, WorkResult};
use support::{Stage, exits_with, git};

const BINARY: &str = env!("CARGO_BIN_EXE_cantus-worker");

/// Fails while a file says `bad`; a test that leaves something behind, as many do.
const CHECKS: &str = "version: 1\nlint: '! grep -rn bad src'\n\
    test: 'echo run >> \"$HOME/tests\"; touch src/cache.pyc; ! grep -rn wrong src'\n";

async fn stage(checks: &str) -> Stage {
    let mut stage = Stage::new(BINARY, "worker").await;
    stage.land("cantus-checks.yaml", checks);
    stage
}

/// Runs one attempt; what comes after its lease.
async fn run(stage: &mut Stage, script: &str) -> LeaseEvent {
    let attempt = stage.attempt(Work::Produce, &[("AC-1", "true")]);
    stage.bus.publish_attempt(&attempt).await.unwrap();
    exits_with(stage.spawn(script, "lease"), 0).await;
    let LeaseEvent::Leased(_) = stage.next().await else { panic!("not leased") };
    stage.next().await
}

async fn result(stage: &mut Stage, script: &str) -> WorkResult {
    match run(stage, script).await {
        LeaseEvent::Result(result) => result,
        other => panic!("{other:?}"),
    }
}

fn purposes(result: &WorkResult) -> Vec<&str> {
    result.receipts.iter().map(|receipt| receipt.purpose.as_str()).collect()
}

/// E7: silent on success, and nothing of the checks is in the result.
#[tokio::test]
async fn checks_that_pass_are_silent_and_leave_nothing() {
    let mut stage = stage(CHECKS).await;
    let result = result(&mut stage, "echo good > src/b.txt; echo x > src/own.pyc").await;
    assert_eq!(purposes(&result), ["agent", "lint", "test"]);
    assert_eq!(result.findings, Vec::<String>::new());
    let phases: Vec<&str> = result.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(phases, ["workspace", "agent", "checks", "collection"]);
    stage.receive(&result.bundle.unwrap()).await;
    let files = git(&stage.source, &["ls-tree", "-r", "--name-only", "refs/got/heads/work"]);
    assert_eq!(files, "cantus-checks.yaml\nsrc/a.txt\nsrc/b.txt\nsrc/own.pyc");
}

/// E7: what fails comes back to the agent, which mends it in its next round.
#[tokio::test]
async fn what_fails_is_given_back_to_the_agent() {
    let mut stage = stage(CHECKS).await;
    let script = r#"
        set -e
        if test -z "$CANTUS_FEEDBACK"; then
            ! grep -q 'checks failed' "$CANTUS_PROMPT"
            echo 'bad and wrong' > src/b.txt; exit 0
        fi
        grep -q '^# The project.s checks failed (round 2 of 3)' "$CANTUS_PROMPT"
        grep -q '^# lint exited with code 1' "$CANTUS_FEEDBACK"
        grep -q '^# test exited with code 1' "$CANTUS_FEEDBACK"
        grep -q 'src/b.txt:1:bad and wrong' "$CANTUS_FEEDBACK"
        test "$(cat src/b.txt)" = 'bad and wrong'; test ! -e src/cache.pyc
        echo good > src/b.txt
    "#;
    let result = result(&mut stage, script).await;
    assert_eq!(purposes(&result), ["agent", "lint", "test", "agent", "lint", "test"]);
    assert_eq!(result.receipts[1].exit, Exit::Code(1));
    assert_eq!(result.receipts[1].argv.last().unwrap(), "! grep -rn bad src");
    assert_eq!(result.receipts[4].exit, Exit::Code(0));
    assert_eq!(result.findings, Vec::<String>::new());
    let log = String::from_utf8(stage.blob(&result.log.unwrap()).await).unwrap();
    assert!(log.contains("== lint: ! grep -rn bad src\nsrc/b.txt:1:bad and wrong"), "{log}");
    stage.receive(&result.bundle.unwrap()).await;
    assert_eq!(stage.got("src/b.txt"), "good");
}

/// E7: an agent that cannot mend it is started twice more; then the verifier decides.
#[tokio::test]
async fn what_still_fails_is_handed_in_with_a_finding() {
    let mut stage = stage(CHECKS).await;
    let script =
        "echo bad >> src/b.txt; echo '{\"text\":\"mine\"}' >> $CANTUS_OUTBOX/findings.jsonl";
    let result = result(&mut stage, script).await;
    assert_eq!(purposes(&result), ["agent", "lint", "test"].repeat(3));
    let lint = "checks failed: lint exited with code 1; at its end: src/b.txt:1:bad";
    assert!(result.findings[0].starts_with(lint), "{:?}", result.findings);
    assert_eq!(result.findings[1..], ["mine", "mine", "mine"]);
    stage.receive(&result.bundle.unwrap()).await;
    assert_eq!(stage.got("src/b.txt"), "bad\nbad\nbad");
}

/// The file of the base holds, whatever the agent makes of it.
#[tokio::test]
async fn an_agent_cannot_choose_its_checks() {
    let mut stage = stage(CHECKS).await;
    let script = "echo bad > src/b.txt; printf 'version: 1\\n' > cantus-checks.yaml";
    let result = result(&mut stage, script).await;
    assert_eq!(purposes(&result), ["agent", "lint", "test"].repeat(3));
    assert!(result.findings[0].starts_with("checks failed: lint"), "{:?}", result.findings);
}

/// E7: at a commit lint runs and markers are looked for; at a write lint runs; our own collection runs neither.
#[tokio::test]
async fn hooks_block_what_should_not_be_committed_and_not_our_own_collection() {
    let mut stage =
        stage("version: 1\nlint: 'test -z \"$GIT_INDEX_FILE\" && ! grep -rn bad src'\ntest: 'touch ran; exit 1'\n").await;
    let script = r##"
        if test -n "$CANTUS_FEEDBACK"; then exit 0; fi
        set -e
        refused() { if "$@" 2> ../said; then echo "passed: $*"; exit 1; fi; }
        echo good > src/b.txt; git add -A; git commit -q -m good; "$CANTUS_CHECK"; "$CANTUS_CHECK" commit
        echo bad > src/c.txt; git add -A
        refused git commit -q -m bad; grep -q 'lint exited with code 1' ../said; grep -q 'src/c.txt:1:bad' ../said
        refused "$CANTUS_CHECK"; grep -q 'lint exited with code 1' ../said
        echo '# TODO: more' > src/c.txt
        "$CANTUS_CHECK"
        refused git commit -q -a -m later; grep -q 'src/c.txt:1 adds TODO' ../said
        echo '#[ignore]' > src/c.txt
        refused git commit -q src/c.txt -m skipped; grep -q 'src/c.txt:1 adds #\[ignore' ../said
        test "$(git rev-list --count HEAD)" = 3; test ! -e ran
        echo bad > src/c.txt
    "##;
    let result = result(&mut stage, script).await;
    assert_eq!(result.receipts[0].exit, Exit::Code(0));
    stage.receive(&result.bundle.unwrap()).await;
    assert_eq!(stage.got("src/c.txt"), "bad");
    let log = git(&stage.source, &["log", "--format=%s", "refs/got/heads/work"]);
    assert_eq!(log, "Work left uncommitted\ngood\nchange\nbase");
}

/// Without the file nothing of this is there.
#[tokio::test]
async fn without_the_file_there_are_no_hooks_and_no_checks() {
    let mut stage = Stage::new(BINARY, "worker").await;
    let script = "test -z \"$CANTUS_CHECK$CANTUS_FEEDBACK\" && test ! -e .git/hooks/pre-commit && \
                  echo '// TODO' > src/b.txt && git add -A && git commit -q -m mine";
    let result = result(&mut stage, script).await;
    assert_eq!(purposes(&result), ["agent"]);
}

#[tokio::test]
async fn a_file_that_is_not_understood_is_refused_before_any_agent_runs() {
    let mut stage = stage("version: 1\ntests: make\n").await;
    let LeaseEvent::Failed(failed) = run(&mut stage, "touch ../ran").await else {
        panic!("not failed")
    };
    assert_eq!(failed.kind, FailureKind::Workspace);
    assert!(failed.reason.contains("cantus-checks.yaml of the commit"), "{}", failed.reason);
    assert!(failed.reason.contains("tests"), "{}", failed.reason);
    assert!(!stage.directory.path().join("root/work/ran").exists());
}

/// A check that hangs is ended by its limit, and that is a failure as any other.
#[tokio::test]
async fn a_check_that_hangs_is_ended_and_told() {
    let mut stage =
        stage("version: 1\nbuild: {command: 'exec sleep 300', timeout_seconds: 1}\n").await;
    let script = "test -z \"$CANTUS_FEEDBACK\" || exit 3; echo good > src/b.txt";
    let LeaseEvent::Saved(saved) = run(&mut stage, script).await else { panic!("not saved") };
    stage.receive(&saved.commits.bundle).await;
    let LeaseEvent::Failed(failed) = stage.next().await else { panic!("not failed") };
    // The agent gave up in its second round, which is its own failure.
    assert_eq!(
        (failed.kind, failed.reason.as_str()),
        (FailureKind::Agent, "the agent's command exited with code 3")
    );
}
