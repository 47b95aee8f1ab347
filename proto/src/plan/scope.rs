//! What a scope covers: pure matching of raw repository paths, used by the scope gate and by the linter.
//!
//! Patterns are anchored at the root of the repository and compared component by component, byte for byte
//! (so the case counts). `*` and `?` stay inside a component, `**` is any number of components. A name without
//! a wildcard at its end covers the path and all below it, a pattern that ends in `/` only what is below.
//! Brackets are ordinary characters. Whether a pattern is wise is the linter's question.

use crate::contract::AllowedScope;

impl AllowedScope {
    /// Whether the scope covers this path, as raw bytes relative to the root of the repository.
    ///
    /// A path that is empty, absolute, or has an empty, `.`, `..` or `.git` component is never covered.
    #[must_use]
    pub fn covers(&self, path: &[u8]) -> bool {
        self.paths.iter().any(|pattern| pattern_covers(pattern, path))
    }
}

/// Whether one pattern of a scope covers this path.
#[must_use]
pub fn pattern_covers(pattern: &str, path: &[u8]) -> bool {
    // Most paths are told apart by their first component.
    let first = |text: &[u8]| text.iter().position(|byte| *byte == b'/').unwrap_or(text.len());
    let (pattern_first, path_first) =
        (&pattern.as_bytes()[..first(pattern.as_bytes())], &path[..first(path)]);
    if !has_wildcard(pattern_first) && pattern_first != path_first {
        return false;
    }
    let path: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    if path.iter().any(|component| is_unsafe(component)) {
        return false;
    }
    let mut pattern: Vec<&[u8]> = pattern.as_bytes().split(|byte| *byte == b'/').collect();
    match pattern.as_slice() {
        [] | [b""] => return false,
        [.., []] => {
            pattern.pop();
            pattern.push(b"**");
        }
        [.., last] if !has_wildcard(last) => {
            if components_match(&pattern, &path) {
                return true;
            }
            pattern.push(b"**");
        }
        _ => {}
    }
    components_match(&pattern, &path)
}

fn is_unsafe(component: &[u8]) -> bool {
    matches!(component, b"" | b"." | b"..")
        || component.eq_ignore_ascii_case(b".git")
        || component.contains(&0)
}

/// Whether this component of a pattern has a wildcard.
pub(super) fn has_wildcard(component: &[u8]) -> bool {
    component.iter().any(|byte| matches!(byte, b'*' | b'?'))
}

/// `**` is any number of components, but at least one at the end. Linear in the pattern times the path: only the
/// last `**` is ever retried.
fn components_match(pattern: &[&[u8]], path: &[&[u8]]) -> bool {
    if pattern.iter().any(|component| component.is_empty()) {
        return false;
    }
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while t < path.len() {
        if p < pattern.len() && pattern[p] == b"**" {
            retry = Some((p, t));
            p += 1;
        } else if p < pattern.len() && component_matches(pattern[p], path[t]) {
            p += 1;
            t += 1;
        } else if let Some((star, from)) = retry {
            retry = Some((star, from + 1));
            p = star + 1;
            t = from + 1;
        } else {
            return false;
        }
    }
    p == pattern.len()
}

/// `*` is any text, `?` one character (one byte where the name is not UTF-8).
fn component_matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while t < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                retry = Some((p, t));
                p += 1;
            }
            Some(b'?') => {
                p += 1;
                t += character_bytes(&name[t..]);
            }
            Some(byte) if *byte == name[t] => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((star, from)) = retry else { return false };
                retry = Some((star, from + 1));
                p = star + 1;
                t = from + 1;
            }
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

/// Length of the first character of a non-empty name.
fn character_bytes(name: &[u8]) -> usize {
    let length = match name[0] {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => 1,
    };
    match name.get(..length) {
        Some(bytes) if std::str::from_utf8(bytes).is_ok() => length,
        _ => 1,
    }
}

#[cfg(test)]
mod tests;
