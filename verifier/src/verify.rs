//! One verification: fetch the candidate, check every criterion, sign, hand in.
//!
//! What could not be decided is said in so many words and never counts as held (W13, G9).

use cantus_proto::evidence::{SigningKey, attest};
use cantus_proto::message::{
    Candidate, Envelope, Evidence, Failed, FailureKind, LearningCheck, LeaseEvent, Usage, Work,
};
use cantus_runner::capture::Log;
use cantus_runner::helper::Helpers;
use cantus_runner::lease::{HandInError, Lease};
use cantus_runner::reporter::{self, ReportError};
use cantus_runner::text::{chain, cut};

use crate::check::{Bench, CheckError, check};
use crate::learnings;

/// Kept of the output of all checkers together, in bytes: it is one artifact.
const LOG_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Longest explanation of what could not be decided, in bytes.
const INCONCLUSIVE_BYTES_MAX: usize = 16 * 1024;

/// Does the verification and hands it in.
pub(crate) async fn serve(lease: Lease, key: &SigningKey) -> Result<(), HandInError> {
    let event = verification(&lease, key).await?;
    lease.hand_in(event).await
}

async fn verification(lease: &Lease, key: &SigningKey) -> Result<LeaseEvent, ReportError> {
    let Work::Verify(verification) = &lease.attempt.work else {
        let reason = "a verifier was asked to work: the role's kind in the configuration is wrong";
        return Ok(failed(FailureKind::Workspace, reason));
    };
    if !lease.mirror_ready().await {
        let reason = format!("the host's mirror does not have the base {} yet", lease.base);
        return Ok(failed(FailureKind::Workspace, &reason));
    }
    let candidate = &verification.candidate;
    let bundle = match lease.reporter.fetch(&candidate.bundle, lease.left()).await {
        Ok(bundle) => bundle,
        Err(error) => return Ok(failed(FailureKind::Workspace, &chain(&error))),
    };
    let helpers = Helpers::new(&lease.settings, &lease.rooms);
    let bench = Bench { lease, helpers, candidate, bundle: &bundle };
    let mut seen = match check_all(&bench, key).await {
        Ok(seen) => seen,
        Err(event) => return Ok(event),
    };
    // Only now, when what decides is signed.
    let learnings = learnings::check_all(&bench, &mut seen.log).await;
    let log = lease.reporter.store_log(&seen.log.into_bytes()).await?;
    Ok(evidence(candidate, seen.envelopes, &seen.undecided, learnings, log))
}

/// The end without evidence. No model was called, and that is certain.
fn failed(kind: FailureKind, reason: &str) -> LeaseEvent {
    let usage = Some(Usage::default());
    LeaseEvent::Failed(Failed { usage, ..reporter::failed(kind, reason) })
}

/// What all checks together showed.
struct Seen {
    envelopes: Vec<Envelope>,
    undecided: Vec<String>,
    log: Log,
}

/// Runs every checker; an error is how the attempt ends instead.
async fn check_all(bench: &Bench<'_>, key: &SigningKey) -> Result<Seen, LeaseEvent> {
    let lease = bench.lease;
    let mut seen =
        Seen { envelopes: Vec::new(), undecided: Vec::new(), log: Log::new(LOG_BYTES_MAX) };
    for (number, criterion) in lease.attempt.contract.acceptance_criteria.iter().enumerate() {
        let id = &criterion.id;
        if lease.left().is_zero() {
            seen.undecided.push(format!("{id}: not run, the wall clock of the attempt is over"));
            continue;
        }
        lease.note(&format!("checking {id}"));
        seen.log.add(format!("== {id}: {}\n", criterion.checker).as_bytes());
        match check(bench, number, criterion).await {
            Ok((receipt, output)) => {
                seen.log.add(&output);
                seen.log.add(format!("\n== {id}: {:?}\n", receipt.ending).as_bytes());
                match attest(&receipt, key) {
                    Ok(evidence) => seen.envelopes.push(Envelope {
                        criterion: evidence.criterion,
                        statement: evidence.statement,
                        receipt: evidence.receipt,
                    }),
                    Err(reason) => seen.undecided.push(format!("{id}: {reason}")),
                }
            }
            Err(CheckError::Stopped) => {
                let reason = lease.stop_reason().unwrap_or_default();
                return Err(failed(FailureKind::Stopped, &format!("told to stop: {reason}")));
            }
            // Without a checkout there is nothing to say about any criterion.
            Err(error @ CheckError::Prepare(_)) => {
                return Err(failed(FailureKind::Workspace, &chain(&error)));
            }
            Err(error) => seen.undecided.push(format!("{id}: {}", chain(&error))),
        }
    }
    Ok(seen)
}

fn evidence(
    candidate: &Candidate,
    envelopes: Vec<Envelope>,
    undecided: &[String],
    learnings: Vec<LearningCheck>,
    log: Option<cantus_proto::ids::Blob>,
) -> LeaseEvent {
    let undecided = undecided.join("; ");
    let inconclusive = cut(&undecided, INCONCLUSIVE_BYTES_MAX);
    LeaseEvent::Evidence(Evidence {
        tree: candidate.tree.clone(),
        envelopes,
        log,
        inconclusive: (!inconclusive.is_empty()).then(|| inconclusive.to_owned()),
        learnings,
    })
}
