//! Tests of split: exact values, and the edges.

use std::sync::Arc;

use cantus_proto::contract::Criterion;
use cantus_proto::ids::{CriterionId, RoleName};
use cantus_proto::plan::{Complexity, Effort};

use super::*;
use crate::tests::samples;

const WHOLE: ItemIndex = ItemIndex(0);

fn criterion(id: &str) -> Criterion {
    Criterion {
        id: CriterionId::new(id).unwrap(),
        statement: "it holds".to_owned(),
        checker: format!("check {id}"),
    }
}

/// Two items, of which the first has two criteria and much of its own to hand down.
fn run() -> Run {
    let mut run = samples::run("a, b");
    let whole = run.item_mut(WHOLE);
    whole.complexity = Complexity::Large;
    whole.effort = Some(Effort::Low);
    whole.priority = 7;
    whole.verifier = RoleName::new("strict").unwrap();
    let contract = Arc::make_mut(&mut whole.contract);
    contract.acceptance_criteria = vec![criterion("AC-01"), criterion("AC-02")];
    contract.non_goals = vec!["a rewrite".to_owned()];
    contract.allowed_scope.tools = vec!["cargo".to_owned()];
    run
}

fn part(id: &str, needs: &[&str]) -> Part {
    Part {
        id: ItemId::new(id).unwrap(),
        goal: format!("do {id}"),
        deliverables: vec![],
        criteria: vec![CriterionId::new("AC-02").unwrap()],
        paths: vec![],
        needs: needs.iter().map(|need| ItemId::new(need).unwrap()).collect(),
    }
}

fn left(minutes: u64) -> Remainder {
    Remainder { wall_clock_ms: minutes * MINUTE_MS, tokens: Some(100), cost: None }
}

fn split(proposed: &[Part]) -> Result<Vec<PlanItem>, String> {
    parts(&run(), WHOLE, proposed, &left(10))
}

fn refused(proposed: &[Part]) -> String {
    split(proposed).unwrap_err()
}

#[test]
fn parts_have_the_wholes_terms_and_equal_shares() {
    let first = Part { paths: vec!["src/x.rs".to_owned()], ..part("x", &[]) };
    let items = split(&[first, part("y", &["x", "x"])]).unwrap();
    let run = run();
    let whole = run.item(WHOLE);
    assert_eq!(items.len(), 2);
    assert_eq!((items[0].id.as_str(), items[1].id.as_str()), ("x", "y"));
    assert_eq!((items[0].needs.len(), items[1].needs.as_slice()), (0, &[items[0].id.clone()][..]));
    let contract = &items[0].contract;
    assert_eq!((contract.goal.as_str(), &contract.non_goals), ("do x", &whole.contract.non_goals));
    assert_eq!(contract.acceptance_criteria, [criterion("AC-02")]);
    assert_eq!(contract.allowed_scope.paths, ["src/x.rs"]);
    assert_eq!(contract.forbidden_actions, whole.contract.forbidden_actions);
    let scope = &items[1].contract.allowed_scope;
    assert_eq!(scope, &whole.contract.allowed_scope);
    for item in &items {
        // Three shares of ten minutes and of a hundred tokens: one is the whole's own.
        let expected = Budgets {
            wall_clock_minutes: 3,
            token_budget: Some(33),
            cost_budget: None,
            ..whole.contract.budgets.clone()
        };
        assert_eq!(item.contract.budgets, expected);
        assert_eq!((item.complexity, item.effort), (Complexity::Medium, Some(Effort::Low)));
        assert_eq!((item.role.as_str(), item.verifier.as_str()), ("worker", "strict"));
        assert_eq!((item.priority, item.attempts_max), (7, 3));
    }
}

#[test]
fn a_split_into_a_cycle_is_refused_by_name() {
    let circle = "the parts need each other in a circle: ";
    assert_eq!(refused(&[part("x", &["x"])]), format!("{circle}x → x"));
    assert_eq!(
        refused(&[part("w", &["x"]), part("x", &["y"]), part("y", &["z"]), part("z", &["x"])]),
        format!("{circle}x → y → z → x")
    );
    let diamond = [part("x", &[]), part("y", &["x"]), part("z", &["x"]), part("v", &["y", "z"])];
    assert_eq!(split(&diamond).unwrap().len(), 4);
}

