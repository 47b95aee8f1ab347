//! Input that means harm: any bytes, any size, any depth. Nothing panics, and work grows with the input only.

use super::{Content, FILE, FileChange, change, contract, found};
use crate::scope_delta::{WEIGHED_BYTES_MAX, findings};
use cantus_proto::plan::Complexity;

/// A file of every kind that is read.
const PATHS: [&str; 20] = [
    "tests/a.rs",
    "src/a.rs",
    "test_a.py",
    "conftest.py",
    "a.test.ts",
    "a_test.go",
    "ATest.java",
    "ATest.kt",
    "Cargo.toml",
    "pyproject.toml",
    "requirements.txt",
    "setup.py",
    "setup.cfg",
    "package.json",
    "go.mod",
    "pom.xml",
    "build.gradle",
    "gradle/libs.versions.toml",
    "jest.config.js",
    "tox.ini",
];

fn both(path: &str, old: &[u8], new: &[u8]) -> FileChange {
    let [old, new] = [old, new].map(|bytes| Content::Bytes(bytes.to_vec()));
    FileChange { path: path.into(), mode_old: FILE, mode_new: FILE, old, new }
}

/// Both ways, under every name.
fn weigh_everywhere(bytes: &[u8]) {
    for path in PATHS {
        let _ = found(&[both(path, bytes, b"x")]);
        let _ = found(&[both(path, b"x", bytes)]);
    }
}

#[test]
fn any_bytes_are_read() {
    let samples: [&[u8]; 16] = [
        b"",
        b"\xff\xfe",
        b"\0\0\0",
        b"\xef\xbb\xbf",
        b"\"",
        b"'",
        b"`",
        b"/*",
        b"'''",
        b"r#\"",
        b"#[",
        b"@",
        b"`${`${",
        b"'\\",
        b"\\",
        b"caf\xe9 = \"\xe9\n",
    ];
    for sample in samples {
        weigh_everywhere(sample);
        for prefix in [
            "#[test]\nfn a() { assert_eq!(",
            "def test_a():\n  assert ",
            "it('a', () => { expect(",
            "func TestA(t *testing.T) { if ",
            "class A { @Test(expected = ",
            "it.each",
        ] {
            weigh_everywhere(&[prefix.as_bytes(), sample].concat());
            weigh_everywhere(&[sample, prefix.as_bytes(), sample, b")"].concat());
        }
    }
}

#[test]
fn every_prefix_of_a_test_is_read() {
    let texts = [
        "#[cfg(test)] mod t { #[test] #[should_panic(expected = \"x\")] fn a() { assert_eq!(r#\"x\"#, 'y', \"{}\", 1.5e-3); return; } }",
        "@pytest.mark.parametrize('a', [(1, 2)])\nasync def test_a(x):\n    assert x == \\\n  f'y' and not z, 'm'\n    with pytest.raises(E, match='x'):\n        pass\n",
        "describe.each`a\n${1}`('x', () => { it.skipIf(x)('y', () => { expect(a).not.toBe(/[/]\"/); }); });",
        "func (s *S) TestA(t *testing.T) { t.Run(\"x\", func(t *testing.T) { if a, err := f(); err != nil || a != 1 { t.Fatalf(`x`) } }) }",
        "@Disabled class A { @Test(expected = A.class) void a() { assertThat(f(\"\"\"x\"\"\"), is(1)); assertThat(x).isEqualTo(1).as(\"y\"); } }",
        "<project><dependencies><dependency><groupId>a</groupId></dependency></dependencies></project>",
        "{\"scripts\": {\"test\": \"x\"}, \"dependencies\": {\"a\": \"1\"}}",
        "[[test]]\nname = \"a\"\n[target.'x'.dependencies]\na = { version = \"1\" }\n",
    ];
    for text in texts {
        for end in 0..text.len() {
            weigh_everywhere(&text.as_bytes()[..end]);
        }
    }
}

/// Bytes of each sample: at this size, work that grows with the square takes seconds and not milliseconds.
const SAMPLE_BYTES: usize = 24 * 1024;

