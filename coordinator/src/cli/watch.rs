//! `cantus watch`: follows a run until it has ended; drawn in place, as lines, or as JSON.

mod follow;
mod frame;
mod lines;
mod redraw;

use std::io;
use std::time::Duration;

use cantus_proto::wire::v1::RunView;
use tokio::sync::mpsc::Receiver;
use tokio::time::MissedTickBehavior;

use follow::Heard;
use lines::Lines;
use redraw::Redraw;

use super::client::Place;
use super::exit::Exit;
use super::output::Output;
use super::paint::Ink;
use super::render::item_rows::Canvas;
use super::render::run;
use super::terminal::{self, Size};
use super::{json, text};
use crate::kernel::now;
use crate::ops::signalled;

/// Pause between two pictures at least: ten a second is as much as people see.
const PICTURE_PAUSE: Duration = Duration::from_millis(100);
/// Pictures after which the durations in them are drawn anew, though nothing else changed: one second.
const PICTURES_STILL: u32 = 10;
/// Items of an ended run that are all printed in the end; beyond, `status` is there.
const ITEMS_PRINTED_MAX: usize = 500;

/// How the run is shown.
enum Show {
    Json,
    Lines(Lines),
    Live(Live),
}

#[derive(Default)]
struct Live {
    redraw: Redraw,
    size: Option<Size>,
    changed: bool,
    still: u32,
    away: Option<String>,
    clock: Clock,
}

/// The coordinator's clock, as far as this machine knows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Clock {
    ahead_ms: i64,
}

impl Clock {
    /// As a view tells it; a coordinator that tells nothing is believed to have this machine's.
    fn of(view: &RunView, here_ms: u64) -> Self {
        let there = if view.server_ms == 0 { here_ms } else { view.server_ms };
        Self { ahead_ms: i64::try_from(i128::from(there) - i128::from(here_ms)).unwrap_or(0) }
    }

    fn at(self, here_ms: u64) -> u64 {
        here_ms.saturating_add_signed(self.ahead_ms)
    }
}

/// Follows the run and says how it ended.
pub(super) async fn watch(
    place: Place,
    id: &str,
    as_json: bool,
    output: &mut Output<'_>,
) -> anyhow::Result<Exit> {
    let mut show = match (as_json, output.live) {
        (true, _) => Show::Json,
        (false, true) => Show::Live(Live::default()),
        (false, false) => Show::Lines(Lines::default()),
    };
    let heard = follow::follow(place, id.to_owned());
    let ended = until_end(heard, id, &mut show, output).await;
    if let Show::Live(live) = &mut show {
        output.print(&live.redraw.leave())?;
    }
    ended
}

async fn until_end(
    mut heard: Receiver<Heard>,
    id: &str,
    show: &mut Show,
    output: &mut Output<'_>,
) -> anyhow::Result<Exit> {
    let mut last: Option<Box<RunView>> = None;
    let mut away = String::new();
    let mut pictures = tokio::time::interval(PICTURE_PAUSE);
    pictures.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut signals = std::pin::pin!(signalled());
    loop {
        tokio::select! {
            next = heard.recv() => match next {
                Some(Heard::View(view)) => {
                    away.clear();
                    show.view(&view, output)?;
                    last = Some(view);
                }
                Some(Heard::Away(reason)) => if reason != away {
                    show.away(&reason, output)?;
                    away = reason;
                },
                Some(Heard::Failed(error)) => return Err(error.into()),
                None => break,
            },
            _ = pictures.tick() => if let (Show::Live(live), Some(view)) = (&mut *show, &last) {
                live.tick(view, output)?;
            },
            signal = &mut signals => {
                signal?;
                if let Show::Live(live) = show {
                    output.print(&live.redraw.leave())?;
                }
                output.note(&format!("the run goes on; follow it with: cantus watch {}", text::shell_word(id)))?;
                return Ok(Exit::Interrupted);
            }
        }
    }
    let view = last.ok_or_else(|| anyhow::anyhow!("the run was never shown"))?;
    show.end(&view, output)?;
    Ok(exit(&view))
}

/// The exit code for a run's state.
fn exit(view: &RunView) -> Exit {
    match view.state.as_str() {
        "completed" => Exit::Ok,
        "failed" => Exit::Failed,
        "cancelled" => Exit::Cancelled,
        _ => Exit::Internal,
    }
}

impl Show {
    fn view(&mut self, view: &RunView, output: &mut Output<'_>) -> io::Result<()> {
        match self {
            Self::Json => output.json(&json::run(view), true),
            Self::Lines(lines) => {
                let now_ms = Clock::of(view, now().0).at(now().0);
                let text = lines.update(view, now_ms, output.paint);
                output.print(&text)
            }
            Self::Live(live) => {
                (live.changed, live.away) = (true, None);
                live.clock = Clock::of(view, now().0);
                Ok(())
            }
        }
    }

    fn away(&mut self, reason: &str, output: &mut Output<'_>) -> io::Result<()> {
        let reason = text::safe(&text::bounded(reason, text::PROSE_CHARS_MAX));
        match self {
            Self::Json | Self::Lines(_) => output.note(&format!("{reason}; trying again")),
            Self::Live(live) => {
                live.changed |= live.away.as_ref() != Some(&reason);
                live.away = Some(reason);
                Ok(())
            }
        }
    }

    fn end(&mut self, view: &RunView, output: &mut Output<'_>) -> io::Result<()> {
        let now_ms = Clock::of(view, now().0).at(now().0);
        let canvas = Canvas { now_ms, width: None, paint: output.paint };
        match self {
            Self::Json => return Ok(()),
            Self::Lines(_) => {}
            Self::Live(live) => {
                // What was drawn in place is replaced by what stays in the terminal's history.
                output.print(&live.redraw.clear())?;
                if view.items.len() <= ITEMS_PRINTED_MAX {
                    let width = terminal::size(io::stdout()).columns.saturating_sub(1);
                    output.print(&run::run(view, Canvas { width: Some(width), ..canvas }))?;
                }
            }
        }
        output.print(&run::summary(view, canvas.now_ms, canvas.paint))
    }
}

impl Live {
    fn tick(&mut self, view: &RunView, output: &mut Output<'_>) -> io::Result<()> {
        let size = terminal::size(io::stdout());
        self.still += 1;
        if !self.changed && self.still < PICTURES_STILL && self.size == Some(size) {
            return Ok(());
        }
        (self.changed, self.still, self.size) = (false, 0, Some(size));
        let now_ms = self.clock.at(now().0);
        let canvas = Canvas { now_ms, width: None, paint: output.paint };
        let rows = size.rows.saturating_sub(usize::from(self.away.is_some()));
        let mut lines = frame::lines(view, Size { rows, ..size }, canvas);
        if let Some(away) = &self.away {
            let line =
                format!("{}; trying again", text::cut(away, size.columns.saturating_sub(20)));
            lines.push(super::paint::clip(
                &output.paint.ink(Ink::Warning, &line),
                size.columns.saturating_sub(1),
            ));
        }
        output.print(&self.redraw.update(lines, size.columns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_by_the_coordinators_clock() {
        let view = |server_ms| RunView { server_ms, ..Default::default() };
        for (there, here, later, shown) in
            [(5_000, 1_000, 1_500, 5_500), (1_000, 5_000, 5_500, 1_500), (0, 5_000, 5_500, 5_500)]
        {
            assert_eq!(Clock::of(&view(there), here).at(later), shown);
        }
    }
}
