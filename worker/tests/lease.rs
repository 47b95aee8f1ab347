//! The worker's binary on a real bus: every way in which a lease can end.

#![expect(
    clippy::unwrap_used,
    reason = "a test ends at the first thing that is not as it should be"
)]

#[expect(dead_code, reason = "shared with other tests; each uses a part")]
mod support;

use std::time::Duration;

use cantus_proto::message::{
    Commits, Defect, Exit, FailureKind, HeartbeatReply, Isolation, LeaseEvent, Proposal, Work,
};
use support::{MIB, PATIENCE, ROLE, Stage, exits_with, git, until};

const BINARY: &str = env!("CARGO_BIN_EXE_cantus-worker");

async fn stage() -> Stage {
    Stage::new(BINARY, "worker").await
}

/// Publishes an attempt, starts a worker on it, and sees that it leased.
async fn leased(stage: &mut Stage, work: Work, script: &str) -> tokio::process::Child {
    let attempt = stage.attempt(work, &[("AC-1", "true")]);
    stage.bus.publish_attempt(&attempt).await.unwrap();
    let child = stage.spawn(script, "lease");
    match stage.next().await {
        LeaseEvent::Leased(leased) => {
            assert_eq!(leased.isolation, Isolation::Process);
            assert_eq!((leased.container.as_str(), leased.image.as_str()), ("c1", "image"));
            assert_eq!(leased.base.as_ref(), Some(&stage.base));
        }
        other => panic!("{other:?}"),
    }
    child
}

#[tokio::test]
async fn a_shell_script_is_a_complete_agent() {
    let mut stage = stage().await;
    let script = r#"
        set -e
        echo "$HOME $TMPDIR"; test -d "$HOME"; test -d "$TMPDIR"; test -z "$SECRET"
        test "$CANTUS_RUN/$CANTUS_ITEM/$CANTUS_ATTEMPT" = run/item/1
        test -z "$CANTUS_BUS_PASSWORD"; test -z "$CANTUS_COMMAND"
        grep -q '^goal: "Say hello"$' "$CANTUS_CONTRACT"; grep -q 'AC-1' "$CANTUS_PROMPT"
        git log --format=%s -1 | grep -q base
        echo hello > src/b.txt; git add -A; git commit -q -m mine
        echo loose > src/c.txt
        echo '{"text":"half way"}' >> "$CANTUS_OUTBOX/progress.jsonl"
        echo '{"text":"all tests pass","criterion":"AC-1"}' >> "$CANTUS_OUTBOX/claims.jsonl"
        echo '{"input_tokens":3,"output_tokens":2,"cost_usd":0.5}' >> "$CANTUS_OUTBOX/usage.jsonl"
    "#;
    let child = leased(&mut stage, Work::Produce, script).await;
    exits_with(child, 0).await;
    let LeaseEvent::Result(result) = stage.next().await else { panic!("no result") };
    assert_eq!(result.base, stage.base);
    assert_eq!(result.claims[0].text, "all tests pass");
    assert_eq!(result.usage.unwrap().input_tokens, 3);
    assert_eq!(result.receipts[0].exit, Exit::Code(0));
    stage.receive(&result.bundle.unwrap()).await;
    assert_eq!((stage.got("src/b.txt"), stage.got("src/c.txt")), ("hello".into(), "loose".into()));
    let log = git(&stage.source, &["log", "--format=%s", "refs/got/heads/work"]);
    assert_eq!(log, "Work left uncommitted\nmine\nbase");
    assert!(
        String::from_utf8(stage.blob(&result.log.unwrap()).await)
            .unwrap()
            .contains("/cantus/rooms/0/home")
    );
    let depth =
        stage.bus.queue_depth(&cantus_proto::ids::RoleName::new(ROLE).unwrap()).await.unwrap();
    assert_eq!(
        format!("{depth:?}").matches(": 0").count(),
        format!("{depth:?}").matches(": ").count(),
        "{depth:?}"
    );
}

