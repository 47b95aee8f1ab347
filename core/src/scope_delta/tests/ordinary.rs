//! Ordinary work that passes: new features with their tests, renames, reformatting, splits, tables.

use super::{change, found};

/// The change of one file passes.
fn passes(name: &str, path: &str, old: &str, new: &str) {
    let findings = super::findings(
        &super::contract(),
        super::Complexity::Medium,
        &[change(path, Some(old), Some(new))],
    );
    let texts: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(texts.is_empty(), "{name}: {texts:#?}");
}

#[test]
fn a_feature_with_its_tests_passes() {
    let source = "pub fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);\n    }\n}\n";
    let feature = source
        .replace("\n#[cfg(test)]", "\npub fn sub(a: i32, b: i32) -> i32 {\n    a - b\n}\n\n#[cfg(test)]")
        .replace("    }\n}\n", "    }\n\n    #[test]\n    fn subtracts() {\n        assert_eq!(sub(3, 2), 1);\n        assert!(sub(1, 2) < 0);\n    }\n}\n");
    assert!(feature.contains("subtracts"));
    passes("rust", "src/lib.rs", source, &feature);
    let changes = [
        change(
            "shop/cart.py",
            Some("def total(c):\n    return sum(c)\n"),
            Some("def total(c, tax=0):\n    return sum(c) * (1 + tax)\n"),
        ),
        change(
            "tests/test_cart.py",
            Some("from shop import total\n\ndef test_total():\n    assert total([1, 2]) == 3\n"),
            Some(
                "from shop import total\nimport pytest\n\ndef test_total():\n    assert total([1, 2]) == 3\n\n@pytest.mark.parametrize('tax, expected', [(0, 3), (1, 6)])\ndef test_tax(tax, expected):\n    assert total([1, 2], tax) == expected\n\ndef test_bad():\n    with pytest.raises(TypeError):\n        total(None)\n",
            ),
        ),
        change("README.md", Some("# Shop\n"), Some("# Shop\n\nTaxes.\n")),
        change(
            "package.json",
            Some("{\"name\": \"a\", \"version\": \"1.0.0\"}"),
            Some("{\"name\": \"a\", \"version\": \"1.1.0\"}"),
        ),
    ];
    assert!(found(&changes).is_empty(), "{:?}", found(&changes));
}

#[test]
fn a_renamed_variable_passes() {
    passes(
        "rust",
        "tests/a.rs",
        "#[test]\nfn a() {\n    let result = f(1);\n    assert_eq!(result.count, 2);\n    assert!(result.ok);\n    assert!((result.x - 1.0).abs() < 0.01);\n}\n",
        "#[test]\nfn a() {\n    let answer = f(1);\n    assert_eq!(answer.count, 2);\n    assert!(answer.ok);\n    assert!((answer.x - 1.0).abs() < 0.01);\n}\n",
    );
    passes(
        "python",
        "test_a.py",
        "def test_a(tmp_path):\n    r = run(tmp_path)\n    assert r.code == 0, r.out\n    assert 'done' in r.out\n",
        "def test_a(tmp_path):\n    result = run(tmp_path)\n    assert result.code == 0, result.out\n    assert 'done' in result.out\n",
    );
    passes(
        "javascript",
        "a.spec.js",
        "it('a', async () => {\n  const res = await get('/x');\n  expect(res.status).toBe(200);\n  expect(res.body).toEqual({ ok: true });\n});\n",
        "it('a', async () => {\n  const response = await get('/x');\n  expect(response.status).toBe(200);\n  expect(response.body).toEqual({ ok: true });\n});\n",
    );
    passes(
        "go",
        "a_test.go",
        "package a\nfunc TestA(t *testing.T) {\n\tout, err := f()\n\tif err != nil {\n\t\tt.Fatal(err)\n\t}\n\tif out != 3 {\n\t\tt.Errorf(\"got %d\", out)\n\t}\n}\n",
        "package a\nfunc TestA(t *testing.T) {\n\tgot, err := f()\n\tif err != nil {\n\t\tt.Fatalf(\"f: %v\", err)\n\t}\n\tif got != 3 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n",
    );
}

#[test]
fn reformatting_passes() {
    passes(
        "python",
        "test_a.py",
        "class TestA:\n  def test_a(self):\n    assert f(1,2)==3\n    self.check(f, {'a':1,'b':2})\n",
        "class TestA:\n    # The sum.\n    def test_a(self):\n        assert (\n            f(\n                1,\n                2,\n            )\n            == 3\n        )\n        self.check(f, {\"a\": 1, \"b\": 2})\n",
    );
    passes(
        "java",
        "ATest.java",
        "class ATest { @Test void a() { assertEquals(1, f(2)); assertThat(g()).isEqualTo(3); } }\n",
        "class ATest {\n    @Test\n    void a() {\n        assertEquals(1, f(2));\n        assertThat(g())\n            .isEqualTo(3);\n    }\n}\n",
    );
}

