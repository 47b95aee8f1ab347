//! `replay`: a run's past, rebuilt here from its journal.

use cantus_core::event::Millis;
use cantus_core::run::Run;

use crate::cli::args::{Point, ReplayArgs};
use crate::cli::client::{Client, Place, TRANSFER_MAX};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::render::item_rows::Canvas;
use crate::cli::render::replay::{self as render, Moments, Told};
use crate::cli::render::{item, run};
use crate::cli::{json as documents, terminal};
use crate::config::Home;
use crate::kernel::now;
use crate::replay::{History, ReplayError, Until, diff, words};
use crate::view;

/// See the module.
pub(in crate::cli) async fn replay(
    home: &Home,
    args: &ReplayArgs,
    output: &mut Output<'_>,
) -> anyhow::Result<Exit> {
    let client = Client::connect(Place::choose(args.server.connect.as_deref(), home)).await?;
    let fetched = History::fetch(client.api.clone(), &args.run);
    let history = client.within(TRANSFER_MAX, fetched).await?;
    let history = history.map_err(|error| failed(&client, error))?;
    let shown = match (&args.diff, args.list) {
        (Some(points), _) => differences(&history, points, args, output),
        (None, true) => list(&history, args, output),
        (None, false) => state(&history, args, output),
    };
    shown.map_err(|error| match error.downcast::<ReplayError>() {
        Ok(error) => failed(&client, error),
        Err(error) => error,
    })?;
    Ok(Exit::Ok)
}

/// What a replay's error means to the person who asked.
fn failed(client: &Client, error: ReplayError) -> anyhow::Error {
    match error {
        ReplayError::Call(status) => client.error(&status).into(),
        ReplayError::BeforeTheRun { .. } | ReplayError::AfterTheEnd { .. } => {
            CliError::Unknown { reason: error.to_string() }.into()
        }
        other => other.into(),
    }
}

fn until(point: Point) -> Until {
    match point {
        Point::Sequence(sequence) => Until::Sequence(sequence),
        Point::At(at_ms) => Until::Time(Millis(at_ms)),
        Point::Ago(ms) => Until::Time(Millis(now().0.saturating_sub(ms))),
    }
}

fn asked(args: &ReplayArgs) -> Until {
    match (args.at, args.until) {
        (Some(sequence), _) => Until::Sequence(sequence),
        (None, Some(point)) => until(point),
        (None, None) => Until::End,
    }
}

/// The run at a point, with the point's place and time.
fn at(history: &History, until: Until) -> Result<(Run, Told), ReplayError> {
    let core = history.core_at(until)?;
    let moments = history.moments_until(until)?;
    let last = moments.last().map_or((0, 0), |moment| (moment.sequence, moment.at.0));
    let run = core.runs().get(history.run()).cloned();
    let run = run.ok_or_else(|| ReplayError::Strange {
        run: history.run().clone(),
        what: "it does not begin with a submission",
    })?;
    Ok((run, Told { sequence: last.0, at_ms: last.1 }))
}

fn item_of<'run>(
    run: &'run Run,
    item: &str,
) -> Result<(&'run Run, cantus_core::event::ItemIndex), CliError> {
    view::find_item(run, item).map_err(|reason| CliError::Unknown { reason })
}

fn state(history: &History, args: &ReplayArgs, output: &mut Output<'_>) -> anyhow::Result<()> {
    let point = asked(args);
    let (found, told) = at(history, point)?;
    let now_ms = match point {
        Until::Time(time) if found.ended.is_none() => time.0.min(now().0).max(told.at_ms),
        _ => told.at_ms,
    };
    if let Some(id) = &args.item {
        let (found, place) = item_of(&found, id)?;
        let view = view::item(found, place);
        if args.server.json {
            output.json(&render::at_point(documents::item(&view), told), false)?;
        } else {
            let shown = item::item(&view, now_ms, output.paint);
            output.print(&(render::point(told, output.paint) + &shown))?;
        }
        return Ok(());
    }
    let view = view::run(&found);
    if args.server.json {
        output.json(&render::at_point(documents::run(&view), told), false)?;
    } else {
        let width = output.terminal.then(|| terminal::size(std::io::stdout()).columns);
        let shown = run::run(&view, Canvas { now_ms, width, paint: output.paint });
        output.print(&(render::point(told, output.paint) + &shown))?;
    }
    Ok(())
}

fn list(history: &History, args: &ReplayArgs, output: &mut Output<'_>) -> anyhow::Result<()> {
    let until = asked(args);
    // Names of items are those of the end: splits only append.
    let (run, _) = at(history, Until::End)?;
    if let Some(id) = &args.item {
        item_of(&run, id)?;
    }
    let mut moments = Moments::new(args.run.clone());
    for moment in history.moments_until(until)? {
        for (position, record) in &history.records()[moment.records.clone()] {
            let (item, told) = words::told(&run, &record.fact);
            let item = item.unwrap_or_default();
            if args.item.as_ref().is_none_or(|wanted| wanted == item) {
                let at = Told { sequence: moment.sequence, at_ms: moment.at.0 };
                moments.add(at, *position, item, &told);
            }
        }
    }
    if args.server.json {
        output.json(&moments.json(), false)?;
    } else {
        output.print(&moments.text(output.paint))?;
    }
    Ok(())
}

fn differences(
    history: &History,
    points: &[Point],
    args: &ReplayArgs,
    output: &mut Output<'_>,
) -> anyhow::Result<()> {
    let [first, second] = points else { anyhow::bail!("--diff takes two points") };
    let ((before, from), (after, to)) = (at(history, until(*first))?, at(history, until(*second))?);
    let mut changes = diff::changes(&before, &after);
    if let Some(id) = &args.item {
        item_of(if from.sequence > to.sequence { &before } else { &after }, id)?;
        changes.retain(|change| change.item == *id);
    }
    if args.server.json {
        output.json(&render::changes_json(&args.run, (from, to), &changes), false)?;
    } else {
        output.print(&render::changes(&args.run, (from, to), &changes, output.paint))?;
    }
    Ok(())
}
