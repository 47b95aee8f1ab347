//! One attempt: workspace, agent, checks, collection, hand-in. Whatever happens, the work comes first.

use cantus_proto::ids::Blob;
use cantus_proto::message::{Failed, FailureKind, LeaseEvent, Usage, Work, WorkResult};
use cantus_runner::helper::{Answer, Collected, HelperError, Helpers, Wanted};
use cantus_runner::jail::{Ending, Ran};
use cantus_runner::lease::{HandInError, Lease};
use cantus_runner::reporter::{ReportError, failed};
use cantus_runner::text::{chain, cut};
use cantus_runner::workspace::collect::Limits;

use crate::adapter;
use crate::desk::Desk;
use crate::outbox::{Outbox, Said};
use crate::phases::Phases;
use crate::rounds::{self, Done, Session};
use crate::watch::{Watch, usage};

/// Longest last line of an agent that a failure quotes, in bytes.
const QUOTE_BYTES_MAX: usize = 300;

/// Does the attempt and hands it in.
pub(crate) async fn serve(lease: Lease) -> Result<(), HandInError> {
    let event = attempt(&lease).await?;
    lease.hand_in(event).await
}

/// What the agent left: how it ended, what it said, what it did.
struct Finished {
    done: Done,
    said: Said,
    collected: Result<Collected, HelperError>,
}

async fn attempt(lease: &Lease) -> Result<LeaseEvent, ReportError> {
    let mut phases = Phases::default();
    let never_ran = |kind, reason: &str, phases: &Phases| {
        // No agent ran, so none used anything.
        let usage = Some(Usage::default());
        LeaseEvent::Failed(Failed { usage, phases: phases.list(), ..failed(kind, reason) })
    };
    if matches!(lease.attempt.work, Work::Verify(_)) {
        let reason = "a worker was asked to verify: the role's kind in the configuration is wrong";
        return Ok(never_ran(FailureKind::Workspace, reason, &phases));
    }
    let helpers = Helpers::new(&lease.settings, &lease.rooms);
    let prepared = phases.time("workspace", prepare(lease, &helpers)).await;
    let (desk, diff) = match prepared {
        Ok(prepared) => prepared,
        Err(reason) => return Ok(never_ran(FailureKind::Workspace, &reason, &phases)),
    };
    let finished = match work(lease, helpers, &desk, &diff, &mut phases).await {
        Ok(finished) => finished,
        Err(reason) => return Ok(never_ran(FailureKind::Agent, &reason, &phases)),
    };
    end(lease, finished, phases).await
}

/// Makes desk and workspace; on a repair, the diff of the refuted work.
async fn prepare(lease: &Lease, helpers: &Helpers<'_>) -> Result<(Desk, String), String> {
    lease.note("making the workspace");
    let attempt = &lease.attempt;
    if !lease.mirror_ready().await {
        return Err(format!("the host's mirror does not have the base {} yet", lease.base));
    }
    let desk = Desk::lay(lease)?;
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
        commit_check: desk.check.as_deref(),
        answer: refuted.map_or(Answer::Nothing, |work| Answer::Diff(&work.base)),
    };
    let diff = helpers.prepare(wanted).await.map_err(|error| chain(&error))?;
    Ok((desk, String::from_utf8_lossy(&diff).into_owned()))
}

/// Runs the agent's rounds, ends what they left running, and takes up what they did.
async fn work(
    lease: &Lease,
    helpers: Helpers<'_>,
    desk: &Desk,
    diff: &str,
    phases: &mut Phases,
) -> Result<Finished, String> {
    let owner = lease
        .settings
        .agent()
        .map_or_else(|| rustix::process::geteuid().as_raw(), |identity| identity.uid);
    let outbox = Outbox::open(&lease.rooms.outbox, owner)
        .map_err(|error| format!("the outbox cannot be opened: {error}"))?;
    let watch = Watch::new(lease, helpers, &outbox, desk);
    let command = lease.settings.command.as_deref().unwrap_or_default();
    let session = Session { lease, helpers, command, desk, diff, watch: &watch };
    let done = tokio::select! {
        done = rounds::run(&session, phases) => done?,
        never = watch.run() => match never {},
    };
    lease.note("collecting the work");
    let said = outbox.read();
    let limits = &lease.attempt.limits;
    let limits = Limits { bytes_max: limits.artifact_bytes_max, files_max: limits.files_max };
    let collecting = helpers.collect(&lease.attempt.repository, &lease.base, limits);
    let collected = phases.time("collection", collecting).await;
    Ok(Finished { done, said, collected })
}

/// Stores what there is and says how it ended: the result, or a failure after its work was saved.
async fn end(
    lease: &Lease,
    finished: Finished,
    mut phases: Phases,
) -> Result<LeaseEvent, ReportError> {
    let Finished { done: Done { ran, receipts, log, findings }, mut said, collected } = finished;
    said.usage = usage(lease.settings.usage, said.usage);
    let log = phases.time("collection", lease.reporter.store_log(&log.into_bytes())).await?;
    let fails = |kind, reason: &str, said: Said, log, phases: &Phases| {
        LeaseEvent::Failed(Failed {
            log,
            usage: said.usage,
            learnings: said.learnings,
            proposals: said.proposals,
            phases: phases.list(),
            ..failed(kind, reason)
        })
    };
    let collected = match collected {
        Ok(collected) => collected,
        Err(error) => {
            let kind = match error {
                HelperError::TooLarge(_) => FailureKind::TooLarge,
                _ => FailureKind::Workspace,
            };
            return Ok(fails(kind, &chain(&error), said, log, &phases));
        }
    };
    let failure = failure(lease, &ran, &collected);
    let stored = phases.time("collection", store(lease, &collected, failure.as_ref())).await?;
    if let Some((kind, reason)) = failure {
        return Ok(fails(kind, &reason, said, log, &phases));
    }
    Ok(LeaseEvent::Result(WorkResult {
        base: lease.base.clone(),
        head: collected.head,
        bundle: stored,
        receipts,
        claims: said.claims,
        usage: said.usage,
        findings: [findings, collected.findings, said.findings].concat(),
        log,
        learnings: said.learnings,
        proposals: said.proposals,
        phases: phases.list(),
    }))
}

/// Stores the bundle of a result; what is none is saved instead.
async fn store(
    lease: &Lease,
    collected: &Collected,
    failure: Option<&(FailureKind, String)>,
) -> Result<Option<Blob>, ReportError> {
    let Some(bundle) = &collected.bundle else { return Ok(None) };
    let beside = collected.head == lease.base;
    if failure.is_none() && !beside {
        return lease.reporter.store(bundle).await.map(Some);
    }
    let head = match &collected.kept {
        Some(kept) if beside => kept.clone(),
        _ => collected.head.clone(),
    };
    let reason = match failure {
        Some((_, reason)) => reason.clone(),
        None => collected.findings.join("; "),
    };
    lease.reporter.save(bundle, lease.base.clone(), head, reason).await?;
    Ok(None)
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
