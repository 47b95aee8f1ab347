//! The verifier: leases one candidate, runs every checker of its contract on it, and signs what they show.
//!
//! What is shared with the worker is in `cantus-runner`; what a receipt proves is in `cantus_proto::evidence`.

use std::process::ExitCode;

use cantus_proto::evidence::SigningKey;
use cantus_runner::entry::{self, Order};

mod check;
mod learnings;
mod verify;

fn main() -> ExitCode {
    match entry::begin("cantus-verifier") {
        Order::Exit(code) => code,
        Order::Lease(settings) => {
            let pem = settings.signing_key.as_ref().map_or("", |pem| pem.0.as_str());
            match SigningKey::from_pem(pem) {
                Ok(key) => {
                    entry::serve(*settings, async move |lease| verify::serve(lease, &key).await)
                }
                Err(error) => entry::refuse("CANTUS_SIGNING_KEY is no valid key", &error),
            }
        }
    }
}
