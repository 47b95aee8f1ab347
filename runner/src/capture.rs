//! Keeps what a command prints: digests of all of it, and its head and tail within a limit.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use cantus_proto::ids::{Digest, hex};
use sha2::Digest as _;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Bytes read at once.
const CHUNK: usize = 64 * 1024;

/// Both output streams of one command as they came, head and tail kept, the cut marked.
#[derive(Debug)]
pub struct Log {
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    cut_bytes: u64,
}

impl Log {
    /// A log that keeps about this many bytes.
    #[must_use]
    pub fn new(bytes_max: u64) -> Self {
        let half = usize::try_from(bytes_max / 2).unwrap_or(usize::MAX);
        Self { half, head: Vec::new(), tail: VecDeque::new(), cut_bytes: 0 }
    }

    /// Adds bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        let room = self.half.saturating_sub(self.head.len()).min(bytes.len());
        let (head, rest) = bytes.split_at(room);
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(self.half);
        if over > 0 {
            self.tail.drain(..over);
            self.cut_bytes += over as u64;
        }
    }

    /// Whether something had to be left out.
    #[must_use]
    pub fn truncated(&self) -> bool {
        self.cut_bytes > 0
    }

    /// The bytes kept, with the cut marked where it is.
    #[must_use]
    pub fn into_bytes(mut self) -> Vec<u8> {
        if self.cut_bytes > 0 {
            let mark = format!("\n[… {} bytes left out …]\n", self.cut_bytes);
            self.head.extend_from_slice(mark.as_bytes());
        }
        self.head.extend(self.tail);
        self.head
    }
}

/// A log that both readers of a command write to.
pub(crate) type SharedLog = Arc<Mutex<Log>>;

/// Digest of a stream so far; shared, so that a reader that is given up still leaves what it saw.
#[derive(Debug, Clone, Default)]
pub(crate) struct StreamDigest(Arc<Mutex<sha2::Sha256>>);

impl StreamDigest {
    fn update(&self, bytes: &[u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).update(bytes);
    }

    /// The digest of what was read.
    pub(crate) fn digest(&self) -> Digest {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Digest::new(hex(&state.finalize())).expect("a sha256 is 64 hex digits")
    }
}

/// Reads one stream to its end into the log and the digest.
pub(crate) async fn read(mut stream: impl AsyncRead + Unpin, log: SharedLog, digest: StreamDigest) {
    let mut chunk = vec![0; CHUNK];
    // An error on a pipe is its end: there is nothing more to read.
    while let Ok(length @ 1..) = stream.read(&mut chunk).await {
        digest.update(&chunk[..length]);
        log.lock().unwrap_or_else(PoisonError::into_inner).add(&chunk[..length]);
    }
}

#[cfg(test)]
mod tests {
    use super::Log;

    #[test]
    fn a_short_log_is_kept_whole() {
        let mut log = Log::new(10);
        log.add(b"12345");
        log.add(b"67890");
        assert!(!log.truncated());
        assert_eq!(log.into_bytes(), b"1234567890");
    }

    #[test]
    fn a_long_log_keeps_head_and_tail_and_marks_the_cut() {
        let mut log = Log::new(10);
        log.add(b"12345678");
        log.add(b"9abcdefgh");
        assert!(log.truncated());
        let text = String::from_utf8(log.into_bytes()).unwrap();
        assert_eq!(text, "12345\n[… 7 bytes left out …]\ndefgh");
    }
}
