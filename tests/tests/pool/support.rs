//! What every pool test stands on: a bus, a directory, an instance of its own, and the certainty that nothing stays.
#![expect(clippy::unwrap_used, reason = "a test fails where it is, with what it found")]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use cantus_docker::container::{RoleConfig, RoleKind, Secret};
use cantus_docker::engine::DEFAULT_SOCKET;
use cantus_docker::pool::{self, PoolConfig, PoolError, Wish};
use cantus_proto::bus::{Bus, Reports};
use cantus_proto::contract::{AllowedScope, Budgets, Contract, Criterion};
use cantus_proto::ids::{
    AttemptNumber, CommitId, CriterionId, HostName, ItemId, RepositoryId, RoleName, RunId,
};
use cantus_proto::message::{
    Attempt, AttemptLimits, Commits, ContainerExited, Isolation, LeaseEvent, Report, SourceUpdate,
    UsageSource, Work,
};
use cantus_proto::subjects::BusUser;
use cantus_tests::nats::Nats;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

/// Longest that anything in these tests may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// Pause between looks.
const LOOK: Duration = Duration::from_millis(50);
/// The image that `docker/images/build` makes.
pub(crate) const IMAGE: &str = "cantus/base:bookworm";
/// The role of all these tests.
pub(crate) const ROLE: &str = "builder";

/// The ground of one test. All that bears its instance id goes with it, also when the test fails.
pub(crate) struct Ground {
    pub(crate) nats: Nats,
    pub(crate) dir: tempfile::TempDir,
    pub(crate) instance: String,
    pub(crate) coordinator: Bus,
    binaries: PathBuf,
}

impl Ground {
    /// With the stand-in as worker.
    pub(crate) async fn new() -> Self {
        let mut ground = Self::with_binaries(PathBuf::new()).await;
        let binaries = ground.dir.path().join("stand-in");
        std::fs::create_dir_all(&binaries).unwrap();
        let path = binaries.join("cantus-worker");
        std::fs::write(&path, include_str!("stand_in.py")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        ground.binaries = binaries;
        ground
    }

    /// With the binaries of this directory.
    pub(crate) async fn with_binaries(binaries: PathBuf) -> Self {
        let nats = Nats::start(&[ROLE]);
        let coordinator = nats.coordinator(&[ROLE]).await;
        let dir = tempfile::tempdir().unwrap();
        Self {
            nats,
            dir,
            instance: format!("test-pool-{}", std::process::id()),
            coordinator,
            binaries,
        }
    }

    pub(crate) fn config(&self, host: &str, role: RoleConfig) -> PoolConfig {
        PoolConfig {
            instance: self.instance.clone(),
            host: HostName::new(host).unwrap(),
            dir: self.dir.path().join("state/pool").join(host),
            state_dir: self.dir.path().join("state"),
            docker_socket: None,
            binaries: self.binaries.clone(),
            bus_address: format!("127.0.0.1:{}", self.nats.port()),
            isolation: Isolation::Container,
            roles: vec![role],
            drain_max: PATIENCE,
            sweep_every: Duration::from_secs(1),
        }
    }

    /// Starts a pool in the background.
    pub(crate) async fn start(&self, config: PoolConfig) -> Running {
        let bus = self.nats.connect(&BusUser::Pool).await;
        let (wish, wished) = watch::channel(Wish::Serve);
        Running { wish, pool: tokio::spawn(pool::run(config, bus, wished)) }
    }

    /// Why a pool refuses to start.
    pub(crate) async fn refusal(&self, config: PoolConfig) -> PoolError {
        let bus = self.nats.connect(&BusUser::Pool).await;
        let (_wish, wished) = watch::channel(Wish::Serve);
        let refused = tokio::time::timeout(PATIENCE, pool::run(config, bus, wished)).await;
        refused.expect("it is refused at once").unwrap_err()
    }

    /// Containers of this instance as (name, state).
    pub(crate) fn containers(&self) -> Vec<(String, String)> {
        let filter = format!("label=cantus.instance={}", self.instance);
        let listed =
            docker(&["ps", "--all", "--filter", &filter, "--format", "{{.Names}} {{.State}}"]);
        let pairs = listed.lines().filter_map(|line| line.split_once(' '));
        pairs.map(|(name, state)| (name.to_owned(), state.to_owned())).collect()
    }

    /// Names of the running containers of this instance.
    pub(crate) fn running(&self) -> Vec<String> {
        let all = self.containers().into_iter();
        all.filter(|(_, state)| state == "running").map(|(name, _)| name).collect()
    }

    pub(crate) fn volumes(&self) -> Vec<String> {
        let filter = format!("label=cantus.instance={}", self.instance);
        docker(&["volume", "ls", "--quiet", "--filter", &filter])
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// Socket directories of a host's pool.
    pub(crate) fn sockets(&self, host: &str) -> usize {
        let sockets = self.dir.path().join("state/pool").join(host).join("sockets");
        std::fs::read_dir(sockets).map_or(0, Iterator::count)
    }

    pub(crate) fn assert_nothing_is_left(&self) {
        assert_eq!(self.containers(), [], "containers");
        assert_eq!(self.volumes(), Vec::<String>::new(), "volumes");
    }

    /// Waits for a container that says it is open, and gives its name.
    pub(crate) async fn an_open_one(&self) -> String {
        eventually("a container is open", || {
            self.running().into_iter().find(|name| logs(name).contains("open"))
        })
        .await
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let containers: Vec<_> = self.containers().into_iter().map(|(name, _)| name).collect();
        for name in containers {
            let _ = Command::new("docker").args(["rm", "--force", &name]).output();
        }
        for name in self.volumes() {
            let _ = Command::new("docker").args(["volume", "rm", "--force", &name]).output();
        }
    }
}

/// A pool at work.
pub(crate) struct Running {
    wish: watch::Sender<Wish>,
    pool: JoinHandle<Result<(), PoolError>>,
}

impl Running {
    /// Ends it in this way and waits until it has.
    pub(crate) async fn end(self, wish: Wish) {
        self.wish.send_replace(wish);
        let ended = tokio::time::timeout(PATIENCE, self.pool).await;
        ended.expect("the pool ends in time").unwrap().unwrap();
    }

    /// Ends it as a crash would: nothing is cleared away.
    pub(crate) async fn crash(self) {
        self.pool.abort();
        assert!(self.pool.await.unwrap_err().is_cancelled());
    }
}

/// A small role with this stand-in behaviour, or agent.
pub(crate) fn role(command: &[&str], slots: u32, spares: u32) -> RoleConfig {
    RoleConfig {
        name: RoleName::new(ROLE).unwrap(),
        kind: RoleKind::Worker,
        image: IMAGE.to_owned(),
        slots,
        spares,
        command: command.iter().map(|&word| word.to_owned()).collect(),
        usage: UsageSource::None,
        mounts: Vec::new(),
        environment: BTreeMap::new(),
        memory_mb: 256,
        cpus: 1.0,
        pids_max: 128,
        tmp_mb: 64,
        bus_user: BusUser::Worker(RoleName::new(ROLE).unwrap()).name(),
        bus_password: Secret(BusUser::Worker(RoleName::new(ROLE).unwrap()).name()),
        signing_key: None,
    }
}

/// What the Docker command says; the test fails when it does.
pub(crate) fn docker(arguments: &[&str]) -> String {
    let output = Command::new("docker")
        .args(arguments)
        .output()
        .expect("docker is installed: scripts/doctor says how");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "docker {arguments:?}: {complaint}");
    String::from_utf8(output.stdout).unwrap()
}

/// What a container said; nothing when it is gone.
pub(crate) fn logs(name: &str) -> String {
    let output = Command::new("docker").args(["logs", name]).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Waits until a look finds something.
pub(crate) async fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let limit = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < limit, "not within {PATIENCE:?}: {what}");
        tokio::time::sleep(LOOK).await;
    }
}

