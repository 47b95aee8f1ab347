//! What a working agent shows, and what reaches it while it works.

#![expect(
    clippy::unwrap_used,
    reason = "a test ends at the first thing that is not as it should be"
)]

#[expect(dead_code, reason = "shared with other tests; each uses a part")]
mod support;

use std::time::Duration;

use cantus_proto::ids::LearningId;
use cantus_proto::message::{
    FailureKind, HeartbeatReply, Learning, LeaseEvent, ModelTokens, Proposal, Pulse, Route, Usage,
    Work,
};
use cantus_proto::plan::Effort;
use cantus_proto::units::MicroUsd;
use support::{PATIENCE, Stage, exits_with, git};

const BINARY: &str = env!("CARGO_BIN_EXE_cantus-worker");

/// Starts an attempt that is looked at as often as can be.
async fn spawn(stage: &mut Stage, script: &str) -> tokio::process::Child {
    let mut attempt = stage.attempt(Work::Produce, &[("AC-1", "true")]);
    attempt.limits.window_ms = 40;
    stage.bus.publish_attempt(&attempt).await.unwrap();
    let child = stage.spawn(script, "lease");
    let LeaseEvent::Leased(_) = stage.next().await else { panic!("not leased") };
    child
}

/// Waits for a pulse that is as it should be.
async fn pulse(stage: &Stage, fits: impl Fn(&Pulse) -> bool) -> Pulse {
    let waiting = async {
        loop {
            let beat = stage.beat.lock().unwrap().clone();
            if let Some(pulse) = beat.and_then(|beat| beat.pulse).filter(&fits) {
                return pulse;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.expect("such a pulse comes")
}

#[tokio::test]
async fn the_pulse_shows_work_and_words_so_far() {
    let mut stage = Stage::new(BINARY, "worker").await;
    let script = r#"
        set -e
        echo one > src/b.txt; git add -A; git commit -q -m one; echo two > src/c.txt
        cd "$CANTUS_OUTBOX"
        echo '{"text":"a"}' > claims.jsonl
        echo '{"input_tokens":3,"output_tokens":2,"model":"m"}' > usage.jsonl
        echo '{"score":0.5,"blocker":"no net","next":"mock it","iteration":2}' > progress.jsonl
        cd "$OLDPWD"
        while ! test -e ../more; do sleep 0.05; done
        echo three > src/c.txt; git reset -q --hard "$CANTUS_BASE"
        echo '{"score":0.4,"blocker":null}' >> "$CANTUS_OUTBOX/progress.jsonl"
        while ! test -e ../go; do sleep 0.05; done
    "#;
    let child = spawn(&mut stage, script).await;
    let all_there = |pulse: &Pulse| {
        pulse.changed_count == 2 && pulse.blocker.is_some() && pulse.usage.is_some()
    };
    let seen = pulse(&stage, all_there).await;
    assert_eq!((seen.commits, seen.evidence, seen.iterations), (1, 1, 2));
    assert_eq!(seen.changed, [b"src/b.txt".to_vec(), b"src/c.txt".to_vec()]);
    assert_eq!((seen.score, seen.blocker.as_deref()), (Some(0.5), Some("no net")));
    assert_eq!(seen.next_action.as_deref(), Some("mock it"));
    let unpriced = ModelTokens { model: "m".to_owned(), input_tokens: 3, output_tokens: 2 };
    let usage =
        Usage { input_tokens: 3, output_tokens: 2, cost: MicroUsd(0), unpriced: vec![unpriced] };
    assert_eq!(seen.usage, Some(usage));
    let work = stage.directory.path().join("root/work");
    std::fs::write(work.join("more"), "").unwrap();
    let later =
        pulse(&stage, |pulse| pulse.blocker.is_none() && pulse.fingerprint != seen.fingerprint)
            .await;
    // What was done was done, also when it is taken back.
    assert_eq!((later.commits, later.score), (1, Some(0.5)));
    std::fs::write(work.join("go"), "").unwrap();
    exits_with(child, 0).await;
}

/// W17: the agent commits 50 times while we look at its work ten times a second and more; all 50 are there.
#[tokio::test]
async fn looking_never_costs_a_commit_w17() {
    let mut stage = Stage::new(BINARY, "worker").await;
    let script = r#"
        set -e
        n=0
        while test $n -lt 50; do
            n=$((n + 1)); echo $n > src/b.txt; echo $n > src/$n.txt; git add -A; git commit -q -m "$n"
        done
        touch ../done
        while ! test -e ../go; do sleep 0.05; done
    "#;
    let child = spawn(&mut stage, script).await;
    let work = stage.directory.path().join("root/work");
    let tree = work.join("tree");
    let mut looks = 0;
    let polling = async {
        let mut ticks = tokio::time::interval(Duration::from_millis(50));
        while !work.join("done").exists() {
            ticks.tick().await;
            if !tree.join(".git/hooks").exists() {
                continue;
            }
            let looked = tokio::process::Command::new(BINARY)
                .args(["workspace-pulse", "--tree", tree.to_str().unwrap()])
                .args(["--base", stage.base.as_str()])
                .output()
                .await
                .unwrap();
            looks += i32::from(looked.status.success());
        }
    };
    tokio::time::timeout(PATIENCE, polling).await.expect("the agent can commit");
    assert!(looks >= 5, "only {looks} looks");
    assert_eq!(pulse(&stage, |pulse| pulse.commits == 50).await.changed_count, 51);
    std::fs::write(work.join("go"), "").unwrap();
    exits_with(child, 0).await;
    let LeaseEvent::Result(result) = stage.next().await else { panic!("no result") };
    stage.receive(&result.bundle.unwrap()).await;
    let range = format!("{}..refs/got/heads/work", stage.base);
    assert_eq!(git(&stage.source, &["rev-list", "--count", &range]), "50");
}

/// B4, B8: what the kernel demands reaches the agent once and in order.
#[tokio::test]
async fn demands_reach_the_agent_once_and_in_order() {
    let mut stage = Stage::new(BINARY, "worker").await;
    let script = r#"
        set -e
        test ! -s "$CANTUS_DEMANDS"; touch ../ready
        while ! test -s "$CANTUS_DEMANDS"; do sleep 0.05; done; touch ../first
        while test "$(wc -l < "$CANTUS_DEMANDS")" -lt 2; do sleep 0.05; done
        while ! test -e ../go; do sleep 0.05; done
        cp "$CANTUS_DEMANDS" src/b.txt
        ! echo mine >> "$CANTUS_DEMANDS" || test -w "$CANTUS_DEMANDS"
    "#;
    let child = spawn(&mut stage, script).await;
    let work = stage.directory.path().join("root/work");
    let demand =
        |texts: &[&str]| HeartbeatReply::GoOn(texts.iter().map(|t| (*t).to_owned()).collect());
    support::until(|| work.join("ready").exists()).await;
    *stage.reply.lock().unwrap() = demand(&["a \"small\" thing now"]);
    support::until(|| work.join("first").exists()).await;
    *stage.reply.lock().unwrap() = demand(&["a \"small\" thing now", "another\nway"]);
    // Said again at each heartbeat, and by a coordinator that has only just come back.
    pulse(&stage, |_| true).await;
    *stage.reply.lock().unwrap() = demand(&[]);
    *stage.beat.lock().unwrap() = None;
    pulse(&stage, |_| true).await;
    *stage.reply.lock().unwrap() = demand(&["a \"small\" thing now", "another\nway"]);
    *stage.beat.lock().unwrap() = None;
    pulse(&stage, |_| true).await;
    std::fs::write(work.join("go"), "").unwrap();
    exits_with(child, 0).await;
    let LeaseEvent::Result(result) = stage.next().await else { panic!("no result") };
    stage.receive(&result.bundle.unwrap()).await;
    assert_eq!(
        stage.got("src/b.txt"),
        "{\"text\":\"a \\\"small\\\" thing now\"}\n{\"text\":\"another\\nway\"}"
    );
}

/// B14, E3, E5, E9: an agent is told its model, its effort, its limits, what went before and what was learned.
#[tokio::test]
async fn an_agent_is_told_its_route_its_limits_and_what_was_learned() {
    let mut stage = Stage::new(BINARY, "worker").await;
    let mut attempt = stage.attempt(Work::Produce, &[("AC-1", "true")]);
    attempt.route = Route { model: "strong-1".to_owned(), effort: Effort::High };
    attempt.preamble = Some("Five rounds brought no commit.".to_owned());
    attempt.limits.tokens_max = Some(700);
    attempt.limits.cost_max = Some(MicroUsd(1_250_000));
    attempt.learnings = vec![Learning {
        id: LearningId::of("use spaces"),
        context: "makefiles".to_owned(),
        discovery: "it broke".to_owned(),
        rule: "use spaces".to_owned(),
        check: None,
    }];
    stage.bus.publish_attempt(&attempt).await.unwrap();
    let script = r#"
        set -e
        test "$CANTUS_MODEL/$CANTUS_EFFORT" = strong-1/high
        test "$CANTUS_TOKENS_MAX/$CANTUS_COST_USD_MAX" = 700/1.25
        head -3 "$CANTUS_PROMPT" | grep -q 'Five rounds brought no commit'
        grep -q 'Rule: use spaces' "$CANTUS_PROMPT"; grep -q '700 tokens and $1.25' "$CANTUS_PROMPT"
    "#;
    let child = stage.spawn(script, "lease");
    exits_with(child, 0).await;
    let LeaseEvent::Leased(_) = stage.next().await else { panic!("not leased") };
    let LeaseEvent::Result(result) = stage.next().await else { panic!("no result") };
    assert_eq!(result.receipts[0].environment["CANTUS_MODEL"], "strong-1");
    assert_eq!(result.usage, None);
}

#[tokio::test]
async fn a_role_without_a_model_has_used_nothing_for_certain() {
    let mut stage = Stage::new(BINARY, "worker").await;
    let attempt = stage.attempt(Work::Produce, &[("AC-1", "true")]);
    stage.bus.publish_attempt(&attempt).await.unwrap();
    let mut command = stage.command("test -z \"$CANTUS_MODEL$CANTUS_USAGE\"", "lease");
    exits_with(command.env("CANTUS_USAGE", "none").spawn().unwrap(), 0).await;
    let LeaseEvent::Leased(_) = stage.next().await else { panic!("not leased") };
    let LeaseEvent::Result(result) = stage.next().await else { panic!("no result") };
    assert_eq!(result.usage, Some(Usage::default()));
}

/// A failure says what was used and learned as well: it is paid for all the same.
#[tokio::test]
async fn a_failure_keeps_what_was_used_learned_and_wished() {
    let mut stage = Stage::new(BINARY, "worker").await;
    let script = r#"
        cd "$CANTUS_OUTBOX"
        echo '{"input_tokens":3,"output_tokens":2,"cost_usd":0.5}' > usage.jsonl
        echo '{"rule":"never again"}' > learnings.jsonl
        echo '{"propose":"partial","reason":"no luck"}' > proposals.jsonl
        exit 3
    "#;
    let child = spawn(&mut stage, script).await;
    exits_with(child, 0).await;
    let LeaseEvent::Failed(failed) = stage.next().await else { panic!("not failed") };
    assert_eq!(failed.kind, FailureKind::Agent);
    assert_eq!(failed.usage.unwrap().cost, MicroUsd(500_000));
    assert_eq!(failed.learnings[0].id, LearningId::of("never again"));
    assert_eq!(failed.proposals, [Proposal::Partial("no luck".to_owned())]);
    let phases: Vec<&str> = failed.phases.iter().map(|phase| phase.name.as_str()).collect();
    assert_eq!(phases, ["workspace", "agent", "collection"]);
}
