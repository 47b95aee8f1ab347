//! Judges the texts of a contract: vague words, criteria that state several things, misspelt actions.
//!
//! Checkers are judged in [`checker`], paths in [`paths`].

pub(super) mod checker;
pub(super) mod paths;

use super::codes;
use super::nearest::nearest;
use super::sink::{At, Sink, shown};

/// Words and phrases that two readers understand in two ways, between spaces as they are looked for.
const VAGUE: &[&str] = &[
    " and so on ",
    " appropriate ",
    " appropriately ",
    " as appropriate ",
    " as needed ",
    " as required ",
    " asap ",
    " best practices ",
    " better ",
    " clean up ",
    " cleanly ",
    " correctly ",
    " easily ",
    " easy ",
    " efficient ",
    " efficiently ",
    " etc ",
    " fast ",
    " faster ",
    " gracefully ",
    " if necessary ",
    " if needed ",
    " if possible ",
    " improve ",
    " intuitive ",
    " nice ",
    " nicely ",
    " properly ",
    " quickly ",
    " reasonable ",
    " reasonably ",
    " robust ",
    " sensible ",
    " should work ",
    " somehow ",
    " tidy up ",
    " user-friendly ",
    " various ",
    " where possible ",
    " works well ",
];

/// The actions that gates know by name.
pub const ACTIONS: &[&str] = &["dependency_upgrade", "network_egress", "production_deploy"];

/// Marks vague words of a goal or statement.
pub(super) fn words(text: &str, at: At, what: &str, sink: &mut Sink<'_>) {
    let spaced = spaced_words(text);
    let found: Vec<String> = VAGUE
        .iter()
        .filter(|phrase| spaced.contains(**phrase))
        .map(|phrase| format!("“{}”", phrase.trim()))
        .collect();
    if !found.is_empty() {
        let message = format!("{what} is vague: {}", found.join(", "));
        sink.add(
            codes::VAGUE,
            at,
            message,
            "say what is to be seen when it is done: a value, a limit, a case",
        );
    }
}

/// Marks a statement that holds more than one thing.
pub(super) fn one_thing(statement: &str, at: At, sink: &mut Sink<'_>) {
    let spaced = spaced_words(statement);
    let joint = if statement.contains("and/or") {
        "and/or"
    } else if spaced.contains(" and ") {
        "and"
    } else if spaced.contains(" or ") {
        "or"
    } else {
        return;
    };
    let message = format!("the statement may say more than one thing (“{joint}”)");
    sink.add(
        codes::SEVERAL_THINGS,
        at,
        message,
        "one criterion each, so that a defect names the one that failed",
    );
}

/// Marks an action that is nearly, but not quite, one that gates know.
pub(super) fn action(action: &str, at: At, sink: &mut Sink<'_>) {
    if ACTIONS.contains(&action) {
        return;
    }
    if let Some(meant) = nearest(action, ACTIONS.iter().copied()) {
        let message = format!("no gate knows the forbidden action {}", shown(action));
        sink.add(codes::ACTION_MISSPELT, at, message, format!("did you mean `{meant}`?"));
    }
}

/// Lower-case words between single spaces, with a space at both ends.
fn spaced_words(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() + 2);
    spaced.push(' ');
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() || c == '-' {
            spaced.push(c);
        } else if !spaced.ends_with(' ') {
            spaced.push(' ');
        }
    }
    spaced.push(' ');
    spaced
}
