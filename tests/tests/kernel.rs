//! The real kernel on a real bus and real git, with fake workers and verifiers: faults, bad input, landings.

#![expect(clippy::unwrap_used, reason = "a test ends where it is surprised")]

#[path = "kernel/bus.rs"]
mod bus;
#[path = "kernel/crashes.rs"]
mod crashes;
#[path = "kernel/forgery.rs"]
mod forgery;
#[path = "kernel/landing.rs"]
mod landing;
#[path = "kernel/leases.rs"]
mod leases;
#[path = "kernel/replays.rs"]
mod replays;
#[path = "kernel/restarts.rs"]
mod restarts;
#[path = "kernel/steering.rs"]
mod steering;
#[path = "kernel/submission.rs"]
mod submission;
