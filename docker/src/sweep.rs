//! Clears away what pools that are gone have left, whatever state it is in, after saving what is in it.
//!
//! Only things that bear this installation's and this host's labels, and whose pool process no longer runs, are
//! touched; so no pool ever sweeps another's. [`remove_all`] is for `cantus down`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cantus_proto::ids::ContainerName;

use crate::engine::{Engine, EngineError, Exit, Found, FoundVolume, Phase};
use crate::labels::{self, Kind, PoolId};
use crate::member::{Containers, chain, report_exit};
use crate::pool::Role;

/// Longest that a killed container may take to be gone.
const KILLED_MAX: Duration = Duration::from_secs(30);

/// One member of a pool that is gone: its container, its volume, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Orphan {
    name: String,
    kind: Kind,
    role: String,
    /// None when only the volume is left.
    phase: Option<Phase>,
    has_volume: bool,
}

impl Orphan {
    /// Whether its volume may hold work: a container that never ran has none.
    fn may_hold_work(&self) -> bool {
        self.kind == Kind::Worker && self.has_volume && self.phase != Some(Phase::Created)
    }
}

/// What is left of pools that are gone. `is_gone` decides by pool and name.
fn orphans(
    containers: &[Found],
    volumes: &[FoundVolume],
    is_gone: impl Fn(&PoolId, &str) -> bool,
) -> Vec<Orphan> {
    let mut found = BTreeMap::new();
    let gone = |labels: &std::collections::HashMap<String, String>, name: &str| {
        let pool = PoolId::from_label(labels.get(labels::POOL)?);
        let kind = Kind::parse(labels.get(labels::KIND)?)?;
        let role = labels.get(labels::ROLE).cloned().unwrap_or_default();
        // The bus has no pool: `cantus up` looks after it.
        (kind != Kind::Bus && is_gone(&pool, name)).then_some((kind, role))
    };
    for Found { name, phase, labels } in containers {
        if let Some((kind, role)) = gone(labels, name) {
            let orphan =
                Orphan { name: name.clone(), kind, role, phase: Some(*phase), has_volume: false };
            found.insert(name.clone(), orphan);
        }
    }
    for FoundVolume { name, labels } in volumes {
        if let Some((kind, role)) = gone(labels, name) {
            found
                .entry(name.clone())
                .or_insert_with(|| Orphan {
                    name: name.clone(),
                    kind,
                    role,
                    phase: None,
                    has_volume: true,
                })
                .has_volume = true;
        }
    }
    // Salvage containers first: they use the volumes of the others.
    let (mut all, others): (Vec<_>, Vec<_>) =
        found.into_values().partition(|orphan| orphan.kind == Kind::Salvage);
    all.extend(others);
    all
}

impl Containers {
    /// Clears away what pools that are gone have left on this host.
    pub(crate) async fn sweep(&self, roles: &[Arc<Role>]) {
        if let Err(error) = self.try_sweep(roles).await {
            tracing::warn!("the sweep is put off: {}", chain(&error));
        }
    }

    async fn try_sweep(&self, roles: &[Arc<Role>]) -> Result<(), EngineError> {
        let owner = &self.ground.owner;
        let filter =
            [(labels::INSTANCE, owner.instance.as_str()), (labels::HOST, owner.host.as_str())];
        let containers = self.engine.containers(&filter).await?;
        let volumes = self.engine.volumes(&filter).await?;
        let is_gone = |pool: &PoolId, name: &str| {
            if *pool == owner.pool { !self.ground.is_live(name) } else { !pool.is_alive() }
        };
        for orphan in orphans(&containers, &volumes, is_gone) {
            tracing::info!(name = orphan.name, phase = ?orphan.phase, "sweeping");
            self.sweep_one(roles, &orphan).await?;
        }
        Ok(())
    }

    async fn sweep_one(&self, roles: &[Arc<Role>], orphan: &Orphan) -> Result<(), EngineError> {
        let exit = match orphan.phase {
            // Its bus socket went with its pool: it can never hand in.
            Some(Phase::Running) => {
                self.engine.signal(&orphan.name, "SIGKILL").await?;
                Some(self.killed(&orphan.name).await?)
            }
            Some(Phase::Ended) => self.engine.inspect(&orphan.name).await?.map(|state| state.exit),
            Some(Phase::Created) | None => None,
        };
        let role = roles.iter().find(|role| role.config.name.as_str() == orphan.role);
        let served = exit.is_some_and(|exit| exit.code == 0);
        if let (Some(role), Some(exit), false) = (role, exit, served) {
            self.report_orphan(role, orphan, exit).await;
        }
        if orphan.may_hold_work() && !served {
            let Some(role) = role else {
                tracing::error!(
                    volume = orphan.name,
                    role = orphan.role,
                    "it may hold work, but its role is not configured here: it is kept; configure the role to save it"
                );
                return Ok(());
            };
            // The container goes first, for the volume is mounted again.
            self.engine.remove(&orphan.name).await?;
            if !self.save(role, &orphan.name).await {
                return Ok(());
            }
        }
        self.engine.remove(&orphan.name).await?;
        if orphan.has_volume {
            self.engine.remove_volume(&orphan.name).await?;
        }
        Ok(())
    }

