//! The past of one run: its journal, fetched from the coordinator and replayed with the pure core, here.
//!
//! A replay decides nothing, so it needs no settings, bus or git. Records keep their positions in the whole journal,
//! because a lease's position is its fencing token.

pub mod diff;
pub mod words;

use std::ops::Range;
use std::sync::Arc;

use cantus_core::event::Millis;
use cantus_core::item::Inconsistent;
use cantus_core::journal::plan;
use cantus_core::journal::wire::{self, Batch, RecordError};
use cantus_core::record::Record;
use cantus_core::rules::Rules;
use cantus_core::{Core, Settings};
use cantus_proto::evidence::Trust;
use cantus_proto::ids::RunId;
use cantus_proto::plan::Plan;
use cantus_proto::wire::v1;
use cantus_proto::wire::v1::cantus_client::CantusClient;
use tonic::Status;
use tonic::transport::Channel;

use crate::artifact::{self, ArtifactError};
use crate::cli::utc;

/// Longest history that is taken into memory, in bytes of journal: a run of 200,000 items has a third of it.
const HISTORY_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// The journal of one run, in order.
#[derive(Debug, Clone)]
pub struct History {
    run: RunId,
    journal_end: u64,
    bytes: u64,
    moments: Vec<Moment>,
    records: Vec<(u64, Record)>,
}

/// One message of the journal: what was decided about the run at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// Its place in the journal.
    pub sequence: u64,
    /// When it was decided.
    pub at: Millis,
    /// Which of [`History::records`].
    pub records: Range<usize>,
}

/// A point of a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// What is so now.
    End,
    /// After this message of the journal.
    Sequence(u64),
    /// At this time.
    Time(Millis),
}

/// Why there is no history, or no such point in it.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The coordinator did not give it.
    #[error("the coordinator gave no journal")]
    Call(#[from] Box<Status>),
    /// Nothing came, or something that cannot follow.
    #[error("the coordinator sent no journal of run {run}: {what}")]
    Strange {
        /// Whose.
        run: RunId,
        /// What is wrong.
        what: &'static str,
    },
    /// More than fits.
    #[error(
        "the journal of run {run} has more than {HISTORY_BYTES_MAX} bytes, which are not taken into memory"
    )]
    TooLarge {
        /// Whose.
        run: RunId,
    },
    /// It cannot be read.
    #[error("message {sequence} of the journal cannot be read")]
    Record {
        /// Its place.
        sequence: u64,
        /// What is wrong with it.
        source: RecordError,
    },
    /// The plan is not there.
    #[error("the plan of run {run} cannot be fetched")]
    Plan {
        /// Whose plan.
        run: RunId,
        /// What is wrong.
        source: ArtifactError,
    },
    /// It does not fit together.
    #[error("message {sequence} of the journal does not follow from those before it")]
    Inconsistent {
        /// Its place.
        sequence: u64,
        /// Which item and state.
        source: Inconsistent,
    },
    /// The point is before the run.
    #[error(
        "run {run} was not there yet: it began with sequence {began}, at {} (its points: cantus replay {run} --list)",
        utc(began_at.0)
    )]
    BeforeTheRun {
        /// Which run.
        run: RunId,
        /// The sequence of its first message.
        began: u64,
        /// The time of its first message.
        began_at: Millis,
    },
    /// The point is after all that there is.
    #[error("the journal ends with sequence {journal_end}: {asked} is still to come")]
    AfterTheEnd {
        /// What was asked for.
        asked: u64,
        /// Where it ends.
        journal_end: u64,
    },
}

impl History {
    /// Fetches the journal of a run as it is now, and the run's plan.
    ///
    /// # Errors
    /// [`ReplayError`] when the run is not known, the call fails, or what came is no journal.
    pub async fn fetch(mut client: CantusClient<Channel>, run: &str) -> Result<Self, ReplayError> {
        let request = v1::JournalRequest { run: run.to_owned() };
        let mut entries = client.journal(request).await.map_err(Box::new)?.into_inner();
        let mut history: Option<Self> = None;
        while let Some(entry) = entries.message().await.map_err(Box::new)? {
            let sequence = entry.sequence;
            let unreadable = |source| ReplayError::Record { sequence, source };
            let batch = wire::decode(&entry.batch).map_err(unreadable)?;
            let plan = match batch.plan_blob().map_err(unreadable)? {
                None => None,
                Some(blob) => {
                    let bytes = artifact::fetch(&mut client, &blob, plan::COMPILED_BYTES_MAX).await;
                    let bytes = bytes
                        .map_err(|source| ReplayError::Plan { run: batch.run.clone(), source })?;
                    Some(plan::decode(&bytes).map_err(unreadable)?)
                }
            };
            let history = history.get_or_insert_with(|| Self::new(batch.run.clone()));
            history.take(&entry, batch, plan.as_ref())?;
        }
        history.ok_or_else(|| {
            // The coordinator names unknown runs itself; a name that is none never gets here.
            let strange =
                RunId::new(run).map(|run| ReplayError::Strange { run, what: "it is empty" });
            strange.unwrap_or_else(|error| Box::new(Status::not_found(error.to_string())).into())
        })
    }

