//! The DSSE envelope: a payload, its type and signatures over both, as JSON (DSSE v1.0.2).
//!
//! [`open`] is the way to a payload that may be believed. What the payload says is in [`super::statement`].

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::keys::{KeyId, SigningKey};
use super::trust::TrustedKey;

/// The one payload type that Cantus signs and accepts.
pub const PAYLOAD_TYPE: &str = "application/vnd.in-toto+json";

/// Largest envelope in bytes: a statement is a few kilobytes, and several must fit one report.
pub const ENVELOPE_BYTES_MAX: usize = 256 * 1024;

/// Most signatures of one envelope: each costs a verification per trusted key.
const SIGNATURES_MAX: usize = 16;

/// Why an envelope is not believed.
#[derive(Debug, thiserror::Error)]
pub enum DsseError {
    /// Over [`ENVELOPE_BYTES_MAX`].
    #[error("the envelope has {bytes} bytes, the limit is {ENVELOPE_BYTES_MAX}")]
    TooLarge {
        /// Its length.
        bytes: usize,
    },
    /// Not an envelope at all.
    #[error("not a DSSE envelope in JSON")]
    Json(#[source] serde_json::Error),
    /// Not standard base64 with its padding.
    #[error("the envelope's {field} is not base64")]
    Base64 {
        /// `payload` or `sig`.
        field: &'static str,
        /// Where.
        source: base64::DecodeError,
    },
    /// Some other kind of payload.
    #[error("payload type {found:?} is not {PAYLOAD_TYPE:?}")]
    PayloadType {
        /// As the envelope says, cut.
        found: String,
    },
    /// None, or too many.
    #[error("the envelope has {count} signatures: 1 to {SIGNATURES_MAX} are accepted")]
    Signatures {
        /// How many.
        count: usize,
    },
    /// A signature that says it is a trusted key's, and is not.
    #[error("the signature of key {keyid} does not match the payload: the envelope was changed")]
    Changed {
        /// As the envelope says.
        keyid: KeyId,
    },
    /// No signature is by a key that is trusted for this.
    #[error("no signature is by one of the {trusted} trusted keys; the envelope names key {named}")]
    Untrusted {
        /// How many keys were tried.
        trusted: usize,
        /// The key ids in the envelope, cut.
        named: String,
    },
}

/// Pre-authentication encoding: the bytes that are signed.
#[must_use]
pub fn pae(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len());
    [head.as_bytes(), payload].concat()
}

/// A payload with the key that vouches for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// What was signed.
    pub payload: Vec<u8>,
    /// The trusted key whose signature holds.
    pub signer: KeyId,
}

/// Signs a payload; gives the envelope as JSON.
#[must_use]
pub fn sign(payload: &[u8], key: &SigningKey) -> Vec<u8> {
    let signature = key.sign(&pae(PAYLOAD_TYPE, payload));
    let envelope = EnvelopeJson {
        payload_type: PAYLOAD_TYPE.to_owned(),
        payload: STANDARD.encode(payload),
        signatures: vec![SignatureJson {
            keyid: key.verifying_key().id().to_string(),
            sig: STANDARD.encode(signature),
        }],
    };
    serde_json::to_vec(&envelope).expect("strings always have a JSON form")
}

/// Opens an envelope that one of these keys signed. Every key is tried on every signature: the key id is
/// only a hint, and signatures by others do no harm.
///
/// # Errors
/// [`DsseError`] says why the payload must not be believed.
pub fn open(envelope: &[u8], keys: &[TrustedKey]) -> Result<Opened, DsseError> {
    let envelope = Envelope::parse(envelope)?;
    let signed = pae(PAYLOAD_TYPE, &envelope.payload);
    for signature in &envelope.signatures {
        if let Some(key) = keys.iter().find(|key| key.public().verifies(&signed, &signature.bytes))
        {
            return Ok(Opened { payload: envelope.payload, signer: key.id() });
        }
    }
    let named =
        |key: &&TrustedKey| envelope.signatures.iter().any(|s| s.keyid == key.id().as_str());
    match keys.iter().find(named) {
        Some(key) => Err(DsseError::Changed { keyid: key.id() }),
        None => Err(DsseError::Untrusted { trusted: keys.len(), named: envelope.named() }),
    }
}

/// An envelope whose signatures nobody has checked yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// Not to be believed as it is: for showing alone.
    pub payload: Vec<u8>,
    signatures: Vec<Signature>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Signature {
    keyid: String,
    bytes: Vec<u8>,
}

impl Envelope {
    /// Reads the JSON form, without looking at the signatures.
    ///
    /// # Errors
    /// [`DsseError`] when it is no envelope of an in-toto statement.
    pub fn parse(json: &[u8]) -> Result<Self, DsseError> {
        if json.len() > ENVELOPE_BYTES_MAX {
            return Err(DsseError::TooLarge { bytes: json.len() });
        }
        let wire: EnvelopeJson = serde_json::from_slice(json).map_err(DsseError::Json)?;
        if wire.payload_type != PAYLOAD_TYPE {
            return Err(DsseError::PayloadType {
                found: wire.payload_type.chars().take(80).collect(),
            });
        }
        let count = wire.signatures.len();
        if count == 0 || count > SIGNATURES_MAX {
            return Err(DsseError::Signatures { count });
        }
        let decode = |field, text: &str| {
            STANDARD.decode(text).map_err(|source| DsseError::Base64 { field, source })
        };
        let signatures = wire
            .signatures
            .into_iter()
            .map(|s| Ok(Signature { bytes: decode("sig", &s.sig)?, keyid: s.keyid }))
            .collect::<Result<_, DsseError>>()?;
        Ok(Self { payload: decode("payload", &wire.payload)?, signatures })
    }

    fn named(&self) -> String {
        let ids = self.signatures.iter().map(|s| s.keyid.chars().take(64).collect::<String>());
        format!("{:?}", ids.collect::<Vec<_>>().join(", "))
    }
}

#[derive(Serialize, Deserialize)]
struct EnvelopeJson {
    #[serde(rename = "payloadType")]
    payload_type: String,
    payload: String,
    signatures: Vec<SignatureJson>,
}

#[derive(Serialize, Deserialize)]
struct SignatureJson {
    #[serde(default)]
    keyid: String,
    sig: String,
}

#[cfg(test)]
mod tests;