/// The script of docs/AGENTS.md, as it stands there.
#[tokio::test]
async fn the_documented_agent_works() {
    let mut stage = stage().await;
    let document = include_str!("../../docs/AGENTS.md");
    let script = document.split("```").find_map(|block| block.strip_prefix("sh\n")).unwrap();
    let child = leased(&mut stage, Work::Produce, script).await;
    exits_with(child, 0).await;
    let LeaseEvent::Result(result) = stage.next().await else { panic!("no result") };
    assert_eq!(result.findings, Vec::<String>::new());
    assert_eq!((result.claims.len(), result.learnings.len()), (1, 1));
    assert_eq!(result.proposals, [Proposal::Done]);
    stage.receive(&result.bundle.unwrap()).await;
    assert_eq!(stage.got("src/hello.txt"), "hello");
}

#[tokio::test]
async fn nothing_done_is_an_empty_result() {
    let mut stage = stage().await;
    let child = leased(&mut stage, Work::Produce, "true").await;
    exits_with(child, 0).await;
    let LeaseEvent::Result(result) = stage.next().await else { panic!("no result") };
    assert_eq!((result.head, result.bundle, result.usage), (stage.base, None, None));
}

#[tokio::test]
async fn a_failed_agents_work_is_saved_first() {
    let mut stage = stage().await;
    let child =
        leased(&mut stage, Work::Produce, "echo half > src/b.txt; echo no luck >&2; exit 3").await;
    exits_with(child, 0).await;
    let LeaseEvent::Saved(saved) = stage.next().await else { panic!("not saved") };
    stage.receive(&saved.commits.bundle).await;
    assert_eq!(stage.got("src/b.txt"), "half");
    let LeaseEvent::Failed(failed) = stage.next().await else { panic!("not failed") };
    assert_eq!(failed.kind, FailureKind::Agent);
    assert_eq!(failed.reason, "the agent's command exited with code 3; its last line: no luck");
    assert!(failed.log.is_some());
}

#[tokio::test]
async fn a_command_that_is_not_there_is_the_agents_failure() {
    let mut stage = stage().await;
    let attempt = stage.attempt(Work::Produce, &[("AC-1", "true")]);
    stage.bus.publish_attempt(&attempt).await.unwrap();
    let mut command = stage.command("", "lease");
    let child = command.env("CANTUS_COMMAND", "[\"no-such-agent\"]").spawn().unwrap();
    exits_with(child, 0).await;
    let LeaseEvent::Leased(_) = stage.next().await else { panic!("not leased") };
    let LeaseEvent::Failed(failed) = stage.next().await else { panic!("not failed") };
    assert_eq!(failed.kind, FailureKind::Agent);
    assert!(failed.reason.contains("no-such-agent"), "{}", failed.reason);
}

#[tokio::test]
async fn a_stop_is_obeyed_and_the_work_saved() {
    let mut stage = stage().await;
    let child = leased(&mut stage, Work::Produce, "echo half > src/b.txt; exec sleep 300").await;
    let tree = stage.directory.path().join("root/work/tree/src/b.txt");
    until(|| tree.exists()).await;
    *stage.reply.lock().unwrap() = HeartbeatReply::Stop("cancelled".to_owned());
    exits_with(child, 0).await;
    let LeaseEvent::Saved(saved) = stage.next().await else { panic!("not saved") };
    stage.receive(&saved.commits.bundle).await;
    assert_eq!(stage.got("src/b.txt"), "half");
    let LeaseEvent::Failed(failed) = stage.next().await else { panic!("not failed") };
    assert_eq!(
        (failed.kind, failed.reason.as_str()),
        (FailureKind::Stopped, "told to stop: cancelled")
    );
}

#[tokio::test]
async fn the_wall_clock_ends_it_and_the_work_is_saved() {
    let mut stage = stage().await;
    let mut attempt = stage.attempt(Work::Produce, &[("AC-1", "true")]);
    attempt.limits.wall_clock_ms = 2_000;
    stage.bus.publish_attempt(&attempt).await.unwrap();
    let child = stage.spawn("echo half > src/b.txt; exec sleep 300", "lease");
    exits_with(child, 0).await;
    let LeaseEvent::Leased(_) = stage.next().await else { panic!("not leased") };
    let LeaseEvent::Saved(_) = stage.next().await else { panic!("not saved") };
    let LeaseEvent::Failed(failed) = stage.next().await else { panic!("not failed") };
    assert_eq!(failed.kind, FailureKind::Timeout);
}

