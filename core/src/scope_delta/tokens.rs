//! Source text as tokens: words, numbers, strings and signs, with their lines. Comments are left out.
//!
//! One pass, no look back, for all languages that the gate knows: enough to find tests and assertions in, not to
//! compile. So layout and comments are nothing that a rule could see. Text that is no program gives tokens all
//! the same, and never an error.

mod span;

use std::collections::BTreeSet;

use super::tests_of::Language;
pub(super) use span::Span;

/// Signs of more than one character, longest first.
const SIGNS: [&[u8]; 19] = [
    b"===", b"!==", b"...", b"==", b"!=", b"<=", b">=", b"&&", b"||", b"=>", b"->", b"::", b":=",
    b"?.", b"??", b"**", b"+=", b"-=", b"//",
];

/// Longest pattern between slashes: what is longer is no pattern, and every slash of a long line looks ahead.
const REGEX_BYTES_MAX: usize = 1_000;

/// What kind of token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number,
    Text,
    Sign,
}

/// One token.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    /// As it stands; of a string what is between its quotes.
    pub(super) text: &'a [u8],
    /// From 1.
    pub(super) line: u32,
    /// Bytes from the start of its line.
    pub(super) column: u32,
    /// Nothing but white space stands before it on its line.
    pub(super) first: bool,
    /// Of an opening sign the index of its closing one and the other way round; otherwise its own index.
    pub(super) pair: usize,
}

impl Token<'_> {
    pub(super) fn is(&self, text: &str) -> bool {
        self.kind != Kind::Text && self.text == text.as_bytes()
    }

    pub(super) fn is_word(&self) -> bool {
        self.kind == Kind::Word
    }

    pub(super) fn opens(&self) -> bool {
        self.kind == Kind::Sign && matches!(self.text, b"(" | b"[" | b"{")
    }

    pub(super) fn closes(&self) -> bool {
        self.kind == Kind::Sign && matches!(self.text, b")" | b"]" | b"}")
    }

    pub(super) fn string(&self) -> String {
        String::from_utf8_lossy(self.text).into_owned()
    }
}

/// A file as tokens.
#[derive(Debug, Default)]
pub(super) struct Tokens<'a> {
    pub(super) all: Vec<Token<'a>>,
    /// Words that stand in comments: a test that is only there is commented out.
    pub(super) commented: BTreeSet<&'a [u8]>,
}

struct Lexer<'a> {
    bytes: &'a [u8],
    language: Language,
    at: usize,
    line: u32,
    line_start: usize,
    fresh: bool,
    tokens: Tokens<'a>,
}

/// Reads a file of this language.
pub(super) fn read(bytes: &[u8], language: Language) -> Tokens<'_> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut lexer = Lexer {
        bytes,
        language,
        at: 0,
        line: 1,
        line_start: 0,
        fresh: true,
        tokens: Tokens::default(),
    };
    while lexer.at < bytes.len() {
        lexer.next();
    }
    pair(&mut lexer.tokens.all);
    lexer.tokens
}

