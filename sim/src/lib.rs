//! The whole control plane under faults, on simulated time: a seed in, a verdict out.
//!
//! The core is the real one, and so are the bytes of reports, attempts, evidence and journal. Everything around it
//! is simulated: bus, coordinator's shell, hosts, workers, verifiers, git and people. Invariants are checked after
//! every event by rules of their own; at the end the faults stop, and everything must land.

mod bus;
mod check;
pub mod cli;
mod coordinator;
mod crew;
mod disasters;
mod effects;
mod evidence;
pub mod fault;
mod git;
mod holders;
mod ledger;
mod log;
mod panics;
mod plans;
mod random;
pub mod report;
mod results;
mod seed;
#[cfg(test)]
mod tests;
mod words;
mod world;
