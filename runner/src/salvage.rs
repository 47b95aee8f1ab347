//! Salvage: saves what a lease that ended without a hand-in left in its workspace (W1, W6).
//!
//! Runs in a new container on the old volume. It can be run again until it succeeds; only then may the volume go.

use cantus_proto::message::{AttemptKind, FailureKind, LeaseEvent, LeaseNote};

use crate::helper::{HelperError, Helpers};
use crate::lease::{LeaseError, connect};
use crate::note::{NoteError, Notes};
use crate::reporter::{ReportError, Reporter, failed};
use crate::rooms::{Rooms, RoomsError};
use crate::settings::Settings;
use crate::workspace::collect::Limits;

/// Why nothing could be saved yet.
#[derive(Debug, thiserror::Error)]
pub enum SalvageError {
    /// The note cannot be read or written.
    #[error("the note of the workspace cannot be used")]
    Note(#[from] NoteError),
    /// No directories.
    #[error("the directories for salvage cannot be made")]
    Rooms(#[from] RoomsError),
    /// The work cannot be collected.
    #[error("the work cannot be collected")]
    Collect(#[source] HelperError),
    /// No bus.
    #[error("the bus cannot be reached")]
    Connect(#[source] LeaseError),
    /// The bus did not take it.
    #[error("the work cannot be handed over")]
    Report(#[from] ReportError),
}

/// Saves the work, if there is any that is nowhere else.
///
/// # Errors
/// [`SalvageError`]; everything is where it was, and salvage can be run again.
pub async fn salvage(settings: &Settings) -> Result<(), SalvageError> {
    let notes = Notes::of(&settings.places.work);
    let Some(note) = notes.unsaved()? else {
        tracing::info!("there is nothing to save");
        return Ok(());
    };
    let tree = Rooms::at(&settings.places).tree;
    if note.kind == AttemptKind::Verify || std::fs::symlink_metadata(tree).is_err() {
        tracing::info!(lease = %note.lease, "the lease left no work");
        return Ok(notes.mark_handed_in()?);
    }
    let rooms = Rooms::make(&settings.places)?;
    let limits = Limits { bytes_max: note.artifact_bytes_max, files_max: note.files_max };
    let helpers = Helpers::new(settings, &rooms);
    let collected = match helpers.collect(&note.repository, &note.base, limits).await {
        Ok(collected) => collected,
        // To try again would not make it smaller: that it was too large is what is told.
        Err(HelperError::TooLarge(reason)) => {
            return too_large(settings, note, &notes, reason).await;
        }
        Err(error) => return Err(SalvageError::Collect(error)),
    };
    if let Some(bundle) = &collected.bundle {
        let (bus, _relay) = connect(settings).await.map_err(SalvageError::Connect)?;
        let mut reason = "the lease ended without a hand-in".to_owned();
        for more in collected.broken.iter().chain(&collected.findings) {
            reason.push_str("; ");
            reason.push_str(more);
        }
        let base = note.base.clone();
        let head = match &collected.kept {
            Some(kept) if collected.head == base => kept.clone(),
            _ => collected.head.clone(),
        };
        let lease = note.lease.clone();
        let reporter = Reporter::of_note(bus, settings.role.clone(), note);
        reporter.save(bundle, base, head, reason).await?;
        tracing::info!(%lease, head = %collected.head, "saved");
    }
    Ok(notes.mark_handed_in()?)
}

async fn too_large(
    settings: &Settings,
    note: LeaseNote,
    notes: &Notes,
    reason: String,
) -> Result<(), SalvageError> {
    let (bus, _relay) = connect(settings).await.map_err(SalvageError::Connect)?;
    let failed = LeaseEvent::Failed(failed(FailureKind::TooLarge, &reason));
    let reporter = Reporter::of_note(bus, settings.role.clone(), note);
    reporter.report(failed).await?;
    Ok(notes.mark_handed_in()?)
}
