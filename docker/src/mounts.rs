//! Which directories and files of the host a role may see: read-only, and never what would hand it the host.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// One mount of a role, as configured. It is always read-only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleMount {
    /// A directory or file of the host.
    pub source: PathBuf,
    /// Where it appears in the container.
    pub target: PathBuf,
}

/// Why a mount is refused.
#[derive(Debug, thiserror::Error)]
pub enum MountError {
    /// Would give a container power over the host, or over Cantus itself.
    #[error("mount of {} is refused: it is or holds {what}, mount a directory made for the purpose", source_path.display())]
    Source {
        /// What was to be mounted.
        source_path: PathBuf,
        /// What it would expose.
        what: String,
    },
    /// Not there, or not to be read.
    #[error("mount source {} cannot be used: make it, or correct the path", source_path.display())]
    Unreadable {
        /// What was to be mounted.
        source_path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Would hide what the container needs.
    #[error(
        "mount target {} is refused: it must be an absolute path, not below /cantus, /tmp, /proc, /sys, /dev or /run, \
         and used once",
        target.display()
    )]
    Target {
        /// Where it was to appear.
        target: PathBuf,
    },
}

/// Directories of the host that are refused with all that is below them, and why.
const SOURCES_REFUSED: [(&str, &str); 5] = [
    ("/proc", "the host's processes"),
    ("/sys", "the host's kernel"),
    ("/dev", "the host's devices"),
    ("/run", "the host's sockets"),
    ("/var/run", "the host's sockets"),
];
/// Directories of the container that are Cantus's or the kernel's.
const TARGETS_REFUSED: [&str; 7] = ["/cantus", "/tmp", "/proc", "/sys", "/dev", "/run", "/var/run"];

/// The one directory below the state directory that roles may mount: it is made for agents and holds no state.
const AGENT_DIR: &str = "agent";

/// Checks a role's mounts against the host as it is now; answers them with their links resolved.
///
/// # Errors
/// The first mount that is refused, and why.
pub fn check(
    mounts: &[RoleMount],
    docker_socket: &Path,
    state_dir: &Path,
) -> Result<Vec<RoleMount>, MountError> {
    let mut targets = BTreeSet::new();
    let resolve = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let (docker_socket, state_dir) = (resolve(docker_socket), resolve(state_dir));
    mounts
        .iter()
        .map(|mount| {
            let source = std::fs::canonicalize(&mount.source).map_err(|source| {
                MountError::Unreadable { source_path: mount.source.clone(), source }
            })?;
            if let Some(what) = exposed(&source, &docker_socket, &state_dir) {
                return Err(MountError::Source { source_path: mount.source.clone(), what });
            }
            if !target_is_free(&mount.target) || !targets.insert(mount.target.clone()) {
                return Err(MountError::Target { target: mount.target.clone() });
            }
            Ok(RoleMount { source, target: mount.target.clone() })
        })
        .collect()
}

/// What mounting this resolved path would expose, if it is anything that no role may have.
fn exposed(source: &Path, docker_socket: &Path, state_dir: &Path) -> Option<String> {
    if source == Path::new("/") {
        return Some("the whole host".to_owned());
    }
    if docker_socket.starts_with(source) {
        return Some("the Docker socket".to_owned());
    }
    let is_agents = source.starts_with(state_dir.join(AGENT_DIR));
    if state_dir.starts_with(source) || (source.starts_with(state_dir) && !is_agents) {
        return Some("the state of this installation, with its keys".to_owned());
    }
    SOURCES_REFUSED.iter().find_map(|(refused, what)| {
        (source.starts_with(refused) || Path::new(refused).starts_with(source))
            .then(|| (*what).to_owned())
    })
}

fn target_is_free(target: &Path) -> bool {
    let plain =
        target.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    target.is_absolute()
        && plain
        && target != Path::new("/")
        && !TARGETS_REFUSED.iter().any(|refused| target.starts_with(refused))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(source: impl Into<PathBuf>, target: &str) -> RoleMount {
        RoleMount { source: source.into(), target: target.into() }
    }

    fn refused(mounts: &[RoleMount], state: &Path) -> String {
        check(mounts, Path::new("/var/run/docker.sock"), state).unwrap_err().to_string()
    }

    #[test]
    fn what_hands_over_the_host_is_refused_also_through_links() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        std::fs::create_dir_all(state.join("keys")).unwrap();
        for source in ["/", "/proc", "/sys", "/dev", "/proc/self", "/var"] {
            assert!(refused(&[mount(source, "/data")], &state).contains("refused"), "{source}");
        }
        for source in [state.clone(), state.join("keys"), dir.path().to_owned()] {
            assert!(
                refused(&[mount(source, "/data")], &state).contains("state of this installation")
            );
        }
        std::fs::create_dir_all(state.join("agent")).unwrap();
        let agent = [mount(state.join("agent"), "/agent")];
        assert!(check(&agent, Path::new("/var/run/docker.sock"), &state).is_ok());
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("/proc", &link).unwrap();
        assert!(refused(&[mount(&link, "/data")], &state).contains("host's processes"));
        let socket = dir.path().join("elsewhere/docker.sock");
        std::fs::create_dir_all(socket.parent().unwrap()).unwrap();
        std::fs::write(&socket, "").unwrap();
        let error =
            check(&[mount(socket.parent().unwrap(), "/data")], &socket, &state).unwrap_err();
        assert!(error.to_string().contains("Docker socket"), "{error}");
        assert!(refused(&[mount(dir.path().join("absent"), "/data")], &state).contains("absent"));
    }

    #[test]
    fn targets_hide_nothing_and_are_used_once() {
        let dir = tempfile::tempdir().unwrap();
        let (state, source) = (dir.path().join("state"), dir.path().join("data"));
        std::fs::create_dir_all(&state).unwrap();
        std::fs::create_dir_all(&source).unwrap();
        for target in [
            "/",
            "/cantus/bin",
            "/cantus",
            "/tmp/x",
            "relative",
            "/a/../cantus",
            "/proc/self",
            "/run/x",
        ] {
            assert!(refused(&[mount(&source, target)], &state).contains("target"), "{target}");
        }
        assert!(
            refused(&[mount(&source, "/data"), mount(&source, "/data")], &state).contains("/data")
        );
        let good = check(
            &[mount(&source, "/data"), mount(&source, "/cantus-data")],
            Path::new("/none"),
            &state,
        );
        assert_eq!(good.unwrap().len(), 2);
    }
}