/// Tells every bracket its partner. One without a partner is its own.
fn pair(tokens: &mut [Token<'_>]) {
    let mut open: Vec<usize> = Vec::new();
    for index in 0..tokens.len() {
        if tokens[index].opens() {
            open.push(index);
        } else if tokens[index].closes() {
            let opening: &[u8] = match tokens[index].text {
                b")" => b"(",
                b"]" => b"[",
                _ => b"{",
            };
            if open.last().is_some_and(|at| tokens[*at].text == opening)
                && let Some(at) = open.pop()
            {
                tokens[at].pair = index;
                tokens[index].pair = at;
            }
        }
    }
}

impl<'a> Lexer<'a> {
    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    fn next(&mut self) {
        let byte = self.peek(0);
        match byte {
            b'\n' => {
                self.at += 1;
                self.line += 1;
                self.line_start = self.at;
                self.fresh = true;
            }
            _ if byte.is_ascii_whitespace() || byte == 0 => self.at += 1,
            b'#' if self.language == Language::Python => self.line_comment(),
            b'/' if self.language != Language::Python && self.peek(1) == b'/' => {
                self.line_comment()
            }
            b'/' if self.language != Language::Python && self.peek(1) == b'*' => {
                self.block_comment()
            }
            b'"' | b'\'' | b'`' => self.quoted(0),
            b'/' if self.language == Language::JavaScript && self.regex_may_begin() => self.regex(),
            _ if byte.is_ascii_digit() => self.number(),
            _ if byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$') || byte >= 0x80 => {
                self.word()
            }
            _ => self.sign(),
        }
    }

    /// Pushes what lies between `from` and `to`, and goes on at `after`.
    fn push(&mut self, kind: Kind, from: usize, to: usize, after: usize) {
        let pair = self.tokens.all.len();
        let (from, to) = (from.min(self.bytes.len()), to.min(self.bytes.len()));
        self.tokens.all.push(Token {
            kind,
            text: &self.bytes[from..to.max(from)],
            line: self.line,
            column: u32::try_from(self.at - self.line_start).unwrap_or(u32::MAX),
            first: self.fresh,
            pair,
        });
        self.fresh = false;
        let after = after.clamp(self.at + 1, self.bytes.len().max(self.at + 1));
        for at in self.at..after.min(self.bytes.len()) {
            if self.bytes[at] == b'\n' {
                self.line += 1;
                self.line_start = at + 1;
            }
        }
        self.at = after;
    }

    fn line_comment(&mut self) {
        let end = self.rest().iter().position(|byte| *byte == b'\n').unwrap_or(self.rest().len());
        self.remember(self.at, self.at + end);
        self.at += end;
    }

    fn block_comment(&mut self) {
        // Rust's and Kotlin's nest.
        let nests = matches!(self.language, Language::Rust);
        let (start, mut depth) = (self.at, 0_usize);
        while self.at < self.bytes.len() {
            match (self.peek(0), self.peek(1)) {
                (b'/', b'*') if depth == 0 || nests => {
                    depth += 1;
                    self.at += 2;
                }
                (b'*', b'/') => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        break;
                    }
                }
                (b'\n', _) => {
                    self.at += 1;
                    self.line += 1;
                    self.line_start = self.at;
                    self.fresh = true;
                }
                _ => self.at += 1,
            }
        }
        self.remember(start, self.at);
    }

    fn remember(&mut self, from: usize, to: usize) {
        let words = self.bytes[from..to.min(self.bytes.len())]
            .split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_' && *byte < 0x80);
        self.tokens.commented.extend(words.filter(|word| word.len() > 1));
    }

    fn number(&mut self) {
        let mut end = self.at + 1;
        while let Some(byte) = self.bytes.get(end) {
            let exponent = matches!(byte, b'+' | b'-')
                && matches!(self.bytes[end - 1], b'e' | b'E')
                && !self.bytes[self.at..end].starts_with(b"0x");
            let fraction = *byte == b'.' && self.bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
            if byte.is_ascii_alphanumeric() || *byte == b'_' || exponent || fraction {
                end += 1;
            } else {
                break;
            }
        }
        self.push(Kind::Number, self.at, end, end);
    }

    fn word(&mut self) {
        let part = |byte: &u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || *byte >= 0x80
        };
        let length = self.rest().iter().position(|byte| !part(byte)).unwrap_or(self.rest().len());
        let word = &self.rest()[..length];
        let next = self.peek(length);
        let prefix = match self.language {
            Language::Rust => matches!(word, b"b" | b"c" | b"r" | b"br" | b"cr"),
            Language::Python => length <= 2 && word.iter().all(|byte| b"rRbBuUfFtT".contains(byte)),
            _ => false,
        };
        let quoted =
            next == b'"' || (next == b'\'' && (self.language != Language::Rust || word == b"b"));
        if prefix && quoted {
            return self.quoted(length);
        }
        let raw = prefix && next == b'#' && word.contains(&b'r');
        if !(raw && self.raw_hashes(length)) {
            self.push(Kind::Word, self.at, self.at + length, self.at + length);
        }
    }

    /// Rust's `r#"…"#`; a raw identifier is none.
    fn raw_hashes(&mut self, prefix: usize) -> bool {
        let start = self.at + prefix;
        let hashes = self.bytes[start..].iter().take_while(|byte| **byte == b'#').count();
        if self.bytes.get(start + hashes) != Some(&b'"') {
            return false;
        }
        let from = start + hashes + 1;
        let mut to = from;
        // Each quote looks at the hashes behind it only, so all of them together are read once.
        while to < self.bytes.len() {
            if self.bytes[to] == b'"' {
                let behind =
                    self.bytes[to + 1..].iter().take(hashes).take_while(|b| **b == b'#').count();
                if behind == hashes {
                    break;
                }
                to += behind;
            }
            to += 1;
        }
        self.push(Kind::Text, from, to, to + 1 + hashes);
        true
    }

    fn quoted(&mut self, prefix: usize) {
        let quote = self.peek(prefix);
        let from = self.at + prefix;
        let triple = self.bytes[from..].starts_with(&[quote; 3])
            && match self.language {
                Language::Python => quote != b'`',
                Language::Java => quote == b'"',
                _ => false,
            };
        if triple {
            return self.triple(from, quote);
        }
        if quote == b'\'' && self.language == Language::Rust {
            return self.character(from);
        }
        if quote == b'`' && self.language == Language::JavaScript {
            return self.template(from);
        }
        let raw = (self.language == Language::Rust && self.bytes[self.at..from].contains(&b'r'))
            || quote == b'`';
        let lines =
            self.language == Language::Rust || (quote == b'`' && self.language == Language::Go);
        let mut to = from + 1;
        while let Some(byte) = self.bytes.get(to) {
            match byte {
                b'\\' if !raw => to += 1,
                b'\n' if !lines => break,
                _ if *byte == quote => break,
                _ => {}
            }
            to += 1;
        }
        let closed = self.bytes.get(to) == Some(&quote);
        self.push(Kind::Text, from + 1, to, to + usize::from(closed));
    }

    fn triple(&mut self, from: usize, quote: u8) {
        let mut to = from + 3;
        while to < self.bytes.len() && !self.bytes[to..].starts_with(&[quote; 3]) {
            to += 1 + usize::from(self.bytes[to] == b'\\');
        }
        self.push(Kind::Text, from + 3, to, to + 3);
    }

    /// Rust's `'a'`, or the sign of a lifetime.
    fn character(&mut self, from: usize) {
        let next = self.bytes.get(from + 1).copied().unwrap_or(0);
        let width = match next {
            b'\\' => {
                let body = self.bytes[from + 2..].iter().skip(1).take(10);
                body.take_while(|byte| **byte != b'\'').count() + 2
            }
            0..=0x7f => 1,
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            _ => 4,
        };
        let to = from + 1 + width;
        if self.bytes.get(to) == Some(&b'\'') {
            self.push(Kind::Text, from + 1, to, to + 1);
        } else {
            self.push(Kind::Sign, from, from + 1, from + 1);
        }
    }

    /// JavaScript's template, with what is in its braces as part of the string.
    fn template(&mut self, from: usize) {
        // Open braces of each `${`, innermost last; a backtick inside one begins a template of its own.
        let mut stack: Vec<usize> = Vec::new();
        let mut templates = 1_usize;
        let mut inside: Vec<bool> = vec![true];
        let mut to = from + 1;
        while to < self.bytes.len() {
            let in_text = *inside.last().unwrap_or(&true);
            match self.bytes[to] {
                b'\\' => to += 1,
                b'`' if in_text => {
                    inside.pop();
                    templates -= 1;
                    if templates == 0 {
                        break;
                    }
                }
                b'`' => {
                    inside.push(true);
                    templates += 1;
                }
                b'$' if in_text && self.bytes.get(to + 1) == Some(&b'{') => {
                    inside.push(false);
                    stack.push(1);
                    to += 1;
                }
                b'{' if !in_text => {
                    if let Some(depth) = stack.last_mut() {
                        *depth += 1;
                    }
                }
                b'}' if !in_text => {
                    if let Some(depth) = stack.last_mut() {
                        *depth -= 1;
                        if *depth == 0 {
                            stack.pop();
                            inside.pop();
                        }
                    }
                }
                _ => {}
            }
            to += 1;
        }
        self.push(Kind::Text, from + 1, to, to + 1);
    }

    /// After a value a slash divides; elsewhere it opens a pattern.
    fn regex_may_begin(&self) -> bool {
        let Some(last) = self.tokens.all.last() else { return true };
        match last.kind {
            Kind::Sign => !matches!(last.text, b")" | b"]" | b"}"),
            Kind::Word => matches!(last.text, b"return" | b"typeof" | b"case" | b"in" | b"of"),
            _ => false,
        }
    }

    fn regex(&mut self) {
        let mut to = self.at + 1;
        let mut class = false;
        while let Some(byte) = self.bytes.get(to).filter(|_| to - self.at < REGEX_BYTES_MAX) {
            match byte {
                b'\\' => to += 1,
                b'[' => class = true,
                b']' => class = false,
                b'/' if !class => break,
                b'\n' => break,
                _ => {}
            }
            to += 1;
        }
        if self.bytes.get(to) == Some(&b'/') {
            self.push(Kind::Text, self.at + 1, to, to + 1);
        } else {
            self.sign();
        }
    }

    fn sign(&mut self) {
        let long = SIGNS.iter().find(|sign| self.rest().starts_with(sign));
        let length = long.map_or(1, |sign| sign.len());
        self.push(Kind::Sign, self.at, self.at + length, self.at + length);
    }
}
