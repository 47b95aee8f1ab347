//! Takes typed values out of nodes and says what is wrong with them: keys, types, texts, numbers, names.

use std::fmt::Display;
use std::rc::Rc;

use super::bounds::{CHECKER_BYTES_MAX, LIST_MAX, TEXT_BYTES_MAX};
use super::codes;
use super::nearest::nearest;
use super::sink::{At, Sink, shown};
use super::tree::{Entry, Kind, Node};
use crate::ids::NameError;

/// What a key of a mapping gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Field<T> {
    Absent,
    /// The sink knows why.
    Invalid,
    Valid(T),
}

impl<T> Field<T> {
    pub(super) fn valid(self) -> Option<T> {
        match self {
            Self::Valid(value) => Some(value),
            Self::Absent | Self::Invalid => None,
        }
    }
}

/// A mapping whose keys have been looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'n> {
    pub(super) at: At,
    pub(super) entries: &'n [Entry],
}

impl<'n> Fields<'n> {
    /// Opens a mapping; `what` names it, as `the contract`. Tells of unknown keys.
    pub(super) fn open(
        node: &'n Node,
        what: impl Display + Copy,
        known: &[&str],
        sink: &mut Sink<'_>,
    ) -> Option<Self> {
        let Kind::Map(entries) = &node.kind else {
            wrong_type(node, node.at, what, "a mapping of keys and values", sink);
            return None;
        };
        let fields = Self { at: node.at, entries };
        fields.tell_unknown(what, known, sink);
        Some(fields)
    }

    fn tell_unknown(&self, what: impl Display + Copy, known: &[&str], sink: &mut Sink<'_>) {
        for entry in self.entries.iter().filter(|entry| !known.contains(&&*entry.key)) {
            let message = format!("{what} has no key {}", shown(&entry.key));
            let hint = match nearest(&entry.key, known.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None if &*entry.key == "<<" => {
                    "merge keys are not read: use `defaults`, or an alias for the whole value"
                        .to_owned()
                }
                None => format!("remove it; the keys are {}", known.join(", ")),
            };
            sink.add(codes::UNKNOWN_KEY, entry.at, message, hint);
        }
    }

    pub(super) fn entry(&self, key: &str) -> Option<&'n Entry> {
        self.entries.iter().find(|entry| &*entry.key == key)
    }

    /// The value of a key, by a reader that tells what is wrong.
    pub(super) fn get<T>(
        &self,
        key: &str,
        sink: &mut Sink<'_>,
        read: impl FnOnce(&'n Entry, &mut Sink<'_>) -> Option<T>,
    ) -> Field<T> {
        match self.entry(key) {
            None => Field::Absent,
            Some(entry) => read(entry, sink).map_or(Field::Invalid, Field::Valid),
        }
    }

    /// As [`Self::get`], and tells when the key is missing.
    pub(super) fn require<T>(
        &self,
        key: &str,
        hint: &str,
        sink: &mut Sink<'_>,
        read: impl FnOnce(&'n Entry, &mut Sink<'_>) -> Option<T>,
    ) -> Option<T> {
        let field = self.get(key, sink, read);
        if matches!(field, Field::Absent) {
            sink.add(codes::MISSING_KEY, self.at, format!("`{key}` is missing"), hint);
        }
        field.valid()
    }
}

/// Where to point for the value of an entry: at the key when there is nothing to point at.
pub(super) fn place(entry: &Entry) -> At {
    match &entry.value.kind {
        Kind::Scalar { text, plain: true } if text.is_empty() => entry.at,
        _ => entry.value.at,
    }
}

/// Tells that a value is of the wrong type.
pub(super) fn wrong_type(
    node: &Node,
    at: At,
    what: impl Display + Copy,
    expected: &str,
    sink: &mut Sink<'_>,
) {
    let (is, hint) = match &node.kind {
        Kind::List(_) => ("a list", format!("write {expected}")),
        Kind::Map(_) => {
            ("a mapping", format!("write {expected}; quote a text that holds `: ` or `{{`"))
        }
        Kind::Scalar { .. } if node.is_nothing() => {
            ("nothing", format!("write {expected}, or remove the key"))
        }
        Kind::Scalar { text, plain: true } if is_truth(text) => {
            ("a truth value", format!("write {expected}; quote it if it is meant as text"))
        }
        Kind::Scalar { text, plain: true } if is_number(text) => {
            ("a number", format!("write {expected}; quote it if it is meant as text"))
        }
        Kind::Scalar { plain: false, .. } => ("text", format!("write {expected}, without quotes")),
        Kind::Scalar { .. } => ("text", format!("write {expected}")),
    };
    sink.add(codes::WRONG_TYPE, at, format!("{what} is {is}, expected {expected}"), hint);
}

fn is_truth(text: &str) -> bool {
    matches!(text, "true" | "True" | "TRUE" | "false" | "False" | "FALSE")
}

fn is_number(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-', '.']);
    let special =
        matches!(digits.to_ascii_lowercase().as_str(), "inf" | "nan") && text.contains('.');
    let radix = digits.starts_with("0x") || digits.starts_with("0o");
    special
        || digits.starts_with(|c: char| c.is_ascii_digit())
            && (radix || text.parse::<f64>().is_ok())
}

