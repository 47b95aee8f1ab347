//! Text from outside, made safe to show: bounded, escaped, never trusted.

/// Longest path that is shown, in characters.
const SHOWN_MAX: usize = 200;

/// A path or name for a message: control characters escaped, not-UTF-8 marked, cut when long.
#[must_use]
pub fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut shown: String = text
        .chars()
        .take(SHOWN_MAX)
        .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
        .collect();
    if text.chars().count() > SHOWN_MAX {
        shown.push('…');
    }
    shown
}

/// The error and all its causes in one line.
#[must_use]
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut line = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        line.push_str(": ");
        line.push_str(&cause.to_string());
        source = cause.source();
    }
    line
}

/// Cuts at a character boundary at or below `bytes_max`.
#[must_use]
pub fn cut(text: &str, bytes_max: usize) -> &str {
    let mut end = bytes_max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The end of an output as text, at most about `bytes_max`; a cut is marked.
#[must_use]
pub fn tail(output: &[u8], bytes_max: usize) -> String {
    match output.len().checked_sub(bytes_max) {
        None | Some(0) => String::from_utf8_lossy(output).into_owned(),
        Some(over) => format!("[…]{}", String::from_utf8_lossy(&output[over..])),
    }
}
