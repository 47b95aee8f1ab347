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
        "demo up down init lint submit watch status queue item logs cancel requeue evidence audit serve pool"
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
