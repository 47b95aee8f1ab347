//! One run: the graph of its items and what a change of one item means for its neighbours.
//!
//! Waiting, ready and blocked follow from the graph; they are computed here and never journaled.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use cantus_proto::ids::{Blob, CommitId, ItemId, RunId};
use cantus_proto::plan::{PlanItem, RunBudgets};

use crate::budget::Account;
use crate::event::{ItemIndex, Millis, Repository, Submission};
use crate::item::{Inconsistent, Item, State};
use crate::record::{Fact, ItemFact, Warning};
use crate::state_machine::item::ItemEvent;
use crate::state_machine::run::{RUN, RunEvent};
use crate::state_machine::{Row, Word as _};

/// A plan at work.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Its name.
    pub id: RunId,
    /// Where it lands; nothing for a run that only reports.
    pub repository: Option<Repository>,
    /// The newest commit of the target that the run knows of: its own last landing, at first the start.
    pub head: Option<CommitId>,
    /// In plan order.
    pub items: Vec<Item>,
    /// For look-ups by id.
    pub by_id: BTreeMap<ItemId, ItemIndex>,
    /// When it was submitted.
    pub started: Millis,
    /// When its last item ended.
    pub ended: Option<Millis>,
    /// Items that have not ended.
    pub open: usize,
    /// Limits of the whole run.
    pub budgets: RunBudgets,
    /// What all its attempts have cost and hold.
    pub account: Account,
    /// Of its budgets, those that are mostly spent.
    pub warnings: Vec<Warning>,
    /// What the submitter should know.
    pub notice: String,
    /// The compiled plan in the blob store.
    pub plan_blob: Blob,
}

/// How a run ended, or that it has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// Items are open.
    Running,
    /// Every item landed or reported.
    Completed,
    /// At least one item is parked or blocked.
    Failed,
    /// Ended by a person, and nothing else is wrong.
    Cancelled,
}

impl RunState {
    /// The word of `RunView.state`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.word().0
    }
}

impl Run {
    /// Builds the graph. The plan is valid by construction.
    #[must_use]
    pub fn new(at: Millis, submission: &Submission) -> Self {
        let plan = &submission.plan;
        let by_id: BTreeMap<ItemId, ItemIndex> = plan
            .items
            .iter()
            .zip(0..)
            .map(|(item, place)| (item.id.clone(), ItemIndex(place)))
            .collect();
        let paths = plan.critical_paths();
        let mut contract: Option<Arc<cantus_proto::contract::Contract>> = None;
        let mut items: Vec<Item> = Vec::with_capacity(plan.items.len());
        for node in &plan.items {
            // Plans made by programs repeat one contract thousands of times.
            let shared = match contract.take() {
                Some(before) if before == node.contract => before,
                _ => Arc::clone(&node.contract),
            };
            contract = Some(Arc::clone(&shared));
            let needs: Box<[ItemIndex]> = node.needs.iter().map(|need| by_id[need]).collect();
            let open = u32::try_from(needs.len()).unwrap_or(u32::MAX);
            let state = if open == 0 { State::Ready } else { State::Waiting(open) };
            items.push(Item::new(at, node, shared, (needs, state), paths[&node.id]));
        }
        for place in 0..items.len() {
            let needs = items[place].needs.clone();
            for need in needs {
                items[need.0 as usize].dependents.push(index(place));
            }
        }
        Self {
            id: submission.run.clone(),
            head: submission.repository.as_ref().map(|r| r.head.clone()),
            repository: submission.repository.clone(),
            open: items.len(),
            ended: items.is_empty().then_some(at),
            items,
            by_id,
            started: at,
            budgets: plan.budgets,
            account: Account::default(),
            warnings: Vec::new(),
            notice: submission.notice.clone(),
            plan_blob: submission.plan_blob.clone(),
        }
    }

