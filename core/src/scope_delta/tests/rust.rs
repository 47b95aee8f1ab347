//! Weakening of Rust's tests.

use super::{Row, change, found, table};

const ROWS: &[Row] = &[
    (
        "nothing changed but layout and comments",
        "#[test]\nfn a() { assert_eq!(f(1), 2); }\n",
        "// why\n#[test]\nfn a() {\n    assert_eq!(\n        f(1),\n        2,\n    );\n}\n",
        &[],
    ),
    (
        "test removed",
        "#[test]\nfn a() { assert!(x()); }\n\n#[test]\nfn b() { assert_eq!(f(), 2); }\n",
        "#[test]\nfn a() { assert!(x()); }\n",
        &["test-removed:5"],
    ),
    (
        "test attribute removed",
        "#[test]\nfn a() { assert_eq!(f(), 2); }\n",
        "fn a() { assert_eq!(f(), 2); }\n",
        &["test-removed:2"],
    ),
    (
        "ignored",
        "#[test]\nfn a() { assert_eq!(f(), 2); }\n",
        "#[test]\n#[ignore = \"slow\"]\nfn a() { assert_eq!(f(), 2); }\n",
        &["test-skipped:2"],
    ),
    (
        "ignored under a condition",
        "#[test]\nfn a() { assert_eq!(f(), 2); }\n",
        "#[test]\n#[cfg_attr(not(windows), ignore)]\nfn a() { assert_eq!(f(), 2); }\n",
        &["test-skipped:2"],
    ),
    (
        "compiled under a feature",
        "#[cfg(test)]\nmod tests {\n#[test]\nfn a() { assert_eq!(f(), 2); }\n}\n",
        "#[cfg(all(test, feature = \"slow\"))]\nmod tests {\n#[test]\nfn a() { assert_eq!(f(), 2); }\n}\n",
        &["test-skipped:1"],
    ),
    (
        "the whole file under a condition",
        "#[test]\nfn a() { assert_eq!(f(), 2); }\n",
        "#![cfg(feature = \"slow\")]\n#[test]\nfn a() { assert_eq!(f(), 2); }\n",
        &["test-skipped:1"],
    ),
    (
        "no longer ignored",
        "#[test]\n#[ignore]\nfn a() { assert_eq!(f(), 2); }\n",
        "#[test]\nfn a() { assert_eq!(f(), 2); }\n",
        &[],
    ),
    (
        "assertion dropped",
        "#[test]\nfn a() {\n    assert_eq!(f(), 2);\n    assert_eq!(g(), 3);\n}\n",
        "#[test]\nfn a() {\n    assert_eq!(f(), 2);\n}\n",
        &["test-weakened:2"],
    ),
    (
        "assertion commented out",
        "#[test]\nfn a() {\n    assert_eq!(f(), 2);\n    assert_eq!(g(), 3);\n}\n",
        "#[test]\nfn a() {\n    assert_eq!(f(), 2);\n    // assert_eq!(g(), 3);\n}\n",
        &["test-weakened:2"],
    ),
    (
        "assertion in a string",
        "#[test]\nfn a() {\n    assert_eq!(g(), 3);\n}\n",
        "#[test]\nfn a() {\n    let _ = r#\"\n    assert_eq!(g(), 3);\n\"#;\n}\n",
        &["test-weakened:2"],
    ),
    (
        "behind a bare return",
        "#[test]\nfn a() {\n    assert_eq!(g(), 3);\n}\n",
        "#[test]\nfn a() {\n    return;\n    assert_eq!(g(), 3);\n}\n",
        &["test-weakened:2"],
    ),
    (
        "equality to success",
        "#[test]\nfn a() {\n    assert_eq!(f(), Ok(2));\n}\n",
        "#[test]\nfn a() {\n    assert!(f().is_ok());\n}\n",
        &["test-weakened:3"],
    ),
    (
        "equality to bound",
        "#[test]\nfn a() {\n    assert!(f() == 2);\n}\n",
        "#[test]\nfn a() {\n    assert!(f() >= 2);\n}\n",
        &["test-weakened:3"],
    ),
    (
        "always true",
        "#[test]\nfn a() {\n    assert!(f());\n}\n",
        "#[test]\nfn a() {\n    f();\n    assert!(true);\n}\n",
        &["test-weakened:4"],
    ),
    (
        "or true",
        "#[test]\nfn a() {\n    assert!(f() == 3);\n}\n",
        "#[test]\nfn a() {\n    assert!(f() == 3 || true);\n}\n",
        &["test-weakened:3"],
    ),
    (
        "compared with itself",
        "#[test]\nfn a() {\n    assert_eq!(f(), 3);\n}\n",
        "#[test]\nfn a() {\n    assert_eq!(f(), f());\n}\n",
        &["test-weakened:3"],
    ),
    (
        "tolerance",
        "#[test]\nfn a() {\n    assert!((f() - 0.5).abs() < 1e-9);\n}\n",
        "#[test]\nfn a() {\n    assert!((f() - 0.5).abs() < 0.1);\n}\n",
        &["test-weakened:3"],
    ),
    (
        "tolerance tightened",
        "#[test]\nfn a() {\n    assert!((f() - 0.5).abs() < 0.1);\n}\n",
        "#[test]\nfn a() {\n    assert!((f() - 0.5).abs() < 1e-9);\n}\n",
        &[],
    ),
    (
        "message of the panic",
        "#[test]\n#[should_panic(expected = \"overflow\")]\nfn a() { f(); }\n",
        "#[test]\n#[should_panic]\nfn a() { f(); }\n",
        &["test-weakened:2"],
    ),
    (
        "strengthened",
        "#[test]\nfn a() {\n    assert!(f().is_ok());\n}\n",
        "#[test]\nfn a() {\n    assert_eq!(f(), Ok(2));\n    assert_eq!(g(), 1);\n}\n",
        &[],
    ),
    (
        "another expectation",
        "#[test]\nfn a() {\n    assert_eq!(f(), 2);\n}\n",
        "#[test]\nfn a() {\n    assert_eq!(f(), 3);\n}\n",
        &[],
    ),
    (
        "a message added",
        "#[test]\nfn a() {\n    assert!(f() == 2);\n}\n",
        "#[test]\nfn a() {\n    assert_eq!(f(), 2, \"{} is wrong\", f());\n}\n",
        &[],
    ),
    (
        "cases of rstest dropped",
        "#[rstest]\n#[case(1, 2)]\n#[case(2, 3)]\nfn a(#[case] x: i32, #[case] y: i32) { assert_eq!(f(x), y); }\n",
        "#[rstest]\n#[case(1, 2)]\nfn a(#[case] x: i32, #[case] y: i32) { assert_eq!(f(x), y); }\n",
        &["test-weakened:3"],
    ),
    (
        "lifetimes and characters are no strings",
        "#[test]\nfn a() { let c = '\"'; let d: &'static str = \"x\"; assert_eq!(c, d); assert_eq!(d, 3); }\n",
        "#[test]\nfn a() { let c = '\"'; let d: &'static str = \"x\"; assert_eq!(c, d); }\n",
        &["test-weakened:2"],
    ),
];

