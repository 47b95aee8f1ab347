//! The scope delta gate (SPEC B6): what a change may touch.

mod finding;

pub use finding::{Finding, Rule};
