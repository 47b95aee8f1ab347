//! The tables as people read them: `docs/STATES.md` is made from the code, and this keeps it so.

use std::fmt::Write as _;

use super::super::state_machine::attempt::ATTEMPT;
use super::super::state_machine::item::ITEM;
use super::super::state_machine::lease::LEASE;
use super::super::state_machine::proposal::{PROPOSAL, Wish};
use super::super::state_machine::run::RUN;
use super::super::state_machine::{Table, Word};

const DOCUMENT: &str = include_str!("../../../docs/STATES.md");

const OPENING: &str = "# States

Made from the tables in `core/src/state_machine/` by the test `the_document_shows_the_tables`, which prints this text
anew when they change. The rule that they follow is `core/src/state_machine.rs`.

A pair of state and event that is in no row is an error that names both; nothing changes. Duplicates and stale events
are refused before they become facts, so no row has them. A guard is what must hold besides; whoever decides asks it.
";

/// The words of a set, each with its meaning.
fn words<W: Word>(text: &mut String, heading: &str, meaning: &str) {
    writeln!(text, "\n| {heading} | {meaning} |\n| --- | --- |").unwrap();
    for (word, means) in W::ALL.iter().map(|word| word.word()) {
        writeln!(text, "| {word} | {means} |").unwrap();
    }
}

fn states<S: Word>(states: &[S]) -> String {
    let names = |list: Vec<&S>| list.iter().map(|s| s.name()).collect::<Vec<_>>().join(", ");
    let others: Vec<&S> = S::ALL.iter().filter(|state| !states.contains(state)).collect();
    match others.len() {
        0 => "any".to_owned(),
        few if few < states.len() => format!("any but {}", names(others)),
        _ => names(states.iter().collect()),
    }
}

fn table<S: Word, E: Word>(text: &mut String, heading: &str, about: &str, table: &Table<S, E>) {
    writeln!(text, "\n## {heading}\n\n{about}").unwrap();
    words::<S>(text, "state", "means");
    words::<E>(text, "event", "means");
    writeln!(text, "\n| from | event | guard | to |\n| --- | --- | --- | --- |").unwrap();
    for row in table.rows {
        let from = if row.from.is_empty() { "(nothing)".to_owned() } else { states(row.from) };
        let to = if row.to.is_empty() { "(stays)".to_owned() } else { states(row.to) };
        writeln!(text, "| {from} | {} | {} | {to} |", row.event.name(), row.guard).unwrap();
    }
}

fn document() -> String {
    let mut text = OPENING.to_owned();
    let about = "How a run stands follows from its items; the table says which way that may go.";
    table(&mut text, "A run", about, &RUN);
    let about = "It begins as waiting when it needs others, else as ready.";
    table(&mut text, "An item", about, &ITEM);
    let about = "One try at an item, or at verifying its result.";
    table(&mut text, "An attempt", about, &ATTEMPT);
    let about =
        "Who may work on an attempt. The deadline of a held lease is on the coordinator's clock.";
    table(&mut text, "A lease", about, &LEASE);
    let about =
        "What a model proposes is journaled and changes nothing; evidence alone confirms it.";
    table(&mut text, "A wish", about, &PROPOSAL);
    words::<Wish>(&mut text, "wish", "exit evidence");
    text
}

#[test]
fn the_document_shows_the_tables() {
    let text = document();
    assert!(text == DOCUMENT, "docs/STATES.md is not what the tables say; paste this:\n\n{text}");
}

#[test]
fn no_word_breaks_a_table() {
    for line in document().lines().filter(|line| line.starts_with('|')) {
        assert!(matches!(line.matches('|').count(), 3 | 5), "{line}");
    }
}
