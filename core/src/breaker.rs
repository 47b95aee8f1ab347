//! The circuit breaker (SPEC E8): what goes round without a commit is asked, ended, and begun in another way.
//!
//! A breaker ends attempts and changes the next one; it never moves an item forward. It looks at what the kernel
//! saw and decided, and at no words of a producer but its diagnosis, which is a wish: after two failures it is
//! acted on. What the next attempt is told is in [`preamble`], what is counted of a lease in [`rounds`].

mod preamble;
mod rounds;

use cantus_proto::ids::AttemptNumber;
use cantus_proto::message::{AttemptKind, Diagnosis, Proposal, Remedy};

pub use preamble::preamble;
pub use rounds::Rounds;

use crate::event::Millis;
use crate::item::{Attempt, Item, Outcome};
use crate::record::{Breaker, Decision, Demand, DemandKind, Ending};

/// Iterations or windows without a commit after which one is demanded, and after as many again the attempt ends.
const ROUNDS_MAX: u32 = 5;
/// Failures of an item after which the next attempt is another.
const FAILURES_MAX: usize = 2;
/// Begins the demands that are made because of the pace; the journal knows them by it.
const PACE: &str = "at this pace the budget ends before the work";

/// What a breaker does to an attempt at work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trip {
    /// Nothing.
    None,
    /// A commit is demanded.
    Demand(Demand),
    /// The attempt ends for this reason; [`next`] knows the rest.
    End(String),
}

/// Looks at an attempt at work. `time` is spent and allowed, in milliseconds; `tokens` are used and reserved.
///
/// An attempt that is told to commit and makes progress is not ended for windows or pace: its agent may leave
/// the commit to the end.
#[must_use]
pub fn look(
    rounds: &Rounds,
    time: (u64, u64),
    tokens: Option<(u64, u64)>,
    demanded: &[(Millis, Demand)],
) -> Trip {
    let windows = rounds.windows_without_commit();
    let iterations = rounds.iterations_without_commit();
    let asked = demanded.iter().any(|(_, demand)| demand.kind == DemandKind::Commit);
    let pace = rounds.ends_before_work(time, tokens);
    if !asked {
        let why = match (iterations.max(windows) >= ROUNDS_MAX, pace) {
            (true, _) => format!("{} rounds went by without a commit", iterations.max(windows)),
            (false, true) => PACE.to_owned(),
            (false, false) => return Trip::None,
        };
        let text = format!("{why}: commit now what there is, however small");
        return Trip::Demand(Demand { kind: DemandKind::Commit, text, paths: Vec::new() });
    }
    let ended = 2 * ROUNDS_MAX;
    if iterations >= ended || (windows >= ended && !rounds.moving) {
        return Trip::End(format!("{} rounds went by without a commit", iterations.max(windows)));
    }
    match pace && !rounds.moving && rounds.mostly_spent(time, tokens) {
        true => Trip::End(format!("{PACE}, and nothing is committed")),
        false => Trip::None,
    }
}

/// Why the next attempt at this item must be another than the ones before, from its history alone.
#[must_use]
pub fn next(item: &Item) -> Option<Breaker> {
    if remedy(item).is_some_and(|(_, diagnosis)| diagnosis.remedy == Remedy::Escalate) {
        return Some(Breaker::Diagnosis);
    }
    let mut newest = tries(item).rev();
    let last = newest.next()?.1;
    let same_defect =
        newest.next().is_some_and(|(_, before)| is_refuted(last) && last.outcome == before.outcome);
    let in_vain = matches!(&last.outcome, Some(Outcome::InVain(..)));
    let demand = last.demands().iter().rev().find(|(_, demand)| demand.kind == DemandKind::Commit);
    match demand {
        _ if same_defect => Some(Breaker::Stuck),
        Some((_, demand)) if in_vain && demand.text.starts_with(PACE) => Some(Breaker::Predicted),
        Some(_) if in_vain => Some(Breaker::Stuck),
        _ => (failures(item) >= FAILURES_MAX).then_some(Breaker::Failures),
    }
}

/// What the newest attempt itself wants done, once its item has failed often enough and nothing refused it.
#[must_use]
pub fn remedy(item: &Item) -> Option<(AttemptNumber, &Diagnosis)> {
    if failures(item) < FAILURES_MAX {
        return None;
    }
    let (number, last) = tries(item).next_back()?;
    let wish = |(proposal, decision): &'_ (Proposal, Decision)| {
        matches!(proposal, Proposal::Diagnosis(_)) && !matches!(decision, Decision::Refused(_))
    };
    let (proposal, _) = last.proposals().iter().filter(|_| has_failed(last)).rfind(|p| wish(p))?;
    let Proposal::Diagnosis(diagnosis) = proposal else { return None };
    Some((number, diagnosis))
}

/// Failures of the item since it last began anew. What was lost, never taken or outrun is no failure of its work.
#[must_use]
pub fn failures(item: &Item) -> usize {
    tries(item).filter(|(_, attempt)| has_failed(attempt)).count()
}

/// Attempts at the work since the item last began anew, oldest first.
fn tries(item: &Item) -> impl DoubleEndedIterator<Item = (AttemptNumber, &Attempt)> {
    let counted = item.attempts.iter().enumerate().skip(item.attempts_before);
    counted.filter(|(_, attempt)| attempt.kind != AttemptKind::Verify).map(|(place, attempt)| {
        (AttemptNumber(u32::try_from(place + 1).unwrap_or(u32::MAX)), attempt)
    })
}

fn has_failed(attempt: &Attempt) -> bool {
    let vain = match &attempt.outcome {
        Some(Outcome::InVain(ending, _)) => {
            matches!(ending, Ending::Failed(_) | Ending::Stalled | Ending::OverBudget)
                && !ending.is_infrastructure()
        }
        _ => false,
    };
    vain || is_refuted(attempt)
}

fn is_refuted(attempt: &Attempt) -> bool {
    matches!(&attempt.outcome, Some(Outcome::KeptOut(_) | Outcome::Refuted(_)))
}

#[cfg(test)]
mod tests;
