//! Tests of progress heartbeat: exact values, and the edges.

use super::*;
use crate::tests::samples::demand;

const WINDOW_MS: u64 = 1_000;

/// A watch that has looked once, at time 0.
fn watching(pulse: &Pulse) -> Watch {
    let mut watch = Watch::default();
    assert_eq!(look(&mut watch, 0, pulse, &[]), (None, Change::None));
    watch
}

fn look(
    watch: &mut Watch,
    now: u64,
    pulse: &Pulse,
    demanded: &[(Millis, Demand)],
) -> (Option<Window>, Change) {
    watch.look(Millis(now), WINDOW_MS, 2, pulse, demanded)
}

/// What the next windows force when nothing moves; demands are made as they are forced.
fn stand_still(watch: &mut Watch, pulse: &Pulse, windows: std::ops::Range<u64>) -> Vec<Change> {
    let mut demanded = Vec::new();
    let mut changes = Vec::new();
    for window in windows {
        let (closed, change) = look(watch, window * WINDOW_MS, pulse, &demanded);
        assert!(!closed.unwrap().progress());
        match &change {
            Change::NewApproach => demanded.push(demand(DemandKind::NewApproach)),
            Change::PartialResult => demanded.push(demand(DemandKind::PartialResult)),
            _ => {}
        }
        changes.push(change);
    }
    changes
}

fn some(fingerprint: &str) -> Pulse {
    Pulse { changed_count: 1, fingerprint: fingerprint.to_owned(), ..Pulse::default() }
}

#[test]
fn a_window_closes_when_it_is_over_and_not_before() {
    let mut watch = watching(&Pulse::default());
    assert_eq!(look(&mut watch, WINDOW_MS - 1, &some("a"), &[]), (None, Change::None));
    let window = Window { artifact: true, ..Window::default() };
    assert_eq!(look(&mut watch, WINDOW_MS, &some("a"), &[]), (Some(window), Change::None));
    assert_eq!(look(&mut watch, 2 * WINDOW_MS - 1, &some("a"), &[]), (None, Change::None));
    let (window, _) = look(&mut watch, 2 * WINDOW_MS, &some("a"), &[]);
    assert!(!window.unwrap().progress());
}

#[test]
fn artifacts_evidence_and_better_scores_are_progress_and_words_are_not() {
    let before = Pulse { score: Some(0.5), evidence: 1, commits: 1, ..some("a") };
    let progress =
        |pulse: Pulse| look(&mut watching(&before), WINDOW_MS, &pulse, &[]).0.unwrap().progress();
    assert!(progress(Pulse { fingerprint: "b".to_owned(), ..before.clone() }));
    assert!(progress(Pulse { commits: 2, ..before.clone() }));
    assert!(progress(Pulse { evidence: 2, ..before.clone() }));
    assert!(progress(Pulse { score: Some(0.75), ..before.clone() }));
    assert!(!progress(Pulse { score: Some(0.5), ..before.clone() }));
    assert!(!progress(Pulse { score: None, evidence: 0, commits: 0, ..before.clone() }));
    let reverted =
        Pulse { changed_count: 0, fingerprint: "base".to_owned(), commits: 0, ..before.clone() };
    assert!(!progress(reverted));
    let words = Pulse {
        next_action: Some("almost done".to_owned()),
        blocker: Some("none really".to_owned()),
        iterations: 9,
        ..before.clone()
    };
    assert!(!progress(words));
}

#[test]
fn a_score_must_be_better_than_ever() {
    let scored = |score| Pulse { score: Some(score), ..Pulse::default() };
    let mut watch = watching(&scored(0.9));
    let mut better = |window: u64, score| {
        look(&mut watch, window * WINDOW_MS, &scored(score), &[]).0.unwrap().better_score
    };
    assert_eq!([better(1, 0.1), better(2, 0.8), better(3, 0.95)], [false, false, true]);
}

