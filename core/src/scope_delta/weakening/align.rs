//! The assertions of one test before and after, side by side.
//!
//! The same text, then the same with other names, then about the same thing, then as strict: whatever is left of
//! the old ones was dropped from this test or loosened in it.

use std::collections::BTreeMap;

use super::assertions::{Assertion, Rank};

/// What has no partner, as indexes, and bounds that demand less than before.
#[derive(Debug, Default)]
pub(super) struct Aligned {
    pub(super) old: Vec<usize>,
    pub(super) new: Vec<usize>,
    /// Pairs with a looser tolerance or bound.
    pub(super) looser: Vec<(usize, usize)>,
}

/// Finds the partners. An assertion that demanded nothing needs none.
pub(super) fn align(old: &[Assertion], new: &[Assertion]) -> Aligned {
    let demanding = |index: &usize| old[*index].rank > Rank::Vacuous;
    let mut aligned = Aligned {
        old: (0..old.len()).filter(demanding).collect(),
        new: (0..new.len()).collect(),
        looser: Vec::new(),
    };
    let any = |_: &Assertion, _: &Assertion| true;
    let as_strict = |old: &Assertion, new: &Assertion| new.rank >= old.rank;
    aligned.pass(old, new, |a| &a.text, any);
    aligned.pass(old, new, |a| &a.shape, any);
    // The strictest first, so that a further, weaker one about the same thing takes nobody's place.
    aligned.old.sort_by_key(|index| std::cmp::Reverse(old[*index].rank));
    aligned.new.sort_by_key(|index| std::cmp::Reverse(new[*index].rank));
    aligned.pass(old, new, |a| &a.subject, as_strict);
    aligned.pass(old, new, |a| &a.rank, any);
    aligned.pass(old, new, |_| &(), as_strict);
    aligned.old.sort_unstable();
    aligned.new.sort_unstable();
    aligned
}

impl Aligned {
    fn pass<'a, K: Ord + ?Sized + 'a>(
        &mut self,
        old: &'a [Assertion],
        new: &'a [Assertion],
        key: impl Fn(&'a Assertion) -> &'a K,
        fits: impl Fn(&Assertion, &Assertion) -> bool,
    ) {
        let mut waiting: BTreeMap<&K, Vec<usize>> = BTreeMap::new();
        for index in self.new.iter().rev() {
            waiting.entry(key(&new[*index])).or_default().push(*index);
        }
        let mut left = Vec::new();
        for index in std::mem::take(&mut self.old) {
            let partners = waiting.get_mut(key(&old[index]));
            let next = partners.and_then(|partners| {
                let fitting = partners.last().is_some_and(|next| fits(&old[index], &new[*next]));
                if fitting { partners.pop() } else { None }
            });
            match next {
                Some(next) => {
                    if is_looser(&old[index], &new[next]) {
                        self.looser.push((index, next));
                    }
                }
                None => left.push(index),
            }
        }
        self.old = left;
        self.new = waiting.into_values().flatten().collect();
    }
}

/// Whether a bound of the same name lets more through, in two assertions that are otherwise alike.
fn is_looser(old: &Assertion, new: &Assertion) -> bool {
    let alike = old.calls == new.calls && old.literals.len() == new.literals.len();
    alike
        && old.limits.len() == new.limits.len()
        && old.limits.iter().zip(&new.limits).any(|(old, new)| new.is_looser_than(old))
}
