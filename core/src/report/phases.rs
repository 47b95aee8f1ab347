//! Every phase, attempt and round with its start, duration, tokens, cost and outcome (SPEC C6, E14).

use cantus_proto::ids::AttemptNumber;
use cantus_proto::message::{AttemptKind, Phase};

use super::latency::{Part, Segment, segments};
use super::spending::{Amount, cost, tokens};
use crate::attempt::Attempt;
use crate::event::{ItemIndex, Millis};
use crate::item::Item;
use crate::run::{Run, index};

/// What a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// An attempt in somebody's hands.
    Attempt,
    /// A part of the attempt above, as its holder told it.
    Phase,
    /// Something between two attempts: a wait, the gates, the landing.
    Step,
}

/// One row of the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Of which item.
    pub item: ItemIndex,
    /// What it is about.
    pub level: Level,
    /// `produce`, `repair`, `verify`; a phase's name; `queue`, `gate` or `land`.
    pub name: String,
    /// Which attempt it belongs to.
    pub attempt: Option<AttemptNumber>,
    /// Which try at the item, from 1: a verification is of the round whose work it checks.
    pub round: u32,
    /// When it began. Phases are told by their durations and follow one another.
    pub start: Millis,
    /// How long it took.
    pub duration_ms: u64,
    /// Of attempts.
    pub tokens: Amount,
    /// Of attempts, in millionths of a dollar.
    pub cost: Amount,
    /// Of attempts: how it ended, and why.
    pub outcome: String,
}

/// All rows of a run.
pub(super) fn rows(run: &Run, at: Millis) -> Vec<Row> {
    let mut rows = Vec::new();
    for (place, item) in run.items.iter().enumerate() {
        for segment in segments(run, item, at) {
            let attempt = segment.attempt.and_then(|number| Some((number, item.attempt(number)?)));
            match (segment.part, attempt) {
                (Part::Work | Part::Verify, Some((number, attempt))) => {
                    let row = of_attempt(index(place), item, number, attempt, segment);
                    let round = row.round;
                    rows.push(row);
                    rows.extend(of_phases(index(place), number, round, attempt));
                }
                (part, attempt) => rows.push(Row {
                    item: index(place),
                    level: Level::Step,
                    name: part.as_str().to_owned(),
                    attempt: segment.attempt,
                    round: attempt.map_or(1, |(number, _)| round(item, number)),
                    start: segment.start,
                    duration_ms: segment.ms(),
                    tokens: Amount::Nothing,
                    cost: Amount::Nothing,
                    outcome: String::new(),
                }),
            }
        }
    }
    rows
}

fn of_attempt(
    place: ItemIndex,
    item: &Item,
    number: AttemptNumber,
    attempt: &Attempt,
    segment: Segment,
) -> Row {
    let name = match attempt.kind {
        AttemptKind::Produce => "produce",
        AttemptKind::Repair => "repair",
        AttemptKind::Verify => "verify",
    };
    Row {
        item: place,
        level: Level::Attempt,
        name: name.to_owned(),
        attempt: Some(number),
        round: round(item, number),
        start: segment.start,
        duration_ms: segment.ms(),
        tokens: tokens(attempt),
        cost: cost(attempt),
        outcome: attempt.outcome.as_ref().map_or_else(|| "at work".to_owned(), ToString::to_string),
    }
}

/// What the holder told of its time.
fn of_phases(place: ItemIndex, number: AttemptNumber, round: u32, attempt: &Attempt) -> Vec<Row> {
    let mut start = attempt.leased.unwrap_or(attempt.queued);
    let row = |phase: &Phase| {
        let began = start;
        start = start.plus(phase.duration_ms);
        Row {
            item: place,
            level: Level::Phase,
            name: phase.name.clone(),
            attempt: Some(number),
            round,
            start: began,
            duration_ms: phase.duration_ms,
            tokens: Amount::Nothing,
            cost: Amount::Nothing,
            outcome: String::new(),
        }
    };
    phases(attempt).iter().map(row).collect()
}

/// Settled phases, or those of the result.
fn phases(attempt: &Attempt) -> &[Phase] {
    match (attempt.spent.as_deref(), attempt.result.as_deref()) {
        (Some(spent), _) if !spent.phases.is_empty() => &spent.phases,
        (_, Some(result)) => &result.phases,
        _ => &[],
    }
}

/// How many tries there had been at the item with this attempt.
fn round(item: &Item, number: AttemptNumber) -> u32 {
    let so_far = item.attempts.get(..number.0 as usize).unwrap_or_default();
    let tries = so_far.iter().filter(|attempt| attempt.kind != AttemptKind::Verify).count();
    u32::try_from(tries).unwrap_or(u32::MAX)
}
