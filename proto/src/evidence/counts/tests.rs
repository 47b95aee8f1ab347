//! Summary lines as the programs print them.

use super::*;

fn expect(output: &str, expected: [u64; 4]) {
    let [passed, failed, errors, skipped] = expected;
    let expected = TestCounts { passed, failed, errors, skipped };
    assert_eq!(counts(output.as_bytes()), Some(expected), "{output}");
}

#[test]
fn pytest() {
    expect("===== 612 passed, 1 error in 12.34s =====\n", [612, 0, 1, 0]);
    expect(
        "= 3 failed, 9 passed, 2 skipped, 1 xfailed, 4 warnings in 61.20s (0:01:01) =",
        [10, 3, 0, 2],
    );
    expect("....\n4 passed in 0.05s\n", [4, 0, 0, 0]);
    expect("no tests ran in 0.01s", [0; 4]);
    expect("2 deselected, 1 failed, 1 rerun in 0.50s", [0, 1, 0, 0]);
    expect(
        "\u{1b}[31m== \u{1b}[31m\u{1b}[1m1 failed\u{1b}[0m, \u{1b}[32m2 passed\u{1b}[0m\u{1b}[31m in 0.03s\u{1b}[0m\u{1b}[31m ==\u{1b}[0m",
        [2, 1, 0, 0],
    );
}

#[test]
fn unittest() {
    expect("...\nRan 5 tests in 0.001s\n\nOK\n", [5, 0, 0, 0]);
    expect("Ran 5 tests in 0.001s\n\nOK (skipped=1)\n", [4, 0, 0, 1]);
    expect(
        "Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=2, expected failures=1)",
        [2, 1, 2, 0],
    );
    expect("Ran 1 test in 0.001s\n\nFAILED (unexpected successes=1)", [0, 1, 0, 0]);
    expect("Ran 0 tests in 0.000s\n\nNO TESTS RAN\n", [0; 4]);
}

#[test]
fn cargo_and_nextest() {
    expect(
        "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
         test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 5 filtered out; finished in 0.00s",
        [4, 2, 0, 1],
    );
    expect(
        "     Summary [   0.028s] 3 tests run: 2 passed (1 slow), 1 failed, 4 skipped",
        [2, 1, 0, 4],
    );
    expect(
        "  Summary [ 1.0s] 2/3 tests run: 0 passed, 1 timed out, 1 exec failed, 0 skipped",
        [0, 2, 0, 0],
    );
}

#[test]
fn go() {
    expect(
        "--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/sub (0.00s)\nFAIL\nFAIL\tx/y\t0.002s",
        [0, 1, 0, 0],
    );
    expect(
        "=== RUN   TestA\n--- PASS: TestA (0.00s)\n--- SKIP: TestB (0.00s)\nPASS\nok  \tx/y\t0.002s",
        [1, 0, 0, 1],
    );
    expect("FAIL\tx/y [build failed]\nok  \tx/z\t0.1s", [0, 0, 1, 0]);
    expect("ok  \tx/y\t(cached)", [0; 4]);
}

#[test]
fn javascript() {
    expect(
        "# tests 4\n# suites 0\n# pass 2\n# fail 1\n# cancelled 0\n# skipped 1\n# todo 0\n",
        [2, 1, 0, 1],
    );
    expect("ℹ tests 2\nℹ pass 1\nℹ fail 0\nℹ cancelled 1\n", [1, 0, 1, 0]);
    expect("# tests 3\n# pass  2\n# fail  1\n", [2, 1, 0, 0]);
    expect(
        "Test Suites: 1 failed, 1 passed, 2 total\nTests:       1 failed, 1 skipped, 2 passed, 4 total\n\
         Snapshots:   0 total\nTime:        0.5 s",
        [2, 1, 0, 1],
    );
    expect(" Test Files  1 failed (1)\n      Tests  1 failed | 2 passed (3)\n", [2, 1, 0, 0]);
    expect("3 passed, 1 failed", [3, 1, 0, 0]);
}

#[test]
fn several_programs_add_up() {
    expect("1 failed in 0.1s\n612 passed in 3.0s\n", [612, 1, 0, 0]);
}

#[test]
fn what_is_no_summary_does_not_count() {
    for output in [
        "",
        "all 612 tests pass, 0 errors!",
        "1 error, 2 warnings",
        "5 passed",
        "we failed in 3 places",
        "1 failed, and 2 passed in spirit",
        "# fail to see why",
        "OK",
        "--- a/file\n+++ b/file",
        "99999999999999999999999999 passed in 1s",
    ] {
        assert_eq!(counts(output.as_bytes()), None, "{output}");
    }
}

#[test]
fn only_the_end_is_looked_at_and_bytes_do_no_harm() {
    let mut output = b"1 failed in 0.1s\n".to_vec();
    output.extend(std::iter::repeat_n(0xff, TAIL_BYTES_MAX));
    assert_eq!(counts(&output), None);
    output.extend(b"\n2 passed in 0.1s");
    assert_eq!(counts(&output).unwrap().passed, 2);
}
