//! The worker's binary in a real container: what an agent can and cannot do there, and what salvage finds.
//!
//! Needs docker and the image `cantus/base:bookworm`, which `docker/images/build` makes.

#![expect(
    clippy::unwrap_used,
    reason = "a test ends at the first thing that is not as it should be"
)]

#[expect(dead_code, reason = "shared with other tests; each uses a part")]
mod support;

use cantus_proto::message::{HeartbeatReply, Isolation, LeaseEvent, Work};
use support::container::Cell;
use support::{PATIENCE, Stage, exits_with};

const BINARY: &str = env!("CARGO_BIN_EXE_cantus-worker");

/// Each line is a promise to whoever runs agents here; the script ends at the first one that is broken.
const PROBE: &str = r#"
    set -eu
    fail() { echo "$1" >&2; exit 1; }
    test "$(id -u):$(id -G)" = 61001:61001 || fail "user is $(id)"
    grep -q 'CapEff:.0000000000000000' /proc/self/status || fail "has capabilities"
    grep -q 'NoNewPrivs:.1' /proc/self/status || fail "may get privileges"
    ! cat /proc/1/environ 2>/dev/null || fail "reads the entry's environment"
    for environ in /proc/[0-9]*/environ; do
        ! grep -q PASSWORD "$environ" 2>/dev/null || fail "a password in $environ"
    done
    ! env | grep -q 'CANTUS_BUS\|CANTUS_COMMAND' || fail "our variables"
    python3 - <<'END' || fail "reaches the bus"
import glob, socket, sys
unix = socket.socket(socket.AF_UNIX)
try:
    unix.connect("/cantus/sockets/bus.sock")
    sys.exit(1)
except OSError:
    pass
for line in open("/proc/net/tcp").read().splitlines()[1:]:
    fields = line.split()
    if fields[3] == "0A":
        port = int(fields[1].split(":")[1], 16)
        tcp = socket.create_connection(("127.0.0.1", port))
        tcp.settimeout(5)
        if tcp.recv(1):
            sys.exit(1)
END
    ! ls /cantus/work/entry 2>/dev/null || fail "sees the entry's notes"
    ! touch /cantus/work/x 2>/dev/null || fail "writes beside the tree"
    ! touch /cantus/mirror/x /cantus/bin/x /etc/x 2>/dev/null || fail "writes where it must not"
    ! rm -rf "$CANTUS_OUTBOX" 2>/dev/null || fail "removes the outbox"
    ! kill -0 1 2>/dev/null || fail "signals the entry"
    test "$HOME" = /tmp/cantus/rooms/0/home && touch "$HOME/x" "$TMPDIR/x"
    test "$PWD" = /cantus/work/tree
    test -z "$(git status --porcelain)" || fail "the tree is not clean"
    ln -s /proc/self/environ "$CANTUS_OUTBOX/claims.jsonl"
    echo '{"text":"noticed"}' > "$CANTUS_OUTBOX/findings.jsonl"
    echo done > src/b.txt
    setsid sh -c 'while :; do date > src/late.txt; sleep 0.01; done' > /dev/null 2>&1 &
    while ! test -e src/late.txt; do sleep 0.01; done
"#;

fn command(script: &str) -> String {
    format!("[\"/bin/sh\",\"-c\",{script:?}]")
}

#[tokio::test]
async fn the_agent_is_alone_in_its_container() {
    let mut stage = Stage::new(BINARY, "worker").await;
    let attempt = stage.attempt(Work::Produce, &[("AC-1", "true")]);
    stage.bus.publish_attempt(&attempt).await.unwrap();
    let cell = Cell::new(&stage, "alone");
    let child = cell.spawn(&stage, &[("CANTUS_COMMAND", &command(PROBE))], "lease");
    exits_with(child, 0).await;
    let LeaseEvent::Leased(leased) = stage.next().await else { panic!("not leased") };
    assert_eq!(leased.isolation, Isolation::Container);
    let result = match stage.next().await {
        LeaseEvent::Result(result) => result,
        other => panic!("{other:?}"),
    };
    assert!(
        result.findings.iter().any(|finding| finding == "claims.jsonl was not read: it is a link")
    );
    assert!(result.findings.iter().any(|finding| finding == "noticed"), "{:?}", result.findings);
    stage.receive(&result.bundle.unwrap()).await;
    assert_eq!(stage.got("src/b.txt"), "done");
}

