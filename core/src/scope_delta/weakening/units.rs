//! A file as units: its tests and helpers, each with what it demands and whether it runs.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::assertions::{self, Assertion};
use super::blocks::{Block, BlockKind, Blocks, is};
use super::strength::{self, Rank};
use super::{go, java, javascript, python, rust};
use crate::scope_delta::tests_of::Language;
use crate::scope_delta::tokens::{self, Kind, Span, Token};

/// Deepest nesting of groups that is told apart in names; what is deeper counts to the outer.
const NESTING_MAX: usize = 64;

/// Words of a test that goes through several values.
const TABLES: [&str; 17] = [
    "CsvSource",
    "Entry",
    "MethodSource",
    "ValueSource",
    "case",
    "each",
    "expand",
    "for",
    "forEach",
    "given",
    "parameterized",
    "parametrize",
    "proptest",
    "quickcheck",
    "range",
    "subTest",
    "test_case",
];

/// A test, or a function that tests use.
#[derive(Debug)]
pub(super) struct Unit {
    pub(super) name: String,
    /// The groups around it, outermost first.
    pub(super) container: Rc<str>,
    pub(super) line: u32,
    pub(super) is_test: bool,
    /// Whether something in its file calls it; always true of a test.
    pub(super) is_used: bool,
    /// Line of the marker that keeps it from running, its own or that of what is around it.
    pub(super) skip: Option<u32>,
    /// It goes through several values.
    pub(super) is_table: bool,
    /// Rows of its table, where they can be counted.
    pub(super) cases: usize,
    pub(super) assertions: Vec<Assertion>,
    /// Strings and numbers in all of it, with their counts.
    pub(super) literals: BTreeMap<String, usize>,
    /// Words in all of it.
    pub(super) words: BTreeSet<String>,
}

/// What is read from one side of a file.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) units: Vec<Unit>,
    /// Words of its comments.
    pub(super) commented: BTreeSet<String>,
}

/// Reads a file. In a file that is no test itself, only what says that it is one counts.
pub(super) fn read(bytes: &[u8], language: Language, testing: bool) -> Reading {
    let read = tokens::read(bytes, language);
    let tokens = &read.all;
    let mut blocks = match language {
        Language::Rust => rust::blocks(tokens, testing),
        Language::Python => python::blocks(tokens),
        Language::JavaScript => javascript::blocks(tokens),
        Language::Go => go::blocks(tokens),
        Language::Java => java::blocks(tokens),
    };
    if blocks.all.is_empty() && blocks.skip.is_none() && language == Language::Rust && !testing {
        return Reading::default();
    }
    let mut walk = Walk::new(tokens, language, testing, &mut blocks);
    walk.run();
    let mut units = walk.units;
    only(&blocks, &mut units);
    used(tokens, &mut units);
    let commented = read.commented.iter().map(|word| String::from_utf8_lossy(word).into_owned());
    let units = units
        .into_iter()
        .map(|(unit, _)| unit)
        .filter(|unit| unit.is_test || !unit.assertions.is_empty());
    Reading { units: units.collect(), commented: commented.collect() }
}

/// A block that the walk is in.
struct Open {
    block: usize,
    to: usize,
    /// The unit that what is here belongs to; nothing where only groups are around.
    unit: Option<usize>,
    skip: Option<u32>,
    testing: bool,
    container: Rc<str>,
}

/// One pass over the tokens of a file, which knows at each of them the innermost block.
struct Walk<'t, 'a> {
    tokens: &'t [Token<'a>],
    language: Language,
    testing: bool,
    blocks: &'t mut Blocks,
    open: Vec<Open>,
    /// Brackets that are open.
    brackets: Vec<usize>,
    /// Heads of Go's conditions by the bracket that opens their body.
    conditions: BTreeMap<usize, Span<'t, 'a>>,
    /// Each with the line of a marker in its body that skips the rest, or with where it bare returns.
    units: Vec<(Unit, Option<usize>)>,
    /// The unit for what stands in no function.
    file: Option<usize>,
}

