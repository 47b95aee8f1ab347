//! The journal: how records are kept, and how state comes back from them.

pub mod plan;
mod rules;
pub mod wire;

#[cfg(test)]
mod tests;
