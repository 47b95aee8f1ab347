//! What people and programs see of the core: one set of plain structs for gRPC, tables and `--json`.
//!
//! Nothing here decides; a view is a copy of the state between two turns.

mod attempt;
mod queue;

use cantus_core::Core;
use cantus_core::budget::{self, Account};
use cantus_core::event::{ItemIndex, Millis};
use cantus_core::evidence_or_abstain::{self, Status};
use cantus_core::item::{Attempt, Item, State};
use cantus_core::record::{Resource, Warning};
use cantus_core::run::Run;
use cantus_proto::ids::{AttemptNumber, RunId};
use cantus_proto::message::Claim;
use cantus_proto::plan::{Diagnostic, Severity};
use cantus_proto::units::MicroUsd;
use cantus_proto::wire::v1;

pub use attempt::finding;
pub(crate) use attempt::{demand_kind, kind, proposal_words};
pub use queue::{Unserved, next_unserved, queues, unserved};

/// A run with all its items, as it is now: with the coordinator's time, and what nobody takes.
#[must_use]
pub fn run_now(run: &Run, unserved: &Unserved, now: Millis) -> v1::RunView {
    let mut view = run_seen(run, unserved);
    stamp(&mut view, now);
    view
}

/// Gives a run the time that it is shown at.
pub fn stamp(view: &mut v1::RunView, now: Millis) {
    view.server_ms = now.0;
    if let (Some(budget), 0) = (&mut view.budget, view.ended_ms) {
        budget.wall_clock_ms = now.0.saturating_sub(view.started_ms);
    }
}

/// A run with all its items and with what nobody takes: it changes only when something happens, or waits too long.
#[must_use]
pub fn run_seen(run: &Run, unserved: &Unserved) -> v1::RunView {
    let mut view = self::run(run);
    for (summary, item) in view.items.iter_mut().zip(&run.items) {
        summary.unschedulable = unschedulable(item, unserved);
    }
    view
}

/// One item as it is now.
#[must_use]
pub fn item_now(run: &Run, place: ItemIndex, unserved: &Unserved, now: Millis) -> v1::ItemView {
    let mut view = self::item(run, place);
    view.server_ms = now.0;
    if let Some(summary) = &mut view.summary {
        summary.unschedulable = unschedulable(run.item(place), unserved);
    }
    view
}

fn unschedulable(item: &Item, unserved: &Unserved) -> String {
    let role = match item.state {
        State::Ready | State::Queued => &item.role,
        State::Unverified(_) | State::VerifyQueued(_) => &item.verifier,
        _ => return String::new(),
    };
    unserved.get(role).cloned().unwrap_or_default()
}

/// A run with all its items, from its state alone.
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
        budget: Some(run_budget(run)),
        warnings: run.warnings.iter().map(warning).collect(),
        server_ms: 0,
    }
}

fn run_budget(run: &Run) -> v1::BudgetView {
    let budgets = &run.budgets;
    let view = v1::BudgetView {
        wall_clock_ms_max: u64::from(budgets.wall_clock_minutes.unwrap_or(0)) * 60_000,
        wall_clock_ms: run.ended.map_or(0, |ended| ended.0.saturating_sub(run.started.0)),
        tokens_max: budgets.token_budget.unwrap_or(0),
        cost_microusd_max: budgets.cost_budget.map_or(0, |cost| cost.0),
        agents_max: budgets.max_agents.unwrap_or(0),
        ..Default::default()
    };
    accounted(view, run.account)
}

/// Of the attempts since the item was last put back.
fn item_budget(item: &Item) -> v1::BudgetView {
    let (budgets, counted) = (&item.contract.budgets, budget::counted(item));
    let open = counted.last().filter(|attempt| attempt.ended.is_none());
    let view = v1::BudgetView {
        wall_clock_ms_max: u64::from(budgets.wall_clock_minutes) * 60_000,
        // Nothing that goes on is older than 1970, so that only what has ended is added up.
        wall_clock_ms: budget::work_ms(item, Millis(0)),
        wall_clock_ms_reserved: open.map_or(0, |attempt| attempt.dispatch.wall_clock_ms),
        tokens_max: budgets.token_budget.unwrap_or(0),
        cost_microusd_max: budgets.cost_budget.map_or(0, |cost| cost.0),
        agents_max: budgets.max_agents,
        ..Default::default()
    };
    accounted(view, Account::of(counted))
}

