//! Edits of what checkers run, and of which tests are selected.

use super::{change, checked_by, contract, found, found_under};

#[test]
fn what_a_checker_runs_is_not_the_workers_to_edit_w12() {
    for (checker, path, is_found) in [
        ("./check.sh", "check.sh", true),
        ("sh check.sh --fast", "check.sh", true),
        ("bash -eu ./ci/check.sh", "ci/check.sh", true),
        ("cd ci && ./check.sh", "ci/check.sh", true),
        ("timeout 60 python3 scripts/x.py", "scripts/x.py", true),
        ("python -m scripts.x -v", "scripts/x.py", true),
        ("A=1 sh -c './check.sh'", "check.sh", true),
        ("cargo build && . ./env.sh", "env.sh", true),
        ("make test", "Makefile", true),
        ("make test", "rules/common.mk", true),
        ("make -C sub test", "sub/Makefile", true),
        ("tox -e py", "tox.ini", true),
        ("nox", "noxfile.py", true),
        ("cargo test", ".cargo/config.toml", true),
        ("cargo test", "Makefile", false),
        ("./check.sh", "other/check.sh", false),
        ("grep -q hello greeting.txt", "greeting.txt", false),
        ("test -f notes.md", "notes.md", false),
        ("pytest tests/test_a.py", "tests/test_a.py", false),
        ("make test", ".github/workflows/ci.yml", false),
        ("remake test", "Makefile", false),
    ] {
        let findings = found_under(&checked_by(checker), &[change(path, Some("a\n"), Some("b\n"))]);
        let expected = if is_found { vec![format!("check-edited {path}")] } else { vec![] };
        assert_eq!(findings, expected, "{checker}");
    }
}

#[test]
fn what_the_contract_asks_for_may_be_edited() {
    let edit = [change("check.sh", Some("a\n"), Some("b\n"))];
    let mut named = checked_by("./check.sh");
    assert_eq!(found_under(&named, &edit), ["check-edited check.sh"]);
    named.deliverables = vec!["check.sh.md, of course".to_owned()];
    assert_eq!(found_under(&named, &edit), ["check-edited check.sh"]);
    named.deliverables = vec!["check.sh: runs everything".to_owned()];
    assert!(found_under(&named, &edit).is_empty());
    named.deliverables.clear();
    named.allowed_scope.paths.push("check.sh".to_owned());
    assert!(found_under(&named, &edit).is_empty());
    // What was not there cannot be edited.
    assert!(
        found_under(&checked_by("python src/main.py"), &[change("src/main.py", None, Some("x\n"))])
            .is_empty()
    );
    assert_eq!(
        found_under(&checked_by("./check.sh"), &[change("check.sh", Some("a\n"), None)]),
        ["check-edited check.sh"]
    );
}

#[test]
fn scripts_that_a_checker_calls_are_followed() {
    let package = |test: &str, lint: &str, docs: &str| {
        format!(
            "{{\n\"scripts\": {{\n\"test\": \"{test}\",\n\"lint\": \"{lint}\",\n\"docs\": \"{docs}\"\n}}}}"
        )
    };
    let base = package("npm run lint && jest", "eslint .", "typedoc");
    let weigh = |checker: &str, new: &str| {
        found_under(&checked_by(checker), &[change("package.json", Some(&base), Some(new))])
    };
    let docs = package("npm run lint && jest", "eslint .", "true");
    assert!(weigh("npm test", &docs).is_empty());
    assert_eq!(weigh("npm run docs", &docs), ["check-edited package.json:5"]);
    let test = package("true", "eslint .", "typedoc");
    assert_eq!(weigh("npm test", &test), ["check-edited package.json:3"]);
    assert_eq!(weigh("yarn --silent test", &test), ["check-edited package.json:3"]);
    assert!(weigh("jest", &test).is_empty());
    let lint = package("npm run lint && jest", "true", "typedoc");
    assert_eq!(weigh("pnpm t", &lint), ["check-edited package.json:4"]);
    let hook = base.replace("\"docs\"", "\"pretest\": \"rm -r tests\",\n\"docs\"");
    assert_eq!(weigh("npm test", &hook), ["check-edited package.json:5"]);
}

/// Path, before, after, and the lines that select other tests.
type Row = (&'static str, &'static str, &'static str, &'static [u32]);

