//! What the facts say about one item, counted apart from the core.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cantus_core::event::{ItemIndex, Millis};
use cantus_core::item::{Item, State};
use cantus_core::record::{Dispatch, ItemFact, Refuter, Spent};
use cantus_proto::contract::Contract;
use cantus_proto::ids::{
    CommitId, ContainerName, Digest, ItemId, LeaseId, RoleName, RunId, TreeId,
};
use cantus_proto::message::{AttemptKind, Candidate};
use cantus_proto::plan::PlanItem;

use super::{Ledger, Objection, demand};
use crate::bus::Entry;

/// Why nothing happens to an item any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    Landed,
    Reported,
    Parked,
    Cancelled,
}

/// An attempt that has not ended.
#[derive(Debug, Clone)]
pub(super) struct Open {
    pub(super) kind: AttemptKind,
    /// In true time.
    pub(super) queued: Millis,
    pub(super) holder: Option<(LeaseId, ContainerName)>,
    pub(super) leased: Option<(Millis, Millis)>,
    pub(super) leases: u32,
    pub(super) wall_clock_ms: u64,
}

/// What an attempt was given, and what became of it.
#[derive(Debug, Clone)]
pub(super) struct Given {
    pub(super) kind: AttemptKind,
    pub(super) dispatch: Arc<Dispatch>,
    pub(super) spent: Option<Box<Spent>>,
    /// By the clock of who decided.
    pub(super) leased: Option<Millis>,
    pub(super) ended: Option<Millis>,
    /// Machines were to blame for its end.
    pub(super) machines: bool,
}

impl Given {
    fn new(kind: AttemptKind, dispatch: &Arc<Dispatch>) -> Self {
        let dispatch = Arc::clone(dispatch);
        Self { kind, dispatch, spent: None, leased: None, ended: None, machines: false }
    }
}

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct Book {
    pub(super) id: ItemId,
    pub(super) contract: Arc<Contract>,
    pub(super) role: RoleName,
    pub(super) verifier: RoleName,
    pub(super) needs: Vec<ItemIndex>,
    pub(super) tries_max: u32,
    pub(super) last: u32,
    pub(super) tries: u32,
    pub(super) conflicts: u32,
    /// The newest result is one of them.
    pub(super) conflicted: bool,
    /// Attempts before it last began anew.
    pub(super) before: u32,
    pub(super) vain: u32,
    pub(super) rechecks: u32,
    pub(super) open: Option<Open>,
    pub(super) over: Option<Over>,
    /// Put back, and nothing tried since.
    pub(super) fresh: bool,
    pub(super) cancel_wanted: bool,
    /// The attempt and head of the newest result, and whose it was.
    pub(super) work: Option<(u32, CommitId, Option<ContainerName>)>,
    pub(super) gated: bool,
    pub(super) approved: Option<u32>,
    pub(super) candidate: Option<Candidate>,
    pub(super) proof: Option<(TreeId, Digest)>,
    pub(super) leases: BTreeSet<(u32, LeaseId)>,
    pub(super) commits: BTreeSet<CommitId>,
    /// Of these, those that were known when it was last parked.
    pub(super) at_park: BTreeSet<CommitId>,
    /// What each attempt was given and cost.
    pub(super) given: BTreeMap<u32, Given>,
    /// The first attempt that counts since the item was last put back.
    pub(super) counted_from: u32,
    /// Tokens and money that parts were given since then.
    pub(super) to_parts: (u64, u64),
    /// Position of the newest lease's record.
    token: u64,
}

