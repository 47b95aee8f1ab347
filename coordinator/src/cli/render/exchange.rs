//! What kernel, agent and people said about an attempt or an item: demands, wishes, findings of gates.

use cantus_proto::wire::v1::{AttemptView, DemandView, GateFinding, ItemView, ProposalView};

use super::amounts;
use crate::cli::paint::{Ink, Paint};
use crate::cli::{text, time};

/// Widest line of free text, in columns; `--json` has all.
const LINE_COLUMNS_MAX: usize = 400;
/// Entries shown of one list; `--json` has all.
const LIST_SHOWN_MAX: usize = 20;

/// The lines below an attempt's own.
pub(super) fn attempt(attempt: &AttemptView, paint: Paint) -> String {
    let given = attempt.dispatch.as_ref().map(|d| amounts::given(d, &attempt.kind));
    let spent = attempt.spent.as_ref().map(amounts::spent);
    let amounts: Vec<String> =
        [given, spent].into_iter().flatten().filter(|told| !told.is_empty()).collect();
    let mut shown = String::new();
    if !amounts.is_empty() {
        shown.push_str(&format!("     {}\n", paint.ink(Ink::Dim, &amounts.join("; "))));
    }
    for told in attempt.demands.iter().take(LIST_SHOWN_MAX) {
        shown.push_str(&demand(told, paint));
    }
    for told in attempt.proposals.iter().take(LIST_SHOWN_MAX) {
        shown.push_str(&proposal(told, paint));
    }
    let more = attempt.demands.len().saturating_sub(LIST_SHOWN_MAX)
        + attempt.proposals.len().saturating_sub(LIST_SHOWN_MAX);
    if more > 0 {
        shown.push_str(&format!("     … and {more} more; --json has all\n"));
    }
    if !attempt.learned.is_empty() {
        let learnings = text::count(attempt.learned.len(), "learning");
        shown.push_str(&format!("     found {learnings} for later attempts\n"));
    }
    if !attempt.learnings_checked.is_empty() {
        let applied = attempt.learnings_checked.iter().filter(|check| check.applied).count();
        let all = attempt.learnings_checked.len();
        shown.push_str(&format!("     learnings: applied {applied} of {all}\n"));
    }
    shown
}

fn demand(demand: &DemandView, paint: Paint) -> String {
    let what = format!("demand {}", text::cut(&demand.kind, 20));
    let said = text::cut(&demand.text, LINE_COLUMNS_MAX);
    let at = time::utc(demand.at_ms);
    format!("     {} at {at}: {said}\n", paint.ink(Ink::Warning, &what))
}

fn proposal(proposal: &ProposalView, paint: Paint) -> String {
    let ink = match proposal.decision.as_str() {
        "confirmed" => Ink::Good,
        "refused" => Ink::Bad,
        _ => Ink::Warning,
    };
    let mut said = text::cut(&proposal.kind, 20);
    if !proposal.parts.is_empty() {
        said.push_str(&format!(" into {}", proposal.parts.join(", ")));
    }
    if !proposal.text.is_empty() {
        said.push_str(&format!(", {}", proposal.text));
    }
    let said = text::cut(&said, LINE_COLUMNS_MAX);
    let decision = paint.ink(ink, &text::cut(&proposal.decision, 20));
    let why = match proposal.reason.as_str() {
        "" => String::new(),
        why => format!(", {}", text::cut(why, LINE_COLUMNS_MAX)),
    };
    format!("     proposes {said}: {decision}{why}\n")
}

/// What gates found, one line each, as `path:line: [rule] text`.
pub(in crate::cli) fn findings(findings: &[GateFinding]) -> String {
    let mut shown = String::new();
    for finding in findings.iter().take(LIST_SHOWN_MAX) {
        let path = text::cut(&String::from_utf8_lossy(&finding.path), LINE_COLUMNS_MAX);
        let line = if finding.line == 0 { String::new() } else { format!(":{}", finding.line) };
        let (rule, said) =
            (text::cut(&finding.rule, 40), text::cut(&finding.text, LINE_COLUMNS_MAX));
        shown.push_str(&format!("  {path}{line}: [{rule}] {said}\n"));
    }
    if findings.len() > LIST_SHOWN_MAX {
        let more = findings.len() - LIST_SHOWN_MAX;
        shown.push_str(&format!("  … and {more} more; --json has all\n"));
    }
    shown
}

