//! How much an assertion demands: its rank, and the numbers that bound it.
//!
//! Only falling matters. Ranks are coarse on purpose: an equality, a part of it, mere truth, and nothing.

use crate::scope_delta::tokens::{Kind, Span, Token};

/// How much an assertion demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    /// It always holds.
    Vacuous,
    /// Something is true, there, or raised at all.
    Truth,
    /// A part, a bound, a kind of error.
    Partial,
    /// The very value, or the error with its message.
    Exact,
}

/// A number within which the outcome must lie.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Limit {
    /// What it bounds, as `rel` or `<`.
    pub(super) name: String,
    pub(super) value: f64,
    /// Whether a larger number demands less.
    pub(super) larger_is_looser: bool,
}

impl Limit {
    /// Whether this demands less than what was there.
    pub(super) fn is_looser_than(&self, old: &Self) -> bool {
        self.name == old.name
            && if self.larger_is_looser { self.value > old.value } else { self.value < old.value }
    }
}

/// One demand of a condition: what is looked at, how strictly, and within which limits.
pub(super) struct Demand<'t, 'a> {
    pub(super) part: Span<'t, 'a>,
    pub(super) subject: Span<'t, 'a>,
    pub(super) rank: Rank,
    pub(super) limits: Vec<Limit>,
}

/// Names of arguments that are a tolerance: a larger number demands less.
const TOLERANCES: [&str; 22] = [
    "abs",
    "abs_diff",
    "abs_tol",
    "absolute",
    "atol",
    "delta",
    "eps",
    "epsilon",
    "max_relative",
    "max_ulps",
    "maxDiffPixelRatio",
    "maxDiffPixels",
    "rel",
    "rel_tol",
    "relative",
    "rtol",
    "threshold",
    "timeout",
    "tol",
    "tolerance",
    "ulps",
    "within",
];

/// Names of arguments that are a precision: a smaller number demands less.
const PRECISIONS: [&str; 6] =
    ["decimal", "decimals", "digits", "places", "precision", "significant"];

/// Exceptions that every failure is one of.
const WIDE_EXCEPTIONS: [&str; 5] =
    ["BaseException", "Error", "Exception", "RuntimeException", "Throwable"];

/// Calls that compare whole values.
const EXACT_CALLS: [&str; 9] = [
    "DeepEqual",
    "Equal",
    "array_equal",
    "array_equals",
    "equals",
    "isEqual",
    "deepEqual",
    "eq",
    "strictEqual",
];

/// Calls that look at a part, or at the kind.
const PARTIAL_CALLS: [&str; 24] = [
    "Contains",
    "HasPrefix",
    "HasSuffix",
    "Is",
    "MatchString",
    "any",
    "contains",
    "contains_key",
    "containsKey",
    "ends_with",
    "endsWith",
    "endswith",
    "has",
    "includes",
    "is_match",
    "isclose",
    "isinstance",
    "allclose",
    "match",
    "matches",
    "starts_with",
    "startsWith",
    "startswith",
    "test",
];

/// The demands of a condition: one for each of the parts that must all hold.
pub(super) fn demands<'t, 'a>(condition: Span<'t, 'a>) -> Vec<Demand<'t, 'a>> {
    let condition = bare(condition);
    let either = condition.split(&["||", "or"]);
    if either.len() > 1 {
        let ranks = either.iter().map(|part| demand(*part).rank);
        let rank =
            if either.iter().any(|part| is_true(*part)) { Rank::Vacuous } else { Rank::Partial };
        let rank = ranks.max().unwrap_or(Rank::Truth).min(rank);
        return vec![Demand { part: condition, subject: either[0], rank, limits: Vec::new() }];
    }
    condition.split(&["&&", "and"]).into_iter().map(|part| demand(bare(part))).collect()
}

/// Without brackets around the whole.
fn bare<'t, 'a>(span: Span<'t, 'a>) -> Span<'t, 'a> {
    let mut span = span;
    while span.tokens().first().is_some_and(|token| token.is("(") && token.pair + 1 == span.to) {
        span = Span::new(span.all, span.from + 1, span.to - 1);
    }
    span
}

fn is_true(span: Span<'_, '_>) -> bool {
    matches!(span.tokens(), [one] if ["true", "True", "1"].iter().any(|word| one.is(word)))
}

/// A value that is written down and is one of two.
pub(super) fn is_boolean(span: Span<'_, '_>) -> bool {
    let words = ["true", "True", "false", "False"];
    matches!(span.tokens(), [one] if words.iter().any(|word| one.is(word)))
}

