//! Flags and environment, complete and not.

use std::collections::BTreeMap;
use std::ffi::OsString;

use cantus_proto::message::{Isolation, UsageSource};
use clap::Parser as _;

use super::{Settings, SettingsError};
use crate::cli::Cli;

fn variables() -> BTreeMap<OsString, OsString> {
    [
        ("CANTUS_ROLE", "coder"),
        ("CANTUS_HOST", "host"),
        ("CANTUS_CONTAINER", "cantus-1"),
        ("CANTUS_INSTANCE", "i"),
        ("CANTUS_BUS_USER", "worker-coder"),
        ("CANTUS_BUS_PASSWORD", "hunter2"),
        ("CANTUS_BUS_URL", "nats://127.0.0.1:4222"),
        ("CANTUS_COMMAND", "[\"sh\",\"run.sh\"]"),
        ("CANTUS_SIGNING_KEY", "PEM"),
        ("CANTUS_ENVIRONMENT", "{\"EXTRA\":\"1\",\"PATH\":\"/opt/bin\"}"),
        ("PATH", "/usr/bin"),
        ("HOME", "/root"),
        ("JAVA_HOME", "/opt/java"),
    ]
    .map(|(name, value)| (name.into(), value.into()))
    .into()
}

fn read(
    arguments: &[&str],
    variables: &BTreeMap<OsString, OsString>,
) -> Result<Settings, SettingsError> {
    let cli = Cli::parse_from([&["cantus-worker"], arguments].concat());
    Settings::read(&cli, variables, "/cantus/bin/cantus-worker".into())
}

#[test]
fn a_container_passes_the_images_variables_and_the_roles() {
    let settings = read(&[], &variables()).unwrap();
    assert_eq!(settings.isolation, Isolation::Container);
    assert_eq!(settings.agent().unwrap().uid, 61_001);
    assert_eq!(settings.bus_url, None);
    let get =
        |name: &str| settings.environment.get(&OsString::from(name)).map(|v| v.to_str().unwrap());
    assert_eq!(get("JAVA_HOME"), Some("/opt/java"));
    assert_eq!(get("EXTRA"), Some("1"));
    assert_eq!(get("PATH"), Some("/opt/bin"));
    assert_eq!(get("LANG"), Some("C.UTF-8"));
    assert_eq!(get("HOME"), None);
    let ours =
        settings.environment.keys().any(|name| name.to_str().unwrap().starts_with("CANTUS_"));
    assert!(!ours, "{:?}", settings.environment);
}

#[test]
fn a_process_passes_only_the_path() {
    let settings =
        read(&["--isolation", "process", "--root", "/x", "lease"], &variables()).unwrap();
    assert_eq!(settings.isolation, Isolation::Process);
    assert_eq!(settings.agent(), None);
    assert_eq!(settings.places.work.to_str(), Some("/x/work"));
    assert!(!settings.environment.contains_key(&OsString::from("JAVA_HOME")));
    assert_eq!(settings.bus_url.as_deref(), Some("nats://127.0.0.1:4222"));
}

#[test]
fn secrets_are_not_shown() {
    let shown = format!("{:?}", read(&[], &variables()).unwrap());
    assert!(!shown.contains("hunter2") && !shown.contains("PEM"), "{shown}");
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    for name in
        ["CANTUS_ROLE", "CANTUS_HOST", "CANTUS_CONTAINER", "CANTUS_BUS_USER", "CANTUS_BUS_PASSWORD"]
    {
        let mut variables = variables();
        variables.remove(&OsString::from(name));
        assert!(read(&[], &variables).unwrap_err().to_string().contains(name));
    }
    let mut variables = variables();
    variables.insert("CANTUS_COMMAND".into(), "sh run.sh".into());
    assert!(read(&[], &variables).unwrap_err().to_string().contains("JSON array"));
    assert!(
        read(&["--root", "/x"], &variables)
            .unwrap_err()
            .to_string()
            .contains("--isolation process")
    );
    assert!(read(&["--isolation", "process"], &variables).is_err());
}

#[test]
fn usage_is_told_by_the_agent_unless_there_is_no_model() {
    let usage = |word: Option<&str>| {
        let mut variables = variables();
        variables.extend(word.map(|word| ("CANTUS_USAGE".into(), word.into())));
        read(&["--isolation", "process", "--root", "/r"], &variables).map(|read| read.usage)
    };
    assert_eq!(usage(None).unwrap(), UsageSource::Outbox);
    assert_eq!(usage(Some("outbox")).unwrap(), UsageSource::Outbox);
    assert_eq!(usage(Some("none")).unwrap(), UsageSource::None);
    let problem = usage(Some("zero")).unwrap_err().to_string();
    assert_eq!(problem, "CANTUS_USAGE is \"zero\", it must be one of outbox, none");
}
