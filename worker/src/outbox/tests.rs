//! What agents write into an outbox, and what must not come of it.

use std::path::Path;

use cantus_proto::limits::{OUTBOX_LINE_BYTES_MAX, OUTBOX_LINES_MAX};
use tempfile::TempDir;

use super::{Outbox, Said};

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
    let many = "{\"text\":\"x\"}\n".repeat(OUTBOX_LINES_MAX + 5);
    let long = format!("{{\"text\":\"{}\"}}\n", "y".repeat(OUTBOX_LINE_BYTES_MAX));
    let said = said(&[("learnings.jsonl", &many), ("proposals.jsonl", &long)]);
    assert_eq!(said.learnings.len(), OUTBOX_LINES_MAX);
    let all = said.findings.join("\n");
    assert!(all.contains("learnings.jsonl has more than 200 lines"), "{all}");
    assert!(all.contains("unreadable line 1 of proposals.jsonl"), "{all}");
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
fn usage_adds_up_or_counts_as_not_measured() {
    let line = "{\"input_tokens\":10,\"output_tokens\":2,\"cost_usd\":0.5,\"model\":\"m\"}\n";
    let usage = said(&[("usage.jsonl", &line.repeat(2))]).usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.cost.0), (20, 4, 1_000_000));
    for bad in [
        "{\"input_tokens\":10,\"output_tokens\":2}",
        "{\"input_tokens\":10,\"output_tokens\":2,\"cost_usd\":0,\"reasoning_tokens\":5}",
        "{\"input_tokens\":-1,\"output_tokens\":2,\"cost_usd\":0}",
        "{\"input_tokens\":1,\"output_tokens\":2,\"cost_usd\":-1}",
        "garbage",
    ] {
        let said = said(&[("usage.jsonl", &format!("{line}{bad}\n"))]);
        assert_eq!(said.usage, None, "{bad}");
        assert_eq!(said.findings.len(), 1, "{bad}");
    }
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
    assert!(outbox.progress(0).is_empty());
    std::fs::write(directory.path().join("progress.jsonl"), "{\"text\":\"1\"}\n{\"text\":\"2\"}\n")
        .unwrap();
    assert_eq!(outbox.progress(0), ["1", "2"]);
    assert_eq!(outbox.progress(1), ["2"]);
}

fn fifo(path: &Path) {
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}
