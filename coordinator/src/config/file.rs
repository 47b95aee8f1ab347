//! The configuration file.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cantus_core::rules::Rules;
use cantus_proto::ids::RoleName;
use cantus_proto::limits::WINDOW;
use serde::Deserialize;

use super::{HomeError, RoutingSection, rules};

/// What `cantus init` writes.
pub const TEMPLATE: &str = include_str!("template.yaml");

/// The agent that `cantus init` writes.
pub const SAMPLE_AGENT: &str = include_str!("agent.sh");

/// The whole file. Defaults < file < environment < flags.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Of the format: 1.
    pub version: u32,
    /// The bus.
    #[serde(default)]
    pub bus: BusSection,
    /// The coordinator.
    #[serde(default)]
    pub coordinator: CoordinatorSection,
    /// By name.
    pub roles: BTreeMap<String, RoleSection>,
}

/// How to reach the bus.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BusSection {
    /// Port on loopback of the bus that `cantus up` starts.
    pub port: u16,
}

impl Default for BusSection {
    fn default() -> Self {
        Self { port: 4222 }
    }
}

/// How the coordinator decides.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CoordinatorSection {
    /// Address for the API besides the socket, as `127.0.0.1:7733`.
    pub listen: Option<std::net::SocketAddr>,
    /// An attempt that nobody takes for so long parks its item.
    pub queue_wait_minutes: u64,
    /// Results of one target that are verified at the same time.
    pub verify_ahead: u32,
    /// How often work is looked at for progress.
    pub window_seconds: u64,
    /// Windows without progress after which something must change.
    pub no_progress_windows: u32,
    /// Which model does what.
    pub routing: RoutingSection,
    /// File with the prices of models, relative to the configuration file; nothing: the built-in ones.
    pub prices: Option<PathBuf>,
}

impl Default for CoordinatorSection {
    fn default() -> Self {
        Self {
            listen: None,
            queue_wait_minutes: 360,
            verify_ahead: 2,
            window_seconds: WINDOW.as_secs(),
            no_progress_windows: 2,
            routing: RoutingSection::default(),
            prices: None,
        }
    }
}

/// One role.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoleSection {
    /// What it runs.
    pub kind: RoleKindName,
    /// Image of its containers.
    pub image: String,
    /// Leases at once on each host.
    #[serde(default = "one")]
    pub slots: u32,
    /// The agent: program and arguments; workers only.
    #[serde(default)]
    pub command: Vec<String>,
    /// Where it is measured what the agent uses of models.
    #[serde(default)]
    pub usage: UsageName,
    /// Read-only mounts.
    #[serde(default)]
    pub mounts: Vec<Mount>,
    /// For agents and checkers.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Memory in MiB.
    #[serde(default = "memory_mb")]
    pub memory_mb: u64,
    /// Processors.
    #[serde(default = "cpus")]
    pub cpus: f64,
    /// Processes and threads.
    #[serde(default = "pids_max")]
    pub pids_max: u32,
    /// Size of `/tmp` in MiB.
    #[serde(default = "tmp_mb")]
    pub tmp_mb: u64,
}

/// The two kinds of role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RoleKindName {
    /// Runs agents.
    Worker,
    /// Runs checkers.
    Verifier,
}

/// See [`cantus_proto::message::UsageSource`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UsageName {
    /// The agent tells it in its outbox.
    #[default]
    Outbox,
    /// The agent calls no model.
    None,
}

/// A directory of the host in the containers of a role.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mount {
    /// On the host; relative to the configuration file.
    pub source: PathBuf,
    /// In the container.
    pub target: PathBuf,
}

fn one() -> u32 {
    1
}

fn memory_mb() -> u64 {
    2048
}

fn cpus() -> f64 {
    1.0
}

fn pids_max() -> u32 {
    512
}

fn tmp_mb() -> u64 {
    1024
}

