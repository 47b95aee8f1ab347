//! A role and its ground give exactly the isolation that is promised.

use super::*;
use crate::labels::PoolId;
use cantus_proto::ids::HostName;

fn role(kind: RoleKind) -> RoleConfig {
    RoleConfig {
        name: RoleName::new("builder").unwrap(),
        kind,
        image: "cantus/base:bookworm".into(),
        slots: 2,
        spares: 1,
        command: vec!["sh".into(), "agent it's.sh".into()],
        usage: UsageSource::None,
        mounts: Vec::new(),
        environment: BTreeMap::from([("LANG".into(), "C".into())]),
        memory_mb: 256,
        cpus: 64.0,
        pids_max: 100,
        tmp_mb: 64,
        bus_user: "worker-builder".into(),
        bus_password: Secret("hunter2".into()),
        signing_key: Some(Secret("KEY".into())),
    }
}

fn body(kind: RoleKind, purpose: Purpose) -> ContainerCreateBody {
    let owner = Owner {
        instance: "test-x".into(),
        host: HostName::new("h").unwrap(),
        pool: PoolId::from_label("1.2.c"),
    };
    let ground = Ground {
        mirrors: "/s/mirrors".into(),
        binaries: "/s/bin".into(),
        gid: 1000,
        cpus_max: 2.0,
    };
    let mounts = [RoleMount { source: "/data".into(), target: "/opt/data".into() }];
    create_body(&Spec {
        owner: &owner,
        role: &role(kind),
        mounts: &mounts,
        purpose,
        image_id: "sha256:1",
        volume: "cantus-test-x-builder-1",
        sockets: Path::new("/s/sockets/1"),
        ground: &ground,
    })
}

#[test]
fn isolation_is_all_there() {
    let host = body(RoleKind::Worker, Purpose::Lease).host_config.unwrap();
    assert_eq!(host.network_mode.as_deref(), Some("none"));
    assert_eq!(host.readonly_rootfs, Some(true));
    assert_eq!(host.cap_drop.unwrap(), ["ALL"]);
    assert_eq!(host.cap_add.unwrap(), ["SETUID", "SETGID", "KILL"]);
    assert_eq!(host.security_opt.unwrap(), ["no-new-privileges"]);
    assert_eq!(host.init, Some(true));
    assert_eq!(host.memory, host.memory_swap);
    assert_eq!(host.memory, Some(256 * 1024 * 1024));
    assert_eq!(host.nano_cpus, Some(2_000_000_000), "more than the machine has is all of it");
    assert_eq!(host.pids_limit, Some(100));
    assert_eq!(host.group_add.unwrap(), ["1000"]);
    assert!(host.tmpfs.unwrap()["/tmp"].contains("exec,nosuid,nodev,mode=1777,size=64m"));
    assert_eq!(host.log_config.unwrap().config.unwrap()["max-size"], "4m");
    assert!(host.binds.is_none() && host.auto_remove.is_none() && host.devices.is_none());
}

#[test]
fn only_the_workspace_is_writable() {
    let mounts = body(RoleKind::Worker, Purpose::Lease).host_config.unwrap().mounts.unwrap();
    let targets: Vec<_> = mounts.iter().map(|mount| mount.target.clone().unwrap()).collect();
    assert_eq!(
        targets,
        ["/cantus/work", "/cantus/mirror", "/cantus/bin", "/cantus/sockets", "/opt/data"]
    );
    let writable: Vec<_> = mounts.iter().filter(|mount| mount.read_only != Some(true)).collect();
    assert_eq!(writable.len(), 1);
    let volume = writable[0].volume_options.clone().unwrap().labels.unwrap();
    assert_eq!(volume[labels::INSTANCE], "test-x");
    assert_eq!(volume[labels::KIND], "worker");
    assert_eq!(volume[labels::IMAGE], "cantus/base:bookworm");
}

#[test]
fn the_binary_of_the_kind_runs_with_its_own_environment() {
    let worker = body(RoleKind::Worker, Purpose::Lease);
    assert_eq!(worker.entrypoint.unwrap(), ["/cantus/bin/cantus-worker"]);
    assert_eq!(worker.cmd.unwrap(), ["lease"]);
    let environment = worker.env.unwrap();
    assert!(environment.iter().all(|entry| entry.starts_with("CANTUS_")));
    assert!(environment.contains(&"CANTUS_COMMAND=[\"sh\",\"agent it's.sh\"]".to_owned()));
    assert!(environment.contains(&"CANTUS_ENVIRONMENT={\"LANG\":\"C\"}".to_owned()));
    assert!(environment.contains(&"CANTUS_USAGE=none".to_owned()));
    let verifier = body(RoleKind::Verifier, Purpose::Lease);
    assert_eq!(verifier.entrypoint.unwrap(), ["/cantus/bin/cantus-verifier"]);
    assert!(verifier.env.unwrap().iter().all(|entry| !entry.starts_with("CANTUS_COMMAND")));
    let salvage = body(RoleKind::Worker, Purpose::Salvage);
    assert_eq!(salvage.cmd.unwrap(), ["salvage"]);
    assert_eq!(salvage.labels.unwrap()[labels::KIND], "salvage");
}

#[test]
fn roles_are_checked_and_secrets_never_shown() {
    assert_eq!(check_role(&role(RoleKind::Worker)), Ok(()));
    let problem = |change: fn(&mut RoleConfig)| {
        let mut role = role(RoleKind::Worker);
        change(&mut role);
        check_role(&role).unwrap_err().to_string()
    };
    assert!(problem(|role| role.slots = 0).contains("slots is 0"));
    assert!(problem(|role| role.command.clear()).contains("command is empty"));
    assert!(problem(|role| role.cpus = f64::NAN).contains("cpus"));
    assert!(problem(|role| role.memory_mb = 1).contains("memory_mb is 1"));
    assert!(
        problem(|role| (role.kind, role.signing_key) = (RoleKind::Verifier, None))
            .contains("signing key")
    );
    let shown = format!("{:?}", role(RoleKind::Worker));
    assert!(!shown.contains("hunter2") && !shown.contains("KEY"), "{shown}");
}
