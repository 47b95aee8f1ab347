//! The core by its own language: events in, records and actions out. No clock, no sleep, no IO.
//!
//! [`world`] is the one helper; [`outside`] stands for bus, hub, workers and verifiers where a test wants them to
//! behave (or not) by themselves. Names of cases as Q8 or W20 are those of the list of cases.

mod budgets;
mod cancel;
mod crash;
mod gates;
mod graph;
mod indexes;
mod leases;
mod life;
mod outside;
mod repeats;
mod report;
mod results;
pub(crate) mod samples;
mod simulation;
mod specimens;
mod states;
mod steer;
mod table;
mod texts;
pub(crate) mod words;
mod world;
