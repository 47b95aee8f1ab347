//! Dependencies of Go: the directives of go.mod and go.work.

use super::Declared;
use crate::scope_delta::text::{lines, lossy, number};

const DIRECTIVES: [&str; 5] = ["require", "replace", "exclude", "tool", "use"];

/// Modules by directive; the indirect ones are modules, too.
pub(super) fn module(bytes: &[u8]) -> Vec<Declared> {
    let mut found = Vec::new();
    let mut block: Option<String> = None;
    for (index, raw) in lines(bytes).enumerate() {
        let text = lossy(raw);
        let bare = text.split("//").next().unwrap_or_default().trim();
        let line = number(index + 1);
        if bare == ")" {
            block = None;
            continue;
        }
        if let Some(directive) = &block {
            found.extend(declared(directive, bare, line));
            continue;
        }
        let (directive, rest) = bare.split_once(char::is_whitespace).unwrap_or((bare, ""));
        if !DIRECTIVES.contains(&directive) {
            continue;
        }
        match rest.trim() {
            "(" => block = Some(directive.to_owned()),
            rest => found.extend(declared(directive, rest, line)),
        }
    }
    found
}

fn declared(directive: &str, text: &str, line: u32) -> Option<Declared> {
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    if name.is_empty() {
        return None;
    }
    let rest: Vec<&str> = rest.split_whitespace().collect();
    // What takes a module's place, or keeps a version out, is something else than needing it.
    let name = match directive {
        "require" => name.to_owned(),
        _ => format!("{directive} {name}"),
    };
    let declared = Declared::new(directive, &name, &rest.join(" "), line);
    Some(Declared { is_pin: directive == "exclude", ..declared })
}
