//! Benchmarks of Cantus, each against its bound in the same run.
//!
//! `dispatch`: no-op items through a real bus and a real coordinator process, against the same messages with no
//! coordinator. `scale`: memory and replay of a large run. `pool`: from a lease to the agent's first instruction.

mod bound;
mod coordinator;
mod dispatch;
mod plans;
mod pool;
mod scale;
mod workers;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Benchmarks of Cantus, each against its bound in the same run")]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Items per second through a real bus, flat and layered, against the same messages with no coordinator
    Dispatch(dispatch::Arguments),
    /// Memory of the coordinator, and time of a replay, for one large run
    Scale(scale::Arguments),
    /// From a lease in a warm pool to the agent's first instruction
    Pool(pool::Arguments),
    /// The coordinator's side of the others, as a process of its own
    #[command(hide = true)]
    Coordinator(coordinator::Arguments),
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    match Arguments::parse().what {
        What::Dispatch(arguments) => dispatch::run(arguments).await,
        What::Scale(arguments) => scale::run(arguments).await,
        What::Pool(arguments) => pool::run(&arguments).await,
        What::Coordinator(arguments) => coordinator::run(arguments).await,
    }
}

/// Prints figures as JSON or as lines.
fn print(figures: &serde_json::Value, json: bool) {
    if json {
        println!("{figures}");
        return;
    }
    for (name, value) in figures.as_object().into_iter().flatten() {
        println!("{name:<28} {value}");
    }
}
