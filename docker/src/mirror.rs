//! The bare mirrors of a host: how source reaches its containers.
//!
//! Updates come as bundles and are applied in order; applying one twice changes nothing. Nothing is ever deleted
//! (no gc, no prune), because workspaces borrow objects. Mirrors are readable by everybody, for the agents'
//! user in the containers; on the host the directory above hides them.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use cantus_proto::ids::{CommitId, RepositoryId};
use cantus_proto::message::SourceUpdate;

use crate::git::{GitError, git};

/// Longest name of a target that is taken, in bytes: more than any branch has.
const TARGET_BYTES_MAX: usize = 1_000;

/// Why a mirror could not follow.
#[derive(Debug, thiserror::Error)]
pub enum MirrorError {
    /// Git said no.
    #[error("the mirror of repository {repository} cannot be updated")]
    Git {
        /// Whose mirror.
        repository: RepositoryId,
        /// Why.
        #[source]
        source: GitError,
    },
    /// The files of a mirror cannot be made.
    #[error("the mirror directory {} cannot be written: check rights and space there", path.display())]
    Files {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Not a full ref name.
    #[error(
        "an update of repository {repository} names the target {target:?}, which is not a full ref name"
    )]
    Target {
        /// Whose mirror.
        repository: RepositoryId,
        /// What it names.
        target: String,
    },
    /// An update before this one is missing.
    #[error(
        "the mirror of repository {repository} lacks commit {prerequisite}: it needs a complete bundle first"
    )]
    Prerequisite {
        /// Whose mirror.
        repository: RepositoryId,
        /// What is missing.
        prerequisite: CommitId,
    },
    /// The bundle does not hold what was announced.
    #[error("the bundle for repository {repository} does not hold {head}")]
    Bundle {
        /// Whose mirror.
        repository: RepositoryId,
        /// What was announced.
        head: CommitId,
    },
}

/// Whether a bundle has to be fetched to apply an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// The objects are here: only the ref may have to move.
    Nothing,
    /// The bundle.
    Bundle,
}

/// All mirrors of one host.
#[derive(Debug, Clone)]
pub struct Mirrors {
    dir: PathBuf,
}

