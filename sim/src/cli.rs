//! The command line: many seeds on all cores, one seed with its log, or a log once more.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::log;
use crate::panics;
use crate::report::Report;
use crate::seed::live;

/// What `--help` says.
const HELP: &str = "\
Simulates the control plane under faults.

  sim [--seeds N] [--seed S] [--threads N] [--until-failure] [--json] [--logs DIRECTORY | --no-logs]
  sim --replay FILE

  --seeds N        how many seeds, 100 by default, or 1 with --seed
  --seed S         the first of them, 0 by default
  --threads N      as many as there are cores by default
  --until-failure  stop at the first failure
  --json           print one document
  --logs DIRECTORY where the event logs of failures go, by default where it is run
  --no-logs        write none
  --replay FILE    run such a log again and compare it line by line

Exit codes: 0 all is well, 1 a rule did not hold or the log differs, 2 usage.";

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Options {
    first: u64,
    seeds: u64,
    threads: usize,
    until_failure: bool,
    json: bool,
    logs: Option<PathBuf>,
    replay: Option<PathBuf>,
}

/// Runs what the command line asks for.
#[must_use]
pub fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--help") {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    let options = match parse(&arguments) {
        Ok(options) => options,
        Err(why) => {
            eprintln!("sim: {why}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    panics::keep();
    match &options.replay {
        Some(file) => replay(file),
        None => simulate(&options),
    }
}

fn parse(arguments: &[String]) -> Result<Options, String> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut options = Options {
        first: 0,
        seeds: 100,
        threads: cores,
        until_failure: false,
        json: false,
        logs: Some(PathBuf::from(".")),
        replay: None,
    };
    let (mut seeds, mut arguments) = (None, arguments.iter());
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        let number = |text: &String| {
            text.parse::<u64>().map_err(|_| format!("{argument} {text}: give a whole number"))
        };
        match argument.as_str() {
            "--seeds" => seeds = Some(number(value()?)?),
            "--seed" => {
                options.first = number(value()?)?;
                options.seeds = 1;
            }
            "--threads" => {
                options.threads = usize::try_from(number(value()?)?).unwrap_or(cores).max(1)
            }
            "--until-failure" => options.until_failure = true,
            "--json" => options.json = true,
            "--logs" => options.logs = Some(PathBuf::from(value()?)),
            "--no-logs" => options.logs = None,
            "--replay" => options.replay = Some(PathBuf::from(value()?)),
            other => return Err(format!("there is no option {other}")),
        }
    }
    options.seeds = seeds.unwrap_or(options.seeds);
    Ok(options)
}

fn simulate(options: &Options) -> ExitCode {
    let mut report = batch(options.first, options.seeds, options.threads, options.until_failure);
    for failure in &mut report.failures {
        let Some(directory) = &options.logs else { continue };
        failure.log = log::write(failure.seed, directory)
            .map_err(|error| eprintln!("sim: the log of seed {}: {error}", failure.seed))
            .ok();
    }
    print!("{}", if options.json { report.json() } else { report.text() });
    if report.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs so many seeds from this one on, on so many threads.
#[expect(clippy::disallowed_methods, reason = "how long it took is told, and decides nothing")]
#[must_use]
pub fn batch(first: u64, seeds: u64, threads: usize, until_failure: bool) -> Report {
    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let report = Mutex::new(Report::default());
    let begun = std::time::Instant::now();
    let work = || {
        let mut own = Report::default();
        while !stop.load(Ordering::Relaxed) {
            let place = next.fetch_add(1, Ordering::Relaxed);
            if place >= seeds {
                break;
            }
            let outcome = live(first + place, None);
            if until_failure && outcome.trouble.is_some() {
                stop.store(true, Ordering::Relaxed);
            }
            own.add(outcome);
        }
        report.lock().expect("no thread panics with it").merge(own);
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            // Threads live as long as this call.
            scope.spawn(work);
        }
    });
    let mut report = report.into_inner().expect("no thread panics with it");
    report.wall_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    report.failures.sort_by_key(|failure| failure.seed);
    report
}

fn replay(file: &std::path::Path) -> ExitCode {
    match log::replay(file) {
        Ok(lines) => {
            println!("{lines} events, all as in {}", file.display());
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("sim: {why}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Options, String> {
        parse(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn one_seed_is_one_unless_more_are_asked_for() {
        assert_eq!(parsed("--seed 7").map(|o| (o.first, o.seeds)), Ok((7, 1)));
        assert_eq!(parsed("--seeds 5 --seed 7").map(|o| (o.first, o.seeds)), Ok((7, 5)));
        assert_eq!(parsed("").map(|o| (o.first, o.seeds)), Ok((0, 100)));
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(parsed("--seeds"), Err("--seeds needs a value".to_owned()));
        assert_eq!(parsed("--seeds x"), Err("--seeds x: give a whole number".to_owned()));
        assert_eq!(parsed("--sedes 1"), Err("there is no option --sedes".to_owned()));
    }
}
