//! The limits that more than one process must know. Each has its unit and its reason.

use std::time::Duration;

/// Version of every bus message and journal record; golden bytes hold it.
pub const WIRE_VERSION: u32 = 2;

/// A lease without a heartbeat for this long is over; also how long the bus waits before it redelivers a
/// message whose taker died before it said `Leased`.
pub const LEASE: Duration = Duration::from_secs(15);

/// Pause between heartbeats: several fit into a lease, so that one lost beat costs nothing.
pub const HEARTBEAT: Duration = Duration::from_secs(2);

/// How often work is looked at for progress: long enough for something to happen in it, and a fraction of what a
/// wall clock of some minutes has.
pub const WINDOW: Duration = Duration::from_secs(120);

/// Largest artifact (bundle or log) in bytes: more is not work for review but data.
pub const ARTIFACT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Most files that one result may change: more cannot be reviewed, and is nearly always generated.
pub const FILES_MAX: u32 = 5_000;

/// Largest log kept of one command in bytes; the head and the tail are kept and the cut is marked.
pub const LOG_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Largest report in bytes: below the bus's own payload limit of 1 MiB.
pub const REPORT_BYTES_MAX: usize = 900 * 1024;

/// Most lines read from one outbox file, and longest line in bytes: what an agent says is bounded.
pub const OUTBOX_LINES_MAX: usize = 200;
/// See [`OUTBOX_LINES_MAX`].
pub const OUTBOX_LINE_BYTES_MAX: usize = 2_000;

/// How long a worker waits until the host's mirror has the base that an attempt needs.
pub const MIRROR_WAIT: Duration = Duration::from_secs(30);

/// The user and group of agents and checkers in a container: unlikely to be a person's on the host.
pub const AGENT_UID: u32 = 61_001;

/// Where things are inside a container.
pub mod paths {
    /// All bare mirrors of the host, read-only, one directory `<repository id>.git` each.
    pub const MIRRORS: &str = "/cantus/mirror";
    /// The workspace volume; the tree is in [`TREE`].
    pub const WORK: &str = "/cantus/work";
    /// The agent's working directory.
    pub const TREE: &str = "/cantus/work/tree";
    /// Directory of `bus.sock` (and `egress.sock`), read-only.
    pub const SOCKETS: &str = "/cantus/sockets";
    /// Directory of our binaries, read-only.
    pub const BINARIES: &str = "/cantus/bin";
}