/// W1: the worker is killed with commits on a detached HEAD and an untracked file; salvage saves both, once.
#[tokio::test]
async fn a_killed_workers_work_is_salvaged() {
    let mut stage = stage().await;
    let script = "git checkout -q --detach; echo a > src/b.txt; git add -A; git commit -q -m mine; \
                  echo u > src/untracked.txt; echo $$ > ../pid; touch ../ready; exec sleep 300";
    let mut child = leased(&mut stage, Work::Produce, script).await;
    let work = stage.directory.path().join("root/work");
    until(|| work.join("ready").exists()).await;
    child.kill().await.unwrap();
    let refused = exits_with(stage.spawn("true", "lease"), 3).await;
    assert!(refused.contains("unsaved work"), "{refused}");
    exits_with(stage.spawn("", "salvage"), 0).await;
    let LeaseEvent::Saved(saved) = stage.next().await else { panic!("not saved") };
    let Commits { bundle, base, head } = saved.commits;
    assert_eq!(base, stage.base);
    stage.receive(&bundle).await;
    assert_eq!(git(&stage.source, &["rev-parse", "refs/got/heads/work"]), head.as_str());
    assert_eq!((stage.got("src/b.txt"), stage.got("src/untracked.txt")), ("a".into(), "u".into()));
    let again = exits_with(stage.spawn("", "salvage"), 0).await;
    assert!(again.contains("nothing to save"), "{again}");
    // The orphaned agent is ours to end.
    let pid = std::fs::read_to_string(work.join("pid")).unwrap().trim().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

/// W6: the bus goes away while the agent works and comes back later; the hand-in is tried until it is there.
#[tokio::test]
async fn a_hand_in_outlives_the_bus() {
    let mut stage = stage().await;
    let script =
        "echo late > src/b.txt; touch ../ready; while ! test -e ../go; do sleep 0.05; done";
    let child = leased(&mut stage, Work::Produce, script).await;
    let work = stage.directory.path().join("root/work");
    until(|| work.join("ready").exists()).await;
    stage.nats.kill();
    std::fs::write(work.join("go"), "").unwrap();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(!work.join("entry/handed-in").exists());
    stage.nats.restart();
    exits_with(child, 0).await;
    let LeaseEvent::Result(result) = stage.next().await else { panic!("no result") };
    stage.receive(&result.bundle.unwrap()).await;
    assert_eq!(stage.got("src/b.txt"), "late");
    assert!(work.join("entry/handed-in").exists());
}

#[tokio::test]
async fn a_drained_worker_without_a_lease_ends_at_once() {
    let stage = stage().await;
    let child = stage.spawn("true", "lease");
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap()).unwrap();
    until(|| stage.directory.path().join("root/tmp/cantus/outbox").exists()).await;
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let said = exits_with(child, 0).await;
    assert!(said.contains("drained"), "{said}");
}

#[tokio::test]
async fn a_drained_worker_with_a_lease_finishes_it() {
    let mut stage = stage().await;
    let script =
        "touch ../ready; while ! test -e ../go; do sleep 0.05; done; echo done > src/b.txt";
    let child = leased(&mut stage, Work::Produce, script).await;
    let work = stage.directory.path().join("root/work");
    until(|| work.join("ready").exists()).await;
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    std::fs::write(work.join("go"), "").unwrap();
    exits_with(child, 0).await;
    let LeaseEvent::Result(result) = stage.next().await else { panic!("no result") };
    assert!(result.bundle.is_some());
}

