//! `cantus init`: a configuration and a sample agent to begin with.

use std::path::{Path, PathBuf};

use crate::config::{Home, HomeError, SAMPLE_AGENT, TEMPLATE};

/// Writes the configuration unless there is one; keys and passwords are made at the first start. A sample agent
/// is written beside it unless there is one, whatever `force` says: it may be somebody's work.
///
/// # Errors
/// [`HomeError`]. Without `force` a configuration that exists is left alone: the answer is then `false`.
pub fn init(home: &Home, force: bool) -> Result<bool, HomeError> {
    home.make()?;
    let io = |what, path: PathBuf| move |source| HomeError::Io { what, path, source };
    let agent = home.agent();
    std::fs::create_dir_all(&agent).map_err(io("create", agent.clone()))?;
    write_new(&agent.join("run.sh"), SAMPLE_AGENT)?;
    if force {
        let path = home.config_file();
        std::fs::write(&path, TEMPLATE).map_err(io("write", path.clone()))?;
        return Ok(true);
    }
    write_new(&home.config_file(), TEMPLATE)
}

/// Writes a file that is not there yet; answers whether it did.
fn write_new(path: &Path, text: &str) -> Result<bool, HomeError> {
    use std::io::Write as _;
    let io = |what| move |source| HomeError::Io { what, path: path.to_owned(), source };
    match std::fs::File::create_new(path) {
        Ok(mut file) => file.write_all(text.as_bytes()).map(|()| true).map_err(io("write")),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(source) => Err(io("create")(source)),
    }
}
