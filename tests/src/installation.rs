//! A whole installation for one test: its own home, instance, bus port and repositories. Everything it started
//! is ended and removed when the value goes, also when the test failed.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// One role of the configuration.
#[derive(Debug, Clone)]
pub struct Role {
    /// Its name.
    pub name: &'static str,
    /// Containers.
    pub slots: u32,
    /// The agent; nothing for a verifier.
    pub command: Option<Vec<String>>,
    /// Host directory mounted at `/agent`.
    pub agent: Option<PathBuf>,
}

impl Role {
    /// Workers whose agent is `sh /agent/run.sh` from this directory.
    #[must_use]
    pub fn worker(slots: u32, agent: &Path, command: &[&str]) -> Self {
        let command = command.iter().map(ToString::to_string).collect();
        Self { name: "worker", slots, command: Some(command), agent: Some(agent.to_owned()) }
    }

    /// Verifiers.
    #[must_use]
    pub fn verifier(slots: u32) -> Self {
        Self { name: "verifier", slots, command: None, agent: None }
    }
}

/// See the module.
#[derive(Debug)]
pub struct Installation {
    directory: tempfile::TempDir,
    binary: PathBuf,
}

impl Installation {
    /// Writes home and configuration; starts nothing.
    ///
    /// # Panics
    /// When the directory cannot be written.
    #[must_use]
    pub fn new(roles: &[Role]) -> Self {
        let directory = tempfile::Builder::new()
            .prefix("cantus-test.")
            .tempdir()
            .expect("a directory can be made");
        let this = Self { directory, binary: binary("cantus") };
        std::fs::create_dir(this.home()).expect("the home can be made");
        let unique =
            this.directory.path().extension().unwrap_or_default().to_string_lossy().to_lowercase();
        std::fs::write(this.home().join("instance"), format!("test-{unique}"))
            .expect("the instance is written");
        let mut config =
            format!("version: 1\nbus: {{port: {}}}\nroles:\n", crate::nats::free_port());
        for role in roles {
            let kind = if role.command.is_some() { "worker" } else { "verifier" };
            config += &format!("  {}:\n    kind: {kind}\n    image: {IMAGE}\n", role.name);
            config += &format!("    slots: {}\n    memory_mb: 512\n    tmp_mb: 256\n", role.slots);
            if role.command.is_some() {
                // The agents of these tests are scripts.
                config += "    usage: none\n";
            }
            if let Some(command) = &role.command {
                config +=
                    &format!("    command: {}\n", serde_json::to_string(command).expect("strings"));
            }
            if let Some(agent) = &role.agent {
                let source = serde_json::to_string(agent).expect("a path");
                config += &format!("    mounts: [{{source: {source}, target: /agent}}]\n");
            }
        }
        std::fs::write(this.home().join("cantus.yaml"), config)
            .expect("the configuration is written");
        this
    }

    /// Its directory, for repositories and plans.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Its home.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    /// The instance id that labels everything.
    ///
    /// # Panics
    /// When the home is damaged.
    #[must_use]
    pub fn instance(&self) -> String {
        std::fs::read_to_string(self.home().join("instance")).expect("written at the start")
    }

    /// A `cantus` command on this home, not yet started.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(arguments).env("CANTUS_HOME", self.home()).stdin(Stdio::null());
        command
    }

    /// Runs a `cantus` command to its end.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn try_run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the cantus binary runs")
    }

    /// Runs a `cantus` command that must succeed; answers with what it printed.
    ///
    /// # Panics
    /// When it fails: all that it and the background processes said is shown.
    pub fn run(&self, arguments: &[&str]) -> String {
        let output = self.try_run(arguments);
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "cantus {} ended with {}\n{out}\n{}\n{}",
            arguments.join(" "),
            output.status,
            String::from_utf8_lossy(&output.stderr),
            self.logs()
        );
        out
    }

    /// What `--json` printed.
    ///
    /// # Panics
    /// As [`Self::run`], or when it is not JSON.
    #[must_use]
    pub fn json(&self, arguments: &[&str]) -> serde_json::Value {
        let mut arguments = arguments.to_vec();
        arguments.push("--json");
        let out = self.run(&arguments);
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
    }

    /// The ends of the logs of the background processes.
    #[must_use]
    pub fn logs(&self) -> String {
        let mut text = String::new();
        for entry in std::fs::read_dir(self.home().join("logs")).into_iter().flatten().flatten() {
            let log = std::fs::read_to_string(entry.path()).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            let end = &lines[lines.len().saturating_sub(60)..];
            text += &format!("--- {}\n{}\n", entry.path().display(), end.join("\n"));
        }
        text
    }
}

impl Drop for Installation {
    fn drop(&mut self) {
        let ended = self.command(&["down"]).output();
        if let Ok(output) = ended.as_ref()
            && !output.status.success()
            && !std::thread::panicking()
        {
            panic!("cantus down failed: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

/// The image of every role in tests.
pub const IMAGE: &str = "cantus/base:bookworm";

/// A binary of the workspace, beside the one that runs.
///
/// # Panics
/// When it is not built.
#[must_use]
pub fn binary(name: &str) -> PathBuf {
    let this = std::env::current_exe().expect("a process knows its file");
    let found =
        this.ancestors().skip(1).take(2).map(|dir| dir.join(name)).find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("{name} is not built: run cargo build --workspace --bins"))
}

/// A git command that must succeed; answers with its output, trimmed.
///
/// # Panics
/// When it fails.
pub fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(directory)
        .envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")])
        .envs([("GIT_AUTHOR_NAME", "t"), ("GIT_AUTHOR_EMAIL", "t@localhost")])
        .envs([("GIT_COMMITTER_NAME", "t"), ("GIT_COMMITTER_EMAIL", "t@localhost")])
        .output()
        .expect("git is installed");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {}: {error}", arguments.join(" "));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
