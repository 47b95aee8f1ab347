//! One item in full: its contract in short, every attempt with its end, claims, findings and saved work.

use cantus_proto::wire::v1::{
    AttemptView, Blob, ClaimView, Contract, ItemSummary, ItemView, Receipt, SavedView,
};

use super::{amounts, exchange};
use crate::cli::paint::{Ink, Paint};
use crate::cli::{state, text, time};

/// Widest line of free text, in columns: longer ones wrap on the terminal, and `--json` has all.
const LINE_COLUMNS_MAX: usize = 400;
/// Receipts shown of one attempt; `--json` has all.
const RECEIPTS_SHOWN_MAX: usize = 20;
/// Entries shown of one list; `--json` has all.
const LIST_SHOWN_MAX: usize = 50;

/// See the module.
pub(in crate::cli) fn item(view: &ItemView, now_ms: u64, paint: Paint) -> String {
    let summary = view.summary.clone().unwrap_or_default();
    let mut shown = heading(view, &summary, now_ms, paint);
    if let Some(contract) = &view.contract {
        shown.push_str(&goal(contract));
    }
    for (what, value) in
        [("commit", &summary.commit), ("tree", &view.tree), ("evidence", &summary.evidence)]
    {
        if !value.is_empty() {
            shown.push_str(&format!("{what}: {}\n", text::cut(value, LINE_COLUMNS_MAX)));
        }
    }
    if !summary.needs.is_empty() {
        shown.push_str(&format!(
            "needs: {}\n",
            text::cut(&summary.needs.join(", "), LINE_COLUMNS_MAX)
        ));
    }
    for (what, value) in [("part of", &summary.whole), ("parts", &view.parts.join(", "))] {
        if !value.is_empty() {
            shown.push_str(&format!("{what}: {}\n", text::cut(value, LINE_COLUMNS_MAX)));
        }
    }
    shown.extend(amounts::budget(view.budget.as_ref()).map(|told| format!("budget: {told}\n")));
    shown.push_str(&exchange::remarks(view, paint));
    section(&mut shown, "attempts", &view.attempts, paint, |a| attempt(a, now_ms, paint));
    if view.attempts.is_empty() {
        shown.push_str("\nno attempts yet\n");
    }
    shown.push_str(&exchange::out_of_scope(view, paint));
    section(
        &mut shown,
        "claims: what agents said, and what is proved of it",
        &view.claims,
        paint,
        |c| claim(c, paint),
    );
    section(&mut shown, "findings that the agent reported", &view.findings, paint, |finding| {
        text::block(finding, "  ")
    });
    section(&mut shown, "saved work, which did not land", &view.saved, paint, saved);
    shown
}

fn heading(view: &ItemView, summary: &ItemSummary, now_ms: u64, paint: Paint) -> String {
    let look = state::item(&summary.state);
    let since = time::between(summary.state_since_ms, 0, now_ms);
    let id = paint.ink(Ink::Strong, &text::cut(&summary.id, LINE_COLUMNS_MAX));
    let run = text::cut(&view.run, LINE_COLUMNS_MAX);
    let word = paint.ink(look.ink, &format!("{} {}", look.sign, text::cut(&summary.state, 20)));
    let mut shown = format!("item {id} of run {run}: {word} for {since}");
    shown.push_str(&format!(", attempt {} of {}", summary.attempt, summary.attempts_max));
    shown.push_str(&format!(", role {}\n", text::cut(&summary.role, LINE_COLUMNS_MAX)));
    if !summary.reason.is_empty() {
        let ended_badly = look.phase == state::Phase::Stuck;
        let (what, ink) = if ended_badly { ("why", Ink::Bad) } else { ("mends", Ink::Warning) };
        shown.push_str(
            &paint.ink(ink, &format!("{what}: {}", text::cut(&summary.reason, LINE_COLUMNS_MAX))),
        );
        shown.push('\n');
    }
    if !summary.unschedulable.is_empty() {
        let told = text::cut(&summary.unschedulable, LINE_COLUMNS_MAX);
        shown.push_str(&(paint.ink(Ink::Bad, &format!("waits: {told}")) + "\n"));
    }
    shown
}

fn goal(contract: &Contract) -> String {
    let mut shown = format!("goal: {}\n", text::cut(&contract.goal, LINE_COLUMNS_MAX));
    for criterion in &contract.acceptance_criteria {
        shown.push_str(&format!(
            "  {}: {}  [{}]\n",
            text::cut(&criterion.id, LINE_COLUMNS_MAX),
            text::cut(&criterion.statement, LINE_COLUMNS_MAX),
            text::cut(&criterion.checker, LINE_COLUMNS_MAX)
        ));
    }
    shown
}

