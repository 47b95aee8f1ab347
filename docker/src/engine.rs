//! The Docker Engine of this machine: connecting, what it must be able to do, and every call with its limit.
//!
//! A call that takes too long fails, but Docker may still carry it out: names are therefore deterministic,
//! creating adopts what an earlier call of ours made, and removing what is gone is a success.

use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bollard::Docker;
use bollard::errors::Error as DockerError;

mod calls;

pub use calls::{ContainerState, Exit, Found, FoundVolume, Phase};

/// Where the engine listens unless `DOCKER_HOST` says otherwise.
pub const DEFAULT_SOCKET: &str = "/var/run/docker.sock";
/// Oldest Engine that has all the options that isolation rests on: major and minor.
pub const ENGINE_VERSION_MIN: (u32, u32) = (20, 10);
/// Longest that connecting and asking for the version may take.
const CONNECT_MAX: Duration = Duration::from_secs(10);
/// Longest that one call may take: creating waits for the disk of a busy machine.
const CALL_MAX: Duration = Duration::from_secs(60);

/// Why the engine cannot be used, or a call to it failed.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// No socket there.
    #[error(
        "there is no Docker at {}: install Docker Engine {}.{} or newer and start it, or set DOCKER_HOST=unix://PATH",
        socket.display(), ENGINE_VERSION_MIN.0, ENGINE_VERSION_MIN.1
    )]
    Missing {
        /// Where it was looked for.
        socket: PathBuf,
    },
    /// A socket that nobody listens on.
    #[error("the Docker Engine at {} does not run: start it (sudo systemctl start docker)", socket.display())]
    NotRunning {
        /// Its socket.
        socket: PathBuf,
    },
    /// The socket belongs to others.
    #[error(
        "no rights on the Docker socket {}: add yourself to the docker group \
         (sudo usermod -aG docker \"$USER\") and log in again",
        socket.display()
    )]
    Denied {
        /// The socket.
        socket: PathBuf,
    },
    /// Not a unix socket.
    #[error(
        "DOCKER_HOST is {host:?}, but mounts and sockets need an engine on this machine: set unix://PATH or unset it"
    )]
    Remote {
        /// What it is set to.
        host: String,
    },
    /// An engine that lacks what we need.
    #[error("Docker Engine {found} is too old: {}.{} or newer is needed, upgrade it", ENGINE_VERSION_MIN.0, ENGINE_VERSION_MIN.1)]
    TooOld {
        /// What it says of itself.
        found: String,
    },
    /// An image that was never made or pulled.
    #[error(
        "the image {image} is not on this machine: run docker/images/build if it is one of Cantus's own, \
         else `docker pull {image}`"
    )]
    ImageMissing {
        /// Its name.
        image: String,
    },
    /// A name of ours that belongs to something else.
    #[error("a {what} named {name} exists and is not ours: remove it (docker {what} rm {name})")]
    Foreign {
        /// `container` or `volume`.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// No answer in time.
    #[error("the Docker Engine did not {what} within {} s: see `docker info` and the load of the machine", limit.as_secs())]
    Timeout {
        /// What was asked for.
        what: String,
        /// The limit.
        limit: Duration,
    },
    /// The engine refused.
    #[error("the Docker Engine could not {what}")]
    Call {
        /// What was asked for.
        what: String,
        /// Its answer.
        #[source]
        source: Box<DockerError>,
    },
    /// The socket could not be opened for another reason.
    #[error("the Docker socket {} cannot be opened", socket.display())]
    Socket {
        /// The socket.
        socket: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// A connection to an engine that was found good enough.
#[derive(Debug, Clone)]
pub struct Engine {
    docker: Docker,
    socket: PathBuf,
    version: String,
}

impl Engine {
    /// Connects to the engine that `DOCKER_HOST` names, or the one at [`DEFAULT_SOCKET`].
    ///
    /// # Errors
    /// Each way in which there is no usable engine has its own error.
    pub async fn connect() -> Result<Self, EngineError> {
        let host = std::env::var("DOCKER_HOST").unwrap_or_default();
        Self::connect_to(&socket_of(&host)?).await
    }

    /// Connects to the engine behind a unix socket.
    ///
    /// # Errors
    /// As [`Engine::connect`].
    pub async fn connect_to(socket: &Path) -> Result<Self, EngineError> {
        probe(socket).await?;
        let what = "tell its version";
        let limit = CONNECT_MAX;
        let asked = async {
            let address = socket.to_string_lossy();
            let docker = Docker::connect_with_unix(
                &address,
                CALL_MAX.as_secs(),
                bollard::API_DEFAULT_VERSION,
            )?
            .negotiate_version()
            .await?;
            let version = docker.version().await?;
            Ok::<_, DockerError>((docker, version))
        };
        let (docker, version) = tokio::time::timeout(limit, asked)
            .await
            .map_err(|_| EngineError::Timeout { what: what.into(), limit })?
            .map_err(|source| EngineError::Call { what: what.into(), source: Box::new(source) })?;
        let found = version.version.unwrap_or_default();
        check_version(&found)?;
        Ok(Self { docker, socket: socket.to_owned(), version: found })
    }

    /// What the engine says it is, as in `20.10.24+dfsg1`.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The socket that it is reached by; no role may mount it.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// One call with its limit.
    async fn call<T>(
        &self,
        what: impl Fn() -> String,
        call: impl Future<Output = Result<T, DockerError>>,
    ) -> Result<T, EngineError> {
        match tokio::time::timeout(CALL_MAX, call).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(DockerError::RequestTimeoutError)) | Err(_) => {
                Err(EngineError::Timeout { what: what(), limit: CALL_MAX })
            }
            Ok(Err(source)) => Err(EngineError::Call { what: what(), source: Box::new(source) }),
        }
    }
}