fn demand<'t, 'a>(part: Span<'t, 'a>) -> Demand<'t, 'a> {
    let whole = |rank| Demand { part, subject: part, rank, limits: Vec::new() };
    let negated = part.tokens().first().is_some_and(|token| token.is("!") || token.is("not"));
    let operators =
        ["==", "===", "!=", "!==", "<", "<=", ">", ">=", "is", "in", "instanceof", "not"];
    let operator = part.top().skip(usize::from(negated)).find(|at| {
        operators.iter().any(|operator| part.all[*at].is(operator))
            && (*at == part.from || !part.all[*at - 1].is("::"))
    });
    let Some(at) = operator.filter(|at| *at > part.from) else {
        return whole(if is_true(part) { Rank::Vacuous } else { called(part, negated) });
    };
    let (left, right) = (Span::new(part.all, part.from, at), Span::new(part.all, at + 1, part.to));
    let demand = |rank| Demand { part, subject: left, rank, limits: Vec::new() };
    let compared = || {
        let same =
            left.tokens().len() == right.tokens().len() && left.canonical() == right.canonical();
        if same && !left.has_word(&["random", "rand", "next"]) {
            Rank::Vacuous
        } else if is_boolean(right) || is_boolean(left) {
            Rank::Truth
        } else if negated || part.has_word(&["approx"]) {
            Rank::Partial
        } else {
            Rank::Exact
        }
    };
    match part.all[at].text {
        b"==" | b"===" => Demand { limits: limits(part), ..demand(compared()) },
        b"is" => {
            let not = right.tokens().first().is_some_and(|token| token.is("not"));
            let none = right.has_word(&["None", "null"]);
            demand(match (not, none) {
                (true, true) => Rank::Truth,
                (true, false) => Rank::Partial,
                (false, _) => compared(),
            })
        }
        b"!=" | b"!==" => {
            let nothing = right.has_word(&["nil", "null", "None", "undefined"]);
            demand(if nothing { Rank::Truth } else { Rank::Partial })
        }
        operator @ (b"<" | b"<=" | b">" | b">=") => {
            let mut limits = limits(part);
            if let Some(value) = number(right) {
                let name = String::from_utf8_lossy(&operator[..1]).into_owned();
                limits.push(Limit { name, value, larger_is_looser: operator[0] == b'<' });
            }
            Demand { limits, ..demand(Rank::Partial) }
        }
        _ => demand(Rank::Partial),
    }
}

/// The rank of a condition without an operator, by the last call in it.
fn called(part: Span<'_, '_>, negated: bool) -> Rank {
    let calls = |at: &usize| {
        part.all.get(at + 1).is_some_and(|next| next.is("(") || next.is("!"))
            && part.all[*at].is_word()
    };
    let Some(at) = part.top().filter(calls).last() else { return Rank::Truth };
    let is = |words: &[&str]| words.iter().any(|word| part.all[at].is(word));
    if is(&EXACT_CALLS) && !negated {
        Rank::Exact
    } else if is(&EXACT_CALLS) || is(&PARTIAL_CALLS) {
        Rank::Partial
    } else {
        Rank::Truth
    }
}

/// Numbers behind the names of tolerances and precisions: `rel=1e-6`, `epsilon = 0.1`, `{ places: 2 }`,
/// `within(0.1)`.
pub(super) fn limits(span: Span<'_, '_>) -> Vec<Limit> {
    let tokens = span.tokens();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.is_word()) {
        let precise = PRECISIONS.iter().any(|name| token.is(name));
        let tolerant = TOLERANCES.iter().any(|name| token.is(name));
        let offset = token.is("offset") || token.is("within");
        let assigned = tokens
            .get(at + 1)
            .is_some_and(|next| next.is("=") || next.is(":") || (offset && next.is("(")));
        if !assigned || !(precise || tolerant || offset) {
            continue;
        }
        let end = tokens.len().min(at + 4);
        let value = Span::new(span.all, span.from + at + 2, span.from + end);
        let signed = usize::from(value.tokens().first().is_some_and(|token| token.is("-")));
        let value = Span::new(span.all, value.from, (value.from + 1 + signed).min(value.to));
        if let Some(value) = number(value) {
            found.push(Limit { name: token.string(), value, larger_is_looser: !precise });
        }
    }
    found
}

/// The number that this is, if it is one.
pub(super) fn number(span: Span<'_, '_>) -> Option<f64> {
    let (sign, token) = match span.tokens() {
        [token] => (1.0, token),
        [minus, token] if minus.is("-") => (-1.0, token),
        _ => return None,
    };
    if token.kind != Kind::Number {
        return None;
    }
    let text: String = token.string().replace('_', "").to_lowercase();
    let suffixes = ["f64", "f32", "usize", "u64", "i64", "u32", "i32", "u8", "l", "f", "d", "n"];
    let bare = suffixes.iter().find_map(|suffix| text.strip_suffix(suffix));
    let value = text.parse::<f64>().ok().or_else(|| bare.and_then(|text| text.parse().ok()))?;
    Some(sign * value)
}

/// Whether a type that is expected to be raised is so wide that it says nothing.
pub(super) fn is_wide_exception(span: Span<'_, '_>) -> bool {
    let wide =
        |token: &Token<'_>| token.is_word() && WIDE_EXCEPTIONS.iter().any(|name| token.is(name));
    span.tokens().iter().any(wide)
}
