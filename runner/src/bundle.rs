//! Git bundles, version 2, written and read as bytes, without the git CLI.
//!
//! A bundle is how work crosses machines: it names what it builds on (prerequisites), what it brings (refs) and
//! carries the objects between the two. Transport and digests are elsewhere.

use std::io::Write as _;

use git2::{Oid, Repository};

/// The ref under which the work itself travels.
pub const WORK_REF: &str = "refs/heads/work";

const SIGNATURE: &[u8] = b"# v2 git bundle\n";

/// Most header lines that are read: ours have a handful, and a header is not the place for data.
const HEADER_LINES_MAX: usize = 1_000;

/// What a bundle says before its objects.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Header {
    /// Commits that the receiver must have.
    pub prerequisites: Vec<Oid>,
    /// Names and the commits they stand for.
    pub refs: Vec<(String, Oid)>,
}

/// Why a bundle could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// Not a version 2 bundle.
    #[error("this is not a git bundle of version 2: {0}")]
    Format(&'static str),
    /// Its base is not here.
    #[error("the bundle builds on commit {0}, which this repository does not have")]
    Prerequisite(Oid),
    /// Larger than allowed.
    #[error("the bundle has more than {limit} bytes, which is the limit of an artifact")]
    TooLarge {
        /// In bytes.
        limit: u64,
    },
    /// Git refused.
    #[error("git could not handle the bundle")]
    Git(#[from] git2::Error),
    /// The object store refused the pack.
    #[error("the objects of the bundle could not be written")]
    Write(#[from] std::io::Error),
}

/// Writes what `refs` reach and `base` does not, as a bundle that needs `base`.
///
/// # Errors
/// [`BundleError::TooLarge`] above `bytes_max`, or what git said.
pub fn write(
    repository: &Repository,
    base: Oid,
    refs: &[(String, Oid)],
    bytes_max: u64,
) -> Result<Vec<u8>, BundleError> {
    let mut bundle = SIGNATURE.to_vec();
    bundle.extend_from_slice(format!("-{base}\n").as_bytes());
    let mut walk = repository.revwalk()?;
    for (name, id) in refs {
        bundle.extend_from_slice(format!("{id} {name}\n").as_bytes());
        walk.push(*id)?;
    }
    bundle.push(b'\n');
    walk.hide(base)?;
    let mut pack = repository.packbuilder()?;
    pack.insert_walk(&mut walk)?;
    let mut over = false;
    let written = pack.foreach(|chunk| {
        over = (bundle.len() + chunk.len()) as u64 > bytes_max;
        if !over {
            bundle.extend_from_slice(chunk);
        }
        !over
    });
    if over {
        return Err(BundleError::TooLarge { limit: bytes_max });
    }
    written?;
    Ok(bundle)
}

/// Brings the objects of a bundle into the repository; refs are returned and not set.
///
/// # Errors
/// A prerequisite that is not there, a pack that is not whole, or not a bundle at all.
pub fn unpack(repository: &Repository, bundle: &[u8]) -> Result<Header, BundleError> {
    let (header, pack) = parse(bundle)?;
    let odb = repository.odb()?;
    if let Some(missing) = header.prerequisites.iter().find(|id| !odb.exists(**id)) {
        return Err(BundleError::Prerequisite(*missing));
    }
    let mut writer = odb.packwriter()?;
    writer.write_all(pack)?;
    writer.commit()?;
    odb.refresh()?;
    match header.refs.iter().find(|(_, id)| !odb.exists(*id)) {
        Some(_) => Err(BundleError::Format("it lacks the objects of its own refs")),
        None => Ok(header),
    }
}

fn parse(bundle: &[u8]) -> Result<(Header, &[u8]), BundleError> {
    let mut rest = bundle
        .strip_prefix(SIGNATURE)
        .ok_or(BundleError::Format("it does not begin with the signature"))?;
    let mut header = Header::default();
    for _ in 0..HEADER_LINES_MAX {
        let end = rest
            .iter()
            .position(|byte| *byte == b'\n')
            .ok_or(BundleError::Format("its header has no end"))?;
        let (line, tail) = (&rest[..end], &rest[end + 1..]);
        rest = tail;
        if line.is_empty() {
            return Ok((header, rest));
        }
        let line =
            std::str::from_utf8(line).map_err(|_| BundleError::Format("its header is not text"))?;
        if let Some(prerequisite) = line.strip_prefix('-') {
            let id = prerequisite.split(' ').next().unwrap_or_default();
            header.prerequisites.push(Oid::from_str(id)?);
        } else {
            let (id, name) =
                line.split_once(' ').ok_or(BundleError::Format("a ref has no name"))?;
            header.refs.push((name.to_owned(), Oid::from_str(id)?));
        }
    }
    Err(BundleError::Format("its header has too many lines"))
}
