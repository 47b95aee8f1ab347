//! Runs and items for the tests of single rules, which look at history and start nothing.

use cantus_proto::contract::Contract;

use super::words;
use crate::event::Millis;
use crate::record::{Demand, DemandKind};

/// A contract whose scope is `src/`, with a budget of ten minutes and one criterion, `AC-01`.
pub(crate) fn contract() -> Contract {
    words::contract("a")
}

/// A demand of this kind, made at some time.
pub(crate) fn demand(kind: DemandKind) -> (Millis, Demand) {
    (words::START, Demand { kind, text: "do it".to_owned(), paths: vec![] })
}
