//! The way from a container to the bus: one unix socket per container, copied to the server's TCP port.
//!
//! Only the entry process of the container can open it: mode 0660, the pool's own user and group. A relay starts
//! *held*: it accepts, but dials the bus only once it is released, so that a spare container costs nothing and
//! takes work the moment a slot is free. It ends, and its directory goes, with the value.

use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::net::RecvFlags;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};

/// Name of the socket in its directory.
pub const SOCKET_NAME: &str = "bus.sock";
/// Connections per container: the entry's own, and its next one while the old has not ended yet.
const CONNECTIONS_MAX: usize = 2;
/// First and longest pause between tries to reach the bus while it is away.
const DIAL_PAUSE: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));
/// Longest that one try may take.
const DIAL_MAX: Duration = Duration::from_secs(5);
/// Pause after `accept` failed, as it does without free file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Why a container has no way to the bus.
#[derive(Debug, thiserror::Error)]
#[error("the bus socket of a container cannot be made in {}: check rights and space there", dir.display())]
pub struct RelayError {
    /// Its directory.
    pub dir: PathBuf,
    /// Why.
    #[source]
    pub source: std::io::Error,
}

/// A running relay.
#[derive(Debug)]
pub struct Relay {
    dir: PathBuf,
    gate: watch::Sender<bool>,
    acceptor: JoinHandle<()>,
}

impl Relay {
    /// Makes the directory with its socket and begins to accept, held. `bus` is `host:port`.
    ///
    /// # Errors
    /// When the directory or the socket cannot be made.
    pub fn listen(dir: &Path, bus: &str) -> Result<Self, RelayError> {
        let failed = |source| RelayError { dir: dir.to_owned(), source };
        let listener = bind(dir).map_err(failed)?;
        let (gate, released) = watch::channel(false);
        let acceptor = tokio::spawn(accept(listener, bus.to_owned(), released));
        Ok(Self { dir: dir.to_owned(), gate, acceptor })
    }

    /// Lets connections through to the bus, also those that wait.
    pub fn release(&self) {
        self.gate.send_replace(true);
    }

    /// The directory to be mounted.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.acceptor.abort();
        if let Err(error) = std::fs::remove_dir_all(&self.dir)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(dir = %self.dir.display(), %error, "a socket directory could not be removed");
        }
    }
}

fn bind(dir: &Path) -> std::io::Result<UnixListener> {
    match std::fs::create_dir(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o711))?;
    // A socket's path has 108 bytes at most, which a state directory can exceed: go through the open directory.
    let opened = std::fs::File::open(dir)?;
    let socket = PathBuf::from(format!("/proc/self/fd/{}/{SOCKET_NAME}", opened.as_raw_fd()));
    match std::fs::remove_file(&socket) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(&socket)?;
    std::fs::set_permissions(&socket, std::fs::Permissions::from_mode(0o660))?;
    Ok(listener)
}

async fn accept(listener: UnixListener, bus: String, released: watch::Receiver<bool>) {
    let free = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    // Dropped with this future, and all connections with it.
    let mut connections = JoinSet::new();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                while connections.try_join_next().is_some() {}
                // One too many is closed at once: the entry never needs it, so somebody else asks.
                if let Ok(permit) = Arc::clone(&free).try_acquire_owned() {
                    let (bus, released) = (bus.clone(), released.clone());
                    connections.spawn(async move {
                        carry(stream, &bus, released).await;
                        drop(permit);
                    });
                }
            }
            Err(error) => {
                tracing::warn!(%error, "a container's connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// One connection, from its acceptance to its end on both sides.
async fn carry(mut stream: UnixStream, bus: &str, mut released: watch::Receiver<bool>) {
    tokio::select! {
        open = released.wait_for(|open| *open) => if open.is_err() { return },
        () = hung_up(&stream) => return,
    }
    let dialled = tokio::select! {
        dialled = dial(bus) => dialled,
        () = hung_up(&stream) => return,
    };
    let mut server = dialled;
    // Each direction ends by itself: what one side has closed for writing may still be answered.
    if let Err(error) = copy_bidirectional(&mut stream, &mut server).await {
        tracing::debug!(%error, "a connection to the bus was cut");
    }
}

/// Reaches the bus, however long it is away; the caller stops when the container does.
async fn dial(bus: &str) -> TcpStream {
    let mut pause = DIAL_PAUSE.0;
    loop {
        match tokio::time::timeout(DIAL_MAX, TcpStream::connect(bus)).await {
            Ok(Ok(server)) => {
                if let Err(error) = server.set_nodelay(true) {
                    tracing::debug!(%error, "small messages to the bus may wait");
                }
                return server;
            }
            Ok(Err(error)) => tracing::debug!(bus, %error, "the bus cannot be reached yet"),
            Err(_) => tracing::debug!(bus, "the bus does not answer yet"),
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(DIAL_PAUSE.1);
    }
}

/// Ends when the other side has closed. What it may have said before is left for the copy.
async fn hung_up(stream: &UnixStream) {
    let mut byte = [0_u8; 1];
    let peeked = stream
        .async_io(tokio::io::Interest::READABLE, || {
            let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
            rustix::net::recv(stream, &mut byte[..], flags)
                .map(|(read, _)| read)
                .map_err(std::io::Error::from)
        })
        .await;
    if matches!(peeked, Ok(1)) {
        // It speaks first, so its end would not be seen; it is found when its words are copied.
        std::future::pending::<()>().await;
    }
}

#[cfg(test)]
#[path = "relay_tests.rs"]
mod tests;
