//! A change far larger than its item (SPEC B6, E2): more than five times the lines or files of its complexity.
//!
//! Lines are counted as multisets per file, which is an estimate in linear time: a line that only moved inside
//! its file is no change. A file that only moved is counted as moved and not by its lines. Generated locks and
//! binaries have no lines, and a file that was not read counts as one file.

use std::collections::BTreeMap;

use cantus_proto::plan::Complexity;

use super::finding::{Finding, Rule};
use super::{Content, FileChange, dependencies, text};

/// How many times the bound of its complexity a change may be.
const TIMES_MAX: u64 = 5;
/// Files that items of complexity S and M may move without any other change.
const MOVED_FILES_MAX: usize = 10;

#[derive(Default)]
struct Size {
    lines: u64,
    files: u64,
    moved: usize,
    /// The path with the most changed lines stands for all.
    largest: Option<(u64, Vec<u8>)>,
}

/// At most one finding: how large the change is, and how large it may be.
pub(super) fn weigh(complexity: Complexity, changes: &[FileChange]) -> Option<Finding> {
    let (files_bound, lines_bound) = complexity.bounds()?;
    let (files_max, lines_max) =
        (TIMES_MAX * u64::from(files_bound), TIMES_MAX * u64::from(lines_bound));
    let mut size = measure(changes);
    let mut reasons = Vec::new();
    if size.lines > lines_max {
        reasons.push(format!("{} lines changed, at most {lines_max} may", size.lines));
    }
    if complexity <= Complexity::Medium {
        if size.moved > MOVED_FILES_MAX {
            reasons.push(format!("{} files only moved, at most {MOVED_FILES_MAX} may", size.moved));
        }
    } else {
        size.files += size.moved as u64;
    }
    if size.files > files_max {
        reasons.push(format!("{} files changed, at most {files_max} may", size.files));
    }
    if reasons.is_empty() {
        return None;
    }
    let (_, path) = size.largest?;
    let text = format!(
        "the change is far larger than an item of complexity {} ({TIMES_MAX} times its bound): {}; what nobody \
         asked for cannot be reviewed: leave it out, or split the item",
        complexity.as_str(),
        reasons.join("; "),
    );
    Some(Finding::new(Rule::LargeRefactor, &path, None, text))
}

fn measure(changes: &[FileChange]) -> Size {
    let mut size = Size::default();
    // Whole contents that went, by their bytes: the other end of a move takes one away.
    let mut gone: BTreeMap<&[u8], Vec<&FileChange>> = BTreeMap::new();
    for change in changes.iter().filter(|change| change.mode_new == 0) {
        if let Content::Bytes(bytes) = &change.old {
            gone.entry(bytes).or_default().push(change);
        }
    }
    let counted = |change: &&FileChange| !dependencies::is_lock(&change.path);
    for change in changes.iter().filter(counted).filter(|change| change.mode_new != 0) {
        if let (0, Content::Bytes(bytes)) = (change.mode_old, &change.new)
            && !bytes.is_empty()
            && gone.get_mut(bytes.as_slice()).is_some_and(|from| from.pop().is_some())
        {
            size.moved += 1;
            size.see(0, change);
        } else {
            size.count(change);
        }
    }
    let left: Vec<&[u8]> = gone.values().flatten().map(|change| change.path.as_slice()).collect();
    let left: std::collections::BTreeSet<&[u8]> = left.into_iter().collect();
    for change in changes.iter().filter(counted).filter(|change| change.mode_new == 0) {
        if left.contains(change.path.as_slice()) || !matches!(change.old, Content::Bytes(_)) {
            size.count(change);
        }
    }
    size
}

impl Size {
    fn count(&mut self, change: &FileChange) {
        let lines = changed_lines(change);
        self.lines += lines;
        self.files += 1;
        self.see(lines, change);
    }

    fn see(&mut self, lines: u64, change: &FileChange) {
        if self.largest.as_ref().is_none_or(|(most, _)| lines > *most) {
            self.largest = Some((lines, change.path.clone()));
        }
    }
}

/// Lines that one side has more often than the other.
fn changed_lines(change: &FileChange) -> u64 {
    let mut counts: BTreeMap<&[u8], i64> = BTreeMap::new();
    for (content, sign) in [(&change.old, -1), (&change.new, 1)] {
        let Content::Bytes(bytes) = content else { continue };
        if text::is_binary(bytes) {
            return 0;
        }
        for line in text::lines(bytes) {
            *counts.entry(line).or_default() += sign;
        }
    }
    counts.values().map(|count| count.unsigned_abs()).sum()
}
