//! Whom to believe: the public keys of verifiers and coordinators, as `trust.json` holds them.
//!
//! Where the file lies and how keys get into it is for the installation to decide.

use serde::{Deserialize, Serialize};

use super::keys::{KeyError, KeyId, VerifyingKey};

/// The version of `trust.json` that is written and read.
const VERSION: u32 = 1;

/// Most keys of one kind: each may have to be tried on each signature.
const KEYS_MAX: usize = 256;

/// Why a file of keys is refused.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// Not the JSON that is expected, or with a field that is unknown.
    #[error("not a trust file")]
    Json(#[source] serde_json::Error),
    /// Written by another version.
    #[error("trust file has version {found}, this program reads version {VERSION}")]
    Version {
        /// As the file says.
        found: u32,
    },
    /// A key that cannot be read.
    #[error("{kind} key {keyid:?} of the trust file cannot be read")]
    Key {
        /// `verifier` or `coordinator`.
        kind: &'static str,
        /// As the file says, cut.
        keyid: String,
        /// Why.
        source: KeyError,
    },
    /// The id is not that of the key beside it.
    #[error(
        "{kind} key {keyid:?} of the trust file is really key {actual}: correct the keyid or the public_pem"
    )]
    KeyId {
        /// `verifier` or `coordinator`.
        kind: &'static str,
        /// As the file says, cut.
        keyid: String,
        /// Computed from the key.
        actual: KeyId,
    },
    /// Twice in the file: one process would be able to speak for two.
    #[error("key {keyid} is in the trust file twice: one key has one kind; remove one entry")]
    Twice {
        /// The key.
        keyid: KeyId,
    },
    /// Over [`KEYS_MAX`].
    #[error("trust file has {count} {kind} keys, the limit is {KEYS_MAX}: remove those out of use")]
    TooMany {
        /// `verifier` or `coordinator`.
        kind: &'static str,
        /// How many.
        count: usize,
    },
}

/// A public key that is believed, with a note for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedKey {
    id: KeyId,
    public: VerifyingKey,
    comment: Option<String>,
}

impl TrustedKey {
    /// A key and what to remember about it.
    #[must_use]
    pub fn new(public: VerifyingKey, comment: Option<String>) -> Self {
        Self { id: public.id(), public, comment }
    }

    /// Computed from the key.
    #[must_use]
    pub fn id(&self) -> KeyId {
        self.id.clone()
    }

    /// The key.
    #[must_use]
    pub fn public(&self) -> &VerifyingKey {
        &self.public
    }

    /// For people.
    #[must_use]
    pub fn comment(&self) -> Option<&str> {
        self.comment.as_deref()
    }
}

/// The keys that are believed, by what they may say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trust {
    verifier: Vec<TrustedKey>,
    coordinator: Vec<TrustedKey>,
}

impl Trust {
    /// Keys of verifiers and of coordinators; a key is of one kind, so that no process speaks for two.
    ///
    /// # Errors
    /// [`TrustError::Twice`] or [`TrustError::TooMany`].
    pub fn new(
        verifier: Vec<TrustedKey>,
        coordinator: Vec<TrustedKey>,
    ) -> Result<Self, TrustError> {
        for (kind, keys) in [("verifier", &verifier), ("coordinator", &coordinator)] {
            if keys.len() > KEYS_MAX {
                return Err(TrustError::TooMany { kind, count: keys.len() });
            }
        }
        let mut seen = std::collections::BTreeSet::new();
        match verifier.iter().chain(&coordinator).find(|key| !seen.insert(&key.id)) {
            Some(key) => Err(TrustError::Twice { keyid: key.id() }),
            None => Ok(Self { verifier, coordinator }),
        }
    }

    /// Who may sign test results and receipts.
    #[must_use]
    pub fn verifier(&self) -> &[TrustedKey] {
        &self.verifier
    }

    /// Who may sign summaries of what landed.
    #[must_use]
    pub fn coordinator(&self) -> &[TrustedKey] {
        &self.coordinator
    }

