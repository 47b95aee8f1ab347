//! What worker and verifier share: the lease, the workspace and the jailed child.
//!
//! A process serves one lease. The entry process (root in a container) holds the bus and the secrets; it never
//! touches the agent's files itself but runs its own binary as the agent's user for that.

pub mod bundle;
pub mod capture;
pub mod checkout;
pub mod checks;
pub mod cli;
pub mod entry;
mod heart;
pub mod helper;
pub mod jail;
pub mod lease;
pub mod mirror;
pub mod note;
pub mod relay;
pub mod reporter;
pub mod rooms;
pub mod salvage;
pub mod settings;
pub mod text;
pub mod workspace;

#[cfg(test)]
mod bundle_tests;
#[cfg(test)]
mod testing;
