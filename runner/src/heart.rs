//! The heartbeat of a lease: asks the coordinator again and again whether to go on.
//!
//! No answer means that the coordinator or the bus is away, and the work goes on up to its wall clock. Only a clear
//! word stops it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cantus_proto::bus::{Bus, HeartbeatAnswer};
use cantus_proto::ids::{LeaseId, RoleName};
use cantus_proto::message::{Attempt, Heartbeat};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior};

use crate::text::{chain, cut};

/// Longest note of a heartbeat, in bytes: one line for people.
const NOTE_BYTES_MAX: usize = 500;

/// Beats until it is dropped.
#[derive(Debug)]
pub(crate) struct Heart {
    note: Arc<Mutex<String>>,
    reason: watch::Receiver<Option<String>>,
    stop: watch::Receiver<bool>,
    beating: JoinHandle<()>,
}

impl Heart {
    pub(crate) fn start(bus: Bus, role: RoleName, attempt: &Attempt, lease: &LeaseId) -> Self {
        let note = Arc::new(Mutex::new(String::new()));
        let (reason_sender, reason) = watch::channel(None);
        let (stop_sender, stop) = watch::channel(false);
        let beat = Heartbeat {
            lease: lease.clone(),
            run: attempt.run.clone(),
            item: attempt.item.clone(),
            attempt: attempt.number,
            note: String::new(),
            pulse: None,
        };
        let pause = Duration::from_millis(attempt.limits.heartbeat_ms.max(1));
        let says = Arc::clone(&note);
        let beating = tokio::spawn(async move {
            // Not at once: the coordinator reads of the lease while the work begins.
            let mut ticks = tokio::time::interval_at(Instant::now() + pause, pause);
            // After a pause of the whole machine, one beat is enough.
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                let note = says.lock().unwrap_or_else(PoisonError::into_inner).clone();
                match bus.heartbeat(&role, &Heartbeat { note, ..beat.clone() }).await {
                    Ok(HeartbeatAnswer::GoOn(_) | HeartbeatAnswer::NoAnswer) => {}
                    Ok(HeartbeatAnswer::Stop(why)) => {
                        tracing::warn!(reason = why, "told to stop");
                        reason_sender.send_replace(Some(why));
                        stop_sender.send_replace(true);
                        // The receivers stay valid: what was said last holds.
                        return;
                    }
                    Err(error) => tracing::warn!(error = chain(&error), "a heartbeat was lost"),
                }
            }
        });
        Self { note, reason, stop, beating }
    }

    pub(crate) fn stop(&self) -> watch::Receiver<bool> {
        self.stop.clone()
    }

    pub(crate) fn stop_reason(&self) -> Option<String> {
        self.reason.borrow().clone()
    }

    pub(crate) fn note(&self, text: &str) {
        let text = cut(text, NOTE_BYTES_MAX).to_owned();
        *self.note.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}

impl Drop for Heart {
    fn drop(&mut self) {
        self.beating.abort();
    }
}
