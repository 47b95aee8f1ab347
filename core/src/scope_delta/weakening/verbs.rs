//! What the words of the assertion libraries demand, with any spelling: `assert_equal`, `assertEqual`, `AssertEqual`.

use super::assertions::{Assertion, Link, conditions};
use super::strength::{Limit, Rank, is_boolean, is_wide_exception, limits, number};
use crate::scope_delta::tokens::{Kind, Span};

/// Words that demand the very value.
const EXACT: &[&str] = &[
    "arrayequal",
    "arrayequals",
    "calledoncewith",
    "calledwith",
    "containsexactly",
    "containsexactlyinanyorder",
    "contentequals",
    "countequal",
    "deepequal",
    "deepstrictequal",
    "dictequal",
    "elementsmatch",
    "eq",
    "eql",
    "equal",
    "equals",
    "equalto",
    "equalvalues",
    "exactly",
    "hassize",
    "hasvalue",
    "is",
    "isequalto",
    "isnone",
    "isnull",
    "issameas",
    "iterableequals",
    "jsoneq",
    "len",
    "lengthof",
    "linesmatch",
    "listequal",
    "matchsnapshot",
    "multilineequal",
    "nil",
    "none",
    "null",
    "same",
    "sameinstance",
    "sequenceequal",
    "setequal",
    "shouldbe",
    "snapshot",
    "strictequal",
    "tobe",
    "tobenull",
    "tobeundefined",
    "toequal",
    "tohavebeencalledoncewith",
    "tohavebeencalledtimes",
    "tohavebeencalledwith",
    "tohavelength",
    "tohavetext",
    "tohavevalue",
    "tomatchinlinesnapshot",
    "tomatchsnapshot",
    "tostrictequal",
    "tupleequal",
    "undefined",
    "benil",
    "equivalentto",
    "haslen",
];

/// Words that demand that something is true or there at all.
const TRUTH: &[&str] = &[
    "",
    "betrue",
    "befalse",
    "called",
    "defined",
    "doesnotthrow",
    "error",
    "exist",
    "exists",
    "false",
    "haserror",
    "haveoccurred",
    "isdefined",
    "isfalse",
    "isnotempty",
    "isnotnone",
    "isnotnull",
    "isok",
    "istrue",
    "noerror",
    "notempty",
    "notnil",
    "notnull",
    "notzero",
    "ok",
    "that",
    "tobecalled",
    "tobedefined",
    "tobefalsy",
    "tobetruthy",
    "tohavebeencalled",
    "true",
    "truthy",
    "succeed",
];

/// Words about exceptions: the more is said of the exception, the more is demanded.
const RAISES: &[&str] = &[
    "failswith",
    "panics",
    "raises",
    "raisesregex",
    "raisesregexp",
    "throws",
    "throwsexactly",
    "tothrow",
    "tothrowerror",
    "warns",
    "warnsregex",
    "isthrownby",
    "shouldthrow",
    "raisesmessage",
    "rejects",
];

/// Links of a chain that demand nothing by themselves.
const FILLERS: &[&str] = &[
    "a",
    "an",
    "and",
    "as",
    "be",
    "been",
    "describedas",
    "eventually",
    "extracting",
    "have",
    "not",
    "never",
    "poll",
    "rejects",
    "resolves",
    "soft",
    "strict",
    "that",
    "then",
    "to",
    "usingrecursivecomparison",
    "which",
    "with",
    "withfailmessage",
    "catch",
    "should",
    "assertions",
    "deep",
    "await",
];

/// Calls that hold further assertions, which are read by themselves.
pub(super) fn is_group(lower: &str) -> bool {
    matches!(
        plain(lower).as_str(),
        "all" | "allsettled" | "soft" | "softly" | "timeout" | "timeoutpreemptively" | "numqueries"
    )
}

pub(super) fn is_filler(name: &str) -> bool {
    FILLERS.contains(&name.to_lowercase().as_str())
}

/// The word without its prefix and its spelling.
fn plain(name: &str) -> String {
    let word = name.replace('_', "").to_lowercase();
    word.strip_prefix("assert").map(ToOwned::to_owned).unwrap_or(word)
}

/// The demands of `verb(arguments)`.
pub(super) fn assertions(
    verb: &str,
    line: u32,
    arguments: Span<'_, '_>,
    negated: bool,
) -> Vec<Assertion> {
    let mut parts = arguments.split(&[","]);
    // Testify's functions take the test first.
    let test = |part: &Span<'_, '_>| matches!(part.tokens(), [one] if one.is("t") || one.is("tt") || one.is("tb"));
    let nothing = Span::new(arguments.all, arguments.from, arguments.from);
    let handle = parts.first().copied().filter(test);
    if handle.is_some() {
        parts.remove(0);
    }
    let word = plain(verb);
    let is_condition = matches!(word.as_str(), "" | "true" | "istrue" | "ok" | "that");
    // Hamcrest: `assertThat(value, is(3))`.
    if word == "that"
        && parts.len() == 2
        && parts[1].tokens().first().is_some_and(|token| token.is_word())
    {
        let inner = parts[1];
        let name = inner.tokens()[0].string();
        let open = inner.from + 1;
        let values = if inner.all.get(open).is_some_and(|token| token.is("(")) {
            Span::inside(inner.all, open)
        } else {
            Span::new(inner.all, inner.to, inner.to)
        };
        let rank = rank(&name, &[parts[0], values], negated);
        return vec![Assertion::of(verb, line, arguments, parts[0], rank, bounds(&name, &parts))];
    }
    if let (true, Some(condition)) = (is_condition && !negated, parts.first()) {
        return conditions(verb, line, *condition);
    }
    let rank = rank(verb, &parts, negated);
    let subject = parts.first().copied().unwrap_or(nothing);
    let whole = match word.as_str() {
        // The message behind two values is not compared.
        "eq" | "ne" => {
            Span::new(arguments.all, arguments.from, parts.get(1).map_or(arguments.to, |p| p.to))
        }
        _ => arguments,
    };
    vec![Assertion::of(verb, line, whole, subject, rank, bounds(verb, &parts))]
}

