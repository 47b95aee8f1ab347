//! Tests of verification budget: exact values, and the edges.

use cantus_proto::ids::AttemptNumber;
use cantus_proto::message::FailureKind;

use super::*;
use crate::tests::samples;

fn undecided() -> Option<Outcome> {
    Some(Outcome::InVain(Ending::Inconclusive, "no verdict".to_owned()))
}

/// An item whose result was checked so often in vain.
fn checked(times: u32) -> Item {
    let mut item = samples::item();
    let (_, work) = samples::tried(&mut item, AttemptKind::Produce, Some(Outcome::HandedIn));
    work.result = Some(Box::new(samples::work("w")));
    for _ in 0..times {
        samples::tried(&mut item, AttemptKind::Verify, undecided());
    }
    item
}

#[test]
fn verification_has_its_share_and_work_the_rest() {
    assert_eq!(shares(10, 0.25), Shares { work: 8, verification: 2 });
    assert_eq!(shares(600_000, 0.30), Shares { work: 420_000, verification: 180_000 });
    assert_eq!(shares(0, 0.25), Shares { work: 0, verification: 0 });
    assert_eq!(shares(1, 0.25), Shares { work: 1, verification: 0 });
    assert_eq!(shares(u64::MAX, 1.0), Shares { work: 0, verification: u64::MAX });
    assert_eq!(shares(9, f64::NAN), Shares { work: 9, verification: 0 });
}

#[test]
fn each_hypothesis_allows_one_run_more() {
    assert_eq!(allowed_checks(2, 0), 2);
    assert_eq!(allowed_checks(2, 3), 5);
    assert_eq!(allowed_checks(u32::MAX, usize::MAX), u32::MAX);
}

#[test]
fn the_third_run_of_a_check_needs_a_hypothesis() {
    assert!(!needs_hypothesis(&checked(1), 2));
    let mut item = checked(2);
    assert!(needs_hypothesis(&item, 2));
    assert!(needs_hypothesis(&checked(0), 0));
    let mut hypothesis = |of: u32, text: &str| {
        item.remarks_mut().hypotheses.push((AttemptNumber(of), text.to_owned()))
    };
    // About another attempt's result it allows nothing.
    hypothesis(9, "other work");
    hypothesis(1, "the disk was full");
    assert_eq!(hypotheses(&item).collect::<Vec<_>>(), ["the disk was full"]);
    assert!(!needs_hypothesis(&item, 2));
    samples::tried(&mut item, AttemptKind::Verify, undecided());
    assert!(needs_hypothesis(&item, 2));
}

#[test]
fn a_hypothesis_says_something_new_in_bounds() {
    let earlier = ["The disk was full"];
    let of = |text: &str| hypothesis(text, earlier.into_iter());
    assert_eq!(of("  the clock was wrong\n"), Ok("the clock was wrong".to_owned()));
    assert_eq!(of(" \n\t"), Err(Unfit::Empty));
    assert_eq!(of(" the  DISK was full "), Err(Unfit::Known));
    assert_eq!(of(&"x".repeat(2_000)).map(|text| text.len()), Ok(2_000));
    assert_eq!(of(&"x".repeat(2_001)), Err(Unfit::TooLong(2_001)));
}

#[test]
fn only_a_second_look_at_an_undecided_tree_is_a_repetition() {
    assert_eq!([0, 1, 2, 3].map(|times| repeated_checks(&checked(times))), [0, 0, 1, 2]);
    let mut item = checked(1);
    samples::tried(&mut item, AttemptKind::Verify, Some(Outcome::Verified));
    assert_eq!(repeated_checks(&item), 1);
    // The head moved: another tree.
    samples::tried(&mut item, AttemptKind::Verify, undecided());
    assert_eq!(repeated_checks(&item), 1);
    // Nobody took it, so nobody looked; the one after it looks again.
    let unclaimed = Outcome::InVain(Ending::Unclaimed, String::new());
    samples::tried(&mut item, AttemptKind::Verify, Some(unclaimed)).1.leased = None;
    assert_eq!(repeated_checks(&item), 1);
    let failed = Outcome::InVain(Ending::Failed(FailureKind::Timeout), String::new());
    samples::tried(&mut item, AttemptKind::Verify, Some(failed));
    assert_eq!(repeated_checks(&item), 2);
    // New work, new tree.
    samples::tried(&mut item, AttemptKind::Repair, Some(Outcome::HandedIn));
    samples::tried(&mut item, AttemptKind::Verify, None);
    assert_eq!(repeated_checks(&item), 2);
}
