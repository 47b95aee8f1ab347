//! What goes on beside the agent: its progress is told, its pulse taken (SPEC B8), and what the kernel demands is put
//! where it can read it.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::future::pending;
use std::time::Duration;

use cantus_proto::message::{Pulse, Usage, UsageSource};
use cantus_runner::helper::{Helpers, Look};
use cantus_runner::lease::Lease;
use cantus_runner::text::{chain, cut};
use tokio::time::{Instant, MissedTickBehavior};

use crate::desk::Desk;
use crate::outbox::{Outbox, Progress};

/// How often the outbox is looked into for progress.
const PROGRESS_LOOK: Duration = Duration::from_millis(500);

/// Longest progress that is told at once, in bytes.
const PROGRESS_BYTES_MAX: usize = 8 * 1024;

/// Most reports of progress in one attempt: what comes later is shown with the heartbeats only.
const PROGRESS_REPORTS_MAX: u32 = 500;

/// Longest pause between two looks at the work, unless looking itself is slow.
const LOOK_PAUSE_MAX: Duration = Duration::from_secs(10);

/// Looks in one window: with four, a window never passes without one.
const LOOKS_PER_WINDOW: u32 = 4;

/// The pause after a look is so many times what it took: at most the 20th part of the time goes into looking.
const PAUSE_PER_LOOK: u32 = 19;

/// Watches one attempt.
#[derive(Debug)]
pub(crate) struct Watch<'a> {
    lease: &'a Lease,
    helpers: Helpers<'a>,
    outbox: &'a Outbox,
    desk: &'a Desk,
    progress: RefCell<Progress>,
    receipts: Cell<u32>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(
        lease: &'a Lease,
        helpers: Helpers<'a>,
        outbox: &'a Outbox,
        desk: &'a Desk,
    ) -> Self {
        let (progress, receipts) = (RefCell::default(), Cell::new(0));
        Self { lease, helpers, outbox, desk, progress, receipts }
    }

    /// One more command of ours has ended.
    pub(crate) fn receipt(&self) {
        self.receipts.set(self.receipts.get().saturating_add(1));
    }

    /// Watches until it is dropped.
    pub(crate) async fn run(&self) -> Infallible {
        tokio::select! {
            never = self.tell_progress() => never,
            never = self.take_pulse() => never,
            never = self.pass_demands() => never,
        }
    }

    async fn tell_progress(&self) -> Infallible {
        let mut ticks = tokio::time::interval(PROGRESS_LOOK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut reports = 0;
        loop {
            ticks.tick().await;
            let texts = self.outbox.progress(&mut self.progress.borrow_mut());
            let Some(last) = texts.last() else { continue };
            self.lease.note(last);
            if reports == PROGRESS_REPORTS_MAX {
                continue;
            }
            reports += 1;
            let text = cut(&texts.join("\n"), PROGRESS_BYTES_MAX).to_owned();
            self.lease.reporter.progress(text).await;
        }
    }

    async fn take_pulse(&self) -> Infallible {
        let window = Duration::from_millis(self.lease.attempt.limits.window_ms);
        let pause = LOOK_PAUSE_MAX.min(window / LOOKS_PER_WINDOW);
        let mut pulse = Pulse::default();
        let mut next = pause;
        loop {
            tokio::time::sleep(next).await;
            let begun = Instant::now();
            match self.helpers.look(&self.lease.base).await {
                Ok(look) => see(&mut pulse, look),
                // What was seen before still holds, and what was used is told all the same.
                Err(error) => tracing::debug!(error = chain(&error), "the work cannot be seen"),
            }
            self.listen(&mut pulse);
            self.lease.pulse(pulse.clone());
            next = pause.max(begun.elapsed() * PAUSE_PER_LOOK);
        }
    }

    /// Adds what the agent says to what is seen of its work.
    fn listen(&self, pulse: &mut Pulse) {
        let claims = u32::try_from(self.outbox.claims_so_far()).unwrap_or(u32::MAX);
        pulse.evidence = pulse.evidence.max(claims.saturating_add(self.receipts.get()));
        let progress = self.progress.borrow();
        let told = progress.told();
        pulse.score = told.score;
        pulse.blocker.clone_from(&told.blocker);
        pulse.next_action.clone_from(&told.next_action);
        pulse.iterations = told.iterations;
        pulse.usage = usage(self.lease.settings.usage, self.outbox.usage_so_far());
    }

    async fn pass_demands(&self) -> Infallible {
        let mut demands = self.lease.demands();
        let mut passed = 0;
        loop {
            let all = demands.borrow_and_update().clone();
            match self.desk.demand(&all[passed..]) {
                Ok(()) => passed = all.len(),
                // They are passed on with the next.
                Err(error) => tracing::warn!(%error, "a demand cannot be passed on"),
            }
            if demands.changed().await.is_err() {
                // Nobody demands any more.
                pending::<()>().await;
            }
        }
    }
}

/// What a look shows. Counts only grow: an agent may take commits back, but it made them.
fn see(pulse: &mut Pulse, look: Look) {
    let Look { commits, changed, changed_count, fingerprint } = look;
    pulse.commits = pulse.commits.max(commits);
    (pulse.changed, pulse.changed_count, pulse.fingerprint) = (changed, changed_count, fingerprint);
}

/// What was used: as told; zero when the role's command calls no model and nothing else is told.
pub(crate) fn usage(source: UsageSource, told: Option<Usage>) -> Option<Usage> {
    match source {
        UsageSource::Outbox => told,
        UsageSource::None => Some(told.unwrap_or_default()),
    }
}
