//! A container as the pool makes it, by the docker command line: no network, no rights, our mounts.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::net::{TcpStream, UnixListener};
use tokio::process::{Child, Command};

use super::Stage;

const IMAGE: &str = "cantus/base:bookworm";

/// A volume and the socket of one container; both go with it.
pub struct Cell {
    name: String,
    sockets: PathBuf,
    forwarding: tokio::task::JoinHandle<()>,
}

impl Cell {
    /// Makes the volume and opens the way to the bus.
    pub fn new(stage: &Stage, name: &str) -> Self {
        let name = format!("cantus-test-{name}-{}", std::process::id());
        docker(&["volume", "create", "--label", "cantus.test=worker", &name]);
        let sockets = stage.directory.path().join("sockets");
        std::fs::create_dir_all(&sockets).unwrap();
        let listener = UnixListener::bind(sockets.join("bus.sock")).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(sockets.join("bus.sock"), mode).unwrap();
        let port = stage.nats.port();
        let forwarding = tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let mut bus = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut client, &mut bus).await;
                });
            }
        });
        Self { name, sockets, forwarding }
    }

    /// Starts the binary in a container on this volume.
    pub fn spawn(&self, stage: &Stage, variables: &[(&str, &str)], subcommand: &str) -> Child {
        let binary = Path::new(stage.binary);
        let file = binary.file_name().unwrap().to_str().unwrap();
        let mirrors = stage.directory.path().join("root/mirror");
        let mount = |from: &Path, to: &str| format!("{}:{to}:ro", from.display());
        let mut command = Command::new("docker");
        command.args([
            "run",
            "--rm",
            "--init",
            "--name",
            &self.name,
            "--label",
            "cantus.test=worker",
        ]);
        command.args([
            "--network",
            "none",
            "--read-only",
            "--cap-drop",
            "ALL",
            "--cap-add",
            "SETUID",
        ]);
        command.args(["--cap-add", "SETGID", "--cap-add", "KILL", "--user", "0:0"]);
        command.args(["--security-opt", "no-new-privileges", "--pids-limit", "200"]);
        command.args(["--tmpfs", "/tmp:exec,mode=1777,size=256m"]);
        command.args(["-v", &format!("{}:/cantus/work", self.name)]);
        command.args(["-v", &mount(binary, &format!("/cantus/bin/{file}"))]);
        command.args(["-v", &mount(&mirrors, "/cantus/mirror")]);
        command.args(["-v", &mount(&self.sockets, "/cantus/sockets")]);
        for (name, value) in [
            ("CANTUS_ROLE", super::ROLE),
            ("CANTUS_HOST", "host"),
            ("CANTUS_CONTAINER", self.name.as_str()),
            ("CANTUS_INSTANCE", "test"),
            ("CANTUS_IMAGE", IMAGE),
            ("CANTUS_BUS_USER", stage.user.as_str()),
            ("CANTUS_BUS_PASSWORD", stage.user.as_str()),
        ]
        .iter()
        .chain(variables)
        {
            command.args(["-e", &format!("{name}={value}")]);
        }
        command.args([IMAGE, &format!("/cantus/bin/{file}"), subcommand]);
        command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the tests need docker")
    }

    /// Kills the container as a crash would, and waits until it is gone.
    pub fn kill(&self) {
        docker(&["kill", &self.name]);
    }
}

impl Drop for Cell {
    fn drop(&mut self) {
        self.forwarding.abort();
        // It may be gone already, which is as good.
        for arguments in [["rm", "-f", &self.name], ["volume", "rm", &self.name]] {
            let _ = std::process::Command::new("docker")
                .args(arguments)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
        }
    }
}

fn docker(arguments: &[&str]) {
    let output = std::process::Command::new("docker")
        .args(arguments)
        .output()
        .expect("the tests need docker");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
