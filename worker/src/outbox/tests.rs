//! What agents write into an outbox, and what must not come of it.

use std::path::Path;

use cantus_proto::ids::{CriterionId, Digest, ItemId, LearningId};
use cantus_proto::limits::{OUTBOX_LINE_BYTES_MAX, OUTBOX_LINES_MAX};
use cantus_proto::message::{ClaimKind, Diagnosis, Learning, ModelTokens, Part, Proposal, Remedy};
use tempfile::TempDir;

use super::progress::Told;
use super::{Outbox, Progress, Said};

fn own() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn said(files: &[(&str, &str)]) -> Said {
    let directory = TempDir::new().unwrap();
    for (name, content) in files {
        std::fs::write(directory.path().join(name), content).unwrap();
    }
    Outbox::open(directory.path(), own()).unwrap().read()
}

#[test]
fn nothing_said_is_nothing_and_not_zero() {
    assert_eq!(said(&[]), Said::default());
}

#[test]
fn claims_keep_their_ids_and_criteria() {
    let lines = "{\"text\":\"a\",\"id\":\"x\",\"criterion\":\"AC-1\"}\n{\"text\":\"b\"}\n{\"text\":\"c\",\"id\":\"x\"}\n";
    let said = said(&[("claims.jsonl", lines)]);
    let ids: Vec<&str> = said.claims.iter().map(|claim| claim.id.as_str()).collect();
    assert_eq!(ids, ["x", "claim-2", "x-3"]);
    assert_eq!(said.claims[0].criterion.as_ref().unwrap().as_str(), "AC-1");
    assert_eq!(said.claims[1].criterion, None);
}

#[test]
fn unreadable_lines_become_findings() {
    let directory = TempDir::new().unwrap();
    std::fs::write(
        directory.path().join("findings.jsonl"),
        b"{\"text\":\"ok\"}\nnot json\n\xff\xfe\n{\"other\":1}",
    )
    .unwrap();
    std::fs::write(directory.path().join("claims.jsonl"), "{\"id\":\"x\"}\n").unwrap();
    let said = Outbox::open(directory.path(), own()).unwrap().read();
    assert_eq!(said.findings[0], "ok");
    assert_eq!(said.findings[1], "{\"other\":1}");
    let all = said.findings.join("\n");
    assert!(all.contains("unreadable line 2 of findings.jsonl"), "{all}");
    assert!(all.contains("unreadable line 3 of findings.jsonl"), "{all}");
    assert!(all.contains("claim 1 has no text"), "{all}");
}

#[test]
fn lines_and_bytes_are_bounded_and_the_cut_is_told() {
    let many: String =
        (0..OUTBOX_LINES_MAX + 5).map(|n| format!("{{\"rule\":\"x{n}\"}}\n")).collect();
    let long = format!("{{\"text\":\"{}\"}}\n", "y".repeat(16 * 1024));
    let line = format!("{{\"text\":\"{}\"}}\n", "y".repeat(OUTBOX_LINE_BYTES_MAX));
    let said =
        said(&[("learnings.jsonl", &many), ("proposals.jsonl", &long), ("findings.jsonl", &line)]);
    assert_eq!(said.learnings.len(), OUTBOX_LINES_MAX);
    let all = said.findings.join("\n");
    assert!(all.contains("learnings.jsonl has more than 200 lines"), "{all}");
    assert!(all.contains("unreadable line 1 of proposals.jsonl"), "{all}");
    assert!(all.contains("unreadable line 1 of findings.jsonl"), "{all}");
}

#[test]
fn everything_together_fits_a_report() {
    let line = format!("{{\"text\":\"{}\"}}\n", "z".repeat(OUTBOX_LINE_BYTES_MAX - 20));
    let full = line.repeat(OUTBOX_LINES_MAX);
    let said = said(&[
        ("claims.jsonl", &full),
        ("findings.jsonl", &full),
        ("learnings.jsonl", &full),
        ("proposals.jsonl", &full),
    ]);
    let bytes: usize = said.claims.iter().map(|claim| claim.text.len()).sum::<usize>()
        + said.findings.iter().map(String::len).sum::<usize>()
        + said.learnings.iter().map(|learning| learning.rule.len()).sum::<usize>();
    assert!(bytes < cantus_proto::limits::REPORT_BYTES_MAX * 2 / 3, "{bytes}");
    assert!(said.findings.last().unwrap().contains("lines were left out"));
}

