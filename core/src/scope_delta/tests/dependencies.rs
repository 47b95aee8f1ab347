//! Dependencies of each ecosystem: added, changed, and where a contract names or forbids them.

use super::{change, contract, found, found_under};
use crate::scope_delta::findings;
use cantus_proto::plan::Complexity;

/// Path, before, after, and the lines of what is added; a line 0 stands for the whole file.
type Row = (&'static str, &'static str, &'static str, &'static [u32]);

const ADDED: &[Row] = &[
    (
        "Cargo.toml",
        "[package]\nname = \"a\"\n[dependencies]\nserde = \"1\"\n",
        "[package]\nname = \"a\"\n[dependencies]\nserde = \"1\"\nrand = \"0.9\"\n",
        &[5],
    ),
    (
        "a/Cargo.toml",
        "",
        "[dev-dependencies]\na = \"1\"\n[build-dependencies]\nb = { version = \"1\" }\n[target.'cfg(unix)'.dependencies]\nc.workspace = true\n[workspace.dependencies]\nd = { git = \"x\" }\n[dependencies.e]\nversion = \"1\"\n[patch.crates-io]\nf = { path = \"f\" }\n",
        &[2, 4, 6, 8, 9, 12],
    ),
    (
        "Cargo.toml",
        "[dependencies]\na = \"1\"\n",
        "[dependencies]\nb = { package = \"a\", version = \"2\" }\n",
        &[],
    ),
    (
        "Cargo.toml",
        "[package]\nversion = \"1.0.0\"\n[features]\nx = []\n",
        "[package]\nversion = \"1.1.0\"\n[features]\nx = []\ny = []\n",
        &[],
    ),
    ("Cargo.toml", "[dependencies]\na = \"1\"\nb = \"1\"\n", "[dependencies]\na = \"2\"\n", &[]),
    (
        "pyproject.toml",
        "[project]\ndependencies = [\"requests>=2\"]\n",
        "[project]\ndependencies = [\n  \"Requests >= 2.1\",\n  \"left_pad[x]~=1; python_version > '3'\",\n]\n",
        &[4],
    ),
    (
        "pyproject.toml",
        "",
        "[project.optional-dependencies]\ndev = [\"a\"]\n[dependency-groups]\ntest = [\"b\", {include-group = \"x\"}]\n[build-system]\nrequires = [\"c\"]\n[tool.poetry.dependencies]\nd = \"^1\"\n[tool.poetry.group.dev.dependencies]\ne = \"^1\"\n[tool.uv]\ndev-dependencies = [\"f\"]\n",
        &[2, 4, 6, 8, 10, 12],
    ),
    (
        "pyproject.toml",
        "[project]\nversion = \"1\"\n[tool.ruff]\nline-length = 80\n",
        "[project]\nversion = \"2\"\n[tool.ruff]\nline-length = 100\n",
        &[],
    ),
    (
        "requirements-dev.txt",
        "a==1\n",
        "# why\na==2  # pinned\nb @ https://x/y.whl\n-r other.txt\n",
        &[3, 4],
    ),
    ("requirements/base.in", "a\n", "a\n--hash=sha256:1\nb==1 \\\n    --hash=sha256:2\n", &[3]),
    ("docs/notes.txt", "a\n", "a\nb\n", &[]),
    (
        "setup.py",
        "setup(install_requires=['a'])\n",
        "setup(\n    install_requires=[\n        'a',\n        'b>=1',\n    ],\n    extras_require={'dev': ['c']},\n    python_requires='>=3',\n)\n",
        &[4, 6],
    ),
    (
        "setup.cfg",
        "[options]\ninstall_requires =\n    a\n",
        "[options]\npython_requires = >=3\ninstall_requires =\n    a\n    b\n[options.extras_require]\ndev = c\n",
        &[5, 7],
    ),
    (
        "Pipfile",
        "[packages]\na = \"*\"\n",
        "[packages]\na = \"*\"\n[dev-packages]\nb = \"*\"\n[scripts]\nx = \"y\"\n",
        &[4],
    ),
    (
        "package.json",
        "{\n\"dependencies\": {\"a\": \"1\"}}",
        "{\n\"scripts\": {\"b\": \"x\"},\n\"dependencies\": {\"a\": \"2\"},\n\"devDependencies\": {\n\"b\": \"1\"},\n\"peerDependencies\": {\"c\": \"1\"},\n\"optionalDependencies\": {\"d\": \"1\"}}",
        &[5, 6, 7],
    ),
    (
        "package.json",
        "{\"dependencies\": {\"a\": \"1\"}}",
        "{\"dependencies\": {\"a\": \"1\"}, \"overrides\": {\"z\": \"1\"}}",
        &[],
    ),
    (
        "go.mod",
        "module a\nrequire x v1\n",
        "module a\ngo 1.24\nrequire (\n\tx v2\n\ty v1 // indirect\n)\nreplace x => ./x\n",
        &[5, 7],
    ),
    ("go.work", "go 1.24\nuse ./a\n", "go 1.25\nuse (\n\t./a\n\t./b\n)\n", &[4]),
    (
        "pom.xml",
        "<project><dependencies><dependency><groupId>g</groupId><artifactId>a</artifactId></dependency></dependencies></project>",
        "<project>\n<version>2</version>\n<properties><x.version>1</x.version></properties>\n<dependencies>\n<dependency><groupId>g</groupId><artifactId>a</artifactId></dependency>\n<dependency>\n<groupId>g</groupId><artifactId>b</artifactId></dependency></dependencies></project>",
        &[6],
    ),
    (
        "app/build.gradle.kts",
        "dependencies {\n  implementation(\"g:a:1\")\n}\n",
        "plugins {\n  id(\"p.q\") version \"1\"\n}\ndependencies {\n  implementation(\"g:a:2\")\n  testImplementation(libs.junit.api)\n  api(project(\":core\"))\n}\n",
        &[2, 6, 7],
    ),
    (
        "build.gradle",
        "dependencies {\n}\n",
        "version = '2'\ndependencies {\n  implementation 'g:a:1'\n  compile group: 'g', name: 'b', version: '1'\n}\n",
        &[3, 4],
    ),
    (
        "gradle/libs.versions.toml",
        "[versions]\nv = \"1\"\n",
        "[versions]\nv = \"2\"\nw = \"1\"\n[libraries]\na = { module = \"g:a\", version.ref = \"v\" }\nb = \"g:b:1\"\n[plugins]\np = { id = \"p.q\", version = \"1\" }\n",
        &[5, 6, 8],
    ),
    ("Gemfile", "gem 'a'\n", "gem 'a'\ngem 'b'\n", &[0]),
    ("src/App.csproj", "<a/>", "<b/>", &[0]),
    ("Cargo.lock", "a", "b", &[]),
    ("go.sum", "a", "b", &[]),
];

