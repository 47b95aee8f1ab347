//! The file of trusted keys: what a flag names, or the home's.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use cantus_proto::evidence::Trust;

use super::error::CliError;
use crate::config::Home;

/// Largest trust file in bytes: 512 keys of a few hundred bytes each.
const TRUST_BYTES_MAX: u64 = 1024 * 1024;

/// Reads it.
pub(super) fn read(flag: Option<&Path>, home: &Home) -> Result<Trust, CliError> {
    let path = flag.map_or_else(|| home.trust_file(), Path::to_owned);
    let mut json = Vec::new();
    let file = File::open(&path).and_then(|file| file.take(TRUST_BYTES_MAX).read_to_end(&mut json));
    match file {
        Ok(_) => {
            Trust::parse(&json).map_err(|source| CliError::Trust { path, source: Box::new(source) })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(CliError::NoTrust { path }),
        Err(source) => Err(CliError::Read { path, source }),
    }
}
