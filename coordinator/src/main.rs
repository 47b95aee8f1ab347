//! The `cantus` program: reads the command line, sets up the log, runs the command.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use cantus_coordinator::cli::args::{Cli, ColorChoice, Command};
use cantus_coordinator::cli::{self, exit::Exit};
use clap::Parser as _;
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let filter = cli.log.clone().unwrap_or_else(|| cli.command.default_log().to_owned());
    let filter = match EnvFilter::try_new(&filter) {
        Ok(filter) => filter,
        Err(error) => {
            eprintln!(
                "cantus: --log {filter:?} is no level or filter: {error}; write warn, info or debug"
            );
            return Exit::Usage.into();
        }
    };
    let colours = match cli.color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => std::io::stderr().is_terminal(),
    };
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(colours)
        .init();
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if matches!(cli.command, Command::Serve(_)) {
        // Its loop is one task by nature; in the runs of docs/BENCH.md a second thread made it slower.
        builder.worker_threads(1);
    }
    let runtime = match builder.enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!(
                "cantus: no threads to run on: {error}; check the limits of this user (ulimit -u)"
            );
            return Exit::Internal.into();
        }
    };
    runtime.block_on(cli::run(cli)).into()
}
