//! The language that all Cantus processes share: ids, contract, plan, evidence, wire messages and the bus.

#[cfg(feature = "net")]
pub mod bus;
pub mod contract;
pub mod evidence;
pub mod ids;
pub mod limits;
pub mod message;
pub mod plan;
pub mod subjects;
pub mod units;
pub mod wire;
