//! What a staged change adds that should not be committed: skipped tests, and work put off (SPEC E7).
//!
//! Only added lines count: what was there before is not this change's.

use std::path::Path;

use git2::{DiffOptions, Index, Repository, RepositoryOpenFlags};

use crate::text::{cut, shown};

/// What skips tests, in the common languages.
const SKIPS: [&str; 21] = [
    "#[ignore",
    "@pytest.mark.skip",
    "@pytest.mark.skipif",
    "@pytest.mark.xfail",
    "pytest.skip(",
    "@unittest.skip",
    "@unittest.skipIf",
    "@unittest.skipUnless",
    "self.skipTest(",
    "it.skip(",
    "test.skip(",
    "describe.skip(",
    "it.only(",
    "test.only(",
    "describe.only(",
    "xit(",
    "xdescribe(",
    "t.Skip(",
    "t.SkipNow(",
    "@Disabled",
    "@Ignore",
];

/// Words that put work off.
const LATER: [&str; 2] = ["TODO", "FIXME"];

/// Most that are named: enough to see what is meant.
const NAMED_MAX: usize = 20;

/// Longest quote of a line, in bytes.
const QUOTE_BYTES_MAX: usize = 120;

/// The markers that the staged change of the repository around this process adds, with file and line.
pub(super) fn markers() -> Result<Vec<String>, git2::Error> {
    let nothing: [&Path; 0] = [];
    let repository = Repository::open_ext(".", RepositoryOpenFlags::FROM_ENV, nothing)?;
    // From the environment, since `git commit -a` and `git commit PATH` stage into an index of their own.
    let index = repository.index()?;
    markers_of(&repository, &index)
}

fn markers_of(repository: &Repository, index: &Index) -> Result<Vec<String>, git2::Error> {
    let head = repository.head().and_then(|head| head.peel_to_tree()).ok();
    let mut options = DiffOptions::new();
    options.context_lines(0);
    let diff = repository.diff_tree_to_index(head.as_ref(), Some(index), Some(&mut options))?;
    let mut found = Vec::new();
    let mut more = 0_usize;
    diff.foreach(
        &mut |_, _| true,
        None,
        None,
        Some(&mut |delta, _, line| {
            if line.origin() != '+' {
                return true;
            }
            let text = String::from_utf8_lossy(line.content());
            let Some(marker) = marker(&text) else { return true };
            if found.len() == NAMED_MAX {
                more += 1;
                return true;
            }
            let path = shown(delta.new_file().path_bytes().unwrap_or_default());
            let number = line.new_lineno().unwrap_or_default();
            let quote = shown(cut(text.trim(), QUOTE_BYTES_MAX).as_bytes());
            found.push(format!("{path}:{number} adds {marker}: {quote}"));
            true
        }),
    )?;
    if more > 0 {
        found.push(format!("and {more} more"));
    }
    Ok(found)
}

/// The marker in a line, if it has one.
fn marker(line: &str) -> Option<&'static str> {
    let skip = SKIPS.into_iter().find(|skip| has(line, skip));
    skip.or_else(|| LATER.into_iter().find(|word| has(line, word)))
}

/// Whether the line has this word, not as a part of a longer one: `exit(` is no `xit(`.
fn has(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back().is_some_and(part);
        let after = line[at + word.len()..].chars().next().is_some_and(part);
        !(before && word.starts_with(part) || after && word.ends_with(part))
    })
}

#[cfg(test)]
mod tests {
    use super::{marker, markers_of};
    use crate::testing::{git, write};
    use git2::Repository;

    #[test]
    fn markers_are_words_of_their_own() {
        for (line, found) in [
            ("    #[ignore]", Some("#[ignore")),
            ("#[ignore = \"slow\"]", Some("#[ignore")),
            ("@pytest.mark.skipif(x)", Some("@pytest.mark.skipif")),
            ("@IgnoreProperties", None),
            ("xit('x', () => {})", Some("xit(")),
            ("std::process::exit(1)", None),
            ("commit.skip(1)", None),
            ("  it.skip('a')", Some("it.skip(")),
            ("// TODO: later", Some("TODO")),
            ("FIXME(me)", Some("FIXME")),
            ("let mastodon = TODOS;", None),
            ("AUTODOC TODO_LIST", None),
            ("todo list", None),
        ] {
            assert_eq!(marker(line), found, "{line}");
        }
    }

    #[test]
    fn only_what_the_change_adds_is_named_with_its_place() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        git(root, &["init", "-q"]);
        write(root, "old.rs", "// TODO: old\nfn a() {}\n");
        git(root, &["add", "-A"]);
        git(root, &["commit", "-q", "-m", "base"]);
        write(root, "old.rs", "// TODO: old\nfn a() {}\n#[ignore]\n");
        write(root, "new.py", "a = 1\n# FIXME: b\n");
        write(root, "loose.py", "# TODO: not staged\n");
        git(root, &["add", "old.rs", "new.py"]);
        let repository = Repository::open(root).unwrap();
        let found = markers_of(&repository, &repository.index().unwrap()).unwrap();
        assert_eq!(found, ["new.py:2 adds FIXME: # FIXME: b", "old.rs:3 adds #[ignore: #[ignore]"]);
    }
}
