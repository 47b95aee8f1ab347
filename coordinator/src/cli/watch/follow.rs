//! Follows a run over the wire, also across a restart of the coordinator.
//!
//! It is a task of its own that hands views on, so that whoever draws can wait for views, clock and signals at
//! once without losing any.

use std::time::Duration;

use cantus_proto::wire::v1::{RunView, WatchRequest};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::cli::client::{ANSWER_MAX, Client, Place};
use crate::cli::error::CliError;

/// Pause between two tries to find the coordinator again.
const AGAIN_PAUSE: Duration = Duration::from_millis(500);
/// How long a coordinator may be away: it reads its journal in a few seconds, a machine boots in a minute.
const AWAY_MAX: Duration = Duration::from_secs(120);
/// Views that wait for a slow reader; the server holds back when they are taken.
const BACKLOG: usize = 2;

/// What there is to say about the run.
#[derive(Debug)]
pub(super) enum Heard {
    /// The run as it is now.
    View(Box<RunView>),
    /// The coordinator is away, for this reason; the run is asked for again.
    Away(String),
    /// It cannot go on.
    Failed(CliError),
}

/// Starts to follow. The channel closes after the view that shows the run's end, or after a failure.
pub(super) fn follow(place: Place, run: String) -> mpsc::Receiver<Heard> {
    let (sender, receiver) = mpsc::channel(BACKLOG);
    tokio::spawn(async move {
        let mut last_seen: Option<Instant> = None;
        loop {
            let error = match stream(&place, &run, &sender, &mut last_seen).await {
                Ok(()) => return,
                Err(error) => error,
            };
            // A run that was never seen is not waited for: the coordinator may never have been there.
            let may_return = last_seen.is_some_and(|since| since.elapsed() < AWAY_MAX);
            let Some(reason) = away(&error).filter(|_| may_return) else {
                let _ = sender.send(Heard::Failed(error)).await;
                return;
            };
            if sender.send(Heard::Away(reason)).await.is_err() {
                return;
            }
            tokio::time::sleep(AGAIN_PAUSE).await;
        }
    });
    receiver
}

/// Why the coordinator is not there, if that is what the error says.
fn away(error: &CliError) -> Option<String> {
    match error {
        CliError::WentAway { reason, .. } | CliError::Unreachable { reason, .. } => {
            Some(format!("the coordinator is away: {reason}"))
        }
        CliError::TooSlow { .. } => Some(error.to_string()),
        _ => None,
    }
}

/// Hands views on until the run has ended or nobody listens. `last_seen` says when the coordinator last spoke.
async fn stream(
    place: &Place,
    run: &str,
    sender: &mpsc::Sender<Heard>,
    last_seen: &mut Option<Instant>,
) -> Result<(), CliError> {
    let client = Client::connect(place.clone()).await?;
    let mut api = client.api.clone();
    let request = WatchRequest { run: run.to_owned() };
    let mut views = client.answer(ANSWER_MAX, api.watch(request)).await?;
    loop {
        let view = match views.message().await {
            Ok(Some(view)) => view,
            Ok(None) => {
                let reason = "it ended the stream before the run had ended".to_owned();
                return Err(CliError::WentAway { place: place.clone(), reason });
            }
            Err(status) => return Err(client.error(&status)),
        };
        *last_seen = Some(Instant::now());
        let ended = view.ended_ms != 0;
        if sender.send(Heard::View(Box::new(view))).await.is_err() || ended {
            return Ok(());
        }
    }
}
