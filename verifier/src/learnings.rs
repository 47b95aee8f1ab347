//! Whether the candidate shows that earlier learnings were applied (SPEC E5): `applied n of n`.
//!
//! It decides nothing. The checks are agents' own words, so they run after all criteria, each in a fresh checkout as the
//! checkers' user, and what cannot be told is not told.

use std::time::Duration;

use cantus_proto::message::LearningCheck;
use cantus_runner::capture::Log;
use cantus_runner::jail::Ending;
use cantus_runner::text::chain;
use tokio::time::Instant;

use crate::check::{Bench, CheckError, look_for};

/// All of them together.
const LEARNINGS_MAX: Duration = Duration::from_secs(60);

/// Exit codes of a shell that could not run its command.
const CANNOT_RUN: [i32; 2] = [126, 127];

/// Runs the checks of the attempt's learnings.
pub(crate) async fn check_all(bench: &Bench<'_>, log: &mut Log) -> Vec<LearningCheck> {
    let attempt = &bench.lease.attempt;
    let until = Instant::now() + LEARNINGS_MAX;
    // Rooms are numbered; the criteria have had theirs.
    let first = attempt.contract.acceptance_criteria.len();
    let with_check = attempt.learnings.iter().filter_map(|l| Some((&l.id, l.check.as_ref()?)));
    let mut checks = Vec::new();
    for (number, (id, command)) in (first..).zip(with_check) {
        let left = until.saturating_duration_since(Instant::now()).min(bench.lease.left());
        if left.is_zero() {
            tracing::info!("the time for learnings is over");
            break;
        }
        bench.lease.note(&format!("looking for the learning {id}"));
        log.add(format!("== learning {id}: {command}\n").as_bytes());
        let ran = match look_for(bench, number, command, left).await {
            Ok(ran) => ran,
            Err(error @ (CheckError::Stopped | CheckError::Prepare(_))) => {
                tracing::info!(error = chain(&error), "learnings are not looked for any more");
                break;
            }
            Err(error) => {
                tracing::info!(error = chain(&error), %id, "a learning was not looked for");
                continue;
            }
        };
        log.add(&ran.log);
        match ran.ending {
            Ending::Exit(code) if !ran.timed_out && !CANNOT_RUN.contains(&code) => {
                checks.push(LearningCheck { id: id.clone(), applied: code == 0 });
            }
            _ => tracing::info!(%id, "the check of a learning could not be completed"),
        }
    }
    checks
}
