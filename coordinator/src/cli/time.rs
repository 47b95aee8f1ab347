//! Times and durations for people. The clock itself is read by the caller.

/// Milliseconds of one second.
const SECOND_MS: u64 = 1_000;

/// `0.4s`, `12s`, `1m03s`, `2h05m`, `3d04h`: two units at most.
pub(super) fn elapsed(milliseconds: u64) -> String {
    let seconds = milliseconds / SECOND_MS;
    match seconds {
        0..10 => format!("{}.{}s", seconds, milliseconds % SECOND_MS / 100),
        10..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{}h{:02}m", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{}d{:02}h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

/// As [`elapsed`], between two times; nothing before the start. A clock that goes backwards gives zero.
pub(super) fn between(start_ms: u64, end_ms: u64, now_ms: u64) -> String {
    if start_ms == 0 {
        return String::new();
    }
    let end = if end_ms == 0 { now_ms } else { end_ms };
    elapsed(end.saturating_sub(start_ms))
}

/// `2026-11-30T18:11:23Z`, from milliseconds since 1970; `-` for 0, which stands for never.
pub(crate) fn utc(unix_ms: u64) -> String {
    if unix_ms == 0 {
        return "-".to_owned();
    }
    let seconds = unix_ms / SECOND_MS;
    let (day, in_day) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(day);
    let (hour, minute, second) = (in_day / 3_600, in_day % 3_600 / 60, in_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month and day of a day since 1970, by Howard Hinnant's `civil_from_days`: eras of 400 years that
/// begin on 1 March, so that the leap day is the last of its year.
fn date(day: u64) -> (u64, u64, u64) {
    let day = day.saturating_add(719_468);
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year + era * 400 + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_two_units_at_most() {
        for (milliseconds, shown) in [
            (0, "0.0s"),
            (450, "0.4s"),
            (9_999, "9.9s"),
            (12_000, "12s"),
            (63_000, "1m03s"),
            (7_500_000, "2h05m"),
            (273_600_000, "3d04h"),
        ] {
            assert_eq!(elapsed(milliseconds), shown);
        }
        assert_eq!(between(0, 0, 5), "");
        assert_eq!(between(5_000, 0, 4_000), "0.0s");
        assert_eq!(between(1_000, 64_000, 0), "1m03s");
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, shown) in [
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_709_251_200, "2024-03-01T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (1_796_062_283, "2026-11-30T18:11:23Z"),
        ] {
            assert_eq!(utc(seconds * 1_000), shown);
        }
        assert_eq!(utc(0), "-");
        utc(u64::MAX);
    }
}
