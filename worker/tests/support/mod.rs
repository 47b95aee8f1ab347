//! A stage for the real binaries: a real nats-server, a real mirror, and a coordinator's part played by the test.

#[path = "../../../tests/src/nats.rs"]
#[expect(dead_code, reason = "shared by the tests of several crates; each uses a part")]
pub mod nats;

pub mod container;

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cantus_proto::bus::{Bus, Reports};
use cantus_proto::contract::{AllowedScope, Budgets, Contract, Criterion};
use cantus_proto::ids::{
    AttemptNumber, Blob, CommitId, CriterionId, ItemId, RepositoryId, RoleName, RunId,
};
use cantus_proto::message::{
    Attempt, AttemptLimits, Heartbeat, HeartbeatReply, LeaseEvent, Report, Route, Work,
};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::timeout;

use nats::Nats;

/// Longer than anything here may take on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub const ROLE: &str = "coder";

pub const MIB: u64 = 1024 * 1024;

/// What one test plays on.
pub struct Stage {
    pub nats: Nats,
    pub bus: Bus,
    pub directory: TempDir,
    pub source: PathBuf,
    pub repository: RepositoryId,
    pub base: CommitId,
    binary: &'static str,
    user: String,
    reports: Reports,
    /// What every heartbeat is answered.
    pub reply: Arc<Mutex<HeartbeatReply>>,
    /// The newest heartbeat.
    pub beat: Arc<Mutex<Option<Heartbeat>>>,
}

impl Stage {
    /// With one role, whose binary this is; `kind` is `worker` or `verifier`.
    pub async fn new(binary: &'static str, kind: &str) -> Self {
        let nats = Nats::start(&[ROLE]);
        let bus = nats.coordinator(&[ROLE]).await;
        let reports = bus.reports(1);
        let directory = TempDir::new().unwrap();
        let source = directory.path().join("source");
        std::fs::create_dir_all(source.join("src")).unwrap();
        git(&source, &["init", "-q", "-b", "main"]);
        std::fs::write(source.join("src/a.txt"), "one\n").unwrap();
        git(&source, &["add", "-A"]);
        git(&source, &["commit", "-q", "-m", "base"]);
        let repository = RepositoryId::of("test");
        let mirrors = directory.path().join("root/mirror");
        std::fs::create_dir_all(&mirrors).unwrap();
        let mirror = mirrors.join(format!("{repository}.git"));
        git(&source, &["clone", "-q", "--bare", ".", mirror.to_str().unwrap()]);
        let base = CommitId::new(git(&source, &["rev-parse", "HEAD"])).unwrap();
        let reply = Arc::new(Mutex::new(HeartbeatReply::GoOn(vec![])));
        let mut heartbeats = bus.heartbeats().await.unwrap();
        let answer = Arc::clone(&reply);
        let beat = Arc::new(Mutex::new(None));
        let newest = Arc::clone(&beat);
        tokio::spawn(async move {
            while let Some(request) = heartbeats.next().await {
                *newest.lock().unwrap() = request.heartbeat.as_ref().ok().cloned();
                let reply = answer.lock().unwrap().clone();
                let _ = request.answer(&reply).await;
            }
        });
        let user = format!("{kind}-{ROLE}");
        Self { nats, bus, directory, source, repository, base, binary, user, reports, reply, beat }
    }

    /// Commits a file to the target and brings the mirror up to it: the next attempt starts from there.
    pub fn land(&mut self, path: &str, content: &str) {
        std::fs::write(self.source.join(path), content).unwrap();
        git(&self.source, &["add", "-A"]);
        git(&self.source, &["commit", "-q", "-m", "change"]);
        let mirror =
            self.directory.path().join("root/mirror").join(format!("{}.git", self.repository));
        git(&self.source, &["push", "-q", mirror.to_str().unwrap(), "main"]);
        self.base = CommitId::new(git(&self.source, &["rev-parse", "HEAD"])).unwrap();
    }

