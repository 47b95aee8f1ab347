//! Commands about files: `lint`, `submit`, `audit`.

use cantus_proto::evidence::Trust;
use cantus_proto::wire::v1::{Diagnostic, SubmitResponse};
use serde_json::Value;

use super::fake::{Answers, Fake};
use super::{Exit, cantus};
use crate::cli::render::samples;

const GOOD: &str = "version: 1\nrepository: repo\nitems: []\n";
const BAD: &str = "versoin: 1\nitems:\n  - {id: a, needs: [a]}\n";

fn begun() -> SubmitResponse {
    SubmitResponse {
        run: "nightly".to_owned(),
        target: "refs/heads/cantus/nightly".to_owned(),
        notice: "main is checked out".to_owned(),
        diagnostics: vec![],
    }
}

#[tokio::test]
async fn lint_and_submit_refuse_with_the_same_lines() {
    let fake = Fake::start(Answers::default());
    let bad = fake.write("bad.yaml", BAD);
    let bad = bad.to_str().unwrap();
    let lint = cantus(fake.home(), &["lint", bad]).await;
    let submit = cantus(fake.home(), &["submit", bad]).await;
    assert_eq!((lint.exit, submit.exit), (Exit::RefusedPlan, Exit::RefusedPlan));
    assert_eq!(
        (lint.out.as_str(), lint.notes.as_str()),
        (submit.notes.as_str(), submit.out.as_str())
    );
    assert!(
        lint.out.lines().count() > 2 && lint.out.contains(&format!("{bad}:1:1: error[P002]")),
        "{lint:?}"
    );
    assert!(fake.asked.lock().unwrap().is_empty(), "a plan with errors was sent");
    let lint = cantus(fake.home(), &["lint", bad, "--json"]).await;
    let submit = cantus(fake.home(), &["submit", bad, "--json"]).await;
    let (lint, submit): (Value, Value) =
        (serde_json::from_str(&lint.out).unwrap(), serde_json::from_str(&submit.out).unwrap());
    assert_eq!(lint["diagnostics"], submit["diagnostics"]);
    assert_eq!((&lint["refused"], &submit["refused"]), (&true.into(), &true.into()));
}

#[tokio::test]
async fn lint_needs_no_coordinator() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("good.yaml");
    std::fs::write(&file, GOOD).unwrap();
    let good = cantus(home.path(), &["lint", file.to_str().unwrap()]).await;
    assert_eq!(good.exit, Exit::Ok);
    assert_eq!(good.out, format!("{}: no errors, no warnings\n", file.display()));
    std::fs::write(&file, b"version: 1\nitems: [] # \xff").unwrap();
    let bytes = cantus(home.path(), &["lint", file.to_str().unwrap()]).await;
    assert!(
        bytes.exit == Exit::RefusedPlan && bytes.out.contains(":2:13: error[Y002]"),
        "{bytes:?}"
    );
    let missing = cantus(home.path(), &["lint", "/no/such.yaml"]).await;
    assert_eq!(missing.exit, Exit::Usage);
    assert_eq!(
        missing.notes,
        "cantus: cannot read /no/such.yaml, check its name and rights: No such file or directory (os error 2)\n"
    );
}

#[tokio::test]
async fn submit_tells_where_it_lands_and_sends_paths_from_the_root() {
    let fake = Fake::start(Answers { submit: Ok(begun()), ..Answers::default() });
    let plan = fake.write("plan.yaml", GOOD);
    let line = ["submit", plan.to_str().unwrap(), "--run", "nightly", "--target", "main"];
    let submitted = cantus(fake.home(), &line).await;
    assert_eq!(submitted.exit, Exit::Ok);
    assert_eq!(
        submitted.out,
        "run nightly has begun on cantus/nightly: 0 items\nfollow it: cantus watch nightly\n"
    );
    assert_eq!(submitted.notes, "note: main is checked out\n");
    let request = fake.submitted.lock().unwrap().take().unwrap();
    assert_eq!((request.run.as_str(), request.target.as_str()), ("nightly", "main"));
    assert_eq!(request.text, GOOD);
    assert!(
        request.repository.ends_with("/repo") && request.repository.starts_with('/'),
        "{request:?}"
    );
}

#[tokio::test]
async fn a_coordinator_of_another_version_may_refuse_what_was_good_here() {
    let diagnostic = Diagnostic {
        file: "plan.yaml".to_owned(),
        line: 1,
        column: 1,
        code: "P099".to_owned(),
        error: true,
        message: "something new".to_owned(),
        hint: String::new(),
    };
    let refused = SubmitResponse { diagnostics: vec![diagnostic], ..Default::default() };
    let fake = Fake::start(Answers { submit: Ok(refused), ..Answers::default() });
    let plan = fake.write("plan.yaml", GOOD);
    let submitted = cantus(fake.home(), &["submit", plan.to_str().unwrap()]).await;
    assert_eq!(submitted.exit, Exit::RefusedPlan);
    assert!(
        submitted.notes.starts_with("plan.yaml:1:1: error[P099]: something new\n"),
        "{submitted:?}"
    );
}

#[tokio::test]
async fn submit_can_stay_and_watch() {
    let answers = Answers {
        submit: Ok(begun()),
        watch: vec![vec![Ok(samples::running()), Ok(samples::failed())]; 2],
        ..Answers::default()
    };
    let fake = Fake::start(answers);
    let plan = fake.write("plan.yaml", GOOD);
    let line = ["submit", plan.to_str().unwrap(), "--watch"];
    let watched = cantus(fake.home(), &line).await;
    assert_eq!(watched.exit, Exit::Failed);
    assert!(watched.out.contains("\nrun nightly failed in "), "{watched:?}");
    let json = cantus(fake.home(), &[&line[..], &["--json"]].concat()).await;
    let documents: Vec<Value> =
        json.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let states: Vec<_> = documents.iter().map(|document| document["state"].as_str()).collect();
    assert_eq!(states, [None, Some("running"), Some("failed")]);
}

#[tokio::test]
async fn audit_without_keys_or_repository_says_so() {
    let home = tempfile::tempdir().unwrap();
    let line = ["audit", "/no/such/repo"];
    let keyless = cantus(home.path(), &line).await;
    assert!(
        keyless.exit == Exit::Usage && keyless.notes.contains("no trusted keys at"),
        "{keyless:?}"
    );
    std::fs::write(home.path().join("trust.json"), Trust::default().to_json()).unwrap();
    let missing = cantus(home.path(), &line).await;
    assert!(missing.exit == Exit::Usage && missing.notes.contains("/no/such/repo"), "{missing:?}");
    std::fs::write(home.path().join("trust.json"), "{}").unwrap();
    let damaged = cantus(home.path(), &line).await;
    assert!(
        damaged.exit == Exit::Usage && damaged.notes.contains("trust.json is not usable"),
        "{damaged:?}"
    );
}
