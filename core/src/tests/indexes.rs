//! What must be true of the core between any two events, whatever happened.

use std::collections::BTreeMap;

use cantus_proto::ids::{RoleName, RunId};
use cantus_proto::message::AttemptKind;

use super::super::Core;
use super::super::event::ItemIndex;
use super::super::index::Urgency;
use super::super::item::{Item, State};
use super::super::run::{Run, index};

/// What the indexes must hold, counted from the states.
#[derive(Debug, Default, PartialEq)]
struct Count {
    held: usize,
    deadlines: usize,
    roles: BTreeMap<RoleName, [usize; 3]>,
    targets: BTreeMap<(String, String), [usize; 2]>,
}

impl Core {
    /// The same state, apart from the ends of leases, which signs of life move and no record holds.
    pub(super) fn assert_same(&self, other: &Self) {
        let without_ends = |core: &Self| {
            let mut runs = core.runs.clone();
            let items = runs.values_mut().flat_map(|run| &mut run.items);
            items.for_each(|item| item.deadline = None);
            runs
        };
        assert!(without_ends(self) == without_ends(other), "{:#?}\n{:#?}", self.runs, other.runs);
        assert_eq!(self.roles, other.roles);
        assert_eq!(self.targets, other.targets);
        assert_eq!((&self.leases, &self.containers), (&other.leases, &other.containers));
        assert_eq!(self.position, other.position);
    }

    /// Finds every item in every index that its state belongs to, and nothing else in them.
    pub(super) fn check_indexes(&self) {
        let mut expected = Count::default();
        for (id, run) in &self.runs {
            check_run(run);
            for (place, item) in run.items.iter().enumerate() {
                self.find(&mut expected, run, (id, index(place)), item);
            }
        }
        assert_eq!(self.leases.len(), self.containers.len());
        let roles = self.roles.iter().map(|(role, queue)| {
            assert!(queue.queued.len() <= self.settings.queue_window as usize, "role {role}");
            (role.clone(), [queue.ready_count(), queue.queued.len(), queue.leased as usize])
        });
        let targets = self.targets.iter().map(|(target, queue)| {
            assert!(queue.places <= self.settings.verify_ahead, "target {target:?}");
            (target.clone(), [queue.gated.len(), queue.places as usize])
        });
        let found = Count {
            held: self.leases.len(),
            deadlines: self.deadlines.len(),
            roles: roles.filter(|(_, counts)| *counts != [0; 3]).collect(),
            targets: targets.filter(|(_, counts)| *counts != [0; 2]).collect(),
        };
        assert_eq!(found, expected);
    }

    /// Finds one item where it belongs, and counts it there.
    fn find(&self, count: &mut Count, run: &Run, (id, place): (&RunId, ItemIndex), item: &Item) {
        let entry = || (id.clone(), place);
        let (on_the_bus, held) = match item.state {
            State::Queued | State::VerifyQueued(_) => (true, false),
            State::Working | State::Verifying(_) => (true, true),
            _ => (false, false),
        };
        assert_eq!(item.deadline.is_some(), on_the_bus, "{} and its end", item.id);
        if let Some(deadline) = item.deadline {
            assert!(self.deadlines.contains(&(deadline, id.clone(), place)), "end of {}", item.id);
            count.deadlines += 1;
        }
        if held {
            let holder = item.attempts.last().and_then(|attempt| attempt.holder.as_ref());
            let holder = holder.expect("somebody holds it");
            assert_eq!(self.leases.get(&holder.lease), Some(&entry()), "lease of {}", item.id);
            let container = (holder.leased.container.clone(), id.clone(), place);
            assert!(self.containers.contains(&container), "container of {}", item.id);
            count.held += 1;
        }
        let verifies = matches!(
            item.state,
            State::Unverified(_) | State::VerifyQueued(_) | State::Verifying(_)
        );
        let role = if verifies { &item.verifier } else { &item.role };
        if on_the_bus || matches!(item.state, State::Ready | State::Unverified(_)) {
            let queue = &self.roles[role];
            let kind = match (on_the_bus, held) {
                (false, _) => {
                    let urgency = Urgency::of(id, place, item);
                    assert!(queue.ready[id].contains(&urgency), "{} is not ready", item.id);
                    0
                }
                (true, false) => {
                    let queued = item.attempts.last().expect("queued").queued;
                    let entry = (queued, id.clone(), place);
                    assert!(queue.queued.contains(&entry), "{} is not queued", item.id);
                    1
                }
                (true, true) => 2,
            };
            count.roles.entry(role.clone()).or_default()[kind] += 1;
        }
        let Some(repository) = &run.repository else { return };
        let target = || (repository.id.to_string(), repository.target.clone());
        if matches!(item.state, State::Gated) {
            let urgency = Urgency::of(id, place, item);
            assert!(self.targets[&target()].gated.contains(&urgency), "{} is not gated", item.id);
            count.targets.entry(target()).or_default()[0] += 1;
        } else if item.state.holds_place() {
            count.targets.entry(target()).or_default()[1] += 1;
        }
    }
}

