//! Tests of Go: `Test…`, `Fuzz…`, `Benchmark…` and `Example…` of the test files, their named subtests, methods of
//! testify's suites, and Ginkgo's calls.

use super::blocks::{Block, BlockKind, Blocks, body_behind, is, is_before, name_at};
use super::javascript;
use crate::scope_delta::tokens::{Kind, Token};

pub(super) fn blocks(tokens: &[Token<'_>]) -> Blocks {
    let mut found = Blocks::default();
    for at in 0..tokens.len() {
        let capital = tokens[at].text.first().is_some_and(u8::is_ascii_uppercase);
        let ginkgo = if capital { javascript::call(tokens, at) } else { None };
        found.all.extend(function(tokens, at).or_else(|| subtest(tokens, at)).or(ginkgo));
    }
    found
}

fn function(tokens: &[Token<'_>], at: usize) -> Option<Block> {
    if !tokens[at].is("func") {
        return None;
    }
    // A method has its receiver before its name.
    let named = if is(tokens, at + 1, "(") { tokens[at + 1].pair + 1 } else { at + 1 };
    let name = name_at(tokens, named).filter(|_| is(tokens, named + 1, "("))?;
    let body = body_behind(tokens, tokens[named + 1].pair + 1, &[";", "func"])?;
    let kind = if is_test(&name) { BlockKind::Test } else { BlockKind::Function };
    Some(Block::new(kind, name, tokens, at).bounded(tokens, body))
}

/// The go tool asks for a capital, or none at all, behind the prefix.
fn is_test(name: &str) -> bool {
    ["Test", "Benchmark", "Fuzz", "Example"].iter().any(|prefix| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| !rest.chars().next().is_some_and(char::is_lowercase))
    }) && name != "TestMain"
}

/// `t.Run("name", func(t *testing.T) {`: a table names its subtests with a variable and is one test.
fn subtest(tokens: &[Token<'_>], at: usize) -> Option<Block> {
    let runs = tokens[at].is("Run") && is_before(tokens, at, ".") && is(tokens, at + 1, "(");
    let named = tokens.get(at + 2).is_some_and(|token| token.kind == Kind::Text);
    let owner = at.checked_sub(2).map(|owner| tokens[owner].text);
    if !runs || !named || !matches!(owner, Some(b"t" | b"b" | b"s" | b"suite" | b"tt")) {
        return None;
    }
    let name = name_at(tokens, at + 2)?;
    let mut block = Block::new(BlockKind::Test, name, tokens, at).bounded(tokens, at + 1);
    let body = body_behind(tokens, at + 2, &[";"]).filter(|body| *body < block.to);
    block.body = body.unwrap_or(block.body);
    Some(block)
}

/// `t.Skip(`, `t.Skipf(`, `t.SkipNow(`.
pub(super) fn skips(tokens: &[Token<'_>], at: usize) -> bool {
    matches!(tokens[at].text, b"Skip" | b"Skipf" | b"SkipNow")
        && is_before(tokens, at, ".")
        && is(tokens, at + 1, "(")
}
