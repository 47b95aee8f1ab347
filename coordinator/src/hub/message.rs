//! The words of landing commits: one line from the goal, and the trailers that audits read.
//!
//! What people write cannot become a trailer: the title is one line, and ids are quoted where they must be.

use std::borrow::Cow;

use cantus_proto::ids::{Digest, ItemId, RunId};

/// The trailer that names the run.
pub const TRAILER_RUN: &str = "Cantus-Run";
/// The trailer that names the item.
pub const TRAILER_ITEM: &str = "Cantus-Item";
/// The trailer with the sha256 of the evidence's manifest.
pub const TRAILER_EVIDENCE: &str = "Cantus-Evidence";
/// Longest title in characters, as every log shows it whole.
const TITLE_CHARS_MAX: usize = 72;

/// How an id stands in a trailer: as it is, or as a JSON string when a reader could take it for another.
///
/// Quoted are ids that begin or end with space, begin with a quote, or hold a character that shows as nothing or
/// turns the line around.
#[must_use]
pub fn trailer_value(id: &str) -> Cow<'_, str> {
    let plain = id.trim() == id && !id.starts_with('"') && !id.chars().any(is_unshown);
    if plain { Cow::Borrowed(id) } else { Cow::Owned(quote(id)) }
}

fn quote(id: &str) -> String {
    let mut text = String::from("\"");
    for c in id.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if is_unshown(c) => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    text.push_str(&format!("\\u{unit:04x}"));
                }
            }
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

/// Control characters, line separators, and the invisible ones that reorder or join text.
fn is_unshown(c: char) -> bool {
    c.is_control()
        || (c.is_whitespace() && c != ' ')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// The message of a landing commit.
pub(super) fn landing(title: &str, run: &RunId, item: &ItemId, evidence: &Digest) -> String {
    format!(
        "{}\n\n{}{TRAILER_EVIDENCE}: sha256:{evidence}\n",
        subject(title, item),
        run_and_item(run, item)
    )
}

/// The two trailer lines by which a landing of this item is recognised.
pub(super) fn run_and_item(run: &RunId, item: &ItemId) -> String {
    format!(
        "{TRAILER_RUN}: {}\n{TRAILER_ITEM}: {}\n",
        trailer_value(run.as_str()),
        trailer_value(item.as_str())
    )
}

/// Whether the last paragraph of a message says that it lands this item.
pub(super) fn lands(message: &[u8], run: &RunId, item: &ItemId) -> bool {
    let Ok(message) = std::str::from_utf8(message) else { return false };
    let trailers = message.trim_end().rsplit("\n\n").next().unwrap_or_default();
    let has = |line: &str| trailers.lines().any(|candidate| candidate == line);
    run_and_item(run, item).lines().all(has)
}

fn subject(title: &str, item: &ItemId) -> String {
    let shown: String = title.chars().map(|c| if is_unshown(c) { ' ' } else { c }).collect();
    let words: Vec<_> = shown.split_whitespace().collect();
    let line = words.join(" ");
    if line.is_empty() {
        return format!("Land item {}", trailer_value(item.as_str()));
    }
    if line.chars().count() <= TITLE_CHARS_MAX {
        return line;
    }
    let cut: String = line.chars().take(TITLE_CHARS_MAX - 1).collect();
    format!("{}…", cut.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(item: &str) -> (RunId, ItemId) {
        (RunId::new("r 1").unwrap(), ItemId::new(item).unwrap())
    }

    #[test]
    fn a_title_cannot_become_a_trailer() {
        let (run, item) = ids("a");
        let forged = "Fix\n\nCantus-Run: r 1\nCantus-Item: other\u{2028}\u{85}x";
        let message = landing(forged, &run, &item, &Digest::of(b""));
        assert!(
            message.starts_with("Fix Cantus-Run: r 1 Cantus-Item: other x\n\nCantus-Run: r 1\n")
        );
        assert!(lands(message.as_bytes(), &run, &item));
        assert!(!lands(message.as_bytes(), &run, &ids("other").1));
    }

    #[test]
    fn ids_that_look_alike_stay_apart() {
        let values: std::collections::BTreeSet<_> =
            ["a", " a", "a ", "\"a\"", "\" a\"", "a\u{200b}", "a\u{202e}", "a\\", "é", "e\u{301}"]
                .into_iter()
                .map(|id| trailer_value(id).into_owned())
                .collect();
        assert_eq!(values.len(), 10);
        assert_eq!(trailer_value("a/b: c"), "a/b: c");
        assert_eq!(trailer_value(" a"), "\" a\"");
        assert_eq!(trailer_value("\u{202e}a"), "\"\\u202ea\"");
    }

    #[test]
    fn long_and_empty_titles() {
        let (_, item) = ids("a");
        assert_eq!(subject(&"x".repeat(72), &item).chars().count(), 72);
        assert_eq!(subject(&"ä".repeat(73), &item).chars().count(), 72);
        assert_eq!(subject(" \n\t", &item), "Land item a");
    }

    #[test]
    fn only_the_last_paragraph_counts() {
        let (run, item) = ids("a");
        let text = format!("t\n\n{}\nmore words\n", run_and_item(&run, &item));
        assert!(!lands(text.as_bytes(), &run, &item));
    }
}
