//! Git bundles: reading the header of one that came in, writing the ones that go out.
//!
//! A bundle is a short text header and a pack. We write the header ourselves, because the ref in it has to be
//! the target's name whatever the hub calls it, and read it ourselves, because git's own fetch from a bundle
//! checks objects only from version 2.46 on: the pack goes to `index-pack --strict` instead.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use cantus_proto::ids::{CommitId, RepositoryId};
use tempfile::TempPath;

use super::git::TRANSFER_WALL;
use super::{Hub, HubError, Store};

/// Longest header line in bytes: an id, a ref name as long as a path, some room.
const HEADER_LINE_BYTES_MAX: u64 = 8_192;
/// Most header lines: a result has one tip and few prerequisites.
const HEADER_LINES_MAX: usize = 1_000;

/// A bundle on disk; the file goes when this is dropped.
#[derive(Debug)]
pub struct BundleFile {
    /// Where it is.
    pub path: TempPath,
    /// Its length.
    pub size_bytes: u64,
    /// The commit that the receiver must have; without one it is complete.
    pub prerequisite: Option<CommitId>,
}

/// What the header of a bundle says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) prerequisites: Vec<CommitId>,
    pub(super) tips: Vec<CommitId>,
    /// Where the pack begins.
    pub(super) pack_at: u64,
}

/// Reads a header. The error is a text for the refusal.
pub(super) fn read_header(file: &File) -> Result<Header, String> {
    let mut reader = BufReader::new(file);
    let mut line = |pack_at: &mut u64| -> Result<Vec<u8>, String> {
        let mut line = Vec::new();
        let read = reader
            .by_ref()
            .take(HEADER_LINE_BYTES_MAX)
            .read_until(b'\n', &mut line)
            .map_err(|error| error.to_string())?;
        if line.pop() != Some(b'\n') {
            return Err("its header ends within a line".to_owned());
        }
        *pack_at += read as u64;
        Ok(line)
    };
    let mut header = Header { prerequisites: Vec::new(), tips: Vec::new(), pack_at: 0 };
    match line(&mut header.pack_at)?.as_slice() {
        b"# v2 git bundle" | b"# v3 git bundle" => {}
        _ => return Err("it does not begin as a git bundle does".to_owned()),
    }
    for _ in 0..HEADER_LINES_MAX {
        let text = line(&mut header.pack_at)?;
        let id = |bytes: &[u8]| {
            let hex = bytes.split(|&b| b == b' ').next().unwrap_or_default();
            CommitId::new(String::from_utf8_lossy(hex)).map_err(|error| error.to_string())
        };
        match text.as_slice() {
            [] => return Ok(header),
            [b'@', capability @ ..] if capability == b"object-format=sha1" => {}
            [b'@', ..] => {
                return Err(format!("it needs {:?}", String::from_utf8_lossy(&text)));
            }
            [b'-', rest @ ..] => header.prerequisites.push(id(rest)?),
            rest => header.tips.push(id(rest)?),
        }
    }
    Err(format!("its header has more than {HEADER_LINES_MAX} lines"))
}

/// The pack of a bundle as a file that stands at its beginning.
pub(super) fn pack_of(file: &File, header: &Header) -> std::io::Result<File> {
    let mut pack = file.try_clone()?;
    pack.seek(SeekFrom::Start(header.pack_at))?;
    Ok(pack)
}

impl Hub {
    /// Bundles the history of `head`, complete or since a commit that the receiver has, under the ref's name.
    ///
    /// A prerequisite that the hub does not know gives a complete bundle. Nothing new gives `None`.
    ///
    /// # Errors
    /// [`HubError`] when the repository or `head` is unknown, the disk is full, or git fails.
    pub fn source_bundle(
        &self,
        repository: &RepositoryId,
        reference: &str,
        head: &CommitId,
        prerequisite: Option<&CommitId>,
    ) -> Result<Option<BundleFile>, HubError> {
        let store = self.store(repository)?;
        store.commit(head)?;
        if prerequisite == Some(head) {
            return Ok(None);
        }
        let known = prerequisite.filter(|commit| store.has_commit(commit));
        self.write_bundle(&store, reference, head, known).map(Some)
    }

    /// Writes `prerequisite..head` as a bundle with one ref into the scratch directory.
    pub(super) fn write_bundle(
        &self,
        store: &Store,
        reference: &str,
        head: &CommitId,
        prerequisite: Option<&CommitId>,
    ) -> Result<BundleFile, HubError> {
        let directory = self.scratch();
        let io = |what, path: &Path| {
            let path: PathBuf = path.to_owned();
            move |source| HubError::Io { what, path, source }
        };
        let (mut file, path) = tempfile::Builder::new()
            .prefix("bundle-")
            .tempfile_in(&directory)
            .map_err(io("create a bundle in", &directory))?
            .into_parts();
        let mut header = String::from("# v2 git bundle\n");
        let mut revisions = format!("{head}\n");
        if let Some(commit) = prerequisite {
            header.push_str(&format!("-{commit} \n"));
            revisions.push_str(&format!("^{commit}\n"));
        }
        header.push_str(&format!("{head} {reference}\n\n"));
        file.write_all(header.as_bytes()).map_err(io("write the bundle", &path))?;
        let pack = file.try_clone().map_err(io("write the bundle", &path))?;
        self.git
            .call_in(&store.path, "pack-objects")
            .args(["--stdout", "--revs", "--thin", "--delta-base-offset", "-q"])
            .input(revisions.into_bytes())
            .output_file(pack)
            .wall(TRANSFER_WALL)
            .run()?;
        let size_bytes = file.metadata().map_err(io("measure the bundle", &path))?.len();
        Ok(BundleFile { path, size_bytes, prerequisite: prerequisite.cloned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Result<Header, String> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.rewind().unwrap();
        read_header(&file)
    }

    #[test]
    fn headers_are_read_or_refused() {
        let (a, b) = ("a".repeat(40), "b".repeat(40));
        let text = format!("# v2 git bundle\n-{a} some words\n{b} refs/heads/x\n\nPACK");
        let read = header(&text).unwrap();
        assert_eq!(read.prerequisites, [CommitId::new(&a).unwrap()]);
        assert_eq!(read.tips, [CommitId::new(&b).unwrap()]);
        assert_eq!(read.pack_at, text.len() as u64 - 4);
        let capable = format!("# v3 git bundle\n@object-format=sha1\n{b} HEAD\n\n");
        assert!(header(&capable).is_ok());

        let filtered = format!("# v3 git bundle\n@filter=blob:none\n{b} HEAD\n\n");
        assert_eq!(header(&filtered).unwrap_err(), "it needs \"@filter=blob:none\"");
        assert!(header("").unwrap_err().contains("ends within a line"));
        assert!(header("PACK\n").unwrap_err().contains("does not begin"));
        assert!(header("# v2 git bundle\n--all\n\n").unwrap_err().contains("commit id"));
        assert!(header(&format!("# v2 git bundle\n{b} HEAD\n")).unwrap_err().contains("within"));
        let endless = format!("# v2 git bundle\n{}", format!("{b} HEAD\n").repeat(2_000));
        assert!(header(&endless).unwrap_err().contains("more than 1000 lines"));
        let long = format!("# v2 git bundle\n{b} {}\n\n", "x".repeat(9_000));
        assert!(header(&long).unwrap_err().contains("within a line"));
    }
}
