//! What a hostile worker or a cluttered machine plants: nothing of it runs, hides or gets in.

use super::*;

/// G23, as far as bundles can carry it.
#[test]
fn planted_attributes_run_nothing() {
    let world = World::new();
    let marker = world.root.path().join("ran");
    let base = world.base();
    let planted = "* merge=evil filter=evil diff=evil text eol=crlf ident export-subst\n";
    let onto = world
        .move_target(&[put("a.txt", &lines(&[(1, "theirs")])), put(".gitattributes", planted)]);
    // Even the operator's file is not read by commands that look at content.
    let driver = format!(
        "[merge \"evil\"]\n\tdriver = touch {0}\n[filter \"evil\"]\n\tclean = touch {0}\n\tsmudge = touch {0}\n\
         [diff \"evil\"]\n\ttextconv = touch {0}\n\tcommand = touch {0}\n[core]\n\tfsmonitor = touch {0}\n",
        marker.display()
    );
    std::fs::write(world.hub.dir.join("gitconfig"), driver).unwrap();
    let workspace = world.workspace("w");
    let head = commit(
        &workspace,
        &[&base],
        &[put("a.txt", &lines(&[(20, "$Id$")])), put(".gitattributes", planted)],
        "work",
    );
    let work = world.bundle("w", &workspace, &base, &head);
    world.hub.head(&world.connected.repository, "refs/heads/main").unwrap();
    let merged = world.candidate("i", &work, &onto);
    world.hub.patch(&world.connected.repository, &base, &head, 10_000).unwrap();
    landed(world.land("i", &work, &merged).unwrap());
    assert!(!marker.exists(), "a planted program ran");
    let text = git(&world.upstream, &["show", "main:a.txt"]);
    assert_eq!(format!("{text}\n"), lines(&[(1, "theirs"), (20, "$Id$")]));
}

/// One commit, two trees: git would follow the replacement, libgit2 would not.
#[test]
fn replace_refs_are_ignored() {
    let world = World::new();
    let base = world.base();
    let work = world.work("w", &base, &[put("c", "c")]);
    changes(world.inspect("i", &work));
    let expected = merged(world.merge("i", &work.head, &base));
    for place in [world.store_path(), world.upstream.clone()] {
        let fake = commit(&place, &[], &[put("evil", "x")], "replacement");
        for real in [&base, &work.head] {
            let name = format!("refs/replace/{real}");
            let _ = git_any(&place, &["update-ref", &name, fake.as_str()]);
        }
    }
    let again = merged(world.merge("i", &work.head, &base));
    assert_eq!(again.tree, expected.tree);
    assert_eq!(again.listing, expected.listing);
    assert_eq!(changes(world.inspect("i", &work)).len(), 1);
    let commit = landed(world.land("i", &work, &again).unwrap());
    assert_eq!(world.hub.head(&world.connected.repository, "refs/heads/main").unwrap(), commit);
}

/// Entries that a checkout would turn against us never get past the quarantine.
#[test]
fn trees_that_no_git_writes_are_refused() {
    let world = World::new();
    let before = world.snapshot();
    for (n, name) in [".git", "..", ".GIT", "a/b", "git~1"].into_iter().enumerate() {
        let workspace = world.workspace(&format!("w{n}"));
        let repo = git2::Repository::open(&workspace).unwrap();
        let blob = repo.blob(b"x").unwrap();
        let raw = [format!("100644 {name}\0").as_bytes(), blob.as_bytes()].concat();
        let tree = repo.odb().unwrap().write(git2::ObjectType::Tree, &raw).unwrap();
        let base = repo.find_commit(oid(world.base().as_str()).unwrap()).unwrap();
        let head = commit_tree(&repo, tree, &[&base], "evil");
        let work = world.bundle(&format!("w{n}"), &workspace, &world.base(), &head);
        match refused(world.inspect("i", &work)).0 {
            Refusal::Objects(text) => assert!(text.contains(&tree.to_string()), "{name}: {text}"),
            other => panic!("{name}: {other}"),
        }
    }
    assert_eq!(world.snapshot(), before);
}