/// The next report that is as wanted.
pub(crate) async fn report<T>(
    reports: &mut Reports,
    what: &str,
    wanted: impl Fn(&Report) -> Option<T>,
) -> T {
    let found = async {
        loop {
            let report = reports.next().await.unwrap().report.unwrap();
            if let Some(found) = wanted(&report) {
                return found;
            }
        }
    };
    tokio::time::timeout(PATIENCE, found)
        .await
        .unwrap_or_else(|_| panic!("no report in time: {what}"))
}

/// The end of a container that was reported.
pub(crate) async fn exit_report(reports: &mut Reports) -> ContainerExited {
    report(reports, "a container's end", |report| match report {
        Report::ContainerExited(exited) => Some(exited.clone()),
        Report::Lease(_) => None,
    })
    .await
}

/// The next event of a lease that is as wanted.
pub(crate) async fn lease_event<T>(
    reports: &mut Reports,
    what: &str,
    wanted: impl Fn(&LeaseEvent) -> Option<T>,
) -> T {
    report(reports, what, |report| match report {
        Report::Lease(report) => wanted(&report.body),
        Report::ContainerExited(_) => None,
    })
    .await
}

/// Runs git in a directory, with nothing of the person's configuration.
pub(crate) fn git(dir: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(dir)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .envs([
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("HOME", "/nonexistent"),
        ])
        .envs([("GIT_AUTHOR_NAME", "a"), ("GIT_AUTHOR_EMAIL", "a@b")])
        .envs([("GIT_COMMITTER_NAME", "a"), ("GIT_COMMITTER_EMAIL", "a@b")])
        .args(arguments)
        .output()
        .expect("git is installed");
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The real binaries, which `cargo build` makes.
pub(crate) fn real_binaries() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let dir = test.ancestors().nth(2).unwrap().to_owned();
    let worker = dir.join("cantus-worker");
    assert!(
        worker.is_file(),
        "{} is missing: run `cargo build -p cantus-worker`",
        worker.display()
    );
    dir
}

/// A repository with one commit on `main`, and the bus's update that brings it to mirrors.
pub(crate) struct Source {
    pub(crate) dir: PathBuf,
    pub(crate) repository: RepositoryId,
    pub(crate) head: CommitId,
}

