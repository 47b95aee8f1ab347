//! The bus of an installation: one NATS server in a container, its store on a volume that outlives it.
//!
//! It shares the host's network but listens on loopback alone, so that no proxy of Docker is in the path of every
//! message. It runs as root without any capability: so it owns its volume, whoever owns the installation, and
//! reads its configuration through the group.

use std::collections::HashMap;
use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bollard::models::{
    ContainerCreateBody, HostConfig, HostConfigLogConfig, Mount, MountType, MountVolumeOptions,
    RestartPolicy, RestartPolicyNameEnum,
};
use cantus_proto::ids::Digest;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::container::read_only;
use crate::engine::{Engine, EngineError, Phase};
use crate::labels::{self, InstanceError, Kind, check_instance};

/// The image that `docker/images/build` makes.
pub const BUS_IMAGE: &str = "cantus/nats:2.15.1";
/// Where the server's configuration must say that its store is.
pub const STORE_DIR: &str = "/data/jetstream";
/// Where the volume is mounted.
const DATA_DIR: &str = "/data";
/// Where the configuration is in the container.
const CONFIG_PATH: &str = "/etc/cantus/nats.conf";
/// Longest until the server must answer: it reads its store first.
const HEALTHY_MAX: Duration = Duration::from_secs(30);
/// Pause between looks until then.
const HEALTHY_PAUSE: Duration = Duration::from_millis(50);
/// Longest that the server may take to end by itself.
const STOP_MAX: Duration = Duration::from_secs(10);
/// Size of the server's log.
const LOG_SIZE_MAX: &str = "16m";

/// What decides a bus server.
#[derive(Debug, Clone)]
pub struct BusServerConfig {
    /// Id of the installation.
    pub instance: String,
    /// Its image, as a rule [`BUS_IMAGE`].
    pub image: String,
    /// Port on loopback, the same as in `config`.
    pub port: u16,
    /// Directory for the configuration file; made if it is not there.
    pub dir: PathBuf,
    /// Text of the configuration, with passwords: `cantus_proto::subjects::server_config` with [`STORE_DIR`].
    pub config: String,
}

/// Why there is no bus.
#[derive(Debug, thiserror::Error)]
pub enum BusServerError {
    /// The engine would not.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The instance id is not usable.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// Something else listens there.
    #[error(
        "port {port} of 127.0.0.1 is taken by another program: end it, or give the bus another port"
    )]
    PortTaken {
        /// The port.
        port: u16,
    },
    /// The configuration cannot be written.
    #[error("the bus configuration cannot be written to {}: check rights and space there", path.display())]
    Files {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It ended.
    #[error("the bus server ended with exit code {code}: {words}")]
    Ended {
        /// Its exit code.
        code: i64,
        /// Its last lines.
        words: String,
    },
    /// It does not answer.
    #[error(
        "the bus server does not answer on port {port} after {} s ({last}): see `docker logs {container}`",
        HEALTHY_MAX.as_secs()
    )]
    Unhealthy {
        /// Its port.
        port: u16,
        /// Its container.
        container: String,
        /// What was found last.
        last: String,
    },
}

/// Name of an installation's bus container and of its volume.
#[must_use]
pub fn container_name(instance: &str) -> String {
    format!("cantus-{instance}-bus")
}

/// Brings the bus up and waits until it answers. One that runs with the same configuration is left alone; another
/// is replaced and finds the same store.
///
/// # Errors
/// Each way in which there is no bus afterwards has its own error; nothing half started is left.
pub async fn start(engine: &Engine, config: &BusServerConfig) -> Result<(), BusServerError> {
    check_instance(&config.instance)?;
    engine.image_id(&config.image).await?;
    let path = write_config(config)?;
    let name = container_name(&config.instance);
    let body = create_body(config, &path);
    let wanted = body.labels.as_ref().and_then(|labels| labels.get(labels::RECIPE));
    let found = engine.inspect(&name).await?;
    let same = found.as_ref().is_some_and(|state| {
        state.phase == Phase::Running && state.labels.get(labels::RECIPE) == wanted
    });
    if !same {
        if found.is_some() {
            stop(engine, &config.instance).await?;
        }
        check_port(config.port)?;
        engine.create(&name, body).await?;
        engine.start(&name).await?;
    }
    let healthy = wait_healthy(engine, &name, config.port).await;
    if healthy.is_err() && !same {
        engine.remove(&name).await?;
    }
    healthy
}

/// Ends the bus, letting it close its store; the store stays. No bus is as good.
///
/// # Errors
/// When the engine does not do it.
pub async fn stop(engine: &Engine, instance: &str) -> Result<(), BusServerError> {
    check_instance(instance)?;
    let name = container_name(instance);
    engine.signal(&name, "SIGTERM").await?;
    if let Ok(ended) = tokio::time::timeout(STOP_MAX, engine.wait(&name)).await {
        ended?;
    }
    engine.remove(&name).await?;
    Ok(())
}

