//! Seeds in the test suite, that they reach everything, that logs replay, and crashes at every record.

use std::collections::BTreeSet;

use cantus_core::journal::wire;

use crate::cli::batch;
use crate::fault::Fault;
use crate::seed::{live, mend};
use crate::world::World;
use crate::{log, report};

/// Kinds of facts that are a whole run's.
const RUN_FACTS: &str = "RunCancelled RunWarned Submitted";
/// Kinds of facts about items: all of them.
const ITEM_FACTS: &str = "Approved Cancelled Delivered Demanded Ended Gated HeadMoved Landed Learned \
                          LearningsChecked Leased Logged MergeBegan Merged Parked Proposed Queued Rechecked Recovered Refuted \
                          Reported Requeued Saved Settled Split Verified Warned";

fn all_is_well(first: u64, seeds: u64) -> report::Report {
    let report = batch(first, seeds, 1, false);
    assert!(report.failures.is_empty(), "{}", report.text());
    report
}

#[test]
fn seeds_of_the_first_quarter() {
    all_is_well(0, 250);
}

#[test]
fn seeds_of_the_second_quarter() {
    all_is_well(250, 250);
}

#[test]
fn seeds_of_the_third_quarter() {
    all_is_well(500, 250);
}

#[test]
fn seeds_of_the_fourth_quarter() {
    all_is_well(750, 250);
}

#[test]
fn two_hundred_seeds_see_every_fault_and_every_fact() {
    let report = all_is_well(1_000, 200);
    let missing = Fault::ALL.iter().filter(|(fault, _)| !report.faults.contains_key(fault));
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<&(Fault, u64)>::new());
    let seen: BTreeSet<&str> = report.facts.keys().map(String::as_str).collect();
    let expected: BTreeSet<&str> =
        RUN_FACTS.split_whitespace().chain(ITEM_FACTS.split_whitespace()).collect();
    assert_eq!(seen, expected);
}

#[test]
fn one_seed_is_one_history() {
    let told = |seed| {
        let mut lines = Vec::new();
        live(seed, Some(&mut |line| lines.push(line)));
        lines
    };
    for seed in 0..5 {
        assert_eq!(told(seed), told(seed));
    }
    assert_ne!(told(0), told(1));
}

#[test]
fn a_log_replays_and_a_changed_one_names_the_line() {
    let directory = std::env::temp_dir().join(format!("cantus-sim-test-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = log::write(3, &directory).unwrap();
    let lines = log::replay(&path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), lines + 1);
    let mut changed: Vec<&str> = text.lines().collect();
    changed[20] = "0 0 nothing";
    std::fs::write(&path, changed.join("\n")).unwrap();
    assert!(log::replay(&path).unwrap_err().starts_with("line 21: \"0 0 nothing\" is now "));
    std::fs::write(&path, changed[..20].join("\n")).unwrap();
    assert!(log::replay(&path).unwrap_err().starts_with("line 21: \"the end\" is now "));
    std::fs::write(&path, "something else").unwrap();
    assert!(log::replay(&path).unwrap_err().contains("is no event log"));
    std::fs::remove_dir_all(&directory).unwrap();
}

/// The coordinator dies when so many records of an append are stored, and everything still ends as it should.
fn goes_on(fork: &World, entry: &crate::bus::Entry, stored: usize) {
    let mut world = fork.fork();
    let batch = wire::decode(&entry.payload).unwrap();
    let (run, at) = (batch.run.clone(), batch.at);
    let plan = world.runs.iter().find(|submission| submission.run == run).unwrap().plan.clone();
    let records = batch.records(Some(&plan)).unwrap();
    if stored > 0 {
        let mut cut = entry.clone();
        cut.payload = wire::encode(&run, at, &records[..stored], None);
        cut.causes.truncate(stored);
        world.record(&cut);
        let end = world.bus.journal_last();
        assert_eq!(world.bus.append(end, cut), crate::bus::Appended::Stored);
    }
    mend(&mut world, &mut |_, _| {});
    assert_eq!(world.trouble, None, "cut at {stored} of {} records: {records:?}", records.len());
}

/// Cuts each append of a seed's beginning at each of its records; answers with how many cuts that were.
fn cut_everywhere(seed: u64) -> usize {
    let mut cuts = 0;
    let mut world = World::new(seed);
    world.forks = Some(Vec::new());
    while world.trouble.is_none() && world.forks.as_ref().unwrap().len() < 60 && world.events < 800
    {
        world.go_on();
    }
    let forks = world.forks.take().unwrap();
    for fork in &forks {
        // What was appended at this moment; a restored bus has other entries there.
        let place = usize::try_from(fork.bus.journal_last()).unwrap();
        let Some(entry) = world.bus.store.journal.get(place).filter(|e| e.at == fork.now) else {
            continue;
        };
        for stored in 0..=entry.causes.len() {
            goes_on(fork, entry, stored);
            cuts += 1;
        }
    }
    cuts
}

#[test]
fn a_journal_cut_anywhere_goes_on_to_the_end() {
    assert!((0..15).map(cut_everywhere).sum::<usize>() > 500);
}

#[test]
fn other_journals_cut_anywhere_go_on_to_the_end() {
    assert!((15..30).map(cut_everywhere).sum::<usize>() > 500);
}
