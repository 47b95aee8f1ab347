//! What an attempt's time went into (SPEC E14).

use std::time::Duration;

use cantus_proto::message::Phase;
use tokio::time::Instant;

/// Durations by name, in the order in which they began.
#[derive(Debug, Default)]
pub(crate) struct Phases(Vec<(&'static str, Duration)>);

impl Phases {
    /// Adds what this takes to the phase of this name.
    pub(crate) async fn time<T>(&mut self, name: &'static str, part: impl Future<Output = T>) -> T {
        let begun = Instant::now();
        let done = part.await;
        let took = begun.elapsed();
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, total)) => *total += took,
            None => self.0.push((name, took)),
        }
        done
    }

    /// For a report.
    pub(crate) fn list(&self) -> Vec<Phase> {
        let phase = |(name, took): &(&str, Duration)| Phase {
            name: (*name).to_owned(),
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        };
        self.0.iter().map(phase).collect()
    }
}
