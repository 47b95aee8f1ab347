//! The tables, both ways: what is in them happens, what is not is refused by name, and nothing is changed by it.

use cantus_proto::evidence::Ending as CheckerEnding;
use cantus_proto::ids::{AttemptNumber, LeaseId};
use cantus_proto::message::{HeartbeatReply, Proposal};

use super::super::Core;
use super::super::attempt::Attempt;
use super::super::event::ItemIndex;
use super::super::item::{Outcome, State};
use super::super::record::{Decision, Fact, ItemFact, Record, Refuter, Resource, Warning};
use super::super::state_machine::attempt::{ATTEMPT, AttemptEvent, AttemptState};
use super::super::state_machine::item::{ITEM, ItemEvent, ItemState};
use super::super::state_machine::lease::{LEASE, LeaseEvent, LeaseState};
use super::super::state_machine::proposal::{PROPOSAL, ProposalEvent};
use super::super::state_machine::run::{RUN, RunEvent};
use super::super::state_machine::{Inconsistent, Table, Word};
use super::specimens::{decisions, diagnosis, facts, facts_of_attempt, proposed, specimens};
use super::world::{LEASE_MS, QUEUE_WAIT_MS, START, World, blob, failed, lease_id, plan, settings};

/// What was tried, and for each pair that followed, where it led.
#[derive(Debug)]
struct Trial<S: 'static, E: 'static> {
    table: Table<S, E>,
    tried: Vec<(S, E)>,
    followed: Vec<(S, E, S)>,
}

impl<S: Word, E: Word> Trial<S, E> {
    fn new(table: Table<S, E>) -> Self {
        Self { table, tried: vec![], followed: vec![] }
    }

    /// One pair, and the state afterwards if it followed.
    fn add(&mut self, from: S, event: E, to: Option<S>) {
        if !self.tried.contains(&(from, event)) {
            self.tried.push((from, event));
        }
        if let Some(to) = to.filter(|to| !self.followed.contains(&(from, event, *to))) {
            self.followed.push((from, event, to));
        }
    }

    /// Every pair was tried.
    fn is_whole(&self, apart: &[E]) {
        for event in E::ALL.iter().filter(|event| !apart.contains(event)) {
            for from in S::ALL {
                let tried = self.tried.contains(&(*from, *event));
                assert!(tried, "{}: {from:?} on {event:?} was not tried", self.table.of);
            }
        }
    }

    /// The pairs that followed are those of the table, and each row led everywhere it says and nowhere else.
    fn agrees(&self, apart: &[E]) {
        let of = self.table.of;
        for event in E::ALL.iter().filter(|event| !apart.contains(event)) {
            for from in S::ALL {
                let followed = self.followed.iter().any(|(s, e, _)| (s, e) == (from, event));
                let row = self.table.row(*from, *event);
                assert_eq!(followed, row.is_some(), "{of}: {from:?} on {event:?}");
            }
        }
        for (from, event, to) in &self.followed {
            let row = self.table.row(*from, *event).unwrap();
            assert!(row.leads(*from, *to), "{of}: {from:?} on {event:?} led to {to:?}");
        }
        for row in self.table.rows.iter().filter(|row| !apart.contains(&row.event)) {
            for to in row.to {
                let led =
                    |(s, e, t): &(S, E, S)| row.from.contains(s) && (*e, t) == (row.event, to);
                assert!(self.followed.iter().any(led), "{of}: {row:?} never led to {to:?}");
            }
        }
    }
}

/// The last part of the error's text is the same everywhere.
fn told(error: &Inconsistent, state: &str, event: &str) {
    let text = error.to_string();
    assert!(text.contains(&format!(" is {state}, which the event \"{event}\" does not")), "{text}");
    assert!(text.ends_with("; the journal is damaged or of another program"), "{text}");
}

fn no_pair_twice<S: Word, E: Word>(table: Table<S, E>) {
    for from in S::ALL {
        for event in E::ALL {
            let rows =
                table.rows.iter().filter(|row| row.event == *event && row.from.contains(from));
            assert!(rows.count() <= 1, "{}: {from:?} on {event:?} is in two rows", table.of);
        }
    }
    for event in E::ALL {
        assert!(table.rows.iter().any(|row| row.event == *event), "{}: {event:?}", table.of);
    }
    for row in table.rows {
        assert!(row.from.iter().chain(row.to).all(|state| S::ALL.contains(state)), "{row:?}");
        assert!(E::ALL.contains(&row.event), "{row:?}");
    }
}

