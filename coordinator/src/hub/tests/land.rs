//! Landing: exactly the verified tree, once, with its evidence, or nothing at all.

use super::*;

/// G14, and what audits read.
#[test]
fn the_landed_tree_is_the_verified_tree_and_the_evidence_is_beside_it() {
    let world = World::new();
    let base = world.base();
    let work = world.work("w", &base, &[put("a.txt", &lines(&[(2, "two")]))]);
    let onto = world.move_target(&[put("b.txt", "other")]);
    world.hub.head(&world.connected.repository, "refs/heads/main").unwrap();
    let merged = world.candidate("i", &work, &onto);
    let commit = landed(world.land("i", &work, &merged).unwrap());
    let up = &world.upstream;
    assert_eq!(head_of(up, "refs/heads/main"), commit);
    assert_eq!(tree_of(up, &commit), merged.tree);
    let shown = git(up, &["show", "-s", "--format=%P|%an <%ae>|%ct|%s", commit.as_str()]);
    assert_eq!(shown, format!("{onto} {}|Cantus <cantus@localhost>|{NOW}|Make it so", work.head));

    let digest = manifest_digest(&evidence("i")).unwrap();
    let trailers = git(up, &["show", "-s", "--format=%(trailers:only,unfold)", commit.as_str()]);
    assert_eq!(
        trailers.trim_end(),
        format!("Cantus-Run: run 1\nCantus-Item: i\nCantus-Evidence: sha256:{digest}")
    );
    let chain = "refs/evidence/run=201";
    let files = git(up, &["ls-tree", "-r", "--name-only", chain]);
    let tree = &merged.tree;
    assert_eq!(files, format!("{tree}/AC-01.dsse.json\n{tree}/summary.dsse.json"));
    assert_eq!(git(up, &["show", &format!("{chain}:{tree}/AC-01.dsse.json")]), "i");
    let message = git(up, &["show", "-s", "--format=%B", chain]);
    assert!(message.contains(&format!("Cantus-Landing: {commit}")), "{message}");
    git(up, &["fsck", "--strict"]);
}

#[test]
fn fast_forward_leaves_one_commit_per_item() {
    let world = World::new();
    let base = world.base();
    let work = world.work("w", &base, &[put("c", "c")]);
    let merged = world.candidate("i", &work, &base);
    let (item, files) = (id("i"), evidence("i"));
    let request = LandRequest {
        style: LandingStyle::FastForward,
        ..world.landing(&item, &work, &merged, &files)
    };
    let commit = landed(world.hub.land(&world.connected.repository, &request).unwrap());
    assert_eq!(git(&world.upstream, &["rev-list", "main"]), format!("{commit}\n{base}"));
    assert!(!git_any(&world.upstream, &["cat-file", "-e", work.head.as_str()]).status.success());
}

#[test]
fn an_item_without_changes_lands_without_naming_the_history_twice() {
    let world = World::new();
    let base = world.base();
    let onto = world.move_target(&[put("b.txt", "x")]);
    world.hub.head(&world.connected.repository, "refs/heads/main").unwrap();
    let merged = merged(world.merge("i", &base, &onto));
    let work = Work { base: base.clone(), head: base, bundle: PathBuf::new() };
    let commit = landed(world.land("i", &work, &merged).unwrap());
    assert_eq!(
        git(&world.upstream, &["show", "-s", "--format=%P", commit.as_str()]),
        onto.as_str()
    );
}

#[test]
fn a_head_that_moved_is_answered_with_where_it_stands_and_nothing_changes() {
    let world = World::new();
    let base = world.base();
    let work = world.work("w", &base, &[put("c", "c")]);
    let merged = world.candidate("i", &work, &base);
    let moved = world.move_target(&[put("b.txt", "x")]);
    let outcome = world.land("i", &work, &merged).unwrap();
    assert_eq!(outcome, LandOutcome::Moved { head: moved.clone() });
    assert_eq!(git(&world.upstream, &["for-each-ref", "--format=%(refname)"]), "refs/heads/main");
    // Step 10 of an item's life: merged again on the new head, without the bundle.
    std::fs::remove_file(&work.bundle).unwrap();
    let again = super::merged(world.merge("i", &work.head, &moved));
    landed(world.land("i", &work, &again).unwrap());
}

/// The lease is checked by git in the push itself: a hook that moves the target in between loses us the race.
#[test]
fn a_race_inside_the_push_is_moved_and_atomic() {
    let world = World::new();
    let base = world.base();
    let work = world.work("w", &base, &[put("c", "c")]);
    let merged = world.candidate("i", &work, &base);
    let other = commit(&world.upstream, &[&base], &[put("z", "")], "the faster one");
    let hook =
        format!("#!/bin/sh\nunset GIT_QUARANTINE_PATH\ngit update-ref refs/heads/main {other}\n");
    script(&world.upstream.join("hooks/pre-receive"), &hook);
    let outcome = world.land("i", &work, &merged).unwrap();
    assert_eq!(outcome, LandOutcome::Moved { head: other });
    assert_eq!(git(&world.upstream, &["for-each-ref", "--format=%(refname)"]), "refs/heads/main");
}

