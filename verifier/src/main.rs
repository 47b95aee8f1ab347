//! The verifier: leases one candidate, runs every checker of its contract on it, and signs what they show.
//!
//! What is shared with the worker is in `cantus-runner`; what a receipt proves is in `cantus_proto::evidence`.

use std::process::ExitCode;

use cantus_runner::entry::{self, Order};

mod check;
mod verify;

fn main() -> ExitCode {
    match entry::begin("cantus-verifier") {
        Order::Exit(code) => code,
        Order::Lease(settings) => entry::serve(*settings, verify::serve),
    }
}
