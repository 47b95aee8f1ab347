//! What a worker or verifier container is made of. Pure: a role and the ground it stands on give a create request.
//!
//! The isolation rests on these lines: no network, a read-only root, no capabilities but those that the entry
//! needs to change user, no new privileges, and nothing of the host but read-only mounts.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::{Path, PathBuf};

use bollard::models::{
    ContainerCreateBody, HostConfig, HostConfigLogConfig, Mount, MountBindOptions, MountType,
    MountVolumeOptions, ResourcesUlimits,
};
use cantus_proto::ids::RoleName;
use cantus_proto::limits::paths;
use cantus_proto::message::UsageSource;

use crate::labels::{self, Kind, Owner};
use crate::mounts::RoleMount;

/// Memory of a container unless its role says otherwise, in MiB: a compiler and an agent fit.
pub const MEMORY_MB_DEFAULT: u64 = 4_096;
/// Least memory that a role may have, in MiB: the entry process needs some itself.
pub const MEMORY_MB_MIN: u64 = 64;
/// Processors of a container unless its role says otherwise.
pub const CPUS_DEFAULT: f64 = 2.0;
/// Processes and threads of a container unless its role says otherwise: a fork bomb ends here.
pub const PIDS_MAX_DEFAULT: u32 = 1_024;
/// Size of `/tmp` unless the role says otherwise, in MiB; it counts towards the memory.
pub const TMP_MB_DEFAULT: u64 = 1_024;
/// Spare containers per role unless it says otherwise: one, so that a slot that ends is open again at once.
pub const SPARES_DEFAULT: u32 = 1;
/// Most slots of one role on one host: more is a mistake in the file.
pub const SLOTS_MAX: u32 = 256;
/// Size of a container's log: agents' output is kept as artifacts, this is the entry's own.
const LOG_SIZE_MAX: &str = "4m";
/// The entry gets SIGTERM to finish and leave, whatever the image says.
const STOP_SIGNAL: &str = "SIGTERM";

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Which binary a role runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleKind {
    /// `cantus-worker`: runs agents.
    Worker,
    /// `cantus-verifier`: runs checkers and signs.
    Verifier,
}

impl RoleKind {
    /// File name of the binary.
    #[must_use]
    pub fn binary(self) -> &'static str {
        match self {
            Self::Worker => "cantus-worker",
            Self::Verifier => "cantus-verifier",
        }
    }

    /// The label of its containers.
    #[must_use]
    pub fn label(self) -> Kind {
        match self {
            Self::Worker => Kind::Worker,
            Self::Verifier => Kind::Verifier,
        }
    }
}

/// One role of a pool.
#[derive(Debug, Clone)]
pub struct RoleConfig {
    /// Its name.
    pub name: RoleName,
    /// Its binary.
    pub kind: RoleKind,
    /// Image of its containers.
    pub image: String,
    /// How many leases run at once, at most [`SLOTS_MAX`].
    pub slots: u32,
    /// Containers started beyond that and held back, see [`SPARES_DEFAULT`].
    pub spares: u32,
    /// The adapter's argv; workers only.
    pub command: Vec<String>,
    /// Where it is measured what that uses of models.
    pub usage: UsageSource,
    /// Mounts of the host, read-only.
    pub mounts: Vec<RoleMount>,
    /// What agents and checkers find in their environment.
    pub environment: BTreeMap<String, String>,
    /// Memory with `/tmp`, without swap.
    pub memory_mb: u64,
    /// Processors; more than the machine has means all of them.
    pub cpus: f64,
    /// Processes and threads.
    pub pids_max: u32,
    /// Size of `/tmp`.
    pub tmp_mb: u64,
    /// The role's bus user.
    pub bus_user: String,
    /// Its password.
    pub bus_password: Secret,
    /// PKCS#8 PEM of the key that signs evidence; verifiers only.
    pub signing_key: Option<Secret>,
}

/// What one container runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// One lease.
    Lease,
    /// Saving what an earlier container left in its volume.
    Salvage,
}

/// Where on the host a pool's containers stand.
#[derive(Debug, Clone)]
pub struct Ground {
    /// All mirrors of the host.
    pub mirrors: PathBuf,
    /// Our static binaries.
    pub binaries: PathBuf,
    /// Group of the pool process: lets the entry open `bus.sock`.
    pub gid: u32,
    /// Processors of the machine.
    pub cpus_max: f64,
}

