//! One learning: where it was found, what became of it, and where it matters.

use cantus_proto::ids::{AttemptNumber, ItemId, RoleName, RunId};
use cantus_proto::message::Learning;

use crate::event::Millis;
use crate::item::Item;

/// A learning with what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// As it was first found.
    pub learning: Learning,
    /// Where it was last found.
    pub origin: Origin,
    /// When it was last found.
    pub at: Millis,
    /// By how many attempts it was found, one after the other.
    pub seen: u32,
    /// Verified trees that show it to be applied.
    pub applied: u32,
    /// Verified trees that do not.
    pub ignored: u32,
}

/// Where something was found out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// In which run.
    pub run: RunId,
    /// At which item.
    pub item: ItemId,
    /// By which attempt at it.
    pub attempt: AttemptNumber,
    /// By whom.
    pub role: RoleName,
    /// In the scope of which paths.
    pub paths: Vec<String>,
}

impl Origin {
    /// This attempt at this item.
    #[must_use]
    pub fn of(run: &RunId, item: &Item, attempt: AttemptNumber) -> Self {
        Self {
            run: run.clone(),
            item: item.id.clone(),
            attempt,
            role: item.role.clone(),
            paths: item.contract.allowed_scope.paths.clone(),
        }
    }
}

impl Entry {
    /// How much speaks for it.
    pub(super) fn confirmed(&self) -> u32 {
        self.seen.saturating_add(self.applied)
    }

    /// Whether it was found where the item works: in an overlapping scope, then by the same role.
    pub(super) fn relevance(&self, item: &Item) -> (bool, bool) {
        let own = &item.contract.allowed_scope.paths;
        let overlaps = |ours: &String| self.origin.paths.iter().any(|path| overlap(path, ours));
        (own.iter().any(overlaps), self.origin.role == item.role)
    }
}

/// How much there is to read.
pub(super) fn bytes(learning: &Learning) -> usize {
    let Learning { id: _, context, discovery, rule, check } = learning;
    context.len() + discovery.len() + rule.len() + check.as_ref().map_or(0, String::len)
}

/// Whether two patterns may cover a common path: up to the first wildcard of either they must say the same.
pub(super) fn overlap(a: &str, b: &str) -> bool {
    let plain = |c: &&str| !c.contains(['*', '?']);
    let components = |text: &str| -> Vec<String> {
        let text = text.trim_end_matches('/');
        text.split('/').take_while(plain).map(str::to_owned).collect()
    };
    components(a).iter().zip(&components(b)).all(|(a, b)| a == b)
}