    /// Reads `trust.json`.
    ///
    /// # Errors
    /// [`TrustError`] names the key and the reason.
    pub fn parse(json: &[u8]) -> Result<Self, TrustError> {
        let wire: TrustJson = serde_json::from_slice(json).map_err(TrustError::Json)?;
        if wire.version != VERSION {
            return Err(TrustError::Version { found: wire.version });
        }
        let read = |kind, keys: Vec<KeyJson>| {
            keys.into_iter().map(|key| read_key(kind, key)).collect::<Result<Vec<_>, _>>()
        };
        Self::new(read("verifier", wire.verifier)?, read("coordinator", wire.coordinator)?)
    }

    /// Writes `trust.json`: indented, with a newline at the end, for people to read and to edit.
    #[must_use]
    pub fn to_json(&self) -> String {
        let write = |keys: &[TrustedKey]| keys.iter().map(write_key).collect();
        let wire = TrustJson {
            version: VERSION,
            verifier: write(&self.verifier),
            coordinator: write(&self.coordinator),
        };
        serde_json::to_string_pretty(&wire).expect("strings always have a JSON form") + "\n"
    }
}

fn read_key(kind: &'static str, key: KeyJson) -> Result<TrustedKey, TrustError> {
    let keyid: String = key.keyid.chars().take(64).collect();
    let public = match VerifyingKey::from_pem(&key.public_pem) {
        Ok(public) => public,
        Err(source) => return Err(TrustError::Key { kind, keyid, source }),
    };
    let trusted = TrustedKey::new(public, key.comment);
    if trusted.id.as_str() != key.keyid {
        return Err(TrustError::KeyId { kind, keyid, actual: trusted.id });
    }
    Ok(trusted)
}

fn write_key(key: &TrustedKey) -> KeyJson {
    KeyJson {
        keyid: key.id.to_string(),
        public_pem: key.public.to_pem(),
        comment: key.comment.clone(),
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TrustJson {
    version: u32,
    verifier: Vec<KeyJson>,
    coordinator: Vec<KeyJson>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyJson {
    keyid: String,
    public_pem: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::super::keys::SigningKey;
    use super::*;

    fn key(byte: u8) -> TrustedKey {
        TrustedKey::new(
            SigningKey::from_bytes(&[byte; 32]).verifying_key(),
            Some(format!("key {byte}")),
        )
    }

    #[test]
    fn the_file_comes_back() {
        let trust = Trust::new(vec![key(1), key(2)], vec![key(3)]).unwrap();
        assert_eq!(Trust::parse(trust.to_json().as_bytes()).unwrap(), trust);
        assert_eq!(Trust::parse(Trust::default().to_json().as_bytes()).unwrap(), Trust::default());
    }

    #[test]
    fn a_key_has_one_kind() {
        assert!(matches!(Trust::new(vec![key(1)], vec![key(1)]), Err(TrustError::Twice { .. })));
        assert!(matches!(Trust::new(vec![key(1), key(1)], vec![]), Err(TrustError::Twice { .. })));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let file = Trust::new(vec![key(1)], vec![key(3)]).unwrap().to_json();
        let refused =
            |from: &str, to: &str| Trust::parse(file.replace(from, to).as_bytes()).unwrap_err();
        assert!(matches!(
            refused("\"version\": 1", "\"version\": 2"),
            TrustError::Version { found: 2 }
        ));
        assert!(matches!(refused("\"comment\"", "\"coment\""), TrustError::Json(_)));
        assert!(matches!(refused("\"version\"", "\"extra\": 1, \"version\""), TrustError::Json(_)));
        assert!(matches!(
            refused("BEGIN PUBLIC", "BEGIN PRIVATE"),
            TrustError::Key { kind: "verifier", .. }
        ));
        let other = refused(key(3).id().as_str(), key(4).id().as_str());
        assert!(matches!(other, TrustError::KeyId { kind: "coordinator", .. }), "{other}");
        assert!(other.to_string().contains(key(3).id().as_str()), "{other}");
    }
}
