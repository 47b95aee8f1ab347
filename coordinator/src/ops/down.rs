//! `cantus down`: ends everything of an installation and leaves nothing behind.

use std::time::Duration;

use cantus_docker::bus_server;
use cantus_docker::engine::Engine;
use cantus_docker::sweep::{self, Removed};
use rustix::process::Signal;

use super::background::Background;
use super::instance;
use crate::config::Home;

/// How long a pool may take to save what agents did and to clear its containers away.
const POOL_MAX: Duration = Duration::from_secs(90);
/// How long any other process may take to end.
const END_MAX: Duration = Duration::from_secs(10);

/// What the flags say.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Leave the bus's volume, so that `cantus up` goes on where it was.
    pub keep_journal: bool,
}

/// Ends the processes, then removes containers, networks, volumes and sockets.
///
/// # Errors
/// When Docker cannot be reached or does not do it; it can be called again.
pub async fn down(home: &Home, options: &Options) -> anyhow::Result<Removed> {
    let instance = instance(home)?;
    let processes = Background::all(home);
    let pools: Vec<_> = processes.iter().filter(|p| p.is_named("pool")).collect();
    for pool in &pools {
        // The first asks it to drain, the second to stop now; what agents did is saved either way.
        pool.signal(Signal::TERM);
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    for pool in &pools {
        pool.signal(Signal::TERM);
    }
    for pool in &pools {
        end(pool, POOL_MAX).await;
    }
    for process in processes.iter().filter(|p| !p.is_named("pool")) {
        process.signal(Signal::TERM);
        end(process, END_MAX).await;
    }
    let _ = std::fs::remove_file(home.socket());
    let engine = Engine::connect().await?;
    if options.keep_journal {
        bus_server::stop(&engine, &instance).await?;
        return Ok(Removed::default());
    }
    Ok(sweep::remove_all(&engine, &instance, &home.pools()).await?)
}

async fn end(process: &Background, limit: Duration) {
    if !process.ended(limit).await {
        tracing::warn!(log = %process.log().display(), "a process does not end; it is killed");
        process.signal(Signal::KILL);
        process.ended(END_MAX).await;
    }
    process.clear();
}
