//! The First Artifact Rule (SPEC B4): who has spent a fair share and shows nothing is asked for something small.
//!
//! Exactly at the share is still fine. The demand narrows the scope to what the contract delivers; who does not
//! answer it within half the share again is ended. A verification makes no artifact, so its attempts are not
//! weighed.

use cantus_proto::contract::{AllowedScope, Contract};
use cantus_proto::message::Pulse;
use cantus_proto::plan::scope::pattern_covers;
use cantus_proto::units::share;

use crate::record::{Demand, DemandKind};
use crate::text;

/// After a demand an attempt has this long at least, in milliseconds, unless its time is shorter than that:
/// tokens are told in bursts, and an agent must be able to read the demand before it is ended.
const ANSWER_MS_MIN: u64 = 60_000;

/// What the rule asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Nothing.
    Fine,
    /// A minimal artifact, now.
    Demand(Demand),
    /// The end of the attempt, for this reason.
    End(String),
}

/// Weighs an attempt at work. `tokens` are used and reserved; `demanded` is how much of its time had gone when
/// the artifact was demanded.
///
/// A workspace that nobody has looked at yet may hold anything: its attempt is asked, and not ended.
#[must_use]
pub fn weigh(
    contract: &Contract,
    elapsed_ms: u64,
    wall_clock_ms: u64,
    tokens: Option<(u64, u64)>,
    pulse: Option<&Pulse>,
    demanded: Option<u64>,
) -> Step {
    let ratio = contract.budgets.first_artifact_ratio;
    let time_share = share(wall_clock_ms, ratio);
    let (used, token_share) = tokens.map_or((0, u64::MAX), |(used, of)| (used, share(of, ratio)));
    let paths = deliverable_paths(contract);
    let Some(demanded) = demanded else {
        let due = elapsed_ms > time_share || used > token_share;
        if !due || pulse.is_some_and(has_any) {
            return Step::Fine;
        }
        return Step::Demand(demand(elapsed_ms > time_share, ratio, paths));
    };
    let grace = time_share / 2;
    let since = elapsed_ms.saturating_sub(demanded);
    let tokens_over = used > token_share.saturating_add(token_share / 2);
    let over = since > grace || (tokens_over && since > grace.min(ANSWER_MS_MIN));
    let Some(pulse) = pulse.filter(|_| over) else { return Step::Fine };
    if answers(pulse, &contract.allowed_scope, &paths) {
        return Step::Fine;
    }
    Step::End(text::cut(format!(
        "an artifact was demanded after {} s and none came in {} s more{}",
        demanded / 1000,
        since / 1000,
        place(&paths)
    )))
}

/// How often a workspace must be looked at, in milliseconds, for the rule to see an answer in time.
#[must_use]
pub fn look_ms(contract: &Contract, wall_clock_ms: u64, window_ms: u64) -> u64 {
    let grace = share(wall_clock_ms, contract.budgets.first_artifact_ratio) / 2;
    window_ms.min(grace / 2).max(1)
}

fn has_any(pulse: &Pulse) -> bool {
    pulse.commits > 0 || pulse.changed_count > 0 || !pulse.changed.is_empty()
}

/// Whether there is an artifact where it was asked for. Of many changed paths only some are told: what is not
/// told may be the answer.
fn answers(pulse: &Pulse, scope: &AllowedScope, paths: &[String]) -> bool {
    if pulse.changed_count as usize > pulse.changed.len() {
        return true;
    }
    if paths.is_empty() {
        return pulse.commits > 0 || pulse.changed.iter().any(|path| scope.covers(path));
    }
    let inside = |path: &Vec<u8>| paths.iter().any(|pattern| pattern_covers(pattern, path));
    pulse.changed.iter().any(inside)
}

/// The paths that deliverables begin with, as far as the scope covers them.
fn deliverable_paths(contract: &Contract) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for deliverable in &contract.deliverables {
        let first = deliverable.split_whitespace().next().unwrap_or_default();
        let word = first.trim_matches(['`', '"', '\'', ',', ':', ';']);
        if is_path(word, &contract.allowed_scope) && !paths.iter().any(|path| path == word) {
            paths.push(word.to_owned());
        }
    }
    paths
}

/// A wide scope covers every word; what has neither a slash nor a dot is a path only if the scope names it.
fn is_path(word: &str, scope: &AllowedScope) -> bool {
    scope.paths.iter().any(|pattern| pattern == word)
        || (word.contains(['/', '.']) && scope.covers(word.trim_end_matches('/').as_bytes()))
}

fn demand(of_time: bool, ratio: f64, paths: Vec<String>) -> Demand {
    let of = if of_time { "time" } else { "tokens" };
    let text = text::cut(format!(
        "more than {} % of the {of} is spent and no file has changed: before anything else write the smallest \
         artifact that counts{}",
        share(100, ratio),
        place(&paths)
    ));
    Demand { kind: DemandKind::FirstArtifact, text, paths }
}

fn place(paths: &[String]) -> String {
    if paths.is_empty() { String::new() } else { format!(", in {}", paths.join(", ")) }
}

#[cfg(test)]
mod tests;
