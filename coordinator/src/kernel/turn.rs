//! One turn of the loop: what its events decided, made durable, then acted on.

use bytes::Bytes;

use cantus_core::Step;
use cantus_core::event::{Action, Event, Millis};
use cantus_core::journal::wire;
use cantus_core::record::Record;

use super::{Kernel, KernelError, now};

/// Most records of one message: bounded, so that a message stays far below the bus's payload limit even when
/// each record carries evidence.
const RECORD_BYTES_PER_MESSAGE: usize = 256 * 1024;

/// See the module.
pub(super) struct Turn {
    /// All its events happen at this time.
    pub(super) now: Millis,
    records: Vec<Record>,
    pub(super) actions: Vec<Action>,
    pub(super) refused: Vec<String>,
    consumed_before: u64,
}

impl Turn {
    pub(super) fn add(&mut self, step: Step) {
        self.records.extend(step.records);
        self.actions.extend(step.actions);
        self.refused.extend(step.refused);
    }
}

impl Kernel {
    pub(super) fn begin(&self) -> Turn {
        Turn {
            now: now(),
            records: Vec::new(),
            actions: Vec::new(),
            refused: Vec::new(),
            consumed_before: self.reports_through,
        }
    }

    pub(super) fn step(&mut self, turn: &mut Turn, event: Event) {
        turn.add(self.core.step(turn.now, event));
    }

    /// Appends what was decided, then starts what is to be done.
    pub(super) async fn finish(&mut self, turn: Turn) -> Result<(), KernelError> {
        for refused in &turn.refused {
            tracing::warn!("refused: {refused}");
        }
        let consumed =
            (self.reports_through > turn.consumed_before).then_some(self.reports_through);
        let mut pending = Vec::new();
        let messages = messages(&turn, consumed);
        if messages.is_empty() && !turn.refused.is_empty() {
            self.is_current().await?;
        }
        for (run, payload) in messages {
            let id = format!("{}-{}", self.name, self.journal_end + 1);
            pending.push(self.bus.journal_append(&run, payload, self.journal_end, &id).await);
            self.journal_end += 1;
        }
        for append in pending {
            if let Err(error) = append.await {
                // An append onto a store that is older than ours is never taken.
                self.is_current().await?;
                return Err(error.into());
            }
        }
        if !turn.records.is_empty() {
            self.changes.send_modify(|count| *count += 1);
        }
        for action in turn.actions {
            self.effects.start(action).await;
        }
        Ok(())
    }
}

/// Groups consecutive records of one run into messages. The last message says how far reports are consumed;
/// reports that decided nothing are consumed with the next message.
fn messages(turn: &Turn, consumed: Option<u64>) -> Vec<(cantus_proto::ids::RunId, Bytes)> {
    let mut groups: Vec<&[Record]> = turn.records.chunk_by(|a, b| a.run == b.run).collect();
    let last = groups.pop();
    let mut messages = Vec::new();
    for group in groups {
        split(group, turn.now, None, &mut messages);
    }
    if let Some(group) = last {
        split(group, turn.now, consumed, &mut messages);
    }
    messages
}

fn split(
    records: &[Record],
    at: Millis,
    consumed: Option<u64>,
    messages: &mut Vec<(cantus_proto::ids::RunId, Bytes)>,
) {
    let run = &records[0].run;
    let payload = wire::encode(run, at, records, consumed);
    if payload.len() <= RECORD_BYTES_PER_MESSAGE || records.len() == 1 {
        messages.push((run.clone(), payload));
        return;
    }
    let (first, second) = records.split_at(records.len() / 2);
    split(first, at, None, messages);
    split(second, at, consumed, messages);
}
