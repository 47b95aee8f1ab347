//! Amounts and outcomes in words.

use cantus_core::item::{Item, State};
use cantus_core::record::Resource;
use cantus_core::report::{Amount, Class, Report, Total};
use cantus_core::run::Run;
use cantus_proto::units::MicroUsd;

use crate::cli::time;

/// `12,345`.
pub(crate) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// So much of a resource, in its unit.
pub(crate) fn quantity(resource: Resource, amount: u64) -> String {
    match resource {
        Resource::WallClock => time::elapsed(amount),
        Resource::Tokens => number(amount),
        Resource::Cost => MicroUsd(amount).to_string(),
    }
}

/// The resource's name.
pub(crate) fn resource(resource: Resource) -> &'static str {
    match resource {
        Resource::WallClock => "time",
        Resource::Tokens => "tokens",
        Resource::Cost => "money",
    }
}

/// A sum; unknown is never shown as zero.
pub(crate) fn sum(resource: Resource, total: Total) -> String {
    match total {
        Total { sum: 0, unknown: 1.., .. } => "unknown".to_owned(),
        Total { sum, .. } => quantity(resource, sum),
    }
}

/// What of a sum is estimated, and how many attempts are in no sum; empty when all is measured.
pub(crate) fn doubts(resource: Resource, total: Total) -> String {
    let Total { estimated, unknown, .. } = total;
    let mut doubts = Vec::new();
    if estimated > 0 {
        doubts.push(format!("{} of it estimated", quantity(resource, estimated)));
    }
    if unknown > 0 {
        doubts.push(format!("{} unknown", crate::cli::text::count(unknown as usize, "attempt")));
    }
    doubts.join(", ")
}

/// A sum with its doubts.
pub(crate) fn total(resource: Resource, total: Total) -> String {
    if total.sum == 0 && total.unknown > 0 {
        let attempts = crate::cli::text::count(total.unknown as usize, "attempt");
        return format!("unknown ({attempts})");
    }
    let doubts = doubts(resource, total);
    let sum = sum(resource, total);
    if doubts.is_empty() { sum } else { format!("{sum} ({doubts})") }
}

/// What one attempt used; empty for nothing.
pub(crate) fn amount(resource: Resource, amount: Amount) -> String {
    match amount {
        Amount::Nothing => String::new(),
        Amount::Known(used) => quantity(resource, used),
        Amount::Estimated(used) => format!("about {}", quantity(resource, used)),
        Amount::Unknown => "unknown".to_owned(),
    }
}

/// What the run came to, in one sentence for somebody who has a minute.
pub(crate) fn verdict(run: &Run, report: &Report) -> String {
    let all = run.items.len();
    let landed = landed(run).count();
    let items = crate::cli::text::count(all, "item");
    match report.class {
        None => {
            format!("Still running: {} of {items} have ended, {landed} landed.", all - run.open)
        }
        Some(Class::AutonomousVerifiedSuccess) => format!(
            "All that was asked for is done: {items} landed, each proven on the exact tree that landed. \
             No person had to step in."
        ),
        Some(Class::AssistedVerifiedSuccess) => format!(
            "{landed} of {items} landed, each proven on the exact tree that landed. A person had a hand in it."
        ),
        Some(Class::UnverifiedSuccess) => {
            "It ended well, but nothing was verified: take its results as reports.".to_owned()
        }
        Some(Class::Failed) if landed == 0 => format!("Failed: nothing of {items} landed."),
        Some(Class::Failed) => {
            format!("Failed: {landed} of {items} landed and are proven; the rest needs a person.")
        }
        Some(Class::UnsafeInvalid) => {
            "Do not rely on this run: something landed that its own record does not account for."
                .to_owned()
        }
    }
}

/// The class as people say it.
pub(crate) fn class(class: Option<Class>) -> &'static str {
    match class {
        None => "running",
        Some(Class::AutonomousVerifiedSuccess) => "autonomous verified success",
        Some(Class::AssistedVerifiedSuccess) => "assisted verified success",
        Some(Class::UnverifiedSuccess) => "unverified success",
        Some(Class::Failed) => "failed",
        Some(Class::UnsafeInvalid) => "unsafe, invalid",
    }
}

/// Items that landed, in the order in which they did.
pub(crate) fn landed(run: &Run) -> impl Iterator<Item = &Item> {
    let mut landed: Vec<&Item> =
        run.items.iter().filter(|item| matches!(item.state, State::Landed(_))).collect();
    landed.sort_by_key(|item| item.since);
    landed.into_iter()
}

/// Why an item is where it is; empty when the state says all.
pub(crate) fn why(run: &Run, item: &Item) -> String {
    crate::view::summary(run, item).reason
}
