//! The coordinator dies at every record of its journal, and everything still ends as it should.

use std::collections::BTreeSet;

use cantus_proto::plan::Plan;

use super::super::Core;
use super::super::event::Event;
use super::super::record::{Fact, ItemFact};
use super::simulation::{Moment, Simulation};
use super::world::{plan, run_id, settings};

/// Things that happen before all of it is replayed.
const DISTURBANCES: usize = 400;
/// What is drawn in them has every kind of record.
const SEEDS: [u64; 4] = [1, 2, 3, 4];

/// A diamond with a tail, a chain, and one alone; some have one attempt only.
fn shapes() -> Plan {
    let mut plan = plan("a, b: a, c: a, d: b c, e, f: e d, g");
    plan.items[4].attempts_max = 1;
    plan.items[6].attempts_max = 1;
    plan
}

/// A run in which something of everything happens; its coordinator itself lives through it.
fn mixed(seed: u64) -> Simulation {
    let mut simulation = Simulation::new(settings(), seed);
    simulation.moments = Some(vec![]);
    simulation.submit("run", shapes());
    for disturbance in 0..DISTURBANCES {
        simulation.disturb();
        if disturbance == DISTURBANCES / 2 && seed.is_multiple_of(2) {
            simulation.event(Event::Cancelled(run_id("run"), None));
        }
    }
    simulation.mend();
    simulation
}

fn landings(simulation: &Simulation) -> usize {
    let landed = |fact: &Fact| matches!(fact, Fact::Item(_, ItemFact::Landed(..)));
    simulation.journal.iter().filter(|record| landed(&record.fact)).count()
}

/// The coordinator dies when so many records are stored, and comes back.
fn goes_on_from(live: &Simulation, moment: &Moment, stored: usize) {
    let mut back = live.back_at(moment, stored);
    if matches!(moment.event, Event::Reported(_)) {
        back.outside.reports.insert(0, moment.event.clone());
    }
    if stored == 0 {
        // Nobody heard that there is a run: it is submitted again.
        back.outside.effects.clear();
        back.submit("run", shapes());
    } else {
        back.restart();
    }
    back.mend();
    let items: usize = back.core.runs().values().map(|run| run.items.len()).sum();
    assert_eq!(landings(&back), items);
}

fn cut_everywhere(seed: u64) {
    let live = mixed(seed);
    let moments = live.moments.as_ref().unwrap();
    let ends = moments.iter().skip(1).map(|next| next.stored).chain([live.journal.len()]);
    let mut cuts = 0;
    for (moment, end) in moments.iter().zip(ends) {
        for stored in moment.stored..end {
            goes_on_from(&live, moment, stored);
            cuts += 1;
        }
    }
    assert_eq!(cuts, live.journal.len());
}

#[test]
fn a_journal_cut_anywhere_goes_on_to_the_end() {
    SEEDS[..2].iter().copied().for_each(cut_everywhere);
}

#[test]
fn other_journals_cut_anywhere_go_on_to_the_end() {
    SEEDS[2..].iter().copied().for_each(cut_everywhere);
}

#[test]
fn the_journals_that_are_cut_have_every_fact_of_a_run_that_lands() {
    let facts: BTreeSet<String> = SEEDS
        .iter()
        .flat_map(|seed| mixed(*seed).journal)
        .map(|record| {
            let fact = match &record.fact {
                Fact::Item(_, fact) => format!("{fact:?}"),
                other => format!("{other:?}"),
            };
            fact.split(['(', ' ']).next().unwrap().to_owned()
        })
        .collect();
    let expected = "Cancelled Delivered Ended Gated HeadMoved Landed Leased Logged MergeBegan Merged Parked Queued \
                    Refuted Requeued RunCancelled Saved Settled Submitted Verified";
    assert_eq!(facts.into_iter().collect::<Vec<_>>().join(" "), expected);
}

#[test]
fn replay_gives_the_same_state_at_every_record() {
    for seed in 0..5 {
        let live = mixed(seed);
        let read = live.reread();
        assert!(read == live.journal);
        let (mut replayed, mut again) = (Core::new(settings()), Core::new(settings()));
        for (record, kept) in read.iter().zip(&live.journal) {
            replayed.apply(record).unwrap();
            again.apply(kept).unwrap();
            replayed.check_indexes();
        }
        replayed.assert_same(&again);
        replayed.assert_same(&live.core);
    }
}

#[test]
fn replay_and_life_never_part() {
    let mut live = Simulation::new(settings(), 3);
    live.submit("run", shapes());
    let mut shadow = Core::new(settings());
    let mut applied = 0;
    for _ in 0..DISTURBANCES {
        live.disturb();
        for record in &live.journal[applied..] {
            shadow.apply(record).unwrap();
        }
        applied = live.journal.len();
        shadow.assert_same(&live.core);
    }
}