impl<'t, 'a> Walk<'t, 'a> {
    fn new(
        tokens: &'t [Token<'a>],
        language: Language,
        testing: bool,
        blocks: &'t mut Blocks,
    ) -> Self {
        Self {
            tokens,
            language,
            testing,
            blocks,
            open: Vec::new(),
            brackets: Vec::new(),
            conditions: BTreeMap::new(),
            units: Vec::new(),
            file: None,
        }
    }

    fn run(&mut self) {
        let mut next_block = 0;
        // Behind an assertion that was read: its own words are no assertions again.
        let mut resume = 0;
        for at in 0..self.tokens.len() {
            while self.open.last().is_some_and(|open| open.to <= at) {
                self.open.pop();
            }
            while self.blocks.all.get(next_block).is_some_and(|block| block.from <= at) {
                self.enter(next_block);
                next_block += 1;
            }
            let token = &self.tokens[at];
            if token.opens() && token.pair > at {
                self.brackets.push(at);
            } else if token.closes() && token.pair < at {
                self.brackets.pop();
            }
            self.note(at);
            if at >= resume {
                resume = self.token(at);
            }
        }
    }

    fn enter(&mut self, index: usize) {
        let block = &mut self.blocks.all[index];
        let outer = self.open.last();
        let nested = self.open.len() < NESTING_MAX;
        let skip = block.skip.or_else(|| outer.and_then(|open| open.skip)).or(self.blocks.skip);
        let container = outer.map_or_else(|| Rc::from(""), |open| open.container.clone());
        let outer_unit = outer.and_then(|open| open.unit);
        let testing = block.testing || outer.is_some_and(|open| open.testing) || self.testing;
        let name = block.name.clone();
        let unit = if block.kind == BlockKind::Container {
            outer_unit
        } else {
            let is_test = block.kind == BlockKind::Test;
            let unit = Unit {
                name: name.clone(),
                container: container.clone(),
                line: block.line,
                is_test,
                is_used: is_test,
                skip,
                is_table: block.cases > 0,
                cases: block.cases,
                assertions: std::mem::take(&mut block.expects),
                literals: BTreeMap::new(),
                words: BTreeSet::new(),
            };
            self.units.push((unit, None));
            Some(self.units.len() - 1)
        };
        let container = if nested { Rc::from(format!("{container}{name} > ")) } else { container };
        let to = outer.map_or(block.to, |open| block.to.min(open.to));
        self.open.push(Open { block: index, to, unit, skip, testing, container });
    }

    /// What belongs to a unit as a whole: its words and values.
    fn note(&mut self, at: usize) {
        let token = &self.tokens[at];
        let Some(unit) = self.open.last().and_then(|open| open.unit) else { return };
        let unit = &mut self.units[unit].0;
        match token.kind {
            Kind::Text | Kind::Number => *unit.literals.entry(token.string()).or_default() += 1,
            Kind::Word => {
                unit.is_table |= TABLES.iter().any(|word| token.is(word));
                unit.words.insert(token.string());
            }
            // A row of a Go table: a literal in a list of literals.
            Kind::Sign if self.language == Language::Go && token.is("{") && at > 0 => {
                unit.cases +=
                    usize::from(is(self.tokens, at - 1, "{") || is(self.tokens, at - 1, ","));
            }
            Kind::Sign => {}
        }
    }

    /// Markers, returns and assertions at this token; answers where assertions may begin again.
    fn token(&mut self, at: usize) -> usize {
        let tokens = self.tokens;
        let token = &tokens[at];
        if !token.is_word() {
            return at;
        }
        let testing = self.open.last().map_or(self.testing, |open| open.testing);
        if !testing {
            return at;
        }
        let place = self.open.last().and_then(|open| open.unit);
        if place.is_some_and(|unit| self.units[unit].1.is_some()) {
            return at;
        }
        if self.skips(at) {
            self.skip(token.line);
            return at;
        }
        if token.is("return") && self.ends_the_test(at) {
            if let Some(unit) = place {
                self.units[unit].1 = Some(at);
            }
            return at;
        }
        let found = if self.language == Language::Go {
            self.go_failure(at).or_else(|| assertions::read(tokens, at, self.language))
        } else {
            assertions::read(tokens, at, self.language)
        };
        let Some((found, next)) = found else { return at };
        let unit = place.unwrap_or_else(|| self.file());
        self.units[unit].0.assertions.extend(found);
        next
    }

    fn skips(&self, at: usize) -> bool {
        match self.language {
            Language::Rust => false,
            Language::Python => python::skips(self.tokens, at),
            Language::JavaScript => javascript::skips(self.tokens, at),
            Language::Go => go::skips(self.tokens, at),
            Language::Java => java::skips(self.tokens, at),
        }
    }

    /// A marker in a body speaks for its unit, one outside of all for the file.
    fn skip(&mut self, line: u32) {
        match self.open.last_mut() {
            Some(Open { unit: Some(unit), .. }) => {
                let unit = &mut self.units[*unit].0;
                unit.skip = unit.skip.or(Some(line));
            }
            Some(open) => open.skip = open.skip.or(Some(line)),
            None => self.blocks.skip = self.blocks.skip.or(Some(line)),
        }
    }

    /// A bare return on the level of the body: what is behind it never runs.
    fn ends_the_test(&self, at: usize) -> bool {
        let token = &self.tokens[at];
        let next = self.tokens.get(at + 1);
        let bare = next.is_none_or(|next| next.first || next.is(";") || next.is("}"));
        let Some(open) = self.open.last().filter(|_| bare && token.first) else { return false };
        let block = &self.blocks.all[open.block];
        match self.language {
            Language::Python => self.tokens[block.body].column == token.column,
            _ => self.brackets.last() == Some(&block.body),
        }
    }

    /// `if got != want { t.Errorf(…) }`: the condition is what is demanded, the other way round.
    fn go_failure(&mut self, at: usize) -> Option<(Vec<Assertion>, usize)> {
        let tokens = self.tokens;
        let token = &tokens[at];
        if token.is("if") {
            let head = Span::new(tokens, at + 1, at + 200);
            let body = head.top().find(|at| tokens[*at].is("{"))?;
            self.conditions.insert(body, Span::new(tokens, at + 1, body));
            return None;
        }
        let fails = matches!(
            token.text,
            b"Error" | b"Errorf" | b"Fatal" | b"Fatalf" | b"Fail" | b"FailNow"
        );
        let owner = at.checked_sub(2).map(|owner| tokens[owner].text);
        if !fails
            || !is(tokens, at - 1, ".")
            || !is(tokens, at + 1, "(")
            || !matches!(owner, Some(b"t" | b"b" | b"f" | b"tb" | b"tt"))
        {
            return None;
        }
        let arguments = Span::inside(tokens, at + 1);
        let found = match self.brackets.last().and_then(|body| self.conditions.get(body)) {
            Some(head) => {
                let condition = *head.split(&[";"]).last()?;
                let line = tokens[head.from].line;
                failing(line, condition)
            }
            None => {
                let text = Span::new(tokens, at, arguments.to);
                vec![Assertion::of("fail", token.line, text, text, Rank::Partial, Vec::new())]
            }
        };
        Some((found, arguments.to + 1))
    }

    fn file(&mut self) -> usize {
        if let Some(file) = self.file {
            return file;
        }
        let unit = Unit {
            name: String::new(),
            container: Rc::from(""),
            line: 1,
            is_test: false,
            is_used: true,
            skip: None,
            is_table: false,
            cases: 0,
            assertions: Vec::new(),
            literals: BTreeMap::new(),
            words: BTreeSet::new(),
        };
        self.units.push((unit, None));
        self.file = Some(self.units.len() - 1);
        self.units.len() - 1
    }
}

