//! What must be true of the core between any two events, whatever happened.

use std::collections::BTreeSet;

use cantus_proto::message::AttemptKind;

use super::super::Core;
use super::super::item::{Item, State};
use super::super::run::Run;

impl Core {
    /// Recomputes everything that follows from the states of the items and compares.
    pub(super) fn check_indexes(&self) {
        let mut fresh = Core::new(self.settings.clone());
        fresh.runs = self.runs.clone();
        for (id, run) in &self.runs {
            (0..run.items.len()).for_each(|place| fresh.enter(id, super::super::run::index(place)));
            check_run(run);
        }
        assert_eq!(self.leases, fresh.leases);
        assert_eq!(self.containers, fresh.containers);
        assert_eq!(self.deadlines, fresh.deadlines);
        for (role, queue) in &self.roles {
            let empty = super::super::index::RoleQueue::default();
            let expected = fresh.roles.get(role).unwrap_or(&empty);
            assert_eq!(format!("{queue:?}"), format!("{expected:?}"), "role {role}");
            assert!(queue.queued.len() <= self.settings.queue_window as usize, "role {role}");
        }
        for (target, queue) in &self.targets {
            let empty = super::super::index::TargetQueue::default();
            let expected = fresh.targets.get(target).unwrap_or(&empty);
            assert_eq!(format!("{queue:?}"), format!("{expected:?}"), "target {target:?}");
            assert!(queue.places <= self.settings.verify_ahead, "target {target:?}");
        }
        self.check_holders();
    }

    /// What somebody holds is found by its lease and has an end.
    fn check_holders(&self) {
        let held = |item: &Item| matches!(item.state, State::Working | State::Verifying(_));
        let items = self.runs.values().flat_map(|run| &run.items);
        let holders: BTreeSet<_> = items
            .filter(|item| held(item))
            .map(|item| {
                assert!(item.deadline.is_some(), "{} has no end", item.id);
                let attempt = item.attempts.last().expect("somebody holds it");
                attempt.holder.as_ref().expect("somebody holds it").lease.clone()
            })
            .collect();
        assert_eq!(holders, self.leases.keys().cloned().collect());
    }
}

fn check_run(run: &Run) {
    let open = run.items.iter().filter(|item| !item.state.is_terminal()).count();
    assert_eq!(run.open, open);
    assert_eq!(run.ended.is_some(), open == 0);
    let causes = causes(run);
    for (item, cause) in run.items.iter().zip(causes) {
        let landed = |state: &State| matches!(state, State::Landed(_) | State::Reported);
        let missing = item.needs.iter().filter(|need| !landed(&run.item(**need).state)).count();
        match &item.state {
            State::Waiting(count) => {
                assert_eq!((*count as usize, cause), (missing, None), "{}", item.id);
                assert!(missing > 0, "{} waits for nothing", item.id);
            }
            State::Blocked(by) => {
                assert!(cause.is_some(), "{} is blocked by nothing", item.id);
                let by = &run.item(*by).state;
                assert!(matches!(by, State::Parked(_) | State::Cancelled), "{}", item.id);
            }
            State::Cancelled => {}
            _ => assert_eq!(missing, 0, "{} began before its needs landed", item.id),
        }
        check_attempts(item);
    }
}

/// For each item, some item before it that is parked or cancelled, if there is one.
fn causes(run: &Run) -> Vec<Option<usize>> {
    let mut causes: Vec<Option<usize>> = vec![None; run.items.len()];
    let mut done: BTreeSet<usize> = BTreeSet::new();
    while done.len() < run.items.len() {
        for (place, item) in run.items.iter().enumerate() {
            let needs: Vec<usize> = item.needs.iter().map(|need| need.0 as usize).collect();
            if done.contains(&place) || needs.iter().any(|need| !done.contains(need)) {
                continue;
            }
            let stopped = |need: &usize| match run.items[*need].state {
                State::Parked(_) | State::Cancelled => Some(*need),
                _ => causes[*need],
            };
            causes[place] = needs.iter().find_map(stopped);
            done.insert(place);
        }
    }
    causes
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
