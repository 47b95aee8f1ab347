//! The adapter `command`: any program is an agent. It gets files and variables, and says what it wants in its outbox.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use cantus_proto::limits::LOG_BYTES_MAX;
use cantus_proto::message::{Defect, Exit, Receipt, Work};
use cantus_runner::jail::{self, Ending, Jail, JailError, Ran};
use cantus_runner::lease::Lease;

use crate::desk::Desk;

/// Variables that a receipt records: those that make two runs comparable.
const RECORDED: [&str; 6] =
    ["PATH", "LANG", "CANTUS_ROLE", "CANTUS_BASE", "CANTUS_MODEL", "CANTUS_EFFORT"];

/// What was wrong with the attempt before, on a repair.
pub(crate) fn defect(lease: &Lease) -> Option<&Defect> {
    match &lease.attempt.work {
        Work::Repair(defect) => Some(defect),
        Work::Produce | Work::Verify(_) => None,
    }
}

/// Runs the agent to its end; `feedback` is there when it is not its first round.
pub(crate) async fn run(
    lease: &Lease,
    command: &[String],
    desk: &Desk,
    feedback: Option<&Path>,
) -> Result<(Ran, Receipt), JailError> {
    let mut environment = environment(lease, desk);
    environment.extend(feedback.map(|path| ("CANTUS_FEEDBACK".into(), path.into())));
    in_jail(lease, command, environment, "agent", lease.left()).await
}

/// Runs one of the project's checks where the agent worked, as the agent.
pub(crate) async fn execute(
    lease: &Lease,
    command: &[String],
    desk: &Desk,
    purpose: &str,
    limit: Duration,
) -> Result<(Ran, Receipt), JailError> {
    in_jail(lease, command, environment(lease, desk), purpose, limit).await
}

async fn in_jail(
    lease: &Lease,
    command: &[String],
    environment: BTreeMap<OsString, OsString>,
    purpose: &str,
    limit: Duration,
) -> Result<(Ran, Receipt), JailError> {
    let jail = Jail {
        argv: command.iter().map(OsString::from).collect(),
        directory: lease.rooms.tree.clone(),
        environment,
        identity: lease.settings.agent(),
        limit,
        log_bytes_max: LOG_BYTES_MAX,
    };
    let ran = jail::run(&jail, lease.stop()).await?;
    let receipt = receipt(command, &jail, &ran, purpose);
    Ok((ran, receipt))
}

fn environment(lease: &Lease, desk: &Desk) -> BTreeMap<OsString, OsString> {
    let attempt = &lease.attempt;
    let room = lease.rooms.room(0);
    let mut environment = lease.settings.environment.clone();
    let mut set = |name: &str, value: OsString| environment.insert(name.into(), value);
    set("HOME", room.home().into());
    set("TMPDIR", room.temporary().into());
    set("CANTUS_CONTRACT", desk.contract.clone().into());
    set("CANTUS_PROMPT", desk.prompt.clone().into());
    set("CANTUS_OUTBOX", lease.rooms.outbox.clone().into());
    set("CANTUS_DEMANDS", desk.demands.clone().into());
    set("CANTUS_RUN", attempt.run.as_str().into());
    set("CANTUS_ITEM", attempt.item.as_str().into());
    set("CANTUS_ATTEMPT", attempt.number.to_string().into());
    set("CANTUS_ROLE", attempt.role.as_str().into());
    set("CANTUS_BASE", lease.base.as_str().into());
    set("CANTUS_EFFORT", attempt.route.effort.as_str().into());
    if !attempt.route.model.is_empty() {
        set("CANTUS_MODEL", attempt.route.model.clone().into());
    }
    if let Some(tokens) = attempt.limits.tokens_max {
        set("CANTUS_TOKENS_MAX", tokens.to_string().into());
    }
    if let Some(cost) = attempt.limits.cost_max {
        set("CANTUS_COST_USD_MAX", cost.dollars().to_string().into());
    }
    if let Some(check) = &desk.check {
        set("CANTUS_CHECK", check.clone().into());
    }
    if let Some(work) = defect(lease).and_then(|defect| defect.work.as_ref()) {
        set("CANTUS_DEFECT_BASE", work.base.as_str().into());
        set("CANTUS_DEFECT_HEAD", work.head.as_str().into());
    }
    environment
}

fn receipt(command: &[String], jail: &Jail, ran: &Ran, purpose: &str) -> Receipt {
    let recorded = |name: &&str| {
        let value = jail.environment.get(&OsString::from(name))?;
        Some(((*name).to_owned(), value.to_string_lossy().into_owned()))
    };
    Receipt {
        argv: command.to_vec(),
        exit: match ran.ending {
            Ending::Exit(code) => Exit::Code(code),
            Ending::Signal(signal) => Exit::Signal(signal),
        },
        timed_out: ran.timed_out,
        stdout_sha256: ran.stdout_sha256.clone(),
        stderr_sha256: ran.stderr_sha256.clone(),
        duration_ms: u64::try_from(ran.duration.as_millis()).unwrap_or(u64::MAX),
        environment: RECORDED.iter().filter_map(recorded).collect(),
        output_truncated: ran.log_truncated,
        purpose: purpose.to_owned(),
    }
}
