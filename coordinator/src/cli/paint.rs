//! Colours, as ANSI escapes, or none: what is shown never depends on colour alone.

use super::args::ColorChoice;
use super::text;

const ESCAPE: char = '\u{1b}';
const RESET: &str = "\u{1b}[0m";

/// A colour or weight by what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
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
pub(crate) struct Paint(bool);

impl Paint {
    #[cfg(test)]
    pub(crate) const NEVER: Self = Self(false);
    #[cfg(test)]
    pub(crate) const ALWAYS: Self = Self(true);

    /// `auto` means: on a terminal that can, unless <https://no-color.org> asks for none.
    pub(crate) fn choose(choice: ColorChoice, terminal: bool) -> Self {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        match choice {
            ColorChoice::Always => Self(true),
            ColorChoice::Never => Self(false),
            ColorChoice::Auto => Self(terminal && !set("NO_COLOR") && !terminal_is_dumb()),
        }
    }

    /// The text in this ink. It must be escaped already.
    pub(crate) fn ink(self, ink: Ink, text: &str) -> String {
        if self.0 && !text.is_empty() {
            format!("{ESCAPE}[{}m{text}{RESET}", ink.code())
        } else {
            text.to_owned()
        }
    }
}

/// Columns of a painted line.
pub(crate) fn columns(painted: &str) -> usize {
    pieces(painted).iter().map(|(_, shown)| text::columns(shown)).sum()
}

/// A painted line, cut to so many columns.
pub(crate) fn clip(painted: &str, columns_max: usize) -> String {
    if columns(painted) <= columns_max {
        return painted.to_owned();
    }
    let (mut clipped, mut room, mut painted_any) = (String::new(), columns_max, false);
    for (escape, shown) in pieces(painted) {
        clipped.push_str(escape);
        painted_any |= !escape.is_empty();
        clipped.push_str(&text::cut(shown, room));
        room = room.saturating_sub(text::columns(shown));
        if room == 0 {
            break;
        }
    }
    if painted_any {
        clipped.push_str(RESET);
    }
    clipped
}

/// Each of our escapes with the text behind it. All other text is escaped, so that no other escape is in it.
fn pieces(painted: &str) -> Vec<(&str, &str)> {
    let mut pieces = Vec::new();
    let mut rest = painted;
    while !rest.is_empty() {
        let escape_bytes = match rest.starts_with(ESCAPE) {
            true => rest.find('m').map_or(rest.len(), |end| end + 1),
            false => 0,
        };
        let (escape, tail) = rest.split_at(escape_bytes);
        let (shown, next) = tail.split_at(tail.find(ESCAPE).unwrap_or(tail.len()));
        pieces.push((escape, shown));
        rest = next;
    }
    pieces
}

/// A terminal that says that it can neither colour nor move its cursor.
pub(crate) fn terminal_is_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term == "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn painted_lines_are_cut_by_what_shows() {
        let line = format!(
            "a{}{}",
            Paint::ALWAYS.ink(Ink::Bad, "日本"),
            Paint::ALWAYS.ink(Ink::Dim, "xyz")
        );
        assert_eq!(columns(&line), 8);
        assert_eq!(clip(&line, 8), line);
        assert_eq!(clip(&line, 7), "a\u{1b}[31m日本\u{1b}[0m\u{1b}[2mx…\u{1b}[0m");
        assert_eq!(clip(&line, 4), "a\u{1b}[31m日…\u{1b}[0m");
        assert_eq!(columns(&clip(&line, 3)), 2);
        assert_eq!(clip("plain", 3), "pl…");
    }

    #[test]
    fn colours_are_chosen() {
        assert_eq!(Paint::choose(ColorChoice::Always, false), Paint::ALWAYS);
        assert_eq!(Paint::choose(ColorChoice::Never, true), Paint::NEVER);
        assert_eq!(Paint::choose(ColorChoice::Auto, false), Paint::NEVER);
        assert_eq!(Paint::NEVER.ink(Ink::Bad, "x"), "x");
    }
}
