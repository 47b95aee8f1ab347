//! `watch` into a pipe: lines, documents, ends, and a coordinator that goes away meanwhile.

use cantus_proto::wire::v1::RunView;
use serde_json::Value;
use tonic::Status;

use super::fake::{Answers, Fake};
use super::{Exit, cantus};
use crate::cli::render::samples;

fn fake(calls: Vec<Vec<Result<RunView, Status>>>) -> Fake {
    Fake::start(Answers { watch: calls, ..Answers::default() })
}

#[tokio::test]
async fn every_end_has_its_exit_code() {
    let cancelled = RunView { state: "cancelled".to_owned(), ..samples::completed() };
    for (end, exit) in [
        (samples::completed(), Exit::Ok),
        (samples::failed(), Exit::Failed),
        (cancelled, Exit::Cancelled),
    ] {
        let fake = fake(vec![vec![Ok(samples::running()), Ok(end.clone())]]);
        let watched = cantus(fake.home(), &["watch", "nightly"]).await;
        assert_eq!(watched.exit, exit);
        let said = format!("\nrun nightly {} in ", end.state);
        assert!(watched.out.contains(&said) && watched.notes.is_empty(), "{watched:?}");
        assert!(!watched.out.contains('\u{1b}'), "{watched:?}");
    }
}

#[tokio::test]
async fn documents_one_per_line() {
    let fake = fake(vec![vec![Ok(samples::running()), Ok(samples::completed())]]);
    let watched = cantus(fake.home(), &["watch", "nightly", "--json"]).await;
    let states: Vec<String> = watched
        .out
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["state"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(
        (watched.exit, states),
        (Exit::Ok, vec!["running".to_owned(), "completed".to_owned()])
    );
}

#[tokio::test]
async fn a_coordinator_that_comes_back_is_watched_on() {
    let away = || Err(Status::unavailable("the coordinator stops"));
    let fake = fake(vec![
        vec![Ok(samples::running()), away()],
        vec![Ok(samples::running())],
        vec![Ok(samples::completed())],
    ]);
    let watched = cantus(fake.home(), &["watch", "nightly"]).await;
    assert_eq!(watched.exit, Exit::Ok);
    assert_eq!(watched.out.matches("left: working").count(), 1, "{watched:?}");
    assert_eq!(
        watched.notes,
        "the coordinator is away: the coordinator stops; trying again\n\
         the coordinator is away: it ended the stream before the run had ended; trying again\n"
    );
}

#[tokio::test]
async fn a_run_that_is_unknown_is_not_waited_for() {
    let fake = fake(vec![]);
    let watched = cantus(fake.home(), &["watch", "nightly"]).await;
    assert_eq!(
        (watched.exit, watched.notes.as_str()),
        (Exit::Usage, "cantus: there is no such run\n")
    );
}

#[tokio::test]
async fn an_empty_run_completes_at_once() {
    let empty = RunView { items: vec![], ..samples::completed() };
    let fake = fake(vec![vec![Ok(empty)]]);
    let watched = cantus(fake.home(), &["watch", "nightly"]).await;
    assert_eq!(watched.exit, Exit::Ok);
    assert!(watched.out.ends_with("run nightly completed in 1m03s: no items\n"), "{watched:?}");
}
