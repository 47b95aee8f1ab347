//! The names of things, one type each, valid from the moment they exist.
//!
//! A name that people choose is any text without control characters up to [`NAME_BYTES_MAX`]; it is kept byte
//! for byte, so that look-alikes stay distinct. How a name becomes a subject token, a ref or a file name is
//! in [`crate::subjects`].

use std::fmt;

/// Longest name in bytes: its encoded form (three bytes each at worst) must fit a file name with a suffix.
pub const NAME_BYTES_MAX: usize = 80;

/// Why a text is not a valid name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing was given.
    #[error("{what} is empty: give it a name")]
    Empty {
        /// The kind of name.
        what: &'static str,
    },
    /// Longer than [`NAME_BYTES_MAX`].
    #[error("{what} has {bytes} bytes, the limit is {NAME_BYTES_MAX}: shorten it")]
    TooLong {
        /// The kind of name.
        what: &'static str,
        /// Its length.
        bytes: usize,
    },
    /// Contains a control character.
    #[error("{what} {name:?} has a control character at byte {at}: remove it")]
    Control {
        /// The kind of name.
        what: &'static str,
        /// The text, to be shown escaped.
        name: String,
        /// Byte offset.
        at: usize,
    },
    /// Not a lower-case hexadecimal id of the right length.
    #[error("{what} {name:?} is not {expected}")]
    Hex {
        /// The kind of id.
        what: &'static str,
        /// The text, cut to what can be shown.
        name: String,
        /// What was expected.
        expected: &'static str,
    },
}

fn check_name(what: &'static str, name: &str) -> Result<(), NameError> {
    if name.is_empty() {
        return Err(NameError::Empty { what });
    }
    if name.len() > NAME_BYTES_MAX {
        return Err(NameError::TooLong { what, bytes: name.len() });
    }
    match name.char_indices().find(|(_, c)| c.is_control()) {
        Some((at, _)) => Err(NameError::Control { what, name: name.to_owned(), at }),
        None => Ok(()),
    }
}

fn check_hex(
    what: &'static str,
    text: &str,
    lengths: &[usize],
    expected: &'static str,
) -> Result<(), NameError> {
    let hex = text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    if hex && lengths.contains(&text.len()) {
        return Ok(());
    }
    Err(NameError::Hex { what, name: text.chars().take(80).collect(), expected })
}

/// Declares a string newtype whose only way in is its check.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(std::sync::Arc<str>);

        impl $name {
            /// Checks the text and takes it as it is.
            ///
            /// # Errors
            /// [`NameError`] names what is wrong.
            pub fn new(text: impl AsRef<str>) -> Result<Self, NameError> {
                let text = text.as_ref();
                let check: fn(&str) -> Result<(), NameError> = $check;
                check(text)?;
                Ok(Self(text.into()))
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({:?})", stringify!($name), &*self.0)
            }
        }
    };
}

id!(/// One plan submitted against one repository and target.
    RunId, |t| check_name("run id", t));
id!(/// One node of a plan; unique in its run.
    ItemId, |t| check_name("item id", t));
id!(/// The name of a role, as in the configuration.
    RoleName, |t| check_name("role name", t));
id!(/// The name under which a pool's host is known.
    HostName, |t| check_name("host name", t));
id!(/// The id of an acceptance criterion; unique in its contract.
    CriterionId, |t| check_name("criterion id", t));
id!(/// The container (or process) that holds a lease.
    ContainerName, |t| check_name("container name", t));
id!(/// Chosen at random by the lease holder: 128 bits, 32 hex digits.
    LeaseId, |t| check_hex("lease id", t, &[32], "32 lower-case hex digits"));
id!(/// A git commit: 40 (sha1) or 64 (sha256) hex digits.
    CommitId, |t| check_hex("commit id", t, &[40, 64], "40 or 64 lower-case hex digits"));
id!(/// A git tree: 40 (sha1) or 64 (sha256) hex digits.
    TreeId, |t| check_hex("tree id", t, &[40, 64], "40 or 64 lower-case hex digits"));
id!(/// A sha256, 64 hex digits.
    Digest, |t| check_hex("sha256", t, &[64], "64 lower-case hex digits"));
id!(/// A learning: 16 hex digits derived from its rule.
    LearningId, |t| check_hex("learning id", t, &[16], "16 lower-case hex digits"));
id!(/// A repository as mirrors know it: 16 hex digits derived from its location.
    RepositoryId, |t| check_hex("repository id", t, &[16], "16 lower-case hex digits"));

impl Digest {
    /// The digest of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        use sha2::Digest as _;
        Self(hex(&sha2::Sha256::digest(bytes)).into())
    }
}

impl RepositoryId {
    /// Derived from the location, so that every submission against it shares one mirror.
    #[must_use]
    pub fn of(location: &str) -> Self {
        Self(Digest::of(location.as_bytes()).as_str()[..16].into())
    }
}

impl LearningId {
    /// Derived from the rule, whatever its case and spacing: the same rule is the same learning.
    #[must_use]
    pub fn of(rule: &str) -> Self {
        let words: Vec<String> = rule.split_whitespace().map(str::to_lowercase).collect();
        Self(Digest::of(words.join(" ").as_bytes()).as_str()[..16].into())
    }
}

impl LeaseId {
    /// Formats 128 bits that the caller drew.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(hex(&bytes).into())
    }
}

/// Lower-case hexadecimal.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string does not fail");
        text
    })
}

/// Counts the attempts at an item, from 1, in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptNumber(pub u32);

impl fmt::Display for AttemptNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A content-addressed blob of the object store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Blob {
    /// What it is called and checked by.
    pub sha256: Digest,
    /// Its length.
    pub size_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_or_refused_with_the_reason() {
        for kept in ["a", "a.b*c>d:e/f%g h", "\"q\"", "🎼", "é", "e\u{301}", "..", &"x".repeat(80)]
        {
            assert_eq!(ItemId::new(kept).unwrap().as_str(), kept);
        }
        assert_ne!(ItemId::new("é").unwrap(), ItemId::new("e\u{301}").unwrap());
        assert_eq!(ItemId::new("").unwrap_err().to_string(), "item id is empty: give it a name");
        assert!(ItemId::new("x".repeat(1000)).unwrap_err().to_string().contains("1000 bytes"));
        assert!(
            ItemId::new("a\nb").unwrap_err().to_string().contains("control character at byte 1")
        );
    }

    #[test]
    fn hex_ids_have_their_length() {
        assert!(CommitId::new("a".repeat(40)).is_ok());
        assert!(CommitId::new("a".repeat(64)).is_ok());
        assert!(CommitId::new("A".repeat(40)).is_err());
        assert!(CommitId::new("a".repeat(41)).is_err());
        assert!(CommitId::new("--upload-pack=x").is_err());
    }

    #[test]
    fn digest_of_nothing_is_the_published_one() {
        assert_eq!(
            Digest::of(b"").as_str(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}