#[test]
fn added_dependencies_are_found_in_every_ecosystem() {
    let mut failed = String::new();
    for (path, old, new, lines) in ADDED {
        let place = |line: &u32| match line {
            0 => format!("dependency-added {path}"),
            line => format!("dependency-added {path}:{line}"),
        };
        let expected: Vec<String> = lines.iter().map(place).collect();
        let actual = found(&[change(path, Some(old), Some(new))]);
        if actual != expected {
            failed.push_str(&format!("{path} {new:?}: expected {expected:?}, was {actual:?}\n"));
        }
    }
    assert!(failed.is_empty(), "{failed}");
}

#[test]
fn a_contract_that_names_the_manifest_lets_dependencies_in() {
    let changes = [
        change("app/package.json", Some("{}"), Some("{\"dependencies\": {\"a\": \"1\"}}")),
        change("app/yarn.lock", Some("a"), Some("b")),
    ];
    for (scope, passes) in [
        ("app/package.json", true),
        ("app/", false),
        ("app", false),
        ("**", false),
        ("app/*.json", false),
    ] {
        let mut contract = contract();
        contract.allowed_scope.paths = vec![scope.to_owned(), "app/".to_owned()];
        assert_eq!(found_under(&contract, &changes).is_empty(), passes, "{scope}");
    }
}

