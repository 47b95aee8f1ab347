//! Configuration that takes tests out of the run, for the runners of each ecosystem.
//!
//! Both sides are read as a list of settings that select; one that is there now and was not before is told. A
//! setting that is lost is told where losing it selects less.

use std::collections::BTreeMap;

use crate::scope_delta::dependencies::toml_text as toml;
use crate::scope_delta::finding::{Finding, Rule, quote};
use crate::scope_delta::tests_of::{self, Language};
use crate::scope_delta::text::{Lines, lines, lossy, number};
use crate::scope_delta::tokens::{self, Span, Token};
use crate::scope_delta::{FileChange, ini};

/// Something that selects tests, with its line.
type Setting = (String, u32);

/// Options of pytest that leave tests out.
const OPTIONS: [&str; 10] = [
    "--deselect",
    "--ignore",
    "--ignore-glob",
    "-k",
    "-m",
    "--co",
    "--collect-only",
    "--noconftest",
    "--lf",
    "--last-failed",
];

/// Keys of pytest's configuration whose every change selects other tests.
const KEYS: [&str; 6] = [
    "testpaths",
    "python_files",
    "python_classes",
    "python_functions",
    "norecursedirs",
    "collect_imported_tests",
];

/// Keys by which the runners of JavaScript find tests.
const SCRIPT_KEYS: [&str; 14] = [
    "exclude",
    "grep",
    "grepInvert",
    "ignore",
    "include",
    "modulePathIgnorePatterns",
    "passWithNoTests",
    "spec",
    "testIgnore",
    "testMatch",
    "testNamePattern",
    "testPathIgnorePatterns",
    "testRegex",
    "roots",
];

/// Settings that select less than before.
pub(super) fn weigh(change: &FileChange) -> Vec<Finding> {
    let Some(read) = reader(&change.path) else { return Vec::new() };
    let Some(new) = change.new.weighed() else { return Vec::new() };
    let mut before: BTreeMap<String, usize> = BTreeMap::new();
    for (setting, _) in change.old.weighed().map(read).unwrap_or_default() {
        *before.entry(setting).or_default() += 1;
    }
    let mut now = read(new);
    now.retain(|(setting, _)| match before.get_mut(setting).filter(|count| **count > 0) {
        Some(count) => {
            *count -= 1;
            false
        }
        None => true,
    });
    let tell = |(setting, line): Setting| {
        let text = format!(
            "{} selects which tests run, and it is new or changed: a test that does not run shows nothing; leave \
             the selection as it was",
            quote(&setting)
        );
        Finding::new(Rule::CheckEdited, &change.path, Some(line), text)
    };
    now.into_iter().map(tell).collect()
}

/// What reads the settings of a file.
type Reader = fn(&[u8]) -> Vec<Setting>;

fn reader(path: &[u8]) -> Option<Reader> {
    let name = lossy(tests_of::name(path));
    let stem = name.split('.').next().unwrap_or_default();
    Some(match name.as_str() {
        "pytest.ini" | ".pytest.ini" | "tox.ini" | "setup.cfg" => pytest_ini,
        "pyproject.toml" => pyproject,
        "conftest.py" => conftest,
        "Cargo.toml" => cargo,
        "nextest.toml" => nextest,
        "package.json" | ".mocharc.json" | "jest.config.json" => scripts,
        "pom.xml" => pom,
        "maven.config" | "jvm.config" | "gradle.properties" | "mvn.config" => properties,
        _ if name.ends_with(".gradle") || name.ends_with(".gradle.kts") => gradle,
        _ if name.ends_with("_test.go") => go_constraint,
        _ if tests_of::language(path) == Some(Language::JavaScript)
            && (name.contains(".config.") || stem.is_empty())
            && ["jest", "vitest", "vite", "playwright", "karma", "cypress", ".mocharc"]
                .iter()
                .any(|tool| name.starts_with(tool)) =>
        {
            scripts
        }
        _ => return None,
    })
}