fn section<T>(
    shown: &mut String,
    title: &str,
    entries: &[T],
    paint: Paint,
    render: impl Fn(&T) -> String,
) {
    if entries.is_empty() {
        return;
    }
    shown.push_str(&format!("\n{}\n", paint.ink(Ink::Strong, title)));
    for entry in entries.iter().take(LIST_SHOWN_MAX) {
        shown.push_str(&render(entry));
    }
    if entries.len() > LIST_SHOWN_MAX {
        shown.push_str(&format!(
            "  … and {} more; --json has all\n",
            entries.len() - LIST_SHOWN_MAX
        ));
    }
}

fn attempt(attempt: &AttemptView, now_ms: u64, paint: Paint) -> String {
    let ink = match attempt.state.as_str() {
        "queued" => Ink::Warning,
        "leased" | "handed in" => Ink::Busy,
        "verified" => Ink::Good,
        "closed" | "closed with its item" => Ink::Dim,
        _ => Ink::Bad,
    };
    let who = match (attempt.container.as_str(), attempt.host.as_str()) {
        ("", _) => "nobody has it yet".to_owned(),
        (container, host) => format!("{container} on {host}"),
    };
    let took = time::between(attempt.leased_ms, attempt.ended_ms, now_ms);
    let process = if attempt.isolation == "process" { "  without a container" } else { "" };
    let mut shown = format!(
        "  {}. {:<7}  {}  {took:>6}  {}{}\n",
        attempt.number,
        text::cut(&attempt.kind, 20),
        paint.ink(ink, &text::padded(&text::cut(&attempt.state, 12), 12)),
        text::cut(&who, LINE_COLUMNS_MAX),
        paint.ink(Ink::Warning, process),
    );
    if attempt.reason != attempt.state {
        shown.push_str(&text::block(&attempt.reason, "     "));
    }
    for receipt in attempt.receipts.iter().take(RECEIPTS_SHOWN_MAX) {
        shown.push_str(&self::receipt(receipt, paint));
    }
    if attempt.receipts.len() > RECEIPTS_SHOWN_MAX {
        let more = attempt.receipts.len() - RECEIPTS_SHOWN_MAX;
        shown.push_str(&format!("     … and {more} more receipts\n"));
    }
    shown.push_str(&exchange::attempt(attempt, paint));
    shown.push_str(&artifacts(attempt));
    shown
}

fn artifacts(attempt: &AttemptView) -> String {
    let mut parts = Vec::new();
    for (what, id) in [("base", &attempt.base), ("head", &attempt.head)] {
        if !id.is_empty() {
            parts.push(format!("{what} {}", text::short(id)));
        }
    }
    for (what, blob) in [("bundle", &attempt.bundle), ("log", &attempt.log)] {
        if let Some(blob) = blob {
            parts.push(format!("{what} {}", self::blob(blob)));
        }
    }
    if parts.is_empty() { String::new() } else { format!("     {}\n", parts.join("  ")) }
}

fn receipt(receipt: &Receipt, paint: Paint) -> String {
    let (ending, ink) = match receipt {
        Receipt { timed_out: true, .. } => ("ran into its limit".to_owned(), Ink::Bad),
        Receipt { signal, .. } if *signal != 0 => (format!("ended by signal {signal}"), Ink::Bad),
        Receipt { exit_code: 0, .. } => ("exit 0".to_owned(), Ink::Good),
        Receipt { exit_code, .. } => (format!("exit {exit_code}"), Ink::Bad),
    };
    let command: Vec<String> = receipt.argv.iter().map(|word| text::shell_word(word)).collect();
    let command = text::cut(&command.join(" "), LINE_COLUMNS_MAX);
    let took = time::elapsed(receipt.duration_ms);
    let cut = if receipt.output_truncated { ", output cut" } else { "" };
    format!("     ran {command}: {} after {took}{cut}\n", paint.ink(ink, &ending))
}

fn claim(claim: &ClaimView, paint: Paint) -> String {
    let ink = match claim.status.as_str() {
        "verified" => Ink::Good,
        "refuted" => Ink::Bad,
        _ => Ink::Warning,
    };
    let status = paint.ink(ink, &text::padded(&text::cut(&claim.status, 12), 12));
    let said = text::cut(&claim.text, LINE_COLUMNS_MAX);
    let evidence = match claim.evidence.as_str() {
        "" => String::new(),
        evidence => format!("  ({})", text::short(evidence)),
    };
    let why = match (claim.status.as_str(), claim.why.as_str()) {
        ("verified", _) | (_, "") => String::new(),
        (_, why) => format!("  [{}]", text::cut(why, LINE_COLUMNS_MAX)),
    };
    format!("  {status}  attempt {}: {said}{evidence}{why}\n", claim.attempt)
}

