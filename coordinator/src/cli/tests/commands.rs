//! Commands that ask once.

use cantus_proto::ids::Digest;
use cantus_proto::message::Isolation;
use cantus_proto::wire::v1::{
    ApproveResponse, AttemptView, Blob, GateFinding, ItemView, QueueView, RequeueResponse,
    RetryResponse, RunView,
};
use serde_json::Value;
use tonic::Status;

use super::fake::{Answers, Fake};
use super::{Exit, cantus, ran};
use crate::cli::proof::tests::sample;
use crate::cli::render::samples;

#[tokio::test]
async fn runs_and_queues() {
    let queue = QueueView { role: "worker".to_owned(), depth: 2, ..Default::default() };
    let fake = Fake::start(Answers {
        status: vec![samples::running(), RunView { run: "old".to_owned(), ..samples::completed() }],
        queue: vec![queue],
        ..Answers::default()
    });
    let all = cantus(fake.home(), &["status"]).await;
    assert!(all.out.starts_with("RUN ") && all.out.lines().count() == 3, "{all:?}");
    let one = cantus(fake.home(), &["status", "nightly"]).await;
    assert!(
        one.out.starts_with("run nightly  running") && one.out.contains("├─ ● left"),
        "{one:?}"
    );
    let json = cantus(fake.home(), &["status", "--json"]).await;
    let document: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(document["runs"][0]["items"][1]["state"], "working");
    let nowhere = std::path::Path::new("/no/such/home");
    let far = cantus(nowhere, &["status", "nightly", "--connect", &fake.url, "--json"]).await;
    assert!(far.exit == Exit::Ok && far.out.contains("nightly"), "{far:?}");
    let queues = cantus(fake.home(), &["queue"]).await;
    assert!(queues.out.starts_with("ROLE ") && queues.exit == Exit::Ok, "{queues:?}");
    let queues: Value =
        serde_json::from_str(&cantus(fake.home(), &["queue", "--json"]).await.out).unwrap();
    assert_eq!(queues["queues"][0]["depth"], 2);
}

#[tokio::test]
async fn cancel_tells_what_it_did_and_may_be_repeated() {
    let fake = Fake::start(Answers {
        cancelled: vec!["a".to_owned(), "b\u{7}".to_owned()],
        ..Answers::default()
    });
    let whole = cantus(fake.home(), &["cancel", "nightly"]).await;
    assert_eq!(
        (whole.exit, whole.out.as_str()),
        (Exit::Ok, "cancelled 2 items of run nightly: a, b\\u{7}\n")
    );
    let one = cantus(fake.home(), &["cancel", "nightly", "a", "--json"]).await;
    let document: Value = serde_json::from_str(&one.out).unwrap();
    assert_eq!(document["cancelled"][1], "b\u{7}");
    assert_eq!(*fake.asked.lock().unwrap(), ["cancel nightly \"\"", "cancel nightly \"a\""]);
    let ended = Fake::start(Answers::default());
    let again = cantus(ended.home(), &["cancel", "nightly"]).await;
    assert_eq!(
        (again.exit, again.out.as_str()),
        (Exit::Ok, "nothing to cancel: run nightly has ended already\n")
    );
}

#[tokio::test]
async fn requeue_puts_back_or_says_why_not() {
    let put_back = RequeueResponse { requeued: vec!["a".to_owned()] };
    let fake = Fake::start(Answers { requeue: Ok(put_back), ..Answers::default() });
    let done = cantus(fake.home(), &["requeue", "it's", "a"]).await;
    assert_eq!(done.out, "put back in run it's: a\nfollow it: cantus watch 'it'\\''s'\n");
    let refusal = Status::failed_precondition("item a has landed");
    let fake = Fake::start(Answers { requeue: Err(refusal), ..Answers::default() });
    let refused = cantus(fake.home(), &["requeue", "r", "a"]).await;
    assert_eq!(
        (refused.exit, refused.notes.as_str()),
        (Exit::Failed, "cantus: refused: item a has landed\n")
    );
}

#[tokio::test]
async fn findings_are_let_through_by_name_and_shown() {
    let finding = GateFinding {
        rule: "test-skipped".to_owned(),
        path: b"tests/a.rs".to_vec(),
        line: 7,
        text: "is skipped".to_owned(),
    };
    let answer = ApproveResponse { attempt: 2, findings: vec![finding] };
    let fake = Fake::start(Answers { approve: Ok(answer), ..Answers::default() });
    let done = cantus(fake.home(), &["approve", "nightly", "a", "--by", "kim"]).await;
    assert_eq!(
        done.out,
        "let through by kim: what the gates found in attempt 2 of item a of run nightly\n  \
           tests/a.rs:7: [test-skipped] is skipped\n\
         it is verified like any other result\nfollow it: cantus watch nightly\n"
    );
    let json = cantus(fake.home(), &["approve", "nightly", "a", "--by", "kim", "--json"]).await;
    let document: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((&document["by"], &document["findings"][0]["line"]), (&"kim".into(), &7.into()));
    assert_eq!(fake.asked.lock().unwrap()[0], "approve nightly a by kim");
    let refusal = Status::failed_precondition("no gate keeps it out");
    let fake = Fake::start(Answers { approve: Err(refusal), ..Answers::default() });
    let refused = cantus(fake.home(), &["approve", "r", "a", "--by", "kim"]).await;
    assert_eq!(
        (refused.exit, refused.notes.as_str()),
        (Exit::Failed, "cantus: refused: no gate keeps it out\n")
    );
}

