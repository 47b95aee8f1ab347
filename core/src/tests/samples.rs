//! Items for the tests of single rules, which look at history and start nothing.

use std::sync::Arc;

use cantus_proto::contract::Contract;
use cantus_proto::ids::AttemptNumber;
use cantus_proto::message::AttemptKind;

use super::words;
use crate::event::{Event, ItemIndex, Millis};
use crate::item::{Attempt, Item, Outcome};
use crate::record::{Demand, DemandKind, Dispatch};
use crate::run::Run;

/// A contract whose scope is `src/`, with a budget of ten minutes and one criterion, `AC-01`.
pub(crate) fn contract() -> Contract {
    words::contract("a")
}

/// A run of this plan, in the words of [`words::plan`].
pub(crate) fn run(line: &str) -> Run {
    let Event::Submitted(submission) = words::submission("run", words::plan(line)) else {
        panic!("a submission submits");
    };
    Run::new(words::START, &submission)
}

/// An item without history.
pub(crate) fn item() -> Item {
    run("a").item(ItemIndex(0)).clone()
}

/// See [`words::work`].
pub(crate) fn work(word: &str) -> cantus_proto::message::WorkResult {
    words::work(word)
}

/// Appends an attempt that was taken, and is over if it has an outcome.
pub(crate) fn tried(
    item: &mut Item,
    kind: AttemptKind,
    outcome: Option<Outcome>,
) -> (AttemptNumber, &mut Attempt) {
    let at = words::START;
    let mut attempt = Attempt::new(kind, at, Arc::new(Dispatch::default()));
    attempt.leased = Some(at);
    attempt.ended = outcome.as_ref().map(|_| at.plus(1));
    attempt.outcome = outcome;
    item.attempts.push(attempt);
    let number = item.last_number();
    (number, item.attempts.last_mut().expect("it was just added"))
}

/// A demand of this kind, made at some time.
pub(crate) fn demand(kind: DemandKind) -> (Millis, Demand) {
    (words::START, Demand { kind, text: "do it".to_owned(), paths: vec![] })
}
