//! Colours, as ANSI escapes, or none: what is shown never depends on colour alone.

use super::args::ColorChoice;

/// A colour or weight by what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    /// Went well.
    Good,
    /// Is at work.
    Busy,
    /// Wants attention, but is no failure.
    Warning,
    /// Went wrong.
    Bad,
    /// Of less interest.
    Dim,
    /// A heading.
    Strong,
}

impl Ink {
    fn code(self) -> &'static str {
        match self {
            Self::Good => "32",
            Self::Busy => "36",
            Self::Warning => "33",
            Self::Bad => "31",
            Self::Dim => "2",
            Self::Strong => "1",
        }
    }
}

/// Whether to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Paint(bool);

impl Paint {
    pub(super) const NEVER: Self = Self(false);
    #[cfg(test)]
    pub(super) const ALWAYS: Self = Self(true);

    /// `auto` means: on a terminal that can, unless <https://no-color.org> asks for none.
    pub(super) fn choose(choice: ColorChoice, terminal: bool) -> Self {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        match choice {
            ColorChoice::Always => Self(true),
            ColorChoice::Never => Self(false),
            ColorChoice::Auto => Self(terminal && !set("NO_COLOR") && !terminal_is_dumb()),
        }
    }

    pub(super) fn is_on(self) -> bool {
        self.0
    }

    /// The text in this ink. It must be escaped already.
    pub(super) fn ink(self, ink: Ink, text: &str) -> String {
        if self.0 && !text.is_empty() {
            format!("\u{1b}[{}m{text}\u{1b}[0m", ink.code())
        } else {
            text.to_owned()
        }
    }
}

/// A terminal that says that it can neither colour nor move its cursor.
pub(super) fn terminal_is_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term == "dumb")
}