#[test]
fn rust_tests_that_expect_less_are_found_w12() {
    table("tests/a.rs", ROWS);
}

#[test]
fn tests_beside_their_source_are_tests() {
    let source = "pub fn f(x: u8) -> u8 {\n    assert!(x < 9);\n    x\n}\n";
    let tests = "\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn a() {\n        assert_eq!(f(1), 1);\n    }\n}\n";
    let both = format!("{source}{tests}");
    let weaker = both.replace("assert_eq!(f(1), 1)", "assert!(f(1) > 0)");
    assert_eq!(
        found(&[change("src/f.rs", Some(&both), Some(&weaker))]),
        ["test-weakened src/f.rs:10"]
    );
    let production = both.replace("    assert!(x < 9);\n", "");
    assert!(found(&[change("src/f.rs", Some(&both), Some(&production))]).is_empty());
    let without = found(&[change("src/f.rs", Some(&both), Some(source))]);
    assert_eq!(without, ["test-removed src/f.rs:9"]);
}

#[test]
fn a_moved_test_is_moved_and_is_weighed_where_it_is_now() {
    let test = "#[test]\nfn a() {\n    assert_eq!(f(), 2);\n    assert_eq!(g(), 3);\n}\n";
    let moved = |new: &str| {
        found(&[change("tests/old.rs", Some(test), None), change("tests/new.rs", None, Some(new))])
    };
    assert!(moved(test).is_empty());
    let weaker = test.replace("assert_eq!(g(), 3)", "assert!(g() > 0)");
    assert_eq!(moved(&weaker), ["test-weakened tests/new.rs:4"]);
    let skipped = test.replace("#[test]", "#[test]\n#[ignore]");
    assert_eq!(moved(&skipped), ["test-skipped tests/new.rs:2"]);
    let elsewhere =
        [change("tests/old.rs", Some(test), None), change("src/new.md", None, Some(test))];
    assert_eq!(found(&elsewhere), ["test-removed tests/old.rs"]);
}