#[test]
fn a_pair_is_in_one_row_and_every_event_in_some() {
    no_pair_twice(ITEM);
    no_pair_twice(ATTEMPT);
    no_pair_twice(LEASE);
    no_pair_twice(RUN);
    no_pair_twice(PROPOSAL);
}

#[test]
fn items_do_what_their_table_says_and_nothing_else() {
    let mut trial = Trial::new(ITEM);
    for specimen in specimens() {
        let from = ItemState::of(&specimen.state);
        for fact in facts(&specimen) {
            let (event, mut item) = (ItemEvent::of(&fact), specimen.clone());
            let applied = item.apply(START, 99, &fact);
            trial.add(from, event, applied.is_ok().then_some(ItemState::of(&item.state)));
            let Err(error) = applied else { continue };
            assert_eq!(item, specimen, "{fact:?} was refused and changed something");
            if error.what == "item a" {
                told(&error, from.name(), event.name());
                assert_eq!(error.guard, ITEM.row(from, event).map_or("", |row| row.guard));
            }
        }
    }
    let by_graph = [ItemEvent::NeedLanded, ItemEvent::NeedStopped, ItemEvent::NeedReleased];
    trial.is_whole(&by_graph);
    trial.agrees(&by_graph);
}

#[test]
fn only_the_newest_attempt_goes_on_and_the_next_one_begins() {
    let mut counted = [0, 0];
    for specimen in specimens() {
        let last = specimen.last_number();
        for fact in facts(&specimen) {
            if specimen.clone().apply(START, 99, &fact).is_err() {
                continue;
            }
            match fact {
                ItemFact::Queued(number, ..) => {
                    assert_eq!(number.0, last.0 + 1);
                    counted[0] += 1;
                }
                ItemFact::Leased(number, _)
                | ItemFact::Ended(number, ..)
                | ItemFact::Delivered(number, _)
                | ItemFact::Verified(number, _)
                | ItemFact::Demanded(number, _) => {
                    assert_eq!(number, last);
                    counted[1] += 1;
                }
                ItemFact::Refuted(refutation) => {
                    let Refuter::Verdict(number) = refutation.by else { continue };
                    assert_eq!(number, last);
                }
                _ => {}
            }
        }
    }
    assert!(counted[0] > 5 && counted[1] > 20, "{counted:?}");
}

#[test]
fn what_moves_nothing_changes_neither_state_nor_its_time() {
    for specimen in specimens() {
        for fact in facts(&specimen).iter().filter(|fact| !fact.moves()) {
            let mut item = specimen.clone();
            if item.apply(START.plus(7), 99, fact).is_ok() {
                assert_eq!((&item.state, item.since), (&specimen.state, specimen.since));
            }
        }
    }
}

/// Every attempt of every specimen, with each fact that could mean something for it, and whether it follows.
fn attempts(
    mut each: impl FnMut(&Attempt, &ItemFact, AttemptEvent, Result<Attempt, Inconsistent>),
) {
    for specimen in specimens() {
        for (number, attempt) in (1..).map(AttemptNumber).zip(&specimen.attempts) {
            for fact in facts_of_attempt(number) {
                let Some(event) = AttemptEvent::of(&fact) else { continue };
                if event == AttemptEvent::Queued {
                    continue;
                }
                let mut changed = attempt.clone();
                let name = || format!("{number} of item a");
                let applied = changed.apply(START, 99, event, &fact, name);
                if applied.is_err() {
                    assert_eq!(changed, *attempt, "{fact:?} was refused and changed something");
                }
                each(attempt, &fact, event, applied.map(|()| changed));
            }
        }
    }
}

#[test]
fn attempts_do_what_their_table_says_and_nothing_else() {
    let mut trial = Trial::new(ATTEMPT);
    attempts(|before, _, event, applied| {
        let from = before.state();
        trial.add(from, event, applied.as_ref().ok().map(Attempt::state));
        if ATTEMPT.row(from, event).is_none() {
            told(&applied.unwrap_err(), from.name(), event.name());
        }
    });
    let made = [AttemptEvent::Queued];
    trial.is_whole(&made);
    trial.agrees(&made);
}

