//! What the change adds to tests, in which assertions that left their test are looked for.
//!
//! A split test leaves its assertions in two; a renamed one all in the other; one that became a table leaves its
//! values in the rows. What a skipped test or a helper that nobody calls holds covers nothing.

use std::collections::BTreeMap;

use super::align::{Aligned, align};
use super::assertions::Assertion;
use super::matching::Pairs;
use super::units::Unit;
use super::{File, Place};

/// Tables and renamed tests that one missing assertion is looked for in.
const LOOKED_AT_MAX: usize = 200;

/// Assertions to be had, each once.
pub(super) struct Cover<'f> {
    files: &'f [File<'f>],
    by_text: BTreeMap<&'f str, usize>,
    by_shape: BTreeMap<&'f str, usize>,
    tables: Vec<Table<'f>>,
    aligned: BTreeMap<Place, Aligned>,
}

/// A test that goes through values, and those of its values that the change brought.
struct Table<'f> {
    place: Place,
    unit: &'f Unit,
    literals: BTreeMap<&'f str, usize>,
}

impl<'f> Cover<'f> {
    /// All that the added tests hold, and what is new in the others.
    pub(super) fn of(files: &'f [File<'f>], pairs: &Pairs) -> Self {
        let mut cover = Self {
            files,
            by_text: BTreeMap::new(),
            by_shape: BTreeMap::new(),
            tables: Vec::new(),
            aligned: BTreeMap::new(),
        };
        for (old_place, place) in &pairs.matched {
            let (old, new) = (cover.before(*old_place), cover.after(*place));
            let aligned = align(&old.assertions, &new.assertions);
            if counts(new) {
                aligned.new.iter().for_each(|index| cover.offer(&new.assertions[*index]));
                cover.table(*place, Some(old));
            }
            cover.aligned.insert(*place, aligned);
        }
        for place in &pairs.added {
            let new = cover.after(*place);
            if counts(new) {
                new.assertions.iter().for_each(|assertion| cover.offer(assertion));
                cover.table(*place, None);
            }
        }
        cover
    }

    pub(super) fn before(&self, place: Place) -> &'f Unit {
        &self.files[place.0].old.units[place.1]
    }

    pub(super) fn after(&self, place: Place) -> &'f Unit {
        &self.files[place.0].new.units[place.1]
    }

    /// How the assertions of this test, by its new place, compare with what they were.
    pub(super) fn aligned(&mut self, place: Place) -> Aligned {
        self.aligned.remove(&place).unwrap_or_default()
    }

    fn offer(&mut self, assertion: &'f Assertion) {
        *self.by_text.entry(&assertion.text).or_default() += 1;
        *self.by_shape.entry(&assertion.shape).or_default() += 1;
    }

    fn table(&mut self, place: Place, old: Option<&Unit>) {
        let unit = self.after(place);
        if !unit.is_table || unit.assertions.is_empty() {
            return;
        }
        let before = |literal: &str| old.and_then(|old| old.literals.get(literal)).copied();
        let literals = unit.literals.iter().map(|(literal, count)| {
            (literal.as_str(), count.saturating_sub(before(literal).unwrap_or(0)))
        });
        self.tables.push(Table { place, unit, literals: literals.collect() });
    }

    /// Whether this assertion is somewhere else now; then it is taken from there.
    pub(super) fn take(&mut self, assertion: &Assertion, own: Option<Place>) -> bool {
        for (pool, key) in
            [(&mut self.by_text, &assertion.text), (&mut self.by_shape, &assertion.shape)]
        {
            if let Some(count) = pool.get_mut(key.as_str()).filter(|count| **count > 0) {
                *count -= 1;
                return true;
            }
        }
        let holds = |table: &Table<'_>| own == Some(table.place) && table.holds(assertion, own);
        let place = self.tables.iter().position(holds).or_else(|| {
            self.tables.iter().take(LOOKED_AT_MAX).position(|table| table.holds(assertion, own))
        });
        let Some(place) = place else { return false };
        for literal in &assertion.literals {
            if let Some(count) = self.tables[place].literals.get_mut(literal.as_str()) {
                *count = count.saturating_sub(1);
            }
        }
        true
    }

    /// Whether a test without assertions of its own goes on under another name: with the same words.
    pub(super) fn is_renamed(&self, old: &Unit, added: &[Place]) -> bool {
        let words = |unit: &'f Unit| unit.words.iter().filter(|word| **word != unit.name);
        added.iter().take(LOOKED_AT_MAX).map(|place| self.after(*place)).any(|new| {
            new.is_test
                && counts(new)
                && words(new).eq(old.words.iter().filter(|word| **word != old.name))
        })
    }
}

impl Table<'_> {
    /// Whether it goes through the values of this assertion, calls what it calls, and demands as much.
    fn holds(&self, assertion: &Assertion, own: Option<Place>) -> bool {
        let mut needed: BTreeMap<&str, usize> = BTreeMap::new();
        for literal in &assertion.literals {
            *needed.entry(literal).or_default() += 1;
        }
        let values = needed
            .iter()
            .all(|(literal, count)| self.literals.get(literal).is_some_and(|held| held >= count));
        // In its own test, values that stood there before are still there.
        let kept = own == Some(self.place)
            && needed.keys().all(|literal| self.unit.literals.contains_key(*literal));
        let calls = assertion.calls.iter().all(|call| self.unit.words.contains(call));
        let strict = self.unit.assertions.iter().any(|own| own.rank >= assertion.rank);
        let something = !assertion.calls.is_empty() || !assertion.literals.is_empty();
        something && (values || kept) && calls && strict
    }
}

/// Whether what a unit demands is demanded in a run.
fn counts(unit: &Unit) -> bool {
    unit.skip.is_none() && unit.is_used
}
