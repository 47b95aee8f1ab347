//! Which patterns cover which paths.

use super::*;

#[track_caller]
fn assert_covers(pattern: &str, covered: &[&str], outside: &[&str]) {
    for path in covered {
        assert!(pattern_covers(pattern, path.as_bytes()), "{pattern} must cover {path:?}");
    }
    for path in outside {
        assert!(!pattern_covers(pattern, path.as_bytes()), "{pattern} must not cover {path:?}");
    }
}

#[test]
fn a_name_covers_itself_and_all_below() {
    assert_covers(
        "src/a",
        &["src/a", "src/a/b", "src/a/b/c"],
        &["src", "src/ab", "src/A", "x/src/a", "src/a/"],
    );
    assert_covers("Makefile", &["Makefile"], &["makefile", "Makefile.am", "x/Makefile"]);
}

#[test]
fn a_slash_at_the_end_covers_only_what_is_below() {
    assert_covers(
        "tests/auth/",
        &["tests/auth/x", "tests/auth/x/y"],
        &["tests/auth", "tests/auth2/x", "tests"],
    );
    assert_covers("a/*/", &["a/b/c", "a/b/c/d"], &["a/b", "a", "b/a/c"]);
}

#[test]
fn wildcards_stay_inside_a_component() {
    assert_covers("*", &["a", ".hidden"], &["a/b", ""]);
    assert_covers(
        "src/*.rs",
        &["src/a.rs", "src/.rs"],
        &["src/a.rs/x", "src/x/a.rs", "src/a.rsx", "src"],
    );
    assert_covers(
        "src/?.rs",
        &["src/a.rs", "src/é.rs", "src/🎼.rs"],
        &["src/.rs", "src/ab.rs", "src//.rs"],
    );
    assert_covers("a*b*c", &["abc", "axxbyyc", "abbc", "abcbc"], &["ab", "abcd", "a/b/c"]);
    assert_covers("src/*/gen", &["src/x/gen", "src/x/gen/a"], &["src/gen", "src/x/y/gen"]);
    assert_covers("[id].ts", &["[id].ts"], &["i.ts"]);
}

#[test]
fn two_stars_are_any_number_of_components() {
    assert_covers("**", &["a", "a/b", "a/b/c"], &[""]);
    assert_covers("src/**", &["src/a", "src/a/b"], &["src", "source/a"]);
    assert_covers("**/x.rs", &["x.rs", "a/x.rs", "a/b/x.rs", "x.rs/x.rs"], &["ax.rs", "x.rs2"]);
    assert_covers(
        "a/**/b",
        &["a/b", "a/x/b", "a/x/y/b", "a/b/b", "a/b/c", "a/b/x/b"],
        &["a", "b", "a/x"],
    );
    assert_covers("**/t/**/*.py", &["t/a.py", "x/t/y/a.py"], &["t", "a.py", "t/a.pyc"]);
}

#[test]
fn what_leaves_the_tree_is_never_covered() {
    let outside = [
        "",
        "/a",
        "a//b",
        "../a",
        "a/../b",
        "./a",
        "a/.",
        ".git",
        ".git/config",
        "sub/.GIT/hooks/x",
        "a\0b",
    ];
    for pattern in ["**", "*", "..", "../a", ".git", "/a", "a/../b", "a//b", "", "/", "./a", "a/."]
    {
        assert_covers(pattern, &[], &outside);
    }
    for pattern in ["", "/", "/a", "./a", "a//b", "..", ".git"] {
        assert_covers(pattern, &[], &["a", "a/b", "b"]);
    }
}

#[test]
fn names_are_raw_bytes() {
    let scope = AllowedScope { paths: vec!["d/*".into(), "e/?".into()], tools: Vec::new() };
    assert!(scope.covers(b"d/\xff\xfe"));
    assert!(scope.covers(b"e/\xff") && scope.covers(b"e/\xc3"));
    assert!(!scope.covers(b"e/\xff\xfe"));
    assert!(
        !AllowedScope { paths: vec!["é".into()], tools: Vec::new() }.covers("e\u{301}".as_bytes())
    );
}

#[test]
fn hostile_patterns_end_soon() {
    let pattern = "**/*a".repeat(50) + "/" + &"*a".repeat(50);
    let path = "a/".repeat(200) + &"a".repeat(200) + "b";
    assert!(!pattern_covers(&pattern, path.as_bytes()));
}
