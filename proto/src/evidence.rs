//! Evidence: signed in-toto statements bound to an exact git tree, and what they prove (SPEC A5, F1).
//!
//! The way of one check: a [`receipt::Receipt`] says what ran; [`attest::attest`] judges it and signs the
//! receipt and a [`test_result::TestResult`]; [`verdict::verdict`] weighs them for one tree; what is verified
//! becomes a [`dossier::Dossier`], the files that land beside the commit, whose trailer names their digest.
//! All of it is pure, except that [`keys::SigningKey::generate`] draws random bytes. Running checkers, storing
//! files and moving refs happen elsewhere. The formats are in `docs/EVIDENCE.md`.

pub mod attest;
pub mod counts;
pub mod dossier;
pub mod dsse;
pub mod keys;
pub mod listing;
pub mod receipt;
pub mod statement;
pub mod summary;
pub mod test_result;
mod timestamp;
pub mod trust;
pub mod verdict;

pub use attest::{Evidence, attest};
pub use counts::TestCounts;
pub use dossier::{Dossier, Stamp, dossier};
pub use keys::{KeyId, SigningKey, VerifyingKey};
pub use listing::Listing;
pub use receipt::{Ending, Receipt};
pub use statement::{Binding, Subject};
pub use trust::{Trust, TrustedKey};
pub use verdict::{Policy, Question, Verdict, verdict};

#[cfg(test)]
mod interop_tests;
#[cfg(test)]
mod samples;