#[test]
fn a_split_test_with_all_its_assertions_passes() {
    passes(
        "python",
        "test_a.py",
        "def test_all():\n    x = make()\n    assert x.a == 1\n    assert x.b == 2\n    y = make(2)\n    assert y.a == 3\n",
        "def test_one():\n    x = make()\n    assert x.a == 1\n    assert x.b == 2\n\ndef test_two():\n    x = make(2)\n    assert x.a == 3\n",
    );
    passes(
        "rust, the name stays with one half",
        "tests/a.rs",
        "#[test]\nfn all() {\n    assert_eq!(f(1), 2);\n    assert_eq!(g(2), 3);\n    assert!(h());\n}\n",
        "#[test]\nfn all() {\n    assert_eq!(f(1), 2);\n}\n\n#[test]\nfn others() {\n    assert_eq!(g(2), 3);\n    assert!(h());\n}\n",
    );
    passes(
        "javascript, into groups and another file's style",
        "a.test.js",
        "test('all', () => {\n  expect(f(1)).toBe(2);\n  expect(g()).toEqual(['x']);\n});\n",
        "describe('all', () => {\n  it('f', () => {\n    expect(f(1)).toBe(2);\n  });\n  it('g', () => {\n    expect(g()).toEqual(['x']);\n  });\n});\n",
    );
}

#[test]
fn parametrising_passes() {
    passes(
        "pytest",
        "test_a.py",
        "def test_one():\n    assert parse('1') == 1\n\ndef test_two():\n    assert parse('2') == 2\n\ndef test_minus():\n    assert parse('-1') == -1\n",
        "import pytest\n\n@pytest.mark.parametrize('text, expected', [('1', 1), ('2', 2), ('-1', -1)])\ndef test_parse(text, expected):\n    assert parse(text) == expected\n",
    );
    passes(
        "rstest",
        "tests/a.rs",
        "#[test]\nfn one() { assert_eq!(parse(\"1\"), 1); }\n#[test]\nfn two() { assert_eq!(parse(\"2\"), 2); }\n",
        "#[rstest]\n#[case(\"1\", 1)]\n#[case(\"2\", 2)]\nfn parses(#[case] text: &str, #[case] expected: i32) {\n    assert_eq!(parse(text), expected);\n}\n",
    );
    passes(
        "a loop in the same test",
        "tests/a.rs",
        "#[test]\nfn parses() {\n    assert_eq!(parse(\"1\"), 1);\n    assert_eq!(parse(\"2\"), 2);\n}\n",
        "#[test]\nfn parses() {\n    for (text, expected) in [(\"1\", 1), (\"2\", 2)] {\n        assert_eq!(parse(text), expected, \"{text}\");\n    }\n}\n",
    );
    passes(
        "go",
        "a_test.go",
        "package a\nfunc TestOne(t *testing.T) {\n\tif parse(\"1\") != 1 {\n\t\tt.Error(\"x\")\n\t}\n}\nfunc TestTwo(t *testing.T) {\n\tif parse(\"2\") != 2 {\n\t\tt.Error(\"x\")\n\t}\n}\n",
        "package a\nfunc TestParse(t *testing.T) {\n\tfor _, c := range []struct {\n\t\ttext string\n\t\twant int\n\t}{{\"1\", 1}, {\"2\", 2}} {\n\t\tif got := parse(c.text); got != c.want {\n\t\t\tt.Errorf(\"%q\", c.text)\n\t\t}\n\t}\n}\n",
    );
}

#[test]
fn a_table_that_lost_a_value_on_the_way_is_found() {
    let old = "def test_one():\n    assert parse('1') == 1\n\ndef test_two():\n    assert parse('2') == 2\n";
    let new = "@pytest.mark.parametrize('text, expected', [('1', 1)])\ndef test_parse(text, expected):\n    assert parse(text) == expected\n";
    let changes = [change("test_a.py", Some(old), Some(new))];
    assert_eq!(found(&changes), ["test-removed test_a.py:4"]);
}

#[test]
fn a_renamed_test_without_assertions_passes() {
    passes(
        "rust",
        "tests/a.rs",
        "#[test]\nfn a() { f(1).unwrap(); }\n",
        "#[test]\nfn runs() { f(1).unwrap(); }\n",
    );
    let gone = [change(
        "tests/a.rs",
        Some("#[test]\nfn a() { f(1).unwrap(); }\n"),
        Some("#[test]\nfn b() { g(2).unwrap(); }\n"),
    )];
    assert_eq!(found(&gone), ["test-removed tests/a.rs:2"]);
}
