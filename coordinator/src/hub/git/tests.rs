//! Limits of the command runner, on real processes.

use super::*;

fn git() -> (tempfile::TempDir, Git) {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir(root.path().join("home")).unwrap();
    let git = Git::new(root.path(), |name| std::env::var_os(name)).unwrap();
    (root, git)
}

/// A shell in git's place, as a hook or a transport would be.
fn shell(git: &Git, script: &str) -> Call {
    let mut call = git.call("--exec-path");
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    call.command = command;
    call
}

#[test]
fn a_command_that_hangs_is_ended_with_all_it_started() {
    let (root, git) = git();
    let file = root.path().join("pid");
    let script = format!("sleep 60 & echo $! > {}; wait", file.display());
    let start = tokio::time::Instant::now();
    let error = shell(&git, &script).wall(Duration::from_millis(400)).run().unwrap_err();
    assert!(matches!(error, GitError::TimedOut { .. }), "{error}");
    assert!(start.elapsed() < Duration::from_secs(10));
    let pid = std::fs::read_to_string(&file).unwrap();
    let path = format!("/proc/{}/status", pid.trim());
    // The signal is sent; when the kernel gets to it is its own affair.
    let is_alive =
        || std::fs::read_to_string(&path).is_ok_and(|status| !status.contains("State:\tZ"));
    while is_alive() {
        assert!(start.elapsed() < Duration::from_secs(10), "it goes on");
        std::thread::yield_now();
    }
}

#[test]
fn output_without_end_is_cut_and_the_command_ended() {
    let (_root, git) = git();
    let output = shell(&git, "yes").run_any(1_000).unwrap();
    assert!(output.cut);
    assert_eq!(output.stdout.len(), 1_000);
    let loud = shell(&git, "head -c 300000 /dev/zero | tr '\\0' x >&2; exit 3").run().unwrap_err();
    let text = loud.to_string();
    assert!(text.contains("exit status: 3") && text.len() < 17_000, "{}", text.len());
}

#[test]
fn input_from_memory_arrives() {
    let (_root, git) = git();
    let output = git.call("hash-object").arg("--stdin").input(b"hello\n".to_vec()).run().unwrap();
    assert_eq!(output, b"ce013625030ba8dba906f756967f9e9ca394464a\n");
}

#[test]
fn a_full_disk_has_its_own_error() {
    let (_root, git) = git();
    let full =
        shell(&git, "echo 'fatal: write error: No space left on device' >&2; exit 128").run();
    assert!(matches!(full, Err(GitError::DiskFull { .. })), "{full:?}");
}

#[test]
fn versions_and_strange_text() {
    assert_eq!(parse_version("git version 2.47.3"), Some((2, 47)));
    assert_eq!(parse_version("git version 2.39.5 (Apple Git-154)"), Some((2, 39)));
    assert_eq!(parse_version("git version 2.50.0.rc1"), Some((2, 50)));
    assert_eq!(parse_version("no git"), None);
    assert_eq!(escape(b"fatal: a\x1b[31m\n\n  hint: b\r\n"), "fatal: a\\u{1b}[31m; hint: b");
}
