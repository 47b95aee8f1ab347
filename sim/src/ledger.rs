//! A second opinion: follows the facts of the journal by rules of its own, and objects where one does not hold.
//!
//! It knows what each fact came from, and what git and the verifiers really did. It shares no code with the core
//! but the words, so that a mistake in the core's rules is not repeated here.

mod book;
mod budget;
mod rules;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use cantus_core::Settings;
use cantus_core::event::{Event, ItemIndex, Millis, Submission};
use cantus_core::journal::wire;
use cantus_core::record::{Fact, ItemFact, Record};
use cantus_core::run::Run;
use cantus_proto::ids::{CommitId, ItemId, LeaseId, RunId};
use cantus_proto::plan::RunBudgets;

use crate::bus::{Cause, Entry};
use crate::git::Git;
use crate::world::Trouble;
use book::Book;

pub(crate) type Objection = Result<(), Trouble>;

/// A rule of this invariant does not hold.
pub(crate) fn object(invariant: u8, text: impl Into<String>) -> Objection {
    Err(Trouble { invariant, text: text.into() })
}

/// Objects unless it is so.
pub(crate) fn demand(so: bool, invariant: u8, text: impl FnOnce() -> String) -> Objection {
    if so { Ok(()) } else { object(invariant, text()) }
}

/// What is known of one run.
#[derive(Debug, Clone, Default)]
struct RunBook {
    by_id: BTreeMap<ItemId, ItemIndex>,
    items: Vec<Book>,
    lands: bool,
    budgets: RunBudgets,
}

/// See the module.
#[derive(Debug, Clone)]
pub(crate) struct Ledger {
    settings: Settings,
    plans: Vec<Submission>,
    runs: BTreeMap<RunId, RunBook>,
    held: BTreeMap<LeaseId, (RunId, ItemIndex)>,
    /// When each lease was last answered, in true time.
    heard: BTreeMap<LeaseId, Millis>,
    /// Reports that decided something, by their bytes.
    decided: BTreeMap<Bytes, Arc<Event>>,
    /// Records so far.
    position: u64,
}

/// Where a fact came from.
pub(crate) struct Origin<'a> {
    pub(crate) cause: &'a Cause,
    pub(crate) entry: &'a Entry,
    pub(crate) git: &'a Git,
    /// By the clock of who decided it.
    pub(crate) at: Millis,
}

impl Ledger {
    pub(crate) fn new(settings: &Settings, plans: &[Submission]) -> Self {
        Self {
            settings: settings.clone(),
            plans: plans.to_vec(),
            runs: BTreeMap::new(),
            held: BTreeMap::new(),
            heard: BTreeMap::new(),
            decided: BTreeMap::new(),
            position: 0,
        }
    }

    pub(crate) fn knows(&self, run: &RunId) -> bool {
        self.runs.contains_key(run)
    }

    pub(crate) fn heard(&mut self, lease: Option<&LeaseId>, now: Millis) {
        if let Some(lease) = lease {
            self.heard.insert(lease.clone(), now);
        }
    }

    /// The journal is an old one again: what came after is unknown to everybody.
    pub(crate) fn restored(&mut self, journal: &[Arc<Entry>]) {
        let (settings, plans) = (self.settings.clone(), std::mem::take(&mut self.plans));
        *self = Self::new(&settings, &plans);
        for entry in journal {
            for (record, _) in self.read(entry).unwrap_or_default() {
                self.position += 1;
                match &record.fact {
                    Fact::Submitted(submission) => self.open(submission),
                    Fact::RunCancelled => self.note_cancelled(&record.run, record.at),
                    Fact::RunWarned(_) => {}
                    Fact::Item(place, fact) => {
                        self.note(&record.run, *place, fact, record.at, entry)
                    }
                }
            }
        }
    }

    fn read(&self, entry: &Entry) -> Result<Vec<(Record, Cause)>, Trouble> {
        let unreadable = |why: String| Trouble { invariant: 6, text: format!("unreadable: {why}") };
        let batch = wire::decode(&entry.payload).map_err(|e| unreadable(e.to_string()))?;
        let blob = batch.plan_blob().map_err(|e| unreadable(e.to_string()))?;
        let plan = self.plans.iter().find(|run| Some(&run.plan_blob) == blob.as_ref());
        let records = batch.records(plan.map(|run| &run.plan));
        let records = records.map_err(|e| unreadable(e.to_string()))?;
        Ok(records.into_iter().zip(entry.causes.iter().cloned()).collect())
    }

