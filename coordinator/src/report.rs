//! The report of a run as people read it: terminal, Markdown and one HTML page, all from one sheet of texts.
//!
//! What is measured and how is [`cantus_core::report`]; here are only words and looks. Nothing on a sheet is
//! escaped: each form does that its own way, because texts come from agents.

mod figures;
pub mod html;
pub mod json;
pub mod markdown;
#[cfg(test)]
pub(crate) mod samples;
pub(crate) mod sheet;
mod tables;
pub mod terminal;
#[cfg(test)]
mod tests;
pub(crate) mod words;
