//! Weakening of Python's tests.

use super::{Row, change, found, table};

const ROWS: &[Row] = &[
    (
        "test removed",
        "def test_a():\n    assert f() == 1\n\ndef test_b():\n    assert g() == 2\n",
        "def test_a():\n    assert f() == 1\n",
        &["test-removed:4"],
    ),
    (
        "test commented out",
        "def test_a():\n    assert f() == 1\n\ndef test_b():\n    assert g() == 2\n",
        "def test_a():\n    assert f() == 1\n\n# def test_b():\n#     assert g() == 2\n",
        &["test-removed:4"],
    ),
    (
        "renamed out of collection",
        "def test_a():\n    assert f() == 1\n",
        "def check_a():\n    assert f() == 1\n",
        &["test-removed:1"],
    ),
    (
        "mark.skip",
        "import pytest\n\ndef test_a():\n    assert f() == 1\n",
        "import pytest\n\n@pytest.mark.skip(reason='later')\ndef test_a():\n    assert f() == 1\n",
        &["test-skipped:3"],
    ),
    (
        "skipif",
        "def test_a():\n    assert f() == 1\n",
        "@pytest.mark.skipif(True, reason='x')\ndef test_a():\n    assert f() == 1\n",
        &["test-skipped:1"],
    ),
    (
        "xfail",
        "def test_a():\n    assert f() == 1\n",
        "@pytest.mark.xfail\ndef test_a():\n    assert f() == 1\n",
        &["test-skipped:1"],
    ),
    (
        "a class is skipped",
        "class TestA(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(), 1)\n",
        "@unittest.skip('x')\nclass TestA(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(f(), 1)\n",
        &["test-skipped:1"],
    ),
    (
        "pytestmark",
        "import pytest\ndef test_a():\n    assert f() == 1\n",
        "import pytest\npytestmark = pytest.mark.skip\ndef test_a():\n    assert f() == 1\n",
        &["test-skipped:2"],
    ),
    (
        "a skip inside",
        "def test_a():\n    assert f() == 1\n",
        "def test_a():\n    pytest.skip('x')\n    assert f() == 1\n",
        &["test-skipped:2"],
    ),
    (
        "skipTest inside",
        "class A(TestCase):\n    def test_a(self):\n        self.assertEqual(f(), 1)\n",
        "class A(TestCase):\n    def test_a(self):\n        self.skipTest('x')\n        self.assertEqual(f(), 1)\n",
        &["test-skipped:3"],
    ),
    (
        "an alias of a mark is no skip of the file",
        "def test_a():\n    assert f() == 1\n",
        "on_linux = pytest.mark.skipif(x, reason='y')\n\ndef test_a():\n    assert f() == 1\n\n@on_linux\ndef test_b():\n    assert g() == 2\n",
        &[],
    ),
    (
        "assertion dropped",
        "def test_a():\n    x = f()\n    assert x == 1\n    assert y == 2\n",
        "def test_a():\n    x = f()\n    assert x == 1\n",
        &["test-weakened:1"],
    ),
    (
        "dropped from a conjunction",
        "def test_a():\n    assert x == 1 and y == 2\n",
        "def test_a():\n    assert x == 1\n",
        &["test-weakened:1"],
    ),
    (
        "conjunction split",
        "def test_a():\n    assert x == 1 and y == 2\n",
        "def test_a():\n    assert x == 1\n    assert y == 2\n",
        &[],
    ),
    (
        "== to is not None",
        "def test_a():\n    assert f(1) == 2\n",
        "def test_a():\n    assert f(1) is not None\n",
        &["test-weakened:2"],
    ),
    (
        "== to >=",
        "def test_a():\n    assert f(1) == 2\n",
        "def test_a():\n    assert f(1) >= 2\n",
        &["test-weakened:2"],
    ),
    (
        "== to in",
        "def test_a():\n    assert f(1) == 2\n",
        "def test_a():\n    assert f(1) in (1, 2)\n",
        &["test-weakened:2"],
    ),
    (
        "== to truth",
        "def test_a():\n    assert f(1) == 2\n",
        "def test_a():\n    assert f(1)\n",
        &["test-weakened:2"],
    ),
    (
        "== to !=",
        "def test_a():\n    assert f(1) == 2\n",
        "def test_a():\n    assert f(1) != 3\n",
        &["test-weakened:2"],
    ),
    (
        "or True",
        "def test_a():\n    assert f(1) == 2\n",
        "def test_a():\n    assert f(1) == 2 or True\n",
        &["test-weakened:2"],
    ),
    (
        "assert True",
        "def test_a():\n    assert f(1)\n",
        "def test_a():\n    f(1)\n    assert True\n",
        &["test-weakened:3"],
    ),
    (
        "truth to ==",
        "def test_a():\n    assert f(1)\n",
        "def test_a():\n    assert f(1) == 2\n",
        &[],
    ),
    (
        "== True to truth",
        "def test_a():\n    assert f(1) == True\n",
        "def test_a():\n    assert f(1)\n",
        &[],
    ),
    (
        "assertEqual to assertTrue",
        "class A(T):\n    def test_a(self):\n        self.assertEqual(f(1), 2)\n",
        "class A(T):\n    def test_a(self):\n        self.assertTrue(f(1))\n",
        &["test-weakened:3"],
    ),
    (
        "assertEqual to assertIn",
        "class A(T):\n    def test_a(self):\n        self.assertEqual(f(1), 2)\n",
        "class A(T):\n    def test_a(self):\n        self.assertIn(f(1), [2, 3])\n",
        &["test-weakened:3"],
    ),
    (
        "assertEqual to assertIsNotNone",
        "class A(T):\n    def test_a(self):\n        self.assertEqual(f(1), 2)\n",
        "class A(T):\n    def test_a(self):\n        self.assertIsNotNone(f(1))\n",
        &["test-weakened:3"],
    ),
    (
        "unittest to pytest",
        "class A(T):\n    def test_a(self):\n        self.assertEqual(f(1), 2)\n        self.assertIn(1, g())\n",
        "def test_a():\n    assert f(1) == 2\n    assert 1 in g()\n",
        &[],
    ),
    (
        "places",
        "class A(T):\n    def test_a(self):\n        self.assertAlmostEqual(f(), 0.5, places=7)\n",
        "class A(T):\n    def test_a(self):\n        self.assertAlmostEqual(f(), 0.5, places=1)\n",
        &["test-weakened:3"],
    ),
    (
        "approx",
        "def test_a():\n    assert f() == pytest.approx(0.5, rel=1e-6)\n",
        "def test_a():\n    assert f() == pytest.approx(0.5, rel=0.5)\n",
        &["test-weakened:2"],
    ),
    (
        "approx at all",
        "def test_a():\n    assert f() == 0.5\n",
        "def test_a():\n    assert f() == pytest.approx(0.5)\n",
        &["test-weakened:2"],
    ),
    (
        "rtol",
        "def test_a():\n    np.testing.assert_allclose(f(), x, rtol=1e-7)\n",
        "def test_a():\n    np.testing.assert_allclose(f(), x, rtol=1e-1)\n",
        &["test-weakened:2"],
    ),
    (
        "a bound moved",
        "def test_a():\n    assert len(f()) > 5\n",
        "def test_a():\n    assert len(f()) > 0\n",
        &["test-weakened:2"],
    ),
    (
        "exception widened",
        "def test_a():\n    with pytest.raises(ValueError):\n        f()\n",
        "def test_a():\n    with pytest.raises(Exception):\n        f()\n",
        &["test-weakened:2"],
    ),
    (
        "message of the exception",
        "def test_a():\n    with pytest.raises(ValueError, match='no'):\n        f()\n",
        "def test_a():\n    with pytest.raises(ValueError):\n        f()\n",
        &["test-weakened:2"],
    ),
    (
        "assertRaises widened",
        "class A(T):\n    def test_a(self):\n        self.assertRaises(KeyError, f, 1)\n",
        "class A(T):\n    def test_a(self):\n        self.assertRaises(Exception, f, 1)\n",
        &["test-weakened:3"],
    ),
    (
        "behind a bare return",
        "def test_a():\n    x = f()\n    assert x == 1\n",
        "def test_a():\n    x = f()\n    return\n    assert x == 1\n",
        &["test-weakened:1"],
    ),
    (
        "a return in a nested function is not the test's",
        "def test_a():\n    def g():\n        return\n    assert f(g) == 1\n",
        "def test_a():\n    def g():\n        x()\n        return\n    assert f(g) == 1\n",
        &[],
    ),
    (
        "rows of parametrize dropped",
        "@pytest.mark.parametrize('x, y', [(1, 2), (2, 3), (3, 4)])\ndef test_a(x, y):\n    assert f(x) == y\n",
        "@pytest.mark.parametrize('x, y', [(1, 2)])\ndef test_a(x, y):\n    assert f(x) == y\n",
        &["test-weakened:2"],
    ),
    (
        "rows added",
        "@pytest.mark.parametrize('x, y', [(1, 2)])\ndef test_a(x, y):\n    assert f(x) == y\n",
        "@pytest.mark.parametrize('x, y', [(1, 2), (2, 3)])\ndef test_a(x, y):\n    assert f(x) == y\n",
        &[],
    ),
    (
        "a helper demands less",
        "def check(x):\n    assert x.a == 1\n    assert x.b == 2\n\ndef test_a():\n    check(f())\n",
        "def check(x):\n    assert x.a == 1\n\ndef test_a():\n    check(f())\n",
        &["test-weakened:1"],
    ),
    (
        "assertions go into a helper",
        "def test_a():\n    x = f()\n    assert x.a == 1\n    assert x.b == 2\n",
        "def check(x):\n    assert x.a == 1\n    assert x.b == 2\n\ndef test_a():\n    check(f())\n",
        &[],
    ),
    (
        "into a helper that nobody calls",
        "def test_a():\n    x = f()\n    assert x.a == 1\n    assert x.b == 2\n",
        "def check(x):\n    assert x.a == 1\n    assert x.b == 2\n\ndef test_a():\n    f()\n",
        &["test-weakened:5"],
    ),
    (
        "a mock's assertion",
        "def test_a():\n    f(m)\n    m.assert_called_once_with(1)\n",
        "def test_a():\n    f(m)\n    m.assert_called()\n",
        &["test-weakened:3"],
    ),
    (
        "__test__",
        "class TestA:\n    def test_a(self):\n        assert f() == 1\n",
        "class TestA:\n    __test__ = False\n    def test_a(self):\n        assert f() == 1\n",
        &["test-skipped:2"],
    ),
    (
        "continued lines and triple strings",
        "def test_a():\n    s = '''\n    assert nothing\n    '''\n    assert f() == \\\n        1\n    assert g() == 2\n",
        "def test_a():\n    assert f() == 1\n    assert g() == 2\n",
        &[],
    ),
];

