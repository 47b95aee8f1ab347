//! The relay with a real socket behind it.

use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixListener};

use super::{Relay, owner};

async fn relay(directory: &TempDir) -> (Relay, UnixListener) {
    let socket = directory.path().join("bus.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    (Relay::start(&socket).await.unwrap(), listener)
}

#[tokio::test]
async fn bytes_go_both_ways_and_a_second_connection_after_the_first() {
    let directory = TempDir::new().unwrap();
    let (relay, listener) = relay(&directory).await;
    let address = relay.url().trim_start_matches("nats://").to_owned();
    for _ in 0..2 {
        let mut client = TcpStream::connect(&address).await.unwrap();
        let (mut bus, _) = listener.accept().await.unwrap();
        client.write_all(b"ping").await.unwrap();
        let mut buffer = [0; 4];
        bus.read_exact(&mut buffer).await.unwrap();
        assert_eq!(&buffer, b"ping");
        bus.write_all(b"pong").await.unwrap();
        client.read_exact(&mut buffer).await.unwrap();
        assert_eq!(&buffer, b"pong");
    }
}

#[tokio::test]
async fn the_other_end_closing_is_passed_on() {
    let directory = TempDir::new().unwrap();
    let (relay, listener) = relay(&directory).await;
    let mut client = TcpStream::connect(relay.url().trim_start_matches("nats://")).await.unwrap();
    let (bus, _) = listener.accept().await.unwrap();
    drop(bus);
    assert_eq!(client.read(&mut [0; 1]).await.unwrap(), 0);
}

#[tokio::test]
async fn the_owner_of_a_connection_is_known() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let (served, peer) = listener.accept().await.unwrap();
    let own = rustix::process::geteuid().as_raw();
    assert_eq!(owner(peer, served.local_addr()), Some(own));
    assert_eq!(peer, client.local_addr().unwrap());
}

/// As root, another user's connection gets nothing; without root there is no other user to try with.
#[tokio::test]
async fn another_users_connection_is_refused() {
    let directory = TempDir::new().unwrap();
    let (relay, listener) = relay(&directory).await;
    let address = relay.url().trim_start_matches("nats://127.0.0.1:").to_owned();
    let script = format!("exec 3<>/dev/tcp/127.0.0.1/{address} && cat <&3");
    let mut command = tokio::process::Command::new("/bin/bash");
    command.args(["-c", &script]).stdin(std::process::Stdio::null());
    let root = rustix::process::geteuid().is_root();
    if root {
        command.uid(61_999).gid(61_999);
    }
    let mut child = command.kill_on_drop(true).spawn().unwrap();
    if root {
        // Closed at once: cat sees the end, and nothing arrived at the bus.
        let patience = std::time::Duration::from_secs(20);
        let ended = tokio::time::timeout(patience, child.wait()).await;
        assert!(ended.expect("the connection is closed at once").unwrap().success());
        let arrived = tokio::time::timeout(std::time::Duration::from_millis(50), listener.accept());
        assert!(arrived.await.is_err());
    } else {
        assert!(listener.accept().await.is_ok());
    }
}
