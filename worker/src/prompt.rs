//! The prompt: what went before, the contract as markdown, what earlier attempts learned, and how to hand in.
//!
//! A repair sees the contract, the diff, the defect and the learnings and nothing else (SPEC B13): no word of the
//! producer.

use std::fmt::Write as _;

use cantus_proto::contract::Contract;
use cantus_proto::message::{Attempt, Defect, Learning};
use cantus_runner::checks::Check;

/// Most of all learnings in a prompt, in bytes: they must not crowd out the contract.
const LEARNINGS_BYTES_MAX: usize = 16 * 1024;

/// What one attempt is told.
#[derive(Debug)]
pub(crate) struct Prompt<'a> {
    pub(crate) attempt: &'a Attempt,
    /// On a repair; with the diff of the refuted work.
    pub(crate) defect: Option<(&'a Defect, &'a str)>,
    /// The project's.
    pub(crate) checks: &'a [Check],
    /// When it is not the first round.
    pub(crate) feedback: Option<&'a Feedback>,
}

/// What failed in the round before.
#[derive(Debug)]
pub(crate) struct Feedback {
    /// This one.
    pub(crate) round: u32,
    /// At most.
    pub(crate) rounds: u32,
    /// In one line each.
    pub(crate) failed: Vec<String>,
}

/// Renders the prompt.
pub(crate) fn render(prompt: &Prompt<'_>) -> String {
    let Prompt { attempt, defect, checks, feedback } = prompt;
    let contract = &attempt.contract;
    let mut text = String::new();
    if let Some(preamble) = &attempt.preamble {
        add(&mut text, &format!("# What went before\n\n{}\n\n", preamble.trim()));
    }
    if let Some(feedback) = feedback {
        again(&mut text, feedback);
    }
    add(&mut text, &format!("# Goal\n\n{}\n", contract.goal));
    section(&mut text, "Deliverables", &contract.deliverables);
    criteria(&mut text, contract);
    section(&mut text, "What is not asked", &contract.non_goals);
    section(&mut text, "Files that may change", &contract.allowed_scope.paths);
    section(&mut text, "Tools that may be used", &contract.allowed_scope.tools);
    section(&mut text, "Forbidden actions", &contract.forbidden_actions);
    budget(&mut text, attempt);
    if let Some((defect, diff)) = defect {
        repair(&mut text, defect, diff);
    }
    learnings(&mut text, &attempt.learnings);
    project(&mut text, checks);
    add(&mut text, HOW);
    text
}

/// The way back: the same for every attempt.
const HOW: &str = r#"
# How to hand in

Work in the current directory, a git repository. Commit, or leave files uncommitted: both are handed in when
your command ends. While you work, more may be demanded of you: read the file $CANTUS_DEMANDS now and then; each of its
lines is `{"text": "…"}`, and what it says holds. Write what you want to say as JSON lines into the directory
$CANTUS_OUTBOX:

- `progress.jsonl`: `{"text": "…", "score": 0.5, "blocker": "…", "next": "…", "iteration": 1}`, each part optional; shown
  at once
- `claims.jsonl`: `{"text": "…", "criterion": "AC-1", "kind": "observation", "receipt": "…"}`; `kind` is `observation`,
  `inference`, `hypothesis` or `inaccessible`, `receipt` the sha256 of the standard output it rests on; a claim counts
  only with evidence
- `learnings.jsonl`: `{"context": "…", "discovery": "…", "rule": "…", "check": "…"}`: what later attempts should know;
  `check` is a shell command that exits with 0 where the rule was applied
- `proposals.jsonl`: `{"propose": "done"}` when the contract is fulfilled; `{"propose": "partial", "reason": "…"}` when
  it is not; `{"propose": "diagnosis", "reason": "…", "decision": "RETRY"}` when it cannot be as things are; `decision` is
  `RETRY`, `SPLIT`, `ESCALATE` or `SKIP`, and `SPLIT` has `"split_into": [{"id": "…", "goal": "…", "deliverables": [],
  "criteria": ["AC-1"], "paths": [], "needs": []}]`
- `findings.jsonl`: `{"text": "…"}`
- `usage.jsonl`: `{"input_tokens": 0, "output_tokens": 0, "cost_usd": 0.0, "model": "…"}`; lines add up; leave
  `cost_usd` out when you do not know the price

The checkers run elsewhere, on the merged tree, and decide. The full contract is in $CANTUS_CONTRACT.
"#;

fn again(text: &mut String, feedback: &Feedback) {
    let Feedback { round, rounds, failed } = feedback;
    add(
        text,
        &format!(
            "# The project's checks failed (round {round} of {rounds})\n\nThe workspace is as you left it. Mend \
             what failed; the output is in the file $CANTUS_FEEDBACK:\n\n"
        ),
    );
    for what in failed {
        add(text, &format!("- {what}\n"));
    }
    add(text, "\n");
}

fn budget(text: &mut String, attempt: &Attempt) {
    let budgets = &attempt.contract.budgets;
    let mut limits = vec![format!("{} minutes", budgets.wall_clock_minutes)];
    limits.extend(budgets.token_budget.map(|tokens| format!("{tokens} tokens")));
    limits.extend(budgets.cost_budget.map(|cost| cost.to_string()));
    add(text, &format!("\n# Budget\n\n{}.\n", limits.join(", ")));
    let mut own = Vec::new();
    own.extend(attempt.limits.tokens_max.map(|tokens| format!("{tokens} tokens")));
    own.extend(attempt.limits.cost_max.map(|cost| cost.to_string()));
    if !own.is_empty() {
        add(text, &format!("\nThis attempt may use {}; it is ended there.\n", own.join(" and ")));
    }
}

fn learnings(text: &mut String, learnings: &[Learning]) {
    if learnings.is_empty() {
        return;
    }
    add(text, "\n# What earlier attempts learned\n\nApply each rule where its context fits.\n\n");
    let mut left = LEARNINGS_BYTES_MAX;
    for (at, learning) in learnings.iter().enumerate() {
        let entry = entry(learning);
        match left.checked_sub(entry.len()) {
            Some(rest) => left = rest,
            None => {
                add(text, &format!("\n{} more were left out.\n", learnings.len() - at));
                return;
            }
        }
        add(text, &entry);
    }
}

fn entry(learning: &Learning) -> String {
    let indented = |text: &str| text.replace('\n', "\n  ");
    let mut entry = format!("- Rule: {}\n", indented(&learning.rule));
    for (name, part) in [("Context", &learning.context), ("Discovery", &learning.discovery)] {
        if !part.is_empty() {
            entry.push_str(&format!("  {name}: {}\n", indented(part)));
        }
    }
    entry
}

fn project(text: &mut String, checks: &[Check]) {
    if checks.is_empty() {
        return;
    }
    add(
        text,
        "\n# The project's checks\n\nThey run here when your command ends, and what fails comes back to you. Type check \
         and lint also run before each commit, which must add no skipped tests and no TODO or FIXME; run `\"$CANTUS_CHECK\"` \
         to have them at any time. They say nothing when all is well.\n\n",
    );
    for check in checks {
        add(text, &format!("- {}\n\n{}", check.name, fenced(&check.command)));
    }
}

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
pub(crate) fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}\n", text.trim_end_matches('\n'))
}

fn add(text: &mut String, part: &str) {
    text.write_str(part).expect("writing to a string does not fail");
}

#[cfg(test)]
mod tests;
