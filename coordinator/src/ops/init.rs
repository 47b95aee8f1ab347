//! `cantus init`: a configuration to begin with.

use crate::config::{Home, HomeError, TEMPLATE};

/// Writes the configuration unless there is one; keys and passwords are made at the first start.
///
/// # Errors
/// [`HomeError`]. Without `force` a configuration that exists is left alone: the answer is then `false`.
pub fn init(home: &Home, force: bool) -> Result<bool, HomeError> {
    home.make()?;
    let path = home.config_file();
    if path.exists() && !force {
        return Ok(false);
    }
    std::fs::write(&path, TEMPLATE).map_err(|source| HomeError::Io {
        what: "write",
        path,
        source,
    })?;
    Ok(true)
}
