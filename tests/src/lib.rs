//! What the tests share.

pub mod installation;
pub mod nats;
