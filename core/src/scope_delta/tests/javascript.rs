//! Weakening of the tests of JavaScript and TypeScript.

use super::{Row, table};

const ROWS: &[Row] = &[
    (
        "test removed",
        "test('a', () => {\n  expect(f()).toBe(1);\n});\ntest('b', () => {\n  expect(g()).toBe(2);\n});\n",
        "test('a', () => {\n  expect(f()).toBe(1);\n});\n",
        &["test-removed:4"],
    ),
    (
        "it.skip",
        "it('a', () => {\n  expect(f()).toBe(1);\n});\n",
        "it.skip('a', () => {\n  expect(f()).toBe(1);\n});\n",
        &["test-skipped:1"],
    ),
    (
        "xit",
        "it('a', () => {\n  expect(f()).toBe(1);\n});\n",
        "xit('a', () => {\n  expect(f()).toBe(1);\n});\n",
        &["test-skipped:1"],
    ),
    (
        "test.todo",
        "test('a', () => {\n  expect(f()).toBe(1);\n});\n",
        "test.todo('a');\n",
        &["test-skipped:1"],
    ),
    (
        "xdescribe",
        "describe('d', () => {\n  it('a', () => { expect(f()).toBe(1); });\n});\n",
        "xdescribe('d', () => {\n  it('a', () => { expect(f()).toBe(1); });\n});\n",
        &["test-skipped:1"],
    ),
    (
        "only",
        "it('a', () => { expect(f()).toBe(1); });\nit('b', () => { expect(g()).toBe(1); });\n",
        "it('a', () => { expect(f()).toBe(1); });\nit.only('b', () => { expect(g()).toBe(1); });\n",
        &["test-skipped:2"],
    ),
    (
        "this.skip",
        "it('a', function () {\n  expect(f()).toBe(1);\n});\n",
        "it('a', function () {\n  this.skip();\n  expect(f()).toBe(1);\n});\n",
        &["test-skipped:2"],
    ),
    (
        "toBe to toBeTruthy",
        "it('a', () => {\n  expect(f()).toBe(1);\n});\n",
        "it('a', () => {\n  expect(f()).toBeTruthy();\n});\n",
        &["test-weakened:2"],
    ),
    (
        "toEqual to toBeDefined",
        "it('a', () => {\n  expect(f()).toEqual({ a: 1 });\n});\n",
        "it('a', () => {\n  expect(f()).toBeDefined();\n});\n",
        &["test-weakened:2"],
    ),
    (
        "toEqual to toContain",
        "it('a', () => {\n  expect(f()).toEqual([1]);\n});\n",
        "it('a', () => {\n  expect(f()).toContain(1);\n});\n",
        &["test-weakened:2"],
    ),
    (
        "toBe to not.toBe",
        "it('a', () => {\n  expect(f()).toBe(1);\n});\n",
        "it('a', () => {\n  expect(f()).not.toBe(2);\n});\n",
        &["test-weakened:2"],
    ),
    (
        "toBeTruthy to toBe",
        "it('a', () => {\n  expect(f()).toBeTruthy();\n});\n",
        "it('a', () => {\n  expect(f()).toBe(1);\n});\n",
        &[],
    ),
    (
        "toBe to toEqual",
        "it('a', () => {\n  expect(f()).toBe(1);\n});\n",
        "it('a', async () => {\n  expect(f()).toStrictEqual(1);\n});\n",
        &[],
    ),
    (
        "expect(true)",
        "it('a', () => {\n  expect(f()).toBe(1);\n});\n",
        "it('a', () => {\n  expect(true).toBe(true);\n});\n",
        &["test-weakened:2"],
    ),
    (
        "toThrow without its error",
        "it('a', () => {\n  expect(() => f()).toThrow(RangeError);\n});\n",
        "it('a', () => {\n  expect(() => f()).toThrow();\n});\n",
        &["test-weakened:2"],
    ),
    (
        "toThrow without its message",
        "it('a', () => {\n  expect(() => f()).toThrow('no');\n});\n",
        "it('a', () => {\n  expect(() => f()).toThrow(Error);\n});\n",
        &["test-weakened:2"],
    ),
    (
        "toBeCloseTo",
        "it('a', () => {\n  expect(f()).toBeCloseTo(0.5, 7);\n});\n",
        "it('a', () => {\n  expect(f()).toBeCloseTo(0.5, 1);\n});\n",
        &["test-weakened:2"],
    ),
    (
        "a bound moved",
        "it('a', () => {\n  expect(f()).toBeLessThan(5);\n});\n",
        "it('a', () => {\n  expect(f()).toBeLessThan(50);\n});\n",
        &["test-weakened:2"],
    ),
    (
        "assertion dropped",
        "it('a', () => {\n  expect(f()).toBe(1);\n  expect(g()).toBe(2);\n});\n",
        "it('a', () => {\n  expect(f()).toBe(1);\n});\n",
        &["test-weakened:1"],
    ),
    (
        "node's assert",
        "it('a', () => {\n  assert.strictEqual(f(), 1);\n});\n",
        "it('a', () => {\n  assert.ok(f());\n});\n",
        &["test-weakened:2"],
    ),
    (
        "chai",
        "it('a', () => {\n  expect(f()).to.deep.equal([1]);\n});\n",
        "it('a', () => {\n  expect(f()).to.be.ok;\n});\n",
        &["test-weakened:2"],
    ),
    (
        "should",
        "it('a', () => {\n  f().should.equal(1);\n});\n",
        "it('a', () => {\n  f();\n});\n",
        &["test-weakened:1"],
    ),
    (
        "quotes and commas",
        "it('a', () => {\n  expect(f('x')).toEqual({ a: 1 });\n});\n",
        "it(\"a\", () => {\n  expect(f(\"x\")).toEqual({\n    a: 1,\n  });\n});\n",
        &[],
    ),
    (
        "rows of each dropped",
        "it.each([[1, 2], [2, 3]])('a %i', (x, y) => {\n  expect(f(x)).toBe(y);\n});\n",
        "it.each([[1, 2]])('a %i', (x, y) => {\n  expect(f(x)).toBe(y);\n});\n",
        &["test-weakened:1"],
    ),
    (
        "patterns and templates hold no code",
        "it('a', () => {\n  const p = /['\"`]/;\n  const t = `${g('}')} it('x')`;\n  expect(f(p, t)).toBe(1);\n  expect(h()).toBe(2);\n});\n",
        "it('a', () => {\n  const p = /['\"`]/;\n  const t = `${g('}')} it('x')`;\n  expect(f(p, t)).toBe(1);\n});\n",
        &["test-weakened:1"],
    ),
    (
        "a test of another kind is no call of test",
        "it('a', () => {\n  expect(/a/.test('a')).toBe(true);\n});\n",
        "it('a', () => {\n  expect(/a/.test('a')).toBe(true);\n});\n// x\n",
        &[],
    ),
    (
        "a describe renamed",
        "describe('d', () => {\n  it('a', () => { expect(f()).toBe(1); });\n});\n",
        "describe('e', () => {\n  it('a', () => { expect(f()).toBe(1); });\n});\n",
        &[],
    ),
];

#[test]
fn javascript_tests_that_expect_less_are_found_w12() {
    table("src/a.test.ts", ROWS);
}
