//! The adapter `command`: any program is an agent. It gets files and variables, and says what it wants in its outbox.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use cantus_proto::limits::LOG_BYTES_MAX;
use cantus_proto::message::{Defect, Exit, Receipt, Work};
use cantus_runner::jail::{self, Ending, Jail, JailError, Ran};
use cantus_runner::lease::Lease;
use cantus_runner::rooms::Room;
use cantus_runner::text::cut;
use tokio::time::MissedTickBehavior;

use crate::outbox::Outbox;
use crate::prompt::Prompt;
use crate::{contract_yaml, prompt};

/// How often the outbox is looked into for progress.
const PROGRESS_LOOK: Duration = Duration::from_millis(500);

/// Longest progress that is told at once, in bytes.
const PROGRESS_BYTES_MAX: usize = 8 * 1024;

/// Variables of an agent that a receipt records: those that make two runs comparable.
const RECORDED: [&str; 4] = ["PATH", "LANG", "CANTUS_ROLE", "CANTUS_BASE"];

/// Writes contract and prompt where the agent can read them; their paths.
pub(crate) fn write_desk(lease: &Lease, diff: &str) -> Result<(PathBuf, PathBuf), std::io::Error> {
    let contract = &lease.attempt.contract;
    let defect = defect(lease).map(|defect| (defect, diff));
    let paths = (lease.rooms.desk.join("contract.yaml"), lease.rooms.desk.join("prompt.md"));
    std::fs::write(&paths.0, contract_yaml::render(contract))?;
    std::fs::write(&paths.1, prompt::render(&Prompt { contract, defect }))?;
    Ok(paths)
}

/// What was wrong with the attempt before, on a repair.
pub(crate) fn defect(lease: &Lease) -> Option<&Defect> {
    match &lease.attempt.work {
        Work::Repair(defect) => Some(defect),
        Work::Produce | Work::Verify(_) => None,
    }
}

/// Runs the agent to its end and tells its progress meanwhile.
pub(crate) async fn run(
    lease: &Lease,
    command: &[String],
    room: &Room,
    desk: &(PathBuf, PathBuf),
    outbox: &Outbox,
) -> Result<(Ran, Receipt), JailError> {
    let jail = Jail {
        argv: command.iter().map(OsString::from).collect(),
        directory: lease.rooms.tree.clone(),
        environment: environment(lease, room, desk),
        identity: lease.settings.agent(),
        limit: lease.left(),
        log_bytes_max: LOG_BYTES_MAX,
    };
    let ran = tokio::select! {
        ran = jail::run(&jail, lease.stop()) => ran?,
        () = tell_progress(lease, outbox) => unreachable!("progress is told for ever"),
    };
    let receipt = receipt(command, &jail, &ran);
    Ok((ran, receipt))
}

fn environment(
    lease: &Lease,
    room: &Room,
    desk: &(PathBuf, PathBuf),
) -> BTreeMap<OsString, OsString> {
    let attempt = &lease.attempt;
    let mut environment = lease.settings.environment.clone();
    let mut set = |name: &str, value: OsString| environment.insert(name.into(), value);
    set("HOME", room.home().into());
    set("TMPDIR", room.temporary().into());
    set("CANTUS_CONTRACT", desk.0.clone().into());
    set("CANTUS_PROMPT", desk.1.clone().into());
    set("CANTUS_OUTBOX", lease.rooms.outbox.clone().into());
    set("CANTUS_RUN", attempt.run.as_str().into());
    set("CANTUS_ITEM", attempt.item.as_str().into());
    set("CANTUS_ATTEMPT", attempt.number.to_string().into());
    set("CANTUS_ROLE", attempt.role.as_str().into());
    set("CANTUS_BASE", lease.base.as_str().into());
    if let Some(work) = defect(lease).and_then(|defect| defect.work.as_ref()) {
        set("CANTUS_DEFECT_BASE", work.base.as_str().into());
        set("CANTUS_DEFECT_HEAD", work.head.as_str().into());
    }
    environment
}

/// Never returns: it ends with the agent.
async fn tell_progress(lease: &Lease, outbox: &Outbox) {
    let mut told = 0;
    let mut ticks = tokio::time::interval(PROGRESS_LOOK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let lines = outbox.progress(told);
        let Some(last) = lines.last() else { continue };
        lease.note(last);
        let text = lines.join("\n");
        told += lines.len();
        lease.reporter.progress(cut(&text, PROGRESS_BYTES_MAX).to_owned()).await;
    }
}

fn receipt(command: &[String], jail: &Jail, ran: &Ran) -> Receipt {
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
        purpose: "agent".to_owned(),
    }
}
