//! The figures of SPEC B17, each with its definition.

use std::collections::BTreeMap;

use cantus_proto::ids::AttemptNumber;
use cantus_proto::message::AttemptKind;

use super::latency::{self, Latency};
use super::spending::{Total, cost, tokens};
use super::{Ratio, outcome};
use crate::attempt::{Attempt, Outcome};
use crate::event::Millis;
use crate::evidence_or_abstain::{Status, status};
use crate::item::{Item, State};
use crate::record::Ending;
use crate::run::Run;
use crate::scope_delta::Rule;
use crate::verification_budget::repeated_checks;

/// See the module.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Metrics {
    /// Verified success rate: items that landed, of all items, those of splits included.
    pub verified: Ratio,
    /// Human intervention rate: items that a person approved, requeued, rechecked or cancelled, of all items.
    pub interventions: Ratio,
    /// See [`ScopeDelta`].
    pub scope_delta: ScopeDelta,
    /// Items whose first try landed as it was handed in, of all items that were tried and have ended. A try that a
    /// person had to let through does not pass; a run that only reports has none to count.
    pub pass_at_1: Ratio,
    /// The same for the first three tries, those before a requeue included.
    pub pass_at_3: Ratio,
    /// Wall clock against the longest chain through the graph; see [`Latency`].
    pub latency: Latency,
    /// Tokens of all attempts that are over.
    pub tokens: Total,
    /// Millionths of a dollar of all attempts that are over.
    pub cost: Total,
    /// See [`VerificationWaste`].
    pub verification_waste: VerificationWaste,
    /// Repeated check count: verifications that looked at a tree which one before had looked at and could not decide
    /// (SPEC B5).
    pub repeated_checks: u64,
    /// Unsupported claims of agents, of all their claims: said to have been observed, and the ledger (SPEC B7) does not
    /// call them verified. An inference, a hypothesis or what was inaccessible claims no more than that.
    pub unsupported_claims: Ratio,
    /// Unsafe action blocks: what the gates kept out and nobody let through, by rule.
    pub unsafe_blocks: BTreeMap<Rule, u64>,
    /// See [`Recovery`].
    pub recovery: Recovery,
    /// Learnings that a verified tree shows to be applied, of those that were looked for, in the newest look at
    /// each item.
    pub learnings_applied: Ratio,
    /// Different learnings that came up.
    pub learnings_new: u64,
}

/// Findings of the gates (SPEC B6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScopeDelta {
    /// In results that were kept out for good.
    pub kept_out: u64,
    /// In results that a person let through.
    pub let_through: u64,
}

/// Verifications that brought nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VerificationWaste {
    /// Those that decided nothing, of all that are over.
    pub undecided: Ratio,
    /// Those that proved a tree which then did not land, because the head had moved, of all that are over.
    pub outrun: Ratio,
    /// Milliseconds in verifiers' hands of both.
    pub wasted_ms: u64,
    /// Milliseconds in verifiers' hands of all.
    pub all_ms: u64,
}

/// Checkpoint recovery: what became of work whose holder was lost (SPEC B3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recovery {
    /// Attempts that were lost and whose item landed or reported later, of all that were lost.
    pub recovered: Ratio,
    /// Commits of attempts that no longer counted, kept.
    pub saved: u64,
}

/// Measures them.
pub(super) fn of(run: &Run, at: Millis) -> Metrics {
    let items = &run.items;
    let attempts = || items.iter().flat_map(|item| &item.attempts);
    let lands = run.repository.is_some();
    let tried = || items.iter().filter(|item| lands && item.state.is_terminal() && tries(item) > 0);
    Metrics {
        verified: Ratio::count(items, |item| has_landed(item)),
        interventions: Ratio::count(items, |item| !outcome::interventions(item).is_empty()),
        scope_delta: scope_delta(items),
        pass_at_1: Ratio::count(tried(), |item| passes_within(item, 1)),
        pass_at_3: Ratio::count(tried(), |item| passes_within(item, 3)),
        latency: latency::of(run, at),
        tokens: Total::of(attempts().map(tokens)),
        cost: Total::of(attempts().map(cost)),
        verification_waste: verification_waste(items),
        repeated_checks: items.iter().map(|item| u64::from(repeated_checks(item))).sum(),
        unsupported_claims: unsupported_claims(items),
        unsafe_blocks: unsafe_blocks(items),
        recovery: recovery(items),
        learnings_applied: learnings_applied(items),
        learnings_new: learnings_new(items),
    }
}

fn has_landed(item: &Item) -> bool {
    matches!(item.state, State::Landed(_))
}

