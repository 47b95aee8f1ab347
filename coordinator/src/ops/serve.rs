//! `cantus serve`: the coordinator in the foreground.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context as _;
use cantus_proto::limits;
use cantus_proto::subjects::BusUser;
use cantus_proto::wire::{DESCRIPTORS, v1::cantus_server::CantusServer};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::watch;
use tokio_stream::wrappers::{TcpListenerStream, UnixListenerStream};

use super::{bus_url, connect, signalled};
use crate::config::{Config, Home, HomeError, Secrets};
use crate::grpc::{Api, service};
use crate::hub::Hub;
use crate::kernel::{Kernel, KernelError, Parts, upkeep};
use cantus_core::Settings;

/// Attempts of one role on the bus at the same time; see [`Settings::queue_window`]. Just enough that eight workers
/// that answer at once find work: each more is a fraction of a millisecond that something urgent waits.
pub const QUEUE_WINDOW: u32 = 12;
/// See [`Settings::checks_max`].
const CHECKS_MAX: u32 = 2;

/// What the flags say.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Address besides the socket.
    pub listen: Option<SocketAddr>,
    /// Address of the bus.
    pub bus: Option<String>,
    /// Whether evidence from plain processes may land work.
    pub allow_process_isolation: bool,
}

/// The core's settings of a configuration.
///
/// # Errors
/// When the table of prices that it names cannot be read.
pub fn settings(
    config: &Config,
    secrets: &Secrets,
    allow_process_isolation: bool,
) -> Result<Settings, HomeError> {
    let milliseconds =
        |duration: std::time::Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    Ok(Settings {
        lease_ms: milliseconds(limits::LEASE),
        heartbeat_ms: milliseconds(limits::HEARTBEAT),
        queue_wait_ms: config.coordinator.queue_wait_minutes.saturating_mul(60_000),
        queue_window: QUEUE_WINDOW,
        verify_ahead: config.coordinator.verify_ahead,
        checks_max: CHECKS_MAX,
        artifact_bytes_max: limits::ARTIFACT_BYTES_MAX,
        files_max: limits::FILES_MAX,
        rules: config.rules()?,
        trust: secrets.trust.clone(),
        allow_process_isolation,
    })
}

/// Serves until a signal says otherwise; anew when the bus came back with an older store.
///
/// # Errors
/// When the home, the bus, git or an address cannot be used, or another coordinator took over.
pub async fn serve(home: &Home, options: Options) -> anyhow::Result<()> {
    while let Some(older) = serve_once(home, &options).await? {
        tracing::error!("{older}: starting anew from what it has; what landed is found in git");
    }
    tracing::info!("the coordinator has stopped");
    Ok(())
}

/// Serves until a signal says otherwise, which gives nothing, or until the bus has lost what was stored.
async fn serve_once(home: &Home, options: &Options) -> anyhow::Result<Option<KernelError>> {
    let config = home.config()?;
    let secrets = home.secrets(&config)?;
    let hub = Arc::new(Hub::open(&home.hub())?);
    let url = bus_url(options.bus.as_deref(), config.bus.port);
    let bus = connect(&url, &BusUser::Coordinator, &secrets, "cantus serve").await?;
    let parts = Parts {
        bus: bus.clone(),
        hub: Some(Arc::clone(&hub)),
        roles: config.role_names(),
        key: Arc::new(secrets.coordinator.clone()),
    };
    let settings = settings(&config, &secrets, options.allow_process_isolation)?;
    tracing::info!(date = settings.rules.prices.date, "prices of models are of this date");
    let (kernel, handle) = Kernel::start(settings, parts).await?;
    let (stop, stopped) = watch::channel(false);
    let upkeep = upkeep::after_start(handle.clone(), bus.clone(), Arc::clone(&hub));
    let api = Arc::new(Api { handle, bus, hub: Some(hub), effects: kernel.effects() });
    let listen = options.listen.or(config.coordinator.listen);
    let servers = start_servers(home, listen, &api, &stopped).await?;
    tracing::info!(socket = %home.socket().display(), "the coordinator serves");
    let upkeep = tokio::spawn(upkeep);
    let mut running = tokio::spawn(kernel.run(stopped));
    let ended = tokio::select! {
        ended = &mut running => Some(ended),
        signalled = signalled() => {
            signalled?;
            None
        }
    };
    let _ = stop.send(true);
    upkeep.abort();
    let ended = match ended {
        Some(ended) => ended,
        None => running.await,
    };
    for server in servers {
        server.await.context("a server ended badly")??;
    }
    let _ = std::fs::remove_file(home.socket());
    match ended.context("the coordinator's loop ended badly")? {
        Ok(()) => Ok(None),
        Err(older @ KernelError::Older { .. }) => Ok(Some(older)),
        Err(error) => Err(error.into()),
    }
}

type Server = tokio::task::JoinHandle<Result<(), tonic::transport::Error>>;

async fn start_servers(
    home: &Home,
    listen: Option<SocketAddr>,
    api: &Arc<Api>,
    stopped: &watch::Receiver<bool>,
) -> anyhow::Result<Vec<Server>> {
    let path = home.socket();
    if tokio::net::UnixStream::connect(&path).await.is_ok() {
        anyhow::bail!(
            "another coordinator serves {}: end it first with `cantus down`",
            path.display()
        );
    }
    let _ = std::fs::remove_file(&path);
    let unix = UnixListener::bind(&path)
        .with_context(|| format!("cannot listen on {}", path.display()))?;
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
    let mut servers = Vec::new();
    let router = router(api).await?;
    servers.push(tokio::spawn(
        router
            .serve_with_incoming_shutdown(UnixListenerStream::new(unix), stopping(stopped.clone())),
    ));
    if let Some(address) = listen {
        let tcp = TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen on {address}"))?;
        tracing::info!(address = %tcp.local_addr()?, "the API also listens on TCP");
        let router = self::router(api).await?;
        servers.push(tokio::spawn(
            router.serve_with_incoming_shutdown(
                TcpListenerStream::new(tcp),
                stopping(stopped.clone()),
            ),
        ));
    }
    Ok(servers)
}

async fn router(api: &Arc<Api>) -> anyhow::Result<tonic::transport::server::Router> {
    let (reporter, health) = tonic_health::server::health_reporter();
    reporter.set_serving::<CantusServer<Api>>().await;
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(DESCRIPTORS)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        .build_v1()?;
    Ok(tonic::transport::Server::builder()
        .add_service(health)
        .add_service(reflection)
        .add_service(service(Arc::clone(api))))
}

async fn stopping(mut stopped: watch::Receiver<bool>) {
    let _ = stopped.wait_for(|stop| *stop).await;
}
