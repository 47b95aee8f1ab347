//! From arguments to [`crate::ops`], and what those processes say when they are done.

use super::args::{DemoArgs, DownArgs, InitArgs, PoolArgs, ServeArgs, UpArgs};
use super::exit::Exit;
use super::output::Output;
use super::text;
use crate::config::Home;
use crate::ops;

/// `cantus up`
pub(super) async fn up(
    home: &Home,
    args: &UpArgs,
    log: Option<String>,
    output: &mut Output<'_>,
) -> anyhow::Result<Exit> {
    let options = ops::up::Options {
        isolation: args.isolation.into(),
        allow_process_isolation: args.allow_process_isolation,
        log,
    };
    ops::up::up(home, &options).await?;
    output.print(
        "cantus is up: submit a plan with `cantus submit PLAN`, stop it with `cantus down`\n",
    )?;
    Ok(Exit::Ok)
}

/// `cantus down`
pub(super) async fn down(
    home: &Home,
    args: &DownArgs,
    output: &mut Output<'_>,
) -> anyhow::Result<Exit> {
    let options = ops::down::Options { keep_journal: args.keep_journal };
    let removed = ops::down::down(home, &options).await?;
    let counts: Vec<String> = [
        (removed.containers.len(), "container"),
        (removed.volumes.len(), "volume"),
        (removed.networks.len(), "network"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| text::count(count, what))
    .collect();
    let told = match (args.keep_journal, counts.as_slice()) {
        (true, _) => "the journal is kept: runs go on at the next `cantus up`".to_owned(),
        (false, []) => "nothing is left".to_owned(),
        (false, counts) => format!("removed {}; nothing is left", counts.join(", ")),
    };
    output.print(&format!("cantus is down: {told}\n"))?;
    Ok(Exit::Ok)
}

/// `cantus init`
pub(super) fn init(home: &Home, args: &InitArgs, output: &mut Output<'_>) -> anyhow::Result<Exit> {
    let written = ops::init::init(home, args.force)?;
    let path = text::safe(&home.config_file().to_string_lossy());
    let told = if written {
        format!(
            "wrote {path}: set the worker's image and command there, then `cantus up`\n\
             money budgets count with built-in list prices; your own: `coordinator.prices` there\n"
        )
    } else {
        format!("{path} is there already and was left alone; --force writes it anew\n")
    };
    output.print(&told)?;
    Ok(Exit::Ok)
}

/// `cantus serve`
pub(super) async fn serve(home: &Home, args: &ServeArgs) -> anyhow::Result<Exit> {
    let options = ops::serve::Options {
        listen: args.listen,
        bus: args.bus.clone(),
        allow_process_isolation: args.allow_process_isolation,
    };
    ops::serve::serve(home, options).await?;
    Ok(Exit::Ok)
}

/// `cantus pool`
pub(super) async fn pool(home: &Home, args: &PoolArgs) -> anyhow::Result<Exit> {
    let options = ops::pool::Options {
        host: args.host.clone(),
        bus: args.bus.clone(),
        isolation: args.isolation.into(),
        roles: args.roles.clone(),
    };
    ops::pool::serve(home, options).await?;
    Ok(Exit::Ok)
}

/// `cantus demo`. It prints by itself, since it shows the commands that it types.
pub(super) fn demo(args: &DemoArgs, output: &mut Output<'_>) -> anyhow::Result<Exit> {
    output.out.flush()?;
    let options = ops::demo::Options {
        examples: args.examples.clone(),
        keep: args.keep,
        report: args.report.clone(),
    };
    let passed = ops::demo::demo(&options)?;
    Ok(if passed { Exit::Ok } else { Exit::Failed })
}
