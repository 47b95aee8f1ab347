//! The main job, end to end: a plan goes in, verified commits come out. Real bus, real containers, real git.

#![expect(clippy::unwrap_used, reason = "a test fails where it stands")]
#![expect(
    clippy::disallowed_methods,
    reason = "it waits for other processes, which no clock of ours moves"
)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use cantus_tests::installation::{Installation, Role, git};

/// Longest that one run may take: several times what it takes on two cores.
const RUN_LIMIT: Duration = Duration::from_secs(600);
const LOOK_PAUSE: Duration = Duration::from_millis(500);

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

#[test]
fn the_demo_lands_everything_and_leaves_nothing() {
    let temporary = tempfile::tempdir().unwrap();
    let output = Command::new(cantus_tests::installation::binary("cantus"))
        .args(["demo", "--examples"])
        .arg(root().join("examples"))
        .env("TMPDIR", temporary.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complained}");
    for wanted in [
        "outside the allowed scope",
        "refuted       attempt 1: all tests pass",
        "sha256:",
        "Nothing is left",
    ] {
        assert!(said.contains(wanted), "{wanted:?} is missing in\n{said}\n{complained}");
    }
    let left = std::fs::read_dir(temporary.path()).unwrap().count();
    assert_eq!(left, 0, "the demo left files in its temporary directory");
    assert_eq!(
        docker(&["ps", "-aq", "--filter", "label=cantus.instance", "--filter", "name=demo-"]),
        ""
    );
}

/// A package that nobody here wrote: a dozen of its functions are taken out and written back by a scripted
/// agent, in parallel, in one file. On the way coordinator, a worker and the bus are killed.
#[test]
fn more_itertools_is_restored_whatever_dies() {
    let files = tempfile::tempdir().unwrap();
    let fixture = files.path().join("more-itertools");
    let prepared = Command::new("python3")
        .arg(root().join("tests/fixtures/more_itertools/prepare.py"))
        .arg(&fixture)
        .output()
        .unwrap();
    assert!(prepared.status.success(), "{}", String::from_utf8_lossy(&prepared.stderr));
    let repository = files.path().join("more-itertools.git");
    let (from, to) = (fixture.join("repository"), repository.display().to_string());
    git(files.path(), &["clone", "--quiet", "--bare", &from.display().to_string(), &to]);
    let roles = [
        Role::worker(3, &fixture.join("agent"), &["python3", "/agent/agent.py"]),
        Role::verifier(2),
    ];
    let cantus = Installation::new(&roles);
    cantus.run(&["up"]);
    let plan = fixture.join("plan.yaml").display().to_string();
    cantus.run(&["submit", &plan, "--repository", &to, "--run", "restore"]);

    wait_until(&cantus, "an item has landed", |items| count(items, "landed") >= 1);
    kill_process(&cantus, "serve");
    cantus.run(&["up"]);
    wait_until(&cantus, "somebody works", |items| count(items, "working") >= 1);
    kill_worker(&cantus);
    wait_until(&cantus, "three items have landed", |items| count(items, "landed") >= 3);
    docker(&["kill", &format!("cantus-{}-bus", cantus.instance())]);
    cantus.run(&["up"]);
    wait_until(&cantus, "the run has ended", |items| items.iter().all(ended));

    let run = &cantus.json(&["status", "restore"])["runs"][0];
    assert_eq!(run["state"], "completed", "{run}\n{}", cantus.logs());
    let checkout = files.path().join("restored");
    git(files.path(), &["clone", "--quiet", &to, &checkout.display().to_string()]);
    let suite = Command::new("python3")
        .args(["-m", "unittest", "-q", "tests.test_more", "tests.test_recipes"])
        .current_dir(&checkout)
        .output()
        .unwrap();
    assert!(suite.status.success(), "{}", String::from_utf8_lossy(&suite.stderr));
    let landed = git(
        &repository,
        &["log", "--first-parent", "--format=%(trailers:key=Cantus-Item,valueonly)", "main"],
    );
    let mut landed: Vec<&str> = landed.lines().filter(|line| !line.is_empty()).collect();
    let all = landed.len();
    landed.sort_unstable();
    landed.dedup();
    assert_eq!((all, landed.len()), (13, 13), "each item lands exactly once");
    cantus.run(&["audit", &to]);
    let divide = cantus.json(&["item", "restore", "divide"]);
    let kinds: Vec<&str> =
        divide["attempts"].as_array().unwrap().iter().filter_map(|a| a["kind"].as_str()).collect();
    assert!(kinds.contains(&"repair"), "its first result was wrong: {divide}");
}

