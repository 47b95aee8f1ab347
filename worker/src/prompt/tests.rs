//! What a prompt says, in which order, and what it must not say.

use cantus_proto::ids::{Blob, CommitId, Digest, LearningId};
use cantus_proto::message::{Attempt, Commits, Defect, Learning};
use cantus_proto::units::MicroUsd;

use super::{Feedback, Prompt, fenced, render};
use crate::testing::attempt;

fn plain(attempt: &Attempt) -> String {
    render(&Prompt { attempt, defect: None, checks: &[], feedback: None })
}

fn learning(rule: &str) -> Learning {
    Learning {
        id: LearningId::of(rule),
        context: "in src".to_owned(),
        discovery: String::new(),
        rule: rule.to_owned(),
        check: None,
    }
}

#[test]
fn the_prompt_has_everything_of_the_contract() {
    let text = plain(&attempt());
    for part in [
        "# Goal\n\nSay \"hello\"",
        "src/hello.txt the greeting",
        "**AC-1** it greets",
        "grep -q hello src/hello.txt",
        "- src/",
        "network_egress",
        "5 minutes, 1000 tokens",
        "$CANTUS_OUTBOX",
        "$CANTUS_DEMANDS",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for part in [
        "What was wrong",
        "What is not asked",
        "learned",
        "checks failed",
        "may use",
        "$CANTUS_CHECK",
    ] {
        assert!(!text.contains(part), "{part}: {text}");
    }
}

#[test]
fn what_went_before_comes_first_and_the_attempts_own_limits_are_told() {
    let mut attempt = attempt();
    attempt.preamble = Some("Two attempts went in circles.".to_owned());
    attempt.limits.tokens_max = Some(700);
    attempt.limits.cost_max = Some(MicroUsd(1_500_000));
    let text = plain(&attempt);
    assert!(text.starts_with("# What went before\n\nTwo attempts went in circles.\n\n# Goal"));
    assert!(text.contains("This attempt may use 700 tokens and $1.50;"), "{text}");
}

#[test]
fn learnings_are_told_within_their_room_and_the_rest_is_counted() {
    let mut attempt = attempt();
    attempt.learnings = vec![learning("run make\nfirst"), learning("second")];
    let text = plain(&attempt);
    assert!(
        text.contains("- Rule: run make\n  first\n  Context: in src\n- Rule: second\n"),
        "{text}"
    );
    assert!(!text.contains("left out"));
    attempt.learnings = (0..20).map(|n| learning(&format!("{n}{}", "x".repeat(1000)))).collect();
    let text = plain(&attempt);
    // Each has 1028 bytes.
    assert!(text.contains("- Rule: 14x") && !text.contains("- Rule: 15x"));
    assert!(text.contains("\n5 more were left out.\n"));
}

#[test]
fn a_later_round_says_what_failed() {
    let attempt = attempt();
    let feedback =
        Feedback { round: 2, rounds: 3, failed: vec!["lint exited with code 1".to_owned()] };
    let prompt = Prompt { attempt: &attempt, defect: None, checks: &[], feedback: Some(&feedback) };
    let text = render(&prompt);
    assert!(text.starts_with("# The project's checks failed (round 2 of 3)"), "{text}");
    assert!(text.contains("$CANTUS_FEEDBACK:\n\n- lint exited with code 1\n"), "{text}");
}

#[test]
fn the_projects_checks_are_told() {
    let attempt = attempt();
    let checks = cantus_runner::checks::parse(b"version: 1\nlint: make lint\n").unwrap();
    let prompt = Prompt { attempt: &attempt, defect: None, checks: &checks, feedback: None };
    let text = render(&prompt);
    assert!(text.contains("$CANTUS_CHECK") && text.contains("- lint\n\n```\nmake lint\n```\n"));
}

#[test]
fn a_repair_has_the_findings_and_the_diff() {
    let attempt = attempt();
    let blob = Blob { sha256: Digest::of(b"x"), size_bytes: 1 };
    let id = |c: &str| CommitId::new(c.repeat(40)).unwrap();
    let defect = Defect {
        summary: "AC-1 failed".to_owned(),
        findings: vec!["exit code 1\nsecond line".to_owned()],
        work: Some(Commits { bundle: blob, base: id("a"), head: id("b") }),
    };
    let defect = Some((&defect, "+bye\n"));
    let text = render(&Prompt { attempt: &attempt, defect, checks: &[], feedback: None });
    assert!(text.contains("AC-1 failed\n\n- exit code 1\n  second line\n"), "{text}");
    assert!(text.contains("```\n+bye\n```"), "{text}");
    assert!(text.contains("refs/cantus/defect"));
}

#[test]
fn a_fence_cannot_be_closed_from_inside() {
    assert_eq!(fenced("a\n````\nb"), "`````\na\n````\nb\n`````\n");
}
