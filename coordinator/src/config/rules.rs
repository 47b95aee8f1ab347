//! The rules of the core, as the coordinator's section of the configuration states them.

use cantus_core::rules::{Routing, Rules};
use serde::Deserialize;

use super::file::CoordinatorSection;
use super::{HomeError, prices};

/// Longest window in seconds: an hour without a look is as good as none.
const WINDOW_SECONDS_MAX: u64 = 3_600;
/// Fewest windows without progress (SPEC B8): one alone may be a long command.
const NO_PROGRESS_WINDOWS_MIN: u32 = 2;
/// Most of them: above, nothing would ever change.
const NO_PROGRESS_WINDOWS_MAX: u32 = 100;
/// Longest name of a model in bytes: it stands in every attempt's message.
const MODEL_BYTES_MAX: usize = 200;

/// Which model does what; a name that is not given means the role's own model.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RoutingSection {
    /// For items of complexity S and M.
    pub fast: String,
    /// For L and XL, and for what failed repeatedly.
    pub strong: String,
}

/// What is wrong with the section's rules.
pub(super) fn problem(section: &CoordinatorSection) -> Option<String> {
    let windows = NO_PROGRESS_WINDOWS_MIN..=NO_PROGRESS_WINDOWS_MAX;
    if !(1..=WINDOW_SECONDS_MAX).contains(&section.window_seconds) {
        return Some(format!(
            "coordinator.window_seconds is {}: write seconds from 1 to {WINDOW_SECONDS_MAX}",
            section.window_seconds
        ));
    }
    if !windows.contains(&section.no_progress_windows) {
        return Some(format!(
            "coordinator.no_progress_windows is {}: write a number from {} to {}",
            section.no_progress_windows,
            windows.start(),
            windows.end()
        ));
    }
    let RoutingSection { fast, strong } = &section.routing;
    let odd = |name: &&String| name.len() > MODEL_BYTES_MAX || name.contains(char::is_control);
    [fast, strong].into_iter().find(odd).map(|name| {
        format!(
            "coordinator.routing: {:?} is no name of a model: write at most {MODEL_BYTES_MAX} bytes \
             without control characters",
            name.chars().take(40).collect::<String>()
        )
    })
}

/// The section's rules, with the prices that it names.
///
/// # Errors
/// [`HomeError`] when the prices cannot be read.
pub(super) fn rules(section: &CoordinatorSection) -> Result<Rules, HomeError> {
    let RoutingSection { fast, strong } = section.routing.clone();
    Ok(Rules {
        window_ms: section.window_seconds.saturating_mul(1_000),
        no_progress_windows_max: section.no_progress_windows,
        routing: Routing { fast, strong },
        prices: prices::read(section.prices.as_deref())?,
    })
}
