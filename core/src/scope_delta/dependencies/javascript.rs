//! Dependencies of JavaScript and TypeScript: the tables of package.json.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Declared, Unreadable, reason};
use crate::scope_delta::tests_of::Language;
use crate::scope_delta::text::number;
use crate::scope_delta::tokens::{self, Kind, Span};

const TABLES: [&str; 4] =
    ["dependencies", "devDependencies", "peerDependencies", "optionalDependencies"];
/// They choose versions of what others need.
const PINS: [&str; 3] = ["overrides", "resolutions", "pnpm"];

pub(super) fn package(bytes: &[u8]) -> Result<Vec<Declared>, Unreadable> {
    let bare = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let root: Value = serde_json::from_slice(bare).map_err(|error| Unreadable {
        line: Some(number(error.line())),
        reason: reason("JSON", &error.to_string()),
    })?;
    let lines = lines(bytes);
    let mut found = Vec::new();
    let tables =
        TABLES.iter().map(|table| (table, false)).chain(PINS.iter().map(|table| (table, true)));
    for (table, is_pin) in tables {
        for (name, requirement) in root.get(table).and_then(Value::as_object).into_iter().flatten()
        {
            let requirement = requirement.to_string();
            let line = lines.get(&((*table).to_owned(), name.clone())).copied().unwrap_or(1);
            let declared = Declared::new(table, name, &requirement, line);
            found.push(Declared { is_pin, ..declared });
        }
    }
    Ok(found)
}

/// Lines of the keys of the root's tables, by table and key.
fn lines(bytes: &[u8]) -> BTreeMap<(String, String), u32> {
    let read = tokens::read(bytes, Language::JavaScript);
    let tokens = &read.all;
    let key = |at: &usize| {
        tokens[*at].kind == Kind::Text && tokens.get(at + 1).is_some_and(|next| next.is(":"))
    };
    let mut found = BTreeMap::new();
    for table in Span::inside(tokens, 0).top().filter(key) {
        for name in Span::inside(tokens, table + 2).top().filter(key) {
            found.insert((tokens[table].string(), tokens[name].string()), tokens[name].line);
        }
    }
    found
}