fn tries(item: &Item) -> usize {
    item.attempts.iter().filter(|attempt| attempt.kind != AttemptKind::Verify).count()
}

fn passes_within(item: &Item, tries_max: usize) -> bool {
    let helped = item.work().is_some_and(|(number, _)| item.approval(number).is_some());
    has_landed(item) && tries(item) <= tries_max && !helped
}

/// Each attempt with what the gates found in it, and whether a person let it through.
fn findings(items: &[Item]) -> impl Iterator<Item = (&Attempt, bool)> {
    items.iter().flat_map(|item| {
        let numbered = item.attempts.iter().zip(1..);
        numbered.filter(|(attempt, _)| !attempt.out_of_scope().is_empty()).map(
            |(attempt, number)| {
                let number = AttemptNumber(number);
                (attempt, item.approval(number).is_some())
            },
        )
    })
}

fn scope_delta(items: &[Item]) -> ScopeDelta {
    let count = |wanted: bool| {
        let chosen = findings(items).filter(|(_, let_through)| *let_through == wanted);
        chosen.map(|(attempt, _)| attempt.out_of_scope().len() as u64).sum()
    };
    ScopeDelta { kept_out: count(false), let_through: count(true) }
}

fn unsafe_blocks(items: &[Item]) -> BTreeMap<Rule, u64> {
    let mut blocks = BTreeMap::new();
    for (attempt, _) in findings(items).filter(|(_, let_through)| !let_through) {
        for finding in attempt.out_of_scope() {
            *blocks.entry(finding.rule).or_insert(0) += 1;
        }
    }
    blocks
}

/// The verifications of an item that are over, each with whether another one of the same result, or none, follows.
fn verifications(item: &Item) -> impl Iterator<Item = (&Attempt, bool)> {
    item.attempts.iter().zip(1..).filter_map(|(attempt, next)| {
        let over = attempt.kind == AttemptKind::Verify && attempt.ended.is_some();
        let again = item.attempts.get(next).is_some_and(|a| a.kind == AttemptKind::Verify);
        (over && attempt.leased.is_some()).then_some((attempt, again))
    })
}

fn verification_waste(items: &[Item]) -> VerificationWaste {
    let mut waste = VerificationWaste::default();
    for (attempt, again) in items.iter().flat_map(verifications) {
        let undecided = matches!(attempt.outcome, Some(Outcome::InVain(..)));
        let outrun = attempt.outcome == Some(Outcome::Verified) && again;
        let busy_ms = attempt.busy_ms(Millis::default());
        waste.undecided = waste.undecided.plus(undecided);
        waste.outrun = waste.outrun.plus(outrun);
        waste.all_ms += busy_ms;
        waste.wasted_ms += if undecided || outrun { busy_ms } else { 0 };
    }
    waste
}

fn unsupported_claims(items: &[Item]) -> Ratio {
    let mut ratio = Ratio::default();
    for item in items {
        for (attempt, number) in item.attempts.iter().zip(1..) {
            let claims = attempt.result.as_deref().map_or(&[][..], |result| &result.claims);
            for claim in claims {
                let (status, _) = status(claim, item, AttemptNumber(number));
                ratio = ratio.plus(matches!(status, Status::Unverified | Status::Refuted));
            }
        }
    }
    ratio
}

fn recovery(items: &[Item]) -> Recovery {
    let mut recovery = Recovery::default();
    for item in items {
        let safe = has_landed(item) || matches!(item.state, State::Reported);
        for attempt in &item.attempts {
            if matches!(attempt.outcome, Some(Outcome::InVain(Ending::Lost, _))) {
                recovery.recovered = recovery.recovered.plus(safe);
            }
        }
        recovery.saved += item.saved.len() as u64;
    }
    recovery
}

fn learnings_applied(items: &[Item]) -> Ratio {
    let checked = |attempt: &'_ &Attempt| {
        attempt.exchange.as_deref().is_some_and(|exchange| !exchange.checked.is_empty())
    };
    let newest = items.iter().filter_map(|item| item.attempts.iter().rfind(checked));
    let checks = newest.filter_map(|attempt| attempt.exchange.as_deref());
    Ratio::count(checks.flat_map(|exchange| &exchange.checked), |check| check.applied)
}

fn learnings_new(items: &[Item]) -> u64 {
    let attempts = items.iter().flat_map(|item| &item.attempts);
    let learned = attempts.filter_map(|attempt| attempt.exchange.as_deref());
    let ids: std::collections::BTreeSet<_> =
        learned.flat_map(|exchange| &exchange.learned).collect();
    ids.len() as u64
}