    /// Takes what was just stored; answers with the facts in it.
    pub(crate) fn take(&mut self, entry: &Entry, git: &Git) -> Result<Vec<Fact>, Trouble> {
        let mut facts = Vec::new();
        for (record, cause) in self.read(entry)? {
            self.position += 1;
            self.check_repeat(&cause, &record.fact)?;
            let origin = Origin { cause: &cause, entry, git, at: record.at };
            match &record.fact {
                Fact::Submitted(submission) => {
                    demand(!self.knows(&record.run), 4, || {
                        format!("run {} is submitted a second time", record.run)
                    })?;
                    self.open(submission);
                }
                Fact::RunCancelled => {
                    let person =
                        matches!(cause, Cause::Event(ref e) if matches!(**e, Event::Cancelled(..)));
                    demand(person, 2, || "a run is cancelled by nobody".to_owned())?;
                    self.note_cancelled(&record.run, record.at);
                }
                Fact::RunWarned(_) => {}
                Fact::Item(place, fact) => {
                    self.judge(&record.run, *place, fact, &origin)?;
                    self.note(&record.run, *place, fact, record.at, entry);
                }
            }
            facts.push(record.fact);
        }
        Ok(facts)
    }

    /// A report that decided something once decides nothing again.
    fn check_repeat(&self, cause: &Cause, fact: &Fact) -> Objection {
        let Cause::Event(event) = cause else { return Ok(()) };
        let Event::Reported(report) = &**event else { return Ok(()) };
        // What the state demands by itself any event may bring about, if a coordinator died before it could.
        let follows = matches!(
            fact,
            Fact::Item(
                _,
                ItemFact::Queued(..)
                    | ItemFact::MergeBegan
                    | ItemFact::Parked(_)
                    | ItemFact::Split(..)
                    | ItemFact::Proposed(..)
            )
        );
        if follows {
            return Ok(());
        }
        let Ok(bytes) = report.encode() else { return Ok(()) };
        let again = self.decided.get(&bytes).is_some_and(|first| !Arc::ptr_eq(first, event));
        demand(!again, 4, || format!("a report that came twice decided {fact:?}"))
    }

    /// All that these decided is stored.
    pub(crate) fn decided(&mut self, causes: &[Cause]) {
        for cause in causes {
            if let Cause::Event(event) = cause
                && let Event::Reported(report) = &**event
                && let Ok(bytes) = report.encode()
            {
                self.decided.insert(bytes, Arc::clone(event));
            }
        }
    }

    fn open(&mut self, submission: &Submission) {
        let plan = &submission.plan;
        let by_id: BTreeMap<ItemId, ItemIndex> =
            plan.items.iter().zip(0..).map(|(item, at)| (item.id.clone(), ItemIndex(at))).collect();
        let book = |item| Book::new(item, &by_id);
        let items = plan.items.iter().map(book).collect();
        let lands = submission.repository.is_some();
        self.runs
            .insert(submission.run.clone(), RunBook { by_id, items, lands, budgets: plan.budgets });
    }

    fn book(&self, run: &RunId, place: ItemIndex) -> Option<&Book> {
        self.runs.get(run)?.items.get(place.0 as usize)
    }

    /// Whether this lease ever held this attempt, by the journal.
    pub(crate) fn ever_held(
        &self,
        run: &RunId,
        item: &ItemId,
        number: u32,
        lease: &LeaseId,
    ) -> bool {
        let book = self.runs.get(run).and_then(|r| r.items.get(r.by_id.get(item)?.0 as usize));
        book.is_some_and(|book| book.leases.contains(&(number, lease.clone())))
    }

    /// The commits that the journal refers to for an item.
    pub(crate) fn commits(&self, run: &RunId, item: &ItemId) -> Option<&BTreeSet<CommitId>> {
        let run = self.runs.get(run)?;
        Some(&run.items.get(run.by_id.get(item)?.0 as usize)?.commits)
    }

    /// Of these, those that were known when the item was last parked.
    pub(crate) fn commits_at_park(
        &self,
        run: &RunId,
        item: &ItemId,
    ) -> Option<&BTreeSet<CommitId>> {
        let run = self.runs.get(run)?;
        Some(&run.items.get(run.by_id.get(item)?.0 as usize)?.at_park)
    }

    /// Compares a core that has the whole journal with what is known here.
    pub(crate) fn compare(&self, position: u64, run: &Run) -> Objection {
        demand(position == self.position, 6, || {
            format!("the core is at position {position}, the journal at {}", self.position)
        })?;
        let Some(known) = self.runs.get(&run.id) else {
            return object(6, format!("nobody submitted run {}", run.id));
        };
        demand(known.items.len() == run.items.len(), 2, || "items appear or vanish".to_owned())?;
        for (item, book) in run.items.iter().zip(&known.items) {
            book.compare(item)?;
        }
        Ok(())
    }

    /// The kinds of facts of a journal, for coverage.
    pub(crate) fn kind(fact: &Fact) -> String {
        let text = match fact {
            Fact::Item(_, ItemFact::Saved(..)) => "Saved".to_owned(),
            Fact::Item(_, ItemFact::Delivered(..)) => "Delivered".to_owned(),
            Fact::Item(_, ItemFact::Verified(..)) => "Verified".to_owned(),
            Fact::Submitted(_) => "Submitted".to_owned(),
            Fact::Item(_, fact) => format!("{fact:?}"),
            other => format!("{other:?}"),
        };
        text.split(['(', ' ']).next().unwrap_or_default().to_owned()
    }
}
