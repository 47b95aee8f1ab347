//! Counts from the summary lines of test programs: what an exit code may hide (W11).
//!
//! Known are pytest, unittest, cargo test, nextest, go test, node's TAP and spec reporters, jest and vitest.
//! A guess would be worse than nothing, so only whole lines of a known shape count, and those of several
//! programs add up. Names of single tests are not looked at, but for go, which prints no totals.

use std::fmt;

/// How much of the end of an output is looked at, in bytes: summaries come last.
pub const TAIL_BYTES_MAX: usize = 64 * 1024;

/// Longest line that can be a summary, in bytes.
const LINE_BYTES_MAX: usize = 300;

/// What a test program says about its tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TestCounts {
    /// Ran and held, an expected failure among them.
    pub passed: u64,
    /// Ran and did not hold.
    pub failed: u64,
    /// Could not run.
    pub errors: u64,
    /// Were not run.
    pub skipped: u64,
}

impl TestCounts {
    /// Whether nothing failed and everything could run.
    #[must_use]
    pub fn clean(&self) -> bool {
        self.failed == 0 && self.errors == 0
    }

    fn add(&mut self, kind: Kind, count: u64) {
        let field = match kind {
            Kind::Passed => &mut self.passed,
            Kind::Failed => &mut self.failed,
            Kind::Error => &mut self.errors,
            Kind::Skipped => &mut self.skipped,
            Kind::Neither => return,
        };
        *field = field.saturating_add(count);
    }

    fn merge(&mut self, other: Self) {
        self.add(Kind::Passed, other.passed);
        self.add(Kind::Failed, other.failed);
        self.add(Kind::Error, other.errors);
        self.add(Kind::Skipped, other.skipped);
    }
}

impl fmt::Display for TestCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, failed, errors, skipped } = self;
        write!(f, "{passed} passed, {failed} failed, {errors} errors, {skipped} skipped")
    }
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Passed,
    Failed,
    Error,
    Skipped,
    /// Known, but says nothing about success.
    Neither,
}

/// The counts that the end of an output shows; nothing when it has no summary that is known.
#[must_use]
pub fn counts(output: &[u8]) -> Option<TestCounts> {
    let tail = &output[output.len().saturating_sub(TAIL_BYTES_MAX)..];
    let text = without_colour(&String::from_utf8_lossy(tail));
    let mut total: Option<TestCounts> = None;
    let mut unittest_ran = 0;
    let mut packages_failed = 0;
    for line in text.lines().filter(|line| line.len() <= LINE_BYTES_MAX) {
        let found = if let Some(ran) = unittest_run(line) {
            unittest_ran = ran;
            Some(TestCounts { passed: ran, ..TestCounts::default() })
        } else if let Some(found) = unittest_end(line) {
            // What `Ran N tests` counted as passed and was not.
            let others = found.failed + found.errors + found.skipped;
            if let Some(total) = &mut total {
                total.passed = total.passed.saturating_sub(others.min(unittest_ran));
            }
            unittest_ran = 0;
            Some(found)
        } else if line.starts_with("FAIL\t") {
            packages_failed += 1;
            Some(TestCounts::default())
        } else {
            go_line(line).or_else(|| node_line(line)).or_else(|| list_line(line))
        };
        if let Some(found) = found {
            total.get_or_insert_default().merge(found);
        }
    }
    if let Some(total) = &mut total
        && total.clean()
    {
        // A go package that did not compile or panicked has no failed test to show.
        total.errors = packages_failed;
    }
    total
}

/// Drops escape sequences of colour: `ESC [ … m`.
fn without_colour(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(part.len());
        plain.push_str(part[end..].strip_prefix(['m', 'K']).unwrap_or(&part[end..]));
    }
    plain
}

/// `Ran 5 tests in 0.001s` of unittest.
fn unittest_run(line: &str) -> Option<u64> {
    let mut words = line.strip_prefix("Ran ")?.split(' ');
    let ran = words.next()?.parse().ok()?;
    let known = matches!(words.next()?, "test" | "tests") && words.next()? == "in";
    known.then_some(ran)
}

