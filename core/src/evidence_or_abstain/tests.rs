//! Tests of evidence or abstain: exact values, and the edges.

use std::collections::BTreeMap;

use cantus_proto::ids::{CriterionId, TreeId};
use cantus_proto::message::AttemptKind;

use super::*;
use crate::item::Landed;
use crate::tests::samples;

fn claim(text: &str) -> Claim {
    Claim {
        id: "C-1".to_owned(),
        text: text.to_owned(),
        criterion: None,
        kind: ClaimKind::Observation,
        receipt: None,
    }
}

fn about(criterion: &str) -> Claim {
    Claim { criterion: Some(CriterionId::new(criterion).unwrap()), ..claim("it holds") }
}

fn citing(output: &str) -> Claim {
    Claim { receipt: Some(Digest::of(output.as_bytes())), ..claim("all tests passed") }
}

fn receipt(output: &str, exit: Exit, argv: &[&str]) -> Receipt {
    Receipt {
        argv: argv.iter().map(|word| (*word).to_owned()).collect(),
        exit,
        timed_out: false,
        stdout_sha256: Digest::of(output.as_bytes()),
        stderr_sha256: Digest::of(b""),
        duration_ms: 1,
        purpose: "agent".to_owned(),
        environment: BTreeMap::new(),
        output_truncated: false,
    }
}

fn tree() -> TreeId {
    TreeId::new("a".repeat(40)).unwrap()
}

/// An item with a result per list of receipts, all but the last one kept out.
fn worked(results: &[&[Receipt]]) -> Item {
    let mut item = samples::item();
    for (place, receipts) in results.iter().enumerate() {
        let outcome = match place + 1 == results.len() {
            true => Outcome::HandedIn,
            false => Outcome::KeptOut("out of scope".to_owned()),
        };
        let (_, attempt) = samples::tried(&mut item, AttemptKind::Produce, Some(outcome));
        let mut work = samples::work("w");
        work.receipts = receipts.to_vec();
        attempt.result = Some(Box::new(work));
    }
    item
}

fn proven(mut item: Item) -> Item {
    let proof = Proof {
        tree: tree(),
        listing: Digest::of(b""),
        envelopes: vec![],
        at: crate::event::Millis(1),
    };
    item.proof = Some(Box::new(proof));
    item
}

fn weigh(claim: &Claim, item: &Item) -> (Status, String) {
    status(claim, item, item.last_number())
}

fn unverified(why: &str) -> (Status, String) {
    (Status::Unverified, why.to_owned())
}

#[test]
fn evidence_for_the_tree_verifies_what_it_decided() {
    let item = proven(worked(&[&[]]));
    let verified = format!("evidence for tree {} decides AC-01", tree());
    assert_eq!(weigh(&about("AC-01"), &item), (Status::Verified, verified));
    assert_eq!(weigh(&about("AC-02"), &item), unverified("the contract has no criterion AC-02"));
    assert_eq!(
        weigh(&about("AC-01"), &worked(&[&[]])),
        unverified("it cites no receipt, and no evidence decides AC-01 so far")
    );
}

#[test]
fn the_landed_tree_must_be_the_verified_one() {
    let mut item = proven(worked(&[&[]]));
    let landed = |tree| {
        let commit = samples::work("w").head;
        State::Landed(Box::new(Landed { commit, tree, evidence: Digest::of(b"") }))
    };
    item.state = landed(tree());
    assert_eq!(weigh(&about("AC-01"), &item).0, Status::Verified);
    item.state = landed(TreeId::new("b".repeat(40)).unwrap());
    assert_eq!(weigh(&about("AC-01"), &item).0, Status::Unverified);
}

#[test]
fn confidence_promotes_nothing() {
    let item = proven(worked(&[&[]]));
    let sure = claim("I am absolutely certain that this is right");
    assert_eq!(
        weigh(&sure, &item),
        unverified("it names no criterion and cites no receipt: words alone")
    );
    let ran = claim("I ran all TESTS, and they are green");
    assert_eq!(weigh(&ran, &item), unverified("it says that a check ran and cites no receipt"));
    for (kind, status) in [
        (ClaimKind::Inference, Status::Inference),
        (ClaimKind::Hypothesis, Status::Hypothesis),
        (ClaimKind::Inaccessible, Status::Inaccessible),
    ] {
        assert_eq!(weigh(&Claim { kind, ..about("AC-01") }, &item).0, status);
    }
}

#[test]
fn a_receipt_alone_is_not_evidence() {
    let other = receipt("ok", Exit::Code(0), &["cargo", "test"]);
    let item = worked(&[&[other]]);
    let why = "its command ran in the worker, and no evidence covers that command";
    assert_eq!(weigh(&citing("ok"), &item), unverified(why));
    assert_eq!(weigh(&citing("ok"), &proven(item)), unverified(why));
    let checker = receipt("ok", Exit::Code(0), &["/bin/sh", "-c", "check a"]);
    let item = worked(&[&[checker]]);
    assert_eq!(
        weigh(&citing("ok"), &item),
        unverified("its command ran in the worker, and no evidence decides AC-01 so far")
    );
    assert_eq!(weigh(&citing("ok"), &proven(item)).0, Status::Verified);
}

#[test]
fn a_receipt_must_be_of_the_same_attempt_and_have_ended_well() {
    let checker = ["/bin/sh", "-c", "check a"];
    let good = receipt("ok", Exit::Code(0), &checker);
    let item = proven(worked(&[std::slice::from_ref(&good), &[]]));
    assert_eq!(
        weigh(&citing("ok"), &item),
        unverified("it cites a receipt of attempt 1, not of its own")
    );
    // Another item's, or made up: and no criterion saves a false citation.
    let why = "it cites a receipt that no attempt of this item has";
    assert_eq!(weigh(&citing("of another item"), &item), unverified(why));
    let both = Claim { receipt: Some(Digest::of(b"made up")), ..about("AC-01") };
    assert_eq!(weigh(&both, &item), unverified(why));
    let why = "it cites the output of a command that did not end with 0";
    let timed_out = Receipt { timed_out: true, ..good.clone() };
    for bad in [
        receipt("ok", Exit::Code(1), &checker),
        receipt("ok", Exit::Signal(9), &checker),
        timed_out,
    ] {
        let item = proven(worked(&[&[good.clone(), bad]]));
        assert_eq!(weigh(&citing("ok"), &item), unverified(why));
    }
}

#[test]
fn what_was_refuted_or_replaced_is_not_verified() {
    let mut item = proven(worked(&[&[], &[]]));
    assert_eq!(status(&about("AC-01"), &item, AttemptNumber(1)).0, Status::Unverified);
    assert_eq!(
        status(&about("AC-01"), &item, AttemptNumber(7)),
        unverified("the item has no attempt 7")
    );
    item.attempts[1].outcome = Some(Outcome::Refuted("AC-01: exit 1".to_owned()));
    assert_eq!(weigh(&about("AC-01"), &item).0, Status::Refuted);
    assert_eq!(weigh(&claim("anything"), &item).0.as_str(), "refuted");
}
