//! The pool on real Docker and a real bus: isolation, replacement, salvage, sweeping.
//!
//! Most tests use a stand-in for the worker, so that they are about the pool alone; the last ones use the real one.

#[path = "pool/support.rs"]
mod support;

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use cantus_docker::bus_server::{self, BUS_IMAGE, BusServerConfig, BusServerError, STORE_DIR};
use cantus_docker::engine::{Engine, EngineError};
use cantus_docker::mounts::RoleMount;
use cantus_docker::pool::{PoolError, Wish};
use cantus_docker::sweep::remove_all;
use cantus_proto::bus::{Bus, BusConfig};
use cantus_proto::message::{Commits, Isolation, LeaseEvent, WorkResult};
use cantus_proto::subjects::{BusUser, server_config};
use serde_json::json;
use support::{
    Ground, IMAGE, PATIENCE, Proxy, Source, docker, eventually, exit_report, lease_event, logs,
    real_binaries, role,
};

const MIB: u64 = 1024 * 1024;

/// G16 G17 G19 G26 G28 G29: what a container, and the agent in it, cannot do.
#[tokio::test]
async fn a_container_has_nothing_of_the_host_and_the_agent_no_rights() {
    let ground = Ground::new().await;
    let data = tempfile::tempdir().unwrap();
    std::fs::write(data.path().join("hello"), "hello").unwrap();
    for (path, mode) in [(data.path().to_owned(), 0o755), (data.path().join("hello"), 0o644)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let mut role = role(&["isolation"], 1, 0);
    role.mounts = vec![RoleMount { source: data.path().into(), target: "/opt/data".into() }];
    role.environment.insert("PORT".into(), ground.nats.port().to_string());
    let pool = ground.start(ground.config("h", role)).await;
    let seen = eventually("the container looked around", || {
        let name = ground.running().into_iter().next()?;
        serde_json::from_str::<serde_json::Value>(logs(&name).lines().next()?).ok()
    })
    .await;
    let wanted = json!({
        "capabilities": "00000000000000e0",
        "bus": "connected",
        "interfaces": ["lo"],
        "outside": "ENETUNREACH",
        "gateway": "ENETUNREACH",
        "host_loopback": "ECONNREFUSED",
        "outside_6": seen["entry"]["outside_6"],
        "name": "no",
        "write_root": "EROFS",
        "write_binaries": "EROFS",
        "write_mirror": "EROFS",
        "write_sockets": "EROFS",
        "write_data": "EROFS",
        "docker_socket": [],
        "devices": [],
        "init": "/sbin/docker-init",
        "leaked": [],
    });
    assert_eq!(seen["entry"], wanted);
    assert_ne!(seen["entry"]["outside_6"], "connected");
    let wanted = json!({
        "uid": 61001,
        "groups": [],
        "capabilities": "0000000000000000",
        "capabilities_bounding": "00000000000000e0",
        "no_new_privileges": "1",
        "bus": "EACCES",
        "environment_of_init": "EACCES",
        "environment_of_entry": "EACCES",
        "signal_to_init": "EPERM",
        "raw_socket": "EPERM",
        "unshare_user": "EPERM",
        "unshare_mounts": "EPERM",
        "mount": "EPERM",
        "mknod": "EPERM",
        "setuid": "EPERM",
        "run_from_tmp": 7,
        "write_workspace_root": "EACCES",
        "mirror": [],
        "mounted_data": "hello",
    });
    assert_eq!(seen["agent"], wanted);
    pool.end(Wish::Drain).await;
    ground.assert_nothing_is_left();
    assert_eq!(ground.sockets("h"), 0);
}

#[tokio::test]
async fn a_container_serves_once_and_is_replaced_by_one_that_waited() {
    let ground = Ground::new().await;
    let pool = ground.start(ground.config("h", role(&["serve", "0.5"], 2, 1))).await;
    let mut seen = std::collections::BTreeSet::new();
    eventually("eight containers served", || {
        let running = ground.running();
        assert!(running.len() <= 3, "never more than slots and spares: {running:?}");
        seen.extend(running);
        (seen.len() >= 8).then_some(())
    })
    .await;
    pool.end(Wish::Drain).await;
    ground.assert_nothing_is_left();
}

/// Q16: a death is told, counted by the coordinator, and the slot is open again.
#[tokio::test]
async fn deaths_are_reported_with_code_and_cause() {
    let ground = Ground::new().await;
    let mut reports = ground.coordinator.reports(1);
    let pool = ground.start(ground.config("h", role(&["idle"], 1, 0))).await;
    let name = ground.an_open_one().await;
    docker(&["kill", "--signal", "KILL", &name]);
    let exited = exit_report(&mut reports).await;
    assert_eq!((exited.container.as_str(), exited.exit_code), (name.as_str(), 137));
    assert!(!exited.out_of_memory);
    let next = ground.an_open_one().await;
    assert_ne!(next, name);
    docker(&["rm", "--force", &next]);
    let vanished = exit_report(&mut reports).await;
    assert_eq!(vanished.container.as_str(), next);
    pool.end(Wish::Stop).await;
    ground.assert_nothing_is_left();
}

#[tokio::test]
async fn a_container_over_its_memory_is_reported_as_that() {
    let ground = Ground::new().await;
    let mut reports = ground.coordinator.reports(1);
    let pool = ground.start(ground.config("h", role(&["hog"], 1, 0))).await;
    let exited = exit_report(&mut reports).await;
    assert!(exited.out_of_memory, "{exited:?}");
    pool.end(Wish::Stop).await;
    ground.assert_nothing_is_left();
}

#[tokio::test]
async fn an_image_that_cannot_work_is_no_hot_loop() {
    let ground = Ground::new().await;
    let pool = ground.start(ground.config("h", role(&["die"], 3, 1))).await;
    let mut seen = std::collections::BTreeSet::new();
    let end = tokio::time::Instant::now() + Duration::from_secs(8);
    while tokio::time::Instant::now() < end {
        seen.extend(
            ground
                .containers()
                .into_iter()
                .map(|(name, _)| name)
                .filter(|name| !name.ends_with("salvage")),
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!((4..=9).contains(&seen.len()), "{} launches in 8 s", seen.len());
    pool.end(Wish::Drain).await;
    ground.assert_nothing_is_left();
}

/// W23: killed between create and start, in mid-lease, and another installation's on the same host.
#[tokio::test]
async fn what_a_dead_pool_left_is_swept_and_nothing_of_others() {
    let ground = Ground::new().await;
    let dead = ground.start(ground.config("h", role(&["idle"], 1, 1))).await;
    let open = ground.an_open_one().await;
    eventually("the spare runs too", || (ground.running().len() == 2).then_some(())).await;
    dead.crash().await;
    let instance = format!("cantus.instance={}", ground.instance);
    let label = |pool: &str, host: &str| {
        let volume = format!("{}-{pool}-{host}", ground.instance);
        let labels = [
            instance.clone(),
            format!("cantus.host={host}"),
            format!("cantus.pool={pool}"),
            "cantus.kind=worker".to_owned(),
            "cantus.role=builder".to_owned(),
        ];
        let mut arguments = vec!["create", "--name", &volume, "--network", "none"];
        for label in &labels {
            arguments.extend(["--label", label]);
        }
        arguments.extend([IMAGE, "true"]);
        docker(&arguments);
        volume
    };
    let never_started = label("1.1.00000000", "h");
    let other_host = label("1.1.00000001", "h2");
    let another = format!("{}-x", ground.instance);
    docker(&[
        "create",
        "--name",
        &another,
        "--label",
        "cantus.instance=test-other",
        "--label",
        "cantus.host=h",
        "--label",
        "cantus.pool=1.1.00000000",
        "--label",
        "cantus.kind=worker",
        IMAGE,
        "true",
    ]);
    assert_eq!(ground.containers().len(), 4);
    let mut config = ground.config("h", role(&["idle"], 1, 0));
    config.dir = ground.dir.path().join("state/pool/again");
    let pool = ground.start(config).await;
    eventually("the never started one is swept", || {
        let left = ground.containers();
        (!left.iter().any(|(name, _)| *name == never_started)).then_some(())
    })
    .await;
    eventually("what the crashed pool left is swept", || {
        (!ground.containers().iter().any(|(name, _)| *name == open)).then_some(())
    })
    .await;
    assert!(
        ground.containers().iter().any(|(name, _)| *name == other_host),
        "another host's is its own"
    );
    assert_eq!(docker(&["ps", "-aq", "--filter", &format!("name=^{another}$")]).lines().count(), 1);
    docker(&["rm", "--force", &another, &other_host]);
    pool.end(Wish::Stop).await;
    ground.assert_nothing_is_left();
}

/// Two pools side by side: each its own host name, mirror and containers, one coordinator.
#[tokio::test]
async fn two_pools_serve_one_coordinator_with_their_own_mirrors() {
    let ground = Ground::new().await;
    let mut source = Source::publish_new(&ground).await;
    let repository = source.repository.clone();
    let pools = [
        ground.start(ground.config("h1", role(&["idle"], 1, 0))).await,
        ground.start(ground.config("h2", role(&["idle"], 1, 0))).await,
    ];
    let mirror_head = |host: &str| {
        let mirror = ground
            .dir
            .path()
            .join(format!("state/pool/{host}/mirrors/{repository}.git/refs/heads/main"));
        std::fs::read_to_string(mirror).map(|text| text.trim().to_owned()).ok()
    };
    for host in ["h1", "h2"] {
        eventually("the mirror has the first commit", || {
            (mirror_head(host)? == source.head.as_str()).then_some(())
        })
        .await;
    }
    source.publish_next(&ground).await;
    let second = source.head.to_string();
    for host in ["h1", "h2"] {
        eventually("the mirror follows", || (mirror_head(host)? == second).then_some(())).await;
    }
    eventually("both pools serve", || (ground.running().len() == 2).then_some(())).await;
    for name in ground.running() {
        let path = format!("/cantus/mirror/{repository}.git/refs/heads/main");
        let read = docker(&["exec", "--user", "61001:61001", &name, "cat", &path]);
        assert_eq!(read.trim(), second, "the agent's user reads the mirror of {name}");
    }
    let [one, two] = pools;
    one.end(Wish::Drain).await;
    assert_eq!(ground.running().len(), 1, "the other goes on");
    two.end(Wish::Drain).await;
    ground.assert_nothing_is_left();
}

#[tokio::test]
async fn what_cannot_be_served_is_refused_with_its_reason_and_nothing_is_left() {
    let ground = Ground::new().await;
    let mut missing = role(&["idle"], 1, 0);
    missing.image = "cantus/absent:1".into();
    let error = ground.refusal(ground.config("h", missing)).await;
    assert!(matches!(error, PoolError::Engine(EngineError::ImageMissing { .. })), "{error}");
    assert!(error.to_string().contains("docker/images/build"), "{error}");

    let mut mounts_docker = role(&["idle"], 1, 0);
    mounts_docker.mounts =
        vec![RoleMount { source: "/var/run/docker.sock".into(), target: "/d".into() }];
    let error = ground.refusal(ground.config("h", mounts_docker)).await;
    assert!(matches!(error, PoolError::Mount { .. }), "{error}");

    let mut no_binaries = ground.config("h", role(&["idle"], 1, 0));
    no_binaries.binaries = "/nonexistent".into();
    let error = ground.refusal(no_binaries).await;
    assert!(error.to_string().contains("cargo build -p cantus-worker"), "{error}");

    let pool = ground.start(ground.config("h", role(&["idle"], 1, 0))).await;
    ground.an_open_one().await;
    let error = ground.refusal(ground.config("h", role(&["idle"], 1, 0))).await;
    assert!(matches!(error, PoolError::Busy { .. }), "{error}");
    pool.end(Wish::Drain).await;
    ground.assert_nothing_is_left();
}

/// W19: the connection to Docker is cut while a container dies.
#[tokio::test]
async fn an_engine_that_goes_away_is_waited_for() {
    let ground = Ground::new().await;
    let mut reports = ground.coordinator.reports(1);
    let mut proxy = Proxy::open(ground.dir.path().join("docker.sock"));
    let mut config = ground.config("h", role(&["idle"], 1, 0));
    config.docker_socket = Some(proxy.socket.clone());
    let pool = ground.start(config).await;
    let name = ground.an_open_one().await;
    proxy.cut().await;
    docker(&["kill", "--signal", "KILL", &name]);
    tokio::time::sleep(Duration::from_secs(2)).await;
    proxy.mend();
    let exited = exit_report(&mut reports).await;
    assert_eq!((exited.container.as_str(), exited.exit_code), (name.as_str(), 137));
    assert_ne!(ground.an_open_one().await, name);
    pool.end(Wish::Drain).await;
    ground.assert_nothing_is_left();
}

#[tokio::test]
async fn the_bus_container_keeps_its_store_and_leaves_nothing() {
    let ground = Ground::new().await;
    let engine = Engine::connect().await.unwrap();
    let port = cantus_tests::nats::free_port();
    let users = [(BusUser::Coordinator, "c\"o\\u".to_owned()), (BusUser::Pool, "p".to_owned())];
    let config = BusServerConfig {
        instance: ground.instance.clone(),
        image: BUS_IMAGE.into(),
        port,
        dir: ground.dir.path().join("state/nats"),
        config: server_config(port, None, STORE_DIR, &users),
    };
    let taken = std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
    let error = bus_server::start(&engine, &config).await.unwrap_err();
    assert!(matches!(error, BusServerError::PortTaken { .. }), "{error}");
    drop(taken);
    ground.assert_nothing_is_left();

    bus_server::start(&engine, &config).await.unwrap();
    let login = BusConfig {
        url: format!("nats://127.0.0.1:{port}"),
        user: BusUser::Coordinator.name(),
        password: users[0].1.clone(),
        name: "test".into(),
        wait: PATIENCE,
    };
    let bus = Bus::connect(login.clone()).await.unwrap();
    bus.ensure_streams().await.unwrap();
    let blob = bus.put_blob(b"kept", MIB, PATIENCE).await.unwrap();
    let container = ground.running();
    bus_server::start(&engine, &config).await.unwrap();
    assert_eq!(ground.running(), container, "one that runs is left alone");
    bus_server::stop(&engine, &ground.instance).await.unwrap();
    bus_server::stop(&engine, &ground.instance).await.unwrap();
    assert_eq!(ground.containers(), []);
    bus_server::start(&engine, &config).await.unwrap();
    let again = Bus::connect(login).await.unwrap();
    assert_eq!(again.get_blob(&blob, MIB, PATIENCE).await.unwrap(), b"kept");

    let mut broken = config.clone();
    broken.config = "jetstream { store_dir: ".into();
    let error = bus_server::start(&engine, &broken).await.unwrap_err();
    assert!(matches!(error, BusServerError::Ended { .. }), "{error}");
    assert_eq!(ground.containers(), [], "nothing half started");

    let removed =
        remove_all(&engine, &ground.instance, &ground.dir.path().join("state/pool")).await.unwrap();
    assert_eq!(removed.volumes.len(), 1);
    ground.assert_nothing_is_left();
    let nothing =
        remove_all(&engine, &ground.instance, &ground.dir.path().join("state/pool")).await.unwrap();
    assert!(nothing.is_empty(), "{nothing:?}");
}

/// An agent that commits on a detached head, leaves a file untracked and never ends.
const AGENT_THAT_NEVER_ENDS: &str = "git checkout --quiet --detach && echo committed > a && git add a && \
     git -c user.name=a -c user.email=a@b commit --quiet -m detached && echo untracked > b && sleep 600";

/// Waits until that agent has done its work in a container.
async fn work_is_done(ground: &Ground) -> String {
    eventually("the agent has left its files", || {
        ground.running().into_iter().find(|name| {
            let test = ["exec", name.as_str(), "test", "-s", "/cantus/work/tree/b"];
            std::process::Command::new("docker")
                .args(test)
                .output()
                .is_ok_and(|it| it.status.success())
        })
    })
    .await
}

/// W1, and Q16's death with work: it is saved before the volume goes.
#[tokio::test]
async fn a_killed_workers_commits_and_untracked_files_are_saved_first() {
    let ground = Ground::with_binaries(real_binaries()).await;
    let source = Source::publish_new(&ground).await;
    let mut reports = ground.coordinator.reports(1);
    let agent = ["sh", "-c", AGENT_THAT_NEVER_ENDS];
    let pool = ground.start(ground.config("h", role(&agent, 1, 1))).await;
    ground.coordinator.publish_attempt(&source.attempt("one")).await.unwrap();
    let name = work_is_done(&ground).await;
    docker(&["kill", "--signal", "KILL", &name]);
    assert_eq!(exit_report(&mut reports).await.container.as_str(), name);
    let saved = lease_event(&mut reports, "saved work", |event| match event {
        LeaseEvent::Saved(saved) => Some(saved.clone()),
        _ => None,
    })
    .await;
    let (files, texts) = source.files_of(&ground.coordinator, &saved.commits).await;
    assert_eq!(files, ["a", "b"]);
    assert!(texts.contains("detached"), "{texts}");
    pool.end(Wish::Drain).await;
    ground.assert_nothing_is_left();
}

/// W1 and W23: the pool dies in mid-lease; the next one saves, then sweeps.
#[tokio::test]
async fn the_work_of_a_dead_pools_worker_is_saved_by_the_sweep() {
    let ground = Ground::with_binaries(real_binaries()).await;
    let source = Source::publish_new(&ground).await;
    let mut reports = ground.coordinator.reports(1);
    let config = ground.config("h", role(&["sh", "-c", AGENT_THAT_NEVER_ENDS], 1, 0));
    let dead = ground.start(config.clone()).await;
    ground.coordinator.publish_attempt(&source.attempt("one")).await.unwrap();
    let name = work_is_done(&ground).await;
    dead.crash().await;
    let pool = ground.start(config).await;
    let saved = lease_event(&mut reports, "saved work", |event| match event {
        LeaseEvent::Saved(saved) => Some(saved.clone()),
        _ => None,
    })
    .await;
    assert_eq!(source.files_of(&ground.coordinator, &saved.commits).await.0, ["a", "b"]);
    eventually("it is swept", || (!ground.volumes().contains(&name)).then_some(())).await;
    pool.end(Wish::Stop).await;
    ground.assert_nothing_is_left();
}

/// A2: one lease each, in containers that waited for it, on what the mirror holds.
#[tokio::test]
async fn leases_are_served_by_containers_that_waited() {
    let ground = Ground::with_binaries(real_binaries()).await;
    let source = Source::publish_new(&ground).await;
    let mut reports = ground.coordinator.reports(1);
    let agent = ["sh", "-c", "echo \"$CANTUS_ITEM\" > a"];
    let pool = ground.start(ground.config("h", role(&agent, 2, 1))).await;
    for item in 0..6 {
        let attempt = source.attempt(&format!("item {item}"));
        ground.coordinator.publish_attempt(&attempt).await.unwrap();
    }
    let mut takers = std::collections::BTreeSet::new();
    let mut results = 0;
    while results < 6 {
        let commits = lease_event(&mut reports, "a lease or a result", |event| match event {
            LeaseEvent::Leased(leased) => Some(Err(leased.container.clone())),
            LeaseEvent::Result(result) => Some(Ok(handed_in(result))),
            other => panic!("{other:?}"),
        })
        .await;
        match commits {
            Err(taker) => assert!(takers.insert(taker), "a container serves one lease"),
            Ok(commits) => {
                assert_eq!(source.files_of(&ground.coordinator, &commits).await.0, ["a"]);
                results += 1;
            }
        }
    }
    pool.end(Wish::Drain).await;
    ground.assert_nothing_is_left();
}

/// Draining: a lease that runs is finished and handed in; idle containers leave at once.
#[tokio::test]
async fn draining_finishes_what_is_leased() {
    let ground = Ground::with_binaries(real_binaries()).await;
    let source = Source::publish_new(&ground).await;
    let mut reports = ground.coordinator.reports(1);
    let agent = ["sh", "-c", "sleep 3; echo late > a"];
    let pool = ground.start(ground.config("h", role(&agent, 2, 0))).await;
    ground.coordinator.publish_attempt(&source.attempt("one")).await.unwrap();
    lease_event(&mut reports, "a lease", |event| {
        matches!(event, LeaseEvent::Leased(_)).then_some(())
    })
    .await;
    pool.end(Wish::Drain).await;
    ground.assert_nothing_is_left();
    let result = lease_event(&mut reports, "the result", |event| match event {
        LeaseEvent::Result(result) => Some(handed_in(result)),
        _ => None,
    })
    .await;
    assert_eq!(source.files_of(&ground.coordinator, &result).await.0, ["a"]);
}

/// What a result brings; the agents here always leave something.
fn handed_in(result: &WorkResult) -> Commits {
    let bundle = result.bundle.clone().expect("the agent left something");
    Commits { bundle, base: result.base.clone(), head: result.head.clone() }
}

/// The development isolation: the same life, and it says of itself what it is.
#[tokio::test]
async fn processes_serve_leases_and_their_work_is_saved_too() {
    let ground = Ground::with_binaries(real_binaries()).await;
    let source = Source::publish_new(&ground).await;
    let mut reports = ground.coordinator.reports(1);
    let agent = "echo $$ > a; case $CANTUS_ITEM in killed) echo work > b; kill -9 $PPID;; esac";
    let mut config = ground.config("h", role(&["sh", "-c", agent], 2, 0));
    config.isolation = Isolation::Process;
    let processes = config.dir.join("process");
    let pool = ground.start(config).await;
    ground.coordinator.publish_attempt(&source.attempt("one")).await.unwrap();
    let isolation = lease_event(&mut reports, "a lease", |event| match event {
        LeaseEvent::Leased(leased) => Some(leased.isolation),
        _ => None,
    })
    .await;
    assert_eq!(isolation, Isolation::Process);
    lease_event(&mut reports, "a result", |event| {
        matches!(event, LeaseEvent::Result(_)).then_some(())
    })
    .await;
    ground.coordinator.publish_attempt(&source.attempt("killed")).await.unwrap();
    let saved = lease_event(&mut reports, "saved work", |event| match event {
        LeaseEvent::Saved(saved) => Some(saved.clone()),
        _ => None,
    })
    .await;
    assert_eq!(source.files_of(&ground.coordinator, &saved.commits).await.0, ["a", "b"]);
    pool.end(Wish::Stop).await;
    assert_eq!(std::fs::read_dir(processes).unwrap().count(), 0);
}
