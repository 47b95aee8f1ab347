//! Amounts with their unit in their type: what is added must be alike.

use std::fmt;

/// Money in millionths of a US dollar: whole numbers add up the same in every order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MicroUsd(pub u64);

/// Most money that is ever added up, in dollars: above, an amount is a mistake.
const DOLLARS_MAX: f64 = 1e12;

impl MicroUsd {
    /// From dollars; nothing when that is no amount of money.
    #[must_use]
    pub fn from_dollars(dollars: f64) -> Option<Self> {
        if !(0.0..=DOLLARS_MAX).contains(&dollars) {
            return None;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the range was just checked"
        )]
        Some(Self((dollars * 1e6).round() as u64))
    }

    /// In dollars, for people and for JSON.
    #[must_use]
    pub fn dollars(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "amounts are far below 2^53")]
        let micro = self.0 as f64;
        micro / 1e6
    }

    /// The sum, at most what fits.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for MicroUsd {
    /// `$1.23`; small amounts keep the digits that say something.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("$0"),
            micro if micro < 10_000 => write!(f, "${:.6}", self.dollars()),
            _ => write!(f, "${:.2}", self.dollars()),
        }
    }
}

/// The part of a whole that a ratio between 0 and 1 gives, rounded down to whole units.
///
/// Ratios are compared in millionths, so that 0.30 of 10 is 3 and not a hair less.
#[must_use]
pub fn share(of: u64, ratio: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "ratios are between 0 and 1"
    )]
    let millionths = (ratio.clamp(0.0, 1.0) * 1e6).round() as u128;
    u64::try_from(u128::from(of) * millionths / 1_000_000).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{MicroUsd, share};

    #[test]
    fn shares_are_exact_where_the_ratio_is() {
        assert_eq!(share(10, 0.30), 3);
        assert_eq!(share(1_000_000_007, 0.25), 250_000_001);
        assert_eq!(share(u64::MAX, 1.0), u64::MAX);
        assert_eq!((share(9, 0.0), share(9, -1.0), share(9, 2.0)), (0, 0, 9));
    }

    #[test]
    fn dollars_are_whole_millionths() {
        assert_eq!(MicroUsd::from_dollars(0.1 + 0.2), Some(MicroUsd(300_000)));
        assert_eq!(MicroUsd::from_dollars(-0.01), None);
        assert_eq!(MicroUsd::from_dollars(f64::NAN), None);
        let shown = [0, 1, 9_999, 10_000, 1_234_567].map(|micro| MicroUsd(micro).to_string());
        assert_eq!(shown, ["$0", "$0.000001", "$0.009999", "$0.01", "$1.23"]);
    }
}
