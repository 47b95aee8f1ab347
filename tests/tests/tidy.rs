//! The layout's rules, held by a machine: sizes, openings, the core's purity, and who may use what.

#![expect(clippy::unwrap_used, reason = "a test fails where it stands")]

use std::path::{Path, PathBuf};

/// Longest source file in lines, tests apart (STYLE: about 150 is the aim).
const FILE_LINES_MAX: usize = 500;

/// The rules of the kernel (SPEC B2 to B8): a reader finds each in the file that bears its name.
const RULES: [&str; 7] = [
    "state_machine",
    "checkpoint",
    "first_artifact",
    "verification_budget",
    "scope_delta",
    "evidence_or_abstain",
    "progress_heartbeat",
];

/// Longest file of a rule in lines, tests apart.
const RULE_LINES_MAX: usize = 150;

struct Source {
    path: String,
    text: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

fn walk(directory: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> =
        std::fs::read_dir(directory).unwrap().flatten().map(|e| e.path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && name != ".git" {
            walk(&path, found);
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
}

fn sources() -> Vec<Source> {
    let root = root();
    let mut paths = Vec::new();
    walk(&root, &mut paths);
    let source = |path: PathBuf| Source {
        path: path.strip_prefix(&root).unwrap().to_string_lossy().into_owned(),
        text: std::fs::read_to_string(&path).unwrap(),
    };
    let sources: Vec<Source> = paths.into_iter().map(source).collect();
    assert!(sources.len() > 100, "the walk found only {} files", sources.len());
    sources
}

fn is_test(path: &str) -> bool {
    path.starts_with("tests/")
        || path.contains("/tests/")
        || path.ends_with("tests.rs")
        || path.ends_with("samples.rs")
}

/// The lines of a file before its test module.
fn code(source: &Source) -> impl Iterator<Item = &str> {
    source
        .text
        .lines()
        .take_while(|line| *line != "#[cfg(test)]" || source.path.ends_with("lib.rs"))
}

fn refuse(problems: &[String]) {
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn files_open_with_their_purpose_and_stay_small() {
    let mut problems = Vec::new();
    for source in sources() {
        if !source.text.starts_with("//! ") {
            problems.push(format!("{}: does not open with //! and what it is for", source.path));
        }
        let lines = code(&source).count();
        if !is_test(&source.path) && lines > FILE_LINES_MAX {
            problems.push(format!("{}: {lines} lines, the limit is {FILE_LINES_MAX}", source.path));
        }
    }
    refuse(&problems);
}

#[test]
fn each_rule_has_its_file_and_is_short() {
    let sources = sources();
    let mut problems = Vec::new();
    for rule in RULES {
        let path = format!("core/src/{rule}.rs");
        let Some(source) = sources.iter().find(|source| source.path == path) else {
            problems.push(format!("{path}: the rule has no file"));
            continue;
        };
        let lines = code(source).count();
        if lines >= RULE_LINES_MAX {
            problems.push(format!("{path}: {lines} lines, a rule has fewer than {RULE_LINES_MAX}"));
        }
    }
    refuse(&problems);
}

#[test]
fn the_core_is_pure() {
    let forbidden = [
        "tokio",
        "async ",
        ".await",
        "SystemTime",
        "Instant",
        "std::fs",
        "std::io",
        "std::net",
        "std::env",
        "getrandom",
        "rand::",
        "git2",
        "async_nats",
        "tracing",
        "HashMap",
        "HashSet",
    ];
    let mut problems = Vec::new();
    let core = |source: &Source| source.path.starts_with("core/src/");
    let sources: Vec<Source> =
        sources().into_iter().filter(|s| core(s) && !is_test(&s.path)).collect();
    assert!(sources.len() >= 8, "the core was not found");
    for source in &sources {
        for (number, line) in
            code(source).enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
        {
            for word in forbidden.iter().filter(|word| line.contains(**word)) {
                problems.push(format!("{}:{}: {word} in the core", source.path, number + 1));
            }
        }
    }
    refuse(&problems);
}

#[test]
fn each_library_has_its_one_user() {
    let mut problems = Vec::new();
    for source in sources().iter().filter(|s| !is_test(&s.path)) {
        for (library, owner) in [
            ("bollard", "docker/"),
            ("async_nats", "proto/src/bus"),
            ("saphyr_parser", "proto/src/plan"),
        ] {
            let used = code(source).any(|line| {
                !line.trim_start().starts_with("//") && line.contains(&format!("{library}::"))
            });
            if used && !source.path.starts_with(owner) {
                problems.push(format!("{}: uses {library}, which only {owner} may", source.path));
            }
        }
    }
    refuse(&problems);
}

#[test]
fn lints_are_expected_with_a_reason_and_never_allowed() {
    let allow = concat!("#[", "allow(");
    let ignore = concat!("#[", "ignore");
    let mut problems = Vec::new();
    for source in sources() {
        for (number, line) in source.text.lines().enumerate() {
            if line.trim_start().starts_with(allow) || line.trim_start().starts_with(ignore) {
                problems.push(format!("{}:{}: {}", source.path, number + 1, line.trim()));
            }
        }
    }
    refuse(&problems);
}

#[test]
fn dependencies_point_one_way() {
    let may = [
        ("proto", &[][..]),
        ("runner", &["cantus-proto"][..]),
        ("worker", &["cantus-proto", "cantus-runner"][..]),
        ("verifier", &["cantus-proto", "cantus-runner"][..]),
        ("docker", &["cantus-proto"][..]),
        ("core", &["cantus-proto"][..]),
        ("sim", &["cantus-proto", "cantus-core"][..]),
        ("coordinator", &["cantus-proto", "cantus-core", "cantus-docker"][..]),
    ];
    let mut problems = Vec::new();
    for (name, allowed) in may {
        let manifest = std::fs::read_to_string(root().join(name).join("Cargo.toml")).unwrap();
        let needs = manifest.split("[dev-dependencies]").next().unwrap();
        let ours = needs.lines().filter_map(|line| line.split(['.', ' ', '=']).next());
        for dependency in ours.filter(|word| word.starts_with("cantus-") && !allowed.contains(word))
        {
            problems.push(format!("{name} depends on {dependency}"));
        }
    }
    refuse(&problems);
}

#[test]
fn every_case_names_tests_that_exist() {
    let cases = std::fs::read_to_string(root().join("docs/CASES.md")).unwrap();
    let all: String = sources().into_iter().map(|source| source.text).collect();
    let rows: Vec<&str> = cases.lines().filter(|line| line.starts_with("| ")).skip(2).collect();
    assert!(rows.len() > 40, "the table was not found");
    let mut problems = Vec::new();
    for row in rows {
        let column = row.rsplit('|').nth(1).unwrap_or_default();
        let names: Vec<&str> = column.split('`').skip(1).step_by(2).collect();
        if names.is_empty() {
            problems.push(format!("{row}: no test"));
        }
        let tests = names.iter().filter(|name| name.contains('_') && !name.contains(['/', ':']));
        for name in tests.filter(|name| !all.contains(&format!("fn {name}("))) {
            problems.push(format!("{name} is in docs/CASES.md and is no test"));
        }
    }
    refuse(&problems);
}
