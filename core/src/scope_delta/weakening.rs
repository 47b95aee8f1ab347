//! A test that is removed, skipped, or made to expect less (SPEC B6): read, not run.
//!
//! Both sides of every changed test file are read as tokens, so layout and comments change nothing. Tests are
//! matched by name over all changed files: one that moved counts as moved, and is weighed where it is now. An
//! assertion that is gone from its test is looked for among what the change adds to tests, as it is when a test is
//! split, renamed or turned into a table; only what is nowhere is told.

mod align;
mod assertions;
mod blocks;
mod cover;
mod go;
mod java;
mod javascript;
mod matching;
mod python;
mod rust;
mod strength;
mod units;
mod verbs;

use std::collections::BTreeMap;

use super::finding::{Finding, Rule, list, quote};
use super::tests_of::{self, Language};
use super::{Content, FileChange, WEIGHED_BYTES_MAX};
use assertions::Assertion;
use cover::Cover;
use units::Reading;

/// A changed file with its tests before and after.
struct File<'a> {
    change: &'a FileChange,
    old: Reading,
    new: Reading,
}

/// Where a unit is: the file, and the unit in it.
type Place = (usize, usize);

/// All that the changes do to tests.
pub(super) fn weigh(changes: &[FileChange]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut files = Vec::new();
    for change in changes.iter().filter(|change| !change.is_mode_only()) {
        match read(change, changes) {
            Ok(file) => files.extend(file),
            Err(finding) => findings.push(finding),
        }
    }
    let pairs = matching::pairs(&files);
    let mut cover = Cover::of(&files, &pairs);
    for (old, new) in &pairs.matched {
        findings.extend(compare(&files, &mut cover, *old, *new));
    }
    findings.extend(removed(&files, &mut cover, &pairs));
    findings
}

/// Nothing for what holds no tests; a finding for a test that cannot be read.
fn read<'a>(change: &'a FileChange, all: &[FileChange]) -> Result<Option<File<'a>>, Finding> {
    let path = &change.path;
    let is_test = tests_of::is_test(path);
    let gone = is_test && change.mode_new == 0;
    let Some(language) = tests_of::language(path) else {
        return if gone && !moved(change, all) { Err(file_removed(path)) } else { Ok(None) };
    };
    if !is_test && language != Language::Rust {
        return Ok(None);
    }
    let side = |content: &Content| match content.weighed() {
        Some(bytes) => units::read(bytes, language, is_test),
        None => Reading::default(),
    };
    let file = File { change, old: side(&change.old), new: side(&change.new) };
    let had_tests = file.old.units.iter().any(|unit| unit.is_test);
    if gone
        && !had_tests
        && file.old.units.is_empty()
        && tests_of::is_runner_name(path)
        && !moved(change, all)
    {
        return Err(file_removed(path));
    }
    let too_large = (change.old.is_too_large() && is_test)
        || (change.new.is_too_large() && change.mode_old != 0 && (is_test || had_tests));
    if too_large && change.mode_new != 0 {
        let text = format!(
            "a test that is too large to be weighed (more than {WEIGHED_BYTES_MAX} bytes) is changed: nobody can \
             tell whether it expects less; split it, or leave it as it was"
        );
        return Err(Finding::new(Rule::TestWeakened, path, None, text));
    }
    Ok(Some(file))
}

fn file_removed(path: &[u8]) -> Finding {
    let text = "a test file is removed: what it showed is shown no more; bring it back, or leave it where it was";
    Finding::new(Rule::TestRemoved, path, None, text.to_owned())
}

/// Whether the same bytes are added as a test elsewhere.
fn moved(change: &FileChange, all: &[FileChange]) -> bool {
    let added = |other: &&FileChange| other.mode_old == 0 && tests_of::is_test(&other.path);
    all.iter().filter(added).any(|other| other.new == change.old)
}

