//! Tests of Python: functions whose names begin with `test`, of pytest and unittest.

use super::blocks::{Block, BlockKind, Blocks, elements, is, name_at};
use crate::scope_delta::tokens::{Kind, Span, Token};

/// Parts of a decorator's name that keep a test from counting.
const SKIPS: [&str; 7] =
    ["skip", "skipif", "skipIf", "skipUnless", "xfail", "expectedFailure", "SkipTest"];

pub(super) fn blocks(tokens: &[Token<'_>]) -> Blocks {
    let mut found = Blocks::default();
    // Open blocks by their indentation.
    let mut open: Vec<(u32, usize)> = Vec::new();
    let mut head: Vec<Span<'_, '_>> = Vec::new();
    let starts: Vec<usize> =
        Span::new(tokens, 0, tokens.len()).top().filter(|at| tokens[*at].first).collect();
    for (index, &at) in starts.iter().enumerate() {
        let end = starts.get(index + 1).copied().unwrap_or(tokens.len());
        if tokens[at].closes() {
            continue;
        }
        while let Some((_, block)) = open.pop_if(|(column, _)| *column >= tokens[at].column) {
            let from = head.first().map_or(at, |head| head.from - 1);
            found.all[block].to = from.max(found.all[block].body);
        }
        if tokens[at].is("@") {
            head.push(Span::new(tokens, at + 1, end));
            continue;
        }
        let word = at + usize::from(tokens[at].is("async"));
        let kind = if is(tokens, word, "def") {
            BlockKind::Function
        } else if is(tokens, word, "class") {
            BlockKind::Container
        } else {
            marker(tokens, at, end, &open, &mut found);
            head.clear();
            continue;
        };
        let Some(name) = name_at(tokens, word + 1) else { continue };
        let is_test = kind == BlockKind::Function && name.starts_with("test");
        let kind = if is_test { BlockKind::Test } else { kind };
        let mut block = Block::new(kind, name, tokens, at);
        block.from = head.first().map_or(at, |head| head.from - 1);
        block.body = end.min(tokens.len().saturating_sub(1)).max(at);
        for decorator in head.drain(..) {
            let skips = decorator.tokens().iter().find(|token| is_skip(token));
            block.skip = block.skip.or(skips.map(|token| token.line));
            block.cases += cases(decorator);
        }
        open.push((tokens[at].column, found.all.len()));
        found.all.push(block);
    }
    found
}

/// A name of which a part is one of the words: `skip`, `mark.skip`, `skip_on_windows`.
fn is_skip(token: &Token<'_>) -> bool {
    token.is_word() && token.string().split('_').any(|part| SKIPS.contains(&part))
}

/// `pytestmark = …skip…` and `__test__ = False` speak for the class or the file they stand in.
fn marker(tokens: &[Token<'_>], at: usize, end: usize, open: &[(u32, usize)], found: &mut Blocks) {
    let statement = Span::new(tokens, at, end);
    let skips = (tokens[at].is("pytestmark") && statement.tokens().iter().any(is_skip))
        || (statement.has_word(&["__test__"]) && statement.has_word(&["False"]));
    if skips {
        let line = Some(tokens[at].line);
        let block = open.last().map(|(_, block)| *block);
        match block.map(|block| &mut found.all[block].skip) {
            Some(skip) => *skip = skip.or(line),
            None => found.skip = found.skip.or(line),
        }
    }
}

/// Rows of `parametrize("names", [rows])`.
fn cases(decorator: Span<'_, '_>) -> usize {
    let tokens = decorator.all;
    let word = |at: &usize| tokens[*at].is("parametrize") || tokens[*at].is("expand");
    let Some(at) = (decorator.from..decorator.to).find(word) else { return 0 };
    let arguments = Span::inside(tokens, at + 1).split(&[","]);
    let list = |part: &&Span<'_, '_>| part.tokens().first().is_some_and(Token::opens);
    let skip = usize::from(tokens[at].is("parametrize"));
    let rows = arguments.iter().skip(skip).find(list);
    rows.map_or(0, |rows| elements(tokens, rows.from))
}

/// A call inside a test that keeps the rest of it from running: `pytest.skip(`, `self.skipTest(`, `raise SkipTest`.
pub(super) fn skips(tokens: &[Token<'_>], at: usize) -> bool {
    let token = &tokens[at];
    if token.kind != Kind::Word || at == 0 {
        return false;
    }
    let calls = is(tokens, at + 1, "(");
    let after_dot = is(tokens, at - 1, ".");
    match token.text {
        b"skip" | b"xfail" | b"importorskip" => {
            calls && after_dot && at > 1 && tokens[at - 2].is("pytest")
        }
        b"skipTest" => calls && after_dot,
        b"SkipTest" => is(tokens, at - 1, "raise") || (at > 2 && is(tokens, at - 3, "raise")),
        _ => false,
    }
}
