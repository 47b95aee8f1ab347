//! The commands of checkers, as far as their words say what they run.
//!
//! This is no shell: variables and expansions are not followed. A word in the place of a command, or behind an
//! interpreter, is what is run; `python -m a.b` runs `a/b.py`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::scope_delta::tests_of::Language;
use crate::scope_delta::tokens::{self, Kind, Span};

/// Words that run what follows them.
const WRAPPERS: [&str; 44] = [
    "!", ".", "bash", "bun", "bunx", "coverage", "dash", "deno", "do", "elif", "else", "env",
    "exec", "if", "ksh", "nice", "node", "nohup", "npx", "pdm", "perl", "php", "pipenv", "poetry",
    "pypy", "python", "python2", "python3", "rye", "ruby", "run", "sh", "source", "stdbuf", "sudo",
    "then", "time", "timeout", "ts-node", "tsx", "until", "uv", "while", "xargs",
];

/// Tools, and the files that say what they do, wherever these lie.
const TOOL_FILES: &[(&str, &[&str])] = &[
    ("make", &["Makefile", "makefile", "GNUmakefile"]),
    ("gmake", &["Makefile", "makefile", "GNUmakefile"]),
    ("tox", &["tox.ini"]),
    ("nox", &["noxfile.py"]),
    ("just", &["justfile", "Justfile", ".justfile"]),
    ("task", &["Taskfile.yml", "Taskfile.yaml"]),
    ("rake", &["Rakefile"]),
    ("inv", &["tasks.py"]),
    ("invoke", &["tasks.py"]),
    ("cargo", &[".cargo/config.toml", ".cargo/config", "Makefile.toml"]),
    ("ant", &["build.xml"]),
    ("mage", &["magefile.go"]),
    ("pre-commit", &[".pre-commit-config.yaml"]),
    ("nx", &["nx.json"]),
    ("turbo", &["turbo.json"]),
];

/// What the checkers of a contract run.
#[derive(Debug, Default)]
pub(super) struct Commands {
    /// Paths, relative to the root, or to where a checker changes its directory.
    files: BTreeSet<String>,
    words: BTreeSet<String>,
    changes_directory: bool,
}

/// Scripts of a package.json: text and line by name.
pub(super) type Scripts = BTreeMap<String, (String, u32)>;

/// Reads all checkers.
pub(super) fn read(checkers: &[&str]) -> Commands {
    let mut commands = Commands::default();
    for checker in checkers {
        // Quotes only hide a command within a command from the split.
        for simple in checker.split(['\n', ';', '|', '&', '(', ')', '`', '{', '}']) {
            let words: Vec<&str> = simple
                .split(|c: char| c.is_whitespace() || "\"'<>".contains(c))
                .filter(|w| !w.is_empty())
                .collect();
            commands.words.extend(words.iter().map(|word| (*word).to_owned()));
            commands.changes_directory |= words.iter().any(|word| matches!(*word, "cd" | "pushd"));
            commands.files.extend(run_by(&words));
        }
    }
    commands
}

/// The file that a simple command runs, as the names that it may have in the tree.
fn run_by(words: &[&str]) -> Vec<String> {
    let mut words = words.iter().copied();
    let mut is_module = false;
    let Some(word) = words.find(|word| {
        is_module |= *word == "-m";
        let is_assignment = word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        });
        let is_number = word.trim_end_matches(['s', 'm', 'h']).chars().all(|c| c.is_ascii_digit());
        !(WRAPPERS.contains(word) || word.starts_with('-') || is_assignment || is_number)
    }) else {
        return Vec::new();
    };
    if is_module {
        let path = word.replace('.', "/");
        return vec![
            format!("{path}.py"),
            format!("{path}/__main__.py"),
            format!("{path}/__init__.py"),
        ];
    }
    vec![word.trim_start_matches("$PWD/").trim_start_matches("./").to_owned()]
}

impl Commands {
    /// Whether a checker runs this file.
    pub(super) fn runs(&self, path: &str) -> bool {
        self.files.contains(path)
            || (self.changes_directory
                && path.match_indices('/').any(|(at, _)| self.files.contains(&path[at + 1..])))
    }

    /// The tool that a checker calls and that reads its commands in this file.
    pub(super) fn tool_reads(&self, path: &str) -> Option<&'static str> {
        let read = |(tool, files): &&(&str, &[&str])| {
            let named = |file: &&str| path == *file || path.ends_with(&format!("/{file}"));
            self.words.contains(*tool) && files.iter().any(named)
        };
        let is_included = path.ends_with(".mk") && self.words.contains("make");
        let tool = TOOL_FILES.iter().find(read).map(|(tool, _)| *tool);
        tool.or(if is_included { Some("make") } else { None })
    }

    /// Whether a checker calls the scripts of a package.json.
    pub(super) fn calls_scripts(&self) -> bool {
        ["npm", "yarn", "pnpm", "bun"].iter().any(|tool| self.words.contains(*tool))
    }

    /// Names of scripts that are called, with those that these call, and their hooks.
    pub(super) fn scripts_called(&self, scripts: &Scripts) -> BTreeSet<String> {
        let mut called = BTreeSet::new();
        let mut waiting: Vec<String> = self.words.iter().cloned().collect();
        if ["t", "tst"].iter().any(|word| self.words.contains(*word)) {
            waiting.push("test".to_owned());
        }
        while let Some(word) = waiting.pop() {
            if !called.insert(word.clone()) {
                continue;
            }
            if let Some((text, _)) = scripts.get(&word) {
                waiting.extend(
                    text.split(|c: char| c.is_whitespace() || ";&|\"'".contains(c))
                        .map(str::to_owned),
                );
                waiting.extend([format!("pre{word}"), format!("post{word}")]);
            }
        }
        called
    }
}

/// The scripts of a package.json; none when it cannot be read.
pub(super) fn scripts(bytes: &[u8]) -> Scripts {
    let root: Value = serde_json::from_slice(bytes).unwrap_or(Value::Null);
    let Some(scripts) = root.get("scripts").and_then(Value::as_object) else {
        return Scripts::new();
    };
    let read = tokens::read(bytes, Language::JavaScript);
    let tokens = &read.all;
    let key = |at: &usize| {
        tokens[*at].kind == Kind::Text && tokens.get(at + 1).is_some_and(|next| next.is(":"))
    };
    let table = Span::inside(tokens, 0).top().filter(key).find(|at| tokens[*at].text == b"scripts");
    let lines: BTreeMap<String, u32> = table
        .into_iter()
        .flat_map(|table| Span::inside(tokens, table + 2).top().filter(key))
        .map(|at| (tokens[at].string(), tokens[at].line))
        .collect();
    let script = |(name, text): (&String, &Value)| {
        let line = lines.get(name).copied().unwrap_or(1);
        (name.clone(), (text.as_str().unwrap_or_default().to_owned(), line))
    };
    scripts.iter().map(script).collect()
}