/// One container to be created.
#[derive(Debug, Clone, Copy)]
pub struct Spec<'a> {
    /// Whose it is.
    pub owner: &'a Owner,
    /// The role.
    pub role: &'a RoleConfig,
    /// The role's mounts, checked and resolved.
    pub mounts: &'a [RoleMount],
    /// What it runs.
    pub purpose: Purpose,
    /// Id of the image, for the record.
    pub image_id: &'a str,
    /// Name of the volume at `/cantus/work`, and what the container is called on the bus.
    pub volume: &'a str,
    /// Directory of its sockets on the host.
    pub sockets: &'a Path,
    /// The rest of the host.
    pub ground: &'a Ground,
}

/// The create request of a container.
#[must_use]
pub fn create_body(spec: &Spec<'_>) -> ContainerCreateBody {
    let role = spec.role;
    let kind = match spec.purpose {
        Purpose::Lease => role.kind.label(),
        Purpose::Salvage => Kind::Salvage,
    };
    let arguments = match spec.purpose {
        Purpose::Lease => vec!["lease".to_owned()],
        Purpose::Salvage => vec!["salvage".to_owned()],
    };
    ContainerCreateBody {
        image: Some(role.image.clone()),
        hostname: Some("cantus".to_owned()),
        user: Some("0:0".to_owned()),
        working_dir: Some("/".to_owned()),
        entrypoint: Some(vec![format!("{}/{}", paths::BINARIES, role.kind.binary())]),
        cmd: Some(arguments),
        env: Some(environment(spec)),
        labels: Some(spec.owner.labels(kind, &role.name)),
        stop_signal: Some(STOP_SIGNAL.to_owned()),
        host_config: Some(host_config(spec)),
        ..Default::default()
    }
}

fn host_config(spec: &Spec<'_>) -> HostConfig {
    let role = spec.role;
    let memory_bytes =
        i64::try_from(role.memory_mb.saturating_mul(1024 * 1024)).unwrap_or(i64::MAX);
    HostConfig {
        network_mode: Some("none".to_owned()),
        readonly_rootfs: Some(true),
        cap_drop: Some(vec!["ALL".to_owned()]),
        cap_add: Some(["SETUID", "SETGID", "KILL"].map(str::to_owned).to_vec()),
        security_opt: Some(vec!["no-new-privileges".to_owned()]),
        privileged: Some(false),
        init: Some(true),
        ipc_mode: Some("private".to_owned()),
        group_add: Some(vec![spec.ground.gid.to_string()]),
        tmpfs: Some(HashMap::from([(
            "/tmp".to_owned(),
            format!("rw,exec,nosuid,nodev,mode=1777,size={}m", role.tmp_mb),
        )])),
        memory: Some(memory_bytes),
        memory_swap: Some(memory_bytes),
        nano_cpus: Some(nano_cpus(role.cpus.min(spec.ground.cpus_max))),
        pids_limit: Some(i64::from(role.pids_max)),
        // A core file of an agent would fill the workspace with memory.
        ulimits: Some(vec![ResourcesUlimits {
            name: Some("core".to_owned()),
            soft: Some(0),
            hard: Some(0),
        }]),
        log_config: Some(HostConfigLogConfig {
            typ: Some("json-file".to_owned()),
            config: Some(HashMap::from([
                ("max-size".to_owned(), LOG_SIZE_MAX.to_owned()),
                ("max-file".to_owned(), "1".to_owned()),
            ])),
        }),
        mounts: Some(all_mounts(spec)),
        ..Default::default()
    }
}

/// Billionths of a processor, as the engine counts; at least the hundredth that it takes.
fn nano_cpus(cpus: f64) -> i64 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a machine has far fewer than 2^53 hundredths of a processor"
    )]
    let hundredths = (cpus.max(0.01) * 100.0).round() as i64;
    hundredths * 10_000_000
}

