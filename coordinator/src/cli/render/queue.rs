//! Queues in a table: one line per role.

use cantus_proto::wire::v1::QueueView;

use crate::cli::paint::{Ink, Paint};
use crate::cli::table::{self, Cell};
use crate::cli::{text, time};

/// Widest role, in columns.
const ROLE_COLUMNS_MAX: usize = 40;
/// Widest reason why nobody takes work, in columns.
const REASON_COLUMNS_MAX: usize = 200;

/// All queues.
pub(in crate::cli) fn queues(queues: &[QueueView], paint: Paint) -> String {
    if queues.is_empty() {
        return "no queues yet: a role has one as soon as a plan names it\n".to_owned();
    }
    let row = |queue: &QueueView| {
        let oldest = if queue.depth == 0 { "-".to_owned() } else { time::elapsed(queue.oldest_ms) };
        let parked = Cell::number(queue.parked);
        vec![
            Cell::cut(&queue.role, ROLE_COLUMNS_MAX),
            Cell::number(queue.depth),
            Cell::number(oldest),
            Cell::number(queue.in_flight),
            Cell::number(queue.ready),
            Cell::number(queue.retries),
            if queue.parked > 0 { parked.ink(Ink::Bad) } else { parked },
        ]
    };
    let rows: Vec<_> = queues.iter().map(row).collect();
    let heading = ["ROLE", "QUEUED", "OLDEST", "IN FLIGHT", "READY", "RETRIES", "PARKED"];
    let mut shown = table::render(&heading, &rows, paint);
    for queue in queues.iter().filter(|queue| !queue.unschedulable.is_empty()) {
        let told = text::cut(&queue.unschedulable, REASON_COLUMNS_MAX);
        shown.push_str(&(paint.ink(Ink::Bad, &told) + "\n"));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_per_role() {
        let queue = |role: &str, depth, oldest_ms, parked| QueueView {
            role: role.to_owned(),
            depth,
            oldest_ms,
            in_flight: 3,
            retries: 1,
            parked,
            ready: 0,
            ..Default::default()
        };
        assert_eq!(
            queues(&[queue("verifier", 0, 0, 0), queue("worker", 12, 63_000, 2)], Paint::NEVER),
            "ROLE      QUEUED  OLDEST  IN FLIGHT  READY  RETRIES  PARKED\n\
             verifier       0       -          3      0        1       0\n\
             worker        12   1m03s          3      0        1       2\n"
        );
        let mut alone = queue("gpu", 1, 31_000, 0);
        alone.unschedulable = "no pool takes work of role gpu\u{7}".to_owned();
        let shown = queues(&[alone], Paint::NEVER);
        assert!(shown.ends_with("\nno pool takes work of role gpu\\u{7}\n"), "{shown}");
        assert!(queues(&[], Paint::NEVER).starts_with("no queues yet"));
    }
}
