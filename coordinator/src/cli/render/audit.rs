//! The audit of a repository: one line per commit, what it lacks below it, and the whole in one line.

use crate::audit::{AuditOutcome, AuditReport, CommitAudit};
use crate::cli::paint::{Ink, Paint};
use crate::cli::text;

/// Widest item in a line, in columns.
const ITEM_COLUMNS_MAX: usize = 32;
/// Widest title in a line, in columns.
const TITLE_COLUMNS_MAX: usize = 60;
/// Findings shown of one commit; `--json` has all.
const FINDINGS_SHOWN_MAX: usize = 20;

/// See the module.
pub(in crate::cli) fn report(report: &AuditReport, paint: Paint) -> String {
    let item =
        |commit: &CommitAudit| commit.item.as_ref().map_or("-".to_owned(), ToString::to_string);
    let widest = |commit: &CommitAudit| text::columns(&text::cut(&item(commit), ITEM_COLUMNS_MAX));
    let width = report.commits.iter().map(widest).max().unwrap_or(0);
    let mut shown = String::new();
    for commit in &report.commits {
        let item = text::padded(&text::cut(&item(commit), ITEM_COLUMNS_MAX), width);
        shown.push_str(&line(commit, &item, paint));
    }
    let ink = match report.outcome() {
        AuditOutcome::Passed => Ink::Good,
        AuditOutcome::Failed => Ink::Bad,
        AuditOutcome::Empty => Ink::Warning,
    };
    shown.push_str(&paint.ink(ink, &text::safe(&report.summary())));
    shown.push('\n');
    shown
}

fn line(commit: &CommitAudit, item: &str, paint: Paint) -> String {
    let sound = commit.findings.is_empty();
    let sign = if sound { paint.ink(Ink::Good, "✓") } else { paint.ink(Ink::Bad, "✗") };
    let evidence = commit.evidence.as_ref().map_or_else(
        || text::padded("no evidence", 19),
        |digest| format!("sha256:{}", text::short(digest.as_str())),
    );
    let criteria = text::padded(&text::criteria(commit.criteria.len()), 11);
    let title = text::cut(&commit.title, TITLE_COLUMNS_MAX);
    let process = if commit.process_isolation { "  [checked without a container]" } else { "" };
    let mut shown = format!(
        "{sign} {}  {item}  {evidence}  {criteria}  {title}{}\n",
        text::short(commit.commit.as_str()),
        paint.ink(Ink::Warning, process),
    );
    for finding in commit.findings.iter().take(FINDINGS_SHOWN_MAX) {
        // On one line, because it quotes what a repository says.
        shown.push_str(&text::block(&text::safe(finding), "    "));
    }
    if commit.findings.len() > FINDINGS_SHOWN_MAX {
        shown.push_str(&format!(
            "    … and {} more; --json has all\n",
            commit.findings.len() - FINDINGS_SHOWN_MAX
        ));
    }
    shown
}

#[cfg(test)]
mod tests {
    use cantus_proto::ids::{CommitId, CriterionId, Digest, ItemId, RunId, TreeId};

    use super::*;

    fn commit(item: &str, findings: &[&str]) -> CommitAudit {
        CommitAudit {
            commit: CommitId::new("01".repeat(20)).unwrap(),
            tree: TreeId::new("02".repeat(20)).unwrap(),
            title: format!("{item}: something"),
            run: Some(RunId::new("nightly").unwrap()),
            item: Some(ItemId::new(item).unwrap()),
            evidence: Some(Digest::of(b"")),
            criteria: vec![CriterionId::new("AC-01").unwrap()],
            process_isolation: false,
            findings: findings.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn what_is_sound_and_what_lacks() {
        let mut stranger = commit("b", &["no Cantus trailers: it did not land\u{1b}[2J"]);
        (stranger.item, stranger.evidence, stranger.criteria) = (None, None, vec![]);
        let mut process = commit("dates", &[]);
        process.process_isolation = true;
        let audit = AuditReport { range: "HEAD".to_owned(), commits: vec![process, stranger] };
        assert_eq!(
            report(&audit, Paint::NEVER),
            "✓ 010101010101  dates  sha256:e3b0c44298fc  1 criterion  dates: something  [checked without a container]\n\
             ✗ 010101010101  -      no evidence          0 criteria   b: something\n    \
               no Cantus trailers: it did not land\\u{1b}[2J\n\
             HEAD: 1 of 2 commits lack valid evidence\n"
        );
        let empty = AuditReport { range: "a..b".to_owned(), commits: vec![] };
        assert_eq!(report(&empty, Paint::NEVER), "nothing to audit: a..b has no landed commits\n");
    }
}
