//! What a pool needs before it serves: a checked configuration, its directory, lock and binaries.

use std::collections::BTreeSet;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use cantus_proto::bus::Bus;
use tokio::sync::{Semaphore, watch};

use super::{LAUNCHES_MAX, PoolConfig, PoolError};
use crate::container::{self, RoleConfig, check_role};
use crate::engine::Engine;
use crate::labels::{Owner, PoolAlive, PoolId, check_instance};
use crate::mirror::Mirrors;
use crate::mounts::{self, RoleMount};

/// One role with its mounts resolved.
#[derive(Debug)]
pub(crate) struct Role {
    pub(crate) config: RoleConfig,
    pub(crate) mounts: Vec<RoleMount>,
}

/// What all members of a pool stand on.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) owner: Owner,
    /// None when members are plain processes.
    pub(crate) engine: Option<Engine>,
    pub(crate) bus: Bus,
    pub(crate) bus_address: String,
    pub(crate) dir: PathBuf,
    pub(crate) sockets: PathBuf,
    pub(crate) mirrors: Mirrors,
    pub(crate) containers: container::Ground,
    pub(crate) drain_max: Duration,
    pub(crate) sweep_every: Duration,
    pub(crate) launches: Semaphore,
    /// Names of the members that are being used or cleared away: the sweeper keeps off.
    live: Mutex<BTreeSet<String>>,
    ending: watch::Sender<bool>,
    /// Held as long as the pool runs.
    _lock: std::fs::File,
    _alive: PoolAlive,
}

impl Ground {
    /// From now on nothing is tried for long.
    pub(crate) fn end(&self) {
        self.ending.send_replace(true);
    }

    pub(crate) fn is_ending(&self) -> bool {
        *self.ending.borrow()
    }

    /// Waits, but not once the pool ends.
    pub(crate) async fn pause(&self, pause: Duration) {
        let mut ending = self.ending.subscribe();
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = ending.wait_for(|ending| *ending) => {}
        }
    }

    pub(crate) fn enlist(&self, name: &str) {
        self.live().insert(name.to_owned());
    }

    pub(crate) fn discharge(&self, name: &str) {
        self.live().remove(name);
    }

    pub(crate) fn is_live(&self, name: &str) -> bool {
        self.live().contains(name)
    }

    fn live(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.live.lock().expect("nobody panics while it is held")
    }
}

/// Checks everything that can be checked before the first container.
pub(crate) async fn prepare(
    config: PoolConfig,
    engine: Option<Engine>,
    bus: Bus,
) -> Result<(Ground, Vec<Role>), PoolError> {
    check_instance(&config.instance)?;
    let roles = check_roles(&config, engine.as_ref())?;
    if let Some(engine) = &engine {
        for role in &roles {
            engine.image_id(&role.config.image).await?;
        }
    }
    make_private(&config.dir)?;
    let lock = lock(&config)?;
    let sockets = config.dir.join("sockets");
    // With the lock held, whatever socket is still there belongs to nobody.
    remove_if_there(&sockets)?;
    make_private(&sockets)?;
    let binaries = match &engine {
        Some(_) => copy_binaries(&config)?,
        None => {
            check_binaries(&config)?;
            config.binaries.clone()
        }
    };
    let mirrors = Mirrors::open(&config.dir.join("mirrors"))?;
    let (pool, alive) =
        PoolId::begin().map_err(|source| PoolError::Files { path: "/proc".into(), source })?;
    let ground = Ground {
        owner: Owner { instance: config.instance, host: config.host, pool },
        containers: container::Ground {
            mirrors: absolute(mirrors.dir())?,
            binaries: absolute(&binaries)?,
            gid: rustix::process::getegid().as_raw(),
            cpus_max: cpus(),
        },
        engine,
        bus,
        bus_address: config.bus_address,
        sockets: absolute(&sockets)?,
        dir: absolute(&config.dir)?,
        mirrors,
        drain_max: config.drain_max,
        sweep_every: config.sweep_every.max(Duration::from_secs(1)),
        launches: Semaphore::new(LAUNCHES_MAX),
        live: Mutex::new(BTreeSet::new()),
        ending: watch::Sender::new(false),
        _lock: lock,
        _alive: alive,
    };
    Ok((ground, roles))
}

