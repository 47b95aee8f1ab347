//! Who may publish and subscribe what, and the server's configuration that says so.
//!
//! Permissions keep honest mistakes and curious agents out; they are no fence (a reply subject is not checked by
//! the server). What a message may change is decided by lease ids and signatures, never by its subject.

use std::fmt::Write as _;

use super::{
    BLOB_CHUNKS_ALL, BLOB_METAS_ALL, HEARTBEATS_ALL, LANE_NORMAL, REPORTS_ALL, SOURCES_STORED_ALL,
    STREAM_BLOBS, STREAM_SOURCES, STREAM_WORK, heartbeat, report, token, work_consumer,
};
use crate::ids::RoleName;

/// Largest message that the server takes, in bytes; blobs go in chunks, so nothing needs more.
pub const PAYLOAD_BYTES_MAX: usize = 1024 * 1024;

/// One user of the bus.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BusUser {
    /// Owns streams and journal.
    Coordinator,
    /// Every pool, on whatever host.
    Pool,
    /// All workers of one role.
    Worker(RoleName),
    /// All verifiers of one role.
    Verifier(RoleName),
}

/// What one user may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permissions {
    /// Subjects (with wildcards) that may be published.
    pub publish: Vec<String>,
    /// Subjects (with wildcards) that may be subscribed.
    pub subscribe: Vec<String>,
}

impl BusUser {
    /// The name that it logs in with: one subject token.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Coordinator => "coordinator".to_owned(),
            Self::Pool => "pool".to_owned(),
            Self::Worker(role) => format!("worker-{}", token(role.as_str())),
            Self::Verifier(role) => format!("verifier-{}", token(role.as_str())),
        }
    }

    /// Where replies to this user arrive; nobody else may subscribe below it.
    #[must_use]
    pub fn inbox_prefix(&self) -> String {
        inbox_prefix(&self.name())
    }
}

/// The inbox prefix of the user with this name, for a process that knows only its login.
#[must_use]
pub fn inbox_prefix(user_name: &str) -> String {
    format!("_INBOX.{user_name}")
}

/// The least that each user needs.
#[must_use]
pub fn permissions(user: &BusUser) -> Permissions {
    let mut publish = match user {
        BusUser::Coordinator => {
            vec![
                "cantus.>".to_owned(),
                "$JS.API.>".to_owned(),
                "$JS.ACK.>".to_owned(),
                "_INBOX.>".to_owned(),
            ]
        }
        BusUser::Pool => {
            vec![REPORTS_ALL.to_owned(), format!("$JS.API.DIRECT.GET.{STREAM_SOURCES}")]
        }
        BusUser::Worker(role) | BusUser::Verifier(role) => {
            let consumer = work_consumer(role, LANE_NORMAL);
            vec![
                report(role),
                heartbeat(role),
                format!("$JS.API.CONSUMER.MSG.NEXT.{STREAM_WORK}.{consumer}"),
                format!("$JS.ACK.{STREAM_WORK}.{consumer}.>"),
            ]
        }
    };
    // Blobs are read by direct get: the right to create a consumer would be the right to have the server
    // publish anywhere in this user's stead.
    publish.extend([BLOB_CHUNKS_ALL.to_owned(), BLOB_METAS_ALL.to_owned()]);
    if *user != BusUser::Coordinator {
        publish.push(format!("$JS.API.DIRECT.GET.{STREAM_BLOBS}"));
        publish.push(format!("$JS.API.DIRECT.GET.{STREAM_BLOBS}.{BLOB_METAS_ALL}"));
    }
    let mut subscribe = vec![format!("{}.>", user.inbox_prefix())];
    match user {
        BusUser::Coordinator => subscribe.push(HEARTBEATS_ALL.to_owned()),
        BusUser::Pool => subscribe.push(SOURCES_STORED_ALL.to_owned()),
        BusUser::Worker(_) | BusUser::Verifier(_) => {}
    }
    Permissions { publish, subscribe }
}

/// The configuration file of a server for one installation: loopback only, file storage below `store_dir`,
/// exactly these users. `monitor_port` opens `/healthz`, on loopback too.
#[must_use]
pub fn server_config(
    port: u16,
    monitor_port: Option<u16>,
    store_dir: &str,
    users: &[(BusUser, String)],
) -> String {
    let mut text = format!(
        "# Written by Cantus; changes are lost.\n\
         server_name: cantus\n\
         listen: \"127.0.0.1:{port}\"\n"
    );
    if let Some(port) = monitor_port {
        let _ = writeln!(text, "http: \"127.0.0.1:{port}\"");
    }
    let _ = writeln!(text, "max_payload: {PAYLOAD_BYTES_MAX}");
    let _ = writeln!(text, "jetstream {{ store_dir: {} }}", quoted(store_dir));
    text.push_str("authorization {\n  users: [\n");
    for (user, password) in users {
        let allowed = permissions(user);
        let _ = writeln!(
            text,
            "    {{ user: {}, password: {},",
            quoted(&user.name()),
            quoted(password)
        );
        text.push_str("      permissions: {\n");
        let _ = writeln!(text, "        publish: {{ allow: [{}] }}", list(&allowed.publish));
        let _ =
            writeln!(text, "        subscribe: {{ allow: [{}] }} }} }}", list(&allowed.subscribe));
    }
    text.push_str("  ]\n}\n");
    text
}

fn list(subjects: &[String]) -> String {
    subjects.iter().map(|subject| quoted(subject)).collect::<Vec<_>>().join(", ")
}

/// A double-quoted string of the server's configuration language.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            c if c.is_ascii_control() => {
                let _ = write!(quoted, "\\x{:02X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
