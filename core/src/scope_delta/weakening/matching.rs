//! Which test is which: by name, in its own file first, then in any other that changed.

use std::collections::BTreeMap;

use super::units::Unit;
use super::{File, Place};

/// Tests and helpers before and after.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// Where each was and where it is.
    pub(super) matched: Vec<(Place, Place)>,
    /// Places before the change.
    pub(super) gone: Vec<Place>,
    /// Places after the change.
    pub(super) added: Vec<Place>,
}

/// Finds the partners of all units.
pub(super) fn pairs(files: &[File<'_>]) -> Pairs {
    let places = |units: fn(&File<'_>) -> usize| -> Vec<Place> {
        let all = files.iter().enumerate();
        all.flat_map(|(file, read)| (0..units(read)).map(move |unit| (file, unit))).collect()
    };
    let mut pairs = Pairs {
        matched: Vec::new(),
        gone: places(|file| file.old.units.len()),
        added: places(|file| file.new.units.len()),
    };
    pairs.pass(files, |file, unit| Some((unit.is_test, Some(file), &*unit.container, &*unit.name)));
    pairs.pass(files, |file, unit| {
        named(unit).then_some((unit.is_test, Some(file), "", &*unit.name))
    });
    pairs.pass(files, |_, unit| {
        named(unit).then_some((unit.is_test, None::<usize>, &*unit.container, &*unit.name))
    });
    pairs.pass(files, |_, unit| {
        named(unit).then_some((unit.is_test, None::<usize>, "", &*unit.name))
    });
    pairs.matched.sort_unstable();
    pairs
}

fn named(unit: &Unit) -> bool {
    !unit.name.is_empty()
}

impl Pairs {
    /// Pairs what has the same key, in order. What has no key waits for another pass.
    fn pass<'f, K: Ord>(
        &mut self,
        files: &'f [File<'_>],
        key: impl Fn(usize, &'f Unit) -> Option<K>,
    ) {
        let mut waiting: BTreeMap<K, Vec<Place>> = BTreeMap::new();
        for place in self.added.iter().rev() {
            if let Some(key) = key(place.0, &files[place.0].new.units[place.1]) {
                waiting.entry(key).or_default().push(*place);
            }
        }
        let mut gone = Vec::new();
        for place in std::mem::take(&mut self.gone) {
            let key = key(place.0, &files[place.0].old.units[place.1]);
            match key.and_then(|key| waiting.get_mut(&key)).and_then(Vec::pop) {
                Some(partner) => self.matched.push((place, partner)),
                None => gone.push(place),
            }
        }
        self.gone = gone;
        let taken: std::collections::BTreeSet<Place> =
            self.matched.iter().map(|(_, partner)| *partner).collect();
        self.added.retain(|place| !taken.contains(place));
    }
}
