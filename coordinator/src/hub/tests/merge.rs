//! Merging: git's own answer, whatever moved, and candidates that carry nothing of the worker but the tree.

use super::*;

#[test]
fn a_candidate_is_one_commit_with_the_merged_tree_and_no_words_of_the_worker() {
    let world = World::new();
    let base = world.base();
    let work = world.work("w", &base, &[put("a.txt", &lines(&[(2, "two")]))]);
    let onto = world.move_target(&[put("b.txt", "other")]);
    world.hub.head(&world.connected.repository, "refs/heads/main").unwrap();
    let merged_one = world.candidate("i", &work, &onto);
    let again = merged(world.merge("i", &work.head, &onto));
    assert_eq!(merged_one.candidate, again.candidate, "the same request, another candidate");

    let store = world.store_path();
    assert_eq!(head_of(&store, "refs/cantus/candidate/run=201/i"), merged_one.candidate);
    let listing =
        git_any(&store, &["ls-tree", "-r", "-z", "--full-tree", merged_one.tree.as_str()]);
    assert_eq!(merged_one.listing, cantus_proto::ids::Digest::of(&listing.stdout));

    // A verifier's mirror has the target and nothing else.
    let bundle = merged_one.bundle.path.to_str().unwrap();
    git(&world.upstream, &["bundle", "verify", "-q", bundle]);
    git(&world.upstream, &["fetch", "-q", bundle, "refs/heads/candidate:refs/heads/check"]);
    let check = head_of(&world.upstream, "refs/heads/check");
    assert_eq!(check, merged_one.candidate);
    assert_eq!(tree_of(&world.upstream, &check), merged_one.tree);
    assert_eq!(
        git(&world.upstream, &["show", "-s", "--format=%P|%cn|%ct|%B", "check"]),
        format!("{onto}|Cantus|{NOW}|Candidate of i")
    );
    assert!(!git_any(&world.upstream, &["cat-file", "-e", work.head.as_str()]).status.success());
    assert_eq!(git(&world.upstream, &["show", "check:b.txt"]), "other");

    world.hub.release(&world.connected.repository, &world.run, &id("i")).unwrap();
    world.hub.release(&world.connected.repository, &world.run, &id("i")).unwrap();
    assert!(!git(&store, &["for-each-ref"]).contains("refs/cantus/candidate"));
}

/// W8: the second item is a conflict that names the path, its work is kept, and both diffs can be had.
#[test]
fn two_items_on_one_line_conflict() {
    let world = World::new();
    let base = world.base();
    let one = world.work("one", &base, &[put("a.txt", &lines(&[(5, "one")])), put("c", "")]);
    let two = world.work("two", &base, &[put("a.txt", &lines(&[(5, "two")])), put("d", "")]);
    let first = world.candidate("one", &one, &base);
    let onto = landed(world.land("one", &one, &first).unwrap());
    changes(world.inspect("two", &two));
    match world.merge("two", &two.head, &onto) {
        MergeOutcome::Conflict { paths, onto: where_ } => {
            assert_eq!(paths, [b"a.txt".to_vec()]);
            assert_eq!(where_, onto);
        }
        MergeOutcome::Merged(_) => panic!("merged"),
    }
    let pin = format!("refs/cantus/work/run=201/two/1/{}", two.head);
    assert_eq!(head_of(&world.store_path(), &pin), two.head);
    let patch =
        |to: &CommitId, max| world.hub.patch(&world.connected.repository, &base, to, max).unwrap();
    for (to, line) in [(&onto, "+5 one"), (&two.head, "+5 two")] {
        let patch = patch(to, 10_000);
        assert!(!patch.cut && String::from_utf8(patch.bytes).unwrap().contains(line));
    }
    let cut = patch(&two.head, 20);
    assert!(cut.cut && cut.bytes.len() == 20);
}

#[test]
fn conflicts_name_each_path_of_whatever_kind() {
    let world = World::new();
    let base = world.base();
    let theirs = world.move_target(&[
        (b"a.txt", None),
        put("both", "1"),
        put("x/y", "file below"),
        (b"caf\xe9", Some((FILE, b"1"))),
    ]);
    world.hub.head(&world.connected.repository, "refs/heads/main").unwrap();
    let work = world.work(
        "w",
        &base,
        &[
            put("a.txt", &lines(&[(1, "kept")])),
            put("both", "2"),
            put("x", "file in its place"),
            (b"caf\xe9", Some((FILE, b"2"))),
        ],
    );
    changes(world.inspect("i", &work));
    let MergeOutcome::Conflict { paths, .. } = world.merge("i", &work.head, &theirs) else {
        panic!("merged");
    };
    for path in [&b"a.txt"[..], b"both", b"caf\xe9"] {
        assert!(paths.contains(&path.to_vec()), "{:?}", git::escape(path));
    }
    assert!(paths.iter().any(|path| path.starts_with(b"x~")), "file against directory");
}

