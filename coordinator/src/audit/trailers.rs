//! Reads the trailers of a landed commit: which run and item it comes from, and the digest of its evidence.
//!
//! They are written by [`crate::hub`]; git's own rules allow more (folding, other separators) that is not read.

use std::borrow::Cow;

use cantus_proto::ids::{Digest, ItemId, NameError, RunId};

use crate::hub::{TRAILER_EVIDENCE, TRAILER_ITEM, TRAILER_RUN};

const DIGEST_PREFIX: &str = "sha256:";

/// Why a message's trailers cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TrailerError {
    /// Some are there, others not.
    #[error("no trailer {0}")]
    Missing(&'static str),
    /// Which one holds cannot be told.
    #[error("trailer {0} twice")]
    Twice(&'static str),
    /// Begins with a quote and is no JSON string.
    #[error("trailer {0} is not a JSON string")]
    Quoting(&'static str),
    /// A name or digest that is not valid.
    #[error("trailer {key} is not valid: {reason}")]
    Invalid {
        /// The trailer.
        key: &'static str,
        /// Why.
        reason: NameError,
    },
    /// Another kind of digest, or none.
    #[error("trailer {TRAILER_EVIDENCE} does not begin with {DIGEST_PREFIX}")]
    NotSha256,
}

/// What the message of a landed commit says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trailers {
    pub(crate) run: RunId,
    pub(crate) item: ItemId,
    /// Of the manifest of the evidence's files.
    pub(crate) evidence: Digest,
}

/// Reads the last paragraph of a message; nothing when it has none of the trailers.
pub(crate) fn parse(message: &[u8]) -> Result<Option<Trailers>, TrailerError> {
    let message = String::from_utf8_lossy(message);
    let paragraph = last_paragraph(&message);
    let run = value(&paragraph, TRAILER_RUN)?;
    let item = value(&paragraph, TRAILER_ITEM)?;
    let evidence = value(&paragraph, TRAILER_EVIDENCE)?;
    if run.is_none() && item.is_none() && evidence.is_none() {
        return Ok(None);
    }
    let run = run.ok_or(TrailerError::Missing(TRAILER_RUN))?;
    let item = item.ok_or(TrailerError::Missing(TRAILER_ITEM))?;
    let evidence = evidence.ok_or(TrailerError::Missing(TRAILER_EVIDENCE))?;
    let hex = evidence.strip_prefix(DIGEST_PREFIX).ok_or(TrailerError::NotSha256)?;
    let invalid = |key| move |reason| TrailerError::Invalid { key, reason };
    Ok(Some(Trailers {
        run: RunId::new(unquoted(run, TRAILER_RUN)?).map_err(invalid(TRAILER_RUN))?,
        item: ItemId::new(unquoted(item, TRAILER_ITEM)?).map_err(invalid(TRAILER_ITEM))?,
        evidence: Digest::new(hex).map_err(invalid(TRAILER_EVIDENCE))?,
    }))
}

fn last_paragraph<'a>(message: &'a str) -> Vec<&'a str> {
    let lines: Vec<&'a str> = message.trim_end_matches('\n').split('\n').collect();
    let start = lines.iter().rposition(|line| line.trim().is_empty());
    lines[start.map_or(0, |blank| blank + 1)..].to_vec()
}

/// The value after `key: `, byte for byte.
fn value<'a>(lines: &[&'a str], key: &'static str) -> Result<Option<&'a str>, TrailerError> {
    let mut values =
        lines.iter().filter_map(|line| line.strip_prefix(key).and_then(|v| v.strip_prefix(": ")));
    match (values.next(), values.next()) {
        (value, None) => Ok(value),
        (_, Some(_)) => Err(TrailerError::Twice(key)),
    }
}

fn unquoted<'a>(value: &'a str, key: &'static str) -> Result<Cow<'a, str>, TrailerError> {
    if !value.starts_with('"') {
        return Ok(Cow::Borrowed(value));
    }
    serde_json::from_str(value).map(Cow::Owned).map_err(|_| TrailerError::Quoting(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hub::trailer_value;

    fn print(item: &str) -> String {
        format!(
            "Cantus-Run: r: 1 é\nCantus-Item: {}\nCantus-Evidence: sha256:{}\n",
            trailer_value(item),
            Digest::of(b"x")
        )
    }

    fn item(message: &[u8]) -> String {
        parse(message).unwrap().unwrap().item.to_string()
    }

    #[test]
    fn ids_come_back_as_they_were() {
        for id in ["A", " a ", "Cantus-Run: x", "#", "🎼", "\"q\"", "a\\\u{202e}b", "\\"] {
            let message = format!("Land it\n\nWhy.\n\n{}", print(id));
            assert_eq!(item(message.as_bytes()), id);
        }
        let latin1 = [b"caf\xe9\n\n".as_slice(), print("A").as_bytes(), b"\n\n"].concat();
        assert_eq!(item(&latin1), "A");
    }

    #[test]
    fn only_the_last_paragraph_counts() {
        assert_eq!(parse(b"subject\n\nbody\n"), Ok(None));
        assert_eq!(parse(b""), Ok(None));
        let elsewhere = format!("s\n\n{}\nlast paragraph\n", print("A"));
        assert_eq!(parse(elsewhere.as_bytes()), Ok(None));
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        let good = print("A");
        let refused = |text: String| parse(text.as_bytes()).unwrap_err();
        let missing = refused(good.replace("Cantus-Item: A\n", ""));
        assert_eq!(missing, TrailerError::Missing(TRAILER_ITEM));
        let twice = refused(format!("{good}Cantus-Item: B\n"));
        assert_eq!(twice, TrailerError::Twice(TRAILER_ITEM));
        assert_eq!(refused(good.replace("sha256:", "sha1:")), TrailerError::NotSha256);
        let open = refused(good.replace("Item: A", "Item: \"A"));
        assert_eq!(open, TrailerError::Quoting(TRAILER_ITEM));
        let long = refused(good.replace("sha256:", "sha256:0"));
        assert!(matches!(long, TrailerError::Invalid { key: TRAILER_EVIDENCE, .. }), "{long}");
    }
}