impl Source {
    pub(crate) async fn publish_new(ground: &Ground) -> Self {
        let dir = ground.dir.path().join("source");
        std::fs::create_dir_all(&dir).unwrap();
        git(&dir, &["init", "--quiet", "--initial-branch=main"]);
        let mut source =
            Self { repository: RepositoryId::of("test"), head: commit(&dir, "one"), dir };
        source.publish(&ground.coordinator, None).await;
        source
    }

    pub(crate) async fn publish_next(&mut self, ground: &Ground) {
        let before = std::mem::replace(&mut self.head, commit(&self.dir, "two"));
        self.publish(&ground.coordinator, Some(before)).await;
    }

    async fn publish(&mut self, bus: &Bus, after: Option<CommitId>) {
        let path = self.dir.join("bundle");
        let range =
            after.as_ref().map_or_else(|| "main".to_owned(), |after| format!("{after}..main"));
        git(&self.dir, &["bundle", "create", "--quiet", path.to_str().unwrap(), &range]);
        let bundle = bus.put_blob_file(&path, 1 << 20, PATIENCE).await.unwrap();
        let update = SourceUpdate {
            repository: self.repository.clone(),
            target: "refs/heads/main".into(),
            head: self.head.clone(),
            prerequisite: after,
            bundle,
        };
        bus.publish_source(&update, self.head.as_str()).await.unwrap();
    }

    /// Fetches commits that were saved or handed in; answers the files of their head and its ancestors' texts.
    pub(crate) async fn files_of(&self, bus: &Bus, commits: &Commits) -> (Vec<String>, String) {
        let path = self.dir.join("result.bundle");
        bus.get_blob_file(&commits.bundle, &path, 1 << 20, PATIENCE).await.unwrap();
        let (bundle, head) = (path.to_str().unwrap(), commits.head.as_str());
        git(&self.dir, &["bundle", "verify", "--quiet", bundle]);
        git(&self.dir, &["bundle", "unbundle", bundle]);
        let files = git(&self.dir, &["ls-tree", "-r", "--name-only", head]);
        let texts = git(&self.dir, &["log", "--format=%s", &format!("{}..{head}", commits.base)]);
        (files.lines().map(str::to_owned).collect(), texts)
    }

    /// The first attempt at an item that starts from the head.
    pub(crate) fn attempt(&self, item: &str) -> Attempt {
        let criterion = Criterion {
            id: CriterionId::new("tests").unwrap(),
            statement: "they pass".into(),
            checker: "true".into(),
        };
        Attempt {
            run: RunId::new("run").unwrap(),
            item: ItemId::new(item).unwrap(),
            number: AttemptNumber(1),
            role: RoleName::new(ROLE).unwrap(),
            contract: Contract {
                goal: "goal".into(),
                deliverables: vec![],
                acceptance_criteria: vec![criterion],
                non_goals: vec![],
                allowed_scope: AllowedScope { paths: vec!["a".into()], tools: vec![] },
                budgets: Budgets {
                    wall_clock_minutes: 5,
                    token_budget: Some(1),
                    cost_budget: None,
                    max_agents: 1,
                    verification_ratio: 0.2,
                    first_artifact_ratio: 0.30,
                },
                forbidden_actions: vec![],
            },
            repository: self.repository.clone(),
            target: "refs/heads/main".into(),
            base_min: self.head.clone(),
            work: Work::Produce,
            route: cantus_proto::message::Route::default(),
            preamble: None,
            learnings: vec![],
            limits: AttemptLimits {
                heartbeat_ms: 2_000,
                lease_ms: 15_000,
                wall_clock_ms: 120_000,
                artifact_bytes_max: 1 << 20,
                files_max: 10,
                tokens_max: None,
                cost_max: None,
                window_ms: 60_000,
            },
        }
    }
}

fn commit(dir: &Path, text: &str) -> CommitId {
    git(dir, &["commit", "--quiet", "--allow-empty", "-m", text]);
    CommitId::new(git(dir, &["rev-parse", "HEAD"])).unwrap()
}

/// A way to the Docker Engine that can be cut.
pub(crate) struct Proxy {
    pub(crate) socket: PathBuf,
    carrying: Option<JoinHandle<()>>,
}

impl Proxy {
    pub(crate) fn open(socket: PathBuf) -> Self {
        let mut proxy = Self { socket, carrying: None };
        proxy.mend();
        proxy
    }

    pub(crate) fn mend(&mut self) {
        let listener = UnixListener::bind(&self.socket).unwrap();
        self.carrying = Some(tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((mut client, _)) = listener.accept().await {
                connections.spawn(async move {
                    let mut engine = UnixStream::connect(DEFAULT_SOCKET).await.unwrap();
                    // A connection that is cut is what this is for.
                    let _ = tokio::io::copy_bidirectional(&mut client, &mut engine).await;
                });
            }
        }));
    }

    pub(crate) async fn cut(&mut self) {
        let carrying = self.carrying.take().unwrap();
        carrying.abort();
        assert!(carrying.await.unwrap_err().is_cancelled());
        std::fs::remove_file(&self.socket).unwrap();
    }
}
