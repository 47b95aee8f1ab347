//! Taking work in: what changed, what is refused, and that a refusal leaves the hub as it was.

use super::*;

fn summary(changes: &[Change]) -> Vec<String> {
    changes
        .iter()
        .map(|c| {
            let path = git::escape(&c.path);
            format!("{:?} {path} {:o} {:o} {}", c.kind, c.old_mode, c.new_mode, c.size_bytes)
        })
        .collect()
}

#[test]
fn every_kind_of_entry_shows_as_it_is() {
    let world = World::new();
    let target = "b".repeat(40);
    let work = world.work(
        "w",
        &world.base(),
        &[
            (b"a.txt", Some((0o120_000, b"/etc/passwd"))),
            (b"b.txt", Some((0o100_755, lines(&[]).as_bytes()))),
            (b"caf\xe9/\"q\"\tn\n", Some((FILE, b"raw"))),
            (b"sub", Some((0o160_000, target.as_bytes()))),
            put(".gitattributes", "* filter=evil"),
            put(".gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = ./x\n\tignore = all\n"),
        ],
    );
    let changes = changes(world.inspect("i", &work));
    assert_eq!(
        summary(&changes),
        [
            "Added .gitattributes 0 100644 13",
            "Added .gitmodules 0 100644 55",
            "Modified a.txt 100644 120000 11",
            "Modified b.txt 100644 100755 151",
            "Added caf\u{fffd}/\"q\"\\tn 0 100644 3",
            "Added sub 0 160000 0",
        ]
    );
    assert_eq!(changes[4].path, b"caf\xe9/\"q\"\tn\n");
    assert_eq!(changes[2].link_target.as_deref(), Some(&b"/etc/passwd"[..]));
    assert!(changes[2].is_symlink() && changes[5].is_gitlink() && !changes[3].is_symlink());
}

#[test]
fn a_rename_is_a_deletion_and_an_addition() {
    let world = World::new();
    let text = lines(&[]);
    let work = world.work("w", &world.base(), &[(b"a.txt", None), put("d/a.txt", &text)]);
    assert_eq!(
        summary(&changes(world.inspect("i", &work))),
        ["Deleted a.txt 100644 0 0", "Added d/a.txt 0 100644 151"]
    );
}

/// W5: the pin is what keeps it; git's own collector agrees.
#[test]
fn work_is_pinned_until_its_run_is_pruned() {
    let world = World::new();
    let (hub, repository) = (&world.hub, &world.connected.repository);
    let work = world.work("w", &world.base(), &[put("new.txt", "1")]);
    changes(world.inspect("i/1", &work));
    // A second hand-in of the same attempt unpins nothing.
    let second = world.work("w2", &world.base(), &[put("new.txt", "2")]);
    changes(world.inspect("i/1", &second));
    changes(world.inspect("i/1", &work));
    hub.release(repository, &world.run, &id("i/1")).unwrap();
    let store = world.store_path();
    git(&store, &["gc", "-q", "--prune=now"]);
    for head in [&work.head, &second.head] {
        let pin = format!("refs/cantus/work/run=201/i=2F1/1/{head}");
        assert_eq!(head_of(&store, &pin), *head);
        git(&store, &["rev-list", "--objects", "--quiet", head.as_str()]);
    }
    assert_eq!(hub.prune(repository, &RunId::new("run").unwrap()).unwrap(), 0);
    assert_eq!(hub.prune(repository, &world.run).unwrap(), 2);
    git(&store, &["gc", "-q", "--prune=now"]);
    assert!(!git_any(&store, &["cat-file", "-e", work.head.as_str()]).status.success());
}

#[test]
fn no_change_needs_no_bundle_and_no_head_is_taken_on_trust() {
    let world = World::new();
    let base = world.base();
    let inspect = |head: &CommitId| {
        let request = InspectRequest {
            run: &world.run,
            item: &id("i"),
            attempt: AttemptNumber(1),
            base: &base,
            head,
            bundle: None,
            limits: LIMITS,
        };
        world.hub.inspect(&world.connected.repository, &request).unwrap()
    };
    assert_eq!(changes(inspect(&base)), []);
    let unknown = CommitId::new("1".repeat(40)).unwrap();
    assert_eq!(refused(inspect(&unknown)).0, Refusal::HeadMissing(unknown));
}

#[test]
fn what_does_not_fit_the_report_is_refused_and_the_hub_is_as_before() {
    let world = World::new();
    let before = world.snapshot();
    let base = world.base();
    let work = world.work("w", &base, &[put("a.txt", "x")]);

    let claimed = CommitId::new("2".repeat(40)).unwrap();
    let (refusal, _) = refused(world.inspect_as("i", &work, &claimed, LIMITS));
    assert_eq!(refusal, Refusal::TipDiffers { claimed, found: vec![work.head.clone()] });

    let unknown = Work { base: CommitId::new("3".repeat(40)).unwrap(), ..work };
    let (refusal, _) = refused(world.inspect("i", &unknown));
    assert_eq!(refusal, Refusal::BaseUnknown(unknown.base));

    // A history of its own, and one that rests on a commit that upstream never had.
    let workspace = world.workspace("apart");
    let root = commit(&workspace, &[], &[put("x", "")], "own history");
    let tip = commit(&workspace, &[&root], &[put("y", "")], "more");
    set_ref(&workspace, "refs/heads/work", &tip);
    let whole = world.root.path().join("whole.bundle");
    git(&workspace, &["bundle", "create", "-q", whole.to_str().unwrap(), "refs/heads/work"]);
    let apart = Work { base: base.clone(), head: tip.clone(), bundle: whole };
    let (refusal, _) = refused(world.inspect("i", &apart));
    assert_eq!(refusal, Refusal::NotDescendant { head: tip.clone(), base: base.clone() });
    let partial = world.bundle("partial", &workspace, &root, &tip);
    let partial = Work { base: base.clone(), ..partial };
    let (refusal, _) = refused(world.inspect("i", &partial));
    assert_eq!(refusal, Refusal::PrerequisiteUnknown(root));

    assert_eq!(world.snapshot(), before);
    let scratch = std::fs::read_dir(world.hub.scratch()).unwrap();
    assert_eq!(scratch.count(), 0, "a quarantine was left");
}

