//! What is counted of one lease at work: rounds without a commit, and the pace at which it spends.

use std::collections::VecDeque;

use cantus_proto::message::{Pulse, Usage};

/// Windows whose tokens make the pace: over fewer it is noise, over more it is history.
const PACE_WINDOWS: usize = 3;

/// See the module; volatile.
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
        self.tokens.extend(pulse.usage.as_ref().map(Usage::tokens));
        while self.tokens.len() > PACE_WINDOWS + 1 {
            self.tokens.pop_front();
        }
    }

    /// Windows since the last commit.
    #[must_use]
    pub fn windows_without_commit(&self) -> u32 {
        self.windows_without_commit
    }

    /// Rounds that the agent told since the last commit.
    #[must_use]
    pub fn iterations_without_commit(&self) -> u32 {
        self.iterations.saturating_sub(self.iterations_at_commit)
    }

    /// Whether half of time or tokens is spent, nothing is committed, and the rest lasts for fewer windows than
    /// went by so far.
    pub(super) fn ends_before_work(&self, time: (u64, u64), tokens: Option<(u64, u64)>) -> bool {
        // A window of time costs the same each time: the rest is shorter than what went by.
        let by_time = time.0 > time.1.saturating_sub(time.0);
        let by_tokens = tokens.is_some_and(|(spent, of)| {
            let pace = self.pace().unwrap_or_default();
            let rest = u128::from(of.saturating_sub(spent));
            spent >= of.saturating_sub(spent)
                && rest * u128::from(pace.1) < u128::from(pace.0) * u128::from(self.windows)
        });
        self.commits == 0 && self.windows > 0 && (by_time || by_tokens)
    }

    /// Whether three quarters of time or tokens are spent.
    pub(super) fn mostly_spent(&self, time: (u64, u64), tokens: Option<(u64, u64)>) -> bool {
        let most = |(spent, of): (u64, u64)| u128::from(spent) * 4 >= u128::from(of) * 3;
        most(time) || tokens.is_some_and(most)
    }

    /// Tokens that the last windows used, and how many windows these are; nothing while that is not known.
    fn pace(&self) -> Option<(u64, u32)> {
        let windows = u32::try_from(self.tokens.len().checked_sub(1)?).ok()?;
        Some((self.tokens.back()?.saturating_sub(*self.tokens.front()?), windows))
    }
}
