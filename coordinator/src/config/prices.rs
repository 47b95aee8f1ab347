//! What models cost, from a file of the user's or the one that is built in. The core prices with it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use cantus_core::rules::{Price, Prices};
use cantus_proto::units::MicroUsd;
use serde::Deserialize;

use super::HomeError;

/// List prices, with their date.
const BUILT_IN: &str = include_str!("prices.yaml");

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    date: String,
    models: BTreeMap<String, Line>,
}

/// Dollars for a million tokens.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    input: f64,
    output: f64,
}

/// The prices in this file; without one, those that are built in.
///
/// # Errors
/// [`HomeError`] names the file, the place and what is wrong.
pub(super) fn read(path: Option<&Path>) -> Result<Prices, HomeError> {
    let Some(path) = path else {
        return Ok(parse(BUILT_IN).expect("a test reads the built-in prices"));
    };
    let refused = |problem: String| HomeError::Config { path: path.to_owned(), problem };
    let text = fs::read_to_string(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => refused(
            "there is no such file, but `coordinator.prices` names it: write it, or remove the key to \
             take the built-in prices"
                .to_owned(),
        ),
        _ => HomeError::Io { what: "read", path: path.to_owned(), source },
    })?;
    parse(&text).map_err(refused)
}

fn parse(text: &str) -> Result<Prices, String> {
    let table: Table = serde_saphyr::from_str(text).map_err(|error| error.to_string())?;
    if !is_date(&table.date) {
        return Err(format!("date {:?} is not a day: write one such as 2025-11-30", table.date));
    }
    let model = |(name, line): (String, Line)| {
        if name.trim().is_empty() {
            return Err("models: a name is empty: write it as the agent reports it".to_owned());
        }
        let dollars = |key: &str, dollars: f64| {
            MicroUsd::from_dollars(dollars).ok_or_else(|| {
                format!(
                    "models: {key} of {name:?} is {dollars}: write the dollars for a million tokens, from 0"
                )
            })
        };
        let (input, output) = (dollars("input", line.input)?, dollars("output", line.output)?);
        Ok((name, Price { input, output }))
    };
    let models = table.models.into_iter().map(model).collect::<Result<_, _>>()?;
    Ok(Prices { date: table.date, models })
}

/// Whether this is a day of the calendar, as `2025-11-30`.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let number = |part: &str, digits: usize| {
        let whole = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        whole.then(|| part.parse::<u32>().ok()).flatten()
    };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2))
    else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_prices_have_a_date_and_the_usual_order() {
        let prices = read(None).unwrap();
        assert_eq!(prices.date, "2025-11-30");
        for family in ["claude-", "gpt-", "gemini-"] {
            assert!(prices.models.keys().any(|name| name.starts_with(family)), "{family}");
        }
        for (name, price) in &prices.models {
            // A slip of a digit or of the two columns would show here.
            assert!(price.input.0 > 0 && price.input < price.output, "{name}: {price:?}");
            assert!(price.output <= MicroUsd(100_000_000), "{name}: {price:?}");
        }
        let price = Price { input: MicroUsd(3_000_000), output: MicroUsd(15_000_000) };
        assert_eq!(prices.models["claude-sonnet-4-5"], price);
    }

    #[test]
    fn a_file_stands_in_place_of_the_built_in_prices() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mine.yaml");
        fs::write(&path, "date: 2026-02-28\nmodels: {local: {input: 0, output: 0.05}}\n").unwrap();
        let models = BTreeMap::from([(
            "local".to_owned(),
            Price { input: MicroUsd(0), output: MicroUsd(50_000) },
        )]);
        let date = "2026-02-28".to_owned();
        assert_eq!(read(Some(&path)).unwrap(), Prices { date, models });

        fs::write(&path, "date: 2026-02-30\nmodels: {}\n").unwrap();
        let error = read(Some(&path)).unwrap_err().to_string();
        assert_eq!(
            error,
            format!(
                "{}: date \"2026-02-30\" is not a day: write one such as 2025-11-30",
                path.display()
            )
        );
        let error = read(Some(&directory.path().join("none"))).unwrap_err().to_string();
        assert!(error.contains("none: there is no such file") && error.contains("remove the key"));
    }

    #[test]
    fn mistakes_are_named() {
        let of =
            |models: &str| parse(&format!("date: 2026-01-01\nmodels: {models}\n")).unwrap_err();
        assert!(of("{m: {input: -1, output: 1}}").contains("input of \"m\" is -1"));
        assert!(of("{m: {input: 1, output: .nan}}").contains("output of \"m\" is NaN"));
        assert!(of("{m: {input: 1, output: .inf}}").contains("output of \"m\" is inf"));
        assert!(of("{m: {input: 1}}").contains("output"));
        assert!(of("{m: {input: 1, output: 1, cached: 1}}").contains("cached"));
        assert!(of("{m: {input: cheap, output: 1}}").contains("line 2"));
        assert!(of("{'': {input: 1, output: 1}}").contains("a name is empty"));
        let twice = "{m: {input: 1, output: 1}, m: {input: 2, output: 2}}";
        assert!(of(twice).contains("duplicate"), "{}", of(twice));
        assert!(parse("models: {}\n").unwrap_err().contains("date"));
        assert!(parse("date: 2026-01-01\nmodels: {}\nold: 1\n").unwrap_err().contains("old"));
    }

    #[test]
    fn days_are_of_the_calendar() {
        for day in ["2024-02-29", "2000-02-29", "2025-12-31", "2025-04-30"] {
            assert!(is_date(day), "{day}");
        }
        for day in
            ["2023-02-29", "1900-02-29", "2025-04-31", "2025-00-01", "2025-13-01", "2025-01-00"]
        {
            assert!(!is_date(day), "{day}");
        }
        for text in
            ["", "2025-1-1", "25-01-01", "2025-01-01-01", "2025/01/01", "+025-01-01", "today"]
        {
            assert!(!is_date(text), "{text}");
        }
    }
}
