//! Tests of breaker: exact values, and the edges.

use cantus_proto::message::{ModelTokens, Pulse, Usage};

use cantus_proto::message::FailureKind;

use super::*;
use crate::event::Millis;
use crate::tests::samples::{self, demand, tried};

/// Rounds after so many windows that each use as many tokens.
fn rounds(windows: u32, tokens_each: u64) -> Rounds {
    let mut rounds = Rounds::default();
    let used = |windows: u32| Pulse {
        usage: Some(Usage { input_tokens: u64::from(windows) * tokens_each, ..Usage::default() }),
        ..Pulse::default()
    };
    rounds.close(false, &used(0));
    for window in 1..=windows {
        rounds.close(true, &used(window));
    }
    rounds
}

fn with(moving: bool, mut rounds: Rounds) -> Rounds {
    rounds.moving = moving;
    rounds
}

fn told(iterations: u32, commits: u32) -> Pulse {
    Pulse { iterations, commits, ..Pulse::default() }
}

/// Little of the time is spent.
const EARLY: (u64, u64) = (1, 100);

fn asked() -> [(Millis, Demand); 1] {
    [demand(DemandKind::Commit)]
}

fn failed(kind: FailureKind) -> Option<Outcome> {
    Some(Outcome::InVain(Ending::Failed(kind), "words of a worker".to_owned()))
}

fn refuted(why: &str) -> Option<Outcome> {
    Some(Outcome::Refuted(why.to_owned()))
}

fn tries_of(outcomes: Vec<Option<Outcome>>) -> Item {
    let mut item = samples::item();
    for outcome in outcomes {
        tried(&mut item, AttemptKind::Produce, outcome);
    }
    item
}

fn diagnose(attempt: &mut Attempt, remedy: Remedy, decision: Decision) {
    let diagnosis = Diagnosis { reason: "too hard".to_owned(), remedy };
    attempt.exchange_mut().proposals.push((Proposal::Diagnosis(diagnosis), decision));
}

#[test]
fn five_rounds_without_a_commit_demand_one_and_ten_end_it() {
    let trip = |windows, demanded: &[_]| look(&rounds(windows, 0), EARLY, None, demanded);
    assert_eq!(trip(4, &[]), Trip::None);
    let Trip::Demand(demand) = trip(5, &[]) else { panic!() };
    assert_eq!(demand.kind, DemandKind::Commit);
    assert_eq!(
        demand.text,
        "5 rounds went by without a commit: commit now what there is, however small"
    );
    assert_eq!(trip(9, &asked()), Trip::None);
    assert_eq!(trip(10, &asked()), Trip::End("10 rounds went by without a commit".to_owned()));
    let moving = with(true, rounds(10, 0));
    assert_eq!(look(&moving, EARLY, None, &asked()), Trip::None);
}

#[test]
fn iterations_count_from_the_last_commit() {
    let mut rounds = Rounds::default();
    rounds.note(&told(7, 0));
    assert!(matches!(look(&rounds, EARLY, None, &[]), Trip::Demand(_)));
    rounds.note(&told(7, 1));
    assert_eq!(look(&rounds, EARLY, None, &[]), Trip::None);
    rounds.note(&told(16, 1));
    assert_eq!(look(&rounds, EARLY, None, &asked()), Trip::None);
    rounds.note(&told(17, 1));
    rounds.moving = true;
    assert!(matches!(look(&rounds, EARLY, None, &asked()), Trip::End(_)));
    // A count that falls back is no new round.
    rounds.note(&told(0, 2));
    assert_eq!(rounds.iterations_without_commit(), 0);
}

