//! The simulator as a program of its own: needs nothing but the kernel, so that changed kernels build in seconds.

use std::process::ExitCode;

fn main() -> ExitCode {
    cantus_sim::cli::main()
}
