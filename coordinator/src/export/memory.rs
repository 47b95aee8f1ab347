//! `memory/`: what the project learned, decided and failed at (SPEC B16).

use cantus_core::record::{Decision, Fact, ItemFact, Record};
use cantus_core::report::{Cause, Report};
use cantus_core::run::Run;
use cantus_proto::ids::LearningId;
use cantus_proto::message::{Learning, Proposal, Remedy};

use super::Tree;
use crate::cli::utc;
use crate::report::markdown::escape;

/// Words by which a learning is about testing; all others are about how the project is built.
const TESTING: [&str; 14] = [
    "test", "tests", "testing", "check", "checks", "checker", "lint", "coverage", "fixture",
    "fixtures", "mock", "pytest", "assert", "ci",
];

/// See the module.
pub(super) fn write(tree: &mut Tree, run: &Run, records: &[(u64, Record)], report: &Report) {
    let learned = learned(records);
    let (testing, architecture): (Vec<&Learning>, Vec<&Learning>) =
        learned.iter().partition(|learning| is_about_testing(learning));
    tree.text("memory/architecture.md", learnings("Architecture", &architecture));
    tree.text("memory/testing.md", learnings("Testing", &testing));
    tree.text("memory/decisions.md", decisions(run, records));
    tree.text("memory/known_failures.md", failures(run, report));
}

/// Each learning once, in the order in which they were told.
fn learned(records: &[(u64, Record)]) -> Vec<Learning> {
    let mut seen: std::collections::BTreeSet<&LearningId> = std::collections::BTreeSet::new();
    let learned = records.iter().filter_map(|(_, record)| match &record.fact {
        Fact::Item(_, ItemFact::Learned(_, learning)) => Some(&**learning),
        _ => None,
    });
    learned.filter(|learning| seen.insert(&learning.id)).cloned().collect()
}

fn is_about_testing(learning: &Learning) -> bool {
    let text = format!("{} {}", learning.context, learning.rule).to_lowercase();
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    words.any(|word| TESTING.contains(&word))
}

fn learnings(title: &str, learnings: &[&Learning]) -> String {
    let mut page = format!("# {title}\n\nWhat agents found out, as rules for later attempts.\n");
    for learning in learnings {
        let Learning { context, discovery, rule, check, .. } = learning;
        page.push_str(&format!(
            "\n## {}\n\n- Where: {}\n- Discovery: {}\n",
            escape(rule),
            escape(context),
            escape(discovery)
        ));
        if let Some(check) = check {
            page.push_str(&format!("- Check: {}\n", escape(check)));
        }
    }
    if learnings.is_empty() {
        page.push_str("\nNothing yet.\n");
    }
    page
}

/// What people and the kernel decided beyond the ordinary.
fn decisions(run: &Run, records: &[(u64, Record)]) -> String {
    let mut page =
        "# Decisions\n\nWhat people and the kernel decided beyond the ordinary.\n\n".to_owned();
    let mut any = false;
    for (position, record) in records {
        let told = match &record.fact {
            Fact::RunCancelled => Some("the run was cancelled".to_owned()),
            Fact::Item(place, fact) => decision(fact)
                .map(|what| format!("{}: {what}", escape(run.item(*place).id.as_str()))),
            Fact::Submitted(_) | Fact::RunWarned(_) => None,
        };
        if let Some(told) = told {
            any = true;
            page.push_str(&format!("- {} (record {position}) {told}\n", utc(record.at.0)));
        }
    }
    if !any {
        page.push_str("Nothing yet.\n");
    }
    page
}

fn decision(fact: &ItemFact) -> Option<String> {
    Some(match fact {
        ItemFact::Approved(number, by) => {
            format!("{} let through what the gates found in attempt {number}", escape(by))
        }
        ItemFact::Rechecked(why) => format!("checked again: {}", escape(why)),
        ItemFact::Requeued => "put back by a person".to_owned(),
        ItemFact::Cancelled => "cancelled by a person".to_owned(),
        ItemFact::Split(number, parts) => {
            let ids: Vec<String> = parts.iter().map(|part| escape(part.id.as_str())).collect();
            format!("split after attempt {number} into {}", ids.join(", "))
        }
        ItemFact::Queued(number, _, dispatch) => {
            let breaker = dispatch.breaker?;
            let model = match dispatch.route.model.as_str() {
                "" => "the role's model".to_owned(),
                model => format!("model {}", escape(model)),
            };
            let effort = dispatch.route.effort.as_str();
            format!("attempt {number} goes to {model} with effort {effort} ({breaker:?})")
        }
        ItemFact::Proposed(number, proposal, Decision::Confirmed) => match &**proposal {
            Proposal::Diagnosis(diagnosis) => {
                let wish = match diagnosis.remedy {
                    Remedy::Retry => "another try",
                    Remedy::Split(_) => "a split",
                    Remedy::Escalate => "a stronger model",
                    Remedy::Skip => "a person",
                };
                format!("attempt {number} asked for {wish}: {}", escape(&diagnosis.reason))
            }
            Proposal::Note(_) | Proposal::Done | Proposal::Partial(_) => return None,
        },
        _ => return None,
    })
}

fn failures(run: &Run, report: &Report) -> String {
    let mut page = "# Known failures\n\nWhat failed, by who or what caused it.\n".to_owned();
    for cause in Cause::ALL {
        let caused: Vec<_> =
            report.failures.iter().filter(|failure| failure.cause == cause).collect();
        if caused.is_empty() {
            continue;
        }
        page.push_str(&format!("\n## {cause}\n\n"));
        for failure in caused {
            let item = escape(run.item(failure.item).id.as_str());
            let what = match failure.attempt {
                Some(number) => format!("attempt {number}"),
                None => "parked".to_owned(),
            };
            page.push_str(&format!("- {item}, {what}: {}\n", escape(&failure.reason)));
        }
    }
    if report.failures.is_empty() {
        page.push_str("\nNothing failed.\n");
    }
    page
}
