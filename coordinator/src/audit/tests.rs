//! Landings that are sound, and each part of one spoiled in turn.

use cantus_proto::evidence::dossier::SUMMARY_NAME;
use cantus_proto::message::Isolation;

use super::fixture::Fixture;
use super::*;

fn has(findings: &[String], text: &str) {
    assert!(findings.iter().any(|finding| finding.contains(text)), "{text:?} not in {findings:#?}");
}

/// A repository with one sound landing.
fn landed() -> Fixture {
    let fixture = Fixture::new();
    fixture.commit(&fixture.draft("a"));
    fixture
}

#[test]
fn sound_landings_pass_in_worktree_and_bare_clone() {
    let fixture = landed();
    fixture.commit(&fixture.draft("b"));
    let report = fixture.audit();
    assert_eq!(report.outcome(), AuditOutcome::Passed, "{report:#?}");
    assert_eq!(report.summary(), "HEAD: all 2 commits have valid evidence");
    let first = &report.commits[0];
    assert_eq!(first.title, "Land a");
    assert_eq!(first.item.as_ref().unwrap().as_str(), "a");
    assert_eq!(first.criteria.len(), 2);
    assert!(first.evidence.is_some() && !first.process_isolation);

    let bare = fixture.directory.path().join("bare.git");
    fixture.git(&["clone", "--quiet", "--mirror", ".", bare.to_str().unwrap()]);
    let trust = fixture.ours.trust();
    assert_eq!(audit(&bare, Some("main"), &trust).unwrap().commits, report.commits);
    // Nothing above the named directory is looked at.
    std::fs::create_dir(fixture.path().join("below")).unwrap();
    let below = audit(&fixture.path().join("below"), None, &trust).unwrap_err();
    assert!(matches!(below, AuditError::Open { .. }), "{below}");
}

#[test]
fn a_plain_clone_is_told_to_fetch_the_evidence() {
    let fixture = landed();
    fixture.git(&["update-ref", "-d", "refs/evidence/run=2E1"]);
    let report = fixture.audit();
    assert_eq!(report.outcome(), AuditOutcome::Failed);
    has(
        &report.commits[0].findings,
        "there is no refs/evidence/run=2E1 here: get it with `git fetch",
    );
}

#[test]
fn a_flipped_byte_is_found() {
    for name in ["AC-01.dsse.json", "AC-01.receipt.json", SUMMARY_NAME] {
        let fixture = landed();
        let mut draft = fixture.draft("b");
        let bytes = draft.files.get_mut(name).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        let findings = fixture.findings(&draft);
        has(&findings, "its trailer names evidence sha256:");
        if name == SUMMARY_NAME {
            has(&findings, "summary.vsa.dsse.json not believed");
        } else {
            has(&findings, &format!("{name} has sha256"));
            has(&findings, "criterion AC-01: ");
        }
        // Also when the trailer is made to fit.
        let mut draft = fixture.draft("c");
        draft.files.get_mut(name).unwrap()[middle] ^= 1;
        draft.rename_evidence();
        fixture.commit(&draft);
        let report = fixture.audit();
        assert!(!report.commits.last().unwrap().findings.is_empty(), "{name}");
    }
}

#[test]
fn evidence_for_another_tree_names_both() {
    // The evidence lies where it belongs, and the commit has another tree.
    let fixture = landed();
    let mut draft = fixture.draft("b");
    let verified = draft.tree.clone();
    fixture.write("smuggled", "");
    draft.tree = fixture.tree().0;
    let findings = fixture.findings(&draft);
    assert_eq!(findings.len(), 1, "{findings:#?}");
    has(&findings, &format!("is for tree {verified}, the commit has tree {}", draft.tree));

    // The evidence is put where it does not belong.
    let mut draft = fixture.draft("c");
    let verified = draft.tree.clone();
    fixture.write("smuggled too", "");
    draft.tree = fixture.tree().0;
    draft.directory = draft.tree.clone();
    let findings = fixture.findings(&draft);
    let tree = &draft.tree;
    has(&findings, &format!("{SUMMARY_NAME} is for tree {verified}, the commit has tree {tree}"));
    has(&findings, &format!("criterion AC-02: evidence is for tree {verified}, not for {tree}"));
    has(&findings, "git ls-tree sha256");
}

#[test]
fn no_evidence_at_all_is_found() {
    let fixture = landed();
    let mut draft = fixture.draft("b");
    draft.directory = "e".repeat(40);
    draft.message = draft.message.replace("sha256:", "sha256:0").replace("sha256:00", "sha256:0");
    draft.message = {
        let (head, digest) = draft.message.split_at(draft.message.find("sha256:").unwrap() + 7);
        format!("{head}{}\n", &digest.trim_end()[..64])
    };
    let findings = fixture.findings(&draft);
    has(&findings, &format!("refs/evidence/run=2E1 has no evidence for tree {}", draft.tree));
}