#[tokio::test]
async fn a_repair_sees_the_diff_and_can_take_the_refuted_work() {
    let mut stage = stage().await;
    git(&stage.source, &["checkout", "-q", "-b", "refuted"]);
    std::fs::write(stage.source.join("src/b.txt"), "wrong\n").unwrap();
    git(&stage.source, &["add", "-A"]);
    git(&stage.source, &["commit", "-q", "-m", "refuted"]);
    let file = stage.directory.path().join("defect.bundle");
    git(&stage.source, &["bundle", "create", "-q", file.to_str().unwrap(), "main..refuted"]);
    let bundle = std::fs::read(&file).unwrap();
    let bundle = stage.bus.put_blob(&bundle, MIB, PATIENCE).await.unwrap();
    let head =
        cantus_proto::ids::CommitId::new(git(&stage.source, &["rev-parse", "refuted"])).unwrap();
    let defect = Defect {
        summary: "AC-1 failed".to_owned(),
        findings: vec!["AC-1: exit code 1".to_owned()],
        work: Some(Commits { bundle, base: stage.base.clone(), head }),
    };
    let script = r#"
        set -e
        grep -q '^+wrong$' "$CANTUS_PROMPT"; grep -q 'AC-1: exit code 1' "$CANTUS_PROMPT"
        test ! -e src/b.txt
        git cherry-pick "$CANTUS_DEFECT_BASE..$CANTUS_DEFECT_HEAD" > /dev/null
        test "$(git rev-parse refs/cantus/defect)" = "$CANTUS_DEFECT_HEAD"
        echo right > src/b.txt
    "#;
    let child = leased(&mut stage, Work::Repair(defect), script).await;
    exits_with(child, 0).await;
    let LeaseEvent::Result(result) = stage.next().await else { panic!("no result") };
    stage.receive(&result.bundle.unwrap()).await;
    assert_eq!(stage.got("src/b.txt"), "right");
}

/// W4: `.git` vanishes; the attempt fails for its workspace, and the files are saved.
#[tokio::test]
async fn a_vanished_repository_is_the_workspaces_failure() {
    let mut stage = stage().await;
    let child = leased(&mut stage, Work::Produce, "echo kept > src/b.txt; rm -rf .git").await;
    exits_with(child, 0).await;
    let LeaseEvent::Saved(saved) = stage.next().await else { panic!("not saved") };
    stage.receive(&saved.commits.bundle).await;
    assert_eq!(stage.got("src/b.txt"), "kept");
    let LeaseEvent::Failed(failed) = stage.next().await else { panic!("not failed") };
    assert_eq!(failed.kind, FailureKind::Workspace);
    assert!(failed.reason.contains("vanished"), "{}", failed.reason);
}

/// W27: too large is said with the biggest offenders.
#[tokio::test]
async fn a_result_over_the_limit_is_refused_by_name() {
    let mut stage = stage().await;
    let script = "head -c 2000000 /dev/urandom > big.bin; echo small > src/b.txt";
    let child = leased(&mut stage, Work::Produce, script).await;
    exits_with(child, 0).await;
    let LeaseEvent::Failed(failed) = stage.next().await else { panic!("not failed") };
    assert_eq!(failed.kind, FailureKind::TooLarge);
    assert!(failed.reason.contains("big.bin (2000000 bytes)"), "{}", failed.reason);
}

/// W9: the base is the mirror's head when it contains the commit asked for.
#[tokio::test]
async fn the_base_is_where_the_mirror_is_now() {
    let mut stage = stage().await;
    std::fs::write(stage.source.join("src/a.txt"), "two\n").unwrap();
    git(&stage.source, &["commit", "-q", "-a", "-m", "moved"]);
    let mirror =
        stage.directory.path().join("root/mirror").join(format!("{}.git", stage.repository));
    git(&stage.source, &["push", "-q", mirror.to_str().unwrap(), "main"]);
    git(&mirror, &["pack-refs", "--all"]);
    let attempt = stage.attempt(Work::Produce, &[("AC-1", "true")]);
    stage.bus.publish_attempt(&attempt).await.unwrap();
    exits_with(stage.spawn("grep -q two src/a.txt", "lease"), 0).await;
    let LeaseEvent::Leased(leased) = stage.next().await else { panic!("not leased") };
    assert_eq!(leased.base.unwrap().as_str(), git(&stage.source, &["rev-parse", "HEAD"]));
    let LeaseEvent::Result(_) = stage.next().await else { panic!("no result") };
}

#[tokio::test]
async fn wrong_credentials_are_told_at_once() {
    let stage = stage().await;
    let mut command = stage.command("true", "lease");
    let child = command.env("CANTUS_BUS_PASSWORD", "wrong").spawn().unwrap();
    let said = exits_with(child, 1).await;
    assert!(said.contains("refused the credentials"), "{said}");
}
