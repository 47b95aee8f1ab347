//! The directories of one lease: what the entry process owns, and what it lets the agent's user make.
//!
//! Root in the container may do little more than change its user, so nothing is ever given away: the agent's user
//! makes its own directories in places that are open for just that.

use std::fs::{DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::settings::Places;

/// Anybody may make entries and remove only their own.
const OPEN: u32 = 0o1777;
/// Anybody may look.
const CLOSED: u32 = 0o755;

/// Why the directories cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("{path} cannot be made ready")]
pub struct RoomsError {
    /// Which.
    path: PathBuf,
    /// Why.
    source: std::io::Error,
}

/// The directories.
#[derive(Debug, Clone)]
pub struct Rooms {
    /// The workspace root.
    pub work: PathBuf,
    /// The agent's tree.
    pub tree: PathBuf,
    /// Contract and prompt, readable by all.
    pub desk: PathBuf,
    /// See the worker's outbox.
    pub outbox: PathBuf,
    /// One directory per command, with its HOME and TMPDIR.
    pub commands: PathBuf,
}

impl Rooms {
    /// Makes them. What an earlier lease left in the temporary directory goes (in `process` isolation).
    ///
    /// # Errors
    /// [`RoomsError`] names the path.
    pub fn make(places: &Places) -> Result<Self, RoomsError> {
        let rooms = Self::at(places);
        let desk = &rooms.desk;
        match std::fs::remove_dir_all(desk) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                return Err(RoomsError { path: desk.clone(), source });
            }
            _ => {}
        }
        directory(&places.work, CLOSED)?;
        directory(desk, CLOSED)?;
        directory(&rooms.outbox, OPEN)?;
        directory(&rooms.commands, OPEN)?;
        Ok(rooms)
    }

    /// Where they are.
    #[must_use]
    pub fn at(places: &Places) -> Self {
        let desk = places.temporary.join("cantus");
        Self {
            work: places.work.clone(),
            tree: places.work.join("tree"),
            outbox: desk.join("outbox"),
            commands: desk.join("rooms"),
            desk,
        }
    }

    /// Directory of one command, by its number in the lease.
    #[must_use]
    pub fn room(&self, number: usize) -> Room {
        Room(self.commands.join(number.to_string()))
    }

    /// Where the agent's user may put what it needs for a moment.
    #[must_use]
    pub fn scratch(&self) -> PathBuf {
        self.commands.join("scratch")
    }

    /// Lets the agent's user make or replace the tree.
    ///
    /// # Errors
    /// [`RoomsError`].
    pub fn open_work(&self) -> Result<(), RoomsError> {
        mode(&self.work, OPEN)
    }

    /// Lets nobody make anything beside the tree any more.
    ///
    /// # Errors
    /// [`RoomsError`].
    pub fn close_work(&self) -> Result<(), RoomsError> {
        mode(&self.work, CLOSED)
    }
}

/// HOME and TMPDIR of one command (W36).
#[derive(Debug, Clone)]
pub struct Room(pub PathBuf);

impl Room {
    /// HOME.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.0.join("home")
    }

    /// TMPDIR.
    #[must_use]
    pub fn temporary(&self) -> PathBuf {
        self.0.join("tmp")
    }
}

fn directory(path: &Path, bits: u32) -> Result<(), RoomsError> {
    let made = DirBuilder::new().mode(CLOSED).recursive(true).create(path);
    made.map_err(|source| RoomsError { path: path.to_owned(), source })?;
    mode(path, bits)
}

/// Set apart from the making, which the umask would narrow.
fn mode(path: &Path, bits: u32) -> Result<(), RoomsError> {
    std::fs::set_permissions(path, Permissions::from_mode(bits))
        .map_err(|source| RoomsError { path: path.to_owned(), source })
}
