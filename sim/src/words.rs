//! Ids that stand for words: the same word is the same commit, tree, digest or blob in every run of a seed.

use cantus_proto::evidence::SigningKey;
use cantus_proto::ids::{
    Blob, CommitId, ContainerName, Digest, ItemId, LeaseId, RoleName, RunId, TreeId,
};

pub(crate) fn run_id(name: &str) -> RunId {
    RunId::new(name).expect("names of the simulator are valid")
}

pub(crate) fn item_id(name: &str) -> ItemId {
    ItemId::new(name).expect("names of the simulator are valid")
}

pub(crate) fn role(name: &str) -> RoleName {
    RoleName::new(name).expect("names of the simulator are valid")
}

pub(crate) fn container(name: &str) -> ContainerName {
    ContainerName::new(name).expect("names of the simulator are valid")
}

pub(crate) fn digest(word: &str) -> Digest {
    Digest::of(word.as_bytes())
}

pub(crate) fn commit(word: &str) -> CommitId {
    CommitId::new(&digest(word).as_str()[..40]).expect("a digest is hexadecimal")
}

pub(crate) fn tree(word: &str) -> TreeId {
    TreeId::new(&digest(&format!("tree {word}")).as_str()[..40]).expect("a digest is hexadecimal")
}

pub(crate) fn blob(word: &str) -> Blob {
    Blob { sha256: digest(word), size_bytes: 1 }
}

pub(crate) fn lease_id(drawn: u64) -> LeaseId {
    LeaseId::from_bytes(u128::from(drawn).to_be_bytes())
}

/// The key that the coordinator trusts.
pub(crate) fn trusted_key() -> SigningKey {
    SigningKey::from_bytes(&[1; 32])
}

/// Somebody else's.
pub(crate) fn foreign_key() -> SigningKey {
    SigningKey::from_bytes(&[2; 32])
}