fn check_run(run: &Run) {
    let open = run.items.iter().filter(|item| !item.state.is_terminal()).count();
    assert_eq!(run.open, open);
    assert_eq!(run.ended.is_some(), open == 0);
    for (item, stopped) in run.items.iter().zip(stopped(run)) {
        let landed = |state: &State| matches!(state, State::Landed(_) | State::Reported);
        let missing = item.needs.iter().filter(|need| !landed(&run.item(**need).state)).count();
        match &item.state {
            State::Waiting(count) => {
                assert_eq!((*count as usize, stopped), (missing, false), "{}", item.id);
                assert!(missing > 0, "{} waits for nothing", item.id);
            }
            State::Blocked(by) => {
                assert!(stopped, "{} is blocked by nothing", item.id);
                let by = &run.item(*by).state;
                assert!(matches!(by, State::Parked(_) | State::Cancelled), "{}", item.id);
            }
            State::Cancelled => {}
            _ => assert_eq!(missing, 0, "{} began before its needs landed", item.id),
        }
        check_attempts(item);
    }
}

/// For each item, whether anything before it is parked or cancelled.
fn stopped(run: &Run) -> Vec<bool> {
    fn stops(run: &Run, known: &mut [Option<bool>], place: usize) -> bool {
        if let Some(known) = known[place] {
            return known;
        }
        let before = |need: &ItemIndex| {
            let state = &run.item(*need).state;
            matches!(state, State::Parked(_) | State::Cancelled)
                || stops(run, known, need.0 as usize)
        };
        let found = run.items[place].needs.iter().any(before);
        known[place] = Some(found);
        found
    }
    let mut known = vec![None; run.items.len()];
    (0..run.items.len()).map(|place| stops(run, &mut known, place)).collect()
}

fn check_attempts(item: &Item) {
    assert!(item.tries() <= item.tries_max, "{} has {} tries", item.id, item.tries());
    let open = item.attempts.iter().filter(|attempt| attempt.ended.is_none()).count();
    let on_the_bus = matches!(
        item.state,
        State::Queued | State::Working | State::VerifyQueued(_) | State::Verifying(_)
    );
    assert_eq!(open, usize::from(on_the_bus), "{} has {open} open attempts", item.id);
    for attempt in &item.attempts {
        assert_eq!(attempt.ended.is_some(), attempt.outcome.is_some(), "{}", item.id);
        assert!(attempt.result.is_none() || attempt.kind != AttemptKind::Verify, "{}", item.id);
    }
    if let State::Landing(candidate) = &item.state {
        let proof = item.proof.as_ref().expect("nothing lands without a proof");
        assert_eq!(proof.tree, candidate.tree, "{}", item.id);
    }
}