/// `OK (skipped=1)` or `FAILED (failures=1, errors=2)` of unittest.
fn unittest_end(line: &str) -> Option<TestCounts> {
    let inside = line.strip_prefix("OK (").or_else(|| line.strip_prefix("FAILED ("))?;
    let mut found = TestCounts::default();
    for part in inside.strip_suffix(')')?.split(", ") {
        let (name, count) = part.split_once('=')?;
        let kind = match name {
            "failures" | "unexpected successes" => Kind::Failed,
            "errors" => Kind::Error,
            "skipped" => Kind::Skipped,
            "expected failures" => Kind::Neither,
            _ => return None,
        };
        found.add(kind, count.parse().ok()?);
    }
    Some(found)
}

/// `--- FAIL: TestName (0.00s)` of go, not indented: subtests belong to their test. And `ok <tab> package`.
fn go_line(line: &str) -> Option<TestCounts> {
    let mut found = TestCounts::default();
    if line.starts_with("ok  \t") {
        return Some(found);
    }
    let kind = match line.strip_prefix("--- ")?.split_once(": ")?.0 {
        "PASS" => Kind::Passed,
        "FAIL" => Kind::Failed,
        "SKIP" => Kind::Skipped,
        _ => return None,
    };
    found.add(kind, 1);
    Some(found)
}

/// `# pass 2` of TAP and `ℹ pass 2` of node's spec reporter.
fn node_line(line: &str) -> Option<TestCounts> {
    let mut words = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ "))?.split_whitespace();
    let (name, count, end) = (words.next()?, words.next()?, words.next());
    let kind = match name {
        "tests" => Kind::Neither,
        "pass" => Kind::Passed,
        "fail" => Kind::Failed,
        "cancelled" => Kind::Error,
        "skipped" | "todo" => Kind::Skipped,
        _ => return None,
    };
    let mut found = TestCounts::default();
    found.add(kind, count.parse().ok().filter(|_| end.is_none())?);
    Some(found)
}

/// A list as `3 failed, 612 passed, 1 error in 2.50s`: pytest, cargo test, nextest, jest and vitest.
fn list_line(line: &str) -> Option<TestCounts> {
    let line = without_parentheses(line.trim().trim_matches('='));
    let (marked, line) = without_head(line.trim());
    let (timed, line) = without_time(line);
    if timed && line == "no tests ran" {
        return Some(TestCounts::default());
    }
    let mut found = TestCounts::default();
    let mut tests = 0;
    for part in line.split([',', ';', '|']).map(str::trim) {
        if part.is_empty() || part == "finished" {
            continue;
        }
        let (count, word) = part.split_once(' ')?;
        let kind = list_kind(word.trim())?;
        tests += usize::from(matches!(kind, Kind::Passed | Kind::Failed));
        found.add(kind, count.parse().ok()?);
    }
    // `1 error, 2 warnings` alone is a compiler's or a linter's; a single `5 passed` may be anyone's.
    let parts = line.matches([',', ';', '|']).count() + 1;
    (marked || timed || (parts > 1 && tests > 0)).then_some(found)
}

fn list_kind(word: &str) -> Option<Kind> {
    Some(match word {
        "passed" | "xfailed" | "xpassed" => Kind::Passed,
        "failed" | "exec failed" | "timed out" => Kind::Failed,
        "error" | "errors" => Kind::Error,
        "skipped" | "ignored" | "todo" => Kind::Skipped,
        "deselected" | "warning" | "warnings" | "rerun" | "measured" | "filtered out" | "total"
        | "subtests passed" => Kind::Neither,
        _ => return None,
    })
}

/// Takes off what stands before the list in a line of cargo test, nextest, jest or vitest.
fn without_head(line: &str) -> (bool, &str) {
    for head in ["test result: ok. ", "test result: FAILED. ", "Tests: ", "Tests "] {
        if let Some(rest) = line.strip_prefix(head) {
            return (true, rest.trim());
        }
    }
    match line.strip_prefix("Summary [").and_then(|rest| rest.split_once(" run: ")) {
        Some((_, rest)) => (true, rest),
        None => (false, line),
    }
}

/// Takes off ` in 2.50s`.
fn without_time(line: &str) -> (bool, &str) {
    match line.rsplit_once(" in ") {
        Some((rest, time))
            if time.trim().strip_suffix('s').is_some_and(|t| t.parse::<f64>().is_ok()) =>
        {
            (true, rest)
        }
        _ => (false, line),
    }
}

/// Takes off remarks as ` (1 slow)` and ` (0:01:02)`.
fn without_parentheses(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut depth = 0_u32;
    for c in line.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    plain.replace(" ,", ",")
}

#[cfg(test)]
mod tests;
