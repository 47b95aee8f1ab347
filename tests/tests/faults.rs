//! Bad input and missing parts, as a person meets them: each has its own message with the thing, the reason and
//! the way out, and nothing half done is left.

use std::path::Path;
use std::process::Output;

use cantus_tests::installation::{Installation, Role, git};

fn installation() -> Installation {
    let nothing = Path::new("/nonexistent");
    let worker = Role { agent: None, ..Role::worker(1, nothing, &["true"]) };
    Installation::new(&[worker, Role::verifier(1)])
}

fn said(output: &Output) -> String {
    let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8_lossy(&text).into_owned()
}

/// Refused, with all of these words.
fn refused(output: &Output, words: &[&str]) {
    let said = said(output);
    assert!(!output.status.success(), "it was not refused: {said}");
    for word in words {
        assert!(said.contains(word), "{word:?} is missing in: {said}");
    }
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn a_missing_engine_is_named_with_the_way_out() {
    let cantus = installation();
    let mut up = cantus.command(&["up"]);
    up.env("DOCKER_HOST", "unix:///nonexistent/docker.sock");
    refused(&up.output().unwrap(), &["/nonexistent/docker.sock", "Docker"]);
    assert!(!cantus.home().join("cantus.sock").exists());
    let running = std::fs::read_dir(cantus.home().join("run")).unwrap().count();
    assert_eq!(running, 0, "nothing was started");
}

#[test]
fn an_engine_that_is_too_old_is_refused_with_both_versions() {
    use std::io::{Read as _, Write as _};
    let cantus = installation();
    let socket = cantus.path().join("old.sock");
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    // Ends with the test's process; it answers each request with an engine of long ago.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            let body = r#"{"Version":"19.03.5","ApiVersion":"1.40","MinAPIVersion":"1.12"}"#;
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nApi-Version: 1.40\r\nConnection: \
                 close\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
        }
    });
    let mut up = cantus.command(&["up"]);
    up.env("DOCKER_HOST", format!("unix://{}", socket.display()));
    refused(&up.output().unwrap(), &["19.03.5", "20.10"]);
}

#[test]
fn a_missing_coordinator_home_and_configuration_are_named() {
    let cantus = installation();
    refused(&cantus.try_run(&["status"]), &["no coordinator", "cantus up"]);
    std::fs::remove_file(cantus.home().join("cantus.yaml")).unwrap();
    refused(&cantus.try_run(&["up"]), &["there is no configuration", "cantus init"]);
    assert!(cantus.try_run(&["init"]).status.success());
    std::fs::write(cantus.home().join("cantus.yaml"), "version: 1\nrolls: {}\n").unwrap();
    refused(&cantus.try_run(&["up"]), &["cantus.yaml", "rolls"]);
}

#[test]
fn a_taken_port_and_a_missing_image_are_named() {
    let cantus = installation();
    let config = cantus.home().join("cantus.yaml");
    let text = std::fs::read_to_string(&config).unwrap();
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let line = text.lines().find(|line| line.starts_with("bus:")).unwrap();
    std::fs::write(&config, text.replace(line, &format!("bus: {{port: {port}}}"))).unwrap();
    refused(&cantus.try_run(&["up"]), &[&port.to_string(), "taken"]);
    std::fs::write(&config, text.replace("cantus/base:bookworm", "cantus/none:such")).unwrap();
    refused(&cantus.try_run(&["up"]), &["cantus/none:such"]);
    assert!(!cantus.home().join("cantus.sock").exists(), "what was started has been ended again");
}

/// Every state of a repository that cannot take a run, and the two that can.
#[test]
fn repositories_are_taken_or_refused_with_the_reason() {
    let cantus = installation();
    cantus.run(&["up"]);
    let at = |name: &str| cantus.path().join(name);
    let plan = at("plan.yaml");
    std::fs::write(&plan, PLAN).unwrap();
    let submit = |repository: &Path, more: &[&str]| {
        let (plan, repository) = (plan.display().to_string(), repository.display().to_string());
        let mut arguments = vec!["submit", &plan, "--repository", &repository];
        arguments.extend(more);
        cantus.try_run(&arguments)
    };
    refused(&submit(&at("nowhere"), &[]), &["nowhere"]);
    std::fs::create_dir(at("plain")).unwrap();
    refused(&submit(&at("plain"), &[]), &["plain", "git"]);
    std::fs::create_dir(at("empty")).unwrap();
    git(&at("empty"), &["init", "--quiet", "--initial-branch=main"]);
    refused(&submit(&at("empty"), &[]), &["empty"]);
    let full = at("full");
    std::fs::create_dir(&full).unwrap();
    git(&full, &["init", "--quiet", "--initial-branch=main"]);
    for line in ["one", "two"] {
        std::fs::write(full.join("file"), line).unwrap();
        git(&full, &["add", "."]);
        git(&full, &["commit", "--quiet", "-m", line]);
    }
    let url = format!("file://{}", full.display());
    git(cantus.path(), &["clone", "--quiet", "--bare", "--depth=1", &url, "shallow"]);
    refused(&submit(&at("shallow"), &[]), &["shallow", "unshallow"]);
    refused(&submit(&full, &["--target", "mian"]), &["mian", "main"]);
    let status = cantus.json(&["status"]);
    assert_eq!(status["runs"].as_array().unwrap().len(), 0, "nothing half done is left: {status}");

    // Checked out and dirty: the run lands beside it, and says how to go on.
    std::fs::write(full.join("file"), "three").unwrap();
    let taken = submit(&full, &["--run", "beside"]);
    assert!(taken.status.success(), "{}", said(&taken));
    let words = said(&taken);
    assert!(words.contains("cantus/beside") && words.contains("git merge --ff-only"), "{words}");
    assert_eq!(std::fs::read_to_string(full.join("file")).unwrap(), "three");
    cantus.run(&["cancel", "beside"]);
}

/// A plan with every kind of mistake is refused at once, the same by `lint` and `submit`, and nothing runs.
#[test]
fn lint_and_submit_say_the_same_all_at_once() {
    let cantus = installation();
    let plan = cantus.path().join("bad.yaml");
    std::fs::write(
        &plan,
        "version: 1\nitems:\n  - {id: a, needs: [a]}\n  - {id: a, needs: [zz]}\n  - {id: \"\"}\n",
    )
    .unwrap();
    let path = plan.display().to_string();
    let lint = cantus.try_run(&["lint", &path]);
    refused(&lint, &["bad.yaml:3:", "bad.yaml:4:", "bad.yaml:5:", "P010", "P011", "P012"]);
    cantus.run(&["up"]);
    let submit = cantus.try_run(&["submit", &path, "--repository", "/nonexistent"]);
    assert_eq!(submit.status.code(), Some(3), "{}", said(&submit));
    let lines = |output: &Output| -> Vec<String> {
        said(output).lines().filter(|line| line.contains("bad.yaml:")).map(str::to_owned).collect()
    };
    assert_eq!(lines(&lint), lines(&submit));
    let status = cantus.json(&["status"]);
    assert_eq!(status["runs"].as_array().unwrap().len(), 0);
}

const PLAN: &str = r#"version: 1
items:
  - id: one
    contract:
      goal: "Write one file"
      deliverables: ["work/one with one line"]
      acceptance_criteria: [{id: AC-01, statement: "it is there", checker: "test -f work/one"}]
      non_goals: ["anything else"]
      allowed_scope: {paths: ["work/"], tools: ["edit"]}
      budgets: {wall_clock_minutes: 5, token_budget: 1000}
"#;
