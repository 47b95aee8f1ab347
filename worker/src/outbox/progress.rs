//! `progress.jsonl`: what an agent tells while it works, for people and for the pulse (SPEC B8).

use serde_json::Value;

use super::files::{Bounds, Files, PLAIN, values};
use super::{text, words};

/// Most that is read at one look, in bytes: the rest comes with the next.
const LOOK_BYTES_MAX: usize = 64 * 1024;

/// A line is bounded, their number is not: an agent may work for hours.
const PROGRESS: Bounds = Bounds { lines_max: usize::MAX, ..PLAIN };

/// What was told so far, and up to where the file was read.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    offset: u64,
    told: Told,
}

/// What counts of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Told {
    /// The best.
    pub(crate) score: Option<f64>,
    /// The newest word on it; an empty one ends it.
    pub(crate) blocker: Option<String>,
    /// The newest word on it.
    pub(crate) next_action: Option<String>,
    /// The highest.
    pub(crate) iterations: u32,
}

impl Progress {
    /// What counts of all that was read.
    pub(crate) fn told(&self) -> &Told {
        &self.told
    }

    /// Reads on; the texts for people, of lines that are whole. A line that is not JSON is shown as it is said.
    pub(super) fn look(&mut self, files: &Files) -> Vec<String> {
        let (content, offset) = files.since("progress.jsonl", self.offset, LOOK_BYTES_MAX);
        self.offset = offset;
        let mut texts = Vec::new();
        for line in values("progress.jsonl", &content, PROGRESS, &mut texts) {
            self.told.add(&line);
            texts.push(words(&line));
        }
        texts
    }
}

impl Told {
    fn add(&mut self, line: &Value) {
        if let Some(score) = line.get("score").and_then(Value::as_f64).filter(|s| s.is_finite()) {
            self.score = Some(self.score.map_or(score, |best| best.max(score)));
        }
        if let (Some(_), Ok(blocker)) = (line.get("blocker"), text(line, "blocker")) {
            self.blocker = blocker.map(str::to_owned);
        }
        if let (Some(_), Ok(next)) = (line.get("next"), text(line, "next")) {
            self.next_action = next.map(str::to_owned);
        }
        if let Some(iteration) = line.get("iteration").and_then(Value::as_u64) {
            self.iterations = self.iterations.max(u32::try_from(iteration).unwrap_or(u32::MAX));
        }
    }
}
