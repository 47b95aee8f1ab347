//! Lets the bus client, which dials TCP only, reach the socket that is the container's only way out.
//!
//! A loopback port is held open for the whole lease, so that nobody else can take it and be mistaken for the bus.
//! A connection is served only if the socket at its other end belongs to the user of this process: the agent,
//! another user, gets nothing. One connection at a time.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use tokio::io::{AsyncWriteExt as _, copy};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::task::{JoinHandle, JoinSet};

/// The kernel's table of IPv4 connections of this network namespace.
const CONNECTIONS: &str = "/proc/net/tcp";

/// A relay that runs until it is dropped.
#[derive(Debug)]
pub struct Relay {
    address: SocketAddr,
    serving: JoinHandle<()>,
}

impl Relay {
    /// Opens the port.
    ///
    /// # Errors
    /// When there is no loopback or no port.
    pub async fn start(socket: &Path) -> Result<Self, std::io::Error> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let serving = tokio::spawn(serve(listener, socket.to_owned()));
        Ok(Self { address, serving })
    }

    /// Where the bus client dials.
    #[must_use]
    pub fn url(&self) -> String {
        format!("nats://{}", self.address)
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Waits until the pool lets this process work: the socket of a spare container says nothing before.
///
/// # Errors
/// When the socket cannot be opened.
pub async fn released(socket: &Path) -> Result<(), std::io::Error> {
    UnixStream::connect(socket).await?.readable().await
}

async fn serve(listener: TcpListener, socket: PathBuf) {
    let own = rustix::process::geteuid().as_raw();
    let mut forwarding = JoinSet::new();
    loop {
        let Ok((client, peer)) = listener.accept().await else {
            // Out of descriptors or memory: let others give some back before the next try.
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            continue;
        };
        match owner(peer, client.local_addr()) {
            Some(uid) if uid == own => {
                // Only one: a new one means that the client gave the old one up.
                forwarding.shutdown().await;
                let socket = socket.clone();
                forwarding.spawn(async move { forward(client, &socket).await });
            }
            uid => tracing::warn!(?uid, %peer, "refused a connection to the bus relay"),
        }
    }
}

async fn forward(mut client: TcpStream, socket: &Path) {
    let mut bus = match UnixStream::connect(socket).await {
        Ok(bus) => bus,
        Err(error) => {
            tracing::warn!(socket = %socket.display(), %error, "the bus socket cannot be reached");
            return;
        }
    };
    // A message to the bus is waited for: delayed small packets would cost every round trip.
    let _ = client.set_nodelay(true);
    let (mut from_client, mut to_client) = client.split();
    let (mut from_bus, mut to_bus) = bus.split();
    tokio::select! {
        _ = copy(&mut from_client, &mut to_bus) => {}
        _ = copy(&mut from_bus, &mut to_client) => {}
    }
    let _ = to_bus.shutdown().await;
}

/// The user that owns the socket at the other end, from the kernel's table.
fn owner(peer: SocketAddr, local: Result<SocketAddr, std::io::Error>) -> Option<u32> {
    let (SocketAddr::V4(peer), SocketAddr::V4(local)) = (peer, local.ok()?) else { return None };
    let hex = |address: std::net::SocketAddrV4| {
        let ip = u32::from_ne_bytes(address.ip().octets());
        format!("{ip:08X}:{:04X}", address.port())
    };
    let (peer, local) = (hex(peer), hex(local));
    let table = std::fs::read_to_string(CONNECTIONS).ok()?;
    table.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let same = fields.get(1) == Some(&peer.as_str()) && fields.get(2) == Some(&local.as_str());
        if same { fields.get(7)?.parse().ok() } else { None }
    })
}

#[cfg(test)]
mod tests;
