//! What many seeds came to: counts, faults and facts by kind, failures.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use crate::fault::Fault;
use crate::seed::Outcome;

/// A seed in which a rule did not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Run it alone with `--seed`.
    pub seed: u64,
    /// Of the design's invariants; 0 when the core panicked or the model is wrong.
    pub invariant: u8,
    /// What is wrong.
    pub text: String,
    /// Where its events are.
    pub log: Option<PathBuf>,
}

/// See the module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// How many ran.
    pub seeds: u64,
    /// Things that happened in them.
    pub events: u64,
    /// Time that passed in them, in milliseconds.
    pub simulated_ms: u64,
    /// Time that passed outside, in milliseconds.
    pub wall_ms: u64,
    /// How often each fault struck.
    pub faults: BTreeMap<Fault, u64>,
    /// How often each kind of fact was decided.
    pub facts: BTreeMap<String, u64>,
    /// By seed.
    pub failures: Vec<Failure>,
}

impl Report {
    pub(crate) fn add(&mut self, outcome: Outcome) {
        let Outcome { seed, events, simulated_ms, faults, facts, trouble } = outcome;
        let failure = trouble.map(|(invariant, text)| Failure { seed, invariant, text, log: None });
        self.merge(Self {
            seeds: 1,
            events,
            simulated_ms,
            wall_ms: 0,
            faults,
            facts,
            failures: failure.into_iter().collect(),
        });
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.seeds += other.seeds;
        self.events += other.events;
        self.simulated_ms += other.simulated_ms;
        for (fault, count) in other.faults {
            *self.faults.entry(fault).or_insert(0) += count;
        }
        for (fact, count) in other.facts {
            *self.facts.entry(fact).or_insert(0) += count;
        }
        self.failures.extend(other.failures);
    }

    /// One document.
    #[must_use]
    pub fn json(&self) -> String {
        let faults: serde_json::Map<String, serde_json::Value> = Fault::ALL
            .iter()
            .map(|(fault, _)| {
                (format!("{fault:?}"), self.faults.get(fault).copied().unwrap_or(0).into())
            })
            .collect();
        let failure = |failure: &Failure| {
            serde_json::json!({
                "seed": failure.seed,
                "invariant": failure.invariant,
                "text": failure.text,
                "log": failure.log.as_ref().map(|path| path.display().to_string()),
            })
        };
        let document = serde_json::json!({
            "seeds": self.seeds,
            "events": self.events,
            "simulated_ms": self.simulated_ms,
            "wall_ms": self.wall_ms,
            "faults": faults,
            "facts": self.facts,
            "failures": self.failures.iter().map(failure).collect::<Vec<_>>(),
        });
        format!("{document:#}\n")
    }

    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let faults: u64 = self.faults.values().sum();
        let hours = self.simulated_ms / 3_600_000;
        let mut text = format!(
            "{} seeds, {} events, {faults} faults of {} kinds, {hours} h simulated in {} ms\n",
            self.seeds,
            self.events,
            self.faults.len(),
            self.wall_ms,
        );
        for Failure { seed, invariant, text: what, log } in &self.failures {
            let log =
                log.as_ref().map_or(String::new(), |log| format!(" (log: {})", log.display()));
            let _ = writeln!(text, "seed {seed}: invariant {invariant}: {what}{log}");
        }
        text
    }
}