#[test]
fn a_pace_that_ends_before_the_work_is_told_at_half() {
    let trip = |tokens| look(&rounds(4, 100), EARLY, Some(tokens), &[]);
    assert_eq!(trip((400, 801)), Trip::None);
    // 400 are left at 100 a window: as many windows as went by.
    assert_eq!(trip((400, 800)), Trip::None);
    let Trip::Demand(demand) = trip((400, 799)) else { panic!() };
    assert!(demand.text.starts_with(PACE), "{}", demand.text);
    assert_eq!(look(&rounds(4, 100), EARLY, None, &[]), Trip::None);
    assert_eq!(look(&rounds(4, 0), EARLY, Some((400, 700)), &[]), Trip::None);
    let time = |spent| look(&rounds(2, 0), (spent, 100), None, &[]);
    assert_eq!(time(50), Trip::None);
    assert!(matches!(time(51), Trip::Demand(_)));
    let mut committed = rounds(4, 100);
    committed.note(&told(0, 1));
    assert_eq!(look(&committed, (99, 100), Some((400, 500)), &[]), Trip::None);
    // Before the first window nothing is known of a pace.
    assert_eq!(look(&rounds(0, 0), (99, 100), Some((9, 9)), &[]), Trip::None);
}

#[test]
fn a_pace_ends_the_attempt_when_most_is_spent_and_nothing_moves() {
    let trip = |spent, moving| look(&with(moving, rounds(2, 0)), (spent, 100), None, &asked());
    assert_eq!(trip(74, false), Trip::None);
    assert_eq!(trip(75, false), Trip::End(format!("{PACE}, and nothing is committed")));
    assert_eq!(trip(75, true), Trip::None);
    let most = u64::MAX;
    let rounds = rounds(9, most / 9);
    assert!(matches!(look(&rounds, (most, most), Some((most, most)), &asked()), Trip::End(_)));
    assert!(matches!(look(&rounds, (0, 0), Some((0, 0)), &asked()), Trip::End(_)));
}

#[test]
fn two_failures_are_a_breaker_and_misfortune_is_none() {
    let agent = || failed(FailureKind::Agent);
    assert_eq!(next(&tries_of(vec![])), None);
    assert_eq!(next(&tries_of(vec![agent()])), None);
    assert_eq!(next(&tries_of(vec![agent(), refuted("AC-01")])), Some(Breaker::Failures));
    let lost = || Some(Outcome::InVain(Ending::Lost, String::new()));
    let conflict = || Some(Outcome::Conflict(String::new()));
    let unlucky = tries_of(vec![lost(), conflict(), failed(FailureKind::Workspace), lost()]);
    assert_eq!((next(&unlucky), failures(&unlucky)), (None, 0));
    let mut anew = tries_of(vec![agent(), agent(), agent()]);
    assert_eq!((next(&anew), failures(&anew)), (Some(Breaker::Failures), 3));
    anew.attempts_before = 2;
    assert_eq!((next(&anew), failures(&anew)), (None, 1));
}

#[test]
fn the_same_defect_twice_in_a_row_is_stuck() {
    let same = |outcomes| next(&tries_of(outcomes));
    assert_eq!(same(vec![refuted("AC-01"), refuted("AC-01")]), Some(Breaker::Stuck));
    assert_eq!(same(vec![refuted("AC-01"), refuted("AC-02")]), Some(Breaker::Failures));
    let between = vec![refuted("AC-01"), refuted("AC-02"), refuted("AC-01")];
    assert_eq!(same(between), Some(Breaker::Failures));
    let vain = || failed(FailureKind::Agent);
    assert_eq!(same(vec![vain(), vain()]), Some(Breaker::Failures));
}

#[test]
fn an_unanswered_demand_for_a_commit_is_the_breaker_of_the_next_attempt() {
    let ended = |text: &str, outcome| {
        let mut item = samples::item();
        let (_, attempt) = tried(&mut item, AttemptKind::Produce, outcome);
        let demand = Demand { text: text.to_owned(), ..demand(DemandKind::Commit).1 };
        attempt.exchange_mut().demands.push((Millis(1), demand));
        next(&item)
    };
    let stopped = || failed(FailureKind::Stopped);
    assert_eq!(ended("5 rounds went by", stopped()), Some(Breaker::Stuck));
    assert_eq!(ended(&format!("{PACE}: commit"), stopped()), Some(Breaker::Predicted));
    assert_eq!(ended("5 rounds went by", refuted("AC-01")), None);
}

