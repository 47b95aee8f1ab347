//! Views in, text out: pure functions, so that what people see is tested as text.
//!
//! All text from the server goes through [`super::text`] on its way here.

pub(super) mod amounts;
pub(super) mod audit;
pub(super) mod diagnostics;
pub(super) mod evidence;
pub(super) mod exchange;
pub(super) mod item;
pub(super) mod item_rows;
pub(super) mod queue;
pub(super) mod replay;
pub(super) mod run;

#[cfg(test)]
pub(super) mod samples;