#[tokio::test]
async fn a_check_runs_again_for_a_reason() {
    let fake =
        Fake::start(Answers { retry: Ok(RetryResponse { attempt: 3 }), ..Answers::default() });
    let line = ["retry", "nightly", "a", "--hypothesis", "the disk was full\u{1b}"];
    let done = cantus(fake.home(), &line).await;
    assert_eq!(
        done.out,
        "the result of attempt 3 of item a of run nightly is checked again: the disk was full\\u{1b}\n\
         follow it: cantus watch nightly\n"
    );
    assert_eq!(fake.asked.lock().unwrap()[0], "retry nightly a: the disk was full\u{1b}");
}

fn with_logs(logs: &[Option<&[u8]>]) -> ItemView {
    let attempt = |(log, number): (&Option<&[u8]>, u32)| AttemptView {
        number,
        kind: "produce".to_owned(),
        log: log
            .map(|log| Blob { sha256: Digest::of(log).to_string(), size_bytes: log.len() as u64 }),
        ..Default::default()
    };
    ItemView { attempts: logs.iter().zip(1..).map(attempt).collect(), ..Default::default() }
}

#[tokio::test]
async fn logs_come_whole_or_not_at_all() {
    let log = b"one\x1b[31m\ntwo\xff".as_slice();
    let answers = Answers {
        item: Ok(with_logs(&[Some(log), None])),
        artifact: vec![log[..5].to_vec(), log[5..].to_vec()],
        ..Answers::default()
    };
    let fake = Fake::start(answers.clone());
    let shown = ran(fake.home(), &["logs", "r", "i"], true).await;
    assert_eq!(shown.out, "one\\u{1b}[31m\ntwo\u{fffd}\n");
    assert_eq!(shown.notes, "attempt 1 (produce) of 2; others with --attempt\n");
    let none = cantus(fake.home(), &["logs", "r", "i", "--attempt", "2"]).await;
    assert_eq!(none.exit, Exit::Failed);
    assert_eq!(none.notes, "cantus: attempt 2 of item i has no log; these attempts have one: 1\n");
    for artifact in [vec![b"another".to_vec()], vec![log.to_vec(), vec![b'x'; 100]], vec![]] {
        let fake = Fake::start(Answers { artifact, ..answers.clone() });
        let damaged = cantus(fake.home(), &["logs", "r", "i"]).await;
        assert!(damaged.exit == Exit::Failed && damaged.out.is_empty(), "{damaged:?}");
        assert!(damaged.notes.contains("the log is damaged"), "{damaged:?}");
    }
}

#[tokio::test]
async fn evidence_is_checked_shown_and_exported() {
    let sample = sample(Isolation::Container);
    let view = ItemView { contract: Some((&sample.contract).into()), ..Default::default() };
    let answers =
        Answers { item: Ok(view), evidence: Ok(sample.response.clone()), ..Answers::default() };
    let fake = Fake::start(answers.clone());
    let line = ["evidence", "nightly", "a b"];
    let keyless = cantus(fake.home(), &line).await;
    assert!(keyless.exit == Exit::Usage && keyless.notes.contains("--trust FILE"), "{keyless:?}");

    fake.write("trust.json", sample.trust.to_json());
    let out = fake.home().join("out");
    let shown = cantus(fake.home(), &[&line[..], &["--out", out.to_str().unwrap()]].concat()).await;
    assert_eq!(shown.exit, Exit::Ok, "{shown:?}");
    assert!(
        shown.out.ends_with("proved: 2 of 2 criteria hold, signed by trusted keys\n"),
        "{}",
        shown.out
    );
    assert!(shown.out.contains("  ✓ AC-01: holds\n"), "{}", shown.out);
    let sums = std::process::Command::new("sha256sum")
        .args(["-c", "SHA256SUMS"])
        .current_dir(&out)
        .output();
    assert!(sums.expect("sha256sum is missing: install coreutils").status.success());

    let json: Value =
        serde_json::from_str(&cantus(fake.home(), &[&line[..], &["--json"]].concat()).await.out)
            .unwrap();
    assert_eq!(
        (&json["proved"], &json["criteria"][0]["standing"]),
        (&true.into(), &"holds".into())
    );
    assert_eq!(json["files"][0]["envelope"]["payloadType"], "application/vnd.in-toto+json");

    let mut spoiled = answers;
    spoiled.evidence.as_mut().unwrap().files[0].content[40] ^= 1;
    let fake = Fake::start(spoiled);
    fake.write("trust.json", sample.trust.to_json());
    let shown = cantus(fake.home(), &line).await;
    assert_eq!(shown.exit, Exit::Failed);
    assert!(
        shown.out.contains("  ? AC-01: not proved\n      statement not believed"),
        "{}",
        shown.out
    );
}
