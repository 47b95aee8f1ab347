//! The gates on a result's tree: path, mode before, mode after.

use cantus_proto::message::{LeaseEvent, Work};

use super::super::event::{Change, Event, Inspection};
use super::super::gate::findings;
use super::world::{World, contract, work};

fn change(path: &[u8], mode_old: u32, mode_new: u32) -> Change {
    Change { path: path.to_vec(), mode_old, mode_new }
}

fn found(path: &[u8], mode_old: u32, mode_new: u32) -> String {
    findings(&contract("a"), &[change(path, mode_old, mode_new)]).join("\n")
}

const FILE: u32 = 0o100_644;
const PROGRAM: u32 = 0o100_755;
const LINK: u32 = 0o120_000;
const NESTED: u32 = 0o160_000;

#[test]
fn changes_inside_the_scope_pass() {
    for (old, new) in [(0, FILE), (FILE, FILE), (FILE, PROGRAM), (FILE, 0), (LINK, 0), (NESTED, 0)]
    {
        assert_eq!(found(b"src/a.rs", old, new), "");
    }
    assert_eq!(findings(&contract("a"), &[]), Vec::<String>::new());
}

#[test]
fn changes_outside_the_scope_are_kept_out() {
    for path in [&b"README.md"[..], b"srcs/a.rs", b"SRC/a.rs", b"src/../etc", b"/src/a.rs", b""] {
        for (old, new) in [(0, FILE), (FILE, FILE), (FILE, 0), (LINK, 0)] {
            assert!(found(path, old, new).contains("outside the allowed scope (src/)"), "{path:?}");
        }
    }
}

#[test]
fn paths_are_raw_and_shown_escaped() {
    let text = found(b"caf\xe9/\x1b[31m\n", 0, FILE);
    assert!(text.starts_with("caf\u{fffd}/\\u{1b}[31m\\n is outside"), "{text}");
}

#[test]
fn links_and_nested_repositories_are_kept_out() {
    for old in [0, FILE, LINK] {
        assert!(found(b"src/link", old, LINK).contains("symbolic link"));
    }
    for old in [0, FILE, NESTED] {
        assert!(found(b"src/nested", old, NESTED).contains("nested repository"));
    }
}

#[test]
fn dependencies_change_only_where_the_contract_lets_them() {
    for name in
        ["Cargo.toml", "Cargo.lock", "package.json", "go.mod", "requirements.txt", "pyproject.toml"]
    {
        let path = format!("src/deep/{name}");
        assert!(
            found(path.as_bytes(), FILE, FILE).contains("forbids dependency_upgrade"),
            "{name}"
        );
        let mut free = contract("a");
        free.forbidden_actions.clear();
        assert!(findings(&free, &[change(path.as_bytes(), FILE, FILE)]).is_empty());
    }
    assert_eq!(found(b"src/Cargo.toml.md", FILE, FILE), "");
}

#[test]
fn a_result_that_leaves_its_scope_is_kept_out_and_repaired() {
    let mut world = World::of("a");
    let worker = world.take("a");
    world.say(&worker, LeaseEvent::Result(work("w")));
    world.inspect("a", &["src/ok.rs", ".github/workflows/ci.yml", "Makefile"]);
    let Work::Repair(defect) = &world.published("a").last().unwrap().work else { panic!() };
    let named = |finding: &String| finding.split(' ').next().unwrap().to_owned();
    let paths: Vec<String> = defect.findings.iter().map(named).collect();
    assert_eq!(paths, [".github/workflows/ci.yml", "Makefile"], "all at once");
    assert!(world.outcomes("a")[0].starts_with("kept out: .github/workflows/ci.yml is outside"));
}

#[test]
fn many_findings_are_counted_and_not_all_spelled_out_w27() {
    let mut world = World::of("a");
    let worker = world.take("a");
    world.say(&worker, LeaseEvent::Result(work("w")));
    let changes = (0..30_000).map(|n| change(format!("out/{n}").as_bytes(), 0, FILE)).collect();
    world.step(Event::Inspected(world.effect("a"), Inspection::Read(changes)));
    let Work::Repair(defect) = &world.published("a").last().unwrap().work else { panic!() };
    assert_eq!(defect.findings.len(), 21);
    assert_eq!(defect.findings[20], "and 29980 more");
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
