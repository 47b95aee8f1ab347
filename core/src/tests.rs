//! The core by its own language: events in, records and actions out. No clock, no sleep, no IO.
//!
//! [`world`] is the one helper. Names of cases as Q8 or W20 are those of the list of cases. Whole runs under faults
//! are the simulator's, a crate of its own.

mod budgets;
mod cancel;
mod gates;
mod graph;
mod leases;
mod life;
mod random;
mod repeats;
mod report;
mod results;
mod running;
pub(crate) mod samples;
mod specimens;
mod states;
mod steer;
mod table;
mod texts;
pub(crate) mod words;
mod world;