const SELECTIONS: &[Row] = &[
    ("pytest.ini", "[pytest]\naddopts = -ra\n", "[pytest]\naddopts = -ra --strict-markers\n", &[]),
    (
        "pytest.ini",
        "[pytest]\naddopts = -ra\n",
        "[pytest]\naddopts = -ra --deselect tests/a.py::b\n",
        &[2],
    ),
    ("pytest.ini", "[pytest]\n", "[pytest]\naddopts =\n    -q\n    -k \"not slow\"\n", &[4]),
    (
        "setup.cfg",
        "[tool:pytest]\ntestpaths = tests\n",
        "[tool:pytest]\ntestpaths = tests/unit\n",
        &[2],
    ),
    ("setup.cfg", "[metadata]\nname = a\n", "[metadata]\nname = b\n", &[]),
    (
        "tox.ini",
        "[testenv]\ncommands = pytest\n",
        "[testenv]\ncommands = pytest --ignore=tests/a.py\n",
        &[2],
    ),
    (
        "pyproject.toml",
        "[tool.pytest.ini_options]\naddopts = \"-ra\"\n",
        "[tool.pytest.ini_options]\naddopts = [\"-ra\", \"-m\", \"not slow\"]\ntestpaths = [\"x\"]\n",
        &[2, 3],
    ),
    ("tests/conftest.py", "import x\n", "import x\ncollect_ignore = ['test_a.py']\n", &[2]),
    (
        "tests/conftest.py",
        "import x\n",
        "import x\n\n@pytest.fixture\ndef db():\n    yield 1\n",
        &[],
    ),
    (
        "jest.config.js",
        "module.exports = { verbose: true };\n",
        "module.exports = {\n  verbose: true,\n  testPathIgnorePatterns: ['/slow/'],\n};\n",
        &[3],
    ),
    ("package.json", "{\"jest\": {}}", "{\"jest\": {\n\"testPathIgnorePatterns\": [\"a\"]}}", &[2]),
    (
        "vitest.config.ts",
        "export default defineConfig({ test: { exclude: ['a'] } });\n",
        "export default defineConfig({ test: { exclude: ['a', 'b'] } });\n",
        &[1],
    ),
    (
        "Cargo.toml",
        "[[test]]\nname = \"a\"\n",
        "[[test]]\nname = \"a\"\nharness = false\ntest = false\n",
        &[3, 4],
    ),
    (
        "Cargo.toml",
        "[package]\nname = \"a\"\n[lib]\ntest = true\n",
        "[package]\nname = \"a\"\nautotests = false\n[lib]\ntest = false\n",
        &[3, 5],
    ),
    (
        ".config/nextest.toml",
        "[profile.default]\n",
        "[profile.default]\ndefault-filter = 'not test(slow)'\n",
        &[2],
    ),
    (
        "pom.xml",
        "<project><properties></properties></project>",
        "<project><properties>\n<skipTests>true</skipTests></properties></project>",
        &[2],
    ),
    (
        "pom.xml",
        "<project/>",
        "<project><build><plugins><plugin><artifactId>maven-surefire-plugin</artifactId><configuration>\n<excludes>\n<exclude>**/A*</exclude></excludes></configuration></plugin></plugins></build></project>",
        &[3],
    ),
    (".mvn/maven.config", "-B\n", "-B\n-DskipTests\n", &[2]),
    (
        "build.gradle",
        "test {\n  useJUnitPlatform()\n}\n",
        "test {\n  useJUnitPlatform()\n  exclude '**/A*'\n}\n",
        &[3],
    ),
    (
        "build.gradle.kts",
        "tasks.withType<Test> {\n}\n",
        "tasks.withType<Test> {\n  enabled = false\n}\n",
        &[2],
    ),
    ("a_test.go", "package a\n", "//go:build integration\n\npackage a\n", &[1]),
    ("a.go", "package a\n", "//go:build linux\n\npackage a\n", &[]),
];

#[test]
fn the_selection_of_tests_is_not_the_workers_to_edit() {
    for (path, old, new, lines) in SELECTIONS {
        let expected: Vec<String> = lines.iter().map(|line| format!("{path}:{line}")).collect();
        let told = found(&[change(path, Some(old), Some(new))]);
        let actual: Vec<String> = told
            .iter()
            .filter_map(|f| f.strip_prefix("check-edited "))
            .map(str::to_owned)
            .collect();
        assert_eq!(actual, expected, "{path}: {new} {told:?}");
    }
}

#[test]
fn a_selection_that_stays_is_no_edit() {
    let old = "[pytest]\naddopts = -k fast\n";
    assert!(
        found(&[change("pytest.ini", Some(old), Some("# why\n[pytest]\naddopts = -k fast -ra\n"))])
            .is_empty()
    );
    assert!(found_under(&contract(), &[change("pytest.ini", Some(old), None)]).is_empty());
}
