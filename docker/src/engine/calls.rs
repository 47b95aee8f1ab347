//! The calls that Cantus makes, each safe to repeat.

use std::collections::HashMap;
use std::time::Duration;

use bollard::errors::Error as DockerError;
use bollard::models::{
    ContainerCreateBody, ContainerStateStatusEnum, ContainerSummaryStateEnum, VolumeCreateRequest,
};
use bollard::query_parameters::{
    CreateContainerOptions, KillContainerOptionsBuilder, ListContainersOptionsBuilder,
    ListNetworksOptionsBuilder, ListVolumesOptionsBuilder, LogsOptionsBuilder,
    RemoveContainerOptionsBuilder, RemoveVolumeOptionsBuilder, StartContainerOptions,
    WaitContainerOptionsBuilder,
};
use futures::StreamExt as _;

use super::{Engine, EngineError, label_filter};
use crate::labels;

/// Most of a container's last words that are kept, in bytes.
const LAST_WORDS_BYTES_MAX: usize = 2_000;
/// Longest that removal of a container which somebody else already removes is waited for.
const REMOVAL_MAX: Duration = Duration::from_secs(20);
/// Pause between looks at such a container.
const REMOVAL_PAUSE: Duration = Duration::from_millis(100);

/// How a container ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    /// The exit code; 128 + signal when one ended it; -1 when the container vanished.
    pub code: i64,
    /// Whether the kernel ended it for lack of memory.
    pub out_of_memory: bool,
}

impl Exit {
    /// A container that somebody removed under us.
    pub const VANISHED: Self = Self { code: -1, out_of_memory: false };
}

/// What a container is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Created and never started.
    Created,
    /// Started and not ended, be it paused or on its way.
    Running,
    /// Ended, or dead with its files half gone.
    Ended,
}

/// One container, looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerState {
    /// What it does.
    pub phase: Phase,
    /// How it ended, if it has.
    pub exit: Exit,
    /// Its labels.
    pub labels: HashMap<String, String>,
}

/// One container of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its name.
    pub name: String,
    /// What it does.
    pub phase: Phase,
    /// Its labels.
    pub labels: HashMap<String, String>,
}

/// One volume of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundVolume {
    /// Its name.
    pub name: String,
    /// Its labels.
    pub labels: HashMap<String, String>,
}

impl Engine {
    /// Checks that an image is there; answers its id (a digest).
    ///
    /// # Errors
    /// [`EngineError::ImageMissing`] says how to get it.
    pub async fn image_id(&self, image: &str) -> Result<String, EngineError> {
        match self
            .call(|| format!("look at the image {image}"), self.docker.inspect_image(image))
            .await
        {
            Ok(found) => Ok(found.id.unwrap_or_default()),
            Err(error) if error.status() == Some(404) => {
                Err(EngineError::ImageMissing { image: image.to_owned() })
            }
            Err(error) => Err(error),
        }
    }

    /// Creates a container, or takes the one that an earlier call with the same name and labels made.
    ///
    /// # Errors
    /// A missing image and a name that is not ours have their own errors.
    pub async fn create(&self, name: &str, body: ContainerCreateBody) -> Result<(), EngineError> {
        let image = body.image.clone().unwrap_or_default();
        let owned = body.labels.clone().unwrap_or_default();
        let options = CreateContainerOptions { name: Some(name.to_owned()), ..Default::default() };
        let created = self
            .call(
                || format!("create the container {name}"),
                self.docker.create_container(Some(options), body),
            )
            .await;
        match created {
            Ok(_) => Ok(()),
            Err(error) if error.status() == Some(409) => match self.inspect(name).await? {
                Some(state) if same_owner(&state.labels, &owned) => Ok(()),
                Some(_) => Err(EngineError::Foreign { what: "container", name: name.to_owned() }),
                None => Err(error),
            },
            Err(error) if error.status() == Some(404) => {
                self.image_id(&image).await?;
                Err(error)
            }
            Err(error) => Err(error),
        }
    }

    /// Starts a container; one that runs already is left alone.
    ///
    /// # Errors
    /// What the engine says: an unusable entry point, a mount source that is gone.
    pub async fn start(&self, name: &str) -> Result<(), EngineError> {
        let options = None::<StartContainerOptions>;
        self.call(
            || format!("start the container {name}"),
            self.docker.start_container(name, options),
        )
        .await
    }

