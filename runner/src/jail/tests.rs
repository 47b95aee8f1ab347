//! Real processes. As root they run as another user; otherwise as the same one, which is what `process` isolation is.

use std::ffi::OsString;
use std::time::Duration;

use cantus_proto::ids::Digest;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::time::Instant;

use super::{Ending, Identity, Jail, JailError, Ran, run};

/// Not the agent's own: that one may be in use on this machine.
const OTHER: Identity = Identity { uid: 61_999, gid: 61_999 };

/// Another user where we may become one.
fn identity() -> Option<Identity> {
    rustix::process::geteuid().is_root().then_some(OTHER)
}

fn jail(script: &str) -> Jail {
    Jail {
        argv: ["/bin/sh", "-c", script].map(OsString::from).to_vec(),
        directory: "/".into(),
        environment: [("PATH", "/usr/bin:/bin"), ("HOME", "/nonexistent")]
            .map(|(name, value)| (name.into(), value.into()))
            .into(),
        identity: identity(),
        limit: Duration::from_secs(30),
        log_bytes_max: 1000,
    }
}

fn never() -> watch::Receiver<bool> {
    watch::channel(false).1
}

async fn ran(jail: &Jail) -> Ran {
    run(jail, never()).await.unwrap()
}

fn text(ran: &Ran) -> String {
    String::from_utf8_lossy(&ran.log).into_owned()
}

#[tokio::test]
async fn output_and_exit_code_are_recorded() {
    let ran = ran(&jail("echo out; echo err >&2; exit 3")).await;
    assert_eq!(ran.ending, Ending::Exit(3));
    assert!(!ran.timed_out && !ran.stopped && !ran.log_truncated);
    assert_eq!(ran.stdout_sha256, Digest::of(b"out\n"));
    assert_eq!(ran.stderr_sha256, Digest::of(b"err\n"));
    assert!(text(&ran).contains("out\n") && text(&ran).contains("err\n"));
}

#[tokio::test]
async fn a_signal_is_told_from_an_exit() {
    assert_eq!(ran(&jail("kill -KILL $$")).await.ending, Ending::Signal(9));
}

#[tokio::test]
async fn the_digest_is_of_everything_and_the_log_is_bounded() {
    let ran = ran(&jail("i=0; while [ $i -lt 1000 ]; do echo 0123456789; i=$((i+1)); done")).await;
    assert!(ran.log_truncated);
    assert!(ran.log.len() < 1100, "{}", ran.log.len());
    assert!(text(&ran).contains("bytes left out"));
    assert_eq!(ran.stdout_sha256, Digest::of("0123456789\n".repeat(1000).as_bytes()));
}

#[tokio::test]
async fn the_environment_is_clean_and_stdin_is_empty() {
    let ran = ran(&jail("cat; env | sort | cut -d= -f1")).await;
    let names = text(&ran);
    // The shell adds its own.
    let known = ["HOME", "PATH", "PWD", "OLDPWD", "SHLVL", "_"];
    assert!(names.lines().all(|name| known.contains(&name)), "{names}");
}

#[tokio::test]
async fn the_child_is_who_it_should_be() {
    let ran = ran(&jail("id -u; id -G; grep CapEff /proc/self/status")).await;
    let text = text(&ran);
    match identity() {
        Some(_) => assert_eq!(text, "61999\n61999\nCapEff:\t0000000000000000\n"),
        None => {
            assert!(text.starts_with(&rustix::process::geteuid().as_raw().to_string()), "{text}")
        }
    }
}

#[tokio::test]
async fn the_wall_clock_ends_it_politely_first() {
    let mut jail = jail("trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.05; done");
    jail.limit = Duration::from_millis(300);
    let ran = ran(&jail).await;
    assert!(ran.timed_out);
    assert_eq!(ran.ending, Ending::Exit(7));
    assert!(text(&ran).contains("bye"));
}

#[tokio::test]
async fn one_that_ignores_the_polite_signal_is_killed() {
    let mut jail = jail("trap '' TERM; while :; do sleep 0.05; done");
    jail.limit = Duration::from_millis(100);
    let started = Instant::now();
    let ran = ran(&jail).await;
    assert_eq!(ran.ending, Ending::Signal(9));
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn a_stop_ends_it() {
    let (sender, receiver) = watch::channel(false);
    let jail = jail("sleep 30");
    let running = run(&jail, receiver);
    let stopping = async {
        sender.send_replace(true);
    };
    let (ran, ()) = tokio::join!(running, stopping);
    let ran = ran.unwrap();
    assert!(ran.stopped && !ran.timed_out);
    assert_eq!(ran.ending, Ending::Signal(15));
}

#[tokio::test]
async fn what_it_leaves_in_its_group_is_killed_and_pipes_held_open_do_not_hang() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("pid");
    std::fs::write(&file, "").unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    std::fs::set_permissions(directory.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let script = format!("sleep 300 & echo $! > {}; exit 0", file.display());
    let started = Instant::now();
    let ran = ran(&jail(&script)).await;
    assert_eq!(ran.ending, Ending::Exit(0));
    assert!(started.elapsed() < Duration::from_secs(5));
    let pid = std::fs::read_to_string(&file).unwrap();
    let status = format!("/proc/{}/status", pid.trim());
    // Killed is not gone: until it is, or is dead and waits for its new parent to see it.
    while std::fs::read_to_string(&status).is_ok_and(|text| !text.contains("State:\tZ")) {
        assert!(started.elapsed() < Duration::from_secs(20), "it still runs");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_command_that_is_not_there_is_an_error() {
    let mut jail = jail("");
    jail.argv = vec!["/nonexistent/agent".into()];
    let error = run(&jail, never()).await.unwrap_err();
    assert!(matches!(error, JailError::Spawn { .. }), "{error}");
    jail.argv.clear();
    assert!(matches!(run(&jail, never()).await.unwrap_err(), JailError::Empty));
}

#[tokio::test]
async fn reaping_as_root_is_refused() {
    if rustix::process::geteuid().is_root() {
        assert!(super::reap_own_user().await.is_err());
    } else {
        // Not tried: as a person it would end the person's session.
        assert!(!rustix::process::getuid().is_root());
    }
}
