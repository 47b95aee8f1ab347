//! The second name of a tree: the sha256 of `git ls-tree -r -z --full-tree`, for where sha1 is not enough.
//!
//! Each side walks its own object store and gives the entries here, so that the bytes are made in one place.

use sha2::Digest as _;

use crate::ids::{Digest, hex};

/// Builds the digest from entries in the order of git: by the bytes of their full paths.
#[derive(Debug, Clone, Default)]
pub struct Listing(sha2::Sha256);

/// What an entry is. Subtrees are walked and not listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A file or a symlink.
    Blob,
    /// A submodule's commit.
    Commit,
}

impl Listing {
    /// No entries yet: the listing of the empty tree.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one entry. `mode` is git's (`0o100644` and so on), `id` hexadecimal, `path` the raw bytes from
    /// the root.
    pub fn push(&mut self, mode: u32, kind: EntryKind, id: &str, path: &[u8]) {
        let kind = match kind {
            EntryKind::Blob => "blob",
            EntryKind::Commit => "commit",
        };
        self.0.update(format!("{mode:06o} {kind} {id}\t"));
        self.0.update(path);
        self.0.update(b"\0");
    }

    /// The digest of all entries.
    #[must_use]
    pub fn finish(self) -> Digest {
        Digest::new(hex(&self.0.finalize())).expect("a sha256 has 64 hex digits")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_that_of_the_printed_lines() {
        let mut listing = Listing::new();
        let id = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
        listing.push(0o100_644, EntryKind::Blob, id, b"caf\xe9");
        listing.push(0o160_000, EntryKind::Commit, id, b"sub");
        let printed = [
            format!("100644 blob {id}\t").as_bytes(),
            b"caf\xe9\0",
            format!("160000 commit {id}\tsub\0").as_bytes(),
        ]
        .concat();
        assert_eq!(listing.finish(), Digest::of(&printed));
        assert_eq!(Listing::new().finish(), Digest::of(b""));
    }
}
