//! A real nats-server for one test: the pinned binary as a child process, on a free loopback port, with a store
//! of its own. It can be killed and started again; it and its store go when the value goes.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use cantus_proto::bus::{Bus, BusConfig};
use cantus_proto::ids::RoleName;
use cantus_proto::subjects::{BusUser, server_config};

/// How long a server may take to answer.
const START_PATIENCE: Duration = Duration::from_secs(20);

/// One server.
#[derive(Debug)]
pub struct Nats {
    port: u16,
    directory: tempfile::TempDir,
    server: Option<Child>,
}

impl Nats {
    /// Starts a server with users for these roles, each as worker and as verifier.
    ///
    /// # Panics
    /// When the binary is missing, or the server does not come up.
    #[must_use]
    pub fn start(roles: &[&str]) -> Self {
        let mut users = vec![BusUser::Coordinator, BusUser::Pool];
        for role in roles {
            let role = RoleName::new(role).expect("tests name valid roles");
            users.push(BusUser::Worker(role.clone()));
            users.push(BusUser::Verifier(role));
        }
        Self::start_with_users(&users)
    }

    /// Starts a server with these users; the password of each is its name.
    ///
    /// # Panics
    /// As [`Self::start`].
    #[must_use]
    pub fn start_with_users(users: &[BusUser]) -> Self {
        Self::start_changed(users, |config| config)
    }

    /// Starts a server whose configuration is changed before: one without a store, or with a small one.
    ///
    /// # Panics
    /// As [`Self::start`].
    #[must_use]
    pub fn start_changed(users: &[BusUser], change: impl FnOnce(String) -> String) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let port = free_port();
        let store = directory.path().join("store");
        let users: Vec<_> = users.iter().map(|user| (user.clone(), user.name())).collect();
        let config = change(server_config(port, None, &store.to_string_lossy(), &users));
        std::fs::write(directory.path().join("server.conf"), config)
            .expect("the configuration is written");
        let mut nats = Self { port, directory, server: None };
        nats.restart();
        nats
    }

    /// Kills the server as a crash would. What it acknowledged is in its store.
    ///
    /// # Panics
    /// When it does not run.
    pub fn kill(&mut self) {
        let mut server = self.server.take().expect("the server runs");
        server.kill().expect("our child can be killed");
        server.wait().expect("our child can be waited for");
    }

    /// Starts the server again, on the same port and store, and waits until it listens.
    ///
    /// # Panics
    /// When it does not come up.
    pub fn restart(&mut self) {
        assert!(self.server.is_none(), "the server runs already");
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.directory.path().join("server.log"))
            .expect("the log can be opened");
        let server = Command::new(binary())
            .arg("--config")
            .arg(self.directory.path().join("server.conf"))
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("the log can be shared"))
            .stderr(log)
            .spawn()
            .expect("nats-server starts");
        self.server = Some(server);
    }

    /// Copies the store of the server, which must be down.
    ///
    /// # Panics
    /// When it runs, or the store cannot be copied.
    pub fn snapshot(&self) {
        assert!(self.server.is_none(), "a store is copied while nobody writes it");
        self.copy_store("store", "snapshot");
    }

    /// Puts the copy back in place of the store, as a restored backup would be.
    ///
    /// # Panics
    /// As of [`Nats::snapshot`].
    pub fn restore(&self) {
        assert!(self.server.is_none(), "a store is replaced while nobody reads it");
        std::fs::remove_dir_all(self.directory.path().join("store")).expect("the store is there");
        self.copy_store("snapshot", "store");
    }

    fn copy_store(&self, from: &str, to: &str) {
        let directory = self.directory.path();
        let copied = Command::new("cp")
            .arg("-a")
            .args([directory.join(from), directory.join(to)])
            .status()
            .expect("cp can be run");
        assert!(copied.success(), "the store was not copied");
    }

    /// Where it listens.
    #[must_use]
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its process, to be stopped and continued.
    ///
    /// # Panics
    /// When it does not run.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.server.as_ref().expect("the server runs").id()
    }

    /// What it said.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("server.log")).unwrap_or_default()
    }

    /// How to connect as this user.
    #[must_use]
    pub fn config(&self, user: &BusUser) -> BusConfig {
        BusConfig {
            url: self.url(),
            user: user.name(),
            password: user.name(),
            name: format!("test {}", user.name()),
            wait: START_PATIENCE,
        }
    }

    /// A connection as this user.
    ///
    /// # Panics
    /// When the server does not answer; its log is shown.
    pub async fn connect(&self, user: &BusUser) -> Bus {
        match Bus::connect(self.config(user)).await {
            Ok(bus) => bus,
            Err(error) => panic!("{error}: {error:?}\n{}", self.log()),
        }
    }

    /// A connection as coordinator, with all streams and the consumers of these roles set up.
    ///
    /// # Panics
    /// As [`Self::connect`].
    pub async fn coordinator(&self, roles: &[&str]) -> Bus {
        let bus = self.connect(&BusUser::Coordinator).await;
        let roles: Vec<_> =
            roles.iter().map(|role| RoleName::new(role).expect("tests name valid roles")).collect();
        bus.ensure_streams().await.expect("streams are set up");
        bus.ensure_consumers(&roles).await.expect("consumers are set up");
        bus
    }

    /// A connection as worker of this role.
    ///
    /// # Panics
    /// As [`Self::connect`].
    pub async fn worker(&self, role: &str) -> Bus {
        self.connect(&BusUser::Worker(RoleName::new(role).expect("tests name valid roles"))).await
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        if let Some(mut server) = self.server.take() {
            // It may have ended by itself, which is as good.
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

/// The pinned binary.
///
/// # Panics
/// When it is not there.
#[must_use]
pub fn binary() -> PathBuf {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/images/nats-server");
    assert!(path.is_file(), "{} is missing: run docker/images/build", path.display());
    path
}

/// A port that was free a moment ago.
///
/// # Panics
/// When the machine has none.
#[must_use]
pub fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a loopback port can be had");
    listener.local_addr().expect("a bound socket has an address").port()
}
