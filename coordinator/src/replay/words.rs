//! The facts of a history in words, one line each.

use cantus_core::event::ItemIndex;
use cantus_core::record::{Decision, Ending, Fact, ItemFact, Refuter, Resource, Warning};
use cantus_core::run::Run;
use cantus_proto::units::MicroUsd;

use crate::view::{demand_kind, kind, proposal_words};

/// The id of the item that a fact is about, and what became of it; no id for facts about the whole run.
#[must_use]
pub fn told<'run>(run: &'run Run, fact: &Fact) -> (Option<&'run str>, String) {
    match fact {
        Fact::Submitted(submission) => {
            (None, format!("submitted with {} items", submission.plan.items.len()))
        }
        Fact::RunCancelled => (None, "cancelled by a person".to_owned()),
        Fact::RunWarned(warning) => (None, warned(*warning)),
        Fact::Item(place, fact) => (name(run, *place), item_fact(fact)),
    }
}

fn name(run: &Run, place: ItemIndex) -> Option<&str> {
    run.items.get(place.0 as usize).map(|item| item.id.as_str())
}

fn item_fact(fact: &ItemFact) -> String {
    match fact {
        ItemFact::Queued(number, what, _) => format!("attempt {number} ({}) queued", kind(*what)),
        ItemFact::Leased(number, holder) => {
            let (container, host) = (&holder.leased.container, &holder.leased.host);
            format!("attempt {number} leased by {container} on {host}")
        }
        ItemFact::Ended(number, ending, why) => {
            format!("attempt {number} {}: {why}", ended(*ending))
        }
        ItemFact::Delivered(number, _) => format!("attempt {number} handed in"),
        ItemFact::Gated => "the gates let it through".to_owned(),
        ItemFact::MergeBegan => "its merge onto the head began".to_owned(),
        ItemFact::Merged(candidate) => {
            format!(
                "merged onto {}: tree {}",
                short(candidate.base.as_str()),
                short(candidate.tree.as_str())
            )
        }
        ItemFact::Verified(number, envelopes) => {
            format!("verified by attempt {number}, with evidence for {} criteria", envelopes.len())
        }
        ItemFact::Refuted(refutation) => {
            let by = match &refutation.by {
                Refuter::Inspection => "not taken in".to_owned(),
                Refuter::Gate => "kept out by a gate".to_owned(),
                Refuter::Merge(onto) => format!("in conflict with {}", short(onto.as_str())),
                Refuter::Verdict(number) => format!("refuted by attempt {number}"),
            };
            format!("{by}: {}", refutation.defect.summary)
        }
        ItemFact::HeadMoved(head) => {
            format!("the head moved to {} before it", short(head.as_str()))
        }
        ItemFact::Landed(commit, _) => format!("landed as {}", short(commit.as_str())),
        ItemFact::Recovered(landed) => {
            format!("recovered: the target contains it as {}", landed.commit)
        }
        ItemFact::Reported => "reported".to_owned(),
        ItemFact::Parked(why) => format!("parked: {why}"),
        ItemFact::Requeued => "put back by a person".to_owned(),
        ItemFact::Cancelled => "cancelled by a person".to_owned(),
        ItemFact::Logged(number, log) => {
            format!("attempt {number}: log of {} bytes", log.size_bytes)
        }
        ItemFact::Saved(number, _, why) => format!("work of attempt {number} kept: {why}"),
        ItemFact::Approved(number, by) => {
            format!("findings of attempt {number} let through by {by}")
        }
        ItemFact::Rechecked(hypothesis) => format!("to be checked again: {hypothesis}"),
        other => remark(other),
    }
}

/// What changes no state.
fn remark(fact: &ItemFact) -> String {
    match fact {
        ItemFact::Settled(number, spent) => {
            let tokens = spent.tokens.map_or("unknown".to_owned(), |tokens| tokens.to_string());
            let cost = spent.cost.map_or("an unknown price".to_owned(), |cost| cost.to_string());
            let estimated = if spent.estimated { " (estimated)" } else { "" };
            format!("attempt {number} cost {tokens} tokens, {cost}{estimated}")
        }
        ItemFact::Demanded(number, demand) => {
            format!("demand on attempt {number}, {}: {}", demand_kind(demand.kind), demand.text)
        }
        ItemFact::Proposed(number, proposal, decision) => {
            let decision = match decision {
                Decision::Pending => "pending".to_owned(),
                Decision::Confirmed => "confirmed".to_owned(),
                Decision::Refused(why) => format!("refused, {why}"),
            };
            match proposal_words(proposal) {
                (kind, "") => format!("attempt {number} proposes {kind}: {decision}"),
                (kind, text) => format!("attempt {number} proposes {kind} ({text}): {decision}"),
            }
        }
        ItemFact::Learned(number, learning) => {
            format!("attempt {number} learned: {}", learning.rule)
        }
        ItemFact::LearningsChecked(number, checks) => {
            let applied = checks.iter().filter(|check| check.applied).count();
            format!("attempt {number} finds {applied} of {} learnings applied", checks.len())
        }
        ItemFact::Warned(warning) => warned(*warning),
        ItemFact::Split(number, parts) => {
            let parts: Vec<&str> = parts.iter().map(|part| part.id.as_str()).collect();
            format!("split by attempt {number} into {}", parts.join(", "))
        }
        other => unreachable!("{other:?} has its words elsewhere"),
    }
}

fn ended(ending: Ending) -> &'static str {
    match ending {
        Ending::Lost => "was lost",
        Ending::Failed(_) => "failed",
        Ending::Inconclusive => "decided nothing",
        Ending::Unclaimed => "was not taken",
        Ending::OverBudget => "was over its budget",
        Ending::Stalled => "stalled",
        Ending::Unmeasured => "was not measured",
    }
}

fn warned(warning: Warning) -> String {
    let (spent, budget) = (warning.spent, warning.budget);
    match warning.resource {
        Resource::WallClock => {
            format!("warning: {} s of {} s are over", spent / 1_000, budget / 1_000)
        }
        Resource::Tokens => format!("warning: {spent} of {budget} tokens are spent"),
        Resource::Cost => {
            format!("warning: {} of {} are spent", MicroUsd(spent), MicroUsd(budget))
        }
    }
}

fn short(hex: &str) -> &str {
    hex.get(..12).unwrap_or(hex)
}
