//! Dependencies of Rust: every dependency table of Cargo.toml.

use super::toml_text::{Table, entries, read, table, text, value};
use super::{Declared, Unreadable};
use crate::scope_delta::text::Lines;

const TABLES: [&str; 5] = [
    "dependencies",
    "dev-dependencies",
    "dev_dependencies",
    "build-dependencies",
    "build_dependencies",
];

pub(super) fn manifest(bytes: &[u8]) -> Result<Vec<Declared>, Unreadable> {
    let (root, lines) = read(bytes)?;
    let mut found = Vec::new();
    tables(&root, "", &lines, &mut found);
    if let Some(workspace) = table(&root, "workspace") {
        tables(workspace, "workspace.", &lines, &mut found);
    }
    if let Some(targets) = table(&root, "target") {
        for (name, target, _) in entries(targets, &lines) {
            if let Some(target) = target.as_table() {
                tables(target, &format!("target.{name}."), &lines, &mut found);
            }
        }
    }
    // A patch puts other code in the place of a dependency.
    if let Some(patches) = table(&root, "patch") {
        for (source, patched, _) in entries(patches, &lines) {
            if let Some(patched) = patched.as_table() {
                declared(patched, &format!("patch.{source}"), &lines, &mut found);
            }
        }
    }
    if let Some(replaced) = table(&root, "replace") {
        declared(replaced, "replace", &lines, &mut found);
    }
    Ok(found)
}

fn tables(within: &Table<'_>, prefix: &str, lines: &Lines, found: &mut Vec<Declared>) {
    for name in TABLES {
        if let Some(table) = table(within, name) {
            declared(table, &format!("{prefix}{}", name.replace('_', "-")), lines, found);
        }
    }
}

fn declared(within: &Table<'_>, table: &str, lines: &Lines, found: &mut Vec<Declared>) {
    for (key, requirement, line) in entries(within, lines) {
        // A renamed dependency is what it is, not what it is called here.
        let package = requirement.as_table().and_then(|said| value(said, "package"));
        let name = package.and_then(|package| package.get_ref().as_str()).unwrap_or(key);
        let patched =
            if table.starts_with("patch") || table == "replace" { "patch of " } else { "" };
        found.push(Declared::new(table, &format!("{patched}{name}"), &text(requirement), line));
    }
}
