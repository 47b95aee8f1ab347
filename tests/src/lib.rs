//! What the tests share.

pub mod installation;
pub mod kernel;
pub mod nats;
