//! `cantus up`: bus, coordinator and pool of one machine, in the background.

use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use cantus_docker::bus_server::{self, BUS_IMAGE, BusServerConfig, STORE_DIR};
use cantus_docker::engine::{Engine, Phase};
use cantus_docker::labels::{self, Kind};
use cantus_proto::message::Isolation;
use cantus_proto::subjects::server_config;

use super::background::Background;
use super::instance;
use crate::config::Home;

/// How long the coordinator may take until it answers; a journal of 100,000 items is read in a few seconds.
const SERVE_MAX: Duration = Duration::from_secs(60);
/// How long the pool may take until it serves.
const POOL_MAX: Duration = Duration::from_secs(60);
/// Pause between two looks.
const LOOK_PAUSE: Duration = Duration::from_millis(50);

/// What the flags say.
#[derive(Debug, Clone)]
pub struct Options {
    /// How agents are kept apart.
    pub isolation: Isolation,
    /// Whether evidence from plain processes may land work.
    pub allow_process_isolation: bool,
    /// Passed on to the processes.
    pub log: Option<String>,
}

/// Starts all that does not run yet and waits until it serves.
///
/// # Errors
/// Names the part that does not start, with the end of its log; what this call started is ended again.
pub async fn up(home: &Home, options: &Options) -> anyhow::Result<()> {
    let config = home.config()?;
    // The coordinator reads them itself; a mistake is better told here than in its log.
    config.rules()?;
    let secrets = home.secrets(&config)?;
    let instance = instance(home)?;
    let engine = Engine::connect().await?;
    let port = config.bus.port;
    let bus = BusServerConfig {
        instance,
        image: BUS_IMAGE.to_owned(),
        port,
        dir: home.bus(),
        config: server_config(port, None, STORE_DIR, &secrets.bus_users()),
    };
    bus_server::start(&engine, &bus).await?;
    let this = std::env::current_exe().context("cannot find this program's own file")?;
    let started = start_processes(home, &this, options, &engine, &bus.instance).await;
    if started.is_err() {
        // What the user gets is the first failure, not what clearing up says.
        let _ = super::down::down(home, &super::down::Options { keep_journal: true }).await;
    }
    started
}

async fn start_processes(
    home: &Home,
    this: &Path,
    options: &Options,
    engine: &Engine,
    instance: &str,
) -> anyhow::Result<()> {
    let mut serve = vec!["serve"];
    if options.allow_process_isolation {
        serve.push("--allow-process-isolation");
    }
    let mut pool = vec!["pool"];
    if options.isolation == Isolation::Process {
        pool.extend(["--isolation", "process"]);
    }
    let serve = start(home, this, options, "serve", &serve)?;
    let socket = home.socket();
    wait(&serve, SERVE_MAX, async || tokio::net::UnixStream::connect(&socket).await.is_ok())
        .await?;
    let pool = start(home, this, options, "pool", &pool)?;
    if options.isolation == Isolation::Process {
        return Ok(());
    }
    let slots: u32 = home.config()?.roles.values().map(|role| role.slots).sum();
    wait(&pool, POOL_MAX, async || warm(engine, instance).await >= slots as usize).await
}

/// How many containers of roles run.
async fn warm(engine: &Engine, instance: &str) -> usize {
    let found = engine.containers(&[(labels::INSTANCE, instance)]).await.unwrap_or_default();
    let role = |kind: &String| [Kind::Worker, Kind::Verifier].iter().any(|k| k.as_str() == kind);
    let warm = found.iter().filter(|container| {
        container.phase == Phase::Running && container.labels.get(labels::KIND).is_some_and(role)
    });
    warm.count()
}

fn start(
    home: &Home,
    this: &Path,
    options: &Options,
    name: &str,
    arguments: &[&str],
) -> anyhow::Result<Background> {
    let process = Background::new(home, name);
    if process.running().is_some() {
        return Ok(process);
    }
    let mut arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
    arguments.extend(["--home".to_owned(), home.dir().display().to_string()]);
    if let Some(log) = &options.log {
        arguments.extend(["--log".to_owned(), log.clone()]);
    }
    process.start(this, &arguments)?;
    Ok(process)
}

/// Waits until the process serves, at most so long.
async fn wait(
    process: &Background,
    limit: Duration,
    serves: impl AsyncFn() -> bool,
) -> anyhow::Result<()> {
    let looks = limit.as_millis() / LOOK_PAUSE.as_millis();
    for _ in 0..looks {
        if serves().await {
            return Ok(());
        }
        if process.running().is_none() {
            anyhow::bail!(
                "it did not start; the end of {}:\n{}",
                process.log().display(),
                process.last_words()
            );
        }
        tokio::time::sleep(LOOK_PAUSE).await;
    }
    anyhow::bail!(
        "it does not serve after {} s; the end of {}:\n{}",
        limit.as_secs(),
        process.log().display(),
        process.last_words()
    )
}
