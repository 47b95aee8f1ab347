//! The state machine rule (SPEC B2): transitions are code, each kind of thing one table over (state, event).
//!
//! - **A table is data.** A [`Row`] says: from these states, on this event, if its guard holds, to one of those. There is
//!   one for runs ([`run`]), items ([`item`]), attempts ([`attempt`]), leases ([`lease`]) and wishes ([`proposal`]).
//!   A document is made from them, and a test keeps it true.
//! - **An illegal pair is one error.** A pair that no row holds is [`Inconsistent`], which names both. It is our own
//!   bug, or a journal that is damaged or of another program; nothing was changed.
//! - **Duplicates and stale events are no facts.** They are refused before they become one, by whoever decides (a lease
//!   that no longer holds, an answer for which nothing waits), and are in no journal. So no table has a row for them.
//! - **Guards read what a state does not say**: budgets, evidence, scope. A row names its guard in words. It is asked
//!   when a fact is decided; a replay applies the fact and asks only what the thing itself can answer.
//! - **A wish is a proposal and no more.** What a model says of its work (done, partial, split it) is journaled, and
//!   changes nothing by itself. It is confirmed by its exit evidence alone; see [`proposal`].

pub(crate) mod attempt;
pub(crate) mod item;
pub(crate) mod lease;
pub(crate) mod proposal;
pub(crate) mod run;

/// A state or an event: one of a closed set of words.
pub(crate) trait Word: Copy + Eq + std::fmt::Debug + 'static {
    /// All of them, in the order in which things usually happen.
    const ALL: &'static [Self];

    /// The word, and what it means.
    fn word(self) -> (&'static str, &'static str);

    /// The word.
    fn name(self) -> &'static str {
        self.word().0
    }
}

/// What may follow from one event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<S: 'static, E> {
    /// In which states.
    pub(crate) from: &'static [S],
    /// On what.
    pub(crate) event: E,
    /// What must hold besides, in words; empty: nothing. Whoever decides the fact has asked it.
    pub(crate) guard: &'static str,
    /// Where it leads: one of these. Empty: it stays where it is.
    pub(crate) to: &'static [S],
}

/// All that may follow, for one kind of thing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Table<S: 'static, E: 'static> {
    /// What it is about: `item`.
    pub(crate) of: &'static str,
    /// In reading order; a pair of state and event is in one row at most.
    pub(crate) rows: &'static [Row<S, E>],
}

/// An event that does not fit the state that it meets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{what} is {state}, which the event \"{event}\" does not follow{}; the journal is damaged or of another program",
    if .guard.is_empty() { String::new() } else { format!(" unless this holds: {}", .guard) }
)]
pub struct Inconsistent {
    /// Which run, item, attempt, lease or wish.
    pub what: String,
    /// The state's word.
    pub state: &'static str,
    /// The event's word.
    pub event: &'static str,
    /// The guard that does not hold, where the pair has a row.
    pub guard: &'static str,
}

impl<S: Word, E: Word> Table<S, E> {
    /// The row of this pair, if it has one.
    #[must_use]
    pub(crate) fn row(&self, from: S, event: E) -> Option<&'static Row<S, E>> {
        self.rows.iter().find(|row| row.event == event && row.from.contains(&from))
    }

    /// The row of this pair, or the one error that names both.
    ///
    /// # Errors
    /// [`Inconsistent`] when the pair is in no row. `name` says which one of its kind it is.
    pub(crate) fn follow(
        &self,
        from: S,
        event: E,
        name: impl FnOnce() -> String,
    ) -> Result<&'static Row<S, E>, Inconsistent> {
        self.row(from, event).ok_or_else(|| self.refuse(from, event, name))
    }

    /// The error of this pair: it has no row, or the guard of its row does not hold.
    pub(crate) fn refuse(&self, from: S, event: E, name: impl FnOnce() -> String) -> Inconsistent {
        let what = format!("{} {}", self.of, name());
        let guard = self.row(from, event).map_or("", |row| row.guard);
        Inconsistent { what, state: from.name(), event: event.name(), guard }
    }
}

impl<S: Word, E: Word> Row<S, E> {
    /// Whether the row leads from the one to the other.
    #[must_use]
    pub(crate) fn leads(&self, from: S, to: S) -> bool {
        if self.to.is_empty() { from == to } else { self.to.contains(&to) }
    }
}