/// W9
#[test]
fn the_target_moved_by_five_commits_since_the_base() {
    let world = World::new();
    let base = world.base();
    let work = world.work("w", &base, &[put("a.txt", &lines(&[(20, "mine")]))]);
    changes(world.inspect("i", &work));
    for n in 1..=5 {
        world.move_target(&[put("a.txt", &lines(&[(n, "theirs")]))]);
    }
    let onto = world.hub.head(&world.connected.repository, "refs/heads/main").unwrap();
    let merged = merged(world.merge("i", &work.head, &onto));
    let text = git(&world.store_path(), &["show", &format!("{}:a.txt", merged.tree)]);
    assert_eq!(format!("{text}\n"), lines(&[(5, "theirs"), (20, "mine")]));
}

/// G25: the same answer as the person's own git, for what libgit2 does otherwise.
#[test]
fn directory_and_many_renames_merge_as_git_does() {
    let world = World::new();
    let old: Vec<_> = (0..150).map(|n| format!("old/{n}.txt")).collect();
    let new: Vec<_> = (0..150).map(|n| format!("new/place/{n}.txt")).collect();
    let texts: Vec<_> = (0..150).map(|n| lines(&[(7, &format!("of {n}"))])).collect();
    let edits: Vec<_> = old.iter().zip(&texts).map(|(p, t)| put(p, t)).collect();
    let base = world.move_target(&edits);
    let mut renames: Vec<Edit<'_>> = old.iter().map(|p| (p.as_bytes(), None)).collect();
    renames.extend(new.iter().zip(&texts).map(|(p, t)| put(p, t)));
    let edited: Vec<_> =
        (0..150).map(|n| lines(&[(7, &format!("of {n}")), (19, "edit")])).collect();
    let mut edits: Vec<_> = old.iter().zip(&edited).map(|(p, t)| put(p, t)).collect();
    edits.push(put("old/added.txt", "follows the directory"));
    let work = world.work("w", &base, &edits);
    let onto = world.move_target(&renames);
    world.hub.head(&world.connected.repository, "refs/heads/main").unwrap();
    changes(world.inspect("i", &work));
    let ours = world.merge("i", &work.head, &onto);

    let workspace = world.root.path().join("w");
    let theirs = git_any(
        &workspace,
        &["merge-tree", "--write-tree", "-z", onto.as_str(), work.head.as_str()],
    );
    let tree = String::from_utf8_lossy(&theirs.stdout[..40]).into_owned();
    match ours {
        MergeOutcome::Merged(merged) => {
            assert_eq!(theirs.status.code(), Some(0));
            assert_eq!(merged.tree.as_str(), tree);
            assert!(
                git(&world.store_path(), &["ls-tree", "-r", "--name-only", &tree])
                    .starts_with("a.txt")
            );
        }
        MergeOutcome::Conflict { paths, .. } => {
            // Git's default asks a person about a file that a directory rename would move.
            assert_eq!(theirs.status.code(), Some(1));
            assert_eq!(paths, [b"new/place/added.txt".to_vec(), b"old/added.txt".to_vec()]);
        }
    }

    let plain = world.work("w2", &base, &edits_without_last(&old, &edited));
    changes(world.inspect("j", &plain));
    let ours = merged(world.merge("j", &plain.head, &onto));
    let workspace = world.root.path().join("w2");
    let theirs =
        git(&workspace, &["merge-tree", "--write-tree", onto.as_str(), plain.head.as_str()]);
    assert_eq!(ours.tree.as_str(), theirs);
    let moved = git(&world.store_path(), &["show", &format!("{}:new/place/9.txt", ours.tree)]);
    assert!(moved.contains("19 edit"));
}

fn edits_without_last<'a>(paths: &'a [String], texts: &'a [String]) -> Vec<Edit<'a>> {
    paths.iter().zip(texts).map(|(p, t)| put(p, t)).collect()
}

#[test]
fn no_change_merges_to_the_target_itself() {
    let world = World::new();
    let base = world.base();
    let onto = world.move_target(&[put("b.txt", "x")]);
    world.hub.head(&world.connected.repository, "refs/heads/main").unwrap();
    let merged = merged(world.merge("i", &base, &onto));
    assert_eq!(merged.tree, tree_of(&world.upstream, &onto));
    git(&world.upstream, &["bundle", "verify", "-q", merged.bundle.path.to_str().unwrap()]);
}

#[test]
fn a_target_that_was_replaced_is_told_apart_from_a_conflict() {
    let world = World::new();
    let work = world.work("w", &world.base(), &[put("a.txt", "x")]);
    changes(world.inspect("i", &work));
    let other = commit(&world.upstream, &[], &[put("z", "")], "another history");
    set_ref(&world.upstream, "refs/heads/main", &other);
    world.hub.head(&world.connected.repository, "refs/heads/main").unwrap();
    let item = id("i");
    let request = MergeRequest {
        run: &world.run,
        item: &item,
        head: &work.head,
        onto: &other,
        now_unix_s: NOW,
    };
    let error = world.hub.merge(&world.connected.repository, &request).unwrap_err();
    assert!(matches!(error, MergeError::Unrelated { .. }), "{error}");
}
