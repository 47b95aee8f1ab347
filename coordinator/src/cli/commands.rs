//! The commands that talk to the coordinator or look at files: one function each, from arguments to exit code.

pub(super) mod audit;
pub(super) mod evidence;
pub(super) mod export;
pub(super) mod logs;
pub(super) mod plan;
pub(super) mod replay;
pub(super) mod report;
pub(super) mod steer;
pub(super) mod views;