/// What is run for the agent is run as the agent: the project's checks, git's hook, and the look at its work.
#[tokio::test]
async fn checks_hooks_and_pulse_are_the_agents_own() {
    let mut stage = Stage::new(BINARY, "worker").await;
    let lint =
        "test \"$(id -u)\" = 61001 && ! cat /proc/1/environ 2>/dev/null && ! grep -rn bad src";
    stage.land("cantus-checks.yaml", &format!("version: 1\nlint: {lint:?}\n"));
    let mut attempt = stage.attempt(Work::Produce, &[("AC-1", "true")]);
    attempt.limits.window_ms = 40;
    stage.bus.publish_attempt(&attempt).await.unwrap();
    let cell = Cell::new(&stage, "checks");
    let script = command(
        r##"set -eu
        echo bad > src/b.txt; git add -A
        ! git commit -q -m bad 2> /tmp/said; grep -q 'lint exited with code 1' /tmp/said
        echo good > src/b.txt; git commit -q -a -m good; "$CANTUS_CHECK"
        ! echo x 2>/dev/null >> "$CANTUS_DEMANDS"; ! echo x 2>/dev/null >> "$CANTUS_CHECK"
        while ! test -s "$CANTUS_DEMANDS"; do sleep 0.05; done"##,
    );
    let child = cell.spawn(&stage, &[("CANTUS_COMMAND", &script)], "lease");
    let seen = async {
        loop {
            let beat = stage.beat.lock().unwrap().clone();
            if beat.and_then(|beat| beat.pulse).is_some_and(|pulse| pulse.commits == 1) {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, seen).await.expect("its commit is seen");
    *stage.reply.lock().unwrap() = HeartbeatReply::GoOn(vec!["come to an end".to_owned()]);
    exits_with(child, 0).await;
    let LeaseEvent::Leased(_) = stage.next().await else { panic!("not leased") };
    let result = match stage.next().await {
        LeaseEvent::Result(result) => result,
        other => panic!("{other:?}"),
    };
    let purposes: Vec<&str> = result.receipts.iter().map(|r| r.purpose.as_str()).collect();
    assert_eq!(purposes, ["agent", "lint"], "{:?}", result.findings);
    stage.receive(&result.bundle.unwrap()).await;
    assert_eq!(stage.got("src/b.txt"), "good");
}

/// W1 in a container: killed in the middle, salvaged from its volume by a new one.
#[tokio::test]
async fn a_killed_containers_work_is_salvaged_from_its_volume() {
    let mut stage = Stage::new(BINARY, "worker").await;
    let attempt = stage.attempt(Work::Produce, &[("AC-1", "true")]);
    stage.bus.publish_attempt(&attempt).await.unwrap();
    let cell = Cell::new(&stage, "killed");
    let script = command(
        "echo half > src/b.txt; echo '{\"text\":\"written\"}' > $CANTUS_OUTBOX/progress.jsonl; sleep 300",
    );
    let mut child = cell.spawn(&stage, &[("CANTUS_COMMAND", &script)], "lease");
    let LeaseEvent::Leased(_) = stage.next().await else { panic!("not leased") };
    stage.progress("written").await;
    cell.kill();
    let status = tokio::time::timeout(PATIENCE, child.wait()).await.unwrap().unwrap();
    assert!(!status.success());
    exits_with(cell.spawn(&stage, &[], "salvage"), 0).await;
    let LeaseEvent::Saved(saved) = stage.next().await else { panic!("not saved") };
    stage.receive(&saved.commits.bundle).await;
    assert_eq!(stage.got("src/b.txt"), "half");
    let again = exits_with(cell.spawn(&stage, &[], "salvage"), 0).await;
    assert!(again.contains("nothing to save"), "{again}");
}
