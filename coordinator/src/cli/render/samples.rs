//! Views for tests: a run of a diamond at work, with every kind of row.

use cantus_proto::wire::v1::{ItemSummary, RunView};

/// The clock of the samples.
pub(in crate::cli) const NOW_MS: u64 = 1_796_062_283_000;

pub(in crate::cli) fn item(id: &str, needs: &[&str], state: &str) -> ItemSummary {
    let began = !matches!(state, "waiting" | "ready" | "queued" | "blocked");
    let ended = matches!(state, "landed" | "parked" | "blocked" | "cancelled");
    ItemSummary {
        id: id.to_owned(),
        needs: needs.iter().map(ToString::to_string).collect(),
        state: state.to_owned(),
        attempt: u32::from(began),
        attempts_max: 3,
        state_since_ms: NOW_MS - 2_000,
        started_ms: if began { NOW_MS - 12_000 } else { 0 },
        ended_ms: if ended { NOW_MS - 2_000 } else { 0 },
        role: "worker".to_owned(),
        ..Default::default()
    }
}

/// Half done.
pub(in crate::cli) fn running() -> RunView {
    let landed = ItemSummary {
        commit: "0123456789abcdef0123456789abcdef01234567".to_owned(),
        evidence: format!("sha256:{}", "ab".repeat(32)),
        ..item("base", &[], "landed")
    };
    let working = ItemSummary {
        worker: "worker-3 on alpha".to_owned(),
        ..item("left", &["base"], "working")
    };
    let mending = ItemSummary {
        attempt: 2,
        worker: "worker-1 on alpha".to_owned(),
        reason: "AC-01: exit code 1".to_owned(),
        ..item("right", &["base"], "working")
    };
    RunView {
        run: "nightly".to_owned(),
        state: "running".to_owned(),
        repository: "/srv/project".to_owned(),
        target: "refs/heads/main".to_owned(),
        started_ms: NOW_MS - 63_000,
        ended_ms: 0,
        items: vec![
            landed,
            working,
            mending,
            item("join", &["left", "right", "base"], "waiting"),
            item("alone", &[], "queued"),
        ],
        ..Default::default()
    }
}

/// Ended with a parked item and another that it blocks.
pub(in crate::cli) fn failed() -> RunView {
    let mut view = running();
    view.state = "failed".to_owned();
    view.ended_ms = NOW_MS - 1_000;
    for (at, state, reason) in [
        (1, "landed", ""),
        (2, "parked", "3 attempts, the last refuted: AC-01: exit code 1\u{1b}[2J"),
        (3, "blocked", "needs right, which is parked"),
        (4, "landed", ""),
    ] {
        let id = view.items[at].id.clone();
        let needs = view.items[at].needs.clone();
        let needs: Vec<&str> = needs.iter().map(String::as_str).collect();
        view.items[at] = ItemSummary { reason: reason.to_owned(), ..item(&id, &needs, state) };
    }
    view
}

/// Everything landed.
pub(in crate::cli) fn completed() -> RunView {
    let mut view = running();
    view.state = "completed".to_owned();
    view.ended_ms = NOW_MS;
    for item in &mut view.items {
        *item = ItemSummary { needs: item.needs.clone(), ..self::item(&item.id, &[], "landed") };
    }
    view
}
