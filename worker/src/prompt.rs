//! The prompt: the contract as markdown, and on a repair the defect with the diff of the refuted work.
//!
//! A repair sees the contract, the diff and the defect and nothing else (SPEC B13): no word of the producer.

use std::fmt::Write as _;

use cantus_proto::contract::Contract;
use cantus_proto::message::Defect;

/// What one attempt is told.
#[derive(Debug)]
pub(crate) struct Prompt<'a> {
    pub(crate) contract: &'a Contract,
    /// On a repair.
    pub(crate) defect: Option<(&'a Defect, &'a str)>,
}

/// Renders the prompt.
pub(crate) fn render(prompt: &Prompt<'_>) -> String {
    let Prompt { contract, defect } = prompt;
    let mut text = format!("# Goal\n\n{}\n", contract.goal);
    section(&mut text, "Deliverables", &contract.deliverables);
    criteria(&mut text, contract);
    section(&mut text, "What is not asked", &contract.non_goals);
    section(&mut text, "Files that may change", &contract.allowed_scope.paths);
    section(&mut text, "Tools that may be used", &contract.allowed_scope.tools);
    section(&mut text, "Forbidden actions", &contract.forbidden_actions);
    let budgets = &contract.budgets;
    let mut limits = vec![format!("{} minutes", budgets.wall_clock_minutes)];
    limits.extend(budgets.token_budget.map(|tokens| format!("{tokens} tokens")));
    limits.extend(budgets.cost_budget.map(|cost| cost.to_string()));
    add(&mut text, &format!("\n# Budget\n\n{}.\n", limits.join(", ")));
    if let Some((defect, diff)) = defect {
        repair(&mut text, defect, diff);
    }
    add(&mut text, HOW);
    text
}

/// The way back: the same for every attempt.
const HOW: &str = "
# How to hand in

Work in the current directory, a git repository. Commit, or leave files uncommitted: both are handed in when
your command ends. Write what you want to say as JSON lines into the directory $CANTUS_OUTBOX:

- `progress.jsonl`: `{\"text\": \"…\"}`, shown at once
- `claims.jsonl`: `{\"text\": \"…\", \"criterion\": \"AC-1\"}`; a claim counts only with evidence
- `findings.jsonl`, `learnings.jsonl`, `proposals.jsonl`: `{\"text\": \"…\"}`
- `usage.jsonl`: `{\"input_tokens\": 0, \"output_tokens\": 0, \"cost_usd\": 0.0}`; lines add up

The checkers run elsewhere, on the merged tree, and decide. The full contract is in $CANTUS_CONTRACT.
";

fn criteria(text: &mut String, contract: &Contract) {
    add(text, "\n# Acceptance criteria\n\n");
    for criterion in &contract.acceptance_criteria {
        add(
            text,
            &format!(
                "- **{}** {}\n\n{}",
                criterion.id,
                criterion.statement,
                fenced(&criterion.checker)
            ),
        );
    }
}

fn repair(text: &mut String, defect: &Defect, diff: &str) {
    add(text, &format!("\n# What was wrong with the attempt before\n\n{}\n\n", defect.summary));
    for finding in &defect.findings {
        add(text, &format!("- {}\n", finding.replace('\n', "\n  ")));
    }
    if let Some(work) = &defect.work {
        add(
            text,
            &format!(
                "\nYour workspace starts from the current target without that work. The refuted commits are in \
                 the repository as `refs/cantus/defect` ({}, from {}).\n\n{}",
                work.head,
                work.base,
                fenced(diff)
            ),
        );
    }
}

fn section(text: &mut String, title: &str, entries: &[String]) {
    if entries.is_empty() {
        return;
    }
    add(text, &format!("\n# {title}\n\n"));
    for entry in entries {
        add(text, &format!("- {entry}\n"));
    }
}

/// A code block whose fence is longer than any in its text, so that the text cannot end it.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

fn add(text: &mut String, part: &str) {
    text.write_str(part).expect("writing to a string does not fail");
}

#[cfg(test)]
mod tests {
    use cantus_proto::ids::{Blob, CommitId, Digest};
    use cantus_proto::message::{Commits, Defect};

    use super::{Prompt, fenced, render};
    use crate::testing::contract;

    #[test]
    fn the_prompt_has_everything_of_the_contract() {
        let contract = contract();
        let text = render(&Prompt { contract: &contract, defect: None });
        for part in [
            "# Goal\n\nSay \"hello\"",
            "src/hello.txt the greeting",
            "**AC-1** it greets",
            "grep -q hello src/hello.txt",
            "- src/",
            "network_egress",
            "5 minutes, 1000 tokens",
            "$CANTUS_OUTBOX",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("What was wrong"));
        assert!(!text.contains("What is not asked"));
    }

    #[test]
    fn a_repair_has_the_findings_and_the_diff() {
        let contract = contract();
        let blob = Blob { sha256: Digest::of(b"x"), size_bytes: 1 };
        let id = |c: &str| CommitId::new(c.repeat(40)).unwrap();
        let defect = Defect {
            summary: "AC-1 failed".to_owned(),
            findings: vec!["exit code 1\nsecond line".to_owned()],
            work: Some(Commits { bundle: blob, base: id("a"), head: id("b") }),
        };
        let text = render(&Prompt { contract: &contract, defect: Some((&defect, "+bye\n")) });
        assert!(text.contains("AC-1 failed\n\n- exit code 1\n  second line\n"), "{text}");
        assert!(text.contains("```\n+bye\n```"), "{text}");
        assert!(text.contains("refs/cantus/defect"));
    }

    #[test]
    fn a_fence_cannot_be_closed_from_inside() {
        assert_eq!(fenced("a\n````\nb"), "`````\na\n````\nb\n`````\n");
    }
}
