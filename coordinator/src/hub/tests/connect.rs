//! Finding a repository, and each way in which it can be wrong.

use super::*;

fn hub() -> (TempDir, Hub) {
    let root = tempfile::tempdir().unwrap();
    let hub = Hub::open(&root.path().join("hub")).unwrap();
    (root, hub)
}

/// A repository with a work tree, `main` checked out, and one commit.
fn desk(root: &Path) -> PathBuf {
    git(root, &["init", "-q", "desk"]);
    let desk = root.join("desk");
    std::fs::write(desk.join("a.txt"), "1\n").unwrap();
    git(&desk, &["add", "a.txt"]);
    git(&desk, &["commit", "-q", "-m", "first"]);
    desk
}

fn refusal(hub: &Hub, location: &Path, target: &str) -> String {
    hub.connect(location.to_str().unwrap(), target).unwrap_err().to_string()
}

#[test]
fn each_unfit_repository_has_its_own_message_and_leaves_nothing() {
    let (root, hub) = hub();
    let root = root.path();
    let desk = desk(root);
    std::fs::create_dir(desk.join("sub")).unwrap();
    let url = format!("file://{}", desk.display());
    git(root, &["init", "-q", "empty"]);
    git(root, &["clone", "-q", "--depth=1", &url, "shallow"]);
    git(&desk, &["config", "uploadpack.allowFilter", "true"]);
    git(root, &["clone", "-q", "--no-checkout", "--filter=blob:none", &url, "partial"]);
    git(root, &["init", "-q", "--object-format=sha256", "sha256"]);
    git(&root.join("sha256"), &["commit", "-q", "--allow-empty", "-m", "first"]);

    for (place, says) in [
        ("nowhere", "does not exist"),
        ("desk/sub", "is not the top of a git repository"),
        ("desk/a.txt", "is not the top of a git repository"),
        ("empty", "has no commits: make a first commit"),
        ("shallow", "is a shallow clone: complete it with `git fetch --unshallow`"),
        ("partial", "is a partial clone"),
        ("sha256", "uses sha256 object ids"),
    ] {
        let text = refusal(&hub, &root.join(place), "main");
        assert!(text.contains(says), "{place}: {text}");
        assert!(text.contains(place), "{place} is not named: {text}");
    }
    let stores = std::fs::read_dir(root.join("hub")).unwrap();
    let left: Vec<_> = stores
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".git"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Over a transport nothing can be seen of the repository but its refs.
#[test]
fn a_shallow_clone_is_seen_through_a_transport_too() {
    let (root, hub) = hub();
    let desk = desk(root.path());
    git(&desk, &["commit", "-q", "--allow-empty", "-m", "second"]);
    let url = format!("file://{}", desk.display());
    git(root.path(), &["clone", "-q", "--depth=1", &url, "shallow"]);
    let upstream = upstream::Upstream::new(root.path().join("shallow/.git").display().to_string());
    let id = RepositoryId::of("x");
    let store = hub.create(&id, &upstream).unwrap();
    let error = hub.follow(&store, &upstream, &["refs/heads/main"]).unwrap_err();
    assert!(matches!(error, ConnectError::Shallow(_)), "{error}");
}

#[test]
fn a_missing_target_is_answered_with_names_alike() {
    let (root, hub) = hub();
    let desk = desk(root.path());
    for branch in ["mainly", "develop", "release/1", "x1", "x2", "x3"] {
        git(&desk, &["branch", branch]);
    }
    let text = refusal(&hub, &desk, "mian");
    assert!(text.contains("has no branch \"mian\": use one of main, mainly, "), "{text}");
    for bad in ["", "a..b", "-x", "a b", "refs/tags/v1", "HEAD", "x.lock"] {
        assert!(refusal(&hub, &desk, bad).contains("is no branch name"), "{bad:?}");
    }
    assert!(hub.connect(desk.to_str().unwrap(), "refs/heads/develop").is_ok());
}

#[test]
fn addresses_that_are_traps_are_refused_and_run_nothing() {
    let (root, hub) = hub();
    let marker = root.path().join("ran");
    let touch = format!("ext::sh -c touch% {}", marker.display());
    let option = format!("--upload-pack=touch {}", marker.display());
    for (location, says) in [
        (touch.as_str(), "not allowed"),
        (option.as_str(), "does not exist"),
        ("https://me:secret@example.invalid/x", "holds a password"),
        ("", "does not exist"),
    ] {
        let text = hub.connect(location, "main").unwrap_err().to_string();
        assert!(text.contains(says), "{location}: {text}");
        assert!(!text.contains("secret"), "{text}");
    }
    assert!(!marker.exists());
    assert!(
        hub.connect("https://me@127.0.0.1:1/x", "main")
            .unwrap_err()
            .to_string()
            .contains("cannot read")
    );
}

#[test]
fn every_work_tree_of_a_repository_is_the_same_repository() {
    let (root, hub) = hub();
    let desk = desk(root.path());
    git(&desk, &["worktree", "add", "-q", "-b", "side", "../side"]);
    let one = hub.connect(desk.to_str().unwrap(), "main").unwrap();
    let link = root.path().join("link");
    std::os::unix::fs::symlink(&desk, &link).unwrap();
    for other in [root.path().join("side"), desk.join(".git"), link] {
        assert_eq!(hub.connect(other.to_str().unwrap(), "main").unwrap(), one);
    }
    let side = hub.connect(desk.to_str().unwrap(), "side").unwrap();
    assert!(side.checkout.unwrap().path.ends_with("side"));
    assert_eq!(side.repository, one.repository);
}

#[test]
fn a_target_that_is_checked_out_is_left_alone() {
    let (root, hub) = hub();
    let desk = desk(root.path());
    let run = RunId::new("run 1").unwrap();
    let connected = hub.connect(desk.to_str().unwrap(), "main").unwrap();
    let checkout = Checkout { path: desk.canonicalize().unwrap(), dirty: false };
    assert_eq!(connected.checkout, Some(checkout));

    std::fs::write(desk.join("untracked"), "").unwrap();
    assert!(!hub.connect(desk.to_str().unwrap(), "main").unwrap().checkout.unwrap().dirty);
    std::fs::write(desk.join("a.txt"), "2\n").unwrap();
    let connected = hub.connect(desk.to_str().unwrap(), "main").unwrap();
    assert!(connected.checkout.as_ref().unwrap().dirty);

    let landing = hub.landing_ref(&connected, &run).unwrap();
    assert_eq!(landing.reference, "refs/heads/cantus/run=201");
    assert_eq!(landing.head, connected.head);
    let notice = landing.notice.clone().unwrap();
    assert!(notice.contains("`git merge --ff-only cantus/run=201`"), "{notice}");
    assert!(notice.contains("uncommitted changes: commit or stash them first"), "{notice}");
    assert_eq!(head_of(&desk, "refs/heads/cantus/run=201"), connected.head);
    assert_eq!(git(&desk, &["symbolic-ref", "HEAD"]), "refs/heads/main");
    assert_eq!(std::fs::read_to_string(desk.join("a.txt")).unwrap(), "2\n");

    let moved = commit(&desk, &[&connected.head], &[put("b", "")], "landed meanwhile");
    set_ref(&desk, "refs/heads/cantus/run=201", &moved);
    let again = hub.landing_ref(&connected, &run).unwrap();
    assert_eq!(again, Landing { head: moved, ..landing });
}

#[test]
fn a_branch_in_the_way_of_the_landing_branch_is_named() {
    let (root, hub) = hub();
    let desk = desk(root.path());
    git(&desk, &["branch", "cantus"]);
    let connected = hub.connect(desk.to_str().unwrap(), "main").unwrap();
    let error = hub.landing_ref(&connected, &RunId::new("r").unwrap()).unwrap_err().to_string();
    assert!(error.contains("cannot create refs/heads/cantus/r in"), "{error}");
}

#[test]
fn heads_are_followed_until_the_branch_is_gone() {
    let world = World::new();
    let repository = &world.connected.repository;
    let moved = world.move_target(&[put("a.txt", "other")]);
    assert_eq!(world.hub.head(repository, "refs/heads/main").unwrap(), moved);
    let rewound = commit(&world.upstream, &[], &[put("x", "")], "another history");
    set_ref(&world.upstream, "refs/heads/main", &rewound);
    assert_eq!(world.hub.head(repository, "refs/heads/main").unwrap(), rewound);
    git(&world.upstream, &["update-ref", "-d", "refs/heads/main"]);
    let gone = world.hub.head(repository, "refs/heads/main").unwrap_err().to_string();
    assert!(gone.starts_with("refs/heads/main no longer exists in"), "{gone}");

    std::fs::remove_dir_all(&world.upstream).unwrap();
    let gone = world.hub.head(repository, "refs/heads/main").unwrap_err().to_string();
    assert!(gone.contains("cannot read"), "{gone}");
    let unknown = world.hub.head(&RepositoryId::of("x"), "refs/heads/main").unwrap_err();
    assert!(unknown.to_string().contains("is not in the hub"), "{unknown}");
}

#[test]
fn source_bundles_are_complete_or_since_a_commit() {
    let world = World::new();
    let (hub, repository, first) = (&world.hub, &world.connected.repository, world.base());
    let bundle = hub.source_bundle(repository, "refs/heads/main", &first, None).unwrap().unwrap();
    assert_eq!(bundle.size_bytes, std::fs::metadata(&bundle.path).unwrap().len());
    let mirror = world.root.path().join("mirror");
    git(world.root.path(), &["clone", "-q", bundle.path.to_str().unwrap(), "mirror"]);
    assert_eq!(head_of(&mirror, "refs/remotes/origin/main"), first);

    let moved = world.move_target(&[put("a.txt", &lines(&[(3, "three")]))]);
    hub.head(repository, "refs/heads/main").unwrap();
    let since =
        |commit| hub.source_bundle(repository, "refs/heads/main", &moved, Some(commit)).unwrap();
    let bundle = since(&first).unwrap();
    assert_eq!(bundle.prerequisite.as_ref(), Some(&first));
    git(
        &mirror,
        &["fetch", "-q", bundle.path.to_str().unwrap(), "+refs/heads/main:refs/heads/new"],
    );
    assert_eq!(head_of(&mirror, "refs/heads/new"), moved);
    git(&mirror, &["fsck", "--strict"]);

    assert!(since(&moved).is_none());
    let unknown = CommitId::new("1".repeat(40)).unwrap();
    assert_eq!(since(&unknown).unwrap().prerequisite, None);
    let path = bundle.path.to_path_buf();
    drop(bundle);
    assert!(!path.exists());
}

#[test]
fn git_that_is_missing_or_old_is_told_with_the_version_needed() {
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| (name == "PATH").then(|| root.path().join("bin").into_os_string());
    let open = || Hub::open_with(&root.path().join("hub"), path).unwrap_err().to_string();
    assert_eq!(open(), "cannot run git: install git 2.38 or newer and put it on PATH");
    script(&root.path().join("bin/git"), "#!/bin/sh\necho git version 2.37.9\n");
    assert_eq!(open(), "git is too old (git version 2.37.9): install 2.38 or newer");
}