#[test]
fn claims_say_what_they_rest_on() {
    let digest = "a".repeat(64);
    let lines = format!(
        "{{\"text\":\"a\",\"kind\":\"inference\",\"receipt\":\"{digest}\"}}\n\
         {{\"text\":\"b\",\"kind\":\"fact\",\"receipt\":\"12\",\"criterion\":7}}\n{{\"text\":\"c\"}}\n"
    );
    let said = said(&[("claims.jsonl", &lines)]);
    let kinds: Vec<ClaimKind> = said.claims.iter().map(|claim| claim.kind).collect();
    assert_eq!(kinds, [ClaimKind::Inference, ClaimKind::Hypothesis, ClaimKind::Observation]);
    let receipts: Vec<_> = said.claims.iter().map(|claim| claim.receipt.as_ref()).collect();
    assert_eq!(receipts, [Some(&Digest::new(&digest).unwrap()), None, None]);
    let all = said.findings.join("\n");
    for part in [
        "claim claim-2: criterion is not a text but 7",
        "claim claim-2 names no valid receipt",
        "claim claim-2 has the unknown kind \"fact\"; taken as hypothesis",
    ] {
        assert!(all.contains(part), "{part}: {all}");
    }
}

#[test]
fn a_rule_is_learned_once_and_a_learning_without_one_is_told() {
    let lines = "{\"context\":\"c\",\"discovery\":\"d\",\"rule\":\"Use make\",\"check\":\"test -e x\"}\n\
                 {\"text\":\"old  style\"}\n{\"rule\":\"use  MAKE\"}\n{\"context\":\"c\"}\n\"text\"\n\
                 {\"rule\":\"x\",\"check\":[\"a\"]}\n";
    let said = said(&[("learnings.jsonl", lines)]);
    let first = Learning {
        id: LearningId::of("use make"),
        context: "c".to_owned(),
        discovery: "d".to_owned(),
        rule: "Use make".to_owned(),
        check: Some("test -e x".to_owned()),
    };
    assert_eq!(said.learnings[0], first);
    assert_eq!((said.learnings.len(), said.learnings[1].rule.as_str()), (2, "old  style"));
    assert_eq!(
        said.findings,
        [
            "learning 4: it has no rule: {\"context\":\"c\"}",
            "learning 5: it has no rule: \"text\"",
            "learning 6: check is not a text but [\"a\"]",
        ]
    );
}

#[test]
fn wishes_are_understood_or_told() {
    let lines = r#"{"propose":"done"}
{"propose":"partial","reason":"half"}
{"propose":"diagnosis","reason":"too big","decision":"SPLIT","split_into":[{"id":"a","goal":"g","criteria":["AC-1"]},{"id":"b","goal":"h","deliverables":["d"],"paths":["src/"],"needs":["a"]}]}
{"propose":"diagnosis","reason":"flaky","decision":"RETRY"}
{"text":"a note"}
{"propose":"partial"}
{"propose":"partial","reason":" "}
{"propose":"win"}
{"propose":"diagnosis","reason":"r","decision":"SPLIT"}
{"propose":"diagnosis","reason":"r","decision":"SKIP","split_into":[{"id":"a","goal":"g"}]}
{"propose":"diagnosis","reason":"r","decision":"SPLIT","split_into":[{"id":"a","goal":"g","need":["b"]}]}
{"propose":"diagnosis","reason":"r","decision":"SPLIT","split_into":[{"id":"","goal":"g"}]}
{"propose":"diagnosis","reason":"r","decision":"split","split_into":[]}
{"other":1}
"#;
    let said = said(&[("proposals.jsonl", lines)]);
    let part = |id: &str, goal: &str| Part {
        id: ItemId::new(id).unwrap(),
        goal: goal.to_owned(),
        deliverables: Vec::new(),
        criteria: Vec::new(),
        paths: Vec::new(),
        needs: Vec::new(),
    };
    let a = Part { criteria: vec![CriterionId::new("AC-1").unwrap()], ..part("a", "g") };
    let b = Part {
        deliverables: vec!["d".to_owned()],
        paths: vec!["src/".to_owned()],
        needs: vec![ItemId::new("a").unwrap()],
        ..part("b", "h")
    };
    let diagnosis =
        |reason: &str, remedy| Proposal::Diagnosis(Diagnosis { reason: reason.to_owned(), remedy });
    assert_eq!(
        said.proposals,
        [
            Proposal::Done,
            Proposal::Partial("half".to_owned()),
            diagnosis("too big", Remedy::Split(vec![a, b])),
            diagnosis("flaky", Remedy::Retry),
            Proposal::Note("a note".to_owned()),
        ]
    );
    let reasons = [
        "proposal 6: missing field `reason`",
        "proposal 7: its reason is empty",
        "proposal 8: unknown variant `win`",
        "proposal 9: SPLIT has no split_into",
        "proposal 10: split_into belongs to SPLIT",
        "proposal 11: unknown field `need`",
        "proposal 12: item \"\"",
        "proposal 13: unknown variant `split`",
        "proposal 14: it has neither propose nor text",
    ];
    assert_eq!(said.findings.len(), reasons.len(), "{:?}", said.findings);
    for (finding, reason) in said.findings.iter().zip(reasons) {
        assert!(finding.starts_with(reason), "{reason}: {finding}");
    }
}