/// Many of the same, one after and one in another.
#[test]
fn work_grows_with_the_input_only() {
    let fill = |unit: &str| unit.repeat(SAMPLE_BYTES / unit.len());
    let units = [
        "(",
        "[",
        "{",
        "assert(",
        "expect(",
        "assert_eq!(1, 2);\n",
        "describe('a', () => {",
        "it('a', ",
        "fn a() {",
        "#[test] fn a() ",
        "#[",
        "@A(",
        "@Test ",
        "def test_a():\n",
        "=/[",
        "`${",
        "/*",
        "'",
        "\"",
        "r#",
        "if a ",
        "if x { ",
        "t.Errorf(",
        "class A {",
        "func ",
        ".a",
        "a.b(",
        "assert a and ",
        "assert a or ",
        "assert not ",
        "\\\n",
        "a == ",
        "[pytest]\n",
        "a = [",
        "<a>",
        "{\"a\":",
        "a,",
        "\u{e9}",
        "function a",
        "const a = ",
        "assert_that(x)",
        "x shouldBe ",
        "expect(a).to.be.",
        "mod a { ",
        "//",
        "#",
        "\n",
        "\n ",
        "test {",
        "dependencies {",
    ];
    for unit in units {
        let text = fill(unit);
        for path in ["tests/a.rs", "test_a.py", "a.test.ts", "a_test.go", "ATest.java"] {
            let _ = found(&[both(path, text.as_bytes(), b"x"), both("tests/b.rs", b"x", b"y")]);
        }
        for path in [
            "Cargo.toml",
            "package.json",
            "pom.xml",
            "build.gradle",
            "setup.py",
            "jest.config.js",
            "tox.ini",
        ] {
            let _ = found(&[both(path, b"x", text.as_bytes())]);
        }
    }
}

#[test]
fn a_hundred_thousand_assertions_are_weighed() {
    let mut old = String::from("#[test]\nfn a() {\n");
    for _ in 0..50_000 {
        old.push_str("assert!(x == 1);\n");
    }
    let mut new = old.replace("x == 1", "x >= 1");
    old.push('}');
    new.push('}');
    assert!(old.len() < WEIGHED_BYTES_MAX);
    let findings = findings(
        &contract(),
        Complexity::ExtraLarge,
        &[change("tests/a.rs", Some(&old), Some(&new))],
    );
    assert_eq!(findings.len(), 50_000);
    assert!(findings.iter().all(|finding| finding.text.len() < 1_000));
}

#[test]
fn many_tests_are_matched() {
    let tests = |n: std::ops::Range<usize>| -> String {
        n.map(|n| format!("def test_{n}():\n    assert f({n}) == {n}\n")).collect()
    };
    let (old, new) = (tests(0..20_000), tests(1..20_001));
    assert_eq!(found(&[change("test_a.py", Some(&old), Some(&new))]), ["test-removed test_a.py:1"]);
    let halves = [
        change("test_a.py", Some(&old), Some(&tests(0..10_000))),
        change("test_b.py", None, Some(&tests(10_000..20_000))),
    ];
    assert!(found(&halves).is_empty());
}

#[test]
fn a_test_that_is_too_large_to_be_weighed_is_told() {
    let large = "x".repeat(5 * 1024 * 1024);
    let old = "#[test]\nfn a() { assert_eq!(f(), 1); }\n";
    assert_eq!(
        found(&[change("a.test.js", Some(&large), Some(&format!("{large}y")))]),
        ["test-weakened a.test.js"]
    );
    assert_eq!(found(&[change("a.test.js", Some(old), Some(&large))]), ["test-weakened a.test.js"]);
    assert_eq!(found(&[change("src/a.rs", Some(old), Some(&large))]), ["test-weakened src/a.rs"]);
    assert!(found(&[change("src/a.min.js", Some(&large), Some(&format!("{large}y")))]).is_empty());
    assert!(found(&[change("a.test.js", None, Some(&large))]).is_empty());
    assert_eq!(
        found(&[change("package.json", Some("{}"), Some(&large))]),
        ["dependency-added package.json"]
    );
    let unread = |old, new| FileChange {
        path: b"test_a.py".to_vec(),
        mode_old: FILE,
        mode_new: FILE,
        old,
        new,
    };
    let small = || Content::Bytes(b"x".to_vec());
    let size = || Content::TooLarge(1 << 30);
    assert_eq!(found(&[unread(small(), size())]), ["test-weakened test_a.py"]);
    assert_eq!(found(&[unread(size(), small())]), ["test-weakened test_a.py"]);
    let gone = FileChange { mode_new: 0, ..unread(size(), Content::Absent) };
    assert_eq!(found(&[gone]), ["test-removed test_a.py"]);
    // Only the mode.
    let same =
        FileChange { mode_new: 0o100_755, ..change("a.test.js", Some(&large), Some(&large)) };
    assert!(found(&[same]).is_empty());
}