    /// Sends a signal; a container that is gone or has ended needs none.
    ///
    /// # Errors
    /// When the engine does not do it.
    pub async fn signal(&self, name: &str, signal: &str) -> Result<(), EngineError> {
        let options = KillContainerOptionsBuilder::default().signal(signal).build();
        let sent = self
            .call(
                || format!("send {signal} to {name}"),
                self.docker.kill_container(name, Some(options)),
            )
            .await;
        match sent {
            Err(error) if matches!(error.status(), Some(404 | 409)) => Ok(()),
            other => other,
        }
    }

    /// Waits until a started container has ended. It has no limit: a lease has its own.
    ///
    /// # Errors
    /// When the engine cannot be asked; the container may well be running.
    pub async fn wait(&self, name: &str) -> Result<Exit, EngineError> {
        let options = WaitContainerOptionsBuilder::default().condition("not-running").build();
        let mut answers = std::pin::pin!(self.docker.wait_container(name, Some(options)));
        // A non-zero exit comes as an error, as does an engine that goes away: the look below tells which.
        let _ended: Option<Result<_, DockerError>> = answers.next().await;
        match self.inspect(name).await? {
            None => Ok(Exit::VANISHED),
            Some(state) if state.phase == Phase::Ended => Ok(state.exit),
            Some(_) => Err(EngineError::Call {
                what: format!("wait for {name}"),
                source: Box::new(DockerError::RequestTimeoutError),
            }),
        }
    }

    /// Looks at a container; nothing when there is none.
    ///
    /// # Errors
    /// When the engine cannot be asked.
    pub async fn inspect(&self, name: &str) -> Result<Option<ContainerState>, EngineError> {
        let looked = self
            .call(
                || format!("look at the container {name}"),
                self.docker.inspect_container(name, None),
            )
            .await;
        let found = match looked {
            Ok(found) => found,
            Err(error) if error.status() == Some(404) => return Ok(None),
            Err(error) => return Err(error),
        };
        let state = found.state.unwrap_or_default();
        let exit = Exit {
            code: state.exit_code.unwrap_or(Exit::VANISHED.code),
            out_of_memory: state.oom_killed.unwrap_or(false),
        };
        let phase = match state.status {
            Some(ContainerStateStatusEnum::CREATED) => Phase::Created,
            Some(
                ContainerStateStatusEnum::EXITED
                | ContainerStateStatusEnum::DEAD
                | ContainerStateStatusEnum::REMOVING,
            ) => Phase::Ended,
            _ => Phase::Running,
        };
        let labels = found.config.and_then(|config| config.labels).unwrap_or_default();
        Ok(Some(ContainerState { phase, exit, labels }))
    }

    /// Removes a container, running or not, and waits until its name is free. Its named volumes stay.
    ///
    /// # Errors
    /// When the engine does not do it.
    pub async fn remove(&self, name: &str) -> Result<(), EngineError> {
        let limit = tokio::time::Instant::now() + REMOVAL_MAX;
        loop {
            let options = RemoveContainerOptionsBuilder::default().force(true).build();
            let removed = self
                .call(
                    || format!("remove the container {name}"),
                    self.docker.remove_container(name, Some(options)),
                )
                .await;
            match removed {
                Err(error) if error.status() == Some(404) => return Ok(()),
                // Somebody else removes it: it is gone once it is not found.
                Err(error)
                    if error.status() == Some(409) && tokio::time::Instant::now() < limit =>
                {
                    tokio::time::sleep(REMOVAL_PAUSE).await;
                }
                other => return other,
            }
        }
    }

    /// Makes a volume; one that is there already is left as it is.
    ///
    /// # Errors
    /// When the engine does not do it.
    pub async fn create_volume(
        &self,
        name: &str,
        labels: HashMap<String, String>,
    ) -> Result<(), EngineError> {
        let request = VolumeCreateRequest {
            name: Some(name.to_owned()),
            labels: Some(labels.clone()),
            ..Default::default()
        };
        let made = self
            .call(|| format!("create the volume {name}"), self.docker.create_volume(request))
            .await?;
        if same_owner(&made.labels, &labels) {
            return Ok(());
        }
        Err(EngineError::Foreign { what: "volume", name: name.to_owned() })
    }

