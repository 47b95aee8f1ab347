//! Tests of Java and Kotlin: methods with a test annotation, of JUnit and TestNG, and those named `test…` of JUnit 3.

use super::assertions::{Assertion, Rank};
use super::blocks::{Block, BlockKind, Blocks, body_behind, is, is_before, name_at};
use super::strength;
use crate::scope_delta::tokens::{Kind, Span, Token};

/// Annotations that make a method a test.
const TESTS: [&str; 7] = [
    "Test",
    "ParameterizedTest",
    "RepeatedTest",
    "TestFactory",
    "TestTemplate",
    "Property",
    "Theory",
];

/// What follows an annotation's first part when it keeps a test from running.
const SKIPS: [&str; 4] = ["Disabled", "Ignore", "EnabledIf", "EnabledOn"];

#[derive(Default)]
struct Head {
    from: Option<usize>,
    is_test: bool,
    skip: Option<u32>,
    cases: usize,
    expects: Vec<Assertion>,
}

pub(super) fn blocks(tokens: &[Token<'_>]) -> Blocks {
    let mut found = Blocks::default();
    let mut head = Head::default();
    // Brackets that are open, and whether each is the body of a class.
    let mut open: Vec<bool> = Vec::new();
    let mut class_body = None;
    let (mut assigned, mut at) = (false, 0);
    while at < tokens.len() {
        let token = &tokens[at];
        if token.is("@")
            && tokens.get(at + 1).is_some_and(Token::is_word)
            && !is(tokens, at + 1, "interface")
        {
            at = head.read(tokens, at);
            continue;
        }
        let in_class = open.last().copied().unwrap_or(true);
        if let Some(name) = class(tokens, at) {
            if let Some(body) = body_behind(tokens, at + 1, &[";"]) {
                let mut block =
                    Block::new(BlockKind::Container, name, tokens, at).bounded(tokens, body);
                block.from = head.from.unwrap_or(at);
                block.skip = head.skip;
                found.all.push(block);
                class_body = Some(body);
            }
            head = Head::default();
        } else if in_class
            && !assigned
            && let Some((name, parameters)) = method(tokens, at)
        {
            let behind = tokens[parameters].pair.max(parameters) + 1;
            let stops: &[&str] =
                if is_before(tokens, at, "fun") { &[";", "fun"] } else { &[";", "="] };
            if let Some(body) = body_behind(tokens, behind, stops) {
                let junit3 = name.starts_with("test") && is_before(tokens, at, "void");
                let is_test = head.is_test || junit3;
                let kind = if is_test { BlockKind::Test } else { BlockKind::Function };
                let mut block = Block::new(kind, name, tokens, at).bounded(tokens, body);
                block.from = head.from.unwrap_or(at);
                (block.skip, block.cases) = (head.skip, head.cases);
                block.expects = std::mem::take(&mut head.expects);
                found.all.push(block);
                head = Head::default();
                open.push(false);
                at = body + 1;
                continue;
            }
        }
        match token.text {
            _ if token.opens() => open.push(class_body == Some(at)),
            _ if token.closes() => {
                open.pop();
            }
            b"=" => assigned = true,
            _ => {}
        }
        if token.is(";") || token.is("{") || token.is("}") {
            head = Head::default();
            assigned = false;
        }
        assigned &=
            !tokens.get(at + 1).is_some_and(|next| next.first && (next.is("fun") || next.is("@")));
        at += 1;
    }
    found
}

fn class(tokens: &[Token<'_>], at: usize) -> Option<String> {
    let begins = ["class", "interface", "enum", "record", "object"];
    let is_class = begins.iter().any(|word| tokens[at].is(word)) && !is_before(tokens, at, ".");
    name_at(tokens, at + 1)
        .filter(|_| is_class && tokens[at + 1].is_word() && !tokens[at + 1].is("class"))
}

/// A name and its parameters: `name(`, or `` fun `a name`( ``.
fn method(tokens: &[Token<'_>], at: usize) -> Option<(String, usize)> {
    if !is(tokens, at + 1, "(") {
        return None;
    }
    let called =
        [".", "new", "return", "@", "(", ","].iter().any(|word| is_before(tokens, at, word));
    let named =
        tokens[at].is_word() || (tokens[at].kind == Kind::Text && is_before(tokens, at, "fun"));
    (named && !called).then(|| (tokens[at].string(), at + 1))
}

impl Head {
    /// Reads one annotation and says what comes behind it.
    fn read(&mut self, tokens: &[Token<'_>], at: usize) -> usize {
        self.from = self.from.or(Some(at));
        let mut last = at + 1;
        while is(tokens, last + 1, ".") || is(tokens, last + 1, ":") {
            last += 2;
        }
        let last = last.min(tokens.len() - 1);
        let name = tokens[last].string();
        let arguments = if is(tokens, last + 1, "(") {
            Span::inside(tokens, last + 1)
        } else {
            Span::new(tokens, last + 1, last + 1)
        };
        self.is_test |= TESTS.contains(&name.as_str());
        let disabled = name == "Test" && arguments.canonical().contains("enabled = false");
        if SKIPS.iter().any(|skip| name.starts_with(skip)) || disabled {
            self.skip = self.skip.or(Some(tokens[last].line));
        }
        if name.ends_with("Source") {
            let value = |token: &&Token<'_>| matches!(token.kind, Kind::Text | Kind::Number);
            self.cases += arguments.tokens().iter().filter(value).count();
        }
        for part in arguments.split(&[","]) {
            if name == "Test" && is(tokens, part.from, "expected") {
                let wide = strength::is_wide_exception(part);
                let rank = if wide { Rank::Truth } else { Rank::Partial };
                self.expects.push(Assertion::expected(part, rank));
            }
        }
        if arguments.is_empty() && !is(tokens, last + 1, "(") { last + 1 } else { arguments.to + 1 }
    }
}

/// Assumptions end a test without a failure.
pub(super) fn skips(tokens: &[Token<'_>], at: usize) -> bool {
    matches!(
        tokens[at].text,
        b"assumeTrue" | b"assumeFalse" | b"assumeThat" | b"assumingThat" | b"SkipException"
    ) && is(tokens, at + 1, "(")
}
