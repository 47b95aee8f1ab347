//! The journal's bytes: every kind of record comes back, and version 2 stays what it is.

mod plans;
mod samples;

use std::collections::BTreeSet;

use cantus_proto::ids::hex;
use cantus_proto::wire::v1;
use prost::Message as _;

use super::wire::{RecordError, decode, encode};
use crate::event::Millis;
use crate::record::{Fact, ItemFact, Record};
use samples::{AT, RUN, plan, records};

/// One line for each sample: its name and the bytes of a batch with it alone.
const GOLDEN: &str = include_str!("golden_v2.txt");

fn run() -> cantus_proto::ids::RunId {
    cantus_proto::ids::RunId::new(RUN).unwrap()
}

fn again(record: &Record) -> Record {
    let bytes = encode(&record.run, record.at, std::slice::from_ref(record), None);
    decode(&bytes).unwrap().records(Some(&plan())).unwrap().remove(0)
}

/// The word for a fact. A new one does not compile here until it has a sample.
fn name(fact: &Fact) -> &'static str {
    match fact {
        Fact::Submitted(_) => "Submitted",
        Fact::RunCancelled => "RunCancelled",
        Fact::RunWarned(_) => "RunWarned",
        Fact::Item(_, fact) => match fact {
            ItemFact::Queued(..) => "Queued",
            ItemFact::Leased(..) => "Leased",
            ItemFact::Ended(..) => "Ended",
            ItemFact::Delivered(..) => "Delivered",
            ItemFact::Gated => "Gated",
            ItemFact::MergeBegan => "MergeBegan",
            ItemFact::Merged(_) => "Merged",
            ItemFact::Verified(..) => "Verified",
            ItemFact::Refuted(_) => "Refuted",
            ItemFact::HeadMoved(_) => "HeadMoved",
            ItemFact::Landed(..) => "Landed",
            ItemFact::Recovered(_) => "Recovered",
            ItemFact::Reported => "Reported",
            ItemFact::Parked(_) => "Parked",
            ItemFact::Requeued => "Requeued",
            ItemFact::Cancelled => "Cancelled",
            ItemFact::Saved(..) => "Saved",
            ItemFact::Logged(..) => "Logged",
            ItemFact::Settled(..) => "Settled",
            ItemFact::Demanded(..) => "Demanded",
            ItemFact::Proposed(..) => "Proposed",
            ItemFact::Learned(..) => "Learned",
            ItemFact::LearningsChecked(..) => "LearningsChecked",
            ItemFact::Warned(_) => "Warned",
            ItemFact::Approved(..) => "Approved",
            ItemFact::Rechecked(_) => "Rechecked",
            ItemFact::Split(..) => "Split",
        },
    }
}

#[test]
fn every_record_comes_back() {
    for (name, record) in records() {
        assert_eq!(again(&record), record, "{name}");
    }
}

#[test]
fn every_fact_has_a_sample() {
    let names: BTreeSet<&str> = records().iter().map(|(_, record)| name(&record.fact)).collect();
    assert_eq!(names.len(), 30, "{names:?}");
    let titles: BTreeSet<String> = records().into_iter().map(|(title, _)| title).collect();
    assert_eq!(titles.len(), records().len(), "two samples have one name");
}

#[test]
fn the_bytes_of_version_2_stay_as_they_are() {
    let encoded = records().into_iter().map(|(name, record)| {
        let bytes = encode(&record.run, record.at, std::slice::from_ref(&record), Some(7));
        format!("{name} {}\n", hex(&bytes))
    });
    let encoded: String = encoded.collect();
    // A journal is read by later programs: what differs needs a new version, and this one must still be read.
    assert!(encoded == GOLDEN, "golden_v2.txt differs from:\n{encoded}");
}

#[test]
fn golden_bytes_are_read() {
    assert_eq!(GOLDEN.lines().count(), records().len());
    for (line, (name, record)) in GOLDEN.lines().zip(records()) {
        let text = line.split_once(' ').unwrap().1;
        let digits = text.as_bytes().chunks(2).map(|two| std::str::from_utf8(two).unwrap());
        let bytes: Vec<u8> = digits.map(|two| u8::from_str_radix(two, 16).unwrap()).collect();
        let batch = decode(&bytes).unwrap();
        assert_eq!((&batch.run, batch.at, batch.reports_through), (&run(), AT, Some(7)), "{name}");
        assert_eq!(batch.records(Some(&plan())).unwrap(), [record], "{name}");
    }
}

