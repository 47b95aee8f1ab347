//! The worker: leases one attempt at producing or repairing, runs its role's agent on it, and hands in what it did.
//!
//! An agent is any command; everything that the bus and the workspace need is in `cantus-runner`.

use std::process::ExitCode;

use cantus_runner::entry::{self, Order};

mod adapter;
mod attempt;
mod contract_yaml;
mod desk;
mod outbox;
mod phases;
mod prompt;
mod rounds;
#[cfg(test)]
mod testing;
mod watch;

/// A role without an agent.
#[derive(Debug, thiserror::Error)]
#[error("set `command` of this role in the configuration")]
struct NoCommand;

fn main() -> ExitCode {
    match entry::begin("cantus-worker") {
        Order::Exit(code) => code,
        Order::Lease(settings) if settings.command.as_ref().is_none_or(Vec::is_empty) => {
            entry::refuse("CANTUS_COMMAND is not set", &NoCommand)
        }
        Order::Lease(settings) => entry::serve(*settings, attempt::serve),
    }
}