impl Book {
    pub(super) fn new(item: &PlanItem, by_id: &BTreeMap<ItemId, ItemIndex>) -> Self {
        Self {
            id: item.id.clone(),
            contract: Arc::clone(&item.contract),
            role: item.role.clone(),
            verifier: item.verifier.clone(),
            needs: item.needs.iter().filter_map(|need| by_id.get(need).copied()).collect(),
            tries_max: item.attempts_max,
            last: 0,
            tries: 0,
            conflicts: 0,
            conflicted: false,
            before: 0,
            vain: 0,
            rechecks: 0,
            open: None,
            over: None,
            fresh: false,
            cancel_wanted: false,
            work: None,
            gated: false,
            approved: None,
            candidate: None,
            proof: None,
            leases: BTreeSet::new(),
            commits: BTreeSet::new(),
            at_park: BTreeSet::new(),
            given: BTreeMap::new(),
            counted_from: 0,
            to_parts: (0, 0),
            token: 0,
        }
    }

    /// The candidate is proven, so its landing is under way.
    pub(super) fn is_landing(&self) -> bool {
        let proven = |candidate: &Candidate| {
            self.proof.as_ref().is_some_and(|(tree, listing)| {
                *tree == candidate.tree && *listing == candidate.listing_sha256
            })
        };
        self.over.is_none() && self.open.is_none() && self.candidate.as_ref().is_some_and(proven)
    }

    fn begin_anew(&mut self) {
        (self.tries, self.conflicts, self.before) = (0, 0, self.last);
        self.conflicted = false;
        self.over = None;
    }

    fn cancel(&mut self) {
        if matches!(self.over, Some(Over::Landed | Over::Reported | Over::Cancelled)) {
            return;
        }
        if self.is_landing() && !self.cancel_wanted {
            self.cancel_wanted = true;
            return;
        }
        self.cancel_wanted = false;
        (self.open, self.over) = (None, Some(Over::Cancelled));
    }

    pub(super) fn compare(&self, item: &Item) -> Objection {
        let id = &self.id;
        let over = match &item.state {
            State::Landed(_) => Some(Over::Landed),
            State::Reported => Some(Over::Reported),
            State::Parked(_) => Some(Over::Parked),
            State::Cancelled => Some(Over::Cancelled),
            _ => None,
        };
        demand(over == self.over, 2, || {
            format!("{id} is {}, the journal says {:?}", item.state.name(), self.over)
        })?;
        demand(item.proof.is_some() == self.proof.is_some(), 1, || {
            format!("{id} has the proof {:?}, the journal says {:?}", item.proof, self.proof)
        })?;
        let counts = (item.last_number().0, item.tries(), item.conflicts());
        let known = (self.last, self.tries, self.conflicts as usize);
        demand(counts == known, 5, || {
            format!("{id} counts attempts, tries and conflicts as {counts:?}, not {known:?}")
        })?;
        let token = item.attempts.iter().map(|attempt| attempt.token).max().unwrap_or(0);
        demand(token == self.token, 4, || {
            format!("{id} has the fencing token {token}, its lease is record {}", self.token)
        })?;
        let newest = item.attempts.last().and_then(|attempt| attempt.holder.as_deref());
        let holder = self.open.as_ref().map(|open| open.holder.as_ref().map(|(lease, _)| lease));
        let same = holder.is_none_or(|holder| holder == newest.map(|holder| &holder.lease));
        demand(same, 4, || format!("{id} is held by {newest:?}, the journal says {holder:?}"))
    }
}

impl Ledger {
    /// What a person's cancel of a run means for its items: what was stopped is over already.
    pub(super) fn note_cancelled(&mut self, run: &RunId, at: Millis) {
        let Some(run) = self.runs.get_mut(run) else { return };
        let blocked: Vec<bool> =
            (0..run.items.len()).map(|at| is_blocked(&run.items, at)).collect();
        for (book, blocked) in run.items.iter_mut().zip(blocked) {
            if book.over.is_none() && !book.cancel_wanted && !blocked {
                book.cancel();
                book.note_time(at);
            }
        }
        self.release_leases();
    }

