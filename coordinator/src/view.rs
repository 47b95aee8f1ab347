//! What people and programs see of the core: one set of plain structs for gRPC, tables and `--json`.
//!
//! Nothing here decides; a view is a copy of the state between two turns.

use cantus_proto::ids::RunId;
use cantus_proto::message::{AttemptKind, Claim, Commits, Isolation};
use cantus_proto::plan::{Diagnostic, Severity};
use cantus_proto::wire::v1;

use cantus_core::Core;
use cantus_core::event::{ItemIndex, Millis};
use cantus_core::item::{Attempt, Item, Outcome, State};
use cantus_core::run::Run;

/// A run with all its items.
#[must_use]
pub fn run(run: &Run) -> v1::RunView {
    v1::RunView {
        run: run.id.to_string(),
        state: run.state().name().to_owned(),
        repository: run.repository.as_ref().map(|r| r.location.clone()).unwrap_or_default(),
        target: run.repository.as_ref().map(|r| r.target.clone()).unwrap_or_default(),
        started_ms: run.started.0,
        ended_ms: run.ended.map_or(0, |at| at.0),
        items: run.items.iter().map(|item| summary(run, item)).collect(),
        notice: run.notice.clone(),
    }
}

/// One line about an item.
#[must_use]
pub fn summary(run: &Run, item: &Item) -> v1::ItemSummary {
    let holder =
        item.attempts.last().filter(|a| a.ended.is_none()).and_then(|a| a.holder.as_deref());
    let (commit, evidence) = match &item.state {
        State::Landed(landed) => (landed.commit.to_string(), format!("sha256:{}", landed.evidence)),
        _ => (String::new(), String::new()),
    };
    v1::ItemSummary {
        id: item.id.to_string(),
        needs: item.needs.iter().map(|need| run.item(*need).id.to_string()).collect(),
        state: item.state.name().to_owned(),
        attempt: item.tries(),
        attempts_max: item.tries_max,
        state_since_ms: item.since.0,
        started_ms: item.started.map_or(0, |at| at.0),
        ended_ms: if item.state.is_terminal() { item.since.0 } else { 0 },
        role: item.role.to_string(),
        worker: holder
            .map(|h| format!("{} on {}", h.leased.container, h.leased.host))
            .unwrap_or_default(),
        reason: reason(run, item),
        commit,
        evidence,
    }
}

fn reason(run: &Run, item: &Item) -> String {
    match (&item.state, &item.defect) {
        (State::Parked(reason), _) => reason.to_string(),
        (State::Blocked(cause), _) => {
            let cause = run.item(*cause);
            format!("needs {}, which is {}", cause.id, cause.state.name())
        }
        (State::Cancelled, _) => "cancelled by a person".to_owned(),
        (State::Landed(_), _) | (_, None) => String::new(),
        (_, Some(defect)) => defect.summary.clone(),
    }
}

/// One item with all attempts and reasons.
#[must_use]
pub fn item(run: &Run, place: ItemIndex) -> v1::ItemView {
    let item = run.item(place);
    let findings = item.work().map(|(_, result)| result.findings.clone()).unwrap_or_default();
    let saved = item.saved.iter().map(|saved| v1::SavedView {
        attempt: saved.number.0,
        reason: saved.reason.clone(),
        bundle: Some((&saved.commits.bundle).into()),
        base: saved.commits.base.to_string(),
        head: saved.commits.head.to_string(),
    });
    let claims = item.attempts.iter().zip(1..).flat_map(|(attempt, number)| {
        let result = attempt.result.as_deref();
        let list = result.map(|r| r.claims.as_slice()).unwrap_or_default();
        list.iter().map(move |c| claim(item, attempt, number, c))
    });
    v1::ItemView {
        summary: Some(summary(run, item)),
        contract: Some((&*item.contract).into()),
        attempts: item.attempts.iter().zip(1..).map(|(a, number)| attempt(a, number)).collect(),
        claims: claims.collect(),
        findings,
        saved: saved.collect(),
        run: run.id.to_string(),
        tree: tree(item),
    }
}

fn tree(item: &Item) -> String {
    match &item.state {
        State::Landed(landed) => landed.tree.to_string(),
        State::Unverified(c) | State::VerifyQueued(c) | State::Verifying(c) | State::Landing(c) => {
            c.tree.to_string()
        }
        _ => String::new(),
    }
}

/// What the ledger says of a claim: words alone promote nothing (SPEC B7).
fn claim(item: &Item, attempt: &Attempt, number: u32, claim: &Claim) -> v1::ClaimView {
    let about =
        item.contract.acceptance_criteria.iter().any(|c| Some(&c.id) == claim.criterion.as_ref());
    let (status, evidence) = match (&attempt.outcome, &item.state) {
        (Some(Outcome::Refuted(_)), _) => ("refuted", String::new()),
        (Some(Outcome::HandedIn), State::Landed(landed)) if about => {
            ("verified", format!("sha256:{}", landed.evidence))
        }
        _ => ("unverified", String::new()),
    };
    v1::ClaimView {
        id: claim.id.clone(),
        text: claim.text.clone(),
        status: status.to_owned(),
        evidence,
        attempt: number,
    }
}