impl EngineError {
    /// The engine's HTTP status, when it answered at all.
    fn status(&self) -> Option<u16> {
        match self {
            Self::Call { source, .. } => match **source {
                DockerError::DockerResponseServerError { status_code, .. } => Some(status_code),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether the engine itself could not be reached, so that nothing is known about what was asked for.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        match self {
            Self::Missing { .. }
            | Self::NotRunning { .. }
            | Self::Timeout { .. }
            | Self::Socket { .. } => true,
            Self::Call { .. } => self.status().is_none_or(|status| status >= 502),
            _ => false,
        }
    }
}

/// `DOCKER_HOST` as a socket path; empty is the default.
fn socket_of(host: &str) -> Result<PathBuf, EngineError> {
    if host.is_empty() {
        return Ok(PathBuf::from(DEFAULT_SOCKET));
    }
    match host.strip_prefix("unix://") {
        Some(path) if path.starts_with('/') => Ok(PathBuf::from(path)),
        _ => Err(EngineError::Remote { host: host.chars().take(200).collect() }),
    }
}

/// Opens the socket once by ourselves: the client's own error does not tell a missing one from a forbidden one.
async fn probe(socket: &Path) -> Result<(), EngineError> {
    let limit = CONNECT_MAX;
    let opened = tokio::time::timeout(limit, tokio::net::UnixStream::connect(socket))
        .await
        .map_err(|_| EngineError::Timeout { what: "accept a connection".into(), limit })?;
    let socket = socket.to_owned();
    match opened {
        Ok(_) => Ok(()),
        Err(source) => Err(match source.kind() {
            std::io::ErrorKind::NotFound => EngineError::Missing { socket },
            std::io::ErrorKind::ConnectionRefused => EngineError::NotRunning { socket },
            std::io::ErrorKind::PermissionDenied => EngineError::Denied { socket },
            _ => EngineError::Socket { socket, source },
        }),
    }
}

/// Refuses an engine older than [`ENGINE_VERSION_MIN`]; a version that is not numbers is a development build.
fn check_version(found: &str) -> Result<(), EngineError> {
    let mut parts = found.split(|c: char| !c.is_ascii_digit());
    let numbers = (parts.next().map(str::parse::<u32>), parts.next().map(str::parse::<u32>));
    let (Some(Ok(major)), Some(Ok(minor))) = numbers else { return Ok(()) };
    if (major, minor) < ENGINE_VERSION_MIN {
        return Err(EngineError::TooOld { found: found.to_owned() });
    }
    Ok(())
}

/// A label filter as the API wants it.
fn label_filter(labels: &[(&str, &str)]) -> HashMap<String, Vec<String>> {
    let wanted = labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
    HashMap::from([("label".to_owned(), wanted)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_engines_are_refused_with_both_versions() {
        for good in ["20.10.24+dfsg1", "20.10.0", "28.2.2", "dev", "", "29.0.0-rc.1"] {
            assert!(check_version(good).is_ok(), "{good}");
        }
        let text = check_version("19.03.15").unwrap_err().to_string();
        assert!(text.contains("19.03.15") && text.contains("20.10"), "{text}");
        assert!(check_version("20.9.1").is_err());
    }

    #[test]
    fn only_unix_sockets_are_taken() {
        assert_eq!(socket_of("").unwrap(), PathBuf::from(DEFAULT_SOCKET));
        assert_eq!(
            socket_of("unix:///run/user/1/docker.sock").unwrap(),
            PathBuf::from("/run/user/1/docker.sock")
        );
        for refused in
            ["tcp://10.0.0.1:2375", "ssh://host", "unix://relative", "/var/run/docker.sock"]
        {
            assert!(socket_of(refused).unwrap_err().to_string().contains(refused));
        }
    }

    #[tokio::test]
    async fn a_missing_engine_and_a_dead_one_have_their_own_words() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("docker.sock");
        let missing = Engine::connect_to(&socket).await.unwrap_err();
        assert!(matches!(missing, EngineError::Missing { .. }), "{missing}");
        drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
        let dead = Engine::connect_to(&socket).await.unwrap_err();
        assert!(matches!(dead, EngineError::NotRunning { .. }), "{dead}");
        assert!(missing.is_unreachable() && dead.is_unreachable());
    }

    #[test]
    fn no_rights_names_the_group() {
        let denied = EngineError::Denied { socket: "/s".into() };
        assert!(denied.to_string().contains("docker group"));
        assert!(!denied.is_unreachable());
    }
}