/// A text for people: not empty, bounded, without control characters. White space at its end is dropped.
pub(super) fn prose(
    node: &Node,
    at: At,
    what: impl Display + Copy,
    sink: &mut Sink<'_>,
) -> Option<String> {
    match &node.kind {
        Kind::Scalar { text, plain }
            if !plain || !(node.is_nothing() || is_truth(text) || is_number(text)) =>
        {
            checked_text(text.trim_end(), at, what, TEXT_BYTES_MAX, sink)
        }
        _ => {
            wrong_type(node, at, what, "text", sink);
            None
        }
    }
}

/// A command line, kept as it is written: `true` is the command and not the truth value.
pub(super) fn command(
    node: &Node,
    at: At,
    what: impl Display + Copy,
    sink: &mut Sink<'_>,
) -> Option<String> {
    let text = verbatim(node, at, what, sink)?;
    checked_text(text, at, what, CHECKER_BYTES_MAX, sink)
}

fn verbatim<'n>(
    node: &'n Node,
    at: At,
    what: impl Display + Copy,
    sink: &mut Sink<'_>,
) -> Option<&'n str> {
    match &node.kind {
        Kind::Scalar { text, .. } if !node.is_nothing() || text.is_empty() => Some(text),
        _ => {
            wrong_type(node, at, what, "text", sink);
            None
        }
    }
}

fn checked_text(
    text: &str,
    at: At,
    what: impl Display + Copy,
    bytes_max: usize,
    sink: &mut Sink<'_>,
) -> Option<String> {
    if text.trim().is_empty() {
        sink.add(
            codes::TEXT_EMPTY,
            at,
            format!("{what} is empty"),
            "say what is meant, or remove it",
        );
        return None;
    }
    if text.len() > bytes_max {
        let message = format!("{what} has {} bytes, the limit is {bytes_max}", text.len());
        sink.add(
            codes::TEXT_TOO_LONG,
            at,
            message,
            "shorten it; details go into a file of the repository",
        );
        return None;
    }
    if let Some(control) = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        let message = format!("{what} holds the control character {control:?}");
        sink.add(codes::TEXT_CONTROL, at, message, "remove it");
        return None;
    }
    Some(text.to_owned())
}

/// A name, byte for byte as it is written: also what YAML would read as a number.
pub(super) fn name<'n, T>(
    node: &'n Node,
    at: At,
    what: impl Display + Copy,
    sink: &mut Sink<'_>,
    make: impl FnOnce(&'n str) -> Result<T, NameError>,
) -> Option<T> {
    let error = match make(verbatim(node, at, what, sink)?) {
        Ok(name) => return Some(name),
        Err(error) => error,
    };
    let text = error.to_string();
    let (reason, hint) = text.rsplit_once(": ").unwrap_or((&text, "choose another name"));
    let code = match error {
        NameError::Empty { .. } => codes::NAME_EMPTY,
        NameError::TooLong { .. } | NameError::Control { .. } | NameError::Hex { .. } => {
            codes::NAME_INVALID
        }
    };
    sink.add(code, at, reason, hint);
    None
}

/// A whole number without quotes; the caller knows its range.
pub(super) fn whole_number(
    entry: &Entry,
    what: impl Display + Copy,
    sink: &mut Sink<'_>,
) -> Option<i128> {
    if let Kind::Scalar { text, plain: true } = &entry.value.kind {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        let whole = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        let padded = digits.len() > 1 && digits.starts_with('0');
        if whole && !padded {
            let bound = if text.starts_with('-') { i128::MIN } else { i128::MAX };
            return Some(text.parse().unwrap_or(bound));
        }
    }
    wrong_type(&entry.value, place(entry), what, "a whole number such as 45", sink);
    None
}

/// A finite number without quotes.
pub(super) fn fraction(
    entry: &Entry,
    what: impl Display + Copy,
    sink: &mut Sink<'_>,
) -> Option<f64> {
    if let Kind::Scalar { text, plain: true } = &entry.value.kind
        && is_number(text)
        && let Some(number) = text.parse::<f64>().ok().filter(|number| number.is_finite())
    {
        return Some(number);
    }
    wrong_type(&entry.value, place(entry), what, "a number such as 0.25", sink);
    None
}

/// The nodes of a list of bounded length.
pub(super) fn list<'n>(
    node: &'n Node,
    at: At,
    what: impl Display + Copy,
    length_max: usize,
    sink: &mut Sink<'_>,
) -> Option<&'n [Rc<Node>]> {
    let Kind::List(nodes) = &node.kind else {
        wrong_type(node, at, what, "a list such as `[a, b]`", sink);
        return None;
    };
    if nodes.len() > length_max {
        let message = format!("{what} has {} entries, the limit is {length_max}", nodes.len());
        sink.add(codes::LIST_TOO_LONG, at, message, "split the work into several items");
        return None;
    }
    Some(nodes)
}

/// A list of texts, each with its place. Entries that are no text are told and left out.
pub(super) fn proses(entry: &Entry, sink: &mut Sink<'_>) -> Option<Vec<(String, At)>> {
    let key = &entry.key;
    let nodes = list(&entry.value, place(entry), format_args!("`{key}`"), LIST_MAX, sink)?;
    let mut texts = Vec::with_capacity(nodes.len());
    for node in nodes {
        let text = prose(node, node.at, format_args!("an entry of `{key}`"), sink);
        texts.extend(text.map(|text| (text, node.at)));
    }
    Some(texts)
}
