//! The queues of all roles, and what waits there although nobody takes it (Q36).

use std::collections::BTreeMap;

use cantus_core::Core;
use cantus_core::event::Millis;
use cantus_core::item::State;
use cantus_proto::ids::RoleName;
use cantus_proto::wire::v1;

/// How long the oldest attempt of a role may wait while nobody works in that role: a pool that is there takes one
/// within a second, and a slow container starts within this.
const UNSERVED_AFTER_MS: u64 = 30_000;

/// Roles in whose queues something waits that nobody takes, each with the reason.
pub type Unserved = BTreeMap<RoleName, String>;

/// All queues, by role.
#[must_use]
pub fn queues(core: &Core, now: Millis) -> v1::QueueResponse {
    let unserved = unserved(core, now);
    let queues = core.roles().map(|(role, queue)| {
        let items =
            || core.runs().values().flat_map(|run| &run.items).filter(|item| item.role == *role);
        let retries = items().map(|item| u64::from(item.tries().saturating_sub(1))).sum();
        let parked = items().filter(|item| matches!(item.state, State::Parked(_))).count();
        let oldest = queue.queued.first().map_or(0, |(at, ..)| now.0.saturating_sub(at.0));
        v1::QueueView {
            role: role.to_string(),
            depth: queue.queued.len() as u64,
            oldest_ms: oldest,
            in_flight: u64::from(queue.leased),
            retries,
            parked: parked as u64,
            ready: queue.ready_count() as u64,
            unschedulable: unserved.get(role).cloned().unwrap_or_default(),
        }
    });
    v1::QueueResponse { queues: queues.collect() }
}

/// See [`Unserved`].
#[must_use]
pub fn unserved(core: &Core, now: Millis) -> Unserved {
    let due = |at: Option<Millis>| at.is_some_and(|at| at <= now);
    let found = core.roles().filter(|(role, _)| due(unserved_from(core, role)));
    let why = |role: &RoleName| {
        format!(
            "no pool takes work of role {role}: start one with that role, or change the item's role"
        )
    };
    found.map(|(role, _)| (role.clone(), why(role))).collect()
}

/// When the next role becomes one of the [`Unserved`] if nothing happens until then.
#[must_use]
pub fn next_unserved(core: &Core, now: Millis) -> Option<Millis> {
    core.roles().filter_map(|(role, _)| unserved_from(core, role)).filter(|at| *at > now).min()
}

fn unserved_from(core: &Core, role: &RoleName) -> Option<Millis> {
    let queue = core.roles().find_map(|(known, queue)| (known == role).then_some(queue))?;
    let (oldest, ..) = queue.queued.first()?;
    (queue.leased == 0).then(|| oldest.plus(UNSERVED_AFTER_MS))
}

#[cfg(test)]
mod tests {
    use cantus_core::event::ItemIndex;

    use super::*;
    use crate::replay::tests::{BEGAN, past};
    use crate::view;

    /// Q36
    #[test]
    fn what_nobody_takes_is_told_after_a_while() {
        // After two submissions, both first items are queued and nobody works.
        let core = past().core_after(2);
        let due = BEGAN.plus(UNSERVED_AFTER_MS);
        let before = Millis(due.0 - 1);
        assert_eq!(unserved(&core, before), Unserved::new());
        assert_eq!(next_unserved(&core, before), Some(due));
        let found = unserved(&core, due);
        assert_eq!(next_unserved(&core, due), None);
        let why = "no pool takes work of role worker: start one with that role, or change the item's role";
        assert_eq!(found.values().collect::<Vec<_>>(), [why]);
        let run = view::find_run(&core, "nightly").unwrap();
        let told = |now| view::run_now(run, &unserved(&core, now), now);
        assert_eq!(told(due).items[0].unschedulable, why);
        assert_eq!(told(due).items[1].unschedulable, "", "what waits for others needs no pool yet");
        assert_eq!(
            (told(before).items[0].unschedulable.as_str(), told(due).server_ms),
            ("", due.0)
        );
        let item = view::item_now(run, ItemIndex(0), &found, due);
        assert_eq!(item.summary.unwrap().unschedulable, why);
        let queue = queues(&core, due).queues.into_iter().find(|q| q.role == "worker").unwrap();
        assert_eq!((queue.unschedulable.as_str(), queue.depth), (why, 2));
        // Somebody who works in that role may take it next.
        let leased = past().core_after(3);
        assert_eq!(unserved(&leased, Millis(u64::MAX)), Unserved::new());
        assert_eq!(next_unserved(&leased, BEGAN), None);
    }
}
