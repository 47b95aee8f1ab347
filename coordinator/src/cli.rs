//! The `cantus` command: arguments in, text and an exit code out.
//!
//! It decides nothing about runs: it asks the coordinator and shows what it says, or starts the processes in
//! [`crate::ops`]. What is shown is made by pure functions in `render`.

pub mod args;
mod client;
mod commands;
mod error;
pub mod exit;
mod json;
mod ops;
mod output;
pub(crate) mod paint;
mod plan_file;
mod proof;
mod render;
pub(crate) mod state;
pub(crate) mod table;
mod terminal;
pub(crate) mod text;
pub(crate) mod time;
mod tree;
mod trust;
mod watch;

#[cfg(test)]
mod tests;

use std::io::{self, IsTerminal as _};

use args::{Cli, Command};
use commands::{audit, evidence, export, logs, plan, replay, report, steer, views};
use exit::Exit;
use output::Output;
use paint::{Ink, Paint};

use crate::config::Home;

pub use client::Place;
pub use error::CliError;
pub(crate) use time::utc;

/// Carries out a command line; errors are told on standard error.
pub async fn run(cli: Cli) -> Exit {
    let (mut out, mut notes) = (io::stdout(), io::stderr());
    let (terminal, notes_terminal) = (out.is_terminal(), notes.is_terminal());
    let mut output = Output {
        paint: Paint::choose(cli.color, terminal),
        paint_notes: Paint::choose(cli.color, notes_terminal),
        live: terminal::is_live(terminal),
        terminal,
        out: &mut out,
        notes: &mut notes,
    };
    carry_out(cli, &mut output).await
}

async fn carry_out(cli: Cli, output: &mut Output<'_>) -> Exit {
    let exit = match dispatch(cli, output).await {
        Ok(exit) => exit,
        Err(error) => {
            let exit = Exit::of(&error);
            if exit != Exit::PipeClosed {
                let told = text::bounded(
                    &text::safe_lines(&format!("{error:#}")),
                    4 * text::PROSE_CHARS_MAX,
                );
                let name = output.paint_notes.ink(Ink::Bad, "cantus:");
                // With standard error closed there is nobody left to tell.
                let _ = output.note(&format!("{name} {told}"));
            }
            exit
        }
    };
    let _ = output.out.flush();
    exit
}

async fn dispatch(cli: Cli, output: &mut Output<'_>) -> anyhow::Result<Exit> {
    let home = &Home::find(cli.home, |name| std::env::var_os(name))?;
    match &cli.command {
        Command::Demo(args) => ops::demo(args, output),
        Command::Up(args) => ops::up(home, args, cli.log, output).await,
        Command::Down(args) => ops::down(home, args, output).await,
        Command::Init(args) => ops::init(home, args, output),
        Command::Serve(args) => ops::serve(home, args).await,
        Command::Pool(args) => ops::pool(home, args).await,
        Command::Lint(args) => plan::lint(args, output),
        Command::Submit(args) => plan::submit(home, args, output).await,
        Command::Watch(args) => views::watch(home, args, output).await,
        Command::Status(args) => views::status(home, args, output).await,
        Command::Queue(args) => views::queue(home, args, output).await,
        Command::Item(args) => views::item(home, args, output).await,
        Command::Logs(args) => logs::logs(home, args, output).await,
        Command::Cancel(args) => steer::cancel(home, args, output).await,
        Command::Requeue(args) => steer::requeue(home, args, output).await,
        Command::Approve(args) => steer::approve(home, args, output).await,
        Command::Retry(args) => steer::retry(home, args, output).await,
        Command::Replay(args) => replay::replay(home, args, output).await,
        Command::Evidence(args) => evidence::evidence(home, args, output).await,
        Command::Report(args) => report::report(home, args, output).await,
        Command::Export(args) => export::export(home, args, output).await,
        Command::Audit(args) => audit::audit(home, args, output),
    }
}
