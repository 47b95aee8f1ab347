//! The only user of the Docker API: the engine, the warm pool, the bus relay, the sweeper and the bus container.
//!
//! A *pool* serves the roles of one host. Its loop is select → event → decide ([`slots`], pure) → act; everything
//! that Docker does for it goes through [`engine`]. What the containers do inside is `cantus-runner`'s business.

pub mod bus_server;
pub mod container;
pub mod engine;
pub mod labels;
pub mod mirror;
pub mod mounts;
pub mod pool;
pub mod process;
pub mod relay;
pub mod slots;
pub mod sweep;

mod git;
mod member;
mod salvage;
mod sources;
