//! Workspaces against the real git, with what agents were seen to do to them.

use std::os::unix::fs::PermissionsExt as _;

use crate::testing::{Fixture, LIMITS, git, git_output, make_executable, write};
use crate::workspace::WorkspaceError;
use crate::workspace::collect::Limits;

#[test]
fn a_fresh_workspace_is_the_base_byte_for_byte() {
    let fixture = Fixture::new();
    let tree = fixture.prepare();
    assert_eq!(git(&tree, &["rev-parse", "HEAD"]), fixture.base.as_str());
    assert_eq!(git(&tree, &["rev-parse", "--abbrev-ref", "HEAD"]), "work");
    assert_eq!(std::fs::read(tree.join("src/a.txt")).unwrap(), b"one\r\ntwo\n");
    let mode = std::fs::metadata(tree.join("run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    assert_eq!(std::fs::read_link(tree.join("link")).unwrap().to_str(), Some("src/a.txt"));
    assert_eq!(git(&tree, &["config", "user.name"]), "Cantus");
    for hook in std::fs::read_dir(tree.join(".git/hooks")).unwrap() {
        assert!(hook.unwrap().file_name().to_str().unwrap().ends_with(".sample"));
    }
    git(&tree, &["fsck", "--full"]);
}

#[test]
fn nothing_done_is_no_bundle() {
    let fixture = Fixture::new();
    fixture.prepare();
    let collected = fixture.collect().unwrap();
    assert_eq!(collected.head, fixture.base);
    assert_eq!(collected.bundle, None);
    assert!(!collected.committed);
    assert_eq!(collected.findings, Vec::<String>::new());
}

/// W1: commits on a detached HEAD and an untracked file.
#[test]
fn commits_on_a_detached_head_and_untracked_files_are_kept() {
    let fixture = Fixture::new();
    let tree = fixture.prepare();
    git(&tree, &["checkout", "-q", "--detach"]);
    write(&tree, "src/b.txt", "b\n");
    git(&tree, &["add", "src/b.txt"]);
    git(&tree, &["commit", "-q", "-m", "mine"]);
    write(&tree, "new/untracked.txt", "u\n");
    write(&tree, "build/out.o", "generated\n");
    write(&tree, "debug.log", "noise\n");
    let collected = fixture.collect().unwrap();
    assert!(collected.committed);
    assert_eq!(collected.broken, None);
    let clone = fixture.receive(&collected.bundle.unwrap());
    let log = git(&clone, &["log", "--format=%s|%an|%ae", "refs/got/heads/work"]);
    assert_eq!(
        log,
        "Work left uncommitted|Cantus|cantus@localhost\nmine|A|a@localhost\nbase|A|a@localhost"
    );
    let names = git(&clone, &["ls-tree", "-r", "--name-only", "refs/got/heads/work"]);
    assert!(names.contains("new/untracked.txt") && names.contains("src/b.txt"));
    assert!(!names.contains("build") && !names.contains("debug.log"), "{names}");
    assert_eq!(git(&clone, &["rev-parse", "refs/got/heads/work"]), collected.head.as_str());
}

/// W17: the agent commits 50 times; all of them arrive, and collecting again gives the same head.
#[test]
fn fifty_commits_stay_fifty_commits() {
    let fixture = Fixture::new();
    let tree = fixture.prepare();
    for number in 0..50 {
        write(&tree, "src/n.txt", number.to_string());
        git(&tree, &["add", "-A"]);
        git(&tree, &["commit", "-q", "-m", "step"]);
    }
    let collected = fixture.collect().unwrap();
    assert!(!collected.committed);
    let clone = fixture.receive(collected.bundle.as_ref().unwrap());
    let range = format!("{}..refs/got/heads/work", fixture.base);
    assert_eq!(git(&clone, &["rev-list", "--count", &range]), "50");
    assert_eq!(fixture.collect().unwrap().head, collected.head);
}

#[test]
fn modes_links_deletions_and_odd_names_are_exact() {
    use std::os::unix::ffi::OsStrExt as _;
    let fixture = Fixture::new();
    let tree = fixture.prepare();
    make_executable(&tree.join("src/a.txt"));
    std::fs::remove_file(tree.join("run.sh")).unwrap();
    std::fs::remove_file(tree.join("link")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", tree.join("link")).unwrap();
    let odd = std::ffi::OsStr::from_bytes(b"caf\xe9 \"q\"\n");
    std::fs::write(tree.join(odd), "odd").unwrap();
    write(&tree, "crlf.txt", "a\r\nb\r\n$Id$\n");
    let collected = fixture.collect().unwrap();
    let clone = fixture.receive(&collected.bundle.unwrap());
    let listed = git_output(&clone, &["ls-tree", "-r", "-z", "refs/got/heads/work"]).stdout;
    let find = |needle: &[u8]| listed.windows(needle.len()).any(|window| window == needle);
    assert!(find(b"\tcaf\xe9 \"q\"\n\0"));
    assert!(!find(b"run.sh"));
    let listed = git(&clone, &["ls-tree", "-r", "refs/got/heads/work"]);
    assert!(listed.contains("100755 blob") && listed.contains("120000 blob"), "{listed}");
    assert_eq!(git(&clone, &["cat-file", "-p", "refs/got/heads/work:link"]), "/etc/passwd");
    let crlf = git_output(&clone, &["cat-file", "-p", "refs/got/heads/work:crlf.txt"]).stdout;
    assert_eq!(crlf, b"a\r\nb\r\n$Id$\n");
}

/// G23: what an agent plants in its configuration neither runs nor hides anything.
#[test]
fn planted_configuration_filters_and_excludes_have_no_effect() {
    let fixture = Fixture::new();
    let tree = fixture.prepare();
    let witness = fixture.directory.path().join("witness");
    let touch = format!("touch {}", witness.display());
    for (key, value) in [
        ("core.fsmonitor", touch.as_str()),
        ("filter.evil.clean", &touch),
        ("filter.evil.process", &touch),
        ("core.excludesFile", "excludes"),
        ("core.worktree", "/"),
    ] {
        git(&tree, &["config", key, value]);
    }
    write(&tree, ".git/hooks/pre-commit", format!("#!/bin/sh\n{touch}\n"));
    make_executable(&tree.join(".git/hooks/pre-commit"));
    write(&tree, ".git/info/exclude", "hidden.txt\n");
    write(&tree, "excludes", "hidden.txt\n");
    write(&tree, "hidden.txt", "seen\n");
    write(&tree, "src/a.txt", "changed\n");
    let collected = fixture.collect().unwrap();
    assert!(!witness.exists());
    let clone = fixture.receive(&collected.bundle.unwrap());
    assert_eq!(git(&clone, &["cat-file", "-p", "refs/got/heads/work:hidden.txt"]), "seen");
    assert_eq!(git(&clone, &["cat-file", "-p", "refs/got/heads/work:src/a.txt"]), "changed");
}

#[test]
fn an_assume_unchanged_file_and_a_forced_add_are_seen() {
    let fixture = Fixture::new();
    let tree = fixture.prepare();
    git(&tree, &["update-index", "--assume-unchanged", "src/a.txt"]);
    write(&tree, "src/a.txt", "changed\n");
    write(&tree, "build/forced.txt", "kept\n");
    git(&tree, &["add", "-f", "build/forced.txt"]);
    let clone = fixture.receive(&fixture.collect().unwrap().bundle.unwrap());
    assert_eq!(git(&clone, &["cat-file", "-p", "refs/got/heads/work:src/a.txt"]), "changed");
    assert_eq!(git(&clone, &["cat-file", "-p", "refs/got/heads/work:build/forced.txt"]), "kept");
}

#[test]
fn a_head_beside_the_base_and_other_branches_are_kept() {
    let fixture = Fixture::new();
    let tree = fixture.prepare();
    git(&tree, &["checkout", "-q", "-b", "side"]);
    write(&tree, "side.txt", "s\n");
    git(&tree, &["add", "-A"]);
    git(&tree, &["commit", "-q", "-m", "side"]);
    let side = git(&tree, &["rev-parse", "HEAD"]);
    git(&tree, &["checkout", "-q", "--orphan", "fresh"]);
    write(&tree, "fresh.txt", "f\n");
    git(&tree, &["add", "-A"]);
    git(&tree, &["commit", "-q", "-m", "fresh"]);
    let orphan = git(&tree, &["rev-parse", "HEAD"]);
    let collected = fixture.collect().unwrap();
    assert!(collected.committed);
    assert_eq!(collected.kept.as_ref().unwrap().as_str(), orphan);
    let clone = fixture.receive(&collected.bundle.unwrap());
    let parents = git(&clone, &["log", "--format=%P", "-1", "refs/got/heads/work"]);
    assert_eq!(parents, fixture.base.as_str());
    assert_eq!(git(&clone, &["rev-parse", "refs/got/cantus/kept/0"]), orphan);
    assert_eq!(git(&clone, &["rev-parse", "refs/got/cantus/kept/1"]), side);
    assert_eq!(git(&clone, &["cat-file", "-p", "refs/got/heads/work:fresh.txt"]), "f");
    assert!(
        collected.findings[0].contains("does not build on the base"),
        "{:?}",
        collected.findings
    );
}

#[test]
fn work_on_another_branch_alone_is_kept_beside_an_empty_result() {
    let fixture = Fixture::new();
    let tree = fixture.prepare();
    git(&tree, &["checkout", "-q", "-b", "side"]);
    write(&tree, "side.txt", "s\n");
    git(&tree, &["add", "-A"]);
    git(&tree, &["commit", "-q", "-m", "side"]);
    git(&tree, &["checkout", "-q", "work"]);
    let collected = fixture.collect().unwrap();
    assert_eq!(collected.head, fixture.base);
    assert_eq!(collected.kept.as_ref().unwrap().as_str(), git(&tree, &["rev-parse", "side"]));
    let clone = fixture.receive(&collected.bundle.unwrap());
    assert_eq!(git(&clone, &["cat-file", "-p", "refs/got/cantus/kept/0:side.txt"]), "s");
}

/// W4: the workspace's `.git` vanishes below another repository; nothing above is touched, no file is lost.
#[test]
fn a_vanished_repository_costs_its_commits_but_not_its_files() {
    let fixture = Fixture::new();
    git(fixture.directory.path(), &["init", "-q"]);
    let above = std::fs::read_dir(fixture.directory.path().join(".git")).unwrap().count();
    let tree = fixture.prepare();
    write(&tree, "src/b.txt", "b\n");
    std::fs::remove_dir_all(tree.join(".git")).unwrap();
    let collected = fixture.collect().unwrap();
    assert!(collected.broken.as_ref().unwrap().contains("has vanished"), "{:?}", collected.broken);
    let clone = fixture.receive(&collected.bundle.unwrap());
    assert_eq!(git(&clone, &["cat-file", "-p", "refs/got/heads/work:src/b.txt"]), "b");
    assert_eq!(
        git(&clone, &["log", "--format=%P", "-1", "refs/got/heads/work"]),
        fixture.base.as_str()
    );
    assert_eq!(std::fs::read_dir(fixture.directory.path().join(".git")).unwrap().count(), above);
    assert!(!fixture.directory.path().join(".git/refs/heads/work").exists());
}

/// W2: a `.git` that points at the main repository; that one is neither read from nor written to nor removed.
#[test]
fn a_pointer_to_another_repository_is_not_followed() {
    let fixture = Fixture::new();
    let before = git(&fixture.source, &["count-objects", "-v"]);
    for pointer in ["file", "link", "commondir"] {
        let tree = fixture.prepare();
        write(&tree, "src/b.txt", "b\n");
        if pointer == "commondir" {
            write(&tree, ".git/commondir", fixture.source.join(".git").to_str().unwrap());
        } else {
            std::fs::remove_dir_all(tree.join(".git")).unwrap();
            let target = fixture.source.join(".git");
            if pointer == "link" {
                std::os::unix::fs::symlink(target, tree.join(".git")).unwrap();
            } else {
                write(&tree, ".git", format!("gitdir: {}\n", target.display()));
            }
        }
        let collected = fixture.collect().unwrap();
        assert!(collected.broken.is_some(), "{pointer}");
        let clone = fixture.receive(&collected.bundle.unwrap());
        assert_eq!(git(&clone, &["cat-file", "-p", "refs/got/heads/work:src/b.txt"]), "b");
    }
    fixture.prepare();
    assert_eq!(git(&fixture.source, &["count-objects", "-v"]), before);
    assert_eq!(git(&fixture.source, &["status", "--porcelain"]), "");
}

#[test]
fn nothing_outside_the_root_is_made_or_removed() {
    let fixture = Fixture::new();
    for outside in
        [&fixture.source, &fixture.work.join("a/b"), &fixture.work.join(".."), &fixture.work]
    {
        let error = fixture.prepare_at(outside).unwrap_err();
        assert!(matches!(error, WorkspaceError::Path { .. }), "{error}");
    }
    std::os::unix::fs::symlink(&fixture.source, fixture.tree()).unwrap();
    let error = fixture.prepare_at(&fixture.tree()).unwrap_err();
    assert!(error.to_string().contains("not a directory"), "{error}");
    assert!(fixture.source.join("src/a.txt").exists());
}

/// W16: 24 workspaces in the same moment, on one mirror.
#[test]
fn twenty_four_workspaces_at_once() {
    let fixture = Fixture::new();
    std::thread::scope(|scope| {
        let starting: Vec<_> = (0..24)
            .map(|number| {
                let fixture = &fixture;
                scope.spawn(move || fixture.prepare_at(&fixture.work.join(number.to_string())))
            })
            .collect();
        for started in starting {
            started.join().unwrap().unwrap();
        }
    });
    assert_eq!(std::fs::read_dir(&fixture.work).unwrap().count(), 24);
    assert_eq!(git(&fixture.work.join("23"), &["status", "--porcelain"]), "");
}

/// W27: too many and too large, found before anything is bundled, the offenders named.
#[test]
fn results_over_the_limits_are_refused_with_the_biggest_named() {
    let fixture = Fixture::new();
    let tree = fixture.prepare();
    write(&tree, "big.bin", vec![7; 2 * 1024 * 1024]);
    write(&tree, "small.bin", vec![8; 1024]);
    let error = fixture.collect().unwrap_err().to_string();
    assert!(
        error.contains("big.bin (2097152 bytes)") && error.contains("the limit is 1048576"),
        "{error}"
    );
    git(&tree, &["add", "-A"]);
    git(&tree, &["commit", "-q", "-m", "big"]);
    let error = fixture.collect().unwrap_err().to_string();
    assert!(error.contains("big.bin (2097152 bytes)"), "{error}");
    git(&tree, &["reset", "-q", "--hard", fixture.base.as_str()]);
    for number in 0..150 {
        write(&tree, &format!("generated/{number}.txt"), "x");
    }
    let error = fixture.collect().unwrap_err().to_string();
    assert!(
        error.contains("150 files, the limit is 100") && error.contains("generated (150 files)"),
        "{error}"
    );
    let roomy = Limits { files_max: 151, ..LIMITS };
    let clone = fixture.receive(&fixture.collect_within(roomy).unwrap().bundle.unwrap());
    let names = git(&clone, &["ls-tree", "-r", "--name-only", "refs/got/heads/work", "generated/"]);
    assert_eq!(names.lines().count(), 150);
}

#[test]
fn a_repository_in_the_repository_is_kept_as_files() {
    let fixture = Fixture::new();
    let tree = fixture.prepare();
    write(&tree, "vendored/lib.rs", "lib\n");
    git(&tree.join("vendored"), &["init", "-q"]);
    rustix::fs::mknodat(
        rustix::fs::CWD,
        tree.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let collected = fixture.collect().unwrap();
    assert_eq!(collected.findings.len(), 2, "{:?}", collected.findings);
    let clone = fixture.receive(&collected.bundle.unwrap());
    let names = git(&clone, &["ls-tree", "-r", "--name-only", "refs/got/heads/work"]);
    assert!(names.contains("vendored/lib.rs") && !names.contains("pipe"), "{names}");
}

#[test]
fn an_emptied_tree_and_a_submodule_are_what_they_are() {
    let fixture = Fixture::new();
    let entry = format!("160000,{},sub", fixture.base);
    git(&fixture.source, &["update-index", "--add", "--cacheinfo", &entry]);
    git(&fixture.source, &["commit", "-q", "-m", "submodule"]);
    git(&fixture.source, &["push", "-q", fixture.mirror.to_str().unwrap(), "main"]);
    let base = git(&fixture.source, &["rev-parse", "HEAD"]);
    let fixture = Fixture { base: cantus_proto::ids::CommitId::new(base).unwrap(), ..fixture };
    let tree = fixture.prepare();
    assert!(tree.join("sub").is_dir());
    assert_eq!(fixture.collect().unwrap().bundle, None);
    for name in ["src", "sub", "run.sh", "link", ".gitattributes", ".gitignore"] {
        let path = tree.join(name);
        if std::fs::symlink_metadata(&path).unwrap().is_dir() {
            std::fs::remove_dir_all(path).unwrap();
        } else {
            std::fs::remove_file(path).unwrap();
        }
    }
    let clone = fixture.receive(&fixture.collect().unwrap().bundle.unwrap());
    assert_eq!(git(&clone, &["ls-tree", "-r", "refs/got/heads/work"]), "");
}