#[test]
fn standing_still_forces_more_each_time() {
    let changes = stand_still(&mut watching(&some("a")), &some("a"), 1..7);
    let expected = [
        Change::None,
        Change::NewApproach,
        Change::None,
        Change::PartialResult,
        Change::None,
        Change::AnotherWorker,
    ];
    assert_eq!(changes, expected);
    let nothing = Pulse::default();
    let changes = stand_still(&mut watching(&nothing), &nothing, 1..5);
    assert_eq!(changes, [Change::None, Change::NewApproach, Change::None, Change::AnotherWorker]);
}

#[test]
fn progress_answers_what_was_demanded() {
    let mut watch = watching(&some("a"));
    let demanded = [demand(DemandKind::NewApproach)];
    assert_eq!(look(&mut watch, WINDOW_MS, &some("b"), &demanded).1, Change::None);
    assert_eq!(look(&mut watch, 2 * WINDOW_MS, &some("b"), &demanded).1, Change::None);
    assert_eq!(look(&mut watch, 3 * WINDOW_MS, &some("b"), &demanded).1, Change::NewApproach);
    // What other rules demand is no step of this one; after a restart all demands are open.
    let mut anew = watching(&some("b"));
    let other = [demand(DemandKind::Commit)];
    assert_eq!(look(&mut anew, WINDOW_MS, &some("b"), &other).1, Change::None);
    assert_eq!(look(&mut anew, 2 * WINDOW_MS, &some("b"), &other).1, Change::NewApproach);
    assert_eq!(look(&mut anew, 3 * WINDOW_MS, &some("b"), &demanded).1, Change::None);
    assert_eq!(look(&mut anew, 4 * WINDOW_MS, &some("b"), &demanded).1, Change::PartialResult);
}

#[test]
fn a_blocker_that_stands_for_a_whole_window_is_for_a_person() {
    let blocked = |text: &str| Pulse { blocker: Some(text.to_owned()), ..Pulse::default() };
    let mut watch = watching(&Pulse::default());
    let (window, change) = look(&mut watch, WINDOW_MS, &blocked("no key"), &[]);
    assert_eq!((window.unwrap().blocker.as_deref(), change), (Some("no key"), Change::None));
    let working = Pulse { commits: 1, ..blocked("no key") };
    assert_eq!(look(&mut watch, 2 * WINDOW_MS, &working, &[]).1, Change::None);
    let stands = Pulse { commits: 1, ..blocked("still no key") };
    let change = look(&mut watch, 3 * WINDOW_MS, &stands, &[]).1;
    assert_eq!(change, Change::Person("still no key".to_owned()));
    let mut silent = watching(&blocked("  "));
    assert_eq!(look(&mut silent, WINDOW_MS, &blocked(" "), &[]).1, Change::None);
}

#[test]
fn a_clock_that_jumps_closes_one_window_at_most() {
    let nothing = Pulse::default();
    let mut watch = watching(&nothing);
    assert_eq!(look(&mut watch, 1_000 * WINDOW_MS, &nothing, &[]).1, Change::None);
    // Back: the window begins anew there, and is not counted.
    assert_eq!(look(&mut watch, 10 * WINDOW_MS, &nothing, &[]), (None, Change::None));
    assert_eq!(look(&mut watch, 11 * WINDOW_MS - 1, &nothing, &[]), (None, Change::None));
    assert_eq!(look(&mut watch, 11 * WINDOW_MS, &nothing, &[]).1, Change::NewApproach);
    let mut watch = watching(&nothing);
    let first = watch.look(Millis(u64::MAX), WINDOW_MS, 1, &nothing, &[]);
    assert_eq!(first.1, Change::NewApproach);
    assert_eq!(watch.look(Millis(u64::MAX), 0, 0, &nothing, &[]), (None, Change::None));
    assert_eq!(watch.look(Millis(0), 0, 0, &nothing, &[]), (None, Change::None));
    // No windows at all would be a rule without effect: one is the least.
    assert_eq!(watch.look(Millis(1), 0, 0, &nothing, &[]).1, Change::NewApproach);
}
