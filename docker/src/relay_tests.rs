//! The relay on real sockets: bytes, holding back, limits, rights.

use super::*;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// Bounds every wait of these tests; nothing here takes a tenth of it.
const SOON: Duration = Duration::from_secs(10);

async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(SOON, what).await.expect("it happens soon")
}

async fn bus() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

#[tokio::test]
async fn bytes_and_half_closes_pass_both_ways() {
    let root = tempfile::tempdir().unwrap();
    let (server, address) = bus().await;
    let relay = Relay::listen(&root.path().join("c"), &address).unwrap();
    relay.release();
    let mut client = UnixStream::connect(relay.dir().join(SOCKET_NAME)).await.unwrap();
    let (mut served, _) = soon(server.accept()).await.unwrap();
    let big = vec![7_u8; 300_000];
    served.write_all(b"INFO").await.unwrap();
    let mut heard = [0; 4];
    soon(client.read_exact(&mut heard)).await.unwrap();
    client.write_all(&big).await.unwrap();
    client.shutdown().await.unwrap();
    let mut got = Vec::new();
    soon(served.read_to_end(&mut got)).await.unwrap();
    assert_eq!(got.len(), big.len());
    served.write_all(b"late answer").await.unwrap();
    drop(served);
    let mut answer = String::new();
    soon(client.read_to_string(&mut answer)).await.unwrap();
    assert_eq!(answer, "late answer", "the other direction was still open");
}

#[tokio::test]
async fn a_held_relay_says_nothing_until_it_is_released() {
    let root = tempfile::tempdir().unwrap();
    let (server, address) = bus().await;
    let relay = Relay::listen(&root.path().join("c"), &address).unwrap();
    let gone = UnixStream::connect(relay.dir().join(SOCKET_NAME)).await.unwrap();
    drop(gone);
    let mut client = UnixStream::connect(relay.dir().join(SOCKET_NAME)).await.unwrap();
    tokio::task::yield_now().await;
    assert!(client.try_read(&mut [0; 1]).is_err(), "nothing to read yet");
    relay.release();
    let (mut served, _) = soon(server.accept()).await.unwrap();
    served.write_all(b"I").await.unwrap();
    assert_eq!(
        soon(client.read_u8()).await.unwrap(),
        b'I',
        "the one that left was not dialled for"
    );
}

#[tokio::test]
async fn a_third_connection_is_closed_and_a_free_place_is_used_again() {
    let root = tempfile::tempdir().unwrap();
    let (_server, address) = bus().await;
    let relay = Relay::listen(&root.path().join("c"), &address).unwrap();
    relay.release();
    let path = relay.dir().join(SOCKET_NAME);
    let first = UnixStream::connect(&path).await.unwrap();
    let _second = UnixStream::connect(&path).await.unwrap();
    let mut third = UnixStream::connect(&path).await.unwrap();
    assert_eq!(soon(third.read(&mut [0; 1])).await.unwrap(), 0);
    drop((first, _server));
    let kept = async {
        loop {
            let mut next = UnixStream::connect(&path).await.unwrap();
            let refused =
                tokio::time::timeout(Duration::from_millis(50), next.read(&mut [0; 1])).await;
            if refused.is_err() {
                break;
            }
        }
    };
    soon(kept).await;
}

#[tokio::test]
async fn it_waits_for_a_bus_that_is_away() {
    let root = tempfile::tempdir().unwrap();
    let (server, address) = bus().await;
    drop(server);
    let relay = Relay::listen(&root.path().join("c"), &address).unwrap();
    relay.release();
    let mut client = UnixStream::connect(relay.dir().join(SOCKET_NAME)).await.unwrap();
    let refused = tokio::time::timeout(Duration::from_millis(120), client.read(&mut [0; 1])).await;
    assert!(refused.is_err(), "the connection is kept");
    let server = TcpListener::bind(&address).await.unwrap();
    let (mut served, _) = soon(server.accept()).await.unwrap();
    served.write_all(b"I").await.unwrap();
    assert_eq!(soon(client.read_u8()).await.unwrap(), b'I');
}

#[tokio::test]
async fn rights_are_narrow_paths_may_be_long_and_nothing_is_left() {
    let root = tempfile::tempdir().unwrap();
    let deep = root.path().join("d".repeat(120)).join("e".repeat(120));
    std::fs::create_dir_all(&deep).unwrap();
    let dir = deep.join("c");
    let relay = Relay::listen(&dir, "127.0.0.1:1").unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&dir), 0o711);
    assert_eq!(mode(&dir.join(SOCKET_NAME)), 0o660);
    drop(relay);
    assert!(!dir.exists());
    let error = Relay::listen(&root.path().join("absent/c"), "127.0.0.1:1").unwrap_err();
    assert!(error.to_string().contains("absent"), "{error}");
}