impl Config {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// [`HomeError`] names the file, the place and what is wrong.
    pub fn read(path: &Path) -> Result<Self, HomeError> {
        let text = fs::read_to_string(path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => HomeError::NoConfig { path: path.to_owned() },
            _ => HomeError::Io { what: "read", path: path.to_owned(), source },
        })?;
        let mut config = Self::parse(&text)
            .map_err(|problem| HomeError::Config { path: path.to_owned(), problem })?;
        let base = path.parent().unwrap_or(Path::new("/"));
        for mount in config.roles.values_mut().flat_map(|role| &mut role.mounts) {
            mount.source = base.join(&mount.source);
        }
        if let Some(prices) = &mut config.coordinator.prices {
            *prices = base.join(&prices);
        }
        Ok(config)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let config: Self = serde_saphyr::from_str(text).map_err(|error| error.to_string())?;
        if config.version != 1 {
            return Err(format!(
                "version {} is unknown, this program knows version 1",
                config.version
            ));
        }
        if config.roles.is_empty() {
            return Err("there are no roles: add at least a worker and a verifier".to_owned());
        }
        for (name, role) in &config.roles {
            RoleName::new(name).map_err(|error| error.to_string())?;
            let problem = match role.kind {
                RoleKindName::Worker if role.command.is_empty() => {
                    "has no command: give the agent's program and arguments"
                }
                RoleKindName::Verifier if !role.command.is_empty() => {
                    "has a command, but checkers come from contracts: remove it"
                }
                RoleKindName::Verifier if role.usage != UsageName::default() => {
                    "has usage, but checkers call no models: remove it"
                }
                _ => continue,
            };
            return Err(format!("role {name} {problem}"));
        }
        if config.coordinator.verify_ahead == 0 || config.coordinator.queue_wait_minutes == 0 {
            return Err("coordinator: limits must be above zero".to_owned());
        }
        rules::problem(&config.coordinator).map_or(Ok(config), Err)
    }

    /// The rules of the core, with the table of prices that the configuration names.
    ///
    /// # Errors
    /// [`HomeError`] names the file of prices, the place and what is wrong.
    pub fn rules(&self) -> Result<Rules, HomeError> {
        rules::rules(&self.coordinator)
    }

    /// The names of all roles.
    #[must_use]
    pub fn role_names(&self) -> Vec<RoleName> {
        self.roles.keys().filter_map(|name| RoleName::new(name).ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_valid() {
        let config = Config::parse(TEMPLATE).unwrap();
        assert_eq!(config.role_names().len(), 2);
        assert_eq!(config.roles["worker"].usage, UsageName::None);
        // What the template writes out is what holds without it.
        assert_eq!(config.coordinator, CoordinatorSection::default());
        assert_eq!(
            config.rules().unwrap(),
            Rules { prices: config.rules().unwrap().prices, ..Rules::default() }
        );
    }

    #[test]
    fn rules_are_what_the_coordinator_section_says() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("cantus.yaml");
        let text = "version: 1\ncoordinator: {window_seconds: 5, no_progress_windows: 3, routing: \
                    {fast: small, strong: big}, prices: p/mine.yaml}\nroles: {v: {kind: verifier, image: i}}\n";
        fs::write(&path, text).unwrap();
        fs::create_dir(directory.path().join("p")).unwrap();
        let prices = "date: 2026-01-01\nmodels: {small: {input: 1, output: 2}}\n";
        fs::write(directory.path().join("p/mine.yaml"), prices).unwrap();
        let rules = Config::read(&path).unwrap().rules().unwrap();
        assert_eq!((rules.window_ms, rules.no_progress_windows_max), (5_000, 3));
        assert_eq!((&*rules.routing.fast, &*rules.routing.strong), ("small", "big"));
        assert_eq!(rules.prices.models.keys().collect::<Vec<_>>(), ["small"]);
        fs::remove_file(directory.path().join("p/mine.yaml")).unwrap();
        assert!(Config::read(&path).unwrap().rules().is_err());
    }

    #[test]
    fn mistakes_are_named() {
        let coordinator = |section: &str| {
            format!(
                "version: 1\ncoordinator: {{{section}}}\nroles: {{v: {{kind: verifier, image: i}}}}\n"
            )
        };
        for (text, said) in [
            ("version: 2\nroles: {}", "version 2 is unknown"),
            ("version: 1\nroles: {}", "there are no roles"),
            ("version: 1\nroles: {w: {kind: worker, image: i}}", "role w has no command"),
            ("version: 1\nroles: {v: {kind: verifier, image: i, command: [x]}}", "remove it"),
            ("version: 1\nroles: {v: {kind: verifier, image: i, usage: none}}", "role v has usage"),
            ("version: 1\nroles: {w: {kind: worker, image: i, command: [x], usage: no}}", "usage"),
            ("version: 1\nrolls: {}", "rolls"),
            ("version: 1\nroles: {w: {kind: wrker, image: i}}", "wrker"),
            (&coordinator("routing: {fats: m}"), "fats"),
            (&coordinator("routing: {fast: \"a\\tb\"}"), "\"a\\tb\" is no name of a model"),
            (
                &coordinator("window_seconds: 0"),
                "window_seconds is 0: write seconds from 1 to 3600",
            ),
            (&coordinator("window_seconds: 3601"), "window_seconds is 3601"),
            (&coordinator("no_progress_windows: 1"), "is 1: write a number from 2 to 100"),
            (&coordinator("no_progress_windows: 101"), "no_progress_windows is 101"),
        ] {
            let problem = Config::parse(text).unwrap_err();
            assert!(problem.contains(said), "{text}: {problem}");
        }
    }
}
