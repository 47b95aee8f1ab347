//! Text from elsewhere, made fit for a terminal: escaped, bounded, measured in columns.
//!
//! An agent can write anything into a claim or a log. What reaches a terminal from there must not move its
//! cursor, change its title or reverse its lines.

use unicode_width::UnicodeWidthChar as _;

/// Longest text shown of one field in a list, in characters: a few screen lines. `--json` has all of it.
pub(crate) const PROSE_CHARS_MAX: usize = 2_000;

/// Most lines shown of one text with several lines; `--json` and `logs` have all of them.
pub(crate) const PROSE_LINES_MAX: usize = 30;

/// Whether a character changes how others are shown instead of showing itself.
fn is_unsafe(c: char) -> bool {
    let reorders = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let hides = matches!(c, '\u{ad}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
    let breaks = matches!(c, '\u{2028}' | '\u{2029}');
    c.is_control() || reorders || hides || breaks
}

fn push_safe(c: char, to: &mut String) {
    match c {
        '\n' => to.push_str("\\n"),
        '\r' => to.push_str("\\r"),
        '\t' => to.push_str("\\t"),
        c if is_unsafe(c) => to.extend(c.escape_unicode()),
        c => to.push(c),
    }
}

/// The text on one line, with what cannot be shown escaped.
pub(crate) fn safe(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    text.chars().for_each(|c| push_safe(c, &mut shown));
    shown
}

/// As [`safe`], but line breaks and tabs stay: for logs and for messages of several lines.
pub(crate) fn safe_lines(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            c => push_safe(c, &mut shown),
        }
    }
    shown
}

/// The first so many characters, and a sign that there was more.
pub(crate) fn bounded(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Columns that a text takes. Escape sequences of our own must not be in it.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// The text on one line, escaped, and cut to so many columns.
pub(crate) fn cut(text: &str, columns_max: usize) -> String {
    // A few characters for each column, because marks have no width; the rest is not even looked at.
    let text = safe(&bounded(text, columns_max.saturating_mul(4).max(64)));
    if columns(&text) <= columns_max {
        return text;
    }
    let mut shown = String::new();
    let mut taken = 0;
    for c in text.chars() {
        let width = c.width().unwrap_or(0);
        if taken + width + 1 > columns_max {
            break;
        }
        taken += width;
        shown.push(c);
    }
    if columns_max > 0 {
        shown.push('…');
    }
    shown
}

/// As [`cut`], but the end stays: for names that differ at their end.
pub(crate) fn tail(text: &str, columns_max: usize) -> String {
    let text = safe(&bounded(text, PROSE_CHARS_MAX));
    let mut excess = columns(&text).saturating_sub(columns_max);
    if excess == 0 {
        return text;
    }
    // One more for the sign of the cut.
    excess += 1;
    let mut rest = text.chars();
    while excess > 0 {
        let Some(c) = rest.next() else { break };
        excess = excess.saturating_sub(c.width().unwrap_or(0));
    }
    format!("…{}", rest.as_str())
}

/// The text with spaces behind it, so that it takes so many columns.
pub(crate) fn padded(text: &str, width: usize) -> String {
    let spaces = width.saturating_sub(columns(text));
    format!("{text}{}", " ".repeat(spaces))
}

/// A text of several lines: escaped, bounded, each line behind the indent.
pub(crate) fn block(text: &str, indent: &str) -> String {
    let mut shown = String::new();
    let text = bounded(text.trim_end(), PROSE_CHARS_MAX);
    for (number, line) in text.lines().enumerate() {
        if number == PROSE_LINES_MAX {
            shown.push_str(&format!("{indent}…\n"));
            break;
        }
        shown.push_str(&format!("{indent}{}\n", safe_lines(line)));
    }
    shown
}

/// The text as one word of a shell command that a person may copy.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", safe(text).replace('\'', r"'\''"))
}

/// The first twelve characters of a hex id: enough to tell, short enough for a line.
pub(crate) fn short(id: &str) -> String {
    let (kind, hex) = id.split_once(':').map_or(("", id), |(kind, hex)| (kind, hex));
    let hex: String = safe(hex).chars().take(12).collect();
    if kind.is_empty() { hex } else { format!("{}:{hex}", cut(kind, 12)) }
}

/// `1 item`, `2 items`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// `1 criterion`, `2 criteria`.
pub(crate) fn criteria(number: usize) -> String {
    if number == 1 { "1 criterion".to_owned() } else { format!("{number} criteria") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_elsewhere_drives_the_terminal() {
        assert_eq!(safe("a\u{1b}[2Jb\r\nc\u{7}\u{9b}31m"), "a\\u{1b}[2Jb\\r\\nc\\u{7}\\u{9b}31m");
        assert_eq!(safe("\u{202e}gnp.exe\u{feff}"), "\\u{202e}gnp.exe\\u{feff}");
        assert_eq!(safe("naïve 🎼 日本 e\u{301} \"q\" \\"), "naïve 🎼 日本 e\u{301} \"q\" \\");
        assert_eq!(safe_lines("a\n\tb\u{1b}c\r"), "a\n\tb\\u{1b}c\\r");
    }

    #[test]
    fn columns_are_what_a_terminal_counts() {
        assert_eq!(columns("日本"), 4);
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab…");
        assert_eq!(cut("abcd", 0), "");
        assert_eq!(columns(&cut(&"x".repeat(100_000), 20)), 20);
        assert_eq!(padded("日", 4), "日  ");
        assert_eq!(tail("cantus-worker-7", 8), "…orker-7");
        assert_eq!(tail("日本語", 4), "…語");
        assert_eq!(tail("abc", 3), "abc");
    }

    #[test]
    fn long_texts_are_bounded_and_say_so() {
        let long = "line\n".repeat(100);
        let shown = block(&long, "  ");
        assert_eq!(shown.lines().count(), PROSE_LINES_MAX + 1);
        assert!(shown.ends_with("  …\n"));
        assert_eq!(block("one", "> "), "> one\n");
    }

    #[test]
    fn words_for_a_shell_are_quoted_when_they_must_be() {
        assert_eq!(shell_word("a-1.b"), "a-1.b");
        assert_eq!(shell_word("it's; rm"), r"'it'\''s; rm'");
        assert_eq!(shell_word(""), "''");
        assert_eq!(short("sha256:0123456789abcdef"), "sha256:0123456789ab");
    }
}