/// What a test demands that fails when this condition holds.
fn failing(line: u32, condition: Span<'_, '_>) -> Vec<Assertion> {
    let demand = |part: Span<'_, '_>| {
        let all = part.all;
        let operators = ["!=", "==", "<", "<=", ">", ">="];
        let operator = part.top().find(|at| operators.iter().any(|sign| all[*at].is(sign)));
        let Some(at) = operator else {
            let held = part.tokens().first().is_some_and(|token| token.is("!"));
            let inner = Span::new(all, part.from + usize::from(held), part.to);
            let rank = strength::demands(inner).first().map_or(Rank::Truth, |demand| demand.rank);
            let rank = if held { rank } else { rank.min(Rank::Partial) };
            return Assertion::of("fails if", line, part, part, rank, Vec::new());
        };
        let subject = Span::new(all, part.from, at);
        let value = Span::new(all, at + 1, part.to);
        let nothing = value.has_word(&["nil", "true", "false"]);
        let (rank, limit) = match all[at].text {
            _ if nothing => (Rank::Truth, None),
            b"!=" => (Rank::Exact, None),
            b"==" => (Rank::Partial, None),
            sign => {
                (Rank::Partial, strength::number(value).map(|number| (number, sign[0] == b'>')))
            }
        };
        let limit = limit.map(|(value, larger_is_looser)| strength::Limit {
            name: all[at].string(),
            value,
            larger_is_looser,
        });
        Assertion::of("fails if", line, part, subject, rank, limit.into_iter().collect())
    };
    condition.split(&["||"]).into_iter().map(demand).collect()
}

/// Where something is marked to run alone, the rest of the file does not run.
fn only(blocks: &Blocks, units: &mut [(Unit, Option<usize>)]) {
    let marked: Vec<(u32, &Block)> =
        blocks.all.iter().filter_map(|block| block.only.map(|line| (line, block))).collect();
    let Some((line, _)) = marked.first() else { return };
    let names: BTreeSet<&str> = marked.iter().map(|(_, block)| block.name.as_str()).collect();
    for (unit, _) in units.iter_mut().filter(|(unit, _)| unit.is_test) {
        let inside = unit.container.split(" > ").any(|name| names.contains(name));
        if !inside && !names.contains(unit.name.as_str()) {
            unit.skip = unit.skip.or(Some(*line));
        }
    }
}

/// A helper is used where its name stands more often than in its own head.
fn used(tokens: &[Token<'_>], units: &mut [(Unit, Option<usize>)]) {
    let mut counts: BTreeMap<&[u8], usize> = BTreeMap::new();
    for token in tokens.iter().filter(|token| token.is_word()) {
        *counts.entry(token.text).or_default() += 1;
    }
    for (unit, _) in units.iter_mut().filter(|(unit, _)| !unit.is_test && !unit.name.is_empty()) {
        unit.is_used = counts.get(unit.name.as_bytes()).is_some_and(|count| *count > 1);
    }
}