    /// Leases that no open attempt has are nobody's.
    fn release_leases(&mut self) {
        let runs = &self.runs;
        self.held.retain(|lease, (run, place)| {
            let book = runs.get(run).and_then(|run| run.items.get(place.0 as usize));
            let open = book.and_then(|book| book.open.as_ref());
            open.and_then(|open| open.holder.as_ref()).is_some_and(|(held, _)| held == lease)
        });
    }

    /// Takes a fact as it is.
    pub(super) fn note(
        &mut self,
        run: &RunId,
        place: ItemIndex,
        fact: &ItemFact,
        at: Millis,
        entry: &Entry,
    ) {
        let position = self.position;
        if let ItemFact::Leased(_, holder) = fact {
            self.held.insert(holder.lease.clone(), (run.clone(), place));
            self.heard.insert(holder.lease.clone(), entry.at);
        }
        if let ItemFact::Split(_, parts) = fact {
            self.split(run, place, parts);
        }
        let book = self.runs.get_mut(run).and_then(|run| run.items.get_mut(place.0 as usize));
        let Some(book) = book else { return };
        match fact {
            ItemFact::Queued(..) | ItemFact::Leased(..) | ItemFact::Ended(..) => {
                book.note_attempt(fact, at, entry.at, position);
            }
            ItemFact::Delivered(..)
            | ItemFact::Gated
            | ItemFact::MergeBegan
            | ItemFact::Merged(_)
            | ItemFact::Verified(..)
            | ItemFact::Refuted(_)
            | ItemFact::HeadMoved(_) => book.note_result(fact),
            _ => book.note_end(fact),
        }
        book.note_time(at);
        self.release_leases();
    }

    fn split(&mut self, run: &RunId, whole: ItemIndex, parts: &[PlanItem]) {
        let Some(run) = self.runs.get_mut(run) else { return };
        for part in parts {
            let place = ItemIndex(u32::try_from(run.by_id.len()).unwrap_or(u32::MAX));
            run.by_id.insert(part.id.clone(), place);
            if let Some(book) = run.items.get_mut(whole.0 as usize) {
                book.needs.push(place);
            }
        }
        let books: Vec<Book> = parts.iter().map(|part| Book::new(part, &run.by_id)).collect();
        run.items.extend(books);
    }
}

/// Whether something that the item needs, directly or not, was stopped.
fn is_blocked(items: &[Book], place: usize) -> bool {
    let stopped = |need: &ItemIndex| {
        let place = need.0 as usize;
        let over = items.get(place).and_then(|book| book.over);
        matches!(over, Some(Over::Parked | Over::Cancelled)) || is_blocked(items, place)
    };
    items.get(place).is_some_and(|book| book.needs.iter().any(stopped))
}

impl Book {
    /// An attempt that is no longer open has ended.
    fn note_time(&mut self, at: Millis) {
        let open = self.open.is_some();
        if let Some(newest) = self.given.get_mut(&self.last).filter(|_| !open) {
            newest.ended = newest.ended.or(Some(at));
        }
    }

    fn note_attempt(&mut self, fact: &ItemFact, at: Millis, now: Millis, position: u64) {
        match fact {
            ItemFact::Queued(number, kind, dispatch) => {
                self.last = number.0;
                self.tries += u32::from(*kind != AttemptKind::Verify);
                self.fresh = false;
                let wall_clock_ms = dispatch.wall_clock_ms;
                self.given.insert(number.0, Given::new(*kind, dispatch));
                self.open = Some(Open {
                    kind: *kind,
                    queued: now,
                    holder: None,
                    leased: None,
                    leases: 0,
                    wall_clock_ms,
                });
            }
            ItemFact::Leased(number, holder) => {
                self.leases.insert((number.0, holder.lease.clone()));
                self.token = position;
                if let Some(given) = self.given.get_mut(&number.0) {
                    given.leased = Some(at);
                }
                if let Some(open) = &mut self.open {
                    open.holder = Some((holder.lease.clone(), holder.leased.container.clone()));
                    open.leased = Some((at, now));
                    open.leases += 1;
                }
            }
            ItemFact::Ended(number, ending, _) => {
                let verify = self.open.as_ref().is_some_and(|o| o.kind == AttemptKind::Verify);
                self.vain += u32::from(verify);
                self.open = None;
                if let Some(given) = self.given.get_mut(&number.0) {
                    given.machines = ending.is_infrastructure();
                }
            }
            _ => {}
        }
    }

