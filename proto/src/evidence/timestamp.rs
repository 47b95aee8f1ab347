//! Seconds since 1970 as RFC 3339 in UTC, and back: the one form of time in statements.
//!
//! No clock is read here, and no other form is understood.

const SECONDS_OF_DAY: u64 = 86_400;
/// Days of 400 years, after which the calendar repeats.
const DAYS_OF_ERA: u64 = 146_097;
/// Days from 0000-03-01 to 1970-01-01: years that begin in March end with the leap day.
const DAYS_TO_EPOCH: u64 = 719_468;

/// As `2026-11-30T17:46:08Z`.
pub(super) fn print(seconds: u64) -> String {
    let (day, second) = (seconds / SECONDS_OF_DAY + DAYS_TO_EPOCH, seconds % SECONDS_OF_DAY);
    let (era, of_era) = (day / DAYS_OF_ERA, day % DAYS_OF_ERA);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// What [`print`] wrote; nothing for any other text.
pub(super) fn parse(text: &str) -> Option<u64> {
    let field = |range: std::ops::Range<usize>| text.get(range)?.parse::<u64>().ok();
    let (year, month, day) = (field(0..4)?, field(5..7)?, field(8..10)?);
    let (hour, minute, second) = (field(11..13)?, field(14..16)?, field(17..19)?);
    let march_year = year - u64::from(month <= 2 && year > 0);
    let march_month = if month > 2 { month - 3 } else { month + 9 };
    let (era, year_of_era) = (march_year / 400, march_year % 400);
    let of_year = (153 * march_month + 2) / 5 + day.checked_sub(1)?;
    let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
    let days = (era * DAYS_OF_ERA + of_era).checked_sub(DAYS_TO_EPOCH)?;
    let seconds = days * SECONDS_OF_DAY + hour * 3_600 + minute * 60 + second;
    // Punctuation, months of 13 and days of 32 are found by printing again.
    (print(seconds) == text).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        // Each from `date -u -d @N +%FT%TZ`.
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_827_696, "2000-02-29T12:34:56Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_709_251_200, "2024-03-01T00:00:00Z"),
            (1_796_060_768, "2026-11-30T17:46:08Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(print(seconds), text);
            assert_eq!(parse(text), Some(seconds));
        }
    }

    #[test]
    fn other_forms_are_not_understood() {
        for text in [
            "",
            "2026-11-30",
            "2026-13-01T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01 00:00:00Z",
            "2026-01-01T00:00:00+00:00",
            "1969-12-31T23:59:59Z",
            "+026-01-01T00:00:00Z",
            "ä26-01-01T00:00:00Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