#[test]
fn usage_adds_up_or_counts_as_not_measured() {
    let line = "{\"input_tokens\":10,\"output_tokens\":2,\"cost_usd\":0.5,\"model\":\"m\"}\n";
    let usage = said(&[("usage.jsonl", &line.repeat(2))]).usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.cost.0), (20, 4, 1_000_000));
    assert_eq!(usage.unpriced, []);
    for bad in [
        "{\"input_tokens\":10,\"cost_usd\":0.5}",
        "{\"input_tokens\":10,\"output_tokens\":2,\"cost_usd\":0,\"reasoning_tokens\":5}",
        "{\"input_tokens\":-1,\"output_tokens\":2,\"cost_usd\":0}",
        "{\"input_tokens\":1,\"output_tokens\":2,\"cost_usd\":-1}",
        "{\"input_tokens\":1,\"output_tokens\":2,\"cost_usd\":\"1\"}",
        "{\"input_tokens\":1,\"output_tokens\":2,\"model\":1}",
        "garbage",
    ] {
        let said = said(&[("usage.jsonl", &format!("{line}{bad}\n"))]);
        assert_eq!(said.usage, None, "{bad}");
        assert_eq!(said.findings.len(), 1, "{bad}");
    }
}

/// W21: what has no price keeps its tokens, by model, to be priced or refused by the kernel.
#[test]
fn usage_without_a_price_is_left_to_be_priced() {
    let lines = "{\"input_tokens\":1,\"output_tokens\":2,\"model\":\"b\"}\n\
                 {\"input_tokens\":10,\"output_tokens\":20,\"cost_usd\":0.25,\"model\":\"b\"}\n\
                 {\"input_tokens\":100,\"output_tokens\":200}\n\
                 {\"input_tokens\":3,\"output_tokens\":4,\"model\":\"b\",\"cost_usd\":null}\n";
    let usage = said(&[("usage.jsonl", lines)]).usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.cost.0), (114, 226, 250_000));
    let unpriced = |model: &str, input_tokens, output_tokens| ModelTokens {
        model: model.to_owned(),
        input_tokens,
        output_tokens,
    };
    assert_eq!(usage.unpriced, [unpriced("", 100, 200), unpriced("b", 4, 6)]);
}

#[test]
fn many_calls_of_models_are_all_counted() {
    let line = "{\"input_tokens\":1,\"output_tokens\":1,\"cost_usd\":0}\n";
    let said = said(&[("usage.jsonl", &line.repeat(OUTBOX_LINES_MAX * 10))]);
    assert_eq!(said.usage.unwrap().input_tokens, 2_000);
    assert_eq!(said.findings, Vec::<String>::new());
}

