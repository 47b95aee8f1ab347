//! Weakening of Go's tests.

use super::{Row, table};

const ROWS: &[Row] = &[
    (
        "test removed",
        "package a\nfunc TestA(t *testing.T) {\n\tif f() != 1 {\n\t\tt.Fatal(\"f\")\n\t}\n}\n",
        "package a\n",
        &["test-removed:2"],
    ),
    (
        "renamed out of the run",
        "package a\nfunc TestA(t *testing.T) {\n\tif f() != 1 {\n\t\tt.Fatal(\"f\")\n\t}\n}\n",
        "package a\nfunc testA(t *testing.T) {\n\tif f() != 1 {\n\t\tt.Fatal(\"f\")\n\t}\n}\n",
        &["test-removed:2"],
    ),
    (
        "t.Skip",
        "package a\nfunc TestA(t *testing.T) {\n\trequire.Equal(t, 1, f())\n}\n",
        "package a\nfunc TestA(t *testing.T) {\n\tt.Skip(\"flaky\")\n\trequire.Equal(t, 1, f())\n}\n",
        &["test-skipped:3"],
    ),
    (
        "a build constraint",
        "package a\nfunc TestA(t *testing.T) {\n\trequire.Equal(t, 1, f())\n}\n",
        "//go:build ignore\n\npackage a\nfunc TestA(t *testing.T) {\n\trequire.Equal(t, 1, f())\n}\n",
        &["check-edited:1"],
    ),
    (
        "a failure dropped",
        "package a\nfunc TestA(t *testing.T) {\n\tif got := f(); got != 1 {\n\t\tt.Errorf(\"%d\", got)\n\t}\n\tg()\n}\n",
        "package a\nfunc TestA(t *testing.T) {\n\tf()\n\tg()\n}\n",
        &["test-weakened:2"],
    ),
    (
        "equality to nil",
        "package a\nfunc TestA(t *testing.T) {\n\tgot := f()\n\tif got != want {\n\t\tt.Errorf(\"%d\", got)\n\t}\n}\n",
        "package a\nfunc TestA(t *testing.T) {\n\tgot := f()\n\tif got == nil {\n\t\tt.Errorf(\"%d\", got)\n\t}\n}\n",
        &["test-weakened:4"],
    ),
    (
        "DeepEqual to len",
        "package a\nfunc TestA(t *testing.T) {\n\tif !reflect.DeepEqual(f(), want) {\n\t\tt.Error(1)\n\t}\n}\n",
        "package a\nfunc TestA(t *testing.T) {\n\tif len(f()) == 0 {\n\t\tt.Error(1)\n\t}\n}\n",
        &["test-weakened:3"],
    ),
    (
        "testify: Equal to NotNil",
        "package a\nfunc TestA(t *testing.T) {\n\tassert.Equal(t, f(), 1)\n}\n",
        "package a\nfunc TestA(t *testing.T) {\n\tassert.NotNil(t, f())\n}\n",
        &["test-weakened:3"],
    ),
    (
        "testify: InDelta",
        "package a\nfunc TestA(t *testing.T) {\n\tassert.InDelta(t, 0.5, f(), 0.001)\n}\n",
        "package a\nfunc TestA(t *testing.T) {\n\tassert.InDelta(t, 0.5, f(), 0.5)\n}\n",
        &["test-weakened:3"],
    ),
    (
        "by hand to testify",
        "package a\nfunc TestA(t *testing.T) {\n\tif got := f(); got != 1 {\n\t\tt.Errorf(\"%d\", got)\n\t}\n}\n",
        "package a\nfunc TestA(t *testing.T) {\n\trequire.Equal(t, 1, f())\n}\n",
        &[],
    ),
    (
        "a row of the table dropped",
        "package a\nfunc TestA(t *testing.T) {\n\tfor _, c := range []c{{1, 2}, {2, 3}} {\n\t\tif f(c.a) != c.b {\n\t\t\tt.Error(c)\n\t\t}\n\t}\n}\n",
        "package a\nfunc TestA(t *testing.T) {\n\tfor _, c := range []c{{1, 2}} {\n\t\tif f(c.a) != c.b {\n\t\t\tt.Error(c)\n\t\t}\n\t}\n}\n",
        &["test-weakened:2"],
    ),
    (
        "a subtest removed",
        "package a\nfunc TestA(t *testing.T) {\n\tt.Run(\"x\", func(t *testing.T) {\n\t\trequire.Equal(t, 1, f())\n\t})\n\tt.Run(\"y\", func(t *testing.T) {\n\t\trequire.Equal(t, 2, g())\n\t})\n}\n",
        "package a\nfunc TestA(t *testing.T) {\n\tt.Run(\"x\", func(t *testing.T) {\n\t\trequire.Equal(t, 1, f())\n\t})\n}\n",
        &["test-removed:6"],
    ),
    (
        "gomega",
        "package a\nvar _ = Describe(\"d\", func() {\n\tIt(\"a\", func() {\n\t\tExpect(f()).To(Equal(1))\n\t})\n})\n",
        "package a\nvar _ = Describe(\"d\", func() {\n\tIt(\"a\", func() {\n\t\tExpect(f()).NotTo(BeNil())\n\t})\n})\n",
        &["test-weakened:4"],
    ),
];

#[test]
fn go_tests_that_expect_less_are_found_w12() {
    table("a/a_test.go", ROWS);
}