/// The demands of one link of a chain: `expect(subject).toBe(3)`, `assert.equal(a, b)`.
pub(super) fn linked(
    base: &str,
    link: &Link<'_, '_>,
    subject: Span<'_, '_>,
    negated: bool,
) -> Vec<Assertion> {
    let nothing = Span::new(subject.all, subject.to, subject.to);
    let arguments = link.arguments.unwrap_or(nothing);
    if subject.is_empty() && base != "should" {
        return assertions(&link.name, link.line, arguments, negated);
    }
    let (mut name, mut values, mut negated) = (link.name.clone(), arguments, negated);
    // Gomega: `Expect(value).To(Equal(3))`.
    if matches!(name.as_str(), "To" | "Should" | "NotTo" | "ToNot" | "ShouldNot") {
        negated |= name.contains("Not");
        if let Some(first) = arguments.tokens().first().filter(|first| first.is_word()) {
            name = first.string();
            let open = arguments.from + 1;
            if arguments.all.get(open).is_some_and(|token| token.is("(")) {
                values = Span::inside(arguments.all, open);
            }
        }
    }
    let word = plain(&name);
    let truth = matches!(word.as_str(), "tobetruthy" | "istrue" | "true" | "betrue" | "ok")
        || (matches!(word.as_str(), "tobe" | "toequal" | "equal" | "isequalto" | "tostrictequal")
            && matches!(values.tokens(), [one] if one.is("true")));
    if truth && !negated {
        return conditions(&format!("{base} {name}"), link.line, subject);
    }
    let parts: Vec<Span<'_, '_>> = std::iter::once(subject).chain(values.split(&[","])).collect();
    let mut rank = rank(&name, &parts, negated);
    if RAISES.contains(&word.as_str()) {
        rank = raised(&word, &parts[1..]);
    }
    let not = if negated { "not " } else { "" };
    // Subject and values lie beside each other: one part of the text holds both.
    let whole = Span::new(subject.all, subject.from, values.to.max(subject.to));
    let verb = format!("{base} {not}{name}");
    vec![Assertion::of(&verb, link.line, whole, subject, rank, bounds(&name, &parts))]
}

/// How much a verb demands with these arguments, of which the first is what is looked at.
pub(super) fn rank(verb: &str, parts: &[Span<'_, '_>], negated: bool) -> Rank {
    let word = plain(verb);
    let word = word.as_str();
    if RAISES.contains(&word) {
        return raised(word, parts);
    }
    if EXACT.contains(&word) {
        let nothing = ["nil", "none", "null", "undefined"].iter().any(|end| word.ends_with(end));
        return match parts {
            _ if negated && nothing => Rank::Truth,
            _ if negated => Rank::Partial,
            [left, right, ..] if left.canonical() == right.canonical() => Rank::Vacuous,
            [_, right, ..] | [right, ..] if is_boolean(*right) && !nothing => Rank::Truth,
            [_, _, tolerance] if number(*tolerance).is_some() => Rank::Partial,
            _ => Rank::Exact,
        };
    }
    if TRUTH.contains(&word) { Rank::Truth } else { Rank::Partial }
}

/// Nothing, a kind, or a kind with its message.
fn raised(word: &str, parts: &[Span<'_, '_>]) -> Rank {
    let lambda = |part: &&Span<'_, '_>| {
        !part.tokens().iter().any(|token| token.is("=>") || token.is("->") || token.is("lambda"))
    };
    let said: Vec<&Span<'_, '_>> = parts.iter().filter(lambda).collect();
    let message = said.iter().any(|part| {
        part.tokens().first().is_some_and(|token| token.is("match") || token.kind == Kind::Text)
    });
    match said.first() {
        _ if message || word.contains("regex") || word.contains("message") => Rank::Exact,
        None => Rank::Truth,
        Some(kind) if is_wide_exception(**kind) => Rank::Truth,
        Some(_) => Rank::Partial,
    }
}

/// The numbers that bound a demand: named tolerances, and those that stand at a known place.
fn bounds(verb: &str, parts: &[Span<'_, '_>]) -> Vec<Limit> {
    let word = plain(verb);
    let mut found: Vec<Limit> = parts.iter().flat_map(|part| limits(*part)).collect();
    let at = |place: usize| parts.get(place).and_then(|part| number(*part));
    let last = || parts.iter().rev().find_map(|part| number(*part));
    let (value, larger_is_looser) = match word.as_str() {
        "tobecloseto" => (at(1).filter(|_| parts.len() == 2).or_else(|| at(2)), false),
        "almostequal" | "almostequals" => (at(2), false),
        "indelta" | "inepsilon" | "closeto" | "approximately" => (last(), true),
        "equals" | "arrayequals" => (at(2), true),
        _ if word.contains("less") || word.contains("atmost") || word == "below" => (last(), true),
        _ if word.contains("greater") || word.contains("atleast") || word == "above" => {
            (last(), false)
        }
        _ => (None, true),
    };
    if let Some(value) = value {
        found.push(Limit { name: word, value, larger_is_looser });
    }
    found
}