/// Only the owner writes the file, only the group reads it: the server has the group and no other right.
fn write_config(config: &BusServerConfig) -> Result<PathBuf, BusServerError> {
    let path = config.dir.join("nats.conf");
    let failed = |source| BusServerError::Files { path: path.clone(), source };
    std::fs::create_dir_all(&config.dir).map_err(failed)?;
    let unfinished = config.dir.join(".nats.conf");
    let mut file = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o640)
        .open(&unfinished)
        .map_err(failed)?;
    file.set_permissions(std::fs::Permissions::from_mode(0o640)).map_err(failed)?;
    file.write_all(config.config.as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
    std::fs::rename(&unfinished, &path).map_err(failed)?;
    std::fs::canonicalize(&path).map_err(failed)
}

fn create_body(config: &BusServerConfig, path: &Path) -> ContainerCreateBody {
    let gid = rustix::process::getegid().as_raw();
    let recipe = Digest::of(
        [config.image.as_str(), &path.to_string_lossy(), &gid.to_string(), &config.config]
            .join("\0")
            .as_bytes(),
    );
    let mut labels = HashMap::from([
        (labels::INSTANCE.to_owned(), config.instance.clone()),
        (labels::KIND.to_owned(), Kind::Bus.as_str().to_owned()),
    ]);
    let store = Mount {
        typ: Some(MountType::VOLUME),
        source: Some(container_name(&config.instance)),
        target: Some(DATA_DIR.to_owned()),
        read_only: Some(false),
        volume_options: Some(MountVolumeOptions {
            labels: Some(labels.clone()),
            ..Default::default()
        }),
        ..Default::default()
    };
    labels.insert(labels::RECIPE.to_owned(), recipe.to_string());
    ContainerCreateBody {
        image: Some(config.image.clone()),
        user: Some("0:0".to_owned()),
        cmd: Some(vec!["-c".to_owned(), CONFIG_PATH.to_owned()]),
        labels: Some(labels),
        stop_signal: Some("SIGTERM".to_owned()),
        host_config: Some(HostConfig {
            network_mode: Some("host".to_owned()),
            readonly_rootfs: Some(true),
            cap_drop: Some(vec!["ALL".to_owned()]),
            security_opt: Some(vec!["no-new-privileges".to_owned()]),
            group_add: Some(vec![gid.to_string()]),
            restart_policy: Some(RestartPolicy {
                name: Some(RestartPolicyNameEnum::NO),
                ..Default::default()
            }),
            log_config: Some(HostConfigLogConfig {
                typ: Some("json-file".to_owned()),
                config: Some(HashMap::from([
                    ("max-size".to_owned(), LOG_SIZE_MAX.to_owned()),
                    ("max-file".to_owned(), "2".to_owned()),
                ])),
            }),
            mounts: Some(vec![store, read_only(path, Path::new(CONFIG_PATH))]),
            ..Default::default()
        }),
        ..Default::default()
    }
}

/// Whether the port is free, asked before the server is started: so the answer is not another server's.
fn check_port(port: u16) -> Result<(), BusServerError> {
    match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            Err(BusServerError::PortTaken { port })
        }
        _ => Ok(()), // anything else the server itself says better
    }
}

async fn wait_healthy(engine: &Engine, name: &str, port: u16) -> Result<(), BusServerError> {
    let limit = Instant::now() + HEALTHY_MAX;
    loop {
        let last = match greeting(port).await {
            Ok(greeting) if greeting["jetstream"] == true => return Ok(()),
            Ok(_) => "it has no JetStream".to_owned(),
            Err(error) => error.to_string(),
        };
        match engine.inspect(name).await? {
            Some(state) if state.phase == Phase::Ended => {
                let words = engine.last_words(name).await;
                return Err(BusServerError::Ended { code: state.exit.code, words });
            }
            _ if Instant::now() >= limit => {
                return Err(BusServerError::Unhealthy { port, container: name.to_owned(), last });
            }
            _ => tokio::time::sleep(HEALTHY_PAUSE).await,
        }
    }
}

/// What the server says of itself when it is dialled: `INFO {…}`.
async fn greeting(port: u16) -> std::io::Result<serde_json::Value> {
    let said = async {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).await?;
        let info = line
            .strip_prefix("INFO ")
            .ok_or_else(|| std::io::Error::other("it is no NATS server"))?;
        serde_json::from_str(info).map_err(std::io::Error::other)
    };
    tokio::time::timeout(Duration::from_secs(2), said)
        .await
        .unwrap_or_else(|_| Err(std::io::Error::other("it says nothing")))
}