#[test]
fn leases_do_what_their_table_says_and_nothing_else() {
    let mut trial = Trial::new(LEASE);
    attempts(|before, fact, _, applied| {
        let changed = applied.as_ref().ok();
        let holder = |attempt: &Attempt| attempt.holder.as_deref().map(|h| h.lease.clone());
        let known = holder(before).into_iter().chain(before.superseded.iter().cloned());
        let current = holder(before).unwrap_or_else(|| lease_id(77));
        let mut try_on = |lease: &LeaseId, event| {
            let to = changed.map(|attempt| attempt.lease_state(lease));
            trial.add(before.lease_state(lease), event, to);
        };
        match fact {
            ItemFact::Leased(_, taker) => {
                try_on(&taker.lease, LeaseEvent::Taken);
                for lease in known.filter(|lease| *lease != taker.lease) {
                    // A lease that was superseded before stays so; what happens here is another's.
                    if changed.is_none() || holder(before).as_ref() == Some(&lease) {
                        try_on(&lease, LeaseEvent::AnotherTook);
                    }
                }
            }
            ItemFact::Parked(_) => try_on(&current, LeaseEvent::KernelEnded),
            ItemFact::Delivered(..) | ItemFact::Verified(..) => {
                try_on(&current, LeaseEvent::HolderAnswered);
            }
            ItemFact::Ended(_, ending, _) => {
                let outcome = Outcome::InVain(*ending, String::new());
                try_on(&current, LeaseEvent::of(&outcome));
            }
            _ => {}
        }
    });
    heartbeats(&mut trial);
    trial.agrees(&[]);
}

/// A heartbeat of a lease in each state.
fn heartbeats(trial: &mut Trial<LeaseState, LeaseEvent>) {
    let mut beat = |world: &mut World, held: &super::world::Held| {
        let attempt = world.item("a").attempts[held.attempt.number.0 as usize - 1].clone();
        let from = attempt.lease_state(&held.lease);
        let goes_on = matches!(world.beat(held), HeartbeatReply::GoOn(_));
        trial.add(from, LeaseEvent::HeartbeatCame, goes_on.then_some(from));
    };
    let mut world = World::of("a");
    let offered = world.pull("a");
    beat(&mut world, &offered);
    world.advance(QUEUE_WAIT_MS);
    beat(&mut world, &offered);
    world.requeue("a");
    let superseded = world.take("a");
    beat(&mut world, &superseded);
    let expired = world.take("a");
    beat(&mut world, &superseded);
    world.advance(LEASE_MS);
    beat(&mut world, &expired);
    let ended = world.take("a");
    world.say(&ended, failed("no"));
    beat(&mut world, &ended);
    let released = world.take("a");
    world.cancel("a");
    beat(&mut world, &released);
}

#[test]
fn wishes_do_what_their_table_says_and_nothing_else() {
    let wishes = [
        Proposal::Done,
        Proposal::Partial("half".to_owned()),
        Proposal::Note("n".to_owned()),
        diagnosis(),
    ];
    let mut trial = Trial::new(PROPOSAL);
    for attempt in specimens().iter().flat_map(|item| &item.attempts) {
        for (wish, decision) in wishes.iter().flat_map(|w| decisions().map(|d| (w, d))) {
            let mut changed = attempt.clone();
            let fact = proposed(1, wish, &decision);
            let applied =
                changed.apply(START, 99, AttemptEvent::Proposed, &fact, || "1".to_owned());
            if attempt.state() == AttemptState::Queued {
                continue;
            }
            let (from, event) = (attempt.proposal_state(wish), ProposalEvent::of(&decision));
            trial.add(from, event, applied.is_ok().then_some(changed.proposal_state(wish)));
        }
    }
    trial.is_whole(&[]);
    trial.agrees(&[]);
}

#[test]
fn done_is_confirmed_by_the_proof_of_its_own_result_and_by_nothing_else() {
    for specimen in specimens() {
        let proven = specimen.proof.is_some();
        for number in 1..=specimen.last_number().0 {
            let fact = proposed(number, &Proposal::Done, &Decision::Confirmed);
            let confirmed = specimen.clone().apply(START, 99, &fact);
            assert_eq!(confirmed.is_ok(), proven && number == 1, "{specimen:?}");
        }
    }
    let working = specimens().into_iter().find(|item| item.state == State::Working).unwrap();
    let fact = proposed(1, &Proposal::Done, &Decision::Confirmed);
    assert_eq!(
        working.clone().apply(START, 99, &fact).unwrap_err().to_string(),
        "item a is working, which the event \"proposed\" does not follow unless this holds: a done is confirmed \
         only when its result is proven; the journal is damaged or of another program"
    );
}