    /// Appends the items that do parts of another one first; it waits for all of them.
    pub(crate) fn append_parts(&mut self, at: Millis, whole: ItemIndex, parts: &[PlanItem]) {
        let first = self.items.len();
        let critical_path = self.item(whole).critical_path;
        for (place, part) in (first..).zip(parts) {
            self.by_id.insert(part.id.clone(), index(place));
        }
        for (place, part) in (first..).zip(parts) {
            let place = index(place);
            let needs: Box<[ItemIndex]> = part.needs.iter().map(|need| self.by_id[need]).collect();
            let open = u32::try_from(needs.len()).unwrap_or(u32::MAX);
            let state = if open == 0 { State::Ready } else { State::Waiting(open) };
            let contract = Arc::clone(&part.contract);
            let mut item = Item::new(at, part, contract, (needs, state), critical_path);
            item.whole = Some(whole);
            item.dependents.push(whole);
            self.items.push(item);
            self.item_mut(whole).remarks_mut().parts.push(place);
        }
        let added: Vec<ItemIndex> = (first..self.items.len()).map(index).collect();
        for place in &added {
            for need in self.item(*place).needs.clone() {
                self.item_mut(need).dependents.push(*place);
            }
        }
        let whole = self.item_mut(whole);
        whole.needs = whole.needs.iter().copied().chain(added).collect();
        self.open += parts.len();
    }

    /// The item at this place.
    #[must_use]
    pub fn item(&self, place: ItemIndex) -> &Item {
        &self.items[place.0 as usize]
    }

    pub(crate) fn item_mut(&mut self, place: ItemIndex) -> &mut Item {
        &mut self.items[place.0 as usize]
    }

    /// Does to an item what the fact says, and to the run's account what follows.
    pub(crate) fn apply(
        &mut self,
        at: Millis,
        position: u64,
        place: ItemIndex,
        fact: &ItemFact,
    ) -> Result<(), Inconsistent> {
        let before = Account::of(&self.item(place).attempts);
        self.item_mut(place).apply(at, position, fact)?;
        let after = Account::of(&self.item(place).attempts);
        self.account = self.account.minus(before).plus(after);
        Ok(())
    }

    /// What an item's fact means for its neighbours: those that are ready now, or new.
    pub(crate) fn neighbours_follow(
        &mut self,
        at: Millis,
        place: ItemIndex,
        fact: &ItemFact,
    ) -> Vec<ItemIndex> {
        match (fact, &self.item(place).state) {
            (ItemFact::Landed(commit, _), _) => {
                self.head = Some(commit.clone());
                self.release_dependents(at, place)
            }
            (ItemFact::Recovered(landed), _) => {
                self.head = Some(landed.commit.clone());
                self.release_dependents(at, place)
            }
            (ItemFact::Reported, _) => self.release_dependents(at, place),
            (_, State::Parked(_) | State::Cancelled) => {
                self.block_dependents(at, place);
                Vec::new()
            }
            (ItemFact::Requeued | ItemFact::Approved(..) | ItemFact::Rechecked(_), _) => {
                self.unblock_dependents(at, place);
                Vec::new()
            }
            (ItemFact::Split(_, parts), _) => {
                let first = self.items.len();
                self.append_parts(at, place, parts);
                (first..self.items.len()).map(index).collect()
            }
            _ => Vec::new(),
        }
    }

    /// How it stands.
    #[must_use]
    pub fn state(&self) -> RunState {
        if self.ended.is_none() {
            return RunState::Running;
        }
        let any = |test: fn(&State) -> bool| self.items.iter().any(|item| test(&item.state));
        if any(|s| matches!(s, State::Parked(_))) {
            RunState::Failed
        } else if any(|s| matches!(s, State::Cancelled | State::Blocked(_))) {
            RunState::Cancelled
        } else {
            RunState::Completed
        }
    }

