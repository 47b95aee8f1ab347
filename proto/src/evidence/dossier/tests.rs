//! The files of a landing: their names, their manifest and their summary.

use super::super::samples::{coordinator_key, evidence, question, trust};
use super::*;

fn stamp() -> Stamp {
    Stamp {
        repository: RepositoryId::new("0123456789abcdef").unwrap(),
        target: "refs/heads/main".to_owned(),
        verified_s: 1_796_060_768,
    }
}

fn made(evidence: &[Evidence]) -> Result<Dossier, Verdict> {
    let (policy, key) = (Policy::default(), coordinator_key());
    dossier(&question(), evidence, &trust(), policy, &stamp(), &key)
}

#[test]
fn the_manifest_is_what_sha256sum_prints() {
    let files = [("b", "2"), ("a", "1")].map(|(n, b)| (n.to_owned(), b.as_bytes().to_vec()));
    let (text, digest) = manifest(&files.into());
    // printf 1 >a; printf 2 >b; sha256sum a b
    let expected = "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b  a\n\
                    d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35  b\n";
    assert_eq!(text, expected);
    assert_eq!(digest, Digest::of(expected.as_bytes()));
}

#[test]
fn a_verified_tree_has_its_files() {
    let made = made(&evidence()).unwrap();
    let names: Vec<_> = made.files.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "AC-01.dsse.json",
            "AC-01.receipt.json",
            "AC=202=2F=C3=A9.dsse.json",
            "AC=202=2F=C3=A9.receipt.json",
            "summary.vsa.dsse.json",
        ]
    );
    assert_eq!((made.manifest.clone(), made.digest.clone()), manifest(&made.files));
    let opened = dsse::open(&made.files[SUMMARY_NAME], trust().coordinator()).unwrap();
    let summary = Summary::decode(&opened.payload).unwrap();
    assert_eq!(summary.question, question());
    assert_eq!(summary.inputs.len(), 4);
    for (name, digest) in &summary.inputs {
        assert_eq!(*digest, Digest::of(&made.files[name]), "{name}");
    }
}

#[test]
fn what_is_not_verified_has_none() {
    let verdict = made(&evidence()[..1]).unwrap_err();
    assert!(matches!(verdict, Verdict::Inconclusive { .. }), "{verdict:?}");
}

#[test]
fn the_longest_name_fits_a_file_system() {
    let id = CriterionId::new("ä".repeat(crate::ids::NAME_BYTES_MAX / 2)).unwrap();
    assert!(statement_name(&id).len() <= 255 && receipt_name(&id).len() <= 255);
}

#[test]
fn no_criterion_takes_the_name_of_the_summary() {
    for id in ["summary", "summary.vsa", "x", "x.receipt", "summary.vsa.dsse.json"] {
        let id = CriterionId::new(id).unwrap();
        let names = [statement_name(&id), receipt_name(&id), SUMMARY_NAME.to_owned()];
        assert_eq!(std::collections::BTreeSet::from(names).len(), 3, "{id}");
    }
    let of = |id: &str| statement_name(&CriterionId::new(id).unwrap());
    assert_ne!(of("x.receipt"), receipt_name(&CriterionId::new("x").unwrap()));
    assert_ne!(of("a b"), of("a=20b"));
}