/// What people and budgets said about an item, one line each.
pub(super) fn remarks(view: &ItemView, paint: Paint) -> String {
    let mut shown = String::new();
    for approval in &view.approvals {
        let by = text::cut(&approval.by, LINE_COLUMNS_MAX);
        let told = format!("let through: findings in attempt {}, by {by}", approval.attempt);
        shown.push_str(&(paint.ink(Ink::Warning, &told) + "\n"));
    }
    for hypothesis in &view.hypotheses {
        let said = text::cut(&hypothesis.text, LINE_COLUMNS_MAX);
        shown.push_str(&format!("checked again: attempt {}, {said}\n", hypothesis.attempt));
    }
    if let Some(learnings) = &view.learnings {
        let unchecked = learnings.told.saturating_sub(learnings.checked);
        let without = match unchecked {
            0 => String::new(),
            unchecked => format!(", {unchecked} without a check"),
        };
        let (applied, checked) = (learnings.applied, learnings.checked);
        shown.push_str(&format!("learnings: applied {applied} of {checked}{without}\n"));
    }
    shown + &amounts::warnings(&view.warnings, paint)
}

/// What the gates found in the newest result, and the way out.
pub(super) fn out_of_scope(view: &ItemView, paint: Paint) -> String {
    if view.out_of_scope_findings.is_empty() {
        return String::new();
    }
    let title = "out of scope: what the gates found in the newest result";
    let mut shown = format!("\n{}\n", paint.ink(Ink::Strong, title));
    shown.push_str(&findings(&view.out_of_scope_findings));
    if view.kept_out {
        let item = view.summary.as_ref().map(|summary| summary.id.as_str()).unwrap_or_default();
        let (run, item) = (text::shell_word(&view.run), text::shell_word(item));
        shown.push_str(&format!(
            "  it is kept out; let it through with: cantus approve {run} {item}\n"
        ));
    }
    shown
}

#[cfg(test)]
mod tests {
    use cantus_proto::wire::v1::{
        ApprovalView, HypothesisView, ItemSummary, LearningCheck, LearningsView,
    };

    use super::*;

    #[test]
    fn what_was_said_is_told_with_its_decision() {
        let view = AttemptView {
            demands: vec![DemandView {
                at_ms: 1_796_062_283_000,
                kind: "first-artifact".to_owned(),
                text: "commit something\nnow".to_owned(),
                ..Default::default()
            }],
            proposals: vec![
                ProposalView {
                    kind: "split".to_owned(),
                    text: "too much".to_owned(),
                    decision: "refused".to_owned(),
                    reason: "part a needs itself".to_owned(),
                    parts: vec!["a".to_owned(), "b\u{1b}".to_owned()],
                },
                ProposalView {
                    kind: "done".to_owned(),
                    decision: "confirmed".to_owned(),
                    ..Default::default()
                },
            ],
            learned: vec!["l1".to_owned()],
            learnings_checked: vec![
                LearningCheck { id: "l1".to_owned(), applied: true },
                LearningCheck { id: "l2".to_owned(), applied: false },
            ],
            ..Default::default()
        };
        assert_eq!(
            attempt(&view, Paint::NEVER),
            "     demand first-artifact at 2026-11-30T18:11:23Z: commit something\\nnow\n     \
                  proposes split into a, b\\u{1b}, too much: refused, part a needs itself\n     \
                  proposes done: confirmed\n     \
                  found 1 learning for later attempts\n     \
                  learnings: applied 1 of 2\n"
        );
        assert_eq!(attempt(&AttemptView::default(), Paint::NEVER), "");
    }

    #[test]
    fn findings_have_file_and_line_and_the_way_out() {
        let finding = |line| GateFinding {
            rule: "test-skipped".to_owned(),
            path: b"tests/caf\xe9.rs".to_vec(),
            line,
            text: "is skipped".to_owned(),
        };
        let mut view = ItemView {
            summary: Some(ItemSummary { id: "a b".to_owned(), ..Default::default() }),
            run: "nightly".to_owned(),
            out_of_scope_findings: vec![finding(7), finding(0)],
            kept_out: true,
            ..Default::default()
        };
        let found = "\nout of scope: what the gates found in the newest result\n  \
             tests/caf\u{fffd}.rs:7: [test-skipped] is skipped\n  \
             tests/caf\u{fffd}.rs: [test-skipped] is skipped\n";
        assert_eq!(
            out_of_scope(&view, Paint::NEVER),
            format!("{found}  it is kept out; let it through with: cantus approve nightly 'a b'\n")
        );
        view.kept_out = false;
        view.approvals = vec![ApprovalView { attempt: 1, by: "kim".to_owned() }];
        view.hypotheses = vec![HypothesisView { attempt: 1, text: "the disk was full".to_owned() }];
        view.learnings = Some(LearningsView { told: 3, checked: 2, applied: 2 });
        assert_eq!(out_of_scope(&view, Paint::NEVER), found);
        assert_eq!(
            remarks(&view, Paint::NEVER),
            "let through: findings in attempt 1, by kim\n\
             checked again: attempt 1, the disk was full\n\
             learnings: applied 2 of 2, 1 without a check\n"
        );
        assert!(findings(&vec![finding(1); 30]).ends_with("  … and 10 more; --json has all\n"));
    }
}