/// A test that is still there: whether it still runs, and demands what it did.
fn compare(files: &[File<'_>], cover: &mut Cover<'_>, old: Place, new: Place) -> Vec<Finding> {
    let path = &files[new.0].change.path;
    let (was, is) = (cover.before(old), cover.after(new));
    let name = quote(&is.name);
    if let (true, None, Some(line)) = (was.is_test, was.skip, is.skip) {
        let text = format!(
            "test {name} ran before and is skipped here: what it showed is shown no more; let it run, or say in \
             the report why it cannot"
        );
        // What a test demands that does not run is nothing, whatever is left of it.
        return vec![Finding::new(Rule::TestSkipped, path, Some(line), text)];
    }
    let mut found = Vec::new();
    let what = match (is.is_test, is.name.is_empty()) {
        (true, _) => format!("test {name}"),
        (false, true) => "what the tests of this file share".to_owned(),
        (false, false) => format!("helper {name}"),
    };
    let mut tell = |line: u32, said: String| {
        let text = format!("{what} {said}; restore it, or say in the report why it must change");
        found.push(Finding::new(Rule::TestWeakened, path, Some(line), text));
    };
    let mut aligned = cover.aligned(new);
    for (a, b) in aligned.looser.drain(..) {
        let (a, b) = (&was.assertions[a], &is.assertions[b]);
        tell(b.line, format!("tolerates more: {} became {}", quote(&a.text), quote(&b.text)));
    }
    let mut dropped: Vec<&Assertion> = Vec::new();
    for index in aligned.old {
        let assertion = &was.assertions[index];
        if !was.is_used || cover.take(assertion, Some(new)) {
            continue;
        }
        let same = |index: &usize| is.assertions[*index].subject == assertion.subject;
        let weaker = aligned.new.iter().position(same).or(if aligned.new.is_empty() {
            None
        } else {
            Some(0)
        });
        match weaker.map(|place| &is.assertions[aligned.new.remove(place)]) {
            Some(weaker) => tell(
                weaker.line,
                format!("expects less: {} became {}", quote(&assertion.text), quote(&weaker.text)),
            ),
            None => dropped.push(assertion),
        }
    }
    if !dropped.is_empty() {
        let texts = list(dropped.iter().map(|assertion| assertion.text.as_str()));
        let (count, all) = (dropped.len(), was.assertions.len());
        tell(is.line, format!("lost {count} of its {all} assertions: {texts}"));
    } else if is.cases < was.cases && is.assertions.len() <= was.assertions.len() {
        tell(is.line, format!("lost {} of its {} cases", was.cases - is.cases, was.cases));
    }
    found
}

/// Tests and helpers that are nowhere any more, nor what they demanded.
fn removed(files: &[File<'_>], cover: &mut Cover<'_>, pairs: &matching::Pairs) -> Vec<Finding> {
    let mut found = Vec::new();
    // Of a file that is gone, all in one.
    let mut whole: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for place in &pairs.gone {
        let unit = cover.before(*place);
        if !unit.is_used || unit.skip.is_some() && !unit.is_test {
            continue;
        }
        let missing: Vec<&Assertion> =
            unit.assertions.iter().filter(|assertion| !cover.take(assertion, None)).collect();
        let renamed = unit.assertions.is_empty() && cover.is_renamed(unit, &pairs.added);
        if renamed || (missing.is_empty() && !unit.assertions.is_empty()) {
            continue;
        }
        let file = &files[place.0];
        let path = &file.change.path;
        let name = quote(&unit.name);
        if unit.is_test && file.change.mode_new == 0 {
            whole.entry(place.0).or_default().push(&unit.name);
        } else if unit.is_test {
            let commented = file.new.commented.contains(&unit.name);
            let what = if commented { "commented out" } else { "removed" };
            let text = format!(
                "test {name}, which began here before the change, is {what}, and {} of its {} assertions are \
                 nowhere else: bring it back, or say in the report why it must go",
                missing.len(),
                unit.assertions.len(),
            );
            found.push(Finding::new(Rule::TestRemoved, path, Some(unit.line), text));
        } else {
            let texts = list(missing.iter().map(|assertion| assertion.text.as_str()));
            let text = format!(
                "helper {name}, which tests used and which began here before the change, is gone with what it \
                 demanded: {texts}; bring it back, or let the tests demand it themselves"
            );
            found.push(Finding::new(Rule::TestWeakened, path, Some(unit.line), text));
        }
    }
    for (file, names) in whole {
        let text = format!(
            "the file is removed with {} tests that are nowhere else: {}; bring them back, or say in the report \
             why they must go",
            names.len(),
            list(names),
        );
        found.push(Finding::new(Rule::TestRemoved, &files[file].change.path, None, text));
    }
    found
}
