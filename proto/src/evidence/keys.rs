//! Ed25519 keys, how they are written, and the key id that other tools compute for them.
//!
//! Where keys are stored and who may have them is not decided here; whom to believe is in [`super::trust`].

use std::fmt;

use ed25519_dalek::Signer as _;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{
    DecodePrivateKey as _, DecodePublicKey as _, EncodePrivateKey as _, EncodePublicKey as _,
    KeypairBytes,
};

use crate::ids::{Digest, hex};

/// Bytes of a secret or public key.
const KEY_BYTES: usize = 32;
/// Bytes of a signature.
pub const SIGNATURE_BYTES: usize = 64;

/// Why a key could not be had.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The system gave no random bytes.
    #[error("no random bytes for a new key: the system's random source failed: {0}")]
    Random(getrandom::Error),
    /// Not a PKCS#8 PEM of an ed25519 secret key.
    #[error(
        "not an ed25519 secret key in PKCS#8 PEM: make one with `openssl genpkey -algorithm ed25519`"
    )]
    Secret(#[source] ed25519_dalek::pkcs8::Error),
    /// Not an SPKI PEM of an ed25519 public key.
    #[error("not an ed25519 public key in PEM: print it with `openssl pkey -in KEY -pubout`")]
    Public(#[source] ed25519_dalek::pkcs8::spki::Error),
    /// Not 64 hex digits of a usable point.
    #[error("public key {0:?} is not 64 lower-case hex digits of an ed25519 public key")]
    Hex(String),
    /// Anyone can make signatures that such a key accepts.
    #[error(
        "public key {0} is one of the weak ed25519 keys that accept forged signatures: make a new key"
    )]
    Weak(String),
}

/// How securesystemslib names a key: the sha256 of its canonical JSON. A hint in envelopes, never a proof.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(Digest);

impl KeyId {
    /// 64 hex digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A secret key. Its `Debug` shows the key id alone; memory is wiped when it is dropped.
#[derive(Clone)]
pub struct SigningKey(ed25519_dalek::SigningKey);

impl SigningKey {
    /// A key from 32 secret bytes.
    #[must_use]
    pub fn from_bytes(secret: &[u8; KEY_BYTES]) -> Self {
        Self(ed25519_dalek::SigningKey::from_bytes(secret))
    }

    /// A new key from the system's random source: the one function of evidence that is not pure.
    ///
    /// # Errors
    /// [`KeyError::Random`] when the source fails.
    pub fn generate() -> Result<Self, KeyError> {
        let mut secret = [0; KEY_BYTES];
        getrandom::fill(&mut secret).map_err(KeyError::Random)?;
        Ok(Self::from_bytes(&secret))
    }

    /// Reads PKCS#8 PEM, as this type or `openssl genpkey -algorithm ed25519` writes it.
    ///
    /// # Errors
    /// [`KeyError::Secret`] when it is something else.
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        ed25519_dalek::SigningKey::from_pkcs8_pem(pem).map(Self).map_err(KeyError::Secret)
    }

    /// PKCS#8 PEM, version 1: without the public half, because OpenSSL 3.0 does not read version 2.
    #[must_use]
    pub fn to_pem(&self) -> String {
        KeypairBytes { secret_key: self.0.to_bytes(), public_key: None }
            .to_pkcs8_pem(LineEnding::LF)
            .expect("32 bytes always have a PKCS#8 form")
            .as_str()
            .to_owned()
    }

    /// The public half.
    #[must_use]
    pub fn verifying_key(&self) -> VerifyingKey {
        VerifyingKey(self.0.verifying_key())
    }

    /// Signs these bytes as they are; deterministic.
    #[must_use]
    pub fn sign(&self, message: &[u8]) -> [u8; SIGNATURE_BYTES] {
        self.0.sign(message).to_bytes()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey(id {})", self.verifying_key().id())
    }
}

/// A public key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyingKey(ed25519_dalek::VerifyingKey);

