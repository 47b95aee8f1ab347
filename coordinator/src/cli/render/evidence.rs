//! The evidence of one item: each criterion with what is proved of it, and the files.

use cantus_proto::evidence::verdict::Standing;
use cantus_proto::ids::Digest;
use cantus_proto::message::Isolation;
use cantus_proto::wire::v1::EvidenceResponse;
use serde_json::{Value, json};

use crate::cli::paint::{Ink, Paint};
use crate::cli::proof::Proof;
use crate::cli::text;

/// Widest id, in columns.
const ID_COLUMNS_MAX: usize = 80;

/// See the module.
pub(in crate::cli) fn evidence(
    run: &str,
    item: &str,
    response: &EvidenceResponse,
    proof: &Proof,
    paint: Paint,
) -> String {
    let title = format!(
        "evidence of item {} of run {}",
        text::cut(item, ID_COLUMNS_MAX),
        text::cut(run, ID_COLUMNS_MAX)
    );
    let mut shown = paint.ink(Ink::Strong, &title) + "\n";
    for (what, value) in
        [("tree", &response.tree), ("commit", &response.commit), ("evidence", &response.digest)]
    {
        if !value.is_empty() {
            shown.push_str(&format!("{what}: {}\n", text::cut(value, ID_COLUMNS_MAX)));
        }
    }
    for (criterion, standing) in &proof.criteria {
        let id = text::cut(criterion.as_str(), ID_COLUMNS_MAX);
        let (sign, ink, word) = match standing {
            Standing::Holds { .. } => ("✓", Ink::Good, "holds"),
            Standing::Refuted(_) => ("✗", Ink::Bad, "refuted"),
            Standing::Open(_) => ("?", Ink::Bad, "not proved"),
        };
        shown.push_str(&format!("  {} {id}: {}\n", paint.ink(ink, sign), paint.ink(ink, word)));
        for reason in reasons(standing) {
            shown.push_str(&text::block(&text::safe(reason), "      "));
        }
    }
    for finding in &proof.findings {
        shown.push_str(&paint.ink(Ink::Bad, &text::block(&text::safe(finding), "  ✗ ")));
    }
    for note in &proof.notes {
        shown.push_str(&text::block(&text::safe(note), "  note: "));
    }
    shown.push_str("files, with their sha256:\n");
    for (name, bytes) in &proof.files {
        shown.push_str(&format!("  {}  {}\n", Digest::of(bytes), text::cut(name, 255)));
    }
    shown.push_str(&verdict(proof, paint));
    shown
}

fn verdict(proof: &Proof, paint: Paint) -> String {
    let (held, all) = (proof.held(), proof.criteria.len());
    if proof.holds() {
        let told =
            format!("proved: {held} of {} hold, signed by trusted keys", text::criteria(all));
        return paint.ink(Ink::Good, &told) + "\n";
    }
    paint.ink(Ink::Bad, &format!("not proved: {held} of {} hold", text::criteria(all))) + "\n"
}

fn reasons(standing: &Standing) -> &[String] {
    match standing {
        Standing::Holds { .. } => &[],
        Standing::Refuted(reasons) | Standing::Open(reasons) => reasons,
    }
}

/// The same for programs, with the envelopes.
pub(in crate::cli) fn json(
    run: &str,
    item: &str,
    response: &EvidenceResponse,
    proof: &Proof,
) -> Value {
    let criteria = proof.criteria.iter().map(|(criterion, standing)| {
        let (word, isolation) = match standing {
            Standing::Holds { isolation: Isolation::Container, .. } => ("holds", "container"),
            Standing::Holds { isolation: Isolation::Process, .. } => ("holds", "process"),
            Standing::Refuted(_) => ("refuted", ""),
            Standing::Open(_) => ("open", ""),
        };
        json!({ "id": criterion.as_str(), "standing": word, "isolation": isolation, "reasons": reasons(standing) })
    });
    let files = proof.files.iter().map(|(name, bytes)| {
        let envelope: Value = serde_json::from_slice(bytes).unwrap_or(Value::Null);
        json!({ "name": name, "sha256": Digest::of(bytes).as_str(), "envelope": envelope })
    });
    json!({
        "run": run,
        "item": item,
        "tree": response.tree,
        "commit": response.commit,
        "evidence": response.digest,
        "proved": proof.holds(),
        "criteria": criteria.collect::<Vec<_>>(),
        "findings": proof.findings,
        "notes": proof.notes,
        "files": files.collect::<Vec<_>>(),
    })
}
