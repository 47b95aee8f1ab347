//! Whole commands against a coordinator that is not there, or that says what a test gives it.

mod answers;
mod commands;
mod fake;
mod files;
mod replaying;
mod reports;
mod watching;

use clap::Parser as _;

use super::args::Cli;
use super::exit::Exit;
use super::output::Output;
use super::paint::Paint;

/// What a command left behind.
#[derive(Debug)]
struct Ran {
    exit: Exit,
    out: String,
    notes: String,
}

/// Carries out a command line with this home, as into a pipe.
async fn cantus(home: &std::path::Path, line: &[&str]) -> Ran {
    ran(home, line, false).await
}

async fn ran(home: &std::path::Path, line: &[&str], terminal: bool) -> Ran {
    let home = ["cantus", "--home", home.to_str().unwrap()];
    let cli = Cli::try_parse_from(home.iter().chain(line)).unwrap();
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    let mut output = Output {
        out: &mut out,
        notes: &mut notes,
        paint: Paint::NEVER,
        paint_notes: Paint::NEVER,
        live: false,
        terminal,
    };
    let exit = super::carry_out(cli, &mut output).await;
    Ran { exit, out: String::from_utf8(out).unwrap(), notes: String::from_utf8(notes).unwrap() }
}