#[test]
fn a_missing_criterion_is_found() {
    let fixture = landed();
    let mut draft = fixture.draft("b");
    draft.files.remove("AC-02.dsse.json").unwrap();
    draft.files.remove("AC-02.receipt.json").unwrap();
    draft.rename_evidence();
    let findings = fixture.findings(&draft);
    has(&findings, "AC-02.dsse.json is in the summary, and is missing");
    has(&findings, "criterion AC-02: there is no evidence");
    assert!(!findings.iter().any(|finding| finding.contains("AC-01")), "{findings:#?}");

    let mut draft = fixture.draft("c");
    draft.files.remove("AC-02.receipt.json").unwrap();
    draft.rename_evidence();
    has(&fixture.findings(&draft), "criterion AC-02: the receipt has sha256");

    let mut draft = fixture.draft("d");
    draft.files.remove(SUMMARY_NAME).unwrap();
    draft.rename_evidence();
    has(&fixture.findings(&draft), "the evidence has no summary.vsa.dsse.json");
}

#[test]
fn a_stray_file_is_found() {
    let fixture = landed();
    let mut draft = fixture.draft("b");
    draft.files.insert("AC-03.dsse.json".to_owned(), b"{}".to_vec());
    draft.rename_evidence();
    has(&fixture.findings(&draft), "AC-03.dsse.json is not in the summary");
}

#[test]
fn evidence_of_strangers_is_found() {
    let fixture = landed();
    fixture.write("b", "");
    let draft = fixture.draft_by(&fixture.strangers, "b", Isolation::Container);
    has(&fixture.findings(&draft), "summary.vsa.dsse.json not believed: no signature is by one of");

    // Strangers verified it, and our coordinator was made to sign the summary of that.
    fixture.write("c", "");
    let mixed = super::fixture::Signers {
        verifier: fixture.strangers.verifier.clone(),
        coordinator: fixture.ours.coordinator.clone(),
    };
    let draft = fixture.draft_by(&mixed, "c", Isolation::Container);
    has(&fixture.findings(&draft), "criterion AC-01: statement not believed: no signature");
}

#[test]
fn a_wrong_digest_and_broken_trailers_are_found() {
    let fixture = landed();
    let mut draft = fixture.draft("b");
    let digest = Digest::of(b"other");
    let end = draft.message.find("sha256:").unwrap();
    draft.message.truncate(end);
    draft.message.push_str(&format!("sha256:{digest}\n"));
    let findings = fixture.findings(&draft);
    assert_eq!(findings.len(), 1, "{findings:#?}");
    has(
        &findings,
        &format!("its trailer names evidence sha256:{digest}, that of tree {}", draft.tree),
    );

    let mut draft = fixture.draft("c");
    draft.message = draft.message.replace("Cantus-Item: c\n", "");
    assert_eq!(fixture.findings(&draft), ["no trailer Cantus-Item"]);

    let mut draft = fixture.draft("d");
    draft.message = draft.message.replace("Cantus-Item: d", "Cantus-Item: e");
    let findings = fixture.findings(&draft);
    has(&findings, "summary.vsa.dsse.json is for item d, the commit has item e");
    has(&findings, "criterion AC-01: evidence is for item d, not for e");
}

#[test]
fn a_commit_that_did_not_land_through_cantus_is_found() {
    let fixture = landed();
    let mut draft = fixture.draft("b");
    draft.message = "Pushed by hand\n".to_owned();
    let findings = fixture.findings(&draft);
    assert_eq!(findings, ["no Cantus trailers: it did not land through Cantus"]);
    let report = fixture.audit();
    assert_eq!(report.summary(), "HEAD: 1 of 3 commits lack valid evidence");
}

#[test]
fn two_items_may_land_one_tree() {
    let fixture = landed();
    fixture.commit(&fixture.draft("b"));
    fixture.commit(&fixture.draft_by(&fixture.ours, "b again", Isolation::Container));
    let report = fixture.audit();
    assert_eq!(report.commits[1].tree, report.commits[2].tree);
    assert_ne!(report.commits[1].evidence, report.commits[2].evidence);
    assert_eq!(report.outcome(), AuditOutcome::Passed, "{report:#?}");
}

#[test]
fn process_isolation_that_was_allowed_is_shown() {
    let fixture = landed();
    fixture.write("b", "");
    fixture.commit(&fixture.draft_by(&fixture.ours, "b", Isolation::Process));
    let report = fixture.audit();
    assert_eq!(report.outcome(), AuditOutcome::Passed, "{report:#?}");
    assert_eq!(
        report.commits.iter().map(|c| c.process_isolation).collect::<Vec<_>>(),
        [false, true]
    );
}

