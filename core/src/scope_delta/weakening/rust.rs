//! Tests of Rust: functions with a test attribute, in test files and in the source beside what they test.

use super::assertions::{Assertion, Rank};
use super::blocks::{Block, BlockKind, Blocks, body_behind, is, name_at};
use crate::scope_delta::tokens::{Span, Token};

/// Last words of the attributes that make a function a test.
const TEST_ATTRIBUTES: [&str; 9] = [
    "test",
    "rstest",
    "test_case",
    "case",
    "quickcheck",
    "proptest",
    "wasm_bindgen_test",
    "parameterized",
    "apply",
];

pub(super) fn blocks(tokens: &[Token<'_>], testing: bool) -> Blocks {
    let mut found = Blocks::default();
    // What the attributes before a declaration say; they are forgotten at its end.
    let mut head = Head::default();
    // Ends of the modules that only tests use.
    let mut testing_until = if testing { tokens.len() } else { 0 };
    let mut at = 0;
    while at < tokens.len() {
        let token = &tokens[at];
        let inner = usize::from(is(tokens, at + 1, "!"));
        if token.is("#") && is(tokens, at + 1 + inner, "[") {
            let attribute = Span::inside(tokens, at + 1 + inner);
            if inner == 1 {
                if is_condition(attribute) || is(tokens, attribute.from, "ignore") {
                    found.skip = found.skip.or(Some(token.line));
                }
            } else {
                head.read(attribute, at);
            }
            at = attribute.to + 1;
            continue;
        }
        let next = name_at(tokens, at + 1).filter(|_| tokens[at + 1].is_word());
        if let (true, Some(name)) = (token.is("fn") || token.is("mod"), next) {
            let is_module = token.is("mod");
            if let Some(body) = body_behind(tokens, at + 2, &[";", "fn", "mod"]) {
                let kind = match (is_module, head.is_test) {
                    (true, _) => BlockKind::Container,
                    (false, true) => BlockKind::Test,
                    (false, false) => BlockKind::Function,
                };
                let mut block = Block::new(kind, name, tokens, at).bounded(tokens, body);
                block.from = head.from.unwrap_or(at);
                block.skip = head.skip;
                block.cases = head.cases;
                block.testing = head.is_test || head.is_testing || at < testing_until;
                block.expects = std::mem::take(&mut head.expects);
                if is_module && block.testing {
                    testing_until = testing_until.max(block.to);
                }
                found.all.push(block);
                at = body;
            }
            head = Head::default();
        } else if token.is(";") || token.is("{") || token.is("}") {
            head = Head::default();
        }
        at += 1;
    }
    found
}

/// What the attributes of one declaration say.
#[derive(Default)]
struct Head {
    from: Option<usize>,
    is_test: bool,
    is_testing: bool,
    skip: Option<u32>,
    cases: usize,
    expects: Vec<Assertion>,
}

impl Head {
    fn read(&mut self, attribute: Span<'_, '_>, at: usize) {
        self.from = self.from.or(Some(at));
        let Some(first) = attribute.tokens().first() else { return };
        let path = attribute.tokens().iter().take_while(|token| token.is_word() || token.is("::"));
        let last = path.last().map(Token::string).unwrap_or_default();
        self.is_test |= TEST_ATTRIBUTES.contains(&last.as_str());
        self.cases += usize::from(matches!(last.as_str(), "case" | "test_case"));
        let ignored = last == "ignore"
            || (last == "cfg_attr" && attribute.has_word(&["ignore"]))
            || (last == "test_case" && attribute.has_word(&["ignore"]));
        if ignored || is_condition(attribute) {
            self.skip = self.skip.or(Some(first.line));
        }
        self.is_testing |= last == "cfg" && attribute.has_word(&["test"]);
        if last == "should_panic" {
            let rank = if attribute.has_word(&["expected"]) { Rank::Exact } else { Rank::Truth };
            self.expects.push(Assertion::expected(attribute, rank));
        }
    }
}

/// `#[cfg(…)]` under which not every test run compiles it.
fn is_condition(attribute: Span<'_, '_>) -> bool {
    attribute.tokens().first().is_some_and(|token| token.is("cfg"))
        && attribute.canonical() != "cfg ( test )"
}
