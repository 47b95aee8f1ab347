//! The heartbeat of a lease: asks the coordinator again and again whether to go on.
//!
//! It carries the pulse of the work out and the kernel's demands in. No answer means that the coordinator or the bus is away, and the work goes on up to its wall clock. Only a clear
//! word stops it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cantus_proto::bus::{Bus, HeartbeatAnswer};
use cantus_proto::ids::{LeaseId, RoleName};
use cantus_proto::message::{Attempt, Heartbeat, Pulse};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, MissedTickBehavior};

use crate::text::{chain, cut};

/// Longest note of a heartbeat, in bytes: one line for people.
const NOTE_BYTES_MAX: usize = 500;

/// What the next beat carries.
#[derive(Debug, Default)]
struct Says {
    note: String,
    pulse: Option<Pulse>,
}

/// Beats until it is dropped.
#[derive(Debug)]
pub(crate) struct Heart {
    says: Arc<Mutex<Says>>,
    demands: watch::Receiver<Vec<String>>,
    reason: watch::Receiver<Option<String>>,
    stop: watch::Receiver<bool>,
    beating: JoinHandle<()>,
}

impl Heart {
    pub(crate) fn start(bus: Bus, role: RoleName, attempt: &Attempt, lease: &LeaseId) -> Self {
        let says = Arc::new(Mutex::new(Says::default()));
        let (demand_sender, demands) = watch::channel(Vec::new());
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
        let said = Arc::clone(&says);
        let beating = tokio::spawn(async move {
            // Not at once: the coordinator reads of the lease while the work begins.
            let mut ticks = tokio::time::interval_at(Instant::now() + pause, pause);
            // After a pause of the whole machine, one beat is enough.
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                let (note, pulse) = {
                    let said = said.lock().unwrap_or_else(PoisonError::into_inner);
                    (said.note.clone(), said.pulse.clone())
                };
                match bus.heartbeat(&role, &Heartbeat { note, pulse, ..beat.clone() }).await {
                    Ok(HeartbeatAnswer::NoAnswer) => {}
                    Ok(HeartbeatAnswer::GoOn(all)) => {
                        // All so far, each time: only a longer list says something new.
                        demand_sender.send_if_modified(|known| {
                            let more = all.len() > known.len();
                            if more {
                                *known = all;
                            }
                            more
                        });
                    }
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
        Self { says, demands, reason, stop, beating }
    }

    pub(crate) fn stop(&self) -> watch::Receiver<bool> {
        self.stop.clone()
    }

    pub(crate) fn stop_reason(&self) -> Option<String> {
        self.reason.borrow().clone()
    }

    pub(crate) fn note(&self, text: &str) {
        let text = cut(text, NOTE_BYTES_MAX).to_owned();
        self.says.lock().unwrap_or_else(PoisonError::into_inner).note = text;
    }

    pub(crate) fn pulse(&self, pulse: Pulse) {
        self.says.lock().unwrap_or_else(PoisonError::into_inner).pulse = Some(pulse);
    }

    pub(crate) fn demands(&self) -> watch::Receiver<Vec<String>> {
        self.demands.clone()
    }
}

impl Drop for Heart {
    fn drop(&mut self) {
        self.beating.abort();
    }
}
