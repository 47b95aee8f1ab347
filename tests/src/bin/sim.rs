//! The simulation of the whole control plane, beside the tests that need real NATS, Docker and git.

use std::process::ExitCode;

fn main() -> ExitCode {
    cantus_sim::cli::main()
}