fn saved(saved: &SavedView) -> String {
    let bundle = saved.bundle.as_ref().map_or_else(|| "nothing".to_owned(), blob);
    let (base, head) = (text::short(&saved.base), text::short(&saved.head));
    let mut shown = format!("  attempt {}: {base}..{head}, bundle {bundle}\n", saved.attempt);
    shown.push_str(&text::block(&saved.reason, "     "));
    shown
}

fn blob(blob: &Blob) -> String {
    format!("sha256:{} ({})", text::short(&blob.sha256), size(blob.size_bytes))
}

/// `512 B`, `1.2 kB`, `34.0 MB`.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{}.{} kB", bytes / 1_000, bytes % 1_000 / 100),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{self, NOW_MS};
    use super::*;

    fn attempt(number: u32, kind: &str, state: &str, reason: &str) -> AttemptView {
        AttemptView {
            number,
            kind: kind.to_owned(),
            state: state.to_owned(),
            reason: reason.to_owned(),
            container: "worker-1".to_owned(),
            host: "alpha".to_owned(),
            leased_ms: NOW_MS - 20_000,
            ended_ms: NOW_MS - 8_000,
            isolation: "container".to_owned(),
            ..Default::default()
        }
    }

    fn view() -> ItemView {
        let blob = |size_bytes| Some(Blob { sha256: "cd".repeat(32), size_bytes });
        let receipt = Receipt {
            argv: vec!["pytest".to_owned(), "-k".to_owned(), "a b".to_owned()],
            exit_code: 1,
            duration_ms: 3_200,
            ..Default::default()
        };
        let first = AttemptView {
            receipts: vec![receipt],
            base: "01".repeat(20),
            head: "02".repeat(20),
            bundle: blob(1_234),
            log: blob(56),
            ..attempt(1, "produce", "refuted", "refuted: AC-01: exit code 1\n1 failed\u{1b}[31m")
        };
        ItemView {
            summary: Some(samples::item("parse dates", &["base"], "landed")),
            run: "nightly".to_owned(),
            attempts: vec![
                first,
                attempt(2, "repair", "handed in", "handed in"),
                AttemptView {
                    isolation: "process".to_owned(),
                    ..attempt(3, "verify", "verified", "verified")
                },
            ],
            claims: vec![ClaimView {
                text: "all tests pass".to_owned(),
                status: "refuted".to_owned(),
                attempt: 1,
                ..Default::default()
            }],
            findings: vec!["the parser is slow".to_owned()],
            saved: vec![SavedView {
                attempt: 1,
                reason: "refuted".to_owned(),
                bundle: blob(2_000_000),
                base: "01".repeat(20),
                head: "02".repeat(20),
            }],
            ..Default::default()
        }
    }

    #[test]
    fn every_attempt_with_its_end() {
        assert_eq!(
            item(&view(), NOW_MS, Paint::NEVER),
            "item parse dates of run nightly: ✓ landed for 2.0s, attempt 1 of 3, role worker\n\
             needs: base\n\
             \n\
             attempts\n  \
               1. produce  refuted          12s  worker-1 on alpha\n     \
                  refuted: AC-01: exit code 1\n     \
                  1 failed\\u{1b}[31m\n     \
                  ran pytest -k 'a b': exit 1 after 3.2s\n     \
                  base 010101010101  head 020202020202  bundle sha256:cdcdcdcdcdcd (1.2 kB)  log sha256:cdcdcdcdcdcd (56 B)\n  \
               2. repair   handed in        12s  worker-1 on alpha\n  \
               3. verify   verified         12s  worker-1 on alpha  without a container\n\
             \n\
             claims: what agents said, and what is proved of it\n  \
               refuted       attempt 1: all tests pass\n\
             \n\
             findings that the agent reported\n  \
               the parser is slow\n\
             \n\
             saved work, which did not land\n  \
               attempt 1: 010101010101..020202020202, bundle sha256:cdcdcdcdcdcd (2.0 MB)\n     \
                  refuted\n"
        );
    }

    #[test]
    fn an_item_that_has_not_begun() {
        let view = ItemView {
            summary: Some(samples::item("x", &[], "queued")),
            run: "r".to_owned(),
            ..Default::default()
        };
        let shown = item(&view, NOW_MS, Paint::NEVER);
        assert!(shown.ends_with("\nno attempts yet\n"), "{shown}");
    }

    #[test]
    fn lists_without_end_are_cut() {
        let mut view = view();
        view.findings = vec!["x".repeat(1_000_000); 1_000];
        let shown = item(&view, NOW_MS, Paint::NEVER);
        assert!(shown.contains("… and 950 more; --json has all"), "{}", shown.len());
        assert!(shown.len() < 500_000);
    }
}
