//! The command line as people type it.

use clap::{CommandFactory as _, Parser as _};

use super::*;

fn parse(line: &str) -> Cli {
    Cli::try_parse_from(line.split(' ')).unwrap()
}

#[test]
fn the_definition_holds_together() {
    Cli::command().debug_assert();
}

#[test]
fn global_flags_stand_before_or_behind_the_command() {
    for line in ["cantus --home /h --color never status", "cantus status --color never --home /h"] {
        let cli = parse(line);
        assert_eq!(cli.home.as_deref(), Some(std::path::Path::new("/h")));
        assert_eq!(cli.color, ColorChoice::Never);
    }
}

#[test]
fn every_command_of_the_issue_is_there() {
    let command = Cli::command();
    let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    for name in
        "demo up down init lint submit watch status queue item logs cancel requeue approve retry replay evidence report export audit serve pool"
            .split(' ')
    {
        assert!(names.contains(&name), "{name}");
    }
}

#[test]
fn help_fits_a_terminal_and_says_what_each_thing_is() {
    let mut command = Cli::command();
    command.build();
    let mut commands = vec![command.clone()];
    commands.extend(command.get_subcommands().cloned());
    for mut command in commands {
        for argument in command.get_arguments() {
            assert!(argument.get_help().is_some(), "{} {}", command.get_name(), argument.get_id());
        }
        let help = command.render_long_help().to_string();
        assert!(!help.contains("See the struct"), "{help}");
    }
}

#[test]
fn lists_are_separated_by_commas() {
    let Command::Pool(args) = parse("cantus pool --roles a,b --isolation process").command else {
        panic!("not the pool")
    };
    assert_eq!(args.roles, ["a", "b"]);
    assert_eq!(Isolation::from(args.isolation), Isolation::Process);
}

#[test]
fn points_of_the_past_are_sequences_or_times() {
    let replay = |line: &str| {
        let line = format!("cantus replay r {line}");
        match Cli::try_parse_from(line.split(' ')).map(|cli| cli.command) {
            Ok(Command::Replay(args)) => Ok(args),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.to_string()),
        }
    };
    assert_eq!(replay("--until -10m").unwrap().until, Some(Point::Ago(600_000)));
    let whole = replay("--diff 4 -1h --item i --json").unwrap();
    assert_eq!(whole.diff, Some(vec![Point::Sequence(4), Point::Ago(3_600_000)]));
    assert!(whole.server.json && whole.item.as_deref() == Some("i"));
    let times = replay("--diff 1970-01-01T00:00:01Z 7").unwrap();
    assert_eq!(times.diff, Some(vec![Point::At(1_000), Point::Sequence(7)]));
    assert_eq!(replay("--at 5 --list").unwrap().at, Some(5));
    for (line, said) in [
        ("--at 5 --until -1s", "cannot be used with"),
        ("--diff 1 2 --at 5", "cannot be used with"),
        ("--diff 1", "2 values required"),
        ("--until 5", "is no time"),
        ("--diff 1 soon", "a sequence of --list is a number"),
        ("--at -5", "invalid"),
    ] {
        let told = replay(line).unwrap_err();
        assert!(told.contains(said) || line == "--at -5", "{line}: {told}");
    }
}