fn attempt(attempt: &Attempt, number: u32) -> v1::AttemptView {
    let holder = attempt.holder.as_deref();
    let result = attempt.result.as_deref();
    let commits: Option<Commits> = result.and_then(|r| {
        Some(Commits { bundle: r.bundle.clone()?, base: r.base.clone(), head: r.head.clone() })
    });
    let isolation = holder.map(|h| match h.leased.isolation {
        Isolation::Container => "container",
        Isolation::Process => "process",
    });
    let state = match (&attempt.outcome, holder) {
        (Some(outcome), _) => outcome.name(),
        (None, Some(_)) => "leased",
        (None, None) => "queued",
    };
    v1::AttemptView {
        number,
        kind: kind(attempt.kind).to_owned(),
        state: state.to_owned(),
        container: holder.map(|h| h.leased.container.to_string()).unwrap_or_default(),
        host: holder.map(|h| h.leased.host.to_string()).unwrap_or_default(),
        queued_ms: attempt.queued.0,
        leased_ms: attempt.leased.map_or(0, |at| at.0),
        ended_ms: attempt.ended.map_or(0, |at| at.0),
        reason: attempt.outcome.as_ref().map(ToString::to_string).unwrap_or_default(),
        base: holder
            .and_then(|h| h.leased.base.as_ref())
            .map(ToString::to_string)
            .unwrap_or_default(),
        head: result.map(|r| r.head.to_string()).unwrap_or_default(),
        bundle: commits.as_ref().map(|c| (&c.bundle).into()),
        log: attempt.log.as_ref().or(result.and_then(|r| r.log.as_ref())).map(Into::into),
        receipts: result.map(|r| r.receipts.iter().map(Into::into).collect()).unwrap_or_default(),
        isolation: isolation.unwrap_or_default().to_owned(),
        token: attempt.token,
    }
}

fn kind(kind: AttemptKind) -> &'static str {
    match kind {
        AttemptKind::Produce => "produce",
        AttemptKind::Repair => "repair",
        AttemptKind::Verify => "verify",
    }
}

/// A message about a plan.
#[must_use]
pub fn diagnostic(diagnostic: &Diagnostic) -> v1::Diagnostic {
    v1::Diagnostic {
        file: diagnostic.file.clone(),
        line: diagnostic.line,
        column: diagnostic.column,
        code: diagnostic.code.to_owned(),
        error: diagnostic.severity == Severity::Error,
        message: diagnostic.message.clone(),
        hint: diagnostic.hint.clone(),
    }
}

/// All queues, by role.
#[must_use]
pub fn queues(core: &Core, now: Millis) -> v1::QueueResponse {
    let queues = core.roles().map(|(role, queue)| {
        let items =
            || core.runs().values().flat_map(|run| &run.items).filter(|item| item.role == *role);
        let retries = items().map(|item| u64::from(item.tries().saturating_sub(1))).sum();
        let parked = items().filter(|item| matches!(item.state, State::Parked(_))).count();
        let oldest = queue.queued.first().map_or(0, |(at, ..)| now.0.saturating_sub(at.0));
        v1::QueueView {
            role: role.to_string(),
            depth: queue.queued.len() as u64,
            oldest_ms: oldest,
            in_flight: u64::from(queue.leased),
            retries,
            parked: parked as u64,
            ready: queue.ready_count() as u64,
        }
    });
    v1::QueueResponse { queues: queues.collect() }
}

/// The run with this id and one of its items.
///
/// # Errors
/// What is unknown, and what there is instead.
pub fn find<'core>(
    core: &'core Core,
    run: &str,
    item: &str,
) -> Result<(&'core Run, ItemIndex), String> {
    let run = find_run(core, run)?;
    let place = run.by_id.iter().find(|(id, _)| id.as_str() == item).map(|(_, place)| *place);
    place.map(|place| (run, place)).ok_or_else(|| format!("run {} has no item {item:?}", run.id))
}

/// The run with this id.
///
/// # Errors
/// That there is none, and which there are.
pub fn find_run<'core>(core: &'core Core, run: &str) -> Result<&'core Run, String> {
    let found = RunId::new(run).ok().and_then(|id| core.runs().get(&id));
    found.ok_or_else(|| {
        let known: Vec<&str> = core.runs().keys().rev().take(5).map(RunId::as_str).collect();
        match known.as_slice() {
            [] => format!("there is no run {run:?}; nothing was submitted yet"),
            known => format!("there is no run {run:?}; there are {}", known.join(", ")),
        }
    })
}