#[test]
fn a_line_that_is_still_being_written_does_not_unmeasure_what_was_used() {
    let directory = TempDir::new().unwrap();
    let outbox = Outbox::open(directory.path(), own()).unwrap();
    assert_eq!((outbox.usage_so_far(), outbox.claims_so_far()), (None, 0));
    let line = "{\"input_tokens\":1,\"output_tokens\":1,\"cost_usd\":0}\n";
    let usage = directory.path().join("usage.jsonl");
    std::fs::write(&usage, format!("{line}{{\"input_to")).unwrap();
    assert_eq!(outbox.usage_so_far().unwrap().input_tokens, 1);
    std::fs::write(&usage, format!("{line}garbage\n")).unwrap();
    assert_eq!(outbox.usage_so_far(), None);
    std::fs::write(directory.path().join("claims.jsonl"), "{\"text\":\"a\"}\n{\"te").unwrap();
    assert_eq!(outbox.claims_so_far(), 1);
}

#[test]
fn links_pipes_directories_and_others_files_are_not_read() {
    let directory = TempDir::new().unwrap();
    let secret = directory.path().join("secret");
    std::fs::write(&secret, "{\"text\":\"secret\"}\n").unwrap();
    let outbox = directory.path().join("outbox");
    std::fs::create_dir(&outbox).unwrap();
    std::os::unix::fs::symlink(&secret, outbox.join("claims.jsonl")).unwrap();
    std::fs::create_dir(outbox.join("learnings.jsonl")).unwrap();
    fifo(&outbox.join("findings.jsonl"));
    let said = Outbox::open(&outbox, own()).unwrap().read();
    assert!(said.claims.is_empty());
    assert_eq!(said.findings.len(), 3, "{:?}", said.findings);
    std::fs::remove_file(outbox.join("claims.jsonl")).unwrap();
    std::fs::hard_link(&secret, outbox.join("claims.jsonl")).unwrap();
    let said = Outbox::open(&outbox, own() + 1).unwrap().read();
    assert!(
        said.findings.iter().any(|finding| finding.contains("another user")),
        "{:?}",
        said.findings
    );
}

#[test]
fn progress_is_read_from_where_one_was() {
    let directory = TempDir::new().unwrap();
    let outbox = Outbox::open(directory.path(), own()).unwrap();
    let path = directory.path().join("progress.jsonl");
    let mut progress = Progress::default();
    assert!(outbox.progress(&mut progress).is_empty());
    std::fs::write(&path, "{\"text\":\"1\"}\n{\"text\":\"2\"}\n{\"te").unwrap();
    assert_eq!(outbox.progress(&mut progress), ["1", "2"]);
    assert!(outbox.progress(&mut progress).is_empty());
    std::fs::write(&path, "{\"text\":\"1\"}\n{\"text\":\"2\"}\n{\"text\":\"3\"}\nx\n").unwrap();
    let texts = outbox.progress(&mut progress);
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(texts[0].starts_with("unreadable line 2 of progress.jsonl"), "{texts:?}");
    assert_eq!(texts[1], "3");
    // More lines than are read of any other file.
    let many: String =
        (0..OUTBOX_LINES_MAX * 2).map(|n| format!("{{\"text\":\"{n}\"}}\n")).collect();
    std::fs::write(&path, many).unwrap();
    progress = Progress::default();
    assert_eq!(outbox.progress(&mut progress).len(), OUTBOX_LINES_MAX * 2);
    // Written anew and shorter.
    std::fs::write(&path, "{\"text\":\"again\"}\n").unwrap();
    assert_eq!(outbox.progress(&mut progress), ["again"]);
}

#[test]
fn progress_counts_the_best_score_and_the_newest_words() {
    let directory = TempDir::new().unwrap();
    let outbox = Outbox::open(directory.path(), own()).unwrap();
    let path = directory.path().join("progress.jsonl");
    let mut progress = Progress::default();
    let first = "{\"score\":-2,\"blocker\":\"no compiler\",\"iteration\":4}\n\
                 {\"score\":-3.5,\"next\":\"look around\",\"iteration\":2}\n";
    std::fs::write(&path, first).unwrap();
    outbox.progress(&mut progress);
    let told = Told {
        score: Some(-2.0),
        blocker: Some("no compiler".to_owned()),
        next_action: Some("look around".to_owned()),
        iterations: 4,
    };
    assert_eq!(*progress.told(), told);
    std::fs::write(
        &path,
        format!("{first}{{\"blocker\":\"\",\"score\":\"high\",\"iteration\":-1}}\n"),
    )
    .unwrap();
    outbox.progress(&mut progress);
    assert_eq!(*progress.told(), Told { blocker: None, ..told });
}

fn fifo(path: &Path) {
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}
