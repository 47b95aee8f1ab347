//! The file of checks: what it may say, what it must not, and the limits that follow.

use std::time::Duration;

use super::{Check, CheckName, FILE_BYTES_MAX, parse};

#[test]
fn commands_come_in_the_order_in_which_they_run() {
    let file = "version: 1\ntest: make test\nlint: {command: make lint, timeout_seconds: 1800}\n";
    let check = |name, command: &str, seconds| Check {
        name,
        command: command.to_owned(),
        limit: Duration::from_secs(seconds),
    };
    let expected =
        [check(CheckName::Lint, "make lint", 1800), check(CheckName::Test, "make test", 120)];
    assert_eq!(parse(file.as_bytes()).unwrap(), expected);
    let four = "version: 1\nbuild: b\ntest: t\nlint: l\ntypecheck: c\n";
    let limits: Vec<u64> =
        parse(four.as_bytes()).unwrap().iter().map(|check| check.limit.as_secs()).collect();
    assert_eq!(limits, [60, 60, 120, 120]);
    assert_eq!(parse(b"version: 1\n").unwrap(), []);
}

#[test]
fn what_is_not_understood_is_refused_with_its_reason() {
    for (file, said) in [
        ("test: t\n", "version"),
        ("version: 2\n", "version 2 is unknown"),
        ("version: 1\ntests: t\n", "tests"),
        ("version: 1\ntest: ''\n", "test: its command is empty"),
        ("version: 1\nlint: {command: l, timeout_seconds: 0}\n", "lint: timeout_seconds"),
        ("version: 1\nlint: {command: l, timeout_seconds: 1801}\n", "1 to 1800"),
        ("version: 1\nlint: [a, b]\n", "lint"),
        ("\u{0}", ""),
    ] {
        let problem = parse(file.as_bytes()).unwrap_err().to_string();
        assert!(problem.contains(said), "{file}: {problem}");
    }
    let unknown = "version: 1\nlint: {command: l, timeout_seconds: 1, shell: zsh}\n";
    assert!(parse(unknown.as_bytes()).is_err());
    let long = format!("version: 1\nlint: {}\n", "x".repeat(5000));
    assert!(parse(long.as_bytes()).unwrap_err().to_string().contains("more than 4096 bytes"));
    let large = vec![b' '; usize::try_from(FILE_BYTES_MAX).unwrap() + 1];
    assert!(parse(&large).unwrap_err().to_string().contains("more than"));
}
