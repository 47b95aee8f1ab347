//! What the rules are given by the configuration: values, not the file they come from.

use std::collections::BTreeMap;

use cantus_proto::limits::WINDOW;
use cantus_proto::units::MicroUsd;

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// How often work is looked at for progress, in milliseconds (SPEC B8).
    pub window_ms: u64,
    /// Windows without progress after which something must change (SPEC B8).
    pub no_progress_windows_max: u32,
    /// Which model does what.
    pub routing: Routing,
    /// What models cost.
    pub prices: Prices,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            window_ms: u64::try_from(WINDOW.as_millis()).unwrap_or(u64::MAX),
            no_progress_windows_max: 2,
            routing: Routing::default(),
            prices: Prices::default(),
        }
    }
}

/// Models by the size of what they are to do (SPEC E3); empty names mean the role's own model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Routing {
    /// For items of complexity S and M.
    pub fast: String,
    /// For L and XL, and for what failed repeatedly.
    pub strong: String,
}

/// What models cost, as of a date.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prices {
    /// When the prices were read, as `2026-11-01`; empty for a table without any.
    pub date: String,
    /// By the model's name.
    pub models: BTreeMap<String, Price>,
}

/// What a million tokens cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Read by the model.
    pub input: MicroUsd,
    /// Written by it.
    pub output: MicroUsd,
}
