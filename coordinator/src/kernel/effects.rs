//! Carrying out what the core asks for: one match without decisions, and one function for each effect.
//!
//! Every effect may be carried out twice without harm. What fails is tried again a few times, then reported.

use std::sync::Arc;
use std::time::Duration;

use cantus_proto::bus::{BlobError, Bus, Enqueued};
use cantus_proto::evidence::{Policy, Question, SigningKey, Stamp, Trust, dossier};
use cantus_proto::ids::{Blob, CommitId, RunId};
use cantus_proto::message::{Attempt, Candidate};
use tokio::sync::Semaphore;

use super::announce::Announcer;
use super::{Handle, chain, now};
use crate::hub::{
    self, EvidenceFile, Hub, InspectRequest, LandError, LandOutcome, LandRequest, LandedItem,
    MergeOutcome, MergeRequest,
};
use cantus_core::Settings;
use cantus_core::event::{
    Action, Effect, Event, Inspect, Inspection, Land, LandingTry, Merge, MergeWork, Millis,
    ParkedRecord, Repository,
};
use cantus_core::scope_delta::findings;

/// Times that an effect is tried before it is given up.
const TRIES_MAX: u32 = 4;
/// Pause before the second try; it doubles.
const RETRY_PAUSE: Duration = Duration::from_millis(500);
/// Effects of the git hub at the same time: they are processes and take cores.
const HUB_EFFECTS_MAX: usize = 4;
/// How long one transfer to or from the blob store may take.
const BLOB_PATIENCE: Duration = Duration::from_secs(60);
/// Pause before an attempt that could not be published is published again.
const PUBLISH_PAUSE: Duration = Duration::from_secs(1);

/// Everything that acts for the core.
pub struct Effects {
    bus: Bus,
    hub: Option<Arc<Hub>>,
    key: Arc<SigningKey>,
    trust: Trust,
    policy: Policy,
    limits: hub::ResultLimits,
    announcer: Announcer,
    places: Semaphore,
    handle: Handle,
}

impl Effects {
    pub(super) fn new(
        bus: Bus,
        hub: Option<Arc<Hub>>,
        key: Arc<SigningKey>,
        settings: &Settings,
        handle: Handle,
    ) -> Self {
        Self {
            announcer: Announcer::new(bus.clone(), hub.clone()),
            bus,
            hub,
            key,
            trust: settings.trust.clone(),
            policy: Policy { allow_process_isolation: settings.allow_process_isolation },
            limits: hub::ResultLimits {
                artifact_bytes_max: settings.artifact_bytes_max,
                files_max: settings.files_max,
            },
            places: Semaphore::new(HUB_EFFECTS_MAX),
            handle,
        }
    }

    /// Starts an action. Attempts leave in the order of the calls; everything else runs beside the loop.
    pub(super) async fn start(self: &Arc<Self>, action: Action) {
        let this = Arc::clone(self);
        match action {
            Action::Publish(attempt) => this.publish(attempt).await,
            Action::Withdraw { role, run, item, number } => {
                tokio::spawn(async move {
                    let withdrawn = this.bus.withdraw_attempt(&role, &run, &item, number).await;
                    if let Err(error) = withdrawn {
                        // Whoever takes it is told to stop at the first heartbeat.
                        tracing::warn!(%run, %item, "attempt not withdrawn: {}", chain(&error));
                    }
                });
            }
            Action::Inspect(inspect) => {
                let effect = inspect.effect.clone();
                this.run(effect, move |this| {
                    let inspect = inspect.clone();
                    async move { this.inspect(&inspect).await }
                });
            }
            Action::Merge(merge) => {
                let effect = merge.effect.clone();
                this.run(effect, move |this| {
                    let merge = merge.clone();
                    async move { this.merge(&merge).await }
                });
            }
            Action::Land(land) => {
                let effect = land.effect.clone();
                this.run(effect, move |this| {
                    let land = land.clone();
                    async move { this.land(&land).await }
                });
            }
            Action::Park(record) => {
                tokio::spawn(async move { this.park(&record).await });
            }
        }
    }

