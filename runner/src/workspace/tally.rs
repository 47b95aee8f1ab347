//! Counts what a result would carry, and names the biggest when it is too much (W27).

use std::collections::BTreeMap;

/// Most offenders that are named: enough to act on, short enough to read.
const NAMED_MAX: usize = 5;

/// What one result may carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of all changed files, and of the bundle.
    pub bytes_max: u64,
    /// Changed files.
    pub files_max: u32,
}

/// A running sum with the largest entries.
#[derive(Debug, Default)]
pub(super) struct Tally {
    files: u64,
    bytes: u64,
    largest: Vec<(u64, String)>,
    by_directory: BTreeMap<String, u64>,
}

impl Tally {
    /// Adds one changed file.
    pub(super) fn add(&mut self, path: &[u8], bytes: u64) {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        let shown = crate::text::shown(path);
        let directory = shown.split_once('/').map_or("./", |(first, _)| first).to_owned();
        *self.by_directory.entry(directory).or_default() += 1;
        self.largest.push((bytes, shown));
        self.largest.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        self.largest.truncate(NAMED_MAX);
    }

    /// Whether another file of this size still fits: past it, nothing is stored any more, only counted.
    pub(super) fn fits(&self, limits: Limits) -> bool {
        self.files <= u64::from(limits.files_max) && self.bytes <= limits.bytes_max
    }

    /// The refusal, when there is one.
    pub(super) fn refusal(&self, limits: Limits) -> Option<String> {
        if self.files > u64::from(limits.files_max) {
            let mut directories: Vec<(&String, &u64)> = self.by_directory.iter().collect();
            directories.sort_by(|a, b| b.1.cmp(a.1));
            let named: Vec<String> = directories
                .iter()
                .take(NAMED_MAX)
                .map(|(name, count)| format!("{name} ({count} files)"))
                .collect();
            return Some(format!(
                "the result changes {} files, the limit is {}; most are in {}: leave generated files out \
                 with .gitignore, or raise the limit",
                self.files,
                limits.files_max,
                named.join(", ")
            ));
        }
        if self.bytes > limits.bytes_max {
            let named: Vec<String> = self
                .largest
                .iter()
                .map(|(bytes, path)| format!("{path} ({bytes} bytes)"))
                .collect();
            return Some(format!(
                "the changed files of the result have {} bytes, the limit is {}; the largest are {}: leave \
                 them out, or raise the limit",
                self.bytes,
                limits.bytes_max,
                named.join(", ")
            ));
        }
        None
    }
}
