//! Which words are paths, and where the plan is.

use super::*;

#[test]
fn only_a_first_word_that_is_a_path_counts() {
    let scope = AllowedScope { paths: vec!["Makefile".into()], tools: Vec::new() };
    let cases = [
        ("src/a.rs smallest change", Some("src/a.rs")),
        ("`src/a.rs`: smallest change", Some("src/a.rs")),
        ("README.md", Some("README.md")),
        ("README.md.", Some("README.md")),
        (".gitignore with one line more", Some(".gitignore")),
        ("Makefile with a target", Some("Makefile")),
        ("tests/auth/", Some("tests/auth/")),
        ("src/*.rs", Some("src/*.rs")),
        ("a regression test in tests/x.py", None),
        ("e.g. a report", None),
        ("1.2 released", None),
        ("https://example.org/x is linked", None),
        ("and/or", None),
        ("Dockerfile", None),
    ];
    for (text, path) in cases {
        assert_eq!(leading_path(text, &scope), path, "{text}");
    }
}

#[test]
fn the_plan_is_found_where_the_names_tell_it() {
    let cases = [
        ("plan.yaml", None, Some("plan.yaml")),
        ("./plans/p.yaml", Some("."), Some("plans/p.yaml")),
        ("repo/plan.yaml", Some("./repo/"), Some("plan.yaml")),
        ("/r/plan.yaml", Some("/r"), Some("plan.yaml")),
        ("/r2/plan.yaml", Some("/r"), None),
        ("plan.yaml", Some("https://example.org/r"), None),
        ("../plan.yaml", None, None),
        ("/tmp/plan.yaml", None, None),
        ("-", None, None),
        ("<stdin>", None, None),
    ];
    for (file, repository, path) in cases {
        assert_eq!(
            plan_in_repository(file, repository).as_deref(),
            path,
            "{file} in {repository:?}"
        );
    }
}
