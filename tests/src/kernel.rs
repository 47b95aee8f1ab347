//! The real kernel on a real bus for one test, with fake workers and verifiers that speak the bus's language and
//! sign real evidence. Docker and agents are left out.

mod coordinator;
mod crew;
mod plan;
mod taker;
mod upstream;

use cantus_core::Settings;
use cantus_proto::evidence::{SigningKey, Trust, TrustedKey};
use cantus_proto::ids::{ItemId, RoleName, RunId};
use cantus_proto::limits;

pub use coordinator::{Coordinator, log_has};
pub use crew::{Crew, Habits};
pub use plan::{Items, item};
pub use taker::{Lease, Taker};
pub use upstream::{Checkout, Upstream, Work};

/// Longer than any step of these tests may take on a busy machine.
pub const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

/// The key of every verifier in these tests.
#[must_use]
pub fn verifier_key() -> SigningKey {
    SigningKey::from_bytes(&[1; 32])
}

/// The coordinator's key in these tests.
#[must_use]
pub fn coordinator_key() -> SigningKey {
    SigningKey::from_bytes(&[2; 32])
}

/// Believes both.
///
/// # Panics
/// Never: the keys are constants.
#[must_use]
pub fn trust() -> Trust {
    let trusted = |key: SigningKey| vec![TrustedKey::new(key.verifying_key(), None)];
    Trust::new(trusted(verifier_key()), trusted(coordinator_key())).expect("the keys differ")
}

/// The settings of an installation, with which nothing runs out within a test.
#[must_use]
pub fn settings() -> Settings {
    Settings {
        lease_ms: 15_000,
        heartbeat_ms: 2_000,
        queue_wait_ms: 3_600_000,
        queue_window: 32,
        verify_ahead: 2,
        checks_max: 2,
        artifact_bytes_max: limits::ARTIFACT_BYTES_MAX,
        files_max: limits::FILES_MAX,
        rules: cantus_core::rules::Rules::default(),
        trust: trust(),
        allow_process_isolation: false,
    }
}

/// The same with leases of this length.
#[must_use]
pub fn settings_with_lease(lease_ms: u64) -> Settings {
    Settings { lease_ms, heartbeat_ms: lease_ms / 5, ..settings() }
}

/// A run's name.
///
/// # Panics
/// When it is not one.
#[must_use]
pub fn run_id(name: &str) -> RunId {
    RunId::new(name).expect("tests name valid runs")
}

/// An item's name.
///
/// # Panics
/// When it is not one.
#[must_use]
pub fn item_id(name: &str) -> ItemId {
    ItemId::new(name).expect("tests name valid items")
}

/// A role's name.
///
/// # Panics
/// When it is not one.
#[must_use]
pub fn role(name: &str) -> RoleName {
    RoleName::new(name).expect("tests name valid roles")
}