    /// The row of its table by which it follows this fact.
    ///
    /// # Errors
    /// [`Inconsistent`] when none has it.
    pub(crate) fn follow(
        &self,
        fact: &Fact,
    ) -> Result<&'static Row<RunState, RunEvent>, Inconsistent> {
        RUN.follow(self.state(), RunEvent::of(fact), || self.id.to_string())
    }

    /// Whether a person may put the item back: it is parked or cancelled, and nothing before it is missing.
    #[must_use]
    pub fn can_requeue(&self, place: ItemIndex) -> bool {
        let item = self.item(place);
        matches!(item.state, State::Parked(_) | State::Cancelled)
            && item.needs.iter().all(|need| self.has_landed(*need))
    }

    fn has_landed(&self, place: ItemIndex) -> bool {
        matches!(self.item(place).state, State::Landed(_) | State::Reported)
    }

    /// Items that become ready because this one has landed or reported.
    pub(crate) fn release_dependents(&mut self, at: Millis, place: ItemIndex) -> Vec<ItemIndex> {
        let mut ready = Vec::new();
        for dependent in self.item(place).dependents.clone() {
            let item = self.item_mut(dependent);
            let State::Waiting(open) = item.state else { continue };
            let next = if open == 1 { State::Ready } else { State::Waiting(open - 1) };
            item.follow_graph(at, ItemEvent::NeedLanded, next);
            if open == 1 {
                ready.push(dependent);
            }
        }
        ready
    }

    /// Blocks all that waits, directly or not, for an item that was parked or cancelled.
    pub(crate) fn block_dependents(&mut self, at: Millis, cause: ItemIndex) {
        let mut front: VecDeque<ItemIndex> = self.item(cause).dependents.iter().copied().collect();
        while let Some(place) = front.pop_front() {
            let item = self.item_mut(place);
            if matches!(item.state, State::Waiting(_)) {
                item.follow_graph(at, ItemEvent::NeedStopped, State::Blocked(cause));
                front.extend(item.dependents.iter().copied());
                self.open -= 1;
            }
        }
    }

    /// Undoes [`Run::block_dependents`] where nothing else blocks, and names what does where something else does.
    ///
    /// Dependents are looked at after all their needs: what blocks an item is what blocks any of them.
    pub(crate) fn unblock_dependents(&mut self, at: Millis, cause: ItemIndex) {
        for place in self.dependents_in_order(cause) {
            let State::Blocked(before) = self.item(place).state else { continue };
            let blocker =
                self.item(place).needs.iter().find_map(|need| match self.item(*need).state {
                    State::Parked(_) | State::Cancelled => Some(*need),
                    State::Blocked(by) => Some(by),
                    _ => None,
                });
            if blocker == Some(before) {
                continue;
            }
            let open =
                self.item(place).needs.iter().filter(|need| !self.has_landed(**need)).count();
            let open = u32::try_from(open).unwrap_or(u32::MAX);
            if blocker.is_none() {
                self.open += 1;
            }
            let next = blocker.map_or(State::Waiting(open), State::Blocked);
            self.item_mut(place).follow_graph(at, ItemEvent::NeedReleased, next);
        }
    }

    /// All that needs this item, directly or not, each after all its needs among them.
    fn dependents_in_order(&self, cause: ItemIndex) -> Vec<ItemIndex> {
        let mut needs_open: BTreeMap<ItemIndex, usize> = BTreeMap::new();
        let mut front = vec![cause];
        while let Some(place) = front.pop() {
            for dependent in &self.item(place).dependents {
                let open = needs_open.entry(*dependent).or_insert(0);
                if *open == 0 {
                    front.push(*dependent);
                }
                *open += 1;
            }
        }
        let mut ordered = Vec::with_capacity(needs_open.len());
        let mut done = VecDeque::from([cause]);
        while let Some(place) = done.pop_front() {
            for dependent in &self.item(place).dependents {
                let open = needs_open.get_mut(dependent).expect("counted above");
                *open -= 1;
                if *open == 0 {
                    ordered.push(*dependent);
                    done.push_back(*dependent);
                }
            }
        }
        ordered
    }
}

/// A place in the plan as an index; plans have fewer items than `u32` can count.
pub(crate) fn index(place: usize) -> ItemIndex {
    ItemIndex(u32::try_from(place).expect("the linter bounds the items of a plan"))
}