#[test]
fn a_hook_that_refuses_either_ref_keeps_both() {
    let world = World::new();
    let base = world.base();
    let work = world.work("w", &base, &[put("c", "c")]);
    let merged = world.candidate("i", &work, &base);
    let before = git(&world.upstream, &["for-each-ref"]);
    for refused in ["refs/heads/main", "refs/evidence/run=201"] {
        let hook = format!(
            "#!/bin/sh\n[ \"$1\" = {refused} ] || exit 0\necho no \x1b[31mthanks >&2; exit 1\n"
        );
        script(&world.upstream.join("hooks/update"), &hook);
        let error = world.land("i", &work, &merged).unwrap_err();
        assert!(matches!(error, LandError::Refused { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("hook declined") && text.contains("thanks"), "{text}");
        assert!(!text.contains('\x1b'), "{text:?}");
        assert_eq!(git(&world.upstream, &["for-each-ref"]), before);
    }
    std::fs::remove_file(world.upstream.join("hooks/update")).unwrap();
    landed(world.land("i", &work, &merged).unwrap());
}

#[test]
fn an_upstream_that_cannot_take_it_is_told_apart_from_a_moved_head() {
    let world = World::new();
    let base = world.base();
    let work = world.work("w", &base, &[put("c", "c")]);
    let merged = world.candidate("i", &work, &base);
    let lock = world.upstream.join("refs/heads/main.lock");
    std::fs::write(&lock, "").unwrap();
    let error = world.land("i", &work, &merged).unwrap_err();
    assert!(matches!(error, LandError::Refused { .. }), "{error:?}");
    std::fs::remove_file(lock).unwrap();
    git(&world.upstream, &["update-ref", "-d", "refs/heads/main"]);
    let error = world.land("i", &work, &merged).unwrap_err();
    assert!(matches!(error, LandError::Hub(HubError::TargetGone { .. })), "{error:?}");
    std::fs::remove_dir_all(&world.upstream).unwrap();
    let error = world.land("i", &work, &merged).unwrap_err().to_string();
    assert!(error.contains("cannot read"), "{error}");
}

/// G8: after a crash between the push and the journal the same call, or one on a fresh head, lands nothing twice.
#[test]
fn landing_again_after_a_crash_answers_with_the_first_landing() {
    let world = World::new();
    let (repository, base) = (&world.connected.repository, world.base());
    let work = world.work("w", &base, &[put("c", "c")]);
    let merged_once = world.candidate("i", &work, &base);
    let find = || {
        let found = world.hub.landings(repository, "refs/heads/main", &world.run).unwrap();
        found.into_iter().map(|landed| (landed.item, landed.commit)).collect::<Vec<_>>()
    };
    assert_eq!(find(), []);
    let commit = landed(world.land("i", &work, &merged_once).unwrap());
    assert_eq!(landed(world.land("i", &work, &merged_once).unwrap()), commit);

    let other = world.work("w2", &base, &[put("d", "d")]);
    let second = world.candidate("other", &other, &commit);
    let commit_of_other = landed(world.land("other", &other, &second).unwrap());
    let head = world.move_target(&[put("b.txt", "x")]);
    assert_eq!(landed(world.land("i", &work, &merged_once).unwrap()), commit);
    world.hub.head(repository, "refs/heads/main").unwrap();
    let fresh = merged(world.merge("i", &work.head, &head));
    assert_eq!(landed(world.land("i", &work, &fresh).unwrap()), commit);
    let all = [(id("i"), commit), (id("other"), commit_of_other)];
    assert_eq!(find(), all, "oldest first");
    assert_eq!(head_of(&world.upstream, "refs/heads/main"), head);
    let chain = git(&world.upstream, &["rev-list", "--count", "refs/evidence/run=201"]);
    assert_eq!(chain, "2");

    // A coordinator that lost its disk has the same answer.
    let hub = Hub::open(&world.root.path().join("hub2")).unwrap();
    let connected = hub.connect(world.upstream.to_str().unwrap(), "main").unwrap();
    let found = hub.landings(&connected.repository, "refs/heads/main", &world.run).unwrap();
    assert_eq!(found.len(), 2);
}

/// Anybody can write our trailers into a commit; without evidence for its tree they are words.
#[test]
fn forged_trailers_are_no_landing() {
    let world = World::new();
    let base = world.base();
    let first = world.work("w1", &base, &[put("first", "")]);
    let merged_first = world.candidate("first", &first, &base);
    let onto = landed(world.land("first", &first, &merged_first).unwrap());
    let text = "mine\n\nCantus-Run: run 1\nCantus-Item: i\nCantus-Evidence: sha256:00\n";
    let forged = commit(&world.upstream, &[&onto], &[put("z", "")], text);
    set_ref(&world.upstream, "refs/heads/main", &forged);
    let work = world.work("w", &base, &[put("c", "c")]);
    world.hub.head(&world.connected.repository, "refs/heads/main").unwrap();
    let merged = world.candidate("i", &work, &forged);
    assert_ne!(landed(world.land("i", &work, &merged).unwrap()), forged);
}

#[test]
fn two_items_with_one_tree_keep_both_evidences_in_the_chain() {
    let world = World::new();
    let base = world.base();
    let work = world.work("w", &base, &[put("c", "c")]);
    let first = world.candidate("one", &work, &base);
    let onto = landed(world.land("one", &work, &first).unwrap());
    let second = world.candidate("two", &work, &onto);
    assert_eq!(first.tree, second.tree);
    landed(world.land("two", &work, &second).unwrap());
    let read = |at: &str| {
        git(&world.upstream, &["show", &format!("{at}:{}/summary.dsse.json", first.tree)])
    };
    assert_eq!(read("refs/evidence/run=201"), "two");
    assert_eq!(read("refs/evidence/run=201~1"), "one");
}

#[test]
fn a_target_checked_out_meanwhile_is_not_moved_under_its_owner() {
    let world = World::new();
    let base = world.base();
    let work = world.work("w", &base, &[put("c", "c")]);
    let merged = world.candidate("i", &work, &base);
    git(&world.upstream, &["worktree", "add", "-q", "../desk", "main"]);
    let error = world.land("i", &work, &merged).unwrap_err();
    assert!(matches!(&error, LandError::CheckedOut { .. }), "{error:?}");
    assert!(error.to_string().contains("/desk"), "{error}");
    assert_eq!(head_of(&world.upstream, "refs/heads/main"), base);
}

/// The run's own branch takes the landings, and its owner can take them over by fast-forward.
#[test]
fn a_run_beside_a_checkout_ends_in_a_fast_forward() {
    let world = World::new();
    git(world.root.path(), &["clone", "-q", "upstream.git", "desk"]);
    let desk = world.root.path().join("desk");
    let hub = &world.hub;
    let connected = hub.connect(desk.to_str().unwrap(), "main").unwrap();
    let landing = hub.landing_ref(&connected, &world.run).unwrap();
    let work = world.work("w", &connected.head, &[put("c", "c")]);
    let (item, files) = (id("i"), evidence("i"));
    let request = InspectRequest {
        run: &world.run,
        item: &item,
        attempt: AttemptNumber(1),
        base: &work.base,
        head: &work.head,
        bundle: Some(&work.bundle),
        limits: LIMITS,
    };
    changes(hub.inspect(&connected.repository, &request).unwrap());
    let onto = &landing.head;
    let request =
        MergeRequest { run: &world.run, item: &item, head: &work.head, onto, now_unix_s: NOW };
    let merged = merged(hub.merge(&connected.repository, &request).unwrap());
    let request = LandRequest {
        reference: &landing.reference,
        ..world.landing(&item, &work, &merged, &files)
    };
    let commit = landed(hub.land(&connected.repository, &request).unwrap());
    assert_eq!(head_of(&desk, "HEAD"), connected.head);
    git(&desk, &["merge", "-q", "--ff-only", "cantus/run=201"]);
    assert_eq!(head_of(&desk, "HEAD"), commit);
    assert!(desk.join("c").exists());
}

#[test]
fn words_of_people_stay_in_their_place() {
    let world = World::new();
    let base = world.base();
    let work = world.work("w", &base, &[put("c", "c")]);
    let name = "it\u{202e}em: \"x\"";
    let merged = world.candidate(name, &work, &base);
    let (item, files) = (id(name), evidence("i"));
    let title = "Do it\n\nCantus-Item: other\r\nSigned-off-by: nobody";
    let request = LandRequest { title, ..world.landing(&item, &work, &merged, &files) };
    let commit = landed(world.hub.land(&world.connected.repository, &request).unwrap());
    let trailers = git(
        &world.upstream,
        &["show", "-s", "--format=%(trailers:only,unfold,keyonly)", commit.as_str()],
    );
    assert_eq!(trailers.trim_end(), "Cantus-Run\nCantus-Item\nCantus-Evidence");
    let again = world.hub.landings(&world.connected.repository, "refs/heads/main", &world.run);
    let again = again.unwrap();
    assert_eq!((&again[0].item, &again[0].commit), (&item, &commit));
}
