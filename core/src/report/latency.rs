//! Where the time went: each item's life in parts, and the longest way through the graph.
//!
//! The parts of an item's life have no gaps: from when its last need landed until it ended, every millisecond is
//! in somebody's hands or waits for somebody.

use std::ops::AddAssign;

use cantus_proto::ids::AttemptNumber;
use cantus_proto::message::AttemptKind;

use crate::attempt::Attempt;
use crate::event::{ItemIndex, Millis};
use crate::item::{Item, Outcome};
use crate::run::{Run, index};

/// What an item's time goes into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// It waits for a worker, a verifier, or for a person who puts it back.
    Queue,
    /// A worker has it.
    Work,
    /// Its result is taken in, looked at, perhaps let through by a person, waits for a place of its target, and is merged.
    Gate,
    /// A verifier has it.
    Verify,
    /// It is verified and the target is moved, or found moved.
    Land,
}

impl Part {
    /// All of them, in the order of a life.
    pub const ALL: [Self; 5] = [Self::Queue, Self::Work, Self::Gate, Self::Verify, Self::Land];

    /// The word for people.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Work => "work",
            Self::Gate => "gate",
            Self::Verify => "verify",
            Self::Land => "land",
        }
    }
}

/// Milliseconds by part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Parts([u64; 5]);

impl Parts {
    /// Of this part.
    #[must_use]
    pub fn ms(&self, part: Part) -> u64 {
        self.0[part as usize]
    }

    /// All but the queue: what it would take if somebody were always free.
    #[must_use]
    pub fn busy_ms(&self) -> u64 {
        self.0[Part::Work as usize..].iter().sum()
    }

    fn add(&mut self, segment: &Segment) {
        self.0[segment.part as usize] += segment.ms();
    }
}

impl AddAssign for Parts {
    fn add_assign(&mut self, other: Self) {
        for (mine, others) in self.0.iter_mut().zip(other.0) {
            *mine += others;
        }
    }
}

/// A stretch of an item's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// What it went into.
    pub part: Part,
    /// The attempt that it belongs to: while it was queued, in somebody's hands, or was dealt with.
    pub attempt: Option<AttemptNumber>,
    /// From when.
    pub start: Millis,
    /// Until when.
    pub end: Millis,
}

impl Segment {
    /// Its length.
    #[must_use]
    pub fn ms(&self) -> u64 {
        self.end.0.saturating_sub(self.start.0)
    }
}

/// The life of an item so far, without gaps; empty before it could begin, and without stretches of no length.
#[must_use]
pub fn segments(run: &Run, item: &Item, at: Millis) -> Vec<Segment> {
    let Some(first) = item.attempts.first() else { return Vec::new() };
    let end = if item.state.is_terminal() { item.since } else { at };
    let mut life = Life { segments: Vec::new(), cursor: ready(run, item).min(first.queued) };
    let (mut waits_for, mut of) = (Part::Queue, None);
    for (attempt, number) in item.attempts.iter().zip(1..) {
        let number = Some(AttemptNumber(number));
        life.until(attempt.queued, waits_for, if waits_for == Part::Queue { number } else { of });
        let over = attempt.ended.unwrap_or(end);
        life.until(attempt.leased.unwrap_or(over), Part::Queue, number);
        let hands = if attempt.kind == AttemptKind::Verify { Part::Verify } else { Part::Work };
        life.until(over, hands, number);
        (waits_for, of) = (after(attempt), number);
    }
    life.until(end, waits_for, of);
    life.segments
}

/// What happens to an item once this attempt is over.
fn after(attempt: &Attempt) -> Part {
    match (&attempt.outcome, attempt.result.is_some()) {
        (Some(Outcome::Verified), _) => Part::Land,
        (_, true) => Part::Gate,
        _ => Part::Queue,
    }
}

struct Life {
    segments: Vec<Segment>,
    cursor: Millis,
}