impl Mirrors {
    /// Uses (and makes) this directory.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn open(dir: &Path) -> Result<Self, MirrorError> {
        let failed = |source| MirrorError::Files { path: dir.to_owned(), source };
        std::fs::create_dir_all(dir).map_err(failed)?;
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o755)).map_err(failed)?;
        Ok(Self { dir: dir.to_owned() })
    }

    /// The directory to be mounted.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where the mirror of a repository is, or will be.
    #[must_use]
    pub fn path(&self, repository: &RepositoryId) -> PathBuf {
        self.dir.join(format!("{repository}.git"))
    }

    /// What the update needs.
    ///
    /// # Errors
    /// [`MirrorError::Prerequisite`] when an earlier update is missing.
    pub async fn need(&self, update: &SourceUpdate) -> Result<Need, MirrorError> {
        self.check_target(update).await?;
        if self.has(&update.repository, &update.head).await? {
            return Ok(Need::Nothing);
        }
        match &update.prerequisite {
            Some(prerequisite) if !self.has(&update.repository, prerequisite).await? => {
                Err(MirrorError::Prerequisite {
                    repository: update.repository.clone(),
                    prerequisite: prerequisite.clone(),
                })
            }
            _ => Ok(Need::Bundle),
        }
    }

    /// Applies an update whose objects are here ([`Need::Nothing`]).
    ///
    /// # Errors
    /// When the ref cannot be moved.
    pub async fn point(&self, update: &SourceUpdate) -> Result<(), MirrorError> {
        let mirror = self.path(&update.repository);
        let current = git(&mirror, &["rev-parse", "--verify", "--quiet", &update.target]).await;
        if current.is_ok_and(|id| id.trim_ascii() == update.head.as_str().as_bytes()) {
            return Ok(());
        }
        let arguments = ["update-ref", "--no-deref", &update.target, update.head.as_str()];
        git(&mirror, &arguments).await.map_err(git_failed(&update.repository))?;
        Ok(())
    }

    /// Applies an update from its bundle, whose bytes the caller has checked against their digest.
    ///
    /// # Errors
    /// When the bundle is not sound, or is not what was announced; the ref has not moved then.
    pub async fn apply(&self, update: &SourceUpdate, bundle: &Path) -> Result<(), MirrorError> {
        let failed = git_failed(&update.repository);
        let mirror = self.make(&update.repository, update.head.as_str().len()).await?;
        let bundle = bundle.to_string_lossy();
        let heads = git(&mirror, &["bundle", "list-heads", &bundle]).await.map_err(&failed)?;
        let heads = String::from_utf8_lossy(&heads);
        let named = heads
            .lines()
            .filter_map(|line| line.split_once(' '))
            .find_map(|(id, name)| (id == update.head.as_str()).then_some(name));
        let Some(named) = named else {
            return Err(MirrorError::Bundle {
                repository: update.repository.clone(),
                head: update.head.clone(),
            });
        };
        let refspec = format!("+{named}:{}", update.target);
        let arguments = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-gc",
            &bundle,
            &refspec,
        ];
        git(&mirror, &arguments).await.map_err(&failed)?;
        Ok(())
    }

    async fn check_target(&self, update: &SourceUpdate) -> Result<(), MirrorError> {
        let target = &update.target;
        let plain = target.starts_with("refs/") && target.len() <= TARGET_BYTES_MAX;
        // `check-ref-format` looks at the text alone; any directory does.
        if plain && git(&self.dir, &["check-ref-format", target]).await.is_ok() {
            return Ok(());
        }
        Err(MirrorError::Target {
            repository: update.repository.clone(),
            target: target.chars().take(80).collect(),
        })
    }

    /// Whether the mirror has a commit.
    async fn has(&self, repository: &RepositoryId, commit: &CommitId) -> Result<bool, MirrorError> {
        let mirror = self.path(repository);
        if !mirror.is_dir() {
            return Ok(false);
        }
        match git(&mirror, &["cat-file", "-e", &format!("{commit}^{{commit}}")]).await {
            Ok(_) => Ok(true),
            Err(GitError::Failed { .. }) => Ok(false),
            Err(source) => Err(git_failed(repository)(source)),
        }
    }

    /// The mirror, made if it is not there: whole or not at all.
    async fn make(
        &self,
        repository: &RepositoryId,
        id_length: usize,
    ) -> Result<PathBuf, MirrorError> {
        let mirror = self.path(repository);
        if mirror.is_dir() {
            return Ok(mirror);
        }
        let failed = git_failed(repository);
        let unfinished = self.dir.join(format!(".{repository}.new"));
        let files = |source| MirrorError::Files { path: unfinished.clone(), source };
        match std::fs::remove_dir_all(&unfinished) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(files(error)),
            _ => {}
        }
        let format =
            if id_length == 64 { "--object-format=sha256" } else { "--object-format=sha1" };
        // Shared 0644 makes git itself keep every file readable, whatever the umask.
        let arguments = [
            "init",
            "--quiet",
            "--bare",
            "--shared=0644",
            "--template=",
            "--initial-branch=main",
            format,
        ];
        git(&unfinished, &arguments).await.map_err(&failed)?;
        for (name, value) in
            [("gc.auto", "0"), ("core.logAllRefUpdates", "false"), ("core.fsync", "committed")]
        {
            git(&unfinished, &["config", name, value]).await.map_err(&failed)?;
        }
        std::fs::set_permissions(&unfinished, std::fs::Permissions::from_mode(0o755))
            .map_err(files)?;
        std::fs::rename(&unfinished, &mirror).map_err(files)?;
        Ok(mirror)
    }
}

fn git_failed(repository: &RepositoryId) -> impl Fn(GitError) -> MirrorError + '_ {
    |source| MirrorError::Git { repository: repository.clone(), source }
}

#[cfg(test)]
#[path = "mirror_tests.rs"]
mod tests;
