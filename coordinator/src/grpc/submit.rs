//! Submission: compile, find the repository, announce its source, and only then let the run exist.

use std::sync::Arc;

use cantus_proto::ids::RunId;
use cantus_proto::plan::{Compiled, Plan, compile::compile};
use cantus_proto::wire::v1;
use tonic::Status;

use super::Api;
use crate::hub::Hub;
use crate::kernel::chain;
use crate::view;
use cantus_core::event::{Event, Repository, Submission};
use cantus_core::journal::plan;

/// Branch that a run lands on when nobody names one.
const DEFAULT_TARGET: &str = "main";

pub(super) async fn submit(
    api: &Api,
    mut request: v1::SubmitRequest,
) -> Result<v1::SubmitResponse, Status> {
    let (file, text) = (request.file.clone(), std::mem::take(&mut request.text));
    // A large plan takes seconds, in which heartbeats are to be answered.
    let compiled = tokio::task::spawn_blocking(move || compile(&file, &text)).await;
    let compiled = compiled.map_err(|error| Status::internal(error.to_string()))?;
    let diagnostics: Vec<v1::Diagnostic> =
        compiled.diagnostics.iter().map(view::diagnostic).collect();
    let Compiled { plan: Some(plan), .. } = compiled else {
        return Ok(v1::SubmitResponse { diagnostics, ..Default::default() });
    };
    let run = run_id(&request.run)?;
    let taken = {
        let run = run.clone();
        api.handle.ask(move |core| core.runs().contains_key(&run)).await?
    };
    if taken {
        return Err(Status::already_exists(format!(
            "run {run} exists already: choose another name"
        )));
    }
    let (repository, notice) = find_repository(api, &request, &plan, &run).await?;
    api.effects.announce(&repository).await.map_err(|error| {
        Status::unavailable(format!("the source cannot be announced: {error:#}"))
    })?;
    let bytes = plan::encode(&plan);
    let plan_blob =
        api.bus.put_blob(&bytes, plan::COMPILED_BYTES_MAX, plan::PATIENCE).await.map_err(
            |error| Status::unavailable(format!("the plan cannot be stored: {}", chain(&error))),
        )?;
    let target = repository.target.clone();
    let submission = Submission {
        run: run.clone(),
        plan: Arc::new(plan),
        plan_blob,
        repository: Some(repository),
        notice: notice.clone(),
    };
    let refused = api.handle.tell(Event::Submitted(Box::new(submission))).await?;
    if let Some(reason) = refused.into_iter().next() {
        return Err(Status::already_exists(reason));
    }
    Ok(v1::SubmitResponse { run: run.to_string(), diagnostics, target, notice })
}

/// The name wished for, or one of the time and a few random bytes: sorted by age, and never twice.
fn run_id(wished: &str) -> Result<RunId, Status> {
    let invalid = |error: cantus_proto::ids::NameError| Status::invalid_argument(error.to_string());
    if !wished.is_empty() {
        return RunId::new(wished).map_err(invalid);
    }
    let mut bytes = [0; 3];
    getrandom::fill(&mut bytes)
        .map_err(|error| Status::internal(format!("no random bytes: {error}")))?;
    let seconds = crate::kernel::now().0 / 1000;
    RunId::new(format!("r{seconds:x}-{}", cantus_proto::ids::hex(&bytes))).map_err(invalid)
}

async fn find_repository(
    api: &Api,
    request: &v1::SubmitRequest,
    plan: &Plan,
    run: &RunId,
) -> Result<(Repository, String), Status> {
    let chosen = |given: &str, planned: &Option<String>| {
        let given = (!given.is_empty()).then(|| given.to_owned());
        given.or_else(|| planned.clone())
    };
    let location = chosen(&request.repository, &plan.repository).ok_or_else(|| {
        Status::invalid_argument(
            "no repository: name it in the plan (repository: PATH) or with --repository PATH",
        )
    })?;
    let target = chosen(&request.target, &plan.target).unwrap_or_else(|| DEFAULT_TARGET.to_owned());
    let hub: Arc<Hub> =
        api.hub.clone().ok_or_else(|| Status::unimplemented("this coordinator has no git hub"))?;
    let (style, run) = (plan.landing, run.clone());
    let found = tokio::task::spawn_blocking(move || {
        let connected = hub.connect(&location, &target)?;
        let landing = hub.landing_ref(&connected, &run)?;
        Ok::<_, crate::hub::ConnectError>((connected, landing))
    });
    let (connected, landing) = found
        .await
        .map_err(|error| Status::internal(error.to_string()))?
        .map_err(|error| Status::failed_precondition(chain(&error)))?;
    let repository = Repository {
        id: connected.repository,
        location: connected.location,
        target: landing.reference,
        head: landing.head,
        style,
    };
    Ok((repository, landing.notice.unwrap_or_default()))
}