impl VerifyingKey {
    /// Reads 64 hex digits.
    ///
    /// # Errors
    /// [`KeyError::Hex`] or [`KeyError::Weak`].
    pub fn from_hex(text: &str) -> Result<Self, KeyError> {
        let refused = || KeyError::Hex(text.chars().take(2 * KEY_BYTES).collect());
        let digest = Digest::new(text).map_err(|_| refused())?;
        let mut bytes = [0; KEY_BYTES];
        for (byte, pair) in bytes.iter_mut().zip(digest.as_str().as_bytes().chunks_exact(2)) {
            let pair = std::str::from_utf8(pair).expect("hex digits are ASCII");
            *byte = u8::from_str_radix(pair, 16).expect("the digest type holds hex digits only");
        }
        Self::checked(ed25519_dalek::VerifyingKey::from_bytes(&bytes).map_err(|_| refused())?)
    }

    /// Reads SPKI PEM, as `openssl pkey -pubout` writes it.
    ///
    /// # Errors
    /// [`KeyError::Public`] or [`KeyError::Weak`].
    pub fn from_pem(pem: &str) -> Result<Self, KeyError> {
        Self::checked(
            ed25519_dalek::VerifyingKey::from_public_key_pem(pem).map_err(KeyError::Public)?,
        )
    }

    fn checked(key: ed25519_dalek::VerifyingKey) -> Result<Self, KeyError> {
        if key.is_weak() { Err(KeyError::Weak(hex(key.as_bytes()))) } else { Ok(Self(key)) }
    }

    /// 64 hex digits.
    #[must_use]
    pub fn to_hex(&self) -> String {
        hex(self.0.as_bytes())
    }

    /// SPKI PEM.
    #[must_use]
    pub fn to_pem(&self) -> String {
        self.0.to_public_key_pem(LineEnding::LF).expect("32 bytes always have an SPKI form")
    }

    /// The id that securesystemslib computes for this key.
    #[must_use]
    pub fn id(&self) -> KeyId {
        let canonical = format!(
            r#"{{"keytype":"ed25519","keyval":{{"public":"{}"}},"scheme":"ed25519"}}"#,
            self.to_hex()
        );
        KeyId(Digest::of(canonical.as_bytes()))
    }

    /// Whether the signature is this key's over these bytes; strict, so that no signature has a twin.
    #[must_use]
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let Ok(bytes) = <[u8; SIGNATURE_BYTES]>::try_from(signature) else { return false };
        self.0.verify_strict(message, &ed25519_dalek::Signature::from_bytes(&bytes)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pem_and_hex_come_back() {
        let key = SigningKey::from_bytes(&[7; 32]);
        let again = SigningKey::from_pem(&key.to_pem()).unwrap();
        assert_eq!(again.sign(b"x"), key.sign(b"x"));
        let public = key.verifying_key();
        assert_eq!(VerifyingKey::from_pem(&public.to_pem()).unwrap(), public);
        assert_eq!(VerifyingKey::from_hex(&public.to_hex()).unwrap(), public);
        assert_ne!(
            SigningKey::generate().unwrap().to_pem(),
            SigningKey::generate().unwrap().to_pem()
        );
    }

    #[test]
    fn the_secret_never_shows() {
        let shown = format!("{:?}", SigningKey::from_bytes(&[7; 32]));
        assert!(shown.starts_with("SigningKey(id ") && !shown.contains("0707"), "{shown}");
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let key = SigningKey::from_bytes(&[7; 32]);
        assert!(matches!(
            SigningKey::from_pem(&key.verifying_key().to_pem()),
            Err(KeyError::Secret(_))
        ));
        assert!(matches!(VerifyingKey::from_pem(&key.to_pem()), Err(KeyError::Public(_))));
        assert!(matches!(VerifyingKey::from_hex("00"), Err(KeyError::Hex(_))));
        assert!(matches!(
            VerifyingKey::from_hex(&key.verifying_key().to_hex().to_uppercase()),
            Err(KeyError::Hex(_))
        ));
        // The neutral element: a small-order point, for which anyone can sign.
        let weak = format!("01{}", "00".repeat(31));
        assert!(matches!(VerifyingKey::from_hex(&weak), Err(KeyError::Weak(_))));
    }
}