fn all_mounts(spec: &Spec<'_>) -> Vec<Mount> {
    let mut labels = spec.owner.labels(spec.role.kind.label(), &spec.role.name);
    labels.insert(labels::IMAGE.to_owned(), spec.role.image.clone());
    let work = Mount {
        typ: Some(MountType::VOLUME),
        source: Some(spec.volume.to_owned()),
        target: Some(paths::WORK.to_owned()),
        read_only: Some(false),
        volume_options: Some(MountVolumeOptions {
            no_copy: Some(true),
            labels: Some(labels),
            ..Default::default()
        }),
        ..Default::default()
    };
    let ground = [
        (spec.ground.mirrors.as_path(), Path::new(paths::MIRRORS)),
        (spec.ground.binaries.as_path(), Path::new(paths::BINARIES)),
        (spec.sockets, Path::new(paths::SOCKETS)),
    ];
    let roles = spec.mounts.iter().map(|mount| (mount.source.as_path(), mount.target.as_path()));
    let binds = ground.into_iter().chain(roles).map(|(source, target)| read_only(source, target));
    std::iter::once(work).chain(binds).collect()
}

/// A bind that takes no nested mounts along: those would not be read-only.
pub(crate) fn read_only(source: &Path, target: &Path) -> Mount {
    Mount {
        typ: Some(MountType::BIND),
        source: Some(source.to_string_lossy().into_owned()),
        target: Some(target.to_string_lossy().into_owned()),
        read_only: Some(true),
        bind_options: Some(MountBindOptions { non_recursive: Some(true), ..Default::default() }),
        ..Default::default()
    }
}

/// The environment of the entry process. Only `CANTUS_*`, none of which it hands on.
fn environment(spec: &Spec<'_>) -> Vec<String> {
    let image = ("CANTUS_IMAGE", spec.image_id.to_owned());
    let all = role_environment(spec.owner, spec.role, spec.volume).into_iter().chain([image]);
    all.map(|(name, value)| format!("{name}={value}")).collect()
}

/// What the binaries need to know of their role, in whatever isolation they run.
#[must_use]
pub fn role_environment(
    owner: &Owner,
    role: &RoleConfig,
    container: &str,
) -> Vec<(&'static str, String)> {
    let mut all = vec![
        ("CANTUS_INSTANCE", owner.instance.clone()),
        ("CANTUS_HOST", owner.host.to_string()),
        ("CANTUS_ROLE", role.name.to_string()),
        ("CANTUS_CONTAINER", container.to_owned()),
        ("CANTUS_BUS_USER", role.bus_user.clone()),
        ("CANTUS_BUS_PASSWORD", role.bus_password.0.clone()),
        ("CANTUS_ENVIRONMENT", serde_json::json!(role.environment).to_string()),
    ];
    if role.kind == RoleKind::Worker {
        all.push(("CANTUS_COMMAND", serde_json::json!(role.command).to_string()));
        all.push(("CANTUS_USAGE", role.usage.as_str().to_owned()));
    }
    if let Some(key) = &role.signing_key {
        all.push(("CANTUS_SIGNING_KEY", key.0.clone()));
    }
    all
}

/// Why a role cannot be served.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("role {role}: {problem}")]
pub struct RoleError {
    /// The role's name.
    pub role: RoleName,
    /// What is wrong with it and what to do.
    pub problem: String,
}

/// Checks the numbers and parts of a role before anything is created.
///
/// # Errors
/// The first thing that is wrong.
pub fn check_role(role: &RoleConfig) -> Result<(), RoleError> {
    let problem = if role.slots == 0 || role.slots > SLOTS_MAX {
        format!("slots is {}, it must be 1 to {SLOTS_MAX}", role.slots)
    } else if role.spares > SLOTS_MAX {
        format!("spares is {}, it must be 0 to {SLOTS_MAX}", role.spares)
    } else if role.image.is_empty() {
        "image is empty: name the image of its containers".to_owned()
    } else if role.kind == RoleKind::Worker && role.command.is_empty() {
        "command is empty: name the program that is the agent".to_owned()
    } else if role.kind == RoleKind::Verifier && role.signing_key.is_none() {
        "it has no signing key: run `cantus init`".to_owned()
    } else if role.memory_mb < MEMORY_MB_MIN {
        format!("memory_mb is {}, it must be {MEMORY_MB_MIN} or more", role.memory_mb)
    } else if !(role.cpus.is_finite() && role.cpus >= 0.01) {
        format!("cpus is {}, it must be 0.01 or more", role.cpus)
    } else if role.pids_max < 16 {
        format!("pids_max is {}, it must be 16 or more", role.pids_max)
    } else if role.tmp_mb == 0 {
        "tmp_mb is 0: agents need a /tmp, give it some MiB".to_owned()
    } else {
        return Ok(());
    };
    Err(RoleError { role: role.name.clone(), problem })
}

#[cfg(test)]
#[path = "container_tests.rs"]
mod tests;
