//! `report` and `export` of a run that is replayed from the journal which the coordinator gives.

use cantus_core::journal::{plan, wire};
use cantus_proto::wire::v1::JournalEntry;
use serde_json::Value;

use super::fake::{Answers, Fake};
use super::{Exit, cantus};
use crate::export::STATE_KEYS;
use crate::report::samples;

/// A coordinator that has the sample run, and gives its plan for every artifact that it is asked for.
fn fake() -> Fake {
    let sample = samples::ended();
    let end = sample.records.len() as u64;
    let entry = |(position, record): &(u64, cantus_core::record::Record)| JournalEntry {
        sequence: *position,
        position: *position,
        journal_end: end,
        batch: wire::encode(&record.run, record.at, std::slice::from_ref(record), None).to_vec(),
    };
    Fake::start(Answers {
        journal: sample.records.iter().map(entry).collect(),
        artifact: vec![plan::encode(&samples::plan()).to_vec()],
        ..Answers::default()
    })
}

#[tokio::test]
async fn a_report_is_printed_or_written() {
    let fake = fake();
    let shown = cantus(fake.home(), &["report", "nightly"]).await;
    assert_eq!(shown.exit, Exit::Ok, "{shown:?}");
    assert!(shown.out.starts_with("run nightly  failed\n"), "{shown:?}");

    let json = cantus(fake.home(), &["report", "nightly", "--json"]).await;
    let json: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(json["class"], "failed");
    let sample = samples::ended();
    assert_eq!(json, crate::report::json::report(sample.run(), &sample.report()));

    let (page, markdown) = (fake.home().join("r.html"), fake.home().join("r.md"));
    let line = ["report", "nightly", "--html", page.to_str().unwrap()];
    let written = cantus(fake.home(), &line).await;
    assert_eq!((written.exit, &written.out), (Exit::Ok, &shown.out), "{written:?}");
    assert!(written.notes.starts_with("written to "), "{written:?}");
    assert!(std::fs::read_to_string(page).unwrap().starts_with("<!doctype html>"));
    let line = ["report", "nightly", "--markdown", markdown.to_str().unwrap(), "--json"];
    let both = cantus(fake.home(), &line).await;
    assert!(both.out.starts_with('{') && markdown.exists(), "{both:?}");

    let printed = cantus(fake.home(), &["report", "nightly", "--markdown", "-"]).await;
    assert!(printed.out.starts_with("# Run nightly\n"), "{printed:?}");
    let refused = cantus(fake.home(), &["report", "nightly", "--html", "/no/such/r.html"]).await;
    assert_eq!(refused.exit, Exit::Usage, "{refused:?}");
}

#[tokio::test]
async fn an_export_is_written_with_what_could_be_had() {
    let fake = fake();
    let out = fake.home().join("out");
    let line = ["export", "nightly", "--out", out.to_str().unwrap()];
    let exported = cantus(fake.home(), &line).await;
    assert_eq!(exported.exit, Exit::Ok, "{exported:?}");
    assert!(exported.notes.contains("artifacts could not be had"), "{exported:?}");
    let state = std::fs::read(out.join("state.json")).unwrap();
    let state: Value = serde_json::from_slice(&state).unwrap();
    assert_eq!(state.as_object().unwrap().len(), STATE_KEYS.len());
    let missing = state["artifacts"][0]["missing"].as_str().unwrap();
    assert!(missing.contains("an artifact has sha256"), "{missing}");
    // Again in the same place, and never over something else.
    assert_eq!(cantus(fake.home(), &line).await.exit, Exit::Ok);
    std::fs::write(out.join("mine.txt"), "mine").unwrap();
    let refused = cantus(fake.home(), &line).await;
    assert_eq!(refused.exit, Exit::Usage, "{refused:?}");
    assert!(refused.notes.contains("with other things in it"), "{refused:?}");
}

#[tokio::test]
async fn a_run_that_is_not_there_is_said_to_be_unknown() {
    let fake = Fake::start(Answers::default());
    let unknown = cantus(fake.home(), &["report", "nightly"]).await;
    assert_eq!(
        (unknown.exit, unknown.notes.as_str()),
        (Exit::Usage, "cantus: there is no such run\n")
    );
    let out = fake.home().join("out");
    let line = ["export", "nightly", "--out", out.to_str().unwrap()];
    assert_eq!(cantus(fake.home(), &line).await.exit, Exit::Usage);
    assert!(!out.exists());
}
