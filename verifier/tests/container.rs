//! The verifier's binary in a real container: the key is out of reach of checkers, and nothing outlives one.
//!
//! Needs docker and the image `cantus/base:bookworm`, which `docker/images/build` makes.

#![expect(
    clippy::unwrap_used,
    reason = "a test ends at the first thing that is not as it should be"
)]

#[path = "../../worker/tests/support/mod.rs"]
#[expect(dead_code, reason = "shared with the worker's tests; each uses a part")]
mod support;

#[expect(dead_code, reason = "shared with the tests of mere processes")]
mod bench;

use bench::Bench;
use cantus_proto::evidence::{Policy, Verdict};
use support::container::Cell;

/// G28, G29: keys and passwords are in no environment that a checker can read.
const PROBE: &str = "test \"$(id -u)\" = 61001 && ! cat /proc/1/environ 2>/dev/null && \
    test -z \"$(grep -l 'PRIVATE\\|PASSWORD' /proc/[0-9]*/environ 2>/dev/null)\" && ! env | grep -q SIGNING";

/// Leaves files where the next one could find them, and a process that would put them back.
const PLANT: &str = "touch /tmp/planted /dev/shm/planted; \
    setsid sh -c 'while :; do touch /tmp/planted; sleep 0.01; done' > /dev/null 2>&1 & true";

const LOOK: &str = "sleep 0.1; ! ls /tmp/planted /dev/shm/planted 2>/dev/null";

#[tokio::test]
async fn checkers_reach_neither_the_key_nor_each_other() {
    let mut bench = Bench::new().await;
    let criteria = [("AC-1", PROBE), ("AC-2", PLANT), ("AC-3", LOOK)];
    let attempt = bench.attempt(&criteria);
    bench.stage.bus.publish_attempt(&attempt).await.unwrap();
    let cell = Cell::new(&bench.stage, "verify");
    let pem = bench.key.to_pem();
    let child = cell.spawn(&bench.stage, &[("CANTUS_SIGNING_KEY", &pem)], "lease");
    let evidence = bench.handed_in(child).await;
    // Under the default policy: this is no mere process.
    let verdict = bench.verdict_under(&evidence, &criteria, Policy::default());
    assert_eq!(verdict, Verdict::Verified);
}
