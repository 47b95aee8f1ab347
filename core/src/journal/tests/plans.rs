//! Plans as blobs: what goes in comes out, and repeated contracts are kept once.

use cantus_proto::plan::{Complexity, LandingStyle, Plan, PlanItem};
use cantus_proto::wire::v1;
use prost::Message as _;

use super::super::plan::{decode, encode};
use super::super::wire::RecordError;
use super::samples::{item, plan};

fn of(items: Vec<PlanItem>) -> Plan {
    Plan {
        repository: None,
        target: None,
        landing: LandingStyle::Merge,
        budgets: plan().budgets,
        items,
    }
}

#[test]
fn a_plan_comes_back_with_every_field() {
    let mut items = vec![];
    for (place, complexity) in Complexity::ALL.into_iter().enumerate() {
        let mut item = item(&format!("é {place}/"), &[], &format!("goal {}", place / 2));
        item.complexity = complexity;
        item.priority = -3 + i32::try_from(place).unwrap();
        item.attempts_max = 1 + u32::try_from(place).unwrap();
        items.push(item);
    }
    // A need may stand behind the item that has it.
    items[0].needs = vec![items[3].id.clone(), items[1].id.clone()];
    for landing in LandingStyle::ALL {
        let plan = Plan { landing, ..of(items.clone()) };
        assert_eq!(*decode(&encode(&plan)).unwrap(), plan);
    }
    assert_eq!(*decode(&encode(&of(vec![]))).unwrap(), of(vec![]));
}

#[test]
fn where_it_lands_is_the_submissions_affair() {
    let plan =
        Plan { repository: Some("x".to_owned()), target: Some("main".to_owned()), ..of(vec![]) };
    assert_eq!(*decode(&encode(&plan)).unwrap(), of(vec![]));
}

#[test]
fn ten_thousand_items_come_back_and_share_their_contract() {
    let id = |place: usize| format!("item-{place:05}");
    let items = (0..10_000_usize).map(|place| {
        let needs = [place.checked_sub(100).map(id), place.checked_sub(101).map(id)];
        let needs: Vec<&str> = needs.iter().flatten().map(String::as_str).collect();
        item(&id(place), &needs, "the same")
    });
    let plan = of(items.collect());
    let bytes = encode(&plan);
    assert!(bytes.len() < 500_000, "{} bytes", bytes.len());
    assert_eq!(v1::PlanDocument::decode(bytes.clone()).unwrap().contracts.len(), 1);
    assert_eq!(*decode(&bytes).unwrap(), plan);
}

fn refused(change: impl FnOnce(&mut v1::PlanDocument)) -> RecordError {
    let mut document = v1::PlanDocument::decode(encode(&plan())).unwrap();
    change(&mut document);
    decode(&document.encode_to_vec()).unwrap_err()
}

fn first(document: &mut v1::PlanDocument) -> &mut v1::PlanItem {
    &mut document.plan.as_mut().unwrap().items[0]
}

#[test]
fn what_is_no_plan_of_this_version_is_refused() {
    let other = refused(|document| document.plan.as_mut().unwrap().version = 1);
    assert!(matches!(other, RecordError::Version { found: 1 }), "{other}");
    assert!(matches!(decode(b""), Err(RecordError::Unknown("plan"))));
    assert!(matches!(decode(b"\xff"), Err(RecordError::Undecodable(_))));
    for (error, part) in [
        (refused(|d| d.plan.as_mut().unwrap().landing = "rebase".to_owned()), "landing style"),
        (refused(|d| first(d).complexity = "XXL".to_owned()), "complexity"),
        (refused(|d| first(d).needs.push(2)), "need"),
        (refused(|d| first(d).contract = 1), "contract"),
    ] {
        assert!(matches!(&error, RecordError::Unknown(unknown) if *unknown == part), "{error}");
    }
    assert!(matches!(refused(|d| first(d).id.clear()), RecordError::Id(_)));
    assert!(matches!(
        refused(|d| d.contracts[0].acceptance_criteria.clear()),
        RecordError::Part(_)
    ));
}
