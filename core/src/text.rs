//! Texts for people and for repairs: raw bytes made visible, everything bounded.
//!
//! Reasons and findings come from contracts, paths and verifiers of any length. They are repeated in records and
//! in messages to workers, and both must stay far below what the bus takes.

use crate::scope_delta::Finding;

/// Longest reason or finding in bytes: more is a log, and a log is an artifact.
pub(crate) const TEXT_BYTES_MAX: usize = 2 * 1024;
/// Most findings that are spelled out; the rest is counted. A defect is for reading.
pub(crate) const FINDINGS_MAX: usize = 20;

/// A raw path for people: lossy, with control characters escaped.
pub(crate) fn show(path: &[u8]) -> String {
    String::from_utf8_lossy(path).chars().flat_map(char::escape_debug).collect()
}

/// The text, or its beginning and how much is left out.
pub(crate) fn cut(mut text: String) -> String {
    if text.len() <= TEXT_BYTES_MAX {
        return text;
    }
    let bytes = text.len();
    text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
    let more = bytes - text.len();
    format!("{text}… ({more} bytes more)")
}

/// The findings, or the first of them and how many are left out.
pub(crate) fn bounded(mut findings: Vec<String>) -> Vec<String> {
    let more = findings.len().saturating_sub(FINDINGS_MAX);
    findings.truncate(FINDINGS_MAX);
    let mut bounded: Vec<String> = findings.into_iter().map(cut).collect();
    if more > 0 {
        bounded.push(format!("and {more} more"));
    }
    bounded
}

/// What gates found, bounded as records are: the first of them, each cut.
pub(crate) fn bounded_findings(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.truncate(FINDINGS_MAX);
    for finding in &mut findings {
        finding.text = cut(std::mem::take(&mut finding.text));
        finding.path.truncate(TEXT_BYTES_MAX);
    }
    findings
}
