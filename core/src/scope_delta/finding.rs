//! What a gate found: the rule, the place, and the way out.

use std::fmt;

/// A reason to keep a result out of the merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which rule.
    pub rule: Rule,
    /// Raw bytes.
    pub path: Vec<u8>,
    /// From 1; nothing when the whole file is meant.
    pub line: Option<u32>,
    /// What is wrong, why it matters, and the way out.
    pub text: String,
}

/// The rules of the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Outside the contract's paths.
    OutOfScope,
    /// A submodule.
    NestedRepository,
    /// A link that can lead anywhere.
    SymbolicLink,
    /// A dependency that nobody asked for.
    DependencyAdded,
    /// A change of dependencies where the contract forbids it.
    DependencyForbidden,
    /// A test is gone.
    TestRemoved,
    /// A test no longer runs.
    TestSkipped,
    /// A test shows less than before.
    TestWeakened,
    /// What a checker runs is another.
    CheckEdited,
    /// Far more than the item's size.
    LargeRefactor,
    /// A change where only an explanation was asked.
    ExplanationOnly,
}

impl Rule {
    /// All of them.
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

    /// The word in records and views.
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
}

impl fmt::Display for Finding {
    /// `path:line: text`, with the path made visible.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::text::show(&self.path))?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.text)
    }
}