    pub fn attempt(&self, work: Work, criteria: &[(&str, &str)]) -> Attempt {
        let criteria = criteria.iter().map(|(id, checker)| Criterion {
            id: CriterionId::new(id).unwrap(),
            statement: "it holds".to_owned(),
            checker: (*checker).to_owned(),
        });
        Attempt {
            run: RunId::new("run").unwrap(),
            item: ItemId::new("item").unwrap(),
            number: AttemptNumber(1),
            role: RoleName::new(ROLE).unwrap(),
            contract: Contract {
                goal: "Say hello".to_owned(),
                deliverables: vec!["src/b.txt".to_owned()],
                acceptance_criteria: criteria.collect(),
                non_goals: Vec::new(),
                allowed_scope: AllowedScope { paths: vec!["src/".to_owned()], tools: Vec::new() },
                budgets: Budgets {
                    wall_clock_minutes: 5,
                    token_budget: Some(1000),
                    cost_budget: None,
                    max_agents: 1,
                    verification_ratio: 0.25,
                    first_artifact_ratio: 0.30,
                },
                forbidden_actions: Vec::new(),
            },
            repository: self.repository.clone(),
            target: "refs/heads/main".to_owned(),
            base_min: self.base.clone(),
            work,
            route: Route::default(),
            preamble: None,
            learnings: vec![],
            limits: AttemptLimits {
                heartbeat_ms: 100,
                lease_ms: 10_000,
                wall_clock_ms: 120_000,
                artifact_bytes_max: MIB,
                files_max: 100,
                tokens_max: None,
                cost_max: None,
                window_ms: 60_000,
            },
        }
    }

    /// The binary in `process` isolation, with a command of a shell script and the variables of a pool.
    pub fn command(&self, script: &str, subcommand: &str) -> Command {
        let root = self.directory.path().join("root");
        let argv = format!("[\"/bin/sh\",\"-c\",{script:?}]");
        let mut command = Command::new(self.binary);
        command
            .args(["--isolation", "process", "--root", root.to_str().unwrap(), subcommand])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .envs([("CANTUS_ROLE", ROLE), ("CANTUS_HOST", "host"), ("CANTUS_CONTAINER", "c1")])
            .envs([("CANTUS_INSTANCE", "test"), ("CANTUS_IMAGE", "image"), ("SECRET", "hidden")])
            .env("CANTUS_BUS_URL", self.nats.url())
            .envs([("CANTUS_BUS_USER", &self.user), ("CANTUS_BUS_PASSWORD", &self.user)])
            .env("CANTUS_COMMAND", argv)
            .stderr(std::process::Stdio::piped())
            .kill_on_drop(true);
        command
    }

    pub fn spawn(&self, script: &str, subcommand: &str) -> Child {
        self.command(script, subcommand).spawn().unwrap()
    }

    /// The next event of a lease, progress left out.
    pub async fn next(&mut self) -> LeaseEvent {
        loop {
            let entry =
                timeout(PATIENCE, self.reports.next()).await.expect("a report comes").unwrap();
            match entry.report.unwrap() {
                Report::Lease(report) => match report.body {
                    LeaseEvent::Progress(_) => {}
                    body => return body,
                },
                Report::ContainerExited(_) => panic!("only pools say so"),
            }
        }
    }

    /// Waits for this progress.
    pub async fn progress(&mut self, text: &str) {
        loop {
            let entry =
                timeout(PATIENCE, self.reports.next()).await.expect("a report comes").unwrap();
            if let Report::Lease(report) = entry.report.unwrap()
                && report.body == LeaseEvent::Progress(text.to_owned())
            {
                return;
            }
        }
    }

    pub async fn blob(&self, blob: &Blob) -> Vec<u8> {
        self.bus.get_blob(blob, 64 * MIB, PATIENCE).await.unwrap()
    }

    /// Brings a bundle into the source with the real git, as `refs/got/…`.
    pub async fn receive(&self, blob: &Blob) {
        let file = self.directory.path().join("received.bundle");
        std::fs::write(&file, self.blob(blob).await).unwrap();
        let file = file.to_str().unwrap();
        git(
            &self.source,
            &["-c", "fetch.fsckObjects=true", "fetch", "-q", file, "+refs/*:refs/got/*"],
        );
    }

    /// A file of the received work.
    pub fn got(&self, path: &str) -> String {
        git(&self.source, &["cat-file", "-p", &format!("refs/got/heads/work:{path}")])
    }
}

/// Waits for a process and shows what it said if its code is another.
pub async fn exits_with(child: Child, code: i32) -> String {
    let output: Output =
        timeout(PATIENCE, child.wait_with_output()).await.expect("the process ends").unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    stderr
}

/// Runs git, hermetically; its trimmed output.
pub fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = std::process::Command::new("git")
        .arg("-C")
        .arg(directory)
        .args(arguments)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", "/nonexistent")
        .envs([("GIT_AUTHOR_NAME", "A"), ("GIT_AUTHOR_EMAIL", "a@localhost")])
        .envs([("GIT_COMMITTER_NAME", "A"), ("GIT_COMMITTER_EMAIL", "a@localhost")])
        .output()
        .expect("the tests need git: install it");
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

/// Waits for something that leaves a trace outside.
pub async fn until(done: impl Fn() -> bool) {
    let waiting = async {
        while !done() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, waiting).await.expect("it happens in time");
}
