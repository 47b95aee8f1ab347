//! What a run came to: its class, its figures, and who or what caused each failure (SPEC B17, B20, C6, E14).
//!
//! Measured from the state alone, so that every replay of a journal gives the same report. Missing is not
//! zero: what was not measured is counted beside the sums. How it looks is the coordinator's affair.

mod attribution;
mod latency;
mod metrics;
mod outcome;
mod phases;
mod spending;

use std::fmt;

pub use attribution::{Cause, Failure};
pub use latency::{Latency, Part, Parts, Segment, segments};
pub use metrics::{Metrics, Recovery, ScopeDelta, VerificationWaste};
pub use outcome::Class;
#[cfg(test)]
pub(crate) use outcome::violations;
pub use phases::{Level, Row};
pub use spending::{Amount, BudgetUse, Total, cost, tokens};

use crate::event::Millis;
use crate::run::{Run, RunState};

/// See the module.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Up to when it was measured: the end of the run, or now while it goes on.
    pub at: Millis,
    /// How the run stands.
    pub state: RunState,
    /// What it came to; nothing while it goes on.
    pub class: Option<Class>,
    /// Why it is of that class, for people; never empty.
    pub reasons: Vec<String>,
    /// The figures.
    pub metrics: Metrics,
    /// Of the run, then of its items in the order of the plan; only what is limited and was begun.
    pub budgets: Vec<BudgetUse>,
    /// Every attempt that failed and every item that was parked, in the order of the plan.
    pub failures: Vec<Failure>,
    /// Every attempt with its phases, and what was done to its result, in the order of the plan.
    pub rows: Vec<Row>,
}

/// Measures a run.
#[must_use]
pub fn of(run: &Run, now: Millis) -> Report {
    let at = run.ended.unwrap_or(now);
    let (class, reasons) = outcome::of(run);
    Report {
        at,
        state: run.state(),
        class,
        reasons,
        metrics: metrics::of(run, at),
        budgets: spending::budgets(run, at),
        failures: attribution::failures(run),
        rows: phases::rows(run, at),
    }
}

/// So many of so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ratio {
    /// Those that are meant.
    pub part: u64,
    /// All of them.
    pub of: u64,
}

impl Ratio {
    /// Counts those for which the test holds.
    pub(crate) fn count<T>(all: impl IntoIterator<Item = T>, test: impl Fn(&T) -> bool) -> Self {
        all.into_iter().fold(Self::default(), |ratio, one| ratio.plus(test(&one)))
    }

    /// One more, which is meant or not.
    pub(crate) fn plus(self, meant: bool) -> Self {
        Self { part: self.part + u64::from(meant), of: self.of + 1 }
    }

    /// In per cent, rounded down, so that only all is 100; nothing when there was nothing to count.
    #[must_use]
    pub fn percent(self) -> Option<u64> {
        self.part.saturating_mul(100).checked_div(self.of)
    }
}

impl fmt::Display for Ratio {
    /// `7 of 9 (77 %)`; `-` when there was nothing to count.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.percent() {
            Some(percent) => write!(f, "{} of {} ({percent} %)", self.part, self.of),
            None => f.write_str("-"),
        }
    }
}
