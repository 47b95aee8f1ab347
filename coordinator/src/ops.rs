//! Running an installation: serve, pool, and all of it on one machine with up and down.

pub mod background;
pub mod demo;
pub mod down;
pub mod init;
pub mod pool;
pub mod serve;
pub mod up;

use std::time::Duration;

use cantus_proto::bus::{Bus, BusConfig};
use cantus_proto::subjects::BusUser;

use crate::config::{Home, HomeError, Secrets};

/// How long a process waits for a bus that is not there yet: it may be starting beside it.
const BUS_WAIT: Duration = Duration::from_secs(20);

async fn connect(
    url: &str,
    user: &BusUser,
    secrets: &Secrets,
    name: &str,
) -> Result<Bus, cantus_proto::bus::ConnectError> {
    Bus::connect(BusConfig {
        url: url.to_owned(),
        user: user.name(),
        password: secrets.password(user),
        name: name.to_owned(),
        wait: BUS_WAIT,
    })
    .await
}

/// Where the bus of this home is: what a flag or the environment says, or on loopback.
fn bus_url(given: Option<&str>, port: u16) -> String {
    given.map_or_else(|| format!("nats://127.0.0.1:{port}"), str::to_owned)
}

fn instance(home: &Home) -> Result<String, HomeError> {
    home.make()?;
    home.instance()
}

/// Waits for SIGTERM or SIGINT.
pub(crate) async fn signalled() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}
