//! One attempt: workspace, agent, collection, hand-in. Whatever happens, the work comes first.

use cantus_proto::ids::Blob;
use cantus_proto::message::{FailureKind, LeaseEvent, Receipt, Work, WorkResult};
use cantus_runner::helper::{Answer, Collected, HelperError, Helpers, Wanted};
use cantus_runner::jail::{Ending, Ran};
use cantus_runner::lease::{HandInError, Lease};
use cantus_runner::reporter::{ReportError, failed};
use cantus_runner::text::{chain, cut};
use cantus_runner::workspace::collect::Limits;

use crate::adapter;
use crate::outbox::{Outbox, Said};

/// Longest last line of an agent that a failure quotes, in bytes.
const QUOTE_BYTES_MAX: usize = 300;

/// Does the attempt and hands it in.
pub(crate) async fn serve(lease: Lease) -> Result<(), HandInError> {
    let event = attempt(&lease).await?;
    lease.hand_in(event).await
}

/// What the agent left: how it ended, what it said, what it did.
struct Finished {
    ran: Ran,
    receipt: Receipt,
    said: Said,
    collected: Result<Collected, HelperError>,
}

async fn attempt(lease: &Lease) -> Result<LeaseEvent, ReportError> {
    let command = lease.settings.command.as_deref().unwrap_or_default();
    if matches!(lease.attempt.work, Work::Verify(_)) {
        let reason = "a worker was asked to verify: the role's kind in the configuration is wrong";
        return Ok(failed(FailureKind::Workspace, reason, None));
    }
    let helpers = Helpers::new(&lease.settings, &lease.rooms);
    let diff = match prepare(lease, &helpers).await {
        Ok(diff) => diff,
        Err(reason) => return Ok(failed(FailureKind::Workspace, &reason, None)),
    };
    let finished = match work(lease, &helpers, command, &diff).await {
        Ok(finished) => finished,
        Err(reason) => return Ok(failed(FailureKind::Agent, &reason, None)),
    };
    end(lease, finished).await
}

/// Makes the workspace; on a repair, the diff of the refuted work.
async fn prepare(lease: &Lease, helpers: &Helpers<'_>) -> Result<String, String> {
    lease.note("making the workspace");
    let attempt = &lease.attempt;
    if !lease.mirror_ready().await {
        return Err(format!("the host's mirror does not have the base {} yet", lease.base));
    }
    let refuted = adapter::defect(lease).and_then(|defect| defect.work.as_ref());
    let bundle = match refuted {
        Some(work) => {
            let fetched = lease.reporter.fetch(&work.bundle, lease.left()).await;
            Some(fetched.map_err(|error| chain(&error))?)
        }
        None => None,
    };
    let wanted = Wanted {
        repository: &attempt.repository,
        commit: &lease.base,
        room: &lease.rooms.room(0),
        bundle,
        answer: refuted.map_or(Answer::Nothing, |work| Answer::Diff(&work.base)),
    };
    let diff = helpers.prepare(wanted).await.map_err(|error| chain(&error))?;
    Ok(String::from_utf8_lossy(&diff).into_owned())
}

/// Runs the agent, ends what it left running, and takes up what it did.
async fn work(
    lease: &Lease,
    helpers: &Helpers<'_>,
    command: &[String],
    diff: &str,
) -> Result<Finished, String> {
    let desk = adapter::write_desk(lease, diff)
        .map_err(|error| format!("contract and prompt cannot be written: {error}"))?;
    let owner = lease
        .settings
        .agent()
        .map_or_else(|| rustix::process::geteuid().as_raw(), |identity| identity.uid);
    let outbox = Outbox::open(&lease.rooms.outbox, owner)
        .map_err(|error| format!("the outbox cannot be opened: {error}"))?;
    lease.note("the agent works");
    let room = lease.rooms.room(0);
    let (ran, receipt) =
        adapter::run(lease, command, &room, &desk, &outbox).await.map_err(|error| chain(&error))?;
    lease.note("collecting the work");
    if let Err(error) = helpers.reap(&[]).await {
        tracing::warn!(error = chain(&error), "some of the agent's processes may be left");
    }
    let said = outbox.read();
    let limits = &lease.attempt.limits;
    let limits = Limits { bytes_max: limits.artifact_bytes_max, files_max: limits.files_max };
    let collected = helpers.collect(&lease.attempt.repository, &lease.base, limits).await;
    Ok(Finished { ran, receipt, said, collected })
}

/// Stores what there is and says how it ended: the result, or a failure after its work was saved.
async fn end(lease: &Lease, finished: Finished) -> Result<LeaseEvent, ReportError> {
    let Finished { ran, receipt, said, collected } = finished;
    let log = lease.reporter.store_log(&ran.log).await?;
    let collected = match collected {
        Ok(collected) => collected,
        Err(error) => {
            let kind = match error {
                HelperError::TooLarge(_) => FailureKind::TooLarge,
                _ => FailureKind::Workspace,
            };
            return Ok(failed(kind, &chain(&error), log));
        }
    };
    let failure = failure(lease, &ran, &collected);
    let beside = collected.head == lease.base;
    if let (Some(bundle), true) = (&collected.bundle, failure.is_some() || beside) {
        let head = match &collected.kept {
            Some(kept) if beside => kept.clone(),
            _ => collected.head.clone(),
        };
        let reason = match &failure {
            Some((_, reason)) => reason.clone(),
            None => collected.findings.join("; "),
        };
        lease.reporter.save(bundle, lease.base.clone(), head, reason).await?;
    }
    if let Some((kind, reason)) = failure {
        return Ok(failed(kind, &reason, log));
    }
    let bundle = match collected.bundle.as_ref().filter(|_| !beside) {
        Some(bundle) => Some(lease.reporter.store(bundle).await?),
        None => None,
    };
    Ok(result(lease, bundle, collected, (receipt, said), log))
}

/// Why this is no result, if it is none; the first reason that applies.
fn failure(lease: &Lease, ran: &Ran, collected: &Collected) -> Option<(FailureKind, String)> {
    if ran.stopped {
        let reason = lease.stop_reason().unwrap_or_default();
        return Some((FailureKind::Stopped, format!("told to stop: {reason}")));
    }
    if ran.timed_out {
        let minutes = lease.attempt.limits.wall_clock_ms / 60_000;
        let reason = format!("the wall clock of {minutes} minutes ended the agent");
        return Some((FailureKind::Timeout, reason));
    }
    if let Some(broken) = &collected.broken {
        return Some((FailureKind::Workspace, broken.clone()));
    }
    let how = match ran.ending {
        Ending::Exit(0) => return None,
        Ending::Exit(code) => format!("exited with code {code}"),
        Ending::Signal(signal) => format!("was ended by signal {signal}"),
    };
    let text = String::from_utf8_lossy(&ran.log);
    let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let last = cut(last, QUOTE_BYTES_MAX);
    let quote = if last.is_empty() { String::new() } else { format!("; its last line: {last}") };
    Some((FailureKind::Agent, format!("the agent's command {how}{quote}")))
}

fn result(
    lease: &Lease,
    bundle: Option<Blob>,
    collected: Collected,
    (receipt, said): (Receipt, Said),
    log: Option<Blob>,
) -> LeaseEvent {
    let mut findings = collected.findings;
    findings.extend(said.findings);
    LeaseEvent::Result(WorkResult {
        base: lease.base.clone(),
        head: collected.head,
        bundle,
        receipts: vec![receipt],
        claims: said.claims,
        usage: said.usage,
        findings,
        log,
        learnings: said.learnings,
        proposals: said.proposals,
        phases: Vec::new(),
    })
}
