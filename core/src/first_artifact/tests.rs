//! Tests of first artifact: exact values, and the edges.

use super::*;
use crate::tests::samples;

/// Ten minutes: the share of 0.30 is three minutes, the grace one and a half.
const WALL_MS: u64 = 600_000;

fn changed(paths: &[&str]) -> Pulse {
    Pulse {
        changed: paths.iter().map(|path| path.as_bytes().to_vec()).collect(),
        changed_count: u32::try_from(paths.len()).unwrap(),
        ..Pulse::default()
    }
}

fn delivering(deliverables: &[&str]) -> Contract {
    let deliverables = deliverables.iter().map(|text| (*text).to_owned()).collect();
    Contract { deliverables, ..samples::contract() }
}

fn of_time(contract: &Contract, elapsed: u64, pulse: &Pulse, demanded: Option<u64>) -> Step {
    weigh(contract, elapsed, WALL_MS, None, Some(pulse), demanded)
}

fn demanded_paths(step: Step) -> Vec<String> {
    let Step::Demand(demand) = step else { panic!("{step:?}") };
    assert_eq!(demand.kind, DemandKind::FirstArtifact);
    demand.paths
}

#[test]
fn exactly_at_the_share_is_fine() {
    let (contract, nothing) = (delivering(&["src/a.rs holds it"]), Pulse::default());
    assert_eq!(of_time(&contract, 180_000, &nothing, None), Step::Fine);
    let step = of_time(&contract, 180_001, &nothing, None);
    let Step::Demand(demand) = step else { panic!("{step:?}") };
    assert_eq!(
        demand.text,
        "more than 30 % of the time is spent and no file has changed: before anything else write the smallest \
         artifact that counts, in src/a.rs"
    );
    assert_eq!(demand.paths, ["src/a.rs"]);
    let tokens = |used| weigh(&contract, 1, WALL_MS, Some((used, 1_000)), Some(&nothing), None);
    assert_eq!(tokens(300), Step::Fine);
    assert!(matches!(tokens(301), Step::Demand(d) if d.text.contains("of the tokens")));
}

#[test]
fn a_budget_of_nothing_is_spent_by_anything() {
    let (contract, nothing) = (samples::contract(), Pulse::default());
    assert_eq!(weigh(&contract, 0, 0, Some((0, 0)), Some(&nothing), None), Step::Fine);
    assert!(matches!(weigh(&contract, 1, 0, None, Some(&nothing), None), Step::Demand(_)));
    let used = weigh(&contract, 0, WALL_MS, Some((1, 0)), Some(&nothing), None);
    assert!(matches!(used, Step::Demand(_)));
    assert!(matches!(weigh(&contract, 2, 0, None, Some(&nothing), Some(1)), Step::End(_)));
    let huge = weigh(&contract, u64::MAX, u64::MAX, Some((u64::MAX, u64::MAX)), None, None);
    assert!(matches!(huge, Step::Demand(_)));
}

#[test]
fn any_change_or_commit_is_an_artifact_before_a_demand() {
    let contract = delivering(&["src/a.rs"]);
    assert_eq!(of_time(&contract, WALL_MS, &changed(&["notes.txt"]), None), Step::Fine);
    let committed = Pulse { commits: 1, ..Pulse::default() };
    assert_eq!(of_time(&contract, WALL_MS, &committed, None), Step::Fine);
}

#[test]
fn the_grace_is_half_the_share() {
    let (contract, nothing) = (delivering(&["src/a.rs"]), Pulse::default());
    assert_eq!(of_time(&contract, 200_000 + 90_000, &nothing, Some(200_000)), Step::Fine);
    assert_eq!(
        of_time(&contract, 200_000 + 90_001, &nothing, Some(200_000)),
        Step::End(
            "an artifact was demanded after 200 s and none came in 90 s more, in src/a.rs"
                .to_owned()
        )
    );
    // A clock that jumped back has not used up the grace.
    assert_eq!(of_time(&contract, 100_000, &nothing, Some(200_000)), Step::Fine);
}

#[test]
fn tokens_end_it_too_but_not_before_the_demand_can_be_read() {
    let (contract, nothing) = (samples::contract(), Pulse::default());
    let at = |since: u64, used| {
        let now = 10_000 + since;
        weigh(&contract, now, WALL_MS, Some((used, 1_000)), Some(&nothing), Some(10_000))
    };
    assert_eq!(at(60_000, 900), Step::Fine);
    assert_eq!(at(60_001, 450), Step::Fine);
    assert!(matches!(at(60_001, 451), Step::End(_)));
}

#[test]
fn an_answer_counts_where_it_was_demanded() {
    let contract = delivering(&["src/a.rs", "src/cache/ for the cache"]);
    let late = |pulse: &Pulse| of_time(&contract, WALL_MS, pulse, Some(200_000));
    assert!(matches!(late(&changed(&["src/b.rs"])), Step::End(_)));
    assert_eq!(late(&changed(&["src/b.rs", "src/a.rs"])), Step::Fine);
    assert_eq!(late(&changed(&["src/cache/new.rs"])), Step::Fine);
    assert!(matches!(late(&Pulse { commits: 1, ..changed(&["src/b.rs"]) }), Step::End(_)));
    // More has changed than is told.
    assert_eq!(late(&Pulse { changed_count: 2, ..changed(&["src/b.rs"]) }), Step::Fine);
    let anywhere = samples::contract();
    let late = |pulse: &Pulse| of_time(&anywhere, WALL_MS, pulse, Some(200_000));
    assert_eq!(late(&changed(&["src/b.rs"])), Step::Fine);
    assert!(matches!(late(&changed(&["notes.txt"])), Step::End(_)));
}

#[test]
fn a_workspace_nobody_looked_at_is_asked_and_not_ended() {
    let contract = samples::contract();
    let unseen = |demanded| weigh(&contract, WALL_MS, WALL_MS, None, None, demanded);
    assert!(matches!(unseen(None), Step::Demand(_)));
    assert_eq!(unseen(Some(200_000)), Step::Fine);
    assert_eq!(look_ms(&contract, WALL_MS, 120_000), 45_000);
    assert_eq!((look_ms(&contract, 0, 120_000), look_ms(&contract, WALL_MS, 5_000)), (1, 5_000));
}

#[test]
fn only_paths_of_the_scope_narrow_it() {
    let nothing = Pulse::default();
    let paths = |deliverables: &[&str]| {
        demanded_paths(of_time(&delivering(deliverables), WALL_MS, &nothing, None))
    };
    let none: [&str; 0] = [];
    assert_eq!(paths(&["a parser", "docs/a.md", "../src/a.rs", "", "  "]), none);
    assert_eq!(
        paths(&["`src/a.rs`: it", "src/a.rs again", "src/b/", "src/"]),
        ["src/a.rs", "src/b/", "src/"]
    );
    let mut wide = delivering(&["Tests for it", "Makefile", "build.rs"]);
    wide.allowed_scope.paths = vec!["**".to_owned(), "Makefile".to_owned()];
    assert_eq!(demanded_paths(of_time(&wide, WALL_MS, &nothing, None)), ["Makefile", "build.rs"]);
}
