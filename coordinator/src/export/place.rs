//! Where an export goes: a new directory, an empty one, or an earlier export. Whole or not at all.
//!
//! Everything is written to a directory beside it and takes the place in one rename.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use super::{STATE_KEYS, TOP, Tree};

/// Why an export was not written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// Something else is there.
    #[error(
        "{path} is {what}: nothing was written; name a new directory, an empty one, or an earlier export with --out DIR"
    )]
    Taken {
        /// As given.
        path: PathBuf,
        /// What is there.
        what: &'static str,
    },
    /// The file system refused.
    #[error("cannot write {path}: nothing was exported; check its rights and the free space")]
    Write {
        /// Which file or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The place of an export while it is written.
#[derive(Debug)]
pub struct Place {
    out: PathBuf,
    beside: TempDir,
}

impl Place {
    /// Looks whether the place may be taken, and begins beside it.
    ///
    /// # Errors
    /// [`ExportError`] when something else is there, or the directory above cannot be written.
    pub fn prepare(out: &Path) -> Result<Self, ExportError> {
        if let Some(what) = taken(out) {
            return Err(ExportError::Taken { path: out.to_owned(), what });
        }
        let above = match out.parent() {
            Some(above) if !above.as_os_str().is_empty() => above,
            _ => Path::new("."),
        };
        let failed = |source| ExportError::Write { path: above.to_owned(), source };
        fs::create_dir_all(above).map_err(failed)?;
        let beside = tempfile::Builder::new().prefix(".cantus-export-").tempdir_in(above);
        Ok(Self { out: out.to_owned(), beside: beside.map_err(failed)? })
    }

    /// Writes one file. The path is one of a [`Tree`] or of a [`super::Wanted`].
    ///
    /// # Errors
    /// [`ExportError::Write`].
    pub fn write(&self, path: &str, bytes: &[u8]) -> Result<(), ExportError> {
        let to = self.staged().join(path);
        let failed = |source| ExportError::Write { path: self.out.join(path), source };
        if let Some(directory) = to.parent() {
            fs::create_dir_all(directory).map_err(failed)?;
        }
        fs::write(&to, bytes).map_err(failed)
    }

    /// Writes the rest and takes the place.
    ///
    /// # Errors
    /// [`ExportError`]; then what was there before is there still.
    pub fn finish(self, tree: &Tree) -> Result<(), ExportError> {
        for (path, bytes) in &tree.files {
            self.write(path, bytes)?;
        }
        let failed = |source| ExportError::Write { path: self.out.clone(), source };
        for directory in &tree.directories {
            fs::create_dir_all(self.staged().join(directory)).map_err(failed)?;
        }
        // Somebody may have put something there meanwhile.
        if let Some(what) = taken(&self.out) {
            return Err(ExportError::Taken { path: self.out.clone(), what });
        }
        let before = self.beside.path().join("before");
        let there = self.out.symlink_metadata().is_ok();
        if there {
            fs::rename(&self.out, &before).map_err(failed)?;
        }
        if let Err(source) = fs::rename(self.staged(), &self.out) {
            if there {
                fs::rename(&before, &self.out).map_err(failed)?;
            }
            return Err(failed(source));
        }
        Ok(())
    }

    fn staged(&self) -> PathBuf {
        self.beside.path().join("new")
    }
}

/// What is in the way, if anything is.
fn taken(out: &Path) -> Option<&'static str> {
    let there = out.symlink_metadata().ok()?;
    if there.file_type().is_symlink() {
        return Some("a symbolic link");
    }
    if !there.is_dir() {
        return Some("a file");
    }
    let Ok(entries) = fs::read_dir(out) else { return Some("a directory that cannot be read") };
    let mut empty = true;
    for entry in entries {
        empty = false;
        let known = entry.ok().and_then(|entry| entry.file_name().into_string().ok());
        if !known.is_some_and(|name| TOP.contains(&name.as_str())) {
            return Some("a directory with other things in it");
        }
    }
    (!empty && !is_export(out)).then_some("a directory with other things in it")
}

/// An export has a `state.json` with exactly our keys.
fn is_export(out: &Path) -> bool {
    let state = fs::read(out.join("state.json")).ok();
    let state = state.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    state.as_ref().and_then(Value::as_object).is_some_and(|state| {
        state.len() == STATE_KEYS.len() && STATE_KEYS.iter().all(|key| state.contains_key(*key))
    })
}