#[test]
fn ranges_are_first_parent_and_may_be_empty() {
    let fixture = landed();
    let first = fixture.git(&["rev-parse", "HEAD"]);
    fixture.commit(&fixture.draft("b"));
    let count = |range: &str| fixture.audit_range(Some(range)).unwrap().commits.len();
    assert_eq!(count("main"), 2);
    assert_eq!(count(&format!("{first}..main")), 1);
    assert_eq!(count(&format!("{first}..")), 1);
    // From the very first commit on, that has no trailers: named, so it is checked too.
    let all = fixture.audit_range(Some(&format!("{first}~1..main"))).unwrap();
    assert_eq!(all.outcome(), AuditOutcome::Passed);
    let none = fixture.audit_range(Some("main..main")).unwrap();
    assert_eq!(none.outcome(), AuditOutcome::Empty);
    assert_eq!(none.summary(), "nothing to audit: main..main has no landed commits");
    for range in ["main...HEAD", "nowhere", "main..nowhere", "HEAD^{tree}"] {
        let error = fixture.audit_range(Some(range)).unwrap_err();
        assert!(matches!(error, AuditError::Range { .. }), "{error}");
    }
}

#[test]
fn a_repository_without_landings_or_commits() {
    let report = Fixture::new().audit();
    assert_eq!(report.outcome(), AuditOutcome::Empty);
    let nothing = tempfile::tempdir().unwrap();
    Repository::init(nothing.path()).unwrap();
    let error = audit(nothing.path(), None, &Trust::default()).unwrap_err();
    assert!(error.to_string().contains("has no commits yet"), "{error}");
}

#[test]
fn what_hides_history_is_refused_or_ignored() {
    let fixture = landed();
    fixture.commit(&fixture.draft("b"));
    let shallow = fixture.directory.path().join("shallow");
    let url = format!("file://{}", fixture.path().display());
    fixture.git(&["clone", "--quiet", "--depth=1", &url, shallow.to_str().unwrap()]);
    let trust = fixture.ours.trust();
    let error = audit(&shallow, None, &trust).unwrap_err();
    assert!(matches!(error, AuditError::Shallow { .. }), "{error}");

    // A replacement shows readers a commit with evidence in the place of one that has none.
    let sound = fixture.git(&["rev-parse", "HEAD"]);
    fixture.write("smuggled", "");
    let tree = fixture.tree().0;
    let message = "Pushed by hand";
    let smuggled = fixture.git(&["commit-tree", &tree, "-p", &sound, "-m", message]);
    fixture.git(&["update-ref", "HEAD", &smuggled]);
    fixture.git(&["replace", &smuggled, &sound]);
    assert!(fixture.git(&["log", "-1", "--format=%s"]).starts_with("Land"));
    let report = fixture.audit();
    assert_eq!(report.commits.last().unwrap().title, "Pushed by hand");
    assert_eq!(report.outcome(), AuditOutcome::Failed);

    std::fs::write(fixture.path().join(".git/info/grafts"), format!("{smuggled}\n")).unwrap();
    let error = fixture.audit_range(None).unwrap_err();
    assert!(matches!(error, AuditError::Grafts { .. }), "{error}");
}

#[test]
fn the_listing_is_that_of_the_command_line() {
    use std::os::unix::ffi::OsStrExt as _;
    let fixture = Fixture::new();
    let repo = Repository::open(fixture.path()).unwrap();
    let same = || {
        let (tree, listing) = fixture.tree();
        assert_eq!(listing_sha256(&repo, git2::Oid::from_str(&tree).unwrap()).unwrap(), listing);
        tree
    };
    same();
    for directory in ["a", "a/deep/er", "a-b"] {
        std::fs::create_dir_all(fixture.path().join(directory)).unwrap();
    }
    for name in
        ["a.txt", "a0", "a/x", "a/deep/er/y", "a-b/z", "tab\there", "new\nline", "é", "\"q\""]
    {
        fixture.write(name, name);
    }
    let latin1 = std::ffi::OsStr::from_bytes(b"a/deep/caf\xe9");
    std::fs::write(fixture.path().join(latin1), "x").unwrap();
    std::os::unix::fs::symlink("nowhere", fixture.path().join("link")).unwrap();
    let program = fixture.path().join("program");
    std::fs::write(&program, "#!/bin/sh\n").unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, executable).unwrap();
    let head = fixture.git(&["rev-parse", "HEAD"]);
    fixture.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{head},sub")]);
    std::fs::create_dir(fixture.path().join("sub")).unwrap();
    let tree = same();
    let printed = fixture.git_bytes(&["ls-tree", "-r", "-z", "--full-tree", &tree], b"");
    for part in [b"160000 commit ".as_slice(), b"120000 blob", b"100755 blob", b"a/deep/caf\xe9\0"]
    {
        assert!(printed.windows(part.len()).any(|window| window == part), "{part:?}");
    }
}