impl Life {
    fn until(&mut self, end: Millis, part: Part, attempt: Option<AttemptNumber>) {
        if end <= self.cursor {
            return;
        }
        match self.segments.last_mut().filter(|last| (last.part, last.attempt) == (part, attempt)) {
            Some(last) => last.end = end,
            None => self.segments.push(Segment { part, attempt, start: self.cursor, end }),
        }
        self.cursor = end;
    }
}

/// When the last of its needs had landed. A part of a split is ready when it is made, which is when it is queued.
fn ready(run: &Run, item: &Item) -> Millis {
    let first = item.attempts.first().map_or(run.started, |attempt| attempt.queued);
    let needs = item.needs.iter().map(|need| run.item(*need));
    let landed = needs.filter(|need| need.state.is_terminal()).map(|need| need.since).max();
    match (landed, item.whole) {
        // The whole was begun before its parts were made.
        _ if item.remarks.as_deref().is_some_and(|r| !r.parts.is_empty()) => first,
        (None, Some(_)) => first,
        (landed, _) => landed.unwrap_or(run.started),
    }
}

/// How long the run took, and how long its graph made it take.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Latency {
    /// From submission to the end, or until now.
    pub wall_ms: u64,
    /// Of all items together.
    pub parts: Parts,
    /// The longest chain of items through the graph by the time that they were busy: what the run would have
    /// taken if somebody had always been free.
    pub critical: Vec<ItemIndex>,
    /// Of that chain.
    pub critical_parts: Parts,
}

impl Latency {
    /// The structural latency: busy time of the longest chain, in milliseconds.
    #[must_use]
    pub fn critical_ms(&self) -> u64 {
        self.critical_parts.busy_ms()
    }
}

/// Measures it.
pub(super) fn of(run: &Run, at: Millis) -> Latency {
    let mut all = Parts::default();
    let parts: Vec<Parts> = run
        .items
        .iter()
        .map(|item| {
            let mut parts = Parts::default();
            segments(run, item, at).iter().for_each(|segment| parts.add(segment));
            all += parts;
            parts
        })
        .collect();
    let critical = critical_chain(run, &parts);
    let mut critical_parts = Parts::default();
    critical.iter().for_each(|place| critical_parts += parts[place.0 as usize]);
    Latency { wall_ms: at.0.saturating_sub(run.started.0), parts: all, critical, critical_parts }
}

/// The longest chain, from its first item to its last; of chains that are equally long, the one whose end comes
/// first in the plan. Empty when nothing was ever in anybody's hands.
fn critical_chain(run: &Run, parts: &[Parts]) -> Vec<ItemIndex> {
    let mut longest: Vec<(u64, Option<ItemIndex>)> =
        parts.iter().map(|parts| (parts.busy_ms(), None)).collect();
    for place in in_order(run) {
        let before = run.item(place).needs.iter().copied();
        let before =
            before.max_by_key(|need| (longest[need.0 as usize].0, std::cmp::Reverse(*need)));
        if let Some(need) = before {
            let through = longest[need.0 as usize].0;
            longest[place.0 as usize].0 += through;
            longest[place.0 as usize].1 = (through > 0).then_some(need);
        }
    }
    let end = (0..run.items.len()).rev().max_by_key(|place| longest[*place].0);
    let mut chain = Vec::new();
    let mut next = end.filter(|place| longest[*place].0 > 0).map(index);
    while let Some(place) = next {
        chain.push(place);
        next = longest[place.0 as usize].1;
    }
    chain.reverse();
    chain
}

/// All items, each after all that it needs.
fn in_order(run: &Run) -> Vec<ItemIndex> {
    let mut open: Vec<usize> = run.items.iter().map(|item| item.needs.len()).collect();
    let mut order: Vec<ItemIndex> =
        (0..run.items.len()).filter(|place| open[*place] == 0).map(index).collect();
    let mut done = 0;
    while let Some(place) = order.get(done).copied() {
        done += 1;
        for dependent in &run.item(place).dependents {
            let open = &mut open[dependent.0 as usize];
            *open = open.saturating_sub(1);
            if *open == 0 {
                order.push(*dependent);
            }
        }
    }
    order
}
