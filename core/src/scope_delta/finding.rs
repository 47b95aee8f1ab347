//! What the gate says: a rule, a place, and a text with what is there, why it matters and the way out.

use std::fmt;

use crate::text::show;

/// Longest quotation of code or of names in a finding, in bytes.
const QUOTE_BYTES_MAX: usize = 120;
/// Names that one finding spells out; the rest is counted.
const NAMES_MAX: usize = 8;

/// Something that a person must look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which rule it breaks.
    pub rule: Rule,
    /// Raw path of the file.
    pub path: Vec<u8>,
    /// From 1, in the file after the change; of what is removed, in the file before it. Nothing where the whole
    /// file is meant.
    pub line: Option<u32>,
    /// What is there, why it matters, and the way out.
    pub text: String,
}

/// The gate's rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// The path is not covered by the contract's scope.
    OutOfScope,
    /// The entry is a commit of another repository.
    NestedRepository,
    /// The entry is a new or changed symbolic link.
    SymbolicLink,
    /// A manifest declares more than before, or cannot be read.
    DependencyAdded,
    /// Dependencies changed and the contract forbids it.
    DependencyForbidden,
    /// A test is gone.
    TestRemoved,
    /// A test that ran is skipped.
    TestSkipped,
    /// A test expects less than before.
    TestWeakened,
    /// What the checkers run, or which tests are selected, was edited.
    CheckEdited,
    /// Far larger than the item's complexity.
    LargeRefactor,
    /// A change where only an explanation was asked.
    ExplanationOnly,
}

impl Rule {
    /// All of them, in the order in which findings of one line are told.
    pub const ALL: [Self; 11] = [
        Self::OutOfScope,
        Self::NestedRepository,
        Self::SymbolicLink,
        Self::DependencyAdded,
        Self::DependencyForbidden,
        Self::TestRemoved,
        Self::TestSkipped,
        Self::TestWeakened,
        Self::CheckEdited,
        Self::LargeRefactor,
        Self::ExplanationOnly,
    ];

    /// The word in records and reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OutOfScope => "out-of-scope",
            Self::NestedRepository => "nested-repository",
            Self::SymbolicLink => "symbolic-link",
            Self::DependencyAdded => "dependency-added",
            Self::DependencyForbidden => "dependency-forbidden",
            Self::TestRemoved => "test-removed",
            Self::TestSkipped => "test-skipped",
            Self::TestWeakened => "test-weakened",
            Self::CheckEdited => "check-edited",
            Self::LargeRefactor => "large-refactor",
            Self::ExplanationOnly => "explanation-only",
        }
    }

    /// The rule of this word, if it is one.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.as_str() == word)
    }
}

impl Finding {
    /// A finding at a line, or about the whole file.
    pub(super) fn new(rule: Rule, path: &[u8], line: Option<u32>, text: String) -> Self {
        Self { rule, path: path.to_vec(), line, text }
    }
}

impl fmt::Display for Finding {
    /// `path:line: text`, or `path: text`, with the path escaped.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = show(&self.path);
        match self.line {
            Some(line) => write!(f, "{path}:{line}: {}", self.text),
            None => write!(f, "{path}: {}", self.text),
        }
    }
}

/// A short quotation of what somebody else wrote, escaped.
pub(super) fn quote(text: &str) -> String {
    let end = text.floor_char_boundary(QUOTE_BYTES_MAX);
    let more = if end < text.len() { "…" } else { "" };
    let mut shown = String::new();
    for character in text[..end].chars() {
        match character {
            // Frequent in code, and the quotation is in backticks.
            '"' | '\'' => shown.push(character),
            _ => shown.extend(character.escape_debug()),
        }
    }
    format!("`{shown}{more}`")
}

/// The first names, quoted, and how many more there are.
pub(super) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = names.into_iter();
    let shown: Vec<String> = names.by_ref().take(NAMES_MAX).map(quote).collect();
    match names.count() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
