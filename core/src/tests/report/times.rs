//! Where the time went: parts without gaps, the longest chain, and the table of phases.

use cantus_proto::ids::AttemptNumber;
use cantus_proto::message::AttemptKind::{Produce, Repair, Verify};
use cantus_proto::message::{Phase, WorkResult};

use super::super::words::*;
use super::story::Story;
use crate::event::Millis;
use crate::record::ItemFact::{Gated, HeadMoved, Merged};
use crate::record::Refuter;
use crate::report::{Level, Part, Row, segments};

/// Part and seconds of each stretch of an item's life.
fn life(story: &Story, id: &str, at: u64) -> Vec<(Part, u64)> {
    let at = START.plus(at * 1_000);
    let segments = segments(story.run(), story.item(id), at);
    for pair in segments.windows(2) {
        assert_eq!(pair[0].end, pair[1].start, "no gaps");
    }
    segments.iter().map(|segment| (segment.part, segment.ms() / 1_000)).collect()
}

/// One item with every part in it: queued at 1, and landed at 48 after its head moved once.
fn eventful() -> Story {
    let mut story = Story::of("a");
    story.at(1).queue("a", Produce).at(3).lease("a");
    let phases =
        ["workspace", "agent"].map(|name| Phase { name: name.to_owned(), duration_ms: 2_000 });
    let result = WorkResult { phases: phases.to_vec(), ..work("a") };
    story.at(9).deliver("a", result).at(10).fact("a", Gated).merge("a", "a");
    story.at(12).queue("a", Verify).at(15).lease("a").at(20);
    story.refute("a", Refuter::Verdict(AttemptNumber(2)), &[]);
    story.at(22).queue("a", Repair).lease("a").at(30).deliver("a", work("a 2"));
    story.fact("a", Gated).merge("a", "a 2").at(31).begin("a", Verify).at(40).verified("a");
    story.at(42).fact("a", HeadMoved(commit("later")));
    story.fact("a", Merged(Box::new(candidate("a 3", "later"))));
    story.at(43).begin("a", Verify).at(47).verified("a").at(48).land("a");
    story
}

#[test]
fn a_life_has_no_gaps() {
    use Part::{Gate, Land, Queue, Verify, Work};
    let expected = [
        (Queue, 3),
        (Work, 6),
        (Gate, 3),
        (Queue, 3),
        (Verify, 5),
        (Queue, 2),
        (Work, 8),
        (Gate, 1),
        (Verify, 9),
        (Land, 3),
        (Verify, 4),
        (Land, 1),
    ];
    let story = eventful();
    assert_eq!(life(&story, "a", 100), expected);
    let parts = story.report().metrics.latency.parts;
    assert_eq!(Part::ALL.map(|part| parts.ms(part) / 1_000), [8, 14, 4, 18, 4]);
    assert_eq!(parts.busy_ms(), 40_000);
    assert_eq!(story.report().at, Millis(START.0 + 48_000));
}

#[test]
fn what_goes_on_is_measured_up_to_now() {
    use Part::{Queue, Work};
    let mut story = Story::of("a, b: a");
    story.at(2).begin("a", Produce);
    assert_eq!(life(&story, "a", 7), [(Queue, 2), (Work, 5)]);
    assert_eq!(life(&story, "b", 7), []);
}

#[test]
fn the_critical_path_is_the_longest_chain_by_busy_time() {
    let mut story = Story::of("a, b: a, c: a, d: b c");
    let mut item = |id: &str, from: u64, works: u64| {
        story.at(from).offer_slowly(id, works).prove(id);
    };
    item("a", 5, 10);
    item("b", 15, 2);
    item("c", 17, 3);
    item("d", 30, 4);
    let latency = story.report().metrics.latency;
    let chain: Vec<&str> =
        latency.critical.iter().map(|at| story.run().item(*at).id.as_str()).collect();
    assert_eq!(chain, ["a", "c", "d"]);
    assert_eq!(latency.critical_ms(), 17_000);
    assert_eq!(latency.critical_parts.ms(Part::Queue), 5_000 + 2_000 + 10_000);
    assert_eq!(latency.wall_ms, 34_000);
    let nothing = Story::of("a, b: a").report().metrics.latency;
    assert_eq!((nothing.critical, nothing.wall_ms), (vec![], 0));
}

#[test]
fn equal_chains_are_told_by_the_order_of_the_plan() {
    let mut story = Story::of("a, b, c");
    for id in ["c", "b", "a"] {
        let at = story.report().at.0.saturating_sub(START.0) / 1_000;
        story.at(at).offer_slowly(id, 5).prove(id);
    }
    let latency = story.report().metrics.latency;
    assert_eq!(latency.critical, [crate::event::ItemIndex(0)]);
}

#[test]
fn the_table_has_every_phase_attempt_and_round() {
    let story = eventful();
    let line = |row: &Row| {
        let indent = if row.level == Level::Phase { "  " } else { "" };
        let start = (row.start.0 - START.0) / 1_000;
        let attempt = row.attempt.map_or(0, |number| number.0);
        let outcome = if row.outcome.is_empty() { "" } else { &row.outcome };
        let seconds = row.duration_ms / 1_000;
        format!("{indent}{} #{attempt} r{} {start}+{seconds} {outcome}", row.name, row.round)
    };
    let lines: Vec<String> =
        story.report().rows.iter().map(|row| line(row).trim_end().to_owned()).collect();
    let expected = [
        "queue #1 r1 0+3",
        "produce #1 r1 3+6 refuted: it is not so",
        "  workspace #1 r1 3+2",
        "  agent #1 r1 5+2",
        "gate #1 r1 9+3",
        "queue #2 r1 12+3",
        "verify #2 r1 15+5 refuted: it is not so",
        "queue #3 r2 20+2",
        "repair #3 r2 22+8 handed in",
        "gate #3 r2 30+1",
        "verify #4 r2 31+9 verified",
        "land #4 r2 40+3",
        "verify #5 r2 43+4 verified",
        "land #5 r2 47+1",
    ];
    assert_eq!(lines, expected);
}