    /// Removes a volume and all that is in it.
    ///
    /// # Errors
    /// When a container still uses it, or the engine does not do it.
    pub async fn remove_volume(&self, name: &str) -> Result<(), EngineError> {
        let options = RemoveVolumeOptionsBuilder::default().force(true).build();
        let removed = self
            .call(
                || format!("remove the volume {name}"),
                self.docker.remove_volume(name, Some(options)),
            )
            .await;
        match removed {
            Err(error) if error.status() == Some(404) => Ok(()),
            other => other,
        }
    }

    /// All containers with these labels, whatever they are doing.
    ///
    /// # Errors
    /// When the engine cannot be asked.
    pub async fn containers(&self, labels: &[(&str, &str)]) -> Result<Vec<Found>, EngineError> {
        let filter = label_filter(labels);
        let options = ListContainersOptionsBuilder::default().all(true).filters(&filter).build();
        let listed = self
            .call(|| "list containers".to_owned(), self.docker.list_containers(Some(options)))
            .await?;
        let found = listed.into_iter().filter_map(|container| {
            let name = container.names?.into_iter().next()?.trim_start_matches('/').to_owned();
            let phase = match container.state? {
                ContainerSummaryStateEnum::CREATED => Phase::Created,
                ContainerSummaryStateEnum::EXITED
                | ContainerSummaryStateEnum::DEAD
                | ContainerSummaryStateEnum::REMOVING => Phase::Ended,
                _ => Phase::Running,
            };
            Some(Found { name, phase, labels: container.labels.unwrap_or_default() })
        });
        Ok(found.collect())
    }

    /// All volumes with these labels.
    ///
    /// # Errors
    /// When the engine cannot be asked.
    pub async fn volumes(&self, labels: &[(&str, &str)]) -> Result<Vec<FoundVolume>, EngineError> {
        let filter = label_filter(labels);
        let options = ListVolumesOptionsBuilder::default().filters(&filter).build();
        let listed = self
            .call(|| "list volumes".to_owned(), self.docker.list_volumes(Some(options)))
            .await?;
        let found = listed.volumes.unwrap_or_default().into_iter();
        Ok(found.map(|volume| FoundVolume { name: volume.name, labels: volume.labels }).collect())
    }

    /// Removes all networks with these labels; answers their names.
    ///
    /// # Errors
    /// When the engine does not do it.
    pub async fn remove_networks(
        &self,
        labels: &[(&str, &str)],
    ) -> Result<Vec<String>, EngineError> {
        let filter = label_filter(labels);
        let options = ListNetworksOptionsBuilder::default().filters(&filter).build();
        let listed = self
            .call(|| "list networks".to_owned(), self.docker.list_networks(Some(options)))
            .await?;
        let mut removed = Vec::new();
        for name in listed.into_iter().filter_map(|network| network.name) {
            self.call(|| format!("remove the network {name}"), self.docker.remove_network(&name))
                .await?;
            removed.push(name);
        }
        Ok(removed)
    }

    /// The last lines that a container wrote, as text that is safe to show; empty when there are none.
    pub async fn last_words(&self, name: &str) -> String {
        let options = LogsOptionsBuilder::default().stdout(true).stderr(true).tail("10").build();
        let read = async {
            let mut lines = std::pin::pin!(self.docker.logs(name, Some(options)));
            let mut bytes = Vec::new();
            while let Some(Ok(line)) = lines.next().await {
                bytes.extend_from_slice(&line.into_bytes());
                if bytes.len() > LAST_WORDS_BYTES_MAX {
                    break;
                }
            }
            bytes
        };
        let bytes = tokio::time::timeout(super::CONNECT_MAX, read).await.unwrap_or_default();
        let shown = &bytes[..bytes.len().min(LAST_WORDS_BYTES_MAX)];
        String::from_utf8_lossy(shown)
            .trim_end()
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect()
    }
}

/// Whether what is there was made by the same installation and pool for the same purpose.
fn same_owner(found: &HashMap<String, String>, wanted: &HashMap<String, String>) -> bool {
    [labels::INSTANCE, labels::POOL, labels::KIND]
        .iter()
        .all(|label| found.get(*label) == wanted.get(*label))
}