#[test]
fn the_graph_moves_items_as_the_table_says() {
    let mut world = World::of("a, b, c: a b, d: c, e: a");
    let mut trial = Trial::new(ITEM);
    let states = |world: &World| -> Vec<ItemState> {
        world.run().items.iter().map(|item| ItemState::of(&item.state)).collect()
    };
    let mut see = |world: &mut World, event, act: fn(&mut World)| {
        let before = states(world);
        act(world);
        for (from, to) in before.into_iter().zip(states(world)) {
            if matches!(from, ItemState::Waiting | ItemState::Blocked) {
                // What became ready was queued in the same step.
                let to = if to == ItemState::Queued { ItemState::Ready } else { to };
                trial.add(from, event, Some(to));
            }
        }
    };
    see(&mut world, ItemEvent::NeedStopped, |world| world.exhaust("a"));
    world.exhaust("b");
    see(&mut world, ItemEvent::NeedReleased, |world| world.requeue("a"));
    world.requeue("b");
    see(&mut world, ItemEvent::NeedLanded, |world| world.complete("a"));
    see(&mut world, ItemEvent::NeedLanded, |world| world.complete("b"));
    let by_graph = [ItemEvent::NeedLanded, ItemEvent::NeedStopped, ItemEvent::NeedReleased];
    let apart: Vec<ItemEvent> =
        ItemEvent::ALL.iter().copied().filter(|event| !by_graph.contains(event)).collect();
    trial.agrees(&apart);
}

/// Worlds whose runs stand and end in every way there is.
fn worlds() -> Vec<World> {
    let mut completed = World::of("a, b");
    completed.complete("a");
    completed.complete("b");
    let mut mixed = World::of("a, b, c: a");
    mixed.exhaust("a");
    mixed.exhaust("b");
    mixed.cancel("a");
    mixed.cancel("b");
    mixed.requeue("b");
    let mut landing = World::of("a, b");
    landing.offer("a");
    landing.verify("a", CheckerEnding::Exit(0));
    landing.exhaust("b");
    let mut empty = World::empty(settings());
    empty.step(super::world::submission("run", plan("a, b: a")));
    empty.cancel("a");
    vec![completed, mixed, landing, empty]
}

#[test]
fn runs_do_what_their_table_says_and_nothing_else() {
    let mut trial = Trial::new(RUN);
    for world in worlds() {
        for records in 1..=world.journal.len() {
            let replay = || {
                let mut core = Core::new(settings());
                world.journal[..records].iter().for_each(|record| core.apply(record).unwrap());
                core
            };
            let warning = Warning { resource: Resource::Cost, spent: 8, budget: 10 };
            let mut tries =
                vec![world.journal[0].fact.clone(), Fact::RunCancelled, Fact::RunWarned(warning)];
            let (core, id) = (replay(), world.run().id.clone());
            let run = &core.runs()[&id];
            for (place, item) in (0..).map(ItemIndex).zip(&run.items) {
                tries.extend(facts(item).into_iter().map(|fact| Fact::Item(place, fact)));
            }
            let from = run.state();
            for fact in tries {
                let (mut core, event) = (replay(), RunEvent::of(&fact));
                let record = Record { fact, ..world.journal[0].clone() };
                let applied = core.apply(&record);
                trial.add(from, event, applied.is_ok().then(|| core.runs()[&id].state()));
                if RUN.row(from, event).is_none() {
                    told(&applied.unwrap_err(), from.name(), event.name());
                }
            }
        }
    }
    let begins = [RunEvent::Submitted];
    trial.is_whole(&[]);
    trial.agrees(&begins);
}

#[test]
fn what_begins_begins_where_its_row_says() {
    let begins = RUN.rows.iter().find(|row| row.from.is_empty()).unwrap();
    assert!(begins.event == RunEvent::Submitted && begins.to == [World::of("a").run_state()]);
    let begins = ATTEMPT.rows.iter().find(|row| row.from.is_empty()).unwrap();
    let queued = World::of("a").item("a").attempts[0].state();
    assert!(begins.event == AttemptEvent::Queued && begins.to == [queued]);
}

#[test]
fn a_record_about_nothing_that_exists_is_refused() {
    let mut world = World::of("a");
    let mut record = world.journal[1].clone();
    record.fact = Fact::Item(ItemIndex(7), ItemFact::Gated);
    let error = world.core.apply(&record).unwrap_err();
    assert!(error.to_string().contains("item 7 of run run is unknown"), "{error}");
    record.fact = Fact::Item(ItemIndex(0), ItemFact::Logged(AttemptNumber(7), blob("log")));
    let error = world.core.apply(&record).unwrap_err();
    assert!(error.to_string().contains("attempt 7 of item a is unknown"), "{error}");
}

#[test]
fn every_way_an_attempt_ends_has_its_words() {
    let mut world = World::of("a");
    world.offer("a");
    world.verify("a", CheckerEnding::Exit(0));
    assert_eq!(world.outcomes("a"), ["handed in", "verified"]);
    world.cancel("a");
    world.moved("a", "moved");
    world.requeue("a");
    world.cancel("a");
    assert_eq!(world.outcomes("a")[2], "closed with its item");
}
