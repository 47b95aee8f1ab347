//! What verifiers hand in: honest evidence, and the kinds that must not count.

use cantus_proto::evidence::receipt::{checker_argv, checker_digest};
use cantus_proto::evidence::{Binding, Ending, Receipt, SigningKey, Subject, attest};
use cantus_proto::ids::ContainerName;
use cantus_proto::message::{Attempt, Candidate, Envelope, Evidence, Isolation, Work};

use crate::words::digest;

/// The candidate of a verification.
pub(crate) fn candidate(attempt: &Attempt) -> Option<&Candidate> {
    match &attempt.work {
        Work::Verify(verification) => Some(&verification.candidate),
        Work::Produce | Work::Repair(_) => None,
    }
}

/// Who must not verify it.
pub(crate) fn excluded(attempt: &Attempt) -> Option<&ContainerName> {
    match &attempt.work {
        Work::Verify(verification) => verification.worker_excluded.as_ref(),
        Work::Produce | Work::Repair(_) => None,
    }
}

/// What running the checkers on this tree showed: one ending for each criterion, the last for all further ones.
pub(crate) fn checked(
    attempt: &Attempt,
    subject: &Subject,
    endings: &[Ending],
    key: &SigningKey,
) -> Evidence {
    let criteria = attempt.contract.acceptance_criteria.iter().enumerate();
    let receipts = criteria.map(|(place, criterion)| Receipt {
        subject: subject.clone(),
        binding: Binding {
            run: attempt.run.clone(),
            item: attempt.item.clone(),
            attempt: attempt.number,
            criterion: criterion.id.clone(),
            checker: checker_digest(criterion),
            isolation: Isolation::Container,
        },
        argv: checker_argv(&criterion.checker),
        ending: *endings.get(place).or(endings.last()).unwrap_or(&Ending::TimedOut),
        stdout: digest("output"),
        stderr: digest(""),
        output_truncated: false,
        duration_ms: 10,
        image: "image".to_owned(),
        host: "host".to_owned(),
        counts: None,
        changed_files: vec![],
    });
    let (mut envelopes, mut inconclusive) = (Vec::<Envelope>::new(), None);
    for receipt in receipts {
        match attest(&receipt, key) {
            Ok(envelope) => envelopes.push(envelope),
            Err(why) => inconclusive = Some(why),
        }
    }
    let tree = subject.tree.clone();
    Evidence { tree, envelopes, log: None, inconclusive, learnings: vec![] }
}

/// The subject of a candidate.
pub(crate) fn subject(candidate: &Candidate) -> Subject {
    Subject { tree: candidate.tree.clone(), listing: candidate.listing_sha256.clone() }
}