    /// Tries an effect until it has an answer, or often enough; either way the core is told.
    fn run<F>(self: Arc<Self>, effect: Effect, attempt: impl Fn(Arc<Self>) -> F + Send + 'static)
    where
        F: Future<Output = anyhow::Result<Event>> + Send,
    {
        tokio::spawn(async move {
            let mut pause = RETRY_PAUSE;
            let mut tries = 1;
            let event = loop {
                let place = self.places.acquire().await.expect("the semaphore is never closed");
                let tried = attempt(Arc::clone(&self)).await;
                drop(place);
                match tried {
                    Ok(event) => break event,
                    Err(error) if tries == TRIES_MAX || is_final(&error) => {
                        break Event::EffectFailed(effect, format!("{error:#}"));
                    }
                    Err(error) => {
                        tracing::warn!(run = %effect.run, tries, "effect failed: {error:#}")
                    }
                }
                tries += 1;
                tokio::time::sleep(pause).await;
                pause *= 2;
            };
            self.handle.post(event).await;
        });
    }

    async fn publish(self: Arc<Self>, attempt: Box<Attempt>) {
        match self.bus.publish_attempt_start(&attempt).await {
            Ok(pending) => {
                tokio::spawn(async move {
                    match pending.stored().await {
                        Ok(
                            Enqueued::Queued { .. }
                            | Enqueued::AlreadyQueued
                            | Enqueued::Duplicate { .. },
                        ) => {}
                        Err(error) => self.publish_again(&attempt, &error).await,
                    }
                });
            }
            Err(error) => {
                tokio::spawn(async move { self.publish_again(&attempt, &error).await });
            }
        }
    }

    /// The attempt is journaled, so it must reach the bus however long the bus is away.
    async fn publish_again(&self, attempt: &Attempt, first: &cantus_proto::bus::BusError) {
        tracing::warn!(run = %attempt.run, item = %attempt.item, "not yet published: {}", chain(first));
        loop {
            tokio::time::sleep(PUBLISH_PAUSE).await;
            match self.bus.publish_attempt(attempt).await {
                Ok(_) => return,
                Err(error) => {
                    tracing::debug!(item = %attempt.item, "not yet published: {}", chain(&error))
                }
            }
        }
    }

    fn hub(&self) -> anyhow::Result<Arc<Hub>> {
        self.hub.clone().ok_or_else(|| anyhow::anyhow!("this coordinator has no git hub"))
    }

    async fn inspect(&self, inspect: &Inspect) -> anyhow::Result<Event> {
        let hub = self.hub()?;
        let directory = tempfile::tempdir_in(hub.scratch())?;
        let path = directory.path().join("result.bundle");
        if let Some(bundle) = &inspect.bundle {
            let limit = self.limits.artifact_bytes_max;
            match self.bus.get_blob_file(bundle, &path, limit, BLOB_PATIENCE).await {
                Ok(()) => {}
                // Trying again changes nothing; the worker's next attempt may.
                Err(
                    error @ (BlobError::TooLarge { .. }
                    | BlobError::Missing { .. }
                    | BlobError::Damaged { .. }),
                ) => {
                    let refused = Inspection::Refused(vec![error.to_string()]);
                    return Ok(Event::Inspected(inspect.effect.clone(), refused));
                }
                Err(error) => return Err(error.into()),
            }
        }
        let (request, limits) = (inspect.clone(), self.limits);
        let inspected = tokio::task::spawn_blocking(move || {
            let taken = hub.inspect(
                &request.repository,
                &InspectRequest {
                    run: &request.effect.run,
                    item: &request.item,
                    attempt: request.effect.work,
                    base: &request.base,
                    head: &request.head,
                    bundle: request.bundle.is_some().then_some(path.as_path()),
                    limits,
                },
            )?;
            Ok::<_, hub::HubError>(match taken {
                hub::Inspection::Refused { refusal, offenders } => Err((refusal, offenders)),
                hub::Inspection::Inspected { changes } => {
                    let changes = hub.contents(&request.repository, &changes)?;
                    Ok(findings(&request.contract, request.complexity, &changes))
                }
            })
        })
        .await??;
        drop(directory);
        let inspection = match inspected {
            Ok(found) => Inspection::Read(found),
            Err((refusal, offenders)) => {
                let largest = offenders.iter().map(|offender| {
                    let path = String::from_utf8_lossy(&offender.path).escape_debug().to_string();
                    format!("{path}: {} files, {} bytes", offender.files, offender.size_bytes)
                });
                Inspection::Refused(std::iter::once(refusal.to_string()).chain(largest).collect())
            }
        };
        Ok(Event::Inspected(inspect.effect.clone(), inspection))
    }

    async fn merge(&self, work: &MergeWork) -> anyhow::Result<Event> {
        let onto = self.head(&work.repository).await?;
        self.announcer.announce(&work.repository, &onto).await?;
        let (hub, request, date) = (self.hub()?, work.clone(), seconds(now()));
        let merged = tokio::task::spawn_blocking(move || {
            let effect = &request.effect;
            hub.merge(
                &request.repository.id,
                &MergeRequest {
                    run: &effect.run,
                    item: &request.item,
                    head: &request.head,
                    onto: &onto,
                    now_unix_s: date,
                },
            )
        })
        .await??;
        let merge = match merged {
            MergeOutcome::Conflict { paths, onto } => Merge::Conflict { onto, paths },
            MergeOutcome::Merged(merged) => {
                let bundle = self.store(&merged.bundle.path).await?;
                Merge::Clean(Candidate {
                    commit: merged.candidate,
                    tree: merged.tree,
                    base: merged.onto,
                    bundle,
                    listing_sha256: merged.listing,
                })
            }
        };
        Ok(Event::Merged(work.effect.clone(), merge))
    }

    async fn land(&self, land: &Land) -> anyhow::Result<Event> {
        let question = Question {
            run: land.effect.run.clone(),
            item: land.item.clone(),
            subject: cantus_proto::evidence::Subject {
                tree: land.candidate.tree.clone(),
                listing: land.candidate.listing_sha256.clone(),
            },
            checkers: land.checkers.clone(),
        };
        let stamp = Stamp {
            repository: land.repository.id.clone(),
            target: land.repository.target.clone(),
            verified_s: land.at.0 / 1000,
        };
        let dossier =
            dossier(&question, &land.envelopes, &self.trust, self.policy, &stamp, &self.key)
                .map_err(|verdict| anyhow::anyhow!("the evidence no longer holds: {verdict:?}"))?;
        let evidence = dossier.digest.clone();
        let (hub, request) = (self.hub()?, land.clone());
        let outcome = tokio::task::spawn_blocking(move || {
            let file = |(name, bytes)| EvidenceFile { name, bytes };
            let files: Vec<EvidenceFile> = dossier.files.into_iter().map(file).collect();
            hub.land(
                &request.repository.id,
                &LandRequest {
                    run: &request.effect.run,
                    item: &request.item,
                    style: request.repository.style,
                    reference: &request.repository.target,
                    onto: &request.candidate.base,
                    head: &request.head,
                    tree: &request.candidate.tree,
                    evidence: &files,
                    title: &request.goal,
                    now_unix_s: seconds(request.at),
                },
            )
        })
        .await??;
        let tried = match outcome {
            LandOutcome::Moved { head } => LandingTry::Moved { head },
            LandOutcome::Landed { commit } => {
                let head = self.head(&land.repository).await?;
                self.announcer.announce(&land.repository, &head).await?;
                self.release(land).await;
                LandingTry::Landed { commit, evidence }
            }
        };
        Ok(Event::LandingTried(land.effect.clone(), tried))
    }

    /// The target keeps what landed; the hub need no longer.
    async fn release(&self, land: &Land) {
        let Some(hub) = self.hub.clone() else { return };
        let (repository, run, item) =
            (land.repository.id.clone(), land.effect.run.clone(), land.item.clone());
        let released =
            tokio::task::spawn_blocking(move || hub.release(&repository, &run, &item)).await;
        if let Ok(Err(error)) = released {
            tracing::warn!(run = %land.effect.run, item = %land.item, "candidate not released: {}", chain(&error));
        }
    }

    async fn park(&self, record: &ParkedRecord) {
        let kept = record.kept.iter().map(|commits| {
            let (bundle, base, head) =
                (commits.bundle.sha256.as_str(), commits.base.as_str(), commits.head.as_str());
            serde_json::json!({ "bundle": bundle, "base": base, "head": head })
        });
        let json = serde_json::json!({
            "version": cantus_proto::limits::WIRE_VERSION,
            "run": record.run.as_str(),
            "item": record.item.as_str(),
            "reason": record.reason,
            "attempts": record.attempts,
            "kept": kept.collect::<Vec<_>>(),
            "at_ms": record.at.0,
        });
        let id = format!("{}/{}/{}", record.run, record.item, record.at.0);
        let parked = self.bus.park(&record.run, &record.item, json.to_string().into(), &id).await;
        if let Err(error) = parked {
            tracing::warn!(run = %record.run, item = %record.item, "record not parked: {}", chain(&error));
        }
    }

    async fn head(&self, repository: &Repository) -> anyhow::Result<CommitId> {
        let (hub, id, target) = (self.hub()?, repository.id.clone(), repository.target.clone());
        Ok(tokio::task::spawn_blocking(move || hub.head(&id, &target)).await??)
    }

    async fn store(&self, path: &std::path::Path) -> anyhow::Result<Blob> {
        Ok(self.bus.put_blob_file(path, self.announcer.bundle_bytes_max(), BLOB_PATIENCE).await?)
    }

    /// What the target of a run contains of it; nothing, and a line in the log, when upstream cannot be read: then
    /// each landing looks for itself.
    pub(super) async fn landings(&self, run: &RunId, repository: &Repository) -> Vec<LandedItem> {
        let Some(hub) = self.hub.clone() else { return Vec::new() };
        let (run, id, target) = (run.clone(), repository.id.clone(), repository.target.clone());
        let looked = tokio::task::spawn_blocking(move || {
            hub.landings(&id, &target, &run).map_err(|error| (run, error))
        });
        match looked.await {
            Ok(Ok(found)) => found,
            Ok(Err((run, error))) => {
                tracing::warn!(%run, "the target was not looked at: {}", chain(&error));
                Vec::new()
            }
            Err(error) => {
                tracing::warn!("the target was not looked at: {error}");
                Vec::new()
            }
        }
    }

    /// See [`Announcer::announce`]; failures are logged, because the next merge announces again.
    pub(super) async fn announce_again(&self, repository: &Repository, head: &CommitId) {
        if let Err(error) = self.announcer.announce(repository, head).await {
            tracing::warn!(target = repository.target, "source not announced: {error:#}");
        }
    }

    /// Announces the head of a repository that is about to get a run.
    ///
    /// # Errors
    /// When it cannot be bundled or published.
    pub async fn announce(&self, repository: &Repository) -> anyhow::Result<()> {
        self.announcer.announce(repository, &repository.head).await
    }
}

/// Whether trying again cannot help: upstream has said no, and somebody must change that first.
fn is_final(error: &anyhow::Error) -> bool {
    matches!(
        error.downcast_ref(),
        Some(LandError::Refused { .. } | LandError::ReadOnly { .. } | LandError::CheckedOut { .. })
    )
}

fn seconds(at: Millis) -> i64 {
    i64::try_from(at.0 / 1000).unwrap_or(i64::MAX)
}