#[test]
fn python_tests_that_expect_less_are_found_w12() {
    table("tests/test_a.py", ROWS);
}

#[test]
fn what_is_no_test_file_has_no_tests() {
    let old = "def test_connection():\n    assert ping() == 1\n";
    assert!(found(&[change("src/net.py", Some(old), Some("x = 1\n"))]).is_empty());
}

#[test]
fn a_removed_file_is_one_finding_that_names_its_tests() {
    let old = "def test_a():\n    assert f() == 1\n\ndef test_b():\n    assert g() == 2\n";
    assert_eq!(found(&[change("test_a.py", Some(old), None)]), ["test-removed test_a.py"]);
    // One of the two is somewhere else.
    let kept = "def test_b():\n    assert g() == 2\n";
    let changes = [change("test_a.py", Some(old), None), change("test_b.py", None, Some(kept))];
    let findings = super::findings(&super::contract(), super::Complexity::ExtraLarge, &changes);
    assert_eq!(super::short(&findings), ["test-removed test_a.py"]);
    assert!(
        findings[0].text.contains("1 tests that are nowhere else: `test_a`;"),
        "{}",
        findings[0]
    );
}

#[test]
fn a_test_that_left_its_class_and_its_file_is_the_same_test() {
    let old = "class TestA:\n    def test_a(self):\n        assert f(1) == 2\n";
    let moved = |new: &str| {
        found(&[change("test_a.py", Some(old), None), change("test_b.py", None, Some(new))])
    };
    assert!(moved("def test_a():\n    assert f(1) == 2\n").is_empty());
    assert_eq!(moved("def test_a():\n    assert f(1) >= 2\n"), ["test-weakened test_b.py:2"]);
}

#[test]
fn what_a_skipped_test_demands_replaces_nothing() {
    let old = "def test_a():\n    assert f(1) == 2\n";
    let skipped = "@pytest.mark.skip\ndef test_b():\n    assert f(1) == 2\n";
    assert_eq!(
        found(&[change("test_a.py", Some(old), Some(skipped))]),
        ["test-removed test_a.py:1"]
    );
}
