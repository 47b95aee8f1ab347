//! The desk: what an attempt finds prepared outside its workspace. All of it is ours; the agent can only read it.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use cantus_runner::checks::{self, Check};
use cantus_runner::lease::Lease;
use cantus_runner::mirror;
use cantus_runner::text::chain;

use crate::contract_yaml;

/// Where everything is.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) contract: PathBuf,
    pub(crate) prompt: PathBuf,
    pub(crate) demands: PathBuf,
    pub(crate) feedback: PathBuf,
    /// The project's checks; empty when it names none.
    pub(crate) checks: Vec<Check>,
    /// Runs the quick ones among them; nothing when there are none.
    pub(crate) check: Option<PathBuf>,
}

impl Desk {
    /// Lays out all that is known before the workspace is made.
    pub(crate) fn lay(lease: &Lease) -> Result<Self, String> {
        let at = |name: &str| lease.rooms.desk.join(name);
        let mut desk = Self {
            contract: at("contract.yaml"),
            prompt: at("prompt.md"),
            demands: at("demands.jsonl"),
            feedback: at("feedback.md"),
            checks: Vec::new(),
            check: None,
        };
        let written = write(&desk.contract, &contract_yaml::render(&lease.attempt.contract));
        written.and_then(|()| write(&desk.demands, ""))?;
        let mirror = mirror::path(&lease.settings.places.mirrors, &lease.attempt.repository);
        let file = mirror::file(&mirror, &lease.base, checks::FILE, checks::FILE_BYTES_MAX);
        let Some(bytes) = file.map_err(|error| chain(&error))? else { return Ok(desk) };
        desk.checks = checks::parse(&bytes).map_err(|error| {
            format!(
                "{} of the commit {} is refused: {}; land a file that is valid, or none",
                checks::FILE,
                lease.base,
                chain(&error)
            )
        })?;
        if !desk.checks.is_empty() {
            desk.check = Some(check(lease, &bytes)?);
        }
        Ok(desk)
    }

    /// Appends demands for the agent to read, each as a line.
    pub(crate) fn demand(&self, texts: &[String]) -> Result<(), std::io::Error> {
        let lines: String =
            texts.iter().map(|text| format!("{}\n", serde_json::json!({ "text": text }))).collect();
        let mut file = std::fs::File::options().append(true).open(&self.demands)?;
        file.write_all(lines.as_bytes())
    }
}

/// A program for hooks of git and of agents: this binary with the checks of the base commit.
fn check(lease: &Lease, bytes: &[u8]) -> Result<PathBuf, String> {
    use std::os::unix::fs::PermissionsExt as _;
    let file = lease.rooms.desk.join("checks.yaml");
    std::fs::write(&file, bytes).map_err(|error| cannot(&file, &error))?;
    let program = lease.rooms.desk.join("check");
    let script = format!(
        "#!/bin/sh\nexec {} check \"${{1:-write}}\" --checks {}\n",
        quoted(&lease.settings.executable),
        quoted(&file)
    );
    write(&program, &script)?;
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&program, executable).map_err(|error| cannot(&program, &error))?;
    Ok(program)
}

/// One word for a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', "'\\''"))
}

pub(crate) fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| cannot(path, &error))
}

fn cannot(path: &Path, error: &std::io::Error) -> String {
    format!("{} cannot be written: {error}", path.display())
}