#[test]
fn a_diagnosis_is_acted_on_after_two_failures_and_only_the_newest() {
    let agent = || failed(FailureKind::Agent);
    let of = |first: Option<Remedy>, last: Option<(Remedy, Decision)>| {
        let mut item = tries_of(vec![agent(), agent()]);
        if let Some(remedy) = first {
            diagnose(&mut item.attempts[0], remedy, Decision::Pending);
        }
        if let Some((remedy, decision)) = last {
            diagnose(&mut item.attempts[1], remedy, decision);
        }
        (remedy(&item).map(|(number, d)| (number.0, d.remedy.clone())), next(&item))
    };
    assert_eq!(of(Some(Remedy::Skip), None), (None, Some(Breaker::Failures)));
    assert_eq!(
        of(None, Some((Remedy::Escalate, Decision::Pending))),
        (Some((2, Remedy::Escalate)), Some(Breaker::Diagnosis))
    );
    assert_eq!(
        of(None, Some((Remedy::Skip, Decision::Confirmed))),
        (Some((2, Remedy::Skip)), Some(Breaker::Failures))
    );
    let refused = Decision::Refused("a cycle".to_owned());
    assert_eq!(of(None, Some((Remedy::Escalate, refused))), (None, Some(Breaker::Failures)));
    let mut once = tries_of(vec![agent()]);
    diagnose(&mut once.attempts[0], Remedy::Escalate, Decision::Pending);
    assert_eq!((remedy(&once), next(&once)), (None, None));
    let mut open = tries_of(vec![agent(), agent(), None]);
    diagnose(&mut open.attempts[2], Remedy::Escalate, Decision::Pending);
    assert_eq!(remedy(&open), None);
}

#[test]
fn a_preamble_has_the_kernels_words_and_no_others() {
    let mut item = tries_of(vec![failed(FailureKind::Timeout), refuted("AC-01: exit\n1")]);
    item.attempts[0].exchange_mut().demands =
        vec![demand(DemandKind::FirstArtifact), demand(DemandKind::Commit)];
    tried(&mut item, AttemptKind::Verify, refuted("AC-01: exit\n1"));
    assert_eq!(
        preamble(&item, Breaker::Failures),
        "Earlier attempts at this item failed: it was not done in several tries.\n\
         - attempt 1: its time was over; it had been asked for a first artifact, a commit\n\
         - attempt 2: refuted: AC-01: exit 1\n\
         Do it differently: find out why each of them ended as it did before you change anything.\n"
    );
}

#[test]
fn a_preamble_is_bounded_and_keeps_the_newest() {
    let item = tries_of((0..20).map(|n| refuted(&format!("{n} {}", "é".repeat(3_000)))).collect());
    for breaker in [Breaker::Stuck, Breaker::Predicted, Breaker::Failures, Breaker::Diagnosis] {
        let text = preamble(&item, breaker);
        assert!(text.len() <= 2048, "{}", text.len());
        assert!(text.contains("- attempt 20: refuted: 19 é") && text.contains("more before\n"));
        assert!(!text.contains("- attempt 1:"));
    }
}

#[test]
fn tokens_of_all_models_are_one_pace() {
    let mut rounds = Rounds::default();
    let line = ModelTokens { model: "m".to_owned(), input_tokens: 1, output_tokens: 1 };
    let usage =
        Usage { input_tokens: 300, output_tokens: 100, unpriced: vec![line], ..Usage::default() };
    rounds.close(false, &Pulse::default());
    rounds.close(true, &Pulse { usage: Some(Usage::default()), ..Pulse::default() });
    rounds.close(true, &Pulse { usage: Some(usage), ..Pulse::default() });
    assert!(matches!(look(&rounds, EARLY, Some((400, 800)), &[]), Trip::Demand(_)));
}