#[test]
fn broken_bundles_are_refused_and_the_hub_is_as_before() {
    let world = World::new();
    let before = world.snapshot();
    let work = world.work("w", &world.base(), &[put("a.txt", &"text ".repeat(99)), put("c", "c")]);
    let good = std::fs::read(&work.bundle).unwrap();
    let pack = good.windows(4).position(|w| w == b"PACK").unwrap();
    let inspect = |bytes: &[u8]| {
        std::fs::write(&work.bundle, bytes).unwrap();
        refused(world.inspect("i", &work)).0
    };
    let is_objects = |refusal| matches!(refusal, Refusal::Objects(_));
    let mut bytes = good.clone();
    bytes[pack + 20] ^= 0x40;
    assert!(is_objects(inspect(&bytes)), "a flipped byte");
    assert!(is_objects(inspect(&good[..good.len() - 30])), "a cut pack");
    assert!(is_objects(inspect(&good[..pack])), "no pack");
    assert!(matches!(inspect(b"not a bundle"), Refusal::Unreadable(_)));
    assert!(matches!(inspect(b""), Refusal::Unreadable(_)));

    // The pack lacks the new blob and the header does not say what it needs.
    let header = format!("# v2 git bundle\n{} refs/heads/work\n\n", work.head);
    let commits = world.root.path().join("w");
    let tree = git(&commits, &["rev-parse", &format!("{}^{{tree}}", work.head)]);
    let list = world.root.path().join("list");
    std::fs::write(&list, format!("{}\n{tree}\n", work.head)).unwrap();
    let output = Command::new("git")
        .arg(format!("--git-dir={}", commits.display()))
        .args(["pack-objects", "--stdout", "-q"])
        .stdin(std::fs::File::open(&list).unwrap())
        .output()
        .unwrap();
    assert!(is_objects(inspect(&[header.as_bytes(), &output.stdout].concat())), "holes");
    assert_eq!(world.snapshot(), before);

    std::fs::write(&work.bundle, &good).unwrap();
    assert_eq!(changes(world.inspect("i", &work)).len(), 2);
}

/// W27, with smaller numbers.
#[test]
fn too_much_is_refused_with_the_biggest_named() {
    let world = World::new();
    let before = world.snapshot();
    let names: Vec<_> = (0..1_200).map(|n| format!("gen/out/{}/{n}.js", n % 7)).collect();
    let mut edits: Vec<_> = names.iter().map(|name| put(name, "x")).collect();
    edits.push(put("src/one.rs", "fn main() {}"));
    let many = world.work("many", &world.base(), &edits);
    let (refusal, offenders) = refused(world.inspect("i", &many));
    assert_eq!(refusal, Refusal::TooManyFiles { files: 1_201, at_least: false, limit: 1_000 });
    assert_eq!(offenders[0].to_string(), "\"gen/out/\" (1200 files, 1200 bytes)");

    let zeros = vec![0_u8; 2_000_000];
    let big = world.work(
        "big",
        &world.base(),
        &[
            (b"data/a.bin", Some((FILE, &zeros))),
            put("small", "s"),
            (b"b", Some((FILE, &zeros[1..]))),
        ],
    );
    let limits = ResultLimits { artifact_bytes_max: 3_000_000, files_max: 10 };
    let (refusal, offenders) = refused(world.inspect_as("i", &big, &big.head, limits));
    assert_eq!(refusal, Refusal::TooLarge { bytes: 4_000_000, limit: 3_000_000 });
    assert_eq!(offenders[0].path, b"data/a.bin");
    assert_eq!(offenders[1].size_bytes, 1_999_999);

    let bytes = std::fs::metadata(&big.bundle).unwrap().len();
    let limits = ResultLimits { artifact_bytes_max: bytes - 1, files_max: 10 };
    let (refusal, _) = refused(world.inspect_as("i", &big, &big.head, limits));
    assert_eq!(refusal, Refusal::BundleTooLarge { bytes, limit: bytes - 1 });
    assert_eq!(world.snapshot(), before);

    let limits = ResultLimits { artifact_bytes_max: 4_000_000, files_max: 3 };
    assert_eq!(changes(world.inspect_as("i", &big, &big.head, limits)).len(), 3, "at the limit");
}

/// W16 at this level: all at once, on one repository, each taken in, none locked out.
#[test]
fn twenty_four_at_once() {
    let world = World::new();
    let base = world.base();
    let works: Vec<_> = (0..24)
        .map(|n| world.work(&format!("w{n}"), &base, &[put(&format!("f{n}"), "x")]))
        .collect();
    let candidates: Vec<_> = std::thread::scope(|scope| {
        let all: Vec<_> = works
            .iter()
            .enumerate()
            .map(|(n, work)| {
                let (world, base) = (&world, &base);
                scope.spawn(move || {
                    world.hub.head(&world.connected.repository, "refs/heads/main").unwrap();
                    world.candidate(&format!("i{n}"), work, base).tree
                })
            })
            .collect();
        all.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for (work, tree) in works.iter().zip(&candidates) {
        assert_eq!(tree_of(&world.store_path(), &work.head), *tree);
    }
    git(&world.store_path(), &["fsck", "--strict", "--connectivity-only"]);
}