fn pytest_ini(bytes: &[u8]) -> Vec<Setting> {
    let mut found = Vec::new();
    for entry in ini::read(bytes) {
        let is_pytest = matches!(entry.section.as_str(), "pytest" | "tool:pytest");
        let is_command = entry.section.starts_with("testenv") && entry.key.starts_with("commands");
        let text: Vec<&str> = entry.values.iter().map(|(_, text)| text.as_str()).collect();
        if is_pytest && KEYS.contains(&entry.key.as_str()) {
            found.push((format!("{} = {}", entry.key, text.join(" ")), entry.line));
        } else if (is_pytest && entry.key == "addopts") || is_command {
            for (line, text) in &entry.values {
                found.extend(options(text).into_iter().map(|option| (option, *line)));
            }
        }
    }
    found
}

/// Options of a command line that leave tests out, each with its value.
fn options(text: &str) -> Vec<String> {
    let words: Vec<&str> =
        text.split_whitespace().map(|word| word.trim_matches(['"', '\'', ','])).collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let name = word.split('=').next().unwrap_or_default();
        if OPTIONS.contains(&name) {
            let value =
                if word.contains('=') { "" } else { words.get(at + 1).copied().unwrap_or("") };
            found.push(format!("{word} {value}").trim_end().to_owned());
        } else if matches!(word.as_bytes(), [b'-', b'k' | b'm', _, ..]) {
            found.push((*word).to_owned());
        }
    }
    found
}

fn pyproject(bytes: &[u8]) -> Vec<Setting> {
    let Ok((root, lines)) = toml::read(bytes) else { return Vec::new() };
    let mut found = Vec::new();
    let tables = [&["tool", "pytest", "ini_options"][..], &["tool", "pytest"]];
    for table in tables.into_iter().filter_map(|path| toml::at(&root, path)) {
        for (key, value, line) in toml::entries(table, &lines) {
            if KEYS.contains(&key) {
                found.push((format!("{key} = {}", toml::text(value)), line));
            } else if key == "addopts" {
                let text = match value.as_str() {
                    Some(text) => text.to_owned(),
                    None => toml::strings(value, &lines)
                        .map(|(text, _)| text)
                        .collect::<Vec<_>>()
                        .join(" "),
                };
                found.extend(options(&text).into_iter().map(|option| (option, line)));
            }
        }
    }
    found
}

/// Hooks and names by which a conftest keeps tests from being collected.
fn conftest(bytes: &[u8]) -> Vec<Setting> {
    let words = [
        "collect_ignore",
        "collect_ignore_glob",
        "pytest_ignore_collect",
        "pytest_collection_modifyitems",
        "pytest_deselected",
        "skip",
        "xfail",
    ];
    let read = tokens::read(bytes, Language::Python);
    let named = |token: &&Token<'_>| token.is_word() && words.iter().any(|word| token.is(word));
    read.all.iter().filter(named).map(|token| (token.string(), token.line)).collect()
}

fn cargo(bytes: &[u8]) -> Vec<Setting> {
    let Ok((root, lines)) = toml::read(bytes) else { return Vec::new() };
    let mut found = Vec::new();
    let mut target = |kind: &str, table: &toml::Table<'_>| {
        let name =
            toml::value(table, "name").and_then(|name| name.get_ref().as_str()).unwrap_or("");
        for (key, value, line) in toml::entries(table, &lines) {
            let takes_out = (matches!(key, "test" | "harness" | "doctest")
                && value.as_bool() == Some(false))
                || (key == "required-features" && kind == "test");
            if takes_out {
                found.push((format!("[{kind} {name}] {key} = {}", toml::text(value)), line));
            }
        }
    };
    for kind in ["lib", "test", "bin", "example"] {
        match toml::value(&root, kind).map(|value| value.get_ref()) {
            Some(toml::Value::Table(table)) => target(kind, table),
            Some(toml::Value::Array(tables)) => {
                tables
                    .iter()
                    .filter_map(|table| table.get_ref().as_table())
                    .for_each(|table| target(kind, table));
            }
            _ => {}
        }
    }
    for (key, value, line) in
        toml::table(&root, "package").into_iter().flat_map(|t| toml::entries(t, &lines))
    {
        if key == "autotests" && value.as_bool() == Some(false) {
            found.push(("autotests = false".to_owned(), line));
        }
    }
    found
}

fn nextest(bytes: &[u8]) -> Vec<Setting> {
    let text = lossy(bytes);
    let keys = ["default-filter", "ignore-default-filter", "run-ignored"];
    let selects =
        |(_, line): &(usize, &str)| keys.iter().any(|key| line.trim_start().starts_with(key));
    let lines = text.lines().enumerate().filter(selects);
    lines.map(|(index, line)| (line.trim().to_owned(), number(index + 1))).collect()
}

