//! What becomes of a result that the gates find something in. What they find is their own tests' affair.

use cantus_proto::message::{LeaseEvent, Work};

use super::world::{World, work};

#[test]
fn a_result_that_leaves_its_scope_is_kept_out_and_repaired() {
    let mut world = World::of("a");
    let worker = world.take("a");
    world.say(&worker, LeaseEvent::Result(work("w")));
    world.inspect("a", &["src/ok.rs", ".github/workflows/ci.yml", "Makefile"]);
    let Work::Repair(defect) = &world.published("a").last().unwrap().work else { panic!() };
    let named = |finding: &String| finding.split(':').next().unwrap().to_owned();
    let paths: Vec<String> = defect.findings.iter().map(named).collect();
    assert_eq!(paths, [".github/workflows/ci.yml", "Makefile"], "all at once");
    assert!(world.outcomes("a")[0].starts_with("kept out: .github/workflows/ci.yml: is outside"));
}

#[test]
fn many_findings_are_counted_and_not_all_spelled_out_w27() {
    let mut world = World::of("a");
    let worker = world.take("a");
    world.say(&worker, LeaseEvent::Result(work("w")));
    let changes: Vec<String> = (0..30_000).map(|n| format!("out/{n}")).collect();
    let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
    world.inspect("a", &changes);
    let Work::Repair(defect) = &world.published("a").last().unwrap().work else { panic!() };
    assert_eq!(defect.findings.len(), 21);
    assert_eq!(defect.findings[20], "and 29981 more", "with one about the size of it all");
}

#[test]
fn gates_that_never_let_it_through_use_up_the_tries() {
    let mut world = World::of("a, b");
    for _ in 0..3 {
        let worker = world.take("a");
        world.say(&worker, LeaseEvent::Result(work("w")));
        world.inspect("a", &["elsewhere"]);
    }
    assert_eq!(world.states(), "a Parked, b Queued");
    assert!(
        world.parked()[0]
            .reason
            .contains("3 of 3 tries are used up; the last: kept out: elsewhere")
    );
}
