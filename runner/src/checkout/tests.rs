//! Checkouts under test against the real git, and checkers that change what they check.

use cantus_proto::ids::{CommitId, Digest, TreeId};

use crate::checkout::{CheckoutError, changed, listing_of_head};
use crate::testing::{Fixture, git, git_output, make_executable, write};
use crate::workspace::{Preparation, open, prepare};

/// A candidate as the coordinator makes it: merged elsewhere, bundled by the real git (a thin pack).
fn candidate(fixture: &Fixture) -> (CommitId, TreeId, Digest, Vec<u8>) {
    write(&fixture.source, "src/a.txt", "one\r\ntwo\nthree\n");
    write(&fixture.source, "src/new.txt", "new\n");
    git(&fixture.source, &["add", "-A"]);
    git(&fixture.source, &["commit", "-q", "-m", "candidate"]);
    let file = fixture.directory.path().join("candidate.bundle");
    let file = file.to_str().unwrap();
    let range = format!("{}..main", fixture.base);
    git(&fixture.source, &["bundle", "create", "-q", file, &range]);
    let listing = git_output(&fixture.source, &["ls-tree", "-r", "-z", "--full-tree", "HEAD"]);
    (
        CommitId::new(git(&fixture.source, &["rev-parse", "HEAD"])).unwrap(),
        TreeId::new(git(&fixture.source, &["rev-parse", "HEAD^{tree}"])).unwrap(),
        Digest::of(&listing.stdout),
        std::fs::read(file).unwrap(),
    )
}

fn check_out(fixture: &Fixture) -> Vec<u8> {
    let (commit, tree, sha256, bundle) = candidate(fixture);
    let repository = prepare(&Preparation {
        root: &fixture.work,
        tree: &fixture.tree(),
        objects: &fixture.objects(),
        commit: &commit,
        bundle: Some((&bundle, None)),
        commit_check: None,
    })
    .unwrap();
    listing_of_head(&repository, &tree, &sha256).unwrap()
}

#[test]
fn a_candidate_is_checked_out_and_unchanged() {
    let fixture = Fixture::new();
    let listing = check_out(&fixture);
    assert_eq!(changed(&fixture.tree(), &listing).unwrap(), Vec::<String>::new());
    write(&fixture.tree(), "__pycache__/x.pyc", "cache");
    assert_eq!(changed(&fixture.tree(), &listing).unwrap(), Vec::<String>::new());
}

#[test]
fn another_tree_or_listing_is_named() {
    let fixture = Fixture::new();
    check_out(&fixture);
    let repository = open(&fixture.tree()).unwrap();
    let tree = TreeId::new(git(&fixture.tree(), &["rev-parse", "HEAD^{tree}"])).unwrap();
    let other = TreeId::new("1".repeat(40)).unwrap();
    let error = listing_of_head(&repository, &other, &Digest::of(b"")).unwrap_err();
    assert!(matches!(error, CheckoutError::Tree { .. }), "{error}");
    let error = listing_of_head(&repository, &tree, &Digest::of(b"")).unwrap_err();
    assert!(matches!(error, CheckoutError::Listing { .. }), "{error}");
}

/// G29: every way to change a tracked file is seen, also one that hides behind git's own index.
#[test]
fn every_change_of_a_tracked_file_is_detected() {
    type Change = (&'static str, fn(&std::path::Path), &'static str);
    let changes: [Change; 6] = [
        ("content", |tree| write(tree, "src/a.txt", "one\r\ntwo\nFAKE!\n"), "has other content"),
        ("mode", |tree| make_executable(&tree.join("src/a.txt")), "has another mode"),
        ("removal", |tree| std::fs::remove_file(tree.join("run.sh")).unwrap(), "was removed"),
        (
            "link",
            |tree| {
                std::fs::remove_file(tree.join("link")).unwrap();
                std::os::unix::fs::symlink("run.sh", tree.join("link")).unwrap();
            },
            "has other content",
        ),
        (
            "kind",
            |tree| {
                std::fs::remove_file(tree.join("link")).unwrap();
                write(tree, "link", "src/a.txt");
            },
            "is of another kind",
        ),
        (
            "directory",
            |tree| {
                std::fs::rename(tree.join("src"), tree.join("elsewhere")).unwrap();
                std::os::unix::fs::symlink("elsewhere", tree.join("src")).unwrap();
            },
            "src is no directory any more",
        ),
    ];
    for (name, change, expected) in changes {
        let fixture = Fixture::new();
        let listing = check_out(&fixture);
        change(&fixture.tree());
        git(&fixture.tree(), &["add", "-A"]);
        git(&fixture.tree(), &["commit", "-q", "-m", "hidden"]);
        let changed = changed(&fixture.tree(), &listing).unwrap().join("; ");
        assert!(changed.contains(expected), "{name}: {changed:?}");
    }
}

#[test]
fn a_damaged_listing_is_refused() {
    let fixture = Fixture::new();
    assert!(changed(&fixture.work, b"100644 blob\0").is_err());
    assert!(changed(&fixture.work, b"100644 blob zz\tx\0").is_err());
}
