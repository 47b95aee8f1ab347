//! The checks that all conversions into the domain share.

use super::{LABEL_BYTES_MAX, LIST_COUNT_MAX, TEXT_BYTES_MAX, WireError, v1};
use crate::ids::{AttemptNumber, Blob, CommitId, Digest, NameError};
use crate::limits::WIRE_VERSION;
use crate::message::AttemptKind;

pub(super) fn version(what: &'static str, found: u32) -> Result<(), WireError> {
    if found == WIRE_VERSION { Ok(()) } else { Err(WireError::Version { what, found }) }
}

pub(super) fn id<'text, T>(
    field: &'static str,
    text: &'text str,
    make: impl FnOnce(&'text str) -> Result<T, NameError>,
) -> Result<T, WireError> {
    make(text).map_err(|source| WireError::Id { field, source })
}

/// An id that is absent when the text is empty.
pub(super) fn id_optional<'text, T>(
    field: &'static str,
    text: &'text str,
    make: impl FnOnce(&'text str) -> Result<T, NameError>,
) -> Result<Option<T>, WireError> {
    if text.is_empty() { Ok(None) } else { id(field, text, make).map(Some) }
}

pub(super) fn attempt_number(number: u32) -> Result<AttemptNumber, WireError> {
    above_zero("attempt", u64::from(number))?;
    Ok(AttemptNumber(number))
}

pub(super) fn above_zero(field: &'static str, value: u64) -> Result<u64, WireError> {
    if value == 0 {
        return Err(WireError::Invalid { field, reason: "it must be above zero" });
    }
    Ok(value)
}

/// A limit that 0 stands for the absence of.
pub(super) fn unless_zero(value: u64) -> Option<u64> {
    (value != 0).then_some(value)
}

/// A text that is absent when it is empty.
pub(super) fn text_optional(
    field: &'static str,
    value: String,
) -> Result<Option<String>, WireError> {
    Ok(Some(text(field, value)?).filter(|value| !value.is_empty()))
}

pub(super) fn text(field: &'static str, text: String) -> Result<String, WireError> {
    bounded(field, text, TEXT_BYTES_MAX)
}

pub(super) fn label(field: &'static str, text: String) -> Result<String, WireError> {
    bounded(field, text, LABEL_BYTES_MAX)
}

fn bounded(field: &'static str, text: String, limit: usize) -> Result<String, WireError> {
    if text.len() > limit {
        return Err(WireError::TooLong { field, bytes: text.len(), limit });
    }
    Ok(text)
}

pub(super) fn count(field: &'static str, count: usize) -> Result<(), WireError> {
    if count > LIST_COUNT_MAX {
        return Err(WireError::TooMany { field, count, limit: LIST_COUNT_MAX });
    }
    Ok(())
}

pub(super) fn texts(field: &'static str, list: Vec<String>) -> Result<Vec<String>, WireError> {
    count(field, list.len())?;
    list.into_iter().map(|entry| text(field, entry)).collect()
}

pub(super) fn list<W, T>(
    field: &'static str,
    entries: Vec<W>,
    convert: impl FnMut(W) -> Result<T, WireError>,
) -> Result<Vec<T>, WireError> {
    count(field, entries.len())?;
    entries.into_iter().map(convert).collect()
}

pub(super) fn required<T>(field: &'static str, value: Option<T>) -> Result<T, WireError> {
    value.ok_or(WireError::Missing { field })
}

pub(super) fn blob(field: &'static str, blob: Option<v1::Blob>) -> Result<Blob, WireError> {
    required(field, blob)?.try_into()
}

pub(super) fn blob_optional(blob: Option<v1::Blob>) -> Result<Option<Blob>, WireError> {
    blob.map(Blob::try_from).transpose()
}

pub(super) fn commit(field: &'static str, text: &str) -> Result<CommitId, WireError> {
    id(field, text, CommitId::new)
}

/// The full name of a ref: it becomes an argument of git and a path.
pub(super) fn target(name: String) -> Result<String, WireError> {
    let bad = |reason| Err(WireError::Invalid { field: "target", reason });
    let name = label("target", name)?;
    if !name.starts_with("refs/") {
        return bad("it is not a full ref name, which begins with refs/");
    }
    let forbidden = |c: char| c.is_ascii_control() || " ~^:?*[\\".contains(c);
    if name.contains(forbidden) || name.contains("..") || name.contains("@{") {
        return bad("it has a character that git refuses in refs");
    }
    let component =
        |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with(".lock");
    if !name.split('/').all(component) || name.ends_with('.') {
        return bad("it has a component that git refuses in refs");
    }
    Ok(name)
}

pub(super) fn kind(kind: i32) -> Result<AttemptKind, WireError> {
    match v1::AttemptKind::try_from(kind) {
        Ok(v1::AttemptKind::Produce) => Ok(AttemptKind::Produce),
        Ok(v1::AttemptKind::Repair) => Ok(AttemptKind::Repair),
        Ok(v1::AttemptKind::Verify) => Ok(AttemptKind::Verify),
        Ok(v1::AttemptKind::Unspecified) | Err(_) => Err(unknown("kind")),
    }
}

pub(super) fn unknown(field: &'static str) -> WireError {
    WireError::Invalid { field, reason: "its value is unknown to this program" }
}

impl From<AttemptKind> for v1::AttemptKind {
    fn from(kind: AttemptKind) -> Self {
        match kind {
            AttemptKind::Produce => Self::Produce,
            AttemptKind::Repair => Self::Repair,
            AttemptKind::Verify => Self::Verify,
        }
    }
}

impl From<&Blob> for v1::Blob {
    fn from(blob: &Blob) -> Self {
        Self { sha256: blob.sha256.to_string(), size_bytes: blob.size_bytes }
    }
}

impl TryFrom<v1::Blob> for Blob {
    type Error = WireError;

    fn try_from(wire: v1::Blob) -> Result<Self, WireError> {
        Ok(Self { sha256: id("blob", &wire.sha256, Digest::new)?, size_bytes: wire.size_bytes })
    }
}

/// The text of an optional id: empty when absent.
pub(super) fn or_empty<T: ToString>(id: Option<&T>) -> String {
    id.map(ToString::to_string).unwrap_or_default()
}