    /// The history of a run before its first message.
    #[must_use]
    pub fn new(run: RunId) -> Self {
        Self { run, journal_end: 0, bytes: 0, moments: Vec::new(), records: Vec::new() }
    }

    /// Takes the next message; `plan` is the one that its submission names, if it has one.
    ///
    /// # Errors
    /// [`ReplayError`] when it is not readable, of another run, or not the next one.
    pub fn add(
        &mut self,
        entry: &v1::JournalEntry,
        plan: Option<&Arc<Plan>>,
    ) -> Result<(), ReplayError> {
        let sequence = entry.sequence;
        let batch = wire::decode(&entry.batch);
        let batch = batch.map_err(|source| ReplayError::Record { sequence, source })?;
        self.take(entry, batch, plan)
    }

    fn take(
        &mut self,
        entry: &v1::JournalEntry,
        batch: Batch,
        plan: Option<&Arc<Plan>>,
    ) -> Result<(), ReplayError> {
        let sequence = entry.sequence;
        let next = self.records.last().map_or(1, |(position, _)| position + 1);
        let follows = self.moments.last().is_none_or(|before| before.sequence < sequence);
        if batch.run != self.run || !follows || entry.position < next {
            let what = "a message is of another run or not in order";
            return Err(ReplayError::Strange { run: self.run.clone(), what });
        }
        self.bytes += entry.batch.len() as u64;
        if self.bytes > HISTORY_BYTES_MAX {
            return Err(ReplayError::TooLarge { run: self.run.clone() });
        }
        let (at, first) = (batch.at, self.records.len());
        let records = batch.records(plan);
        let records = records.map_err(|source| ReplayError::Record { sequence, source })?;
        self.records.extend((entry.position..).zip(records));
        self.moments.push(Moment { sequence, at, records: first..self.records.len() });
        self.journal_end = self.journal_end.max(entry.journal_end).max(sequence);
        Ok(())
    }

    /// Whose history it is.
    #[must_use]
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Its records with their positions in the whole journal.
    #[must_use]
    pub fn records(&self) -> &[(u64, Record)] {
        &self.records
    }

    /// Its messages.
    #[must_use]
    pub fn moments(&self) -> &[Moment] {
        &self.moments
    }

    /// The messages up to a point, at least one.
    ///
    /// # Errors
    /// [`ReplayError`] when the point is before the run, or after the journal's end.
    pub fn moments_until(&self, until: Until) -> Result<&[Moment], ReplayError> {
        let count = match until {
            Until::End => self.moments.len(),
            Until::Sequence(asked) if asked > self.journal_end => {
                return Err(ReplayError::AfterTheEnd { asked, journal_end: self.journal_end });
            }
            Until::Sequence(asked) => self.moments.partition_point(|m| m.sequence <= asked),
            // Not a search: the clocks of two coordinators may differ, and what is later in the journal is later.
            Until::Time(time) => self.moments.iter().take_while(|m| m.at <= time).count(),
        };
        match (&self.moments[..count], self.moments.first()) {
            ([], Some(first)) => Err(ReplayError::BeforeTheRun {
                run: self.run.clone(),
                began: first.sequence,
                began_at: first.at,
            }),
            ([], None) => Err(ReplayError::Strange { run: self.run.clone(), what: "it is empty" }),
            (moments, _) => Ok(moments),
        }
    }

    /// The state at a point: exactly what the coordinator knew of the run then.
    ///
    /// # Errors
    /// [`ReplayError`] when there is no such point, or the records do not fit together.
    pub fn core_at(&self, until: Until) -> Result<Core, ReplayError> {
        let mut core = Core::new(settings());
        for moment in self.moments_until(until)? {
            for (position, record) in &self.records[moment.records.clone()] {
                core.apply_at(*position, record).map_err(|source| ReplayError::Inconsistent {
                    sequence: moment.sequence,
                    source,
                })?;
            }
        }
        Ok(core)
    }
}

/// For a core that only replays: deadlines and limits are what it never asks for.
fn settings() -> Settings {
    Settings {
        lease_ms: u64::MAX,
        heartbeat_ms: u64::MAX,
        queue_wait_ms: u64::MAX,
        queue_window: 0,
        verify_ahead: 0,
        checks_max: 0,
        artifact_bytes_max: 0,
        files_max: 0,
        rules: Rules::default(),
        trust: Trust::default(),
        allow_process_isolation: false,
    }
}

#[cfg(test)]
pub(crate) mod tests;
