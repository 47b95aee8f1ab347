//! Tests of JavaScript and TypeScript: calls of `it`, `test` and `describe`, as Jest, Vitest, Mocha, Jasmine,
//! Playwright, Cypress, `node:test` and Deno have them.

use super::blocks::{Block, BlockKind, Blocks, body_behind, elements, is, is_before, name_at};
use crate::scope_delta::tokens::{Kind, Span, Token};

pub(super) fn blocks(tokens: &[Token<'_>]) -> Blocks {
    let mut found = Blocks::default();
    for at in 0..tokens.len() {
        if let Some(block) = call(tokens, at).or_else(|| function(tokens, at)) {
            found.all.push(block);
        }
    }
    found
}

/// What this word begins: its kind, and whether the word alone skips it or runs nothing else.
fn word(text: &[u8]) -> Option<(BlockKind, bool, bool)> {
    use BlockKind::{Container, Test};
    Some(match text {
        b"describe" | b"context" | b"suite" | b"Describe" | b"Context" | b"When" => {
            (Container, false, false)
        }
        b"it" | b"test" | b"specify" | b"It" | b"Specify" | b"Entry" => (Test, false, false),
        b"xdescribe" | b"xcontext" | b"XDescribe" | b"PDescribe" | b"XContext" | b"PContext" => {
            (Container, true, false)
        }
        b"xit" | b"xtest" | b"xspecify" | b"XIt" | b"PIt" | b"PSpecify" => (Test, true, false),
        b"fdescribe" | b"fcontext" | b"FDescribe" | b"FContext" => (Container, false, true),
        b"fit" | b"FIt" => (Test, false, true),
        _ => return None,
    })
}

/// `it('name', …)` with its modifiers, as `it.skip.each(rows)('name', …)`. Ginkgo's calls of Go are alike.
pub(super) fn call(tokens: &[Token<'_>], at: usize) -> Option<Block> {
    let (mut kind, skips, only) = word(tokens[at].text).filter(|_| tokens[at].is_word())?;
    if is_before(tokens, at, ".") {
        let owner = at.checked_sub(2).map(|owner| tokens[owner].text);
        if !matches!(owner, Some(b"t" | b"Deno" | b"test")) {
            return None;
        }
    }
    let line = tokens[at].line;
    let (mut skip, mut only) = (skips.then_some(line), only.then_some(line));
    let (mut cases, mut next) = (0, at + 1);
    while is(tokens, next, ".") && tokens.get(next + 1).is_some_and(Token::is_word) {
        let modifier = &tokens[next + 1];
        next += 2;
        match modifier.text {
            b"skip" | b"todo" | b"failing" | b"fails" | b"fixme" | b"ignore" => {
                skip = Some(modifier.line);
            }
            b"skipIf" | b"runIf" if is(tokens, next, "(") => {
                skip = Some(modifier.line);
                next = tokens[next].pair + 1;
            }
            b"only" => only = Some(modifier.line),
            b"describe" => kind = BlockKind::Container,
            b"each" | b"for" => match tokens.get(next) {
                Some(table) if table.kind == Kind::Text => {
                    let rows = table.text.iter().filter(|byte| **byte == b'\n').count();
                    cases = rows.saturating_sub(1);
                    next += 1;
                }
                Some(table) if table.is("(") => {
                    let list = is(tokens, next + 1, "[");
                    cases = if list { elements(tokens, next + 1) } else { 0 };
                    next = table.pair + 1;
                }
                _ => {}
            },
            _ => {}
        }
    }
    if !is(tokens, next, "(") {
        return None;
    }
    let named = tokens.get(next + 1).is_some_and(|token| token.kind == Kind::Text);
    let titled = kind == BlockKind::Container && tokens.get(next + 1).is_some_and(Token::is_word);
    if !named && !titled {
        return None;
    }
    let name = name_at(tokens, next + 1)?;
    let mut block = Block::new(kind, name, tokens, at).bounded(tokens, next);
    (block.skip, block.only, block.cases) = (skip, only, cases);
    // The bracket of the body, in which a bare return ends the test.
    let braces = Span::inside(tokens, next).top().find(|at| tokens[*at].is("{"));
    block.body = braces.unwrap_or(next);
    Some(block)
}

/// `function name(…) {` and `const name = (…) => {`.
fn function(tokens: &[Token<'_>], at: usize) -> Option<Block> {
    let token = &tokens[at];
    let name = name_at(tokens, at + 1).filter(|_| tokens[at + 1].is_word());
    let (name, from) = if token.is("function") {
        (name?, at + 2)
    } else if (token.is("const") || token.is("let")) && is(tokens, at + 2, "=") {
        let start = at + 3 + usize::from(is(tokens, at + 3, "async"));
        let arrow = is(tokens, start, "(") && {
            let behind = tokens[start].pair + 1;
            is(tokens, behind, "=>") && is(tokens, behind + 1, "{")
        };
        if !arrow && !is(tokens, start, "function") {
            return None;
        }
        (name?, start)
    } else {
        return None;
    };
    let body = body_behind(tokens, from, &[";", "function", "const", "let"])?;
    Some(Block::new(BlockKind::Function, name, tokens, at).bounded(tokens, body))
}

/// A call inside a test that skips the rest of it.
pub(super) fn skips(tokens: &[Token<'_>], at: usize) -> bool {
    tokens[at].is("skip")
        && is(tokens, at + 1, "(")
        && is_before(tokens, at, ".")
        && at > 1
        && matches!(tokens[at - 2].text, b"this" | b"t" | b"ctx" | b"context" | b"task" | b"test")
        && !tokens
            .get(at + 2)
            .is_some_and(|token| token.kind == Kind::Text && tokens[at - 2].is("test"))
}