fn check_roles(config: &PoolConfig, engine: Option<&Engine>) -> Result<Vec<Role>, PoolError> {
    if config.roles.is_empty() {
        return Err(PoolError::NoRoles);
    }
    let mut names = BTreeSet::new();
    let mut roles = Vec::with_capacity(config.roles.len());
    for role in &config.roles {
        check_role(role)?;
        if !names.insert(role.name.clone()) {
            return Err(PoolError::RoleTwice(role.name.to_string()));
        }
        let socket = engine.map_or(Path::new(crate::engine::DEFAULT_SOCKET), Engine::socket);
        let mounts = mounts::check(&role.mounts, socket, &config.state_dir)
            .map_err(|source| PoolError::Mount { role: role.name.to_string(), source })?;
        roles.push(Role { config: role.clone(), mounts });
    }
    Ok(roles)
}

/// Processors of the machine, as the engine counts them.
fn cpus() -> f64 {
    let found = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    u32::try_from(found).map_or(1.0, f64::from)
}

/// A directory that only its owner can enter: it hides what is world-readable for the containers' sake.
pub(crate) fn make_private(path: &Path) -> Result<(), PoolError> {
    let failed = files(path);
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(&failed)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)).map_err(&failed)
}

fn remove_if_there(path: &Path) -> Result<(), PoolError> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(files(path)(error)),
        _ => Ok(()),
    }
}

fn absolute(path: &Path) -> Result<PathBuf, PoolError> {
    std::fs::canonicalize(path).map_err(files(path))
}

/// One pool per directory, for as long as the file stays open.
fn lock(config: &PoolConfig) -> Result<std::fs::File, PoolError> {
    let path = config.dir.join("lock");
    let file = std::fs::File::create(&path).map_err(files(&path))?;
    let exclusive = rustix::fs::FlockOperation::NonBlockingLockExclusive;
    match rustix::fs::flock(&file, exclusive) {
        Ok(()) => Ok(file),
        Err(rustix::io::Errno::WOULDBLOCK) => {
            Err(PoolError::Busy { host: config.host.clone(), dir: config.dir.clone() })
        }
        Err(error) => Err(files(&path)(error.into())),
    }
}

fn check_binaries(config: &PoolConfig) -> Result<Vec<(&'static str, PathBuf)>, PoolError> {
    let names: BTreeSet<_> = config.roles.iter().map(|role| role.kind.binary()).collect();
    let found = names.into_iter().map(|name| {
        let path = config.binaries.join(name);
        if path.is_file() { Ok((name, path)) } else { Err(PoolError::Binary { name, path }) }
    });
    found.collect()
}

/// Copies, so that containers see the binaries of now whatever is built later, and can read them whatever rights
/// the originals have.
fn copy_binaries(config: &PoolConfig) -> Result<PathBuf, PoolError> {
    let dir = config.dir.join("bin");
    std::fs::create_dir_all(&dir).map_err(files(&dir))?;
    let mode = |path: &Path| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).map_err(files(path))
    };
    mode(&dir)?;
    for (name, source) in check_binaries(config)? {
        let (unfinished, finished) = (dir.join(format!(".{name}")), dir.join(name));
        std::fs::copy(&source, &unfinished).map_err(files(&source))?;
        mode(&unfinished)?;
        std::fs::rename(&unfinished, &finished).map_err(files(&finished))?;
    }
    Ok(dir)
}

fn files(path: &Path) -> impl Fn(std::io::Error) -> PoolError + '_ {
    |source| PoolError::Files { path: path.to_owned(), source }
}
