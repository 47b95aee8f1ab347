//! A part of the tokens of a file: what lies in brackets, between commas, on the top of it.

use super::{Kind, Token};

/// A part of the tokens of a file.
#[derive(Debug, Clone, Copy)]
pub(in crate::scope_delta) struct Span<'t, 'a> {
    pub(in crate::scope_delta) all: &'t [Token<'a>],
    pub(in crate::scope_delta) from: usize,
    pub(in crate::scope_delta) to: usize,
}

impl<'t, 'a> Span<'t, 'a> {
    pub(in crate::scope_delta) fn new(all: &'t [Token<'a>], from: usize, to: usize) -> Self {
        let to = to.min(all.len());
        Self { all, from: from.min(to), to }
    }

    /// What stands between this bracket and its partner.
    pub(in crate::scope_delta) fn inside(all: &'t [Token<'a>], open: usize) -> Self {
        Self::new(all, open + 1, all.get(open).map_or(open + 1, |token| token.pair.max(open + 1)))
    }

    pub(in crate::scope_delta) fn tokens(self) -> &'t [Token<'a>] {
        &self.all[self.from..self.to]
    }

    pub(in crate::scope_delta) fn is_empty(self) -> bool {
        self.from == self.to
    }

    /// Indexes of the tokens that are in no bracket of this part; a bracket itself counts, its inside does not.
    pub(in crate::scope_delta) fn top(self) -> impl Iterator<Item = usize> {
        let mut at = self.from;
        std::iter::from_fn(move || {
            let here = (at < self.to).then_some(at)?;
            let token = &self.all[here];
            at =
                if token.opens() && token.pair > here { token.pair.min(self.to) } else { here + 1 };
            Some(here)
        })
    }

    /// The parts between these signs or words at the top; an empty one at the end is left out.
    pub(in crate::scope_delta) fn split(self, separators: &[&str]) -> Vec<Self> {
        let mut parts = Vec::new();
        let mut from = self.from;
        for at in self.top() {
            if separators.iter().any(|separator| self.all[at].is(separator)) {
                parts.push(Self::new(self.all, from, at));
                from = at + 1;
            }
        }
        if from < self.to {
            parts.push(Self::new(self.all, from, self.to));
        }
        parts
    }

    pub(in crate::scope_delta) fn has_word(self, words: &[&str]) -> bool {
        self.tokens().iter().any(|token| token.is_word() && words.iter().any(|word| token.is(word)))
    }

    /// As text that layout, quotes and a trailing comma do not change.
    pub(in crate::scope_delta) fn canonical(self) -> String {
        let mut text = String::new();
        for (index, token) in self.tokens().iter().enumerate() {
            let next = self.tokens().get(index + 1);
            if token.is(",") && next.is_none_or(|next| next.closes()) {
                continue;
            }
            match token.kind {
                Kind::Text => text.push_str(&format!("\"{}\" ", token.string())),
                _ => text.push_str(&format!("{} ", token.string())),
            }
        }
        text.truncate(text.trim_end().len());
        text
    }
}