/// `key: value` and `"key": value` of the runners' configurations.
fn scripts(bytes: &[u8]) -> Vec<Setting> {
    let read = tokens::read(bytes, Language::JavaScript);
    let tokens = &read.all;
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let key = tokens[at].string();
        let is_key = SCRIPT_KEYS.contains(&key.as_str())
            && tokens.get(at + 1).is_some_and(|next| next.is(":"));
        if is_key {
            let value = Span::new(tokens, at + 2, at + 2 + 200);
            let end = value.top().find(|at| {
                tokens[*at].is(",") || tokens[*at].closes() && tokens[*at].pair < value.from
            });
            let value = Span::new(tokens, value.from, end.unwrap_or(value.to));
            found.push((format!("{key}: {}", value.canonical()), tokens[at].line));
        }
    }
    found
}

/// Properties and elements that skip tests or let them fail.
fn pom(bytes: &[u8]) -> Vec<Setting> {
    let lines = Lines::of(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return Vec::new() };
    let Ok(document) = roxmltree::Document::parse(text) else { return Vec::new() };
    let mut found = Vec::new();
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        let name = node.tag_name().name();
        let value = node.text().unwrap_or_default().trim();
        let switch = matches!(
            name,
            "skipTests"
                | "skip"
                | "skipITs"
                | "maven.test.skip"
                | "testFailureIgnore"
                | "maven.test.failure.ignore"
        ) && value != "false";
        let filter = matches!(name, "excludedGroups" | "groups" | "test" | "exclude" | "include")
            && node.ancestors().any(|above| {
                let artifact =
                    above.children().find(|child| child.tag_name().name() == "artifactId");
                artifact
                    .and_then(|child| child.text())
                    .is_some_and(|text| text.contains("surefire") || text.contains("failsafe"))
            });
        if switch || filter {
            found.push((format!("<{name}>{value}"), lines.at(node.range().start)));
        }
    }
    found
}

fn properties(bytes: &[u8]) -> Vec<Setting> {
    let words = ["skipTests", "maven.test.skip", "skipITs", "test.skip", "test.failure.ignore"];
    let all = lines(bytes)
        .enumerate()
        .map(|(index, line)| (lossy(line).trim().to_owned(), number(index + 1)));
    all.filter(|(line, _)| !line.starts_with('#') && words.iter().any(|word| line.contains(word)))
        .collect()
}

/// What stands in blocks about tests: `test { exclude … }`, `tasks.withType<Test> { enabled = false }`.
fn gradle(bytes: &[u8]) -> Vec<Setting> {
    let read = tokens::read(bytes, Language::Java);
    let tokens = &read.all;
    let words = [
        "enabled",
        "ignoreFailures",
        "exclude",
        "excludes",
        "excludeTestsMatching",
        "excludeTags",
        "onlyIf",
        "include",
        "includeTestsMatching",
        "includeTags",
        "filter",
        "isEnabled",
        "isIgnoreFailures",
    ];
    let mut found = Vec::new();
    let mut until = 0;
    for at in 0..tokens.len() {
        if tokens[at].is("{") && tokens[at].pair > at {
            let head = Span::new(tokens, at.saturating_sub(8), at);
            let line = tokens[at].line;
            let about = head.tokens().iter().filter(|token| token.line == line).any(|token| {
                matches!(token.text, b"test" | b"Test" | b"integrationTest" | b"useJUnitPlatform")
            });
            if about {
                until = until.max(tokens[at].pair);
            }
        }
        if at < until && tokens[at].is_word() && words.iter().any(|word| tokens[at].is(word)) {
            let line = tokens[at].line;
            let end = (at..until).find(|at| tokens[*at].line != line).unwrap_or(until);
            found.push((Span::new(tokens, at, end).canonical(), line));
        }
    }
    found
}

/// A build constraint before the package clause of a test.
fn go_constraint(bytes: &[u8]) -> Vec<Setting> {
    let mut found = Vec::new();
    for (index, line) in lines(bytes).enumerate() {
        if line.starts_with(b"package ") {
            break;
        }
        if line.starts_with(b"//go:build") || line.starts_with(b"// +build") {
            found.push((lossy(line), number(index + 1)));
        }
    }
    found
}