#[test]
fn ids_are_new_and_needs_are_parts() {
    assert_eq!(
        refused(&[part("b", &[])]),
        "the run has an item b already: give the part another id"
    );
    assert_eq!(
        refused(&[part("x", &[]), part("x", &[])]),
        "two parts are called x: give each an id of its own"
    );
    assert_eq!(refused(&[part("x", &["b"])]), "part x needs b, which is no other part");
    assert_eq!(refused(&[part("x", &["a"])]), "part x needs a, which is no other part");
}

#[test]
fn a_split_is_bounded_in_width_and_depth() {
    let many: Vec<Part> = (0..9).map(|n| part(&format!("p{n}"), &[])).collect();
    assert_eq!(refused(&many), "a split has 1 to 8 parts, not 9");
    assert_eq!(refused(&[]), "a split has 1 to 8 parts, not 0");
    assert_eq!(split(&many[..8]).unwrap().len(), 8);
    let mut run = run();
    for (whole, id) in [(WHOLE, "x"), (ItemIndex(2), "y")] {
        let items = parts(&run, whole, &[part(id, &[])], &left(10)).unwrap();
        run.append_parts(crate::event::Millis(1), whole, &items);
    }
    assert_eq!(run.item(ItemIndex(3)).complexity, Complexity::Small);
    assert_eq!(
        parts(&run, ItemIndex(3), &[part("z", &[])], &left(10)),
        Err("y is a part of a part: it is not split again".to_owned())
    );
}

#[test]
fn a_part_shows_something_and_stays_inside() {
    let nothing = Part { criteria: vec![], ..part("x", &[]) };
    assert_eq!(refused(&[nothing]), "part x names no criterion of a: nothing would show it");
    let unknown = Part { criteria: vec![CriterionId::new("AC-9").unwrap()], ..part("x", &[]) };
    assert_eq!(refused(&[unknown]), "part x names AC-9, which a does not have");
    let outside = Part { paths: vec!["docs/".to_owned()], ..part("x", &[]) };
    assert_eq!(
        refused(&[outside]),
        "part x names \"docs/\", which is not inside the scope of a (src/)"
    );
    let silent = Part { goal: " \n".to_owned(), ..part("x", &[]) };
    assert_eq!(refused(&[silent]), "part x has no goal: say in one sentence what it is for");
    let long = Part { deliverables: vec!["x".repeat(4_001)], ..part("x", &[]) };
    assert!(refused(&[long]).contains("a text above 4000 bytes"));
}

#[test]
fn a_share_of_nothing_refuses() {
    let two = [part("x", &[]), part("y", &[])];
    let of = |remainder: Remainder| parts(&run(), WHOLE, &two, &remainder);
    assert_eq!(
        of(Remainder { wall_clock_ms: 3 * MINUTE_MS - 1, ..left(0) }),
        Err("too little of the time in minutes remains for 3 shares: 2".to_owned())
    );
    assert_eq!(
        of(Remainder { tokens: Some(2), ..left(3) }),
        Err("too little of the tokens remains for 3 shares: 2".to_owned())
    );
    assert!(of(Remainder { tokens: Some(0), ..left(3) }).is_err());
    assert!(of(Remainder { cost: Some(MicroUsd(2)), ..left(3) }).is_err());
    assert!(of(Remainder { tokens: None, cost: Some(MicroUsd(3)), ..left(3) }).is_ok());
    let most = Remainder {
        wall_clock_ms: u64::MAX,
        tokens: Some(u64::MAX),
        cost: Some(MicroUsd(u64::MAX)),
    };
    let budgets = of(most).unwrap()[0].contract.budgets.clone();
    assert_eq!(budgets.wall_clock_minutes, u32::MAX);
    assert_eq!(budgets.cost_budget, Some(MicroUsd(u64::MAX / 3)));
}
