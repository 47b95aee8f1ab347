//! Times and durations for people. The clock itself is read by the caller.

/// Milliseconds of one second.
const SECOND_MS: u64 = 1_000;

/// `0.4s`, `12s`, `1m03s`, `2h05m`, `3d04h`: two units at most.
pub(crate) fn elapsed(milliseconds: u64) -> String {
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
pub(crate) fn between(start_ms: u64, end_ms: u64, now_ms: u64) -> String {
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

/// A time as people give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Given {
    /// Milliseconds since 1970.
    At(u64),
    /// So many milliseconds before now.
    Ago(u64),
}

/// Reads RFC 3339, or a time before now as `-10m` or `-1h30m`.
///
/// # Errors
/// What is written instead, and how it is to be written.
pub(crate) fn given(text: &str) -> Result<Given, String> {
    let read = match text.strip_prefix('-') {
        Some(ago) => duration(ago).map(Given::Ago),
        None => rfc3339(text).map(Given::At),
    };
    read.ok_or_else(|| {
        format!(
            "{text:?} is no time: write it as 2026-11-30T18:11:23Z, or as -10m for ten minutes ago"
        )
    })
}

/// `1h30m` in milliseconds; units are d, h, m and s.
fn duration(text: &str) -> Option<u64> {
    let (mut total, mut rest) = (0_u64, text);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, tail) = rest.split_at(digits);
        let unit_ms = match tail.chars().next()? {
            'd' => 86_400 * SECOND_MS,
            'h' => 3_600 * SECOND_MS,
            'm' => 60 * SECOND_MS,
            's' => SECOND_MS,
            _ => return None,
        };
        total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(unit_ms)?)?;
        rest = &tail[1..];
    }
    (!text.is_empty()).then_some(total)
}

/// `2026-11-30T18:11:23.5+01:00` in milliseconds since 1970; nothing for what is before, or no such date.
fn rfc3339(text: &str) -> Option<u64> {
    let number = |text: &str, digits: usize| {
        let right = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
        right.then(|| text.parse::<u64>().ok()).flatten()
    };
    let (day, time) = text.split_once(['T', 't', ' '])?;
    let parts: Vec<&str> = day.split('-').collect();
    let [year, month, of_month] = parts[..] else { return None };
    let (year, month, of_month) = (number(year, 4)?, number(month, 2)?, number(of_month, 2)?);
    let zone = time.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = time.split_at(zone);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let parts: Vec<&str> = clock.split(':').collect();
    let [hour, minute, second] = parts[..] else { return None };
    let (hour, minute, second) = (number(hour, 2)?, number(minute, 2)?, number(second, 2)?);
    let milliseconds = match fraction {
        "" if clock.len() < time.len() && time.contains('.') => return None,
        fraction if !fraction.bytes().all(|byte| byte.is_ascii_digit()) => return None,
        fraction => format!("{fraction:0<3}").get(..3)?.parse::<u64>().ok()?,
    };
    let offset = match zone {
        "Z" | "z" => 0,
        zone => {
            let (hours, minutes) = zone[1..].split_once(':')?;
            let (hours, minutes) = (number(hours, 2)?, number(minutes, 2)?);
            let seconds = i64::try_from(hours * 3_600 + minutes * 60).ok()?;
            (hours < 24 && minutes < 60).then_some(())?;
            if zone.starts_with('-') { -seconds } else { seconds }
        }
    };
    let day = day_of(year, month, of_month)?;
    (hour < 24 && minute < 60 && second < 61).then_some(())?;
    let seconds = day * 86_400 + hour * 3_600 + minute * 60 + second;
    let seconds = seconds.checked_add_signed(-offset)?;
    Some(seconds * SECOND_MS + milliseconds)
}

/// The day since 1970 that [`date`] names so; nothing when there is none.
fn day_of(year: u64, month: u64, of_month: u64) -> Option<u64> {
    if year < 1970 || !(1..=12).contains(&month) || of_month < 1 {
        return None;
    }
    let year_from_march = if month > 2 { year } else { year - 1 };
    let (era, of_era) = (year_from_march / 400, year_from_march % 400);
    let month_from_march = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * month_from_march + 2) / 5 + of_month - 1;
    let day = era * 146_097 + 365 * of_era + of_era / 4 - of_era / 100 + of_year;
    let day = day.checked_sub(719_468)?;
    // A 30 February is some day of March, and therefore none.
    (date(day) == (year, month, of_month)).then_some(day)
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

    #[test]
    fn times_are_read_as_they_are_written() {
        for (text, seconds) in [
            ("2026-11-30T18:11:23Z", 1_796_062_283),
            ("2026-11-30t18:11:23z", 1_796_062_283),
            ("2026-11-30 19:11:23+01:00", 1_796_062_283),
            ("2026-11-30T12:41:23-05:30", 1_796_062_283),
            ("2000-02-29T00:00:00Z", 951_782_400),
            ("1970-01-01T00:00:00Z", 0),
            ("2100-03-01T00:00:00Z", 4_107_542_400),
        ] {
            assert_eq!(given(text), Ok(Given::At(seconds * 1_000)), "{text}");
        }
        assert_eq!(given("1970-01-01T00:00:01.25Z"), Ok(Given::At(1_250)));
        assert_eq!(given("1970-01-01T00:00:01.2509Z"), Ok(Given::At(1_250)));
        assert_eq!(given("-10m"), Ok(Given::Ago(600_000)));
        assert_eq!(given("-1d2h3m4s"), Ok(Given::Ago(93_784_000)));
        for wrong in [
            "",
            "-",
            "-10",
            "-m",
            "10m",
            "-10x",
            "-99999999999999999999d",
            "yesterday",
            "2026-11-30",
            "2026-11-30T18:11:23",
            "2026-13-01T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "2026-11-31T00:00:00Z",
            "2026-11-30T24:00:00Z",
            "2026-11-30T18:60:00Z",
            "2026-11-30T18:11:23.Z",
            "2026-11-30T18:11:23.xZ",
            "2026-11-30T18:11:23+1:00",
            "1969-12-31T23:59:59Z",
            "1970-01-01T00:00:00+01:00",
            "+026-11-30T18:11:23Z",
        ] {
            let told = given(wrong).unwrap_err();
            assert!(told.contains("is no time: write it as"), "{wrong}: {told}");
        }
    }
}