/// A directory with a mode that only git's checker frowns on hides nothing.
#[test]
fn odd_modes_hide_nothing() {
    let world = World::new();
    let workspace = world.workspace("w");
    let repo = git2::Repository::open(&workspace).unwrap();
    let mut inner = repo.treebuilder(None).unwrap();
    inner.insert("f", repo.blob(b"x").unwrap(), 0o100_644).unwrap();
    let inner = inner.write().unwrap();
    let raw = [&b"40755 dir\0"[..], inner.as_bytes()].concat();
    let tree = repo.odb().unwrap().write(git2::ObjectType::Tree, &raw).unwrap();
    let base = repo.find_commit(oid(world.base().as_str()).unwrap()).unwrap();
    let head = commit_tree(&repo, tree, &[&base], "odd");
    let work = world.bundle("w", &workspace, &world.base(), &head);
    match world.inspect("i", &work) {
        Inspection::Refused { refusal, .. } => assert!(matches!(refusal, Refusal::Objects(_))),
        Inspection::Inspected { changes } => {
            assert!(changes.iter().any(|change| change.path == b"dir/f"), "{changes:?}");
        }
    }
}

/// Ten objects that unfold into ten thousand million paths.
#[test]
fn a_tree_bomb_is_too_many_files() {
    let world = World::new();
    let workspace = world.workspace("w");
    let repo = git2::Repository::open(&workspace).unwrap();
    let mut inner = (repo.blob(b"x").unwrap(), 0o100_644);
    for _ in 0..10 {
        let mut tree = repo.treebuilder(None).unwrap();
        for n in 0..10 {
            tree.insert(format!("f{n}"), inner.0, inner.1).unwrap();
        }
        inner = (tree.write().unwrap(), 0o040_000);
    }
    let base = repo.find_commit(oid(world.base().as_str()).unwrap()).unwrap();
    let head = commit_tree(&repo, inner.0, &[&base], "bomb");
    let work = world.bundle("w", &workspace, &world.base(), &head);
    let (refusal, offenders) = refused(world.inspect("i", &work));
    assert!(matches!(refusal, Refusal::TooManyFiles { at_least: true, .. }), "{refusal}");
    assert!(refusal.to_string().contains("changes at least "), "{refusal}");
    assert_eq!(offenders[0].path, b"f9/f9/");
}

/// A person's settings and the machine's do not reach the git that the hub runs.
#[test]
fn only_our_own_settings_count() {
    let world = World::new();
    std::fs::write(world.hub.dir.join("home/.gitconfig"), "[user]\n\tname = Planted\n").unwrap();
    let list = |remote: bool| {
        let call = world.hub.git.call_in(&world.store_path(), "config");
        let call = if remote { call.remote() } else { call };
        let list = call.args(["--list", "--show-origin", "-z"]).run().unwrap();
        String::from_utf8(list).unwrap()
    };
    std::fs::write(world.hub.dir.join("gitconfig"), "[credential]\n\thelper = mine\n").unwrap();
    let store = world.store_path();
    for (remote, text) in [(false, list(false)), (true, list(true))] {
        assert!(!text.contains("Planted"));
        assert_eq!(text.contains("credential.helper"), remote);
        let origins = text.split('\0').filter(|origin| origin.contains(':')).step_by(2);
        for origin in origins {
            let ours = origin == "command line:"
                || origin.ends_with("/hub/gitconfig")
                || origin == format!("file:{}/config", store.display());
            assert!(ours, "{origin}");
        }
    }
}

/// Many small packs are folded while everything stays readable.
#[test]
fn packs_do_not_pile_up() {
    let world = World::new();
    let base = world.base();
    let mut heads = Vec::new();
    for n in 0..21 {
        let work = world.work(&format!("w{n}"), &base, &[put("f", &n.to_string())]);
        changes(world.inspect("i", &work));
        heads.push(work.head);
    }
    let pack = world.store_path().join("objects/pack");
    let count = || {
        let entries = std::fs::read_dir(&pack).unwrap();
        entries.filter(|e| e.as_ref().unwrap().path().extension().unwrap() == "pack").count()
    };
    assert!(count() > 20);
    world.hub.release(&world.connected.repository, &world.run, &id("i")).unwrap();
    assert!(count() < 10, "{}", count());
    let store = world.hub.store(&world.connected.repository).unwrap();
    assert!(heads.iter().all(|head| store.has_commit(head)));
    git(&world.store_path(), &["fsck", "--strict", "--connectivity-only"]);
}
