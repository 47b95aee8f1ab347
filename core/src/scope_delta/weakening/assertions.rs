//! What a test demands: its assertions, as the frameworks of each language write them.

use super::blocks::{is, is_before};
pub(super) use super::strength::{Limit, Rank};
use super::strength::{demands, limits};
use super::verbs;
use crate::scope_delta::tests_of::Language;
use crate::scope_delta::tokens::{Kind, Span, Token};

/// Tokens of one assertion that are looked at; what is longer differs within these, or is not told apart.
const ASSERTION_TOKENS_MAX: usize = 400;
/// Calls of one chain that are looked at.
const CHAIN_MAX: usize = 64;

/// One demand of a test.
#[derive(Debug, Clone)]
pub(super) struct Assertion {
    pub(super) line: u32,
    /// As it stands, without layout and messages where they can be told.
    pub(super) text: String,
    /// Its rank, and the same text with `_` for each name: what renaming a variable leaves.
    pub(super) shape: String,
    /// What is looked at.
    pub(super) subject: String,
    pub(super) rank: Rank,
    pub(super) limits: Vec<Limit>,
    /// Strings and numbers in it.
    pub(super) literals: Vec<String>,
    /// Functions that it calls.
    pub(super) calls: Vec<String>,
}

impl Assertion {
    /// A demand with this verb about this subject; `whole` is all that belongs to it.
    pub(super) fn of(
        verb: &str,
        line: u32,
        whole: Span<'_, '_>,
        subject: Span<'_, '_>,
        rank: Rank,
        limits: Vec<Limit>,
    ) -> Self {
        let clip = |span: Span<'_, '_>| span.to.min(span.from + ASSERTION_TOKENS_MAX);
        let subject = Span::new(subject.all, subject.from, clip(subject));
        let whole = Span::new(whole.all, whole.from, clip(whole));
        let value = |token: &&Token<'_>| matches!(token.kind, Kind::Text | Kind::Number);
        Self {
            line,
            text: format!("{verb} {}", whole.canonical()),
            shape: format!("{verb} {rank:?} {}", shape(whole)),
            subject: subject.canonical(),
            rank,
            limits,
            literals: whole.tokens().iter().filter(value).map(Token::string).collect(),
            calls: (whole.from..whole.to)
                .filter(|at| is_call(whole.all, *at))
                .map(|at| whole.all[at].string())
                .collect(),
        }
    }

    /// What the head of a test expects of the whole of it.
    pub(super) fn expected(attribute: Span<'_, '_>, rank: Rank) -> Self {
        let line = attribute.tokens().first().map_or(1, |token| token.line);
        let nothing = Span::new(attribute.all, attribute.from, attribute.from);
        Self::of("expected", line, attribute, nothing, rank, Vec::new())
    }
}

