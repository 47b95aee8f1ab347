//! What people decide about results: that a gate's findings are let through, and that a check runs once more.
//!
//! Neither is a verdict. What is let through is merged, verified and landed like any other result, and the outcome
//! is told as assisted; what is checked again is checked by the same checkers (SPEC B5, B6).

use cantus_proto::ids::{AttemptNumber, ItemId, RunId};

use crate::event::ItemIndex;
use crate::item::{Item, State};
use crate::record::ItemFact;
use crate::{Core, Step, verification_budget};

/// Longest name of a person in bytes: it stands in one line with the item's.
const NAME_BYTES_MAX: usize = 200;

impl Core {
    /// A person lets through what the gates kept out of the newest result.
    pub(crate) fn approve(&mut self, step: &mut Step, run: &RunId, id: &ItemId, by: String) {
        let found = self.named(run, id).and_then(|(place, item)| {
            said("the name of who approves", &by, NAME_BYTES_MAX)?;
            Ok((place, approvable(run, item)?))
        });
        match found {
            Ok((place, number)) => {
                self.withdraw(step, run, place);
                self.close_account(step, run, place);
                self.commit_item(step, run, place, ItemFact::Approved(number, by));
            }
            Err(why) => step.refused.push(why),
        }
    }

    /// A person has the present result checked again, for a reason that the earlier checks could not tell.
    pub(crate) fn recheck(&mut self, step: &mut Step, run: &RunId, id: &ItemId, hypothesis: &str) {
        let found = self.named(run, id).and_then(|(place, item)| {
            checkable(run, item)?;
            let earlier = verification_budget::hypotheses(item);
            let kept = verification_budget::hypothesis(hypothesis, earlier);
            Ok((place, kept.map_err(|unfit| unfit.to_string())?))
        });
        match found {
            Ok((place, hypothesis)) => {
                self.commit_item(step, run, place, ItemFact::Rechecked(hypothesis));
            }
            Err(why) => step.refused.push(why),
        }
    }

    fn named(&self, run: &RunId, id: &ItemId) -> Result<(ItemIndex, &Item), String> {
        let found = self.runs.get(run).and_then(|run| {
            let place = *run.by_id.get(id)?;
            Some((place, run.item(place)))
        });
        found.ok_or_else(|| format!("there is no item {id} in a run {run}"))
    }
}

/// The attempt whose findings a person may let through.
fn approvable(run: &RunId, item: &Item) -> Result<AttemptNumber, String> {
    let (id, state) = (&item.id, item.state.name());
    let Some(number) = item.kept_out() else {
        let last = item.work().and_then(|(number, _)| Some((number, item.approval(number)?)));
        return Err(match last {
            Some((number, by)) => {
                format!(
                    "attempt {number} of item {id} of run {run} was let through by {by} already"
                )
            }
            None => format!(
                "no gate keeps the newest result of item {id} of run {run} out; there is nothing to let through"
            ),
        });
    };
    if matches!(item.state, State::Ready | State::Queued | State::Working | State::Parked(_)) {
        return Ok(number);
    }
    Err(format!("item {id} of run {run} is {state}: nothing is let through now"))
}

/// Whether the present result waits for a person because its verifications decided nothing.
fn checkable(run: &RunId, item: &Item) -> Result<(), String> {
    let id = &item.id;
    if !matches!(item.state, State::Parked(_)) {
        let state = item.state.name();
        return Err(format!(
            "item {id} of run {run} is {state}; only what is parked is checked again"
        ));
    }
    if item.work().is_none() || !item.ended_undecided() {
        return Err(format!(
            "item {id} of run {run} is parked for another reason than checks that decided nothing: put it back with \
             requeue"
        ));
    }
    Ok(())
}

/// Something that a person says: not empty, on one line or more, and short.
fn said(what: &str, text: &str, bytes_max: usize) -> Result<(), String> {
    match text.trim() {
        "" => Err(format!("{what} is empty")),
        _ if text.len() > bytes_max => {
            Err(format!("{what} has {} bytes, {bytes_max} are allowed", text.len()))
        }
        _ => Ok(()),
    }
}