#[test]
fn a_batch_keeps_the_order_and_says_how_far_reports_are_consumed() {
    let all: Vec<Record> = records().into_iter().map(|(_, record)| record).collect();
    for reports_through in [None, Some(1), Some(u64::MAX)] {
        let batch = decode(&encode(&run(), AT, &all, reports_through)).unwrap();
        assert_eq!(batch.reports_through, reports_through);
        assert_eq!(batch.records(Some(&plan())).unwrap(), all);
    }
}

#[test]
fn a_batch_names_the_plan_that_it_needs() {
    for (name, record) in records() {
        let bytes = encode(&run(), AT, std::slice::from_ref(&record), None);
        let Fact::Submitted(submission) = &record.fact else {
            assert_eq!(decode(&bytes).unwrap().plan_blob().unwrap(), None, "{name}");
            assert!(decode(&bytes).unwrap().records(None).is_ok(), "{name}");
            continue;
        };
        let batch = decode(&bytes).unwrap();
        assert_eq!(batch.plan_blob().unwrap(), Some(submission.plan_blob.clone()));
        assert!(matches!(batch.records(None), Err(RecordError::Unknown("plan"))));
    }
}

fn batch(change: impl FnOnce(&mut v1::JournalBatch)) -> Vec<u8> {
    let mut batch = v1::JournalBatch {
        version: 2,
        run: RUN.to_owned(),
        at_ms: 1,
        records: vec![v1::Record { item: 0, fact: Some(v1::record::Fact::Gated(true)) }],
        reports_through: 0,
    };
    change(&mut batch);
    batch.encode_to_vec()
}

#[test]
fn what_is_no_batch_of_this_version_is_refused() {
    let error = decode(&batch(|batch| batch.version = 1)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the journal has version 1, this program knows 2: use the program that wrote it"
    );
    assert!(matches!(decode(b""), Err(RecordError::Version { found: 0 })));
    assert!(matches!(decode(b"\xff\xff\xff"), Err(RecordError::Undecodable(_))));
    assert!(matches!(decode(&batch(|batch| batch.run.clear())), Err(RecordError::Id(_))));
    assert_eq!(decode(&batch(|_| {})).unwrap().at, Millis(1));
}

/// What a record with this fact says when it is read.
fn refused(fact: Option<v1::record::Fact>) -> String {
    let bytes = batch(|batch| batch.records[0].fact = fact);
    let error = decode(&bytes).unwrap().records(Some(&plan())).unwrap_err();
    error.to_string()
}

#[test]
fn records_with_parts_that_nobody_knows_are_refused() {
    use v1::record::Fact as Wire;
    let ended = |ending, failure| v1::Ended { number: 1, ending, failure, reason: String::new() };
    let queued = |kind, given: bool| {
        let route = Some(v1::Route { effort: v1::Effort::Low.into(), ..v1::Route::default() });
        let dispatch = given.then_some(v1::Dispatch { route, ..v1::Dispatch::default() });
        Wire::Queued(v1::Queued { number: 1, kind, dispatch })
    };
    let refuted = |by| v1::Refuted { by, number: 1, ..v1::Refuted::default() };
    for (fact, missing) in [
        (None, "no fact"),
        (Some(queued(9, true)), "no kind of attempt"),
        (Some(queued(0, true)), "no kind of attempt"),
        (Some(queued(1, false)), "no dispatch"),
        (Some(Wire::Ended(ended(9, 0))), "no ending"),
        (Some(Wire::Ended(ended(0, 0))), "no ending"),
        (Some(Wire::Ended(ended(v1::EndingKind::Failed.into(), 0))), "no kind of failure"),
        (Some(Wire::Refuted(refuted(0))), "no refuter"),
        (Some(Wire::Refuted(refuted(v1::RefuterKind::Gate.into()))), "no defect"),
        (Some(Wire::Leased(v1::RecordLeased::default())), "no holder"),
        (Some(Wire::Delivered(v1::Delivered::default())), "no result"),
        (Some(Wire::Saved(v1::RecordSaved::default())), "no saved work"),
        (Some(Wire::Logged(v1::Logged::default())), "no log"),
        (Some(Wire::HeadMoved("main".to_owned())), "an id that is not valid"),
        (Some(Wire::Landed(v1::Landed::default())), "an id that is not valid"),
        (Some(Wire::Merged(v1::Candidate::default())), "not valid"),
        (Some(Wire::Submitted(v1::Submitted::default())), "no plan"),
    ] {
        let said = refused(fact.clone());
        assert!(said.contains(missing), "{fact:?}: {said}");
    }
}
