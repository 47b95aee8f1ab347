//! Bundles that are damaged or lack what they build on.

use crate::bundle::{BundleError, unpack};
use crate::testing::{Fixture, git, write};
use crate::workspace::open;

fn bundle(fixture: &Fixture) -> Vec<u8> {
    let tree = fixture.prepare();
    write(&tree, "src/b.txt", "b\n");
    fixture.collect().unwrap().bundle.unwrap()
}

#[test]
fn a_bundle_round_trips() {
    let fixture = Fixture::new();
    let bundle = bundle(&fixture);
    fixture.prepare();
    let repository = open(&fixture.tree()).unwrap();
    let header = unpack(&repository, &bundle).unwrap();
    assert_eq!(header.prerequisites[0].to_string(), fixture.base.as_str());
    assert_eq!(header.refs[0].0, "refs/heads/work");
    assert!(repository.find_commit(header.refs[0].1).is_ok());
}

#[test]
fn damage_is_refused() {
    let fixture = Fixture::new();
    let bundle = bundle(&fixture);
    fixture.prepare();
    let repository = open(&fixture.tree()).unwrap();
    for cut in [0, 5, 20, 60, bundle.len() - 1] {
        assert!(unpack(&repository, &bundle[..cut]).is_err(), "cut at {cut}");
    }
    let mut flipped = bundle.clone();
    let at = bundle.len() - 30;
    flipped[at] ^= 1;
    assert!(unpack(&repository, &flipped).is_err());
}

#[test]
fn a_missing_prerequisite_is_named() {
    let fixture = Fixture::new();
    let bundle = bundle(&fixture);
    let empty = tempfile::TempDir::new().unwrap();
    git(empty.path(), &["init", "-q"]);
    let error = unpack(&open(empty.path()).unwrap(), &bundle).unwrap_err();
    assert!(matches!(error, BundleError::Prerequisite(_)), "{error}");
}
