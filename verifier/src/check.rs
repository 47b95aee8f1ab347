//! One check: a fresh checkout, one checker, and a look at what it did to the tracked files.
//!
//! Each checker has a checkout, HOME and TMPDIR of its own and nothing of the one before it is left running, so
//! that no check can influence the next.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use cantus_proto::contract::Criterion;
use cantus_proto::evidence::counts::counts;
use cantus_proto::evidence::receipt::{self, CHANGED_FILES_MAX, checker_argv, checker_digest};
use cantus_proto::evidence::{Binding, Receipt, Subject};
use cantus_proto::limits::LOG_BYTES_MAX;
use cantus_proto::message::Candidate;
use cantus_runner::helper::{Answer, HelperError, Helpers, Wanted};
use cantus_runner::jail::{self, Ending, Jail, JailError, Ran};
use cantus_runner::lease::Lease;
use cantus_runner::rooms::Room;

/// Where a command may leave something for the next one in a container, besides its workspace.
const SHARED: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// What every check of one candidate shares.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bench<'a> {
    pub(crate) lease: &'a Lease,
    pub(crate) helpers: Helpers<'a>,
    pub(crate) candidate: &'a Candidate,
    pub(crate) bundle: &'a [u8],
}

/// Why a check could not be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckError {
    #[error("the candidate cannot be checked out")]
    Prepare(#[source] HelperError),
    #[error("what the check before left cannot be removed")]
    Reap(#[source] HelperError),
    #[error("the checker cannot be started")]
    Start(#[source] JailError),
    #[error("the checkout cannot be compared with the candidate")]
    Compare(#[source] HelperError),
    /// The lease is over; nothing that was seen since counts.
    #[error("the check was stopped")]
    Stopped,
}

/// Runs one checker; the receipt to be judged, and what it printed.
pub(crate) async fn check(
    bench: &Bench<'_>,
    number: usize,
    criterion: &Criterion,
) -> Result<(Receipt, Vec<u8>), CheckError> {
    let Bench { lease, helpers, candidate, .. } = *bench;
    let (room, listing) = check_out(bench, number).await?;
    let mut environment = environment(lease, &room);
    environment.insert("CANTUS_CRITERION".into(), criterion.id.as_str().into());
    let ran = run(lease, &criterion.checker, environment, lease.left()).await?;
    helpers.reap(&[]).await.map_err(CheckError::Reap)?;
    let mut changed = helpers.compare(listing).await.map_err(CheckError::Compare)?;
    changed.truncate(CHANGED_FILES_MAX);
    Ok((receipt(lease, candidate, criterion, &ran, changed), ran.log))
}

/// Runs the check of a learning, which is judged by its exit code alone.
pub(crate) async fn look_for(
    bench: &Bench<'_>,
    number: usize,
    command: &str,
    limit: Duration,
) -> Result<Ran, CheckError> {
    let (room, _) = check_out(bench, number).await?;
    let limit = limit.min(bench.lease.left());
    run(bench.lease, command, environment(bench.lease, &room), limit).await
}

/// A fresh checkout, with nothing left of the command before; its room and listing.
async fn check_out(bench: &Bench<'_>, number: usize) -> Result<(Room, Vec<u8>), CheckError> {
    let Bench { lease, helpers, candidate, bundle } = *bench;
    let mut shared: Vec<&Path> = SHARED.iter().map(Path::new).collect();
    shared.push(&lease.rooms.commands);
    helpers.reap(&shared).await.map_err(CheckError::Reap)?;
    let room = lease.rooms.room(number);
    let wanted = Wanted {
        repository: &lease.attempt.repository,
        commit: &candidate.commit,
        room: &room,
        bundle: Some(bundle.to_vec()),
        commit_check: None,
        answer: Answer::Listing(&candidate.tree, &candidate.listing_sha256),
    };
    let listing = helpers.prepare(wanted).await.map_err(CheckError::Prepare)?;
    Ok((room, listing))
}

async fn run(
    lease: &Lease,
    command: &str,
    environment: BTreeMap<OsString, OsString>,
    limit: Duration,
) -> Result<Ran, CheckError> {
    let jail = Jail {
        argv: checker_argv(command).into_iter().map(OsString::from).collect(),
        directory: lease.rooms.tree.clone(),
        environment,
        identity: lease.settings.agent(),
        limit,
        log_bytes_max: LOG_BYTES_MAX,
    };
    let ran = jail::run(&jail, lease.stop()).await.map_err(CheckError::Start)?;
    if ran.stopped { Err(CheckError::Stopped) } else { Ok(ran) }
}

fn environment(lease: &Lease, room: &Room) -> BTreeMap<OsString, OsString> {
    let mut environment = lease.settings.environment.clone();
    let mut set = |name: &str, value: OsString| environment.insert(name.into(), value);
    set("HOME", room.home().into());
    set("TMPDIR", room.temporary().into());
    set("CANTUS_RUN", lease.attempt.run.as_str().into());
    set("CANTUS_ITEM", lease.attempt.item.as_str().into());
    environment
}

fn receipt(
    lease: &Lease,
    candidate: &Candidate,
    criterion: &Criterion,
    ran: &Ran,
    changed_files: Vec<String>,
) -> Receipt {
    let attempt = &lease.attempt;
    let settings = &lease.settings;
    Receipt {
        subject: Subject {
            tree: candidate.tree.clone(),
            listing: candidate.listing_sha256.clone(),
        },
        binding: Binding {
            run: attempt.run.clone(),
            item: attempt.item.clone(),
            attempt: attempt.number,
            criterion: criterion.id.clone(),
            checker: checker_digest(criterion),
            isolation: settings.isolation,
        },
        argv: checker_argv(&criterion.checker),
        ending: match (ran.timed_out, ran.ending) {
            (true, _) => receipt::Ending::TimedOut,
            (false, Ending::Exit(code)) => receipt::Ending::Exit(code),
            (false, Ending::Signal(signal)) => receipt::Ending::Signal(signal),
        },
        stdout: ran.stdout_sha256.clone(),
        stderr: ran.stderr_sha256.clone(),
        output_truncated: ran.log_truncated,
        duration_ms: u64::try_from(ran.duration.as_millis()).unwrap_or(u64::MAX),
        image: match settings.image.as_str() {
            "" => "none".to_owned(),
            image => image.to_owned(),
        },
        host: settings.host.to_string(),
        counts: counts(&ran.log),
        changed_files,
    }
}
