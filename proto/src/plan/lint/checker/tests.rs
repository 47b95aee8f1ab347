//! Checkers as people write them, and what is said of them.

use super::*;

fn codes_of(checker: &str) -> Vec<&'static str> {
    let mut sink = Sink::new("f");
    judge(checker, crate::plan::sink::START, false, &mut sink);
    sink.finish(crate::plan::sink::START).into_iter().map(|d| d.code).collect()
}

#[test]
fn what_cannot_fail_is_refused() {
    for checker in [
        "true",
        ":",
        "exit 0",
        "/bin/true",
        "true # real check later",
        "# nothing",
        "pytest || true",
        "pytest ||true",
        "pytest || :",
        "pytest || exit 0",
        "pytest; true",
        "pytest; exit 0",
        "pytest\nexit 0\n",
        "pytest | true",
        "echo ok",
        "true && true",
        "echo a; echo b",
        "pytest ||\n  true",
        "(pytest) || true",
        "pytest & true",
        "pytest 2>&1 || true",
        "cd x && pytest || echo failed",
        "pytest \\\n || true",
        "echo '|| exit 1'",
    ] {
        assert_eq!(codes_of(checker), ["C010"], "{checker}");
    }
}

#[test]
fn what_can_fail_is_taken() {
    for checker in [
        "pytest",
        "pytest && true",
        "pytest && echo ok",
        "set -e\npytest\necho ok",
        "test -f a || exit 1; echo ok",
        "grep -q 'a || true' x",
        "true && test -f a",
        "! grep TODO src -r",
        "if test -f a; then exit 1; fi; echo ok",
        "false",
        "exit 1",
        "test \"$(cat x; true)\" = 1",
        "python - <<E\nimport x\nE\ntrue",
        "! true",
        "test -f a#true",
        "cargo test 2>&1",
        "grep \"|| true\" a",
        "sh -ec 'x; true'",
        "pytest || (cat log; exit 1)",
        "(exit 1); true",
    ] {
        assert_eq!(codes_of(checker), [""; 0], "{checker}");
    }
}

#[test]
fn a_pipe_into_a_filter_hides_the_result() {
    assert_eq!(codes_of("pytest | tee log"), ["C011"]);
    assert_eq!(codes_of("pytest 2>&1 | tail -5"), ["C011"]);
    assert_eq!(codes_of("set -o pipefail; pytest | tee log"), [""; 0]);
    assert_eq!(codes_of("git log | grep -q x"), [""; 0]);
    assert_eq!(codes_of("cat a >| b"), [""; 0]);
}

#[test]
fn network_tools_are_marked() {
    for checker in [
        "curl -f https://example.org",
        "A=1 wget x",
        "pip install -r r.txt && pytest",
        "python -m pip install x",
        "npm ci; npm test",
        "/usr/bin/curl x",
        "sudo apt-get install y",
        "git fetch origin",
        "test $(curl x) = 1",
    ] {
        let found = codes_of(checker);
        assert!(checker.starts_with("test") || found == ["C012"], "{checker}: {found:?}");
    }
    for checker in [
        "curl -f http://localhost:80/",
        "pip install --no-index x",
        "git diff --quiet",
        "npm test",
        "grep curl x",
    ] {
        assert_eq!(codes_of(checker), [""; 0], "{checker}");
    }
}
