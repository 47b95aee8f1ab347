//! TOML with the lines of its keys and values, for the manifests that are written in it.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Unreadable, reason};
use crate::scope_delta::text::Lines;

/// A table of TOML.
pub(in crate::scope_delta) type Table<'i> = DeTable<'i>;
/// A value of TOML.
pub(in crate::scope_delta) type Value<'i> = DeValue<'i>;

/// Reads a file.
///
/// # Errors
/// [`Unreadable`] when it is no UTF-8 or no TOML.
pub(in crate::scope_delta) fn read(bytes: &[u8]) -> Result<(Table<'_>, Lines), Unreadable> {
    let lines = Lines::of(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| Unreadable {
        line: Some(lines.at(error.valid_up_to())),
        reason: "it is not UTF-8".to_owned(),
    })?;
    match DeTable::parse(text) {
        Ok(table) => Ok((table.into_inner(), lines)),
        Err(error) => Err(Unreadable {
            line: error.span().map(|span| lines.at(span.start)),
            reason: reason("TOML", error.message()),
        }),
    }
}

/// The table of this name.
pub(in crate::scope_delta) fn table<'t, 'i>(
    within: &'t Table<'i>,
    name: &str,
) -> Option<&'t Table<'i>> {
    value(within, name)?.get_ref().as_table()
}

/// The value of this name.
pub(in crate::scope_delta) fn value<'t, 'i>(
    within: &'t Table<'i>,
    name: &str,
) -> Option<&'t Spanned<Value<'i>>> {
    within.iter().find(|(key, _)| key.get_ref() == name).map(|(_, value)| value)
}

/// The table at the end of these names.
pub(in crate::scope_delta) fn at<'t, 'i>(
    within: &'t Table<'i>,
    names: &[&str],
) -> Option<&'t Table<'i>> {
    names.iter().try_fold(within, |within, name| table(within, name))
}

/// Names and values of a table, with the line of each name.
pub(in crate::scope_delta) fn entries<'t, 'i>(
    within: &'t Table<'i>,
    lines: &'t Lines,
) -> impl Iterator<Item = (&'t str, &'t Value<'i>, u32)> {
    within
        .iter()
        .map(|(key, value)| (key.get_ref().as_ref(), value.get_ref(), lines.at(key.span().start)))
}

/// Strings of a list, with their lines.
pub(in crate::scope_delta) fn strings<'t>(
    list: &'t Value<'_>,
    lines: &'t Lines,
) -> impl Iterator<Item = (&'t str, u32)> {
    let items = list.as_array().into_iter().flat_map(|items| items.iter());
    items.filter_map(|item| Some((item.get_ref().as_str()?, lines.at(item.span().start))))
}

/// A value as text that layout does not change.
pub(in crate::scope_delta) fn text(value: &Value<'_>) -> String {
    match value {
        DeValue::String(text) => format!("\"{text}\""),
        DeValue::Integer(number) => number.as_str().to_owned(),
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(boolean) => boolean.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| text(item.get_ref())).collect();
            format!("[{}]", items.join(", "))
        }
        DeValue::Table(entries) => {
            let entry = |(key, value): (&Spanned<_>, &Spanned<Value<'_>>)| {
                let key: &std::borrow::Cow<'_, str> = key.get_ref();
                format!("{key} = {}", text(value.get_ref()))
            };
            let entries: Vec<String> = entries.iter().map(entry).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}