#[test]
fn forbidden_changes_of_dependencies_are_all_found() {
    let mut contract = contract();
    contract.allowed_scope.paths.push("Cargo.toml".to_owned());
    contract.forbidden_actions.push("dependency_upgrade".to_owned());
    let base = "[package]\nversion = \"1\"\n[dependencies]\na = \"1\"\nb = \"1\"\n";
    let weigh = |new: &str| found_under(&contract, &[change("Cargo.toml", Some(base), Some(new))]);
    assert!(weigh(&base.replace("version = \"1\"", "version = \"2\"")).is_empty());
    assert_eq!(
        weigh(&base.replace("a = \"1\"", "a = \"2\"")),
        ["dependency-forbidden Cargo.toml:4"]
    );
    assert_eq!(weigh(&base.replace("b = \"1\"\n", "")), ["dependency-forbidden Cargo.toml"]);
    assert_eq!(weigh(&format!("{base}c = \"1\"\n")), ["dependency-forbidden Cargo.toml:6"]);
    let moved = base.replace("b = \"1\"\n", "[dev-dependencies]\nb = \"1\"\n");
    assert_eq!(weigh(&moved), ["dependency-forbidden Cargo.toml:6"]);
    for path in
        ["Cargo.lock", "a/poetry.lock", "package-lock.json", "go.sum", "Gemfile", "gradle.lockfile"]
    {
        let findings = found_under(&contract, &[change(path, Some("a"), Some("b"))]);
        assert_eq!(findings, [format!("dependency-forbidden {path}")]);
    }
    let pinned = [change(
        "pom.xml",
        Some("<project><properties><a.version>1</a.version></properties></project>"),
        Some("<project><properties><a.version>2</a.version></properties></project>"),
    )];
    assert_eq!(found_under(&contract, &pinned), ["dependency-forbidden pom.xml:1"]);
    assert_eq!(
        found_under(&contract, &[change("Cargo.toml", Some(base), None)]),
        ["dependency-forbidden Cargo.toml"]
    );
}

#[test]
fn a_manifest_that_cannot_be_read_is_told() {
    for (path, text, place) in [
        ("Cargo.toml", "[dependencies]\na = \n", ":2"),
        ("pyproject.toml", "[project\n", ":1"),
        ("package.json", "{\n\"dependencies\": {\n", ":3"),
        ("pom.xml", "<project>\n<dependencies>\n</project>", ":3"),
        ("Pipfile", "=", ":1"),
    ] {
        let expected = format!("dependency-added {path}{place}");
        assert_eq!(found(&[change(path, Some(""), Some(text))]), [expected]);
    }
    let mut raw = change("Cargo.toml", Some(""), Some(""));
    raw.new = crate::scope_delta::Content::Bytes(b"[package]\nname = \"\xff\"\n".to_vec());
    assert_eq!(found(&[raw]), ["dependency-added Cargo.toml:2"]);
}

#[test]
fn a_moved_manifest_adds_nothing_and_a_new_one_all() {
    let text = "[dependencies]\na = \"1\"\n";
    assert_eq!(
        found(&[change("x/Cargo.toml", None, Some(text))]),
        ["dependency-added x/Cargo.toml:2"]
    );
    let moved =
        [change("x/Cargo.toml", Some(text), None), change("y/Cargo.toml", None, Some(text))];
    assert!(found(&moved).is_empty());
    let more = [
        change("x/Cargo.toml", Some(text), None),
        change("y/Cargo.toml", None, Some("[dependencies]\na = \"1\"\nb = \"1\"\n")),
    ];
    assert_eq!(found(&more), ["dependency-added y/Cargo.toml:3"]);
}

#[test]
fn a_finding_names_what_is_added() {
    let new = "[project]\ndependencies = [\"a\", \"b\"]\n";
    let findings =
        findings(&contract(), Complexity::Small, &[change("pyproject.toml", Some(""), Some(new))]);
    assert_eq!(
        findings[0].to_string(),
        "pyproject.toml:2: dependency `a`, `b` is added: others' code comes in with it; do without it, or let the \
         contract name this file"
    );
    assert_eq!(findings.len(), 1);
}
