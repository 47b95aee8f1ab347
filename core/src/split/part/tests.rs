//! Tests of part: exact values, and the edges.

use super::*;

#[test]
fn a_path_is_inside_only_where_that_is_certain() {
    let kept = |pattern: &str, path: &str| {
        assert_eq!(inside(pattern, path).as_deref(), Some(path), "{pattern} {path}");
    };
    kept("src/", "src/");
    kept("src/", "src/a.rs");
    kept("src/", "src/parser/");
    kept("src", "src/");
    kept("src/", "src/**/x.rs");
    kept("src/*.rs", "src/*.rs");
    kept("crates/*/src", "crates/a/src/lib");
    kept("crates/**", "crates/a");
    kept("**", "src/*.rs");
    assert_eq!(inside("src/*.rs", "src/a.rs").as_deref(), Some("src/*.rs"));
    for (pattern, path) in [
        ("src/", "src"),
        ("src/", "docs/a.md"),
        ("src/", "src*"),
        ("src/", "**"),
        ("src/", "src/../docs"),
        ("src/", "/src/a.rs"),
        ("src/", ""),
        ("src/", "/"),
        ("src/a.rs", "src/"),
        ("src/*.rs", "src/parser/a.rs"),
        ("crates/*/src/", "crates/**/src/x"),
    ] {
        assert_eq!(inside(pattern, path), None, "{pattern} {path}");
    }
}
