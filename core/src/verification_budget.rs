//! The verification budget (SPEC B5): a share of its own, and no check that runs again without a reason.
//!
//! The same check is the same criterion on the same tree; a verification runs all criteria of one tree. Who
//! wants to see it again must say what another run would tell apart: a discriminating hypothesis.

use cantus_proto::message::AttemptKind;
use cantus_proto::units::share;

use crate::item::{Item, Outcome};
use crate::record::Ending;

/// Longest hypothesis in bytes: one thought, not a log.
const HYPOTHESIS_BYTES_MAX: usize = 2_000;

/// A budget in its two parts, in the budget's unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shares {
    /// For producing and repairing.
    pub work: u64,
    /// For verifying.
    pub verification: u64,
}

/// Why a text is no hypothesis.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// It says nothing.
    #[error("the hypothesis is empty: say what another run of the same check would tell apart")]
    Empty,
    /// Longer than what is read.
    #[error("the hypothesis has {0} bytes, the limit is {HYPOTHESIS_BYTES_MAX}: say one thing")]
    TooLong(usize),
    /// It was tested already.
    #[error(
        "the hypothesis was tested already: say what is different this time, or change the work"
    )]
    Known,
}

/// Divides time or tokens: what is left over by rounding belongs to the work.
#[must_use]
pub fn shares(budget: u64, verification_ratio: f64) -> Shares {
    let verification = share(budget, verification_ratio);
    Shares { work: budget - verification, verification }
}

/// How often one tree may be checked: each hypothesis allows one run more.
#[must_use]
pub fn allowed_checks(checks_max: u32, hypotheses: usize) -> u32 {
    checks_max.saturating_add(u32::try_from(hypotheses).unwrap_or(u32::MAX))
}

/// Whether one more run of the item's present check needs a hypothesis first.
#[must_use]
pub fn needs_hypothesis(item: &Item, checks_max: u32) -> bool {
    item.checks_in_vain() >= allowed_checks(checks_max, hypotheses(item).count())
}

/// The hypotheses about the item's present result, oldest first.
pub fn hypotheses(item: &Item) -> impl Iterator<Item = &str> {
    let work = item.work().map(|(number, _)| number);
    let all = item.remarks.as_deref().map_or(&[][..], |remarks| &remarks.hypotheses);
    all.iter().filter(move |(of, _)| Some(*of) == work).map(|(_, text)| text.as_str())
}

/// The hypothesis as it is kept, if it is one.
///
/// # Errors
/// [`Unfit`] when it is empty, too long, or one of those before in other spacing or case.
pub fn hypothesis<'t>(
    text: &str,
    mut earlier: impl Iterator<Item = &'t str>,
) -> Result<String, Unfit> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Unfit::Empty);
    }
    if text.len() > HYPOTHESIS_BYTES_MAX {
        return Err(Unfit::TooLong(text.len()));
    }
    if earlier.any(|before| words(before) == words(text)) {
        return Err(Unfit::Known);
    }
    Ok(text.to_owned())
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_lowercase).collect()
}

/// How many verifications looked at a tree that one before had looked at.
///
/// A tree is looked at again only when the look before decided nothing; what was verified or refuted moves on.
#[must_use]
pub fn repeated_checks(item: &Item) -> u32 {
    let (mut repeated, mut undecided) = (0_u32, false);
    for attempt in &item.attempts {
        if attempt.kind != AttemptKind::Verify {
            undecided = false;
        } else if attempt.leased.is_some() {
            repeated = repeated.saturating_add(u32::from(undecided));
            let vain = matches!(&attempt.outcome, Some(Outcome::InVain(ending, _))
                if *ending != Ending::Unclaimed);
            undecided = vain;
        }
    }
    repeated
}

#[cfg(test)]
mod tests;
