//! stub
use crate::event::Millis;
use crate::item::Item;
use cantus_proto::ids::{AttemptNumber, LearningId};
use cantus_proto::message::{Learning, LearningCheck};
use std::collections::BTreeMap;
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Memory {
    all: BTreeMap<LearningId, Learning>,
}
impl Memory {
    pub fn absorb(&mut self, l: &Learning, _i: &Item, _n: AttemptNumber, _at: Millis) {
        self.all.insert(l.id.clone(), l.clone());
    }
    pub fn checked(&mut self, _c: &[LearningCheck]) {}
    pub fn pick(&self, _i: &Item) -> Vec<LearningId> {
        self.all.keys().cloned().collect()
    }
    pub fn texts(&self, ids: &[LearningId]) -> Vec<Learning> {
        ids.iter().filter_map(|i| self.all.get(i).cloned()).collect()
    }
    pub fn checkable(&self, ids: &[LearningId]) -> Vec<LearningId> {
        ids.iter()
            .filter(|i| self.all.get(*i).is_some_and(|l| l.check.is_some()))
            .cloned()
            .collect()
    }
}
