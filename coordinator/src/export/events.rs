//! `traces/events.jsonl`: every record of the journal, with its fact as a name and in words.

use cantus_core::record::{Fact, ItemFact, Record};
use cantus_core::run::Run;
use serde_json::{Value, json};

use crate::cli::utc;
use crate::replay::words;

/// See the module.
pub(super) fn events(run: &Run, records: &[(u64, Record)]) -> Vec<Value> {
    let event = |(position, record): &(u64, Record)| {
        let (item, text) = words::told(run, &record.fact);
        let (fact, attempt) = name(&record.fact);
        json!({
            "position": position,
            "at": utc(record.at.0),
            "at_ms": record.at.0,
            "run": record.run.as_str(),
            "item": item,
            "attempt": attempt,
            "fact": fact,
            "text": text,
        })
    };
    records.iter().map(event).collect()
}

/// What the fact is called, and which attempt it is about, if it is about one.
fn name(fact: &Fact) -> (&'static str, Option<u32>) {
    let fact = match fact {
        Fact::Submitted(_) => return ("submitted", None),
        Fact::RunCancelled => return ("run-cancelled", None),
        Fact::RunWarned(_) => return ("run-warned", None),
        Fact::Item(_, fact) => fact,
    };
    let (name, number) = match fact {
        ItemFact::Queued(number, ..) => ("queued", Some(number)),
        ItemFact::Leased(number, _) => ("leased", Some(number)),
        ItemFact::Ended(number, ..) => ("ended", Some(number)),
        ItemFact::Delivered(number, _) => ("delivered", Some(number)),
        ItemFact::Gated => ("gated", None),
        ItemFact::MergeBegan => ("merge-began", None),
        ItemFact::Merged(_) => ("merged", None),
        ItemFact::Verified(number, _) => ("verified", Some(number)),
        ItemFact::Refuted(_) => ("refuted", None),
        ItemFact::HeadMoved(_) => ("head-moved", None),
        ItemFact::Landed(..) => ("landed", None),
        ItemFact::Recovered(_) => ("recovered", None),
        ItemFact::Reported => ("reported", None),
        ItemFact::Parked(_) => ("parked", None),
        ItemFact::Requeued => ("requeued", None),
        ItemFact::Cancelled => ("cancelled", None),
        ItemFact::Logged(number, _) => ("logged", Some(number)),
        ItemFact::Saved(number, ..) => ("saved", Some(number)),
        ItemFact::Settled(number, _) => ("settled", Some(number)),
        ItemFact::Demanded(number, _) => ("demanded", Some(number)),
        ItemFact::Proposed(number, ..) => ("proposed", Some(number)),
        ItemFact::Learned(number, _) => ("learned", Some(number)),
        ItemFact::LearningsChecked(number, _) => ("learnings-checked", Some(number)),
        ItemFact::Warned(_) => ("warned", None),
        ItemFact::Approved(number, _) => ("approved", Some(number)),
        ItemFact::Rechecked(_) => ("rechecked", None),
        ItemFact::Split(number, _) => ("split", Some(number)),
    };
    (name, number.map(|number| number.0))
}