/// Two pools with their own host names and mirrors serve one coordinator.
#[test]
fn two_pools_share_one_run() {
    let agent = tempfile::tempdir().unwrap();
    std::fs::write(agent.path().join("run.sh"), "sleep 1\necho $CANTUS_ITEM > work/$CANTUS_ITEM\n")
        .unwrap();
    let cantus = Installation::new(&[
        Role::worker(1, agent.path(), &["sh", "/agent/run.sh"]),
        Role::verifier(1),
    ]);
    let repository = small_repository(cantus.path());
    cantus.run(&["up"]);
    let log = std::fs::File::create(cantus.home().join("logs/second.log")).unwrap();
    let mut second = cantus
        .command(&["pool", "--host", "second"])
        .stderr(log)
        .spawn()
        .expect("a second pool starts");
    let plan = cantus.path().join("plan.yaml");
    std::fs::write(&plan, flat_plan(6)).unwrap();
    let (plan, repository) = (plan.display().to_string(), repository.display().to_string());
    cantus.run(&["submit", &plan, "--repository", &repository, "--run", "shared", "--watch"]);
    let mut hosts: Vec<String> = Vec::new();
    for number in 0..6 {
        let item = cantus.json(&["item", "shared", &format!("item-{number}")]);
        hosts.extend(
            item["attempts"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|a| a["host"].as_str())
                .map(str::to_owned),
        );
    }
    hosts.sort();
    hosts.dedup();
    cantus.run(&["audit", &repository]);
    signal(second.id(), "TERM");
    assert!(second.wait().unwrap().success(), "{}", cantus.logs());
    assert_eq!(hosts.len(), 2, "{hosts:?}");
    let mirrors = |host: &Path| host.join("mirrors").is_dir();
    let pools = std::fs::read_dir(cantus.home().join("pool")).unwrap();
    assert_eq!(pools.flatten().filter(|pool| mirrors(&pool.path())).count(), 2);
}

/// Evidence from plain processes does not land by default, and says what it is when it may.
#[test]
fn process_isolation_is_asked_for_and_written_down() {
    let agent = tempfile::tempdir().unwrap();
    std::fs::write(agent.path().join("run.sh"), "echo $CANTUS_ITEM > work/$CANTUS_ITEM\n").unwrap();
    let script = agent.path().join("run.sh").display().to_string();
    let role = Role { agent: None, ..Role::worker(1, agent.path(), &["sh", &script]) };
    for (flags, state) in [(&[][..], "parked"), (&["--allow-process-isolation"][..], "landed")] {
        let cantus = Installation::new(&[role.clone(), Role::verifier(1)]);
        let repository = small_repository(cantus.path());
        let mut up = vec!["up", "--isolation", "process"];
        up.extend(flags);
        cantus.run(&up);
        let plan = cantus.path().join("plan.yaml");
        std::fs::write(&plan, flat_plan(1)).unwrap();
        let (plan, repository) = (plan.display().to_string(), repository.display().to_string());
        let _ = cantus.try_run(&[
            "submit",
            &plan,
            "--repository",
            &repository,
            "--run",
            "plain",
            "--watch",
        ]);
        let item = cantus.json(&["item", "plain", "item-0"]);
        assert_eq!(item["state"], state, "{item}\n{}", cantus.logs());
        assert_eq!(item["attempts"][0]["isolation"], "process");
        if state == "parked" {
            let reason = item["reason"].as_str().unwrap();
            assert!(reason.contains("--allow-process-isolation"), "{reason}");
        } else {
            let files = cantus.json(&["evidence", "plain", "item-0"]).to_string();
            assert!(files.contains("process"), "{files}");
        }
    }
}

