//! What the languages have in common: named parts of a file that hold tests, or are tests.

use super::assertions::Assertion;
use crate::scope_delta::tokens::{Kind, Span, Token};

/// Furthest that the body of a function is looked for behind its head, in tokens.
const HEAD_TOKENS_MAX: usize = 400;

/// Longest name that is told apart, in bytes.
const NAME_BYTES_MAX: usize = 200;

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// A class, module or group of tests.
    Container,
    Test,
    /// Another function; its assertions count where tests use it.
    Function,
}

/// A named part of a file.
#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) kind: BlockKind,
    pub(super) name: String,
    pub(super) line: u32,
    /// First token, with attributes and decorators.
    pub(super) from: usize,
    /// The bracket that opens the body, or the first token of an indented one.
    pub(super) body: usize,
    /// Behind the last token.
    pub(super) to: usize,
    /// Line of a marker at its head that keeps it from running.
    pub(super) skip: Option<u32>,
    /// Line of a marker that lets nothing else of the file run.
    pub(super) only: Option<u32>,
    /// Rows that its head declares, as of a parametrised test.
    pub(super) cases: usize,
    /// Only tests use what is in it.
    pub(super) testing: bool,
    /// What its head expects, as a panic or an exception.
    pub(super) expects: Vec<Assertion>,
}

/// What a language's reader finds in a file.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// In the order in which they begin; they nest.
    pub(super) all: Vec<Block>,
    /// Line of a marker that keeps the whole file from running.
    pub(super) skip: Option<u32>,
}

impl Block {
    pub(super) fn new(
        kind: BlockKind,
        mut name: String,
        tokens: &[Token<'_>],
        from: usize,
    ) -> Self {
        name.truncate(name.floor_char_boundary(NAME_BYTES_MAX));
        Self {
            kind,
            name,
            line: tokens.get(from).map_or(1, |token| token.line),
            from,
            body: from,
            to: tokens.len(),
            skip: None,
            only: None,
            cases: 0,
            testing: true,
            expects: Vec::new(),
        }
    }

    /// The block ends with the partner of this bracket, or with the file when it has none.
    pub(super) fn bounded(mut self, tokens: &[Token<'_>], body: usize) -> Self {
        self.body = body;
        let pair = tokens[body].pair;
        self.to = if pair > body { pair + 1 } else { tokens.len() };
        self
    }
}

/// The `{` of a body behind a head that begins here; nothing when there is none before one of these.
pub(super) fn body_behind(tokens: &[Token<'_>], from: usize, stops: &[&str]) -> Option<usize> {
    for at in Span::new(tokens, from, from + HEAD_TOKENS_MAX).top() {
        if tokens[at].is("{") {
            return Some(at);
        }
        if tokens[at].is("}") || stops.iter().any(|stop| tokens[at].is(stop)) {
            return None;
        }
    }
    None
}

/// Items of a list in brackets: what its commas separate.
pub(super) fn elements(tokens: &[Token<'_>], open: usize) -> usize {
    Span::inside(tokens, open).split(&[","]).iter().filter(|part| !part.is_empty()).count()
}

/// Whether the token at this place is this word or sign.
pub(super) fn is(tokens: &[Token<'_>], at: usize, text: &str) -> bool {
    tokens.get(at).is_some_and(|token| token.is(text))
}

/// Whether the token before this place is this word or sign.
pub(super) fn is_before(tokens: &[Token<'_>], at: usize, text: &str) -> bool {
    at > 0 && is(tokens, at - 1, text)
}

/// The name at this place: a word, or a string where the language lets one be a name.
pub(super) fn name_at(tokens: &[Token<'_>], at: usize) -> Option<String> {
    let token = tokens.get(at)?;
    matches!(token.kind, Kind::Word | Kind::Text).then(|| token.string())
}