    /// Waits for a container that was just ended.
    async fn killed(&self, name: &str) -> Result<Exit, EngineError> {
        tokio::time::timeout(KILLED_MAX, self.engine.wait(name)).await.unwrap_or_else(|_| {
            Err(EngineError::Timeout { what: format!("end {name}"), limit: KILLED_MAX })
        })
    }

    async fn report_orphan(&self, role: &Role, orphan: &Orphan, exit: Exit) {
        if let (Kind::Worker | Kind::Verifier, Ok(name)) =
            (orphan.kind, ContainerName::new(&orphan.name))
        {
            report_exit(&self.ground, role, &name, exit).await;
        }
    }
}

/// What was removed, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Removed {
    /// Containers, running or not.
    pub containers: Vec<String>,
    /// Volumes with all that was in them.
    pub volumes: Vec<String>,
    /// Networks.
    pub networks: Vec<String>,
    /// Directories of sockets.
    pub sockets: Vec<String>,
}

impl Removed {
    /// Whether there was nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Removes all that an installation has in the engine, on all its hosts' names, and the sockets below `pools`
/// (`<state dir>/pool`). Its pools must have ended: they save what is in the volumes, this does not.
///
/// # Errors
/// When the engine does not do it; it can be called again.
pub async fn remove_all(
    engine: &Engine,
    instance: &str,
    pools: &Path,
) -> Result<Removed, EngineError> {
    let filter = [(labels::INSTANCE, instance)];
    let mut removed = Removed::default();
    for container in engine.containers(&filter).await? {
        engine.remove(&container.name).await?;
        removed.containers.push(container.name);
    }
    for volume in engine.volumes(&filter).await? {
        engine.remove_volume(&volume.name).await?;
        removed.volumes.push(volume.name);
    }
    removed.networks = engine.remove_networks(&filter).await?;
    let hosts = std::fs::read_dir(pools).into_iter().flatten().flatten();
    let sockets: BTreeSet<_> =
        hosts.map(|host| host.path().join("sockets")).filter(|path| path.is_dir()).collect();
    for path in sockets {
        match std::fs::remove_dir_all(&path) {
            Ok(()) => removed.sockets.push(path.display().to_string()),
            Err(error) => tracing::warn!(path = %path.display(), %error, "could not be removed"),
        }
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn labelled(kind: Kind, pool: &str) -> HashMap<String, String> {
        HashMap::from([
            (labels::KIND.to_owned(), kind.as_str().to_owned()),
            (labels::POOL.to_owned(), pool.to_owned()),
            (labels::ROLE.to_owned(), "builder".to_owned()),
        ])
    }

    fn container(name: &str, kind: Kind, pool: &str, phase: Phase) -> Found {
        Found { name: name.into(), phase, labels: labelled(kind, pool) }
    }

    fn volume(name: &str, pool: &str) -> FoundVolume {
        FoundVolume { name: name.into(), labels: labelled(Kind::Worker, pool) }
    }

    #[test]
    fn only_what_pools_that_are_gone_left_is_found_in_every_state() {
        let containers = [
            container("created", Kind::Worker, "dead", Phase::Created),
            container("running", Kind::Worker, "dead", Phase::Running),
            container("ended", Kind::Verifier, "dead", Phase::Ended),
            container("a-salvage", Kind::Salvage, "dead", Phase::Ended),
            container("z-salvage", Kind::Salvage, "dead", Phase::Running),
            container("other", Kind::Worker, "alive", Phase::Running),
            container("bus", Kind::Bus, "dead", Phase::Running),
            Found { name: "unlabelled".into(), phase: Phase::Ended, labels: HashMap::new() },
        ];
        let volumes = [
            volume("created", "dead"),
            volume("running", "dead"),
            volume("alone", "dead"),
            volume("other", "alive"),
        ];
        let found = orphans(&containers, &volumes, |pool, _| pool.as_str() == "dead");
        let names: Vec<_> = found.iter().map(|orphan| orphan.name.as_str()).collect();
        assert_eq!(names, ["a-salvage", "z-salvage", "alone", "created", "ended", "running"]);
        let with_work: Vec<_> = found
            .iter()
            .filter(|orphan| orphan.may_hold_work())
            .map(|orphan| orphan.name.as_str())
            .collect();
        assert_eq!(
            with_work,
            ["alone", "running"],
            "one that never ran holds nothing, nor does a verifier's"
        );
    }

    #[test]
    fn what_this_pool_uses_or_clears_away_is_left_alone() {
        let containers = [
            container("mine", Kind::Worker, "me", Phase::Running),
            container("late", Kind::Worker, "me", Phase::Created),
        ];
        let found = orphans(&containers, &[], |_, name| name != "mine");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].name, "late", "created after its launch was given up");
    }
}