/// A bare repository with a `work/` directory.
fn small_repository(directory: &Path) -> PathBuf {
    let source = directory.join("source");
    std::fs::create_dir_all(source.join("work")).unwrap();
    git(&source, &["init", "--quiet", "--initial-branch=main"]);
    std::fs::write(source.join("work/begin"), "begin\n").unwrap();
    git(&source, &["add", "."]);
    git(&source, &["commit", "--quiet", "-m", "begin"]);
    let bare = directory.join("small.git");
    git(
        directory,
        &["clone", "--quiet", "--bare", &source.display().to_string(), &bare.display().to_string()],
    );
    bare
}

fn flat_plan(items: usize) -> String {
    let mut text = "version: 1\nitems:\n".to_owned();
    for number in 0..items {
        text += &format!(
            "  - id: item-{number}\n    complexity: S\n    contract:\n      goal: \"Write one file\"\n      \
             deliverables: [\"work/item-{number} with one line\"]\n      acceptance_criteria:\n        - {{id: \
             AC-01, statement: \"the file is there\", checker: \"test -f work/item-{number}\"}}\n      non_goals: \
             [\"anything else\"]\n      allowed_scope: {{paths: [\"work/\"], tools: [\"edit\"]}}\n      budgets: \
             {{wall_clock_minutes: 5, token_budget: 1000, max_agents: 1, verification_ratio: 0.25}}\n      \
             forbidden_actions: [\"network_egress\"]\n"
        );
    }
    text
}

fn wait_until(cantus: &Installation, what: &str, reached: impl Fn(&[serde_json::Value]) -> bool) {
    let begun = Instant::now();
    loop {
        let output = cantus.try_run(&["status", "restore", "--json"]);
        let status: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let items = status["runs"][0]["items"].as_array().cloned().unwrap_or_default();
        if !items.is_empty() && reached(&items) {
            return;
        }
        assert!(begun.elapsed() < RUN_LIMIT, "not in time: {what}\n{status:#}\n{}", cantus.logs());
        std::thread::sleep(LOOK_PAUSE);
    }
}

fn count(items: &[serde_json::Value], state: &str) -> usize {
    items.iter().filter(|item| item["state"] == state).count()
}

fn ended(item: &serde_json::Value) -> bool {
    ["landed", "parked", "blocked", "cancelled"].iter().any(|state| item["state"] == *state)
}

fn kill_process(cantus: &Installation, name: &str) {
    let file = std::fs::read_to_string(cantus.home().join("run").join(name)).unwrap();
    let pid = file.split('.').next().unwrap().parse().unwrap();
    signal(pid, "KILL");
}

/// Kills the container of an item that is being worked on.
fn kill_worker(cantus: &Installation) {
    let status = cantus.json(&["status", "restore"]);
    let items = status["runs"][0]["items"].as_array().unwrap();
    let worker = items
        .iter()
        .filter(|item| item["state"] == "working")
        .find_map(|item| item["worker"].as_str());
    // It may have ended in between; then the run goes on without this fault, and the next kill follows.
    if let Some(container) = worker.and_then(|worker| worker.split(' ').next()) {
        let _ = Command::new("docker").args(["kill", container]).output();
    }
}

fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status().unwrap();
    assert!(sent.success());
}

fn docker(arguments: &[&str]) -> String {
    let output = Command::new("docker").args(arguments).output().expect("docker is installed");
    assert!(
        output.status.success(),
        "docker {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