fn accounted(view: v1::BudgetView, account: Account) -> v1::BudgetView {
    let MicroUsd(cost_microusd) = account.cost;
    v1::BudgetView {
        tokens: account.tokens,
        tokens_reserved: account.tokens_reserved,
        cost_microusd,
        cost_microusd_reserved: account.cost_reserved.0,
        unknown: account.unknown,
        agents: account.agents,
        ..view
    }
}

fn warning(warning: &Warning) -> v1::WarningView {
    let resource = match warning.resource {
        Resource::WallClock => "wall_clock",
        Resource::Tokens => "tokens",
        Resource::Cost => "cost",
    };
    v1::WarningView { resource: resource.to_owned(), spent: warning.spent, budget: warning.budget }
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
        unschedulable: String::new(),
        whole: item.whole.map(|whole| run.item(whole).id.to_string()).unwrap_or_default(),
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

/// One item with all attempts and reasons, from its state alone.
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
        list.iter().map(move |c| claim(item, number, c))
    });
    let attempts = item.attempts.iter().zip(1..);
    let attempts = attempts.map(|(attempt, number)| attempt::attempt(attempt, number));
    let out_of_scope = item.work().and_then(|(number, _)| item.attempt(number));
    let out_of_scope = out_of_scope.map_or(&[][..], Attempt::out_of_scope);
    let remarks = item.remarks.as_deref().cloned().unwrap_or_default();
    let name = |place: &ItemIndex| run.item(*place).id.to_string();
    let approval =
        |(number, by): (AttemptNumber, String)| v1::ApprovalView { attempt: number.0, by };
    let hypothesis =
        |(number, text): (AttemptNumber, String)| v1::HypothesisView { attempt: number.0, text };
    v1::ItemView {
        summary: Some(summary(run, item)),
        contract: Some((&*item.contract).into()),
        attempts: attempts.collect(),
        claims: claims.collect(),
        findings,
        saved: saved.collect(),
        run: run.id.to_string(),
        tree: tree(item),
        server_ms: 0,
        budget: Some(item_budget(item)),
        out_of_scope_findings: out_of_scope.iter().map(finding).collect(),
        kept_out: item.kept_out().is_some(),
        approvals: remarks.approvals.into_iter().map(approval).collect(),
        hypotheses: remarks.hypotheses.into_iter().map(hypothesis).collect(),
        warnings: remarks.warnings.iter().map(warning).collect(),
        requeues: remarks.requeues,
        parts: remarks.parts.iter().map(name).collect(),
        learnings: learnings(item),
    }
}

/// `applied n of n`: of what the newest work was told, in the tree that a verification looked at.
fn learnings(item: &Item) -> Option<v1::LearningsView> {
    let (number, _) = item.work()?;
    let told = item.attempt(number)?.dispatch.learnings.len();
    let checks = item.attempts.iter().skip(number.0 as usize);
    let checks = checks.filter_map(|attempt| attempt.exchange.as_deref());
    let newest = checks.map(|exchange| &exchange.checked).rfind(|checked| !checked.is_empty());
    let checked = newest.map_or(&[][..], Vec::as_slice);
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    (told > 0 || !checked.is_empty()).then(|| v1::LearningsView {
        told: count(told),
        checked: count(checked.len()),
        applied: count(checked.iter().filter(|check| check.applied).count()),
    })
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
fn claim(item: &Item, number: u32, claim: &Claim) -> v1::ClaimView {
    let (status, why) = evidence_or_abstain::status(claim, item, AttemptNumber(number));
    let evidence = match (&item.state, status) {
        (State::Landed(landed), Status::Verified) => format!("sha256:{}", landed.evidence),
        _ => String::new(),
    };
    v1::ClaimView {
        id: claim.id.clone(),
        text: claim.text.clone(),
        status: status.as_str().to_owned(),
        evidence,
        attempt: number,
        why,
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

/// The run with this id and one of its items.
///
/// # Errors
/// What is unknown, and what there is instead.
pub fn find<'core>(
    core: &'core Core,
    run: &str,
    item: &str,
) -> Result<(&'core Run, ItemIndex), String> {
    find_item(find_run(core, run)?, item)
}

/// The item of a run with this id.
///
/// # Errors
/// That there is none.
pub fn find_item<'run>(run: &'run Run, item: &str) -> Result<(&'run Run, ItemIndex), String> {
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
