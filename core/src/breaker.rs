//! The circuit breaker (SPEC E8): what goes round without a commit is asked, ended, and begun in another way.
//!
//! A breaker ends attempts and changes the next one; it never moves an item forward. It looks at what the kernel
//! saw and decided, at no words of a producer, except that after two failures its diagnosis is a wish to be
//! acted on. How the next attempt is told what went before is in [`preamble`].

use std::collections::VecDeque;

use cantus_proto::message::Pulse;

/// Ends of windows whose tokens are remembered: a pace over fewer is noise, over more it is history.
const PACE_WINDOWS: usize = 3;

/// What is remembered of the rounds of one lease at work; volatile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rounds {
    /// Whether the last window brought progress.
    pub moving: bool,
    windows: u32,
    windows_without_commit: u32,
    commits: u32,
    iterations: u32,
    iterations_at_commit: u32,
    /// At the ends of the last windows, oldest first.
    tokens: VecDeque<u64>,
}

impl Rounds {
    /// Takes in what there is of the work.
    pub(crate) fn note(&mut self, pulse: &Pulse) {
        self.iterations = self.iterations.max(pulse.iterations);
        if pulse.commits > self.commits {
            self.commits = pulse.commits;
            self.iterations_at_commit = self.iterations;
            self.windows_without_commit = 0;
        }
    }

    /// A window has closed; at the first look none has, and the pace begins.
    pub(crate) fn close(&mut self, closed: bool, pulse: &Pulse) {
        let one = u32::from(closed);
        self.windows = self.windows.saturating_add(one);
        self.windows_without_commit = self.windows_without_commit.saturating_add(one);
        self.tokens.extend(pulse.usage.as_ref().map(cantus_proto::message::Usage::tokens));
        while self.tokens.len() > PACE_WINDOWS + 1 {
            self.tokens.pop_front();
        }
    }
}

// stub
pub fn next(_item: &crate::item::Item) -> Option<crate::record::Breaker> {
    None
}
pub fn preamble(_item: &crate::item::Item, _b: crate::record::Breaker) -> String {
    String::new()
}
pub fn remedy(
    item: &crate::item::Item,
) -> Option<(cantus_proto::ids::AttemptNumber, &cantus_proto::message::Diagnosis)> {
    let a = item.attempts.last()?;
    a.proposals().iter().find_map(|(p, d)| match (p, d) {
        (cantus_proto::message::Proposal::Diagnosis(x), crate::record::Decision::Pending) => {
            Some((item.last_number(), x))
        }
        _ => None,
    })
}