fn is_call(tokens: &[Token<'_>], at: usize) -> bool {
    tokens[at].is_word() && (is(tokens, at + 1, "(") || is(tokens, at + 1, "!"))
}

fn shape(span: Span<'_, '_>) -> String {
    let kept =
        ["True", "False", "None", "true", "false", "null", "nil", "undefined", "not", "is", "in"];
    let mut shape = String::new();
    for at in span.from..span.to {
        let token = &span.all[at];
        let name =
            token.is_word() && !is_call(span.all, at) && !kept.iter().any(|word| token.is(word));
        let closing = token.is(",") && (at + 1 == span.to || span.all[at + 1].closes());
        match token.kind {
            _ if closing => {}
            _ if name => shape.push('_'),
            Kind::Text => shape.push_str(&format!("\"{}\"", token.string())),
            _ => shape.push_str(&token.string()),
        }
        shape.push(' ');
    }
    shape
}

/// The assertions that begin at this token, and where to go on behind them.
pub(super) fn read(
    tokens: &[Token<'_>],
    at: usize,
    language: Language,
) -> Option<(Vec<Assertion>, usize)> {
    let token = &tokens[at];
    if !token.is_word() {
        return None;
    }
    match language {
        Language::Rust => macro_call(tokens, at).or_else(|| call(tokens, at)),
        Language::Python if token.is("assert") => Some(statement(tokens, at)),
        Language::Go => call(tokens, at),
        Language::Java if token.is("assert") && !is(tokens, at + 1, "(") => {
            Some(statement(tokens, at))
        }
        Language::Java => infix(tokens, at).or_else(|| call(tokens, at)),
        Language::Python | Language::JavaScript => call(tokens, at),
    }
}

/// `assert_eq!(…)` and its like.
fn macro_call(tokens: &[Token<'_>], at: usize) -> Option<(Vec<Assertion>, usize)> {
    let name = tokens[at].string();
    let plain = name.trim_start_matches("debug_").trim_start_matches("prop_");
    let opens = is(tokens, at + 1, "!") && tokens.get(at + 2).is_some_and(Token::opens);
    if !opens || !plain.starts_with("assert") {
        return None;
    }
    let arguments = Span::inside(tokens, at + 2);
    let found = verbs::assertions(plain, tokens[at].line, arguments, false);
    Some((found, arguments.to + 1))
}

/// `assert condition, message` as a statement, up to the end of its logical line.
fn statement(tokens: &[Token<'_>], at: usize) -> (Vec<Assertion>, usize) {
    let line = tokens[at].line;
    let rest = Span::new(tokens, at + 1, tokens.len());
    let ends = |index: &usize| {
        let token = &tokens[*index];
        if token.closes() && token.pair > at && token.pair < *index {
            return false;
        }
        let next_line = token.first && !is_before(tokens, *index, "\\");
        next_line || token.is(";") || token.closes()
    };
    let end = rest.top().take(ASSERTION_TOKENS_MAX).find(ends).unwrap_or_else(|| {
        rest.top()
            .take(ASSERTION_TOKENS_MAX)
            .last()
            .map_or(at + 1, |last| tokens[last].pair.max(last) + 1)
    });
    let parts = Span::new(tokens, at + 1, end).split(&[",", ":"]);
    let Some(condition) = parts.first() else { return (Vec::new(), end.max(at + 1)) };
    (conditions("assert", line, *condition), end.max(at + 1))
}

/// One assertion for each part of a condition.
pub(super) fn conditions(verb: &str, line: u32, condition: Span<'_, '_>) -> Vec<Assertion> {
    let demand = |demand: super::strength::Demand<'_, '_>| {
        Assertion::of(verb, line, demand.part, demand.subject, demand.rank, demand.limits)
    };
    demands(condition).into_iter().map(demand).collect()
}

/// Kotlin's `value shouldBe other`.
fn infix(tokens: &[Token<'_>], at: usize) -> Option<(Vec<Assertion>, usize)> {
    let name = tokens[at].string();
    if !name.starts_with("should")
        || at == 0
        || is_before(tokens, at, ".")
        || is(tokens, at + 1, "(")
    {
        return None;
    }
    let line = tokens[at].line;
    let same = |index: &usize| tokens[*index].line == line;
    let from = (at.saturating_sub(CHAIN_MAX)..at).find(same).unwrap_or(at);
    let to = Span::new(tokens, at + 1, at + 1 + CHAIN_MAX).top().take_while(same).last();
    let to = to.map_or(at + 1, |last| tokens[last].pair.max(last) + 1);
    let (subject, value) = (Span::new(tokens, from, at), Span::new(tokens, at + 1, to));
    let rank = verbs::rank(&name, &[subject, value], false);
    let whole = Span::new(tokens, from, to);
    Some((vec![Assertion::of(&name, line, whole, subject, rank, limits(value))], to))
}

/// `assertEquals(…)`, `assert.equal(…)`, `expect(…).toBe(…)`, `assertThat(…).isEqualTo(…)`, `pytest.raises(…)`.
fn call(tokens: &[Token<'_>], at: usize) -> Option<(Vec<Assertion>, usize)> {
    let name = tokens[at].string();
    let declared = ["fn", "def", "func", "function", "fun", "void"];
    if declared.iter().any(|word| is_before(tokens, at, word)) || is(tokens, at + 1, "=") {
        return None;
    }
    let lower = name.to_lowercase();
    let begins = lower.starts_with("assert")
        || matches!(
            name.as_str(),
            "expect" | "Expect" | "expectTypeOf" | "require" | "should" | "verify"
        )
        || matches!(name.as_str(), "raises" | "warns" | "fail");
    if !begins || verbs::is_group(&lower) {
        return None;
    }
    let line = tokens[at].line;
    if name == "should" && !is_before(tokens, at, ".") {
        return None;
    }
    if matches!(name.as_str(), "expect" | "fail" | "verify") && is_before(tokens, at, ".") {
        // `result.expect("…")` takes a value out; `self.fail()` demands.
        let owner = at.checked_sub(2).map(|owner| tokens[owner].text);
        if !matches!(owner, Some(b"self" | b"pytest" | b"expect" | b"assert")) {
            return None;
        }
    }
    let subject = is(tokens, at + 1, "(").then(|| Span::inside(tokens, at + 1));
    let mut next = subject.map_or(at + 1, |subject| subject.to + 1);
    if subject.is_none() && !is(tokens, next, ".") {
        return None;
    }
    let (links, end) = chain(tokens, next);
    next = end;
    if subject.is_none() && links.iter().all(|link| link.arguments.is_none()) && name != "should" {
        return None;
    }
    let plain = links.iter().all(|link| verbs::is_filler(&link.name));
    let mut found = Vec::new();
    match subject {
        Some(arguments) if plain => found.extend(verbs::assertions(&name, line, arguments, false)),
        _ => {
            let nothing = Span::new(tokens, at, at);
            let subject = subject.unwrap_or(nothing);
            let mut negated = false;
            for link in &links {
                negated |= matches!(
                    link.name.to_lowercase().as_str(),
                    "not" | "never" | "notto" | "tonot"
                );
                if !verbs::is_filler(&link.name) {
                    found.extend(verbs::linked(&name, link, subject, negated));
                    negated = false;
                }
            }
        }
    }
    (!found.is_empty()).then_some((found, next))
}

/// One call, or one word, of a chain.
pub(super) struct Link<'t, 'a> {
    pub(super) name: String,
    pub(super) line: u32,
    pub(super) arguments: Option<Span<'t, 'a>>,
}

fn chain<'t, 'a>(tokens: &'t [Token<'a>], from: usize) -> (Vec<Link<'t, 'a>>, usize) {
    let (mut links, mut at) = (Vec::new(), from);
    while links.len() < CHAIN_MAX
        && is(tokens, at, ".")
        && tokens.get(at + 1).is_some_and(Token::is_word)
    {
        let token = &tokens[at + 1];
        at += 2;
        let arguments = is(tokens, at, "(").then(|| Span::inside(tokens, at));
        at = arguments.map_or(at, |arguments| arguments.to + 1);
        links.push(Link { name: token.string(), line: token.line, arguments });
    }
    (links, at)
}
