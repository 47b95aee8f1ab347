//! Weakening of the tests of Java and Kotlin.

use super::{Row, table};

const ROWS: &[Row] = &[
    (
        "test removed",
        "class ATest {\n  @Test\n  void a() {\n    assertEquals(1, f());\n  }\n  @Test\n  void b() {\n    assertEquals(2, g());\n  }\n}\n",
        "class ATest {\n  @Test\n  void a() {\n    assertEquals(1, f());\n  }\n}\n",
        &["test-removed:7"],
    ),
    (
        "annotation removed",
        "class ATest {\n  @Test\n  void a() {\n    assertEquals(1, f());\n  }\n}\n",
        "class ATest {\n  void a() {\n    assertEquals(1, f());\n  }\n}\n",
        &["test-removed:3"],
    ),
    (
        "@Disabled",
        "class ATest {\n  @Test\n  void a() {\n    assertEquals(1, f());\n  }\n}\n",
        "class ATest {\n  @Test\n  @Disabled(\"later\")\n  void a() {\n    assertEquals(1, f());\n  }\n}\n",
        &["test-skipped:3"],
    ),
    (
        "@Ignore on the class",
        "public class ATest {\n  @Test public void a() {\n    assertEquals(1, f());\n  }\n}\n",
        "@Ignore\npublic class ATest {\n  @Test public void a() {\n    assertEquals(1, f());\n  }\n}\n",
        &["test-skipped:1"],
    ),
    (
        "an assumption",
        "class ATest {\n  @Test void a() {\n    assertEquals(1, f());\n  }\n}\n",
        "class ATest {\n  @Test void a() {\n    assumeTrue(false);\n    assertEquals(1, f());\n  }\n}\n",
        &["test-skipped:3"],
    ),
    (
        "assertEquals to assertNotNull",
        "class ATest {\n  @Test void a() {\n    assertEquals(f(), 1);\n  }\n}\n",
        "class ATest {\n  @Test void a() {\n    assertNotNull(f());\n  }\n}\n",
        &["test-weakened:3"],
    ),
    (
        "a delta",
        "class ATest {\n  @Test void a() {\n    assertEquals(0.5, f(), 0.001);\n  }\n}\n",
        "class ATest {\n  @Test void a() {\n    assertEquals(0.5, f(), 0.5);\n  }\n}\n",
        &["test-weakened:3"],
    ),
    (
        "AssertJ",
        "class ATest {\n  @Test void a() {\n    assertThat(f()).isNotNull().isEqualTo(1);\n  }\n}\n",
        "class ATest {\n  @Test void a() {\n    assertThat(f()).isNotNull();\n  }\n}\n",
        &["test-weakened:2"],
    ),
    (
        "Hamcrest",
        "class ATest {\n  @Test void a() {\n    assertThat(f(), is(1));\n  }\n}\n",
        "class ATest {\n  @Test void a() {\n    assertThat(f(), notNullValue());\n  }\n}\n",
        &["test-weakened:3"],
    ),
    (
        "exception widened",
        "class ATest {\n  @Test void a() {\n    assertThrows(IllegalStateException.class, () -> f());\n  }\n}\n",
        "class ATest {\n  @Test void a() {\n    assertThrows(Exception.class, () -> f());\n  }\n}\n",
        &["test-weakened:3"],
    ),
    (
        "expected widened",
        "class ATest {\n  @Test(expected = IllegalStateException.class)\n  public void a() { f(); }\n}\n",
        "class ATest {\n  @Test(expected = Exception.class)\n  public void a() { f(); }\n}\n",
        &["test-weakened:2"],
    ),
    (
        "values dropped",
        "class ATest {\n  @ParameterizedTest\n  @ValueSource(ints = {1, 2, 3})\n  void a(int x) { assertTrue(f(x)); }\n}\n",
        "class ATest {\n  @ParameterizedTest\n  @ValueSource(ints = {1})\n  void a(int x) { assertTrue(f(x)); }\n}\n",
        &["test-weakened:4"],
    ),
    (
        "assertAll",
        "class ATest {\n  @Test void a() {\n    assertAll(() -> assertEquals(1, f()), () -> assertEquals(2, g()));\n  }\n}\n",
        "class ATest {\n  @Test void a() {\n    assertAll(() -> assertEquals(1, f()));\n  }\n}\n",
        &["test-weakened:2"],
    ),
    (
        "JUnit 3",
        "class ATest extends TestCase {\n  public void testA() {\n    assertEquals(1, f());\n  }\n}\n",
        "class ATest extends TestCase {\n}\n",
        &["test-removed:2"],
    ),
    (
        "a helper moved and a test renamed",
        "class ATest {\n  private int h() { return 1; }\n  @Test void a() {\n    assertEquals(h(), f());\n  }\n}\n",
        "class ATest {\n  @Test void answersOne() {\n    assertEquals(h(), f());\n  }\n  private int h() { return 1; }\n}\n",
        &[],
    ),
];

const KOTLIN: &[Row] = &[
    (
        "test removed",
        "class ATest {\n  @Test\n  fun `a is one`() {\n    assertEquals(1, f())\n  }\n  @Test\n  fun b() = runTest {\n    assertEquals(2, g())\n  }\n}\n",
        "class ATest {\n  @Test\n  fun b() = runTest {\n    assertEquals(2, g())\n  }\n}\n",
        &["test-removed:3"],
    ),
    (
        "shouldBe",
        "class ATest {\n  @Test fun a() {\n    f() shouldBe 1\n    g() shouldBe 2\n  }\n}\n",
        "class ATest {\n  @Test fun a() {\n    f() shouldBe 1\n  }\n}\n",
        &["test-weakened:2"],
    ),
    (
        "an expression body weakened",
        "class ATest {\n  @Test fun a() = runTest {\n    assertEquals(f(), 1)\n  }\n}\n",
        "class ATest {\n  @Test fun a() = runTest {\n    assertTrue(f() > 0)\n  }\n}\n",
        &["test-weakened:3"],
    ),
];

#[test]
fn java_tests_that_expect_less_are_found_w12() {
    table("src/test/java/ATest.java", ROWS);
    table("src/test/kotlin/ATest.kt", KOTLIN);
}
