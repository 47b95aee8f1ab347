//! Dependencies of Python: pyproject.toml (PEP 621 and 735, Poetry, PDM, uv, Hatch), requirements, Pipfile, setup.cfg
//! and the literal lists of setup.py.

use super::toml_text::{Table, Value, at, entries, read, strings, table, text, value};
use super::{Declared, Unreadable};
use crate::scope_delta::ini;
use crate::scope_delta::tests_of::Language;
use crate::scope_delta::text::{Lines, lines, lossy, number};
use crate::scope_delta::tokens::{self, Kind, Span};

/// A requirement as PEP 508 has it, with its name as PEP 503 spells it.
fn requirement(table: &str, text: &str, line: u32) -> Declared {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')));
    let (name, rest) = text.split_at(end.unwrap_or(text.len()));
    let rest: String = rest.split_whitespace().collect();
    let name = if name.is_empty() { text.to_owned() } else { normal(name) };
    Declared::new(table, &name, &rest, line)
}

fn normal(name: &str) -> String {
    let mut normal = String::new();
    for character in name.chars() {
        match character {
            '-' | '_' | '.' if normal.ends_with('-') => {}
            '-' | '_' | '.' => normal.push('-'),
            _ => normal.extend(character.to_lowercase()),
        }
    }
    normal
}

pub(super) fn pyproject(bytes: &[u8]) -> Result<Vec<Declared>, Unreadable> {
    let (root, lines) = read(bytes)?;
    let mut found = Vec::new();
    let list = |found: &mut Vec<Declared>, table: &str, list: Option<&Value<'_>>| {
        let items = list.into_iter().flat_map(|list| strings(list, &lines));
        found.extend(items.map(|(text, line)| requirement(table, text, line)));
    };
    let get = |path: &[&str], name| at(&root, path).and_then(|within| value(within, name));
    list(&mut found, "project", get(&["project"], "dependencies").map(|list| list.get_ref()));
    list(&mut found, "build-system", get(&["build-system"], "requires").map(|list| list.get_ref()));
    for groups in [
        &["project", "optional-dependencies"][..],
        &["dependency-groups"],
        &["tool", "pdm", "dev-dependencies"],
    ] {
        for (name, group, _) in
            at(&root, groups).into_iter().flat_map(|groups| entries(groups, &lines))
        {
            list(&mut found, name, Some(group));
        }
    }
    list(&mut found, "uv", get(&["tool", "uv"], "dev-dependencies").map(|list| list.get_ref()));
    for (name, environment, _) in
        at(&root, &["tool", "hatch", "envs"]).into_iter().flat_map(|all| entries(all, &lines))
    {
        for key in ["dependencies", "extra-dependencies"] {
            let within = environment.as_table().and_then(|environment| value(environment, key));
            list(&mut found, name, within.map(|list| list.get_ref()));
        }
    }
    if let Some(poetry) = at(&root, &["tool", "poetry"]) {
        for key in ["dependencies", "dev-dependencies"] {
            named(table(poetry, key), key, &lines, &mut found);
        }
        for (name, group, _) in
            table(poetry, "group").into_iter().flat_map(|all| entries(all, &lines))
        {
            let group = group.as_table().and_then(|group| table(group, "dependencies"));
            named(group, name, &lines, &mut found);
        }
    }
    Ok(found)
}

/// A table whose keys are the names.
fn named(within: Option<&Table<'_>>, table: &str, lines: &Lines, found: &mut Vec<Declared>) {
    for (name, requirement, line) in within.into_iter().flat_map(|within| entries(within, lines)) {
        found.push(Declared::new(table, &normal(name), &text(requirement), line));
    }
}

/// Every table of a Pipfile but these holds packages.
pub(super) fn pipfile(bytes: &[u8]) -> Result<Vec<Declared>, Unreadable> {
    let (root, lines) = read(bytes)?;
    let mut found = Vec::new();
    for (name, category, _) in entries(&root, &lines) {
        if !matches!(name, "source" | "requires" | "scripts" | "pipenv") {
            named(category.as_table(), name, &lines, &mut found);
        }
    }
    Ok(found)
}

/// One requirement a line; an option that names a file, an index or a place counts as one.
pub(super) fn requirements(bytes: &[u8]) -> Vec<Declared> {
    let mut found = Vec::new();
    let mut is_continued = false;
    for (index, raw) in lines(bytes).enumerate() {
        let text = lossy(raw);
        let was_continued = std::mem::replace(&mut is_continued, text.trim_end().ends_with('\\'));
        let bare = text.split(" #").next().unwrap_or_default();
        let bare =
            bare.split(" --hash").next().unwrap_or_default().trim().trim_end_matches('\\').trim();
        if was_continued || bare.is_empty() || bare.starts_with('#') || bare.starts_with("--hash") {
            continue;
        }
        let line = number(index + 1);
        if bare.starts_with('-') {
            found.push(Declared::new("requirements", bare, "", line));
        } else {
            found.push(requirement("requirements", bare, line));
        }
    }
    found
}

pub(super) fn setup_cfg(bytes: &[u8]) -> Vec<Declared> {
    let mut found = Vec::new();
    for entry in ini::read(bytes) {
        let requires = entry.section == "options"
            && matches!(
                entry.key.as_str(),
                "install_requires" | "setup_requires" | "tests_require"
            );
        if requires || entry.section == "options.extras_require" {
            let parts = entry
                .values
                .iter()
                .flat_map(|(line, text)| text.split(';').take(1).map(|t| (*line, t)));
            found.extend(parts.map(|(line, text)| requirement(&entry.key, text, line)));
        }
    }
    found
}

/// The strings of lists that are given to a name about requirements: `install_requires=[…]`, `REQUIRED = […]`.
pub(super) fn setup_py(bytes: &[u8]) -> Vec<Declared> {
    let read = tokens::read(bytes, Language::Python);
    let tokens = &read.all;
    let mut found = Vec::new();
    let mut at = 0;
    while at + 2 < tokens.len() {
        let name = tokens[at].string().to_lowercase();
        let about = tokens[at].is_word()
            && (name.contains("requir") || name.contains("depend"))
            && name != "python_requires";
        if !(about && tokens[at + 1].is("=") && tokens[at + 2].opens()) {
            at += 1;
            continue;
        }
        let list = Span::inside(tokens, at + 2);
        let is_table = tokens[at + 2].is("{");
        for index in list.from..list.to {
            let is_key = is_table && tokens.get(index + 1).is_some_and(|next| next.is(":"));
            if tokens[index].kind == Kind::Text && !is_key {
                found.push(requirement(&name, &tokens[index].string(), tokens[index].line));
            }
        }
        at = list.to.max(at + 1);
    }
    found
}
