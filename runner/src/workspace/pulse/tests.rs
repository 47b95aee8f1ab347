//! Looks at workspaces while the real git works in them.

use super::{CHANGED_MAX, look};
use crate::testing::{Fixture, git, write};

#[test]
fn a_fresh_workspace_shows_nothing_done() {
    let fixture = Fixture::new();
    let tree = fixture.prepare();
    let seen = look(&tree, &fixture.base).unwrap();
    assert_eq!((seen.commits, seen.changed_count, seen.changed.len()), (0, 0, 0));
    assert_eq!(look(&tree, &fixture.base).unwrap(), seen);
}

#[test]
fn commits_and_paths_since_the_base_are_counted_committed_or_not() {
    let fixture = Fixture::new();
    let tree = fixture.prepare();
    write(&tree, "src/new.txt", "1");
    git(&tree, &["add", "-A"]);
    git(&tree, &["commit", "-q", "-m", "one"]);
    write(&tree, "loose/b.txt", "2");
    std::fs::remove_file(tree.join("run.sh")).unwrap();
    write(&tree, "build/ignored", "3");
    let seen = look(&tree, &fixture.base).unwrap();
    assert_eq!(seen.commits, 1);
    let expected: [&[u8]; 3] = [b"loose/b.txt", b"run.sh", b"src/new.txt"];
    assert_eq!(seen.changed, expected);
    assert_eq!(seen.changed_count, 3);
}

#[test]
fn the_fingerprint_is_other_when_the_content_is_other_and_only_then() {
    let fixture = Fixture::new();
    let tree = fixture.prepare();
    write(&tree, "src/new.txt", "1");
    let print = || look(&tree, &fixture.base).unwrap().fingerprint;
    let one = print();
    write(&tree, "src/new.txt", "2");
    let two = print();
    assert_ne!(one, two);
    // The same words, written again later.
    write(&tree, "src/new.txt", "1");
    assert_eq!(print(), one);
}

#[test]
fn paths_are_raw_and_bounded() {
    use std::os::unix::ffi::OsStrExt as _;
    let fixture = Fixture::new();
    let tree = fixture.prepare();
    let odd = std::ffi::OsStr::from_bytes(b"\x01\xff");
    std::fs::write(tree.join(odd), "x").unwrap();
    for number in 0..CHANGED_MAX + 5 {
        write(&tree, &format!("many/{number}"), "x");
    }
    let seen = look(&tree, &fixture.base).unwrap();
    assert_eq!(seen.changed[0], b"\x01\xff");
    assert_eq!(seen.changed.len(), CHANGED_MAX);
    assert_eq!(seen.changed_count as usize, CHANGED_MAX + 6);
}

/// W17: nothing is written by looking, the index's stale stat data included.
#[test]
fn looking_changes_nothing() {
    let fixture = Fixture::new();
    let tree = fixture.prepare();
    let again = std::fs::read(tree.join("src/a.txt")).unwrap();
    write(&tree, "src/a.txt", again);
    let index = tree.join(".git/index");
    let before = (std::fs::read(&index).unwrap(), std::fs::metadata(&index).unwrap().modified());
    assert_eq!(look(&tree, &fixture.base).unwrap().changed_count, 0);
    let after = (std::fs::read(&index).unwrap(), std::fs::metadata(&index).unwrap().modified());
    assert_eq!(before.0, after.0);
    assert_eq!(before.1.unwrap(), after.1.unwrap());
    // A lock that somebody else holds is no obstacle.
    std::fs::write(tree.join(".git/index.lock"), "").unwrap();
    assert_eq!(look(&tree, &fixture.base).unwrap().changed_count, 0);
}
