//! `cantus pool`: the containers of this host's roles, in the foreground.
//!
//! The first SIGTERM or SIGINT drains, so that leases finish; the second stops at once, and what agents did is
//! saved.

use std::path::PathBuf;

use anyhow::Context as _;
use cantus_docker::container::{RoleConfig, RoleKind, Secret};
use cantus_docker::mounts::RoleMount;
use cantus_docker::pool::{self, PoolConfig, Wish};
use cantus_proto::ids::{HostName, RoleName};
use cantus_proto::message::{Isolation, UsageSource};
use cantus_proto::subjects::{BusUser, token};
use tokio::sync::watch;

use super::{bus_url, connect, instance};
use crate::config::{Config, Home, RoleKindName, RoleSection, Secrets, UsageName};

/// What the flags say.
#[derive(Debug, Clone)]
pub struct Options {
    /// The name of this host; the system's by default.
    pub host: Option<String>,
    /// Address of the bus.
    pub bus: Option<String>,
    /// How agents are kept apart.
    pub isolation: Isolation,
    /// Serve only these roles; empty means all.
    pub roles: Vec<String>,
}

/// Serves until signals say otherwise.
///
/// # Errors
/// When the home, the bus or Docker cannot be used.
pub async fn serve(home: &Home, options: Options) -> anyhow::Result<()> {
    let config = home.config()?;
    let secrets = home.secrets(&config)?;
    let host = HostName::new(match options.host {
        Some(host) => host,
        None => system_name()?,
    })?;
    let url = bus_url(options.bus.as_deref(), config.bus.port);
    let address = url.strip_prefix("nats://").unwrap_or(&url).to_owned();
    let bus = connect(&url, &BusUser::Pool, &secrets, "cantus pool").await?;
    let pool = PoolConfig {
        instance: instance(home)?,
        dir: home.pools().join(token(host.as_str())),
        host,
        state_dir: home.dir().to_owned(),
        binaries: binaries()?,
        bus_address: address,
        isolation: options.isolation,
        docker_socket: None,
        roles: roles(&config, &secrets, &options.roles)?,
        drain_max: pool::DRAIN_MAX_DEFAULT,
        sweep_every: pool::SWEEP_EVERY_DEFAULT,
    };
    let (wish, wished) = watch::channel(Wish::Serve);
    let signals = tokio::spawn(follow_signals(wish));
    let served = pool::run(pool, bus, wished).await;
    signals.abort();
    Ok(served?)
}

async fn follow_signals(wish: watch::Sender<Wish>) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    for next in [Wish::Drain, Wish::Stop] {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!(
            "{}",
            match next {
                Wish::Drain => "draining: leases finish; signal once more to stop at once",
                _ => "stopping at once; what agents did is saved",
            }
        );
        wish.send_replace(next);
    }
    std::future::pending().await
}

/// The static binaries lie beside this one.
fn binaries() -> anyhow::Result<PathBuf> {
    let this = std::env::current_exe().context("cannot find this program's own file")?;
    Ok(this.parent().map(PathBuf::from).unwrap_or_default())
}

fn system_name() -> anyhow::Result<String> {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    anyhow::ensure!(!name.is_empty(), "this host has no name: give one with --host");
    Ok(name)
}

fn roles(config: &Config, secrets: &Secrets, only: &[String]) -> anyhow::Result<Vec<RoleConfig>> {
    if let Some(unknown) = only.iter().find(|name| !config.roles.contains_key(*name)) {
        let known: Vec<&str> = config.roles.keys().map(String::as_str).collect();
        anyhow::bail!("there is no role {unknown:?}; the configuration has {}", known.join(", "));
    }
    let chosen = config.roles.iter().filter(|(name, _)| only.is_empty() || only.contains(name));
    chosen.map(|(name, section)| Ok(role(RoleName::new(name)?, section, secrets))).collect()
}

fn role(name: RoleName, section: &RoleSection, secrets: &Secrets) -> RoleConfig {
    let (kind, user, signing_key) = match section.kind {
        RoleKindName::Worker => (RoleKind::Worker, BusUser::Worker(name.clone()), None),
        RoleKindName::Verifier => {
            let key = Secret(secrets.verifier.to_pem().to_string());
            (RoleKind::Verifier, BusUser::Verifier(name.clone()), Some(key))
        }
    };
    let mount = |mount: &crate::config::Mount| RoleMount {
        source: mount.source.clone(),
        target: mount.target.clone(),
    };
    RoleConfig {
        kind,
        image: section.image.clone(),
        slots: section.slots,
        spares: cantus_docker::container::SPARES_DEFAULT,
        command: section.command.clone(),
        usage: match section.usage {
            UsageName::Outbox => UsageSource::Outbox,
            UsageName::None => UsageSource::None,
        },
        mounts: section.mounts.iter().map(mount).collect(),
        environment: section.environment.clone(),
        memory_mb: section.memory_mb,
        cpus: section.cpus,
        pids_max: section.pids_max,
        tmp_mb: section.tmp_mb,
        bus_user: user.name(),
        bus_password: Secret(secrets.password(&user)),
        signing_key,
        name,
    }
}
