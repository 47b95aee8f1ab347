//! The progress heartbeat (SPEC B8): each window must bring an artifact, evidence or a better score.
//!
//! Words (a note, a next action) are told and never count. What windows without progress force grows by steps:
//! another approach, then what there is, then another worker. The journal remembers demands only: a [`Watch`] is
//! volatile, and begins anew with the first look after a restart.

use cantus_proto::message::Pulse;

use crate::breaker::Rounds;
use crate::event::Millis;
use crate::record::{Demand, DemandKind};
use crate::text;

/// What is remembered of one lease at work.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Watch {
    /// The window's start with what there was then; nothing before the first look.
    window: Option<(Millis, Pulse)>,
    /// The best so far.
    score: Option<f64>,
    /// Windows without progress since something was forced.
    idle: u32,
    /// Demands that were made before the last progress: they are answered.
    answered: usize,
    /// For the circuit breaker.
    pub rounds: Rounds,
}

/// What a window brought.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Window {
    /// Other work than at its start, or more commits.
    pub artifact: bool,
    /// More claims or receipts.
    pub evidence: bool,
    /// Better than ever before.
    pub better_score: bool,
    /// What the agent says it cannot get past.
    pub blocker: Option<String>,
    /// What the agent says it does next.
    pub next_action: Option<String>,
}

/// What must change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Nothing.
    None,
    /// The approach: to be demanded.
    NewApproach,
    /// The worker: the attempt ends.
    AnotherWorker,
    /// A person decides, about this blocker.
    Person(String),
    /// What there is, to be demanded now.
    PartialResult,
}

impl Window {
    /// Whether it brought anything but words.
    #[must_use]
    pub fn progress(&self) -> bool {
        self.artifact || self.evidence || self.better_score
    }

    fn of(before: &Pulse, pulse: &Pulse, best: Option<f64>) -> Self {
        let changed = pulse.changed_count > 0 && pulse.fingerprint != before.fingerprint;
        Self {
            artifact: pulse.commits > before.commits || changed,
            evidence: pulse.evidence > before.evidence,
            better_score: pulse.score.is_some_and(|score| best.is_none_or(|best| score > best)),
            blocker: said(pulse.blocker.as_ref()),
            next_action: said(pulse.next_action.as_ref()),
        }
    }
}

impl Watch {
    /// Looks at the work. Gives the window if one has just closed, and what it forces.
    ///
    /// However far a clock jumps ahead, one window closes; a jump back begins the window anew.
    pub fn look(
        &mut self,
        now: Millis,
        window_ms: u64,
        no_progress_windows_max: u32,
        pulse: &Pulse,
        demanded: &[(Millis, Demand)],
    ) -> (Option<Window>, Change) {
        self.rounds.note(pulse);
        let Some((began, before)) = self.window.take() else {
            self.rounds.close(false, pulse);
            self.score = pulse.score;
            self.window = Some((now, pulse.clone()));
            return (None, Change::None);
        };
        if now.0.saturating_sub(began.0) < window_ms.max(1) {
            self.window = Some((began.min(now), before));
            return (None, Change::None);
        }
        let window = Window::of(&before, pulse, self.score);
        self.rounds.close(true, pulse);
        let change = if window.progress() {
            self.idle = 0;
            self.answered = demanded.len();
            self.score = if window.better_score { pulse.score } else { self.score };
            Change::None
        } else {
            self.idle = self.idle.saturating_add(1);
            let stood = said(before.blocker.as_ref()).and(window.blocker.clone());
            stood.map_or_else(
                || self.force(no_progress_windows_max, pulse, demanded),
                Change::Person,
            )
        };
        self.rounds.moving = window.progress();
        self.window = Some((now, pulse.clone()));
        (Some(window), change)
    }

    /// What as many windows without progress force; after it they are counted anew.
    fn force(&mut self, windows_max: u32, pulse: &Pulse, demanded: &[(Millis, Demand)]) -> Change {
        if self.idle < windows_max.max(1) {
            return Change::None;
        }
        self.idle = 0;
        let open = demanded.get(self.answered..).unwrap_or_default();
        let asked = |kind| open.iter().any(|(_, demand)| demand.kind == kind);
        if !asked(DemandKind::NewApproach) {
            return Change::NewApproach;
        }
        let has_artifact = pulse.commits > 0 || pulse.changed_count > 0;
        match has_artifact && !asked(DemandKind::PartialResult) {
            true => Change::PartialResult,
            false => Change::AnotherWorker,
        }
    }
}

/// What was said, if it says anything.
fn said(text: Option<&String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty()).map(|text| text::cut(text.clone()))
}

#[cfg(test)]
mod tests;