    fn note_result(&mut self, fact: &ItemFact) {
        match fact {
            ItemFact::Delivered(number, result) => {
                let holder = self.open.take().and_then(|open| open.holder);
                let container = holder.map(|(_, container)| container);
                self.work = Some((number.0, result.head.clone(), container));
                if result.bundle.is_some() {
                    self.commits.insert(result.head.clone());
                }
                (self.vain, self.rechecks, self.conflicted) = (0, 0, false);
                (self.gated, self.candidate, self.proof) = (false, None, None);
            }
            ItemFact::Gated => (self.gated, self.fresh) = (true, false),
            ItemFact::MergeBegan => self.candidate = None,
            ItemFact::Merged(candidate) => self.candidate = Some((**candidate).clone()),
            ItemFact::Verified(..) => {
                self.open = None;
                let proven = |c: &Candidate| (c.tree.clone(), c.listing_sha256.clone());
                self.proof = self.candidate.as_ref().map(proven);
            }
            ItemFact::Refuted(refutation) => {
                self.open = None;
                (self.gated, self.candidate) = (false, None);
                let own = self.work.as_ref().is_some_and(|(number, ..)| *number > self.before);
                let conflict = own && matches!(refutation.by, Refuter::Merge(_));
                self.conflicts += u32::from(conflict);
                self.conflicted = conflict;
            }
            ItemFact::HeadMoved(_) => self.candidate = None,
            _ => {}
        }
    }

    fn note_end(&mut self, fact: &ItemFact) {
        match fact {
            ItemFact::Landed(..) => {
                self.cancel_wanted = false;
                self.over = Some(Over::Landed);
            }
            ItemFact::Recovered(_) => {
                (self.open, self.cancel_wanted) = (None, false);
                self.over = Some(Over::Landed);
            }
            ItemFact::Reported => self.over = Some(Over::Reported),
            ItemFact::Parked(_) => {
                (self.open, self.over) = (None, Some(Over::Parked));
                self.at_park = self.commits.clone();
            }
            ItemFact::Cancelled => self.cancel(),
            ItemFact::Requeued => {
                self.begin_anew();
                (self.counted_from, self.to_parts) = (self.last + 1, (0, 0));
                (self.fresh, self.gated, self.candidate) = (true, false, None);
            }
            ItemFact::Approved(number, _) => {
                (self.open, self.over, self.fresh) = (None, None, false);
                (self.gated, self.candidate) = (true, None);
                self.approved = Some(number.0);
            }
            ItemFact::Rechecked(_) => {
                self.rechecks += 1;
                // What conflicted is under consideration again.
                self.conflicts -= u32::from(self.conflicted);
                self.conflicted = false;
                (self.over, self.gated, self.candidate) = (None, true, None);
            }
            ItemFact::Saved(_, commits, _) => {
                self.commits.insert(commits.head.clone());
            }
            ItemFact::Settled(number, spent) => {
                if let Some(given) = self.given.get_mut(&number.0) {
                    given.spent = Some(spent.clone());
                }
            }
            ItemFact::Split(_, parts) => {
                self.begin_anew();
                for budgets in parts.iter().map(|part| &part.contract.budgets) {
                    let (tokens, cost) = self.to_parts;
                    let cost = cost + budgets.cost_budget.map_or(0, |cost| cost.0);
                    self.to_parts = (tokens + budgets.token_budget.unwrap_or(0), cost);
                }
            }
            _ => {}
        }
    }
}
