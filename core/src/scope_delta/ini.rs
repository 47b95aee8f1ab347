//! Files of sections, keys and indented values, as setup.cfg and tox.ini are: what the rules need of them.

use super::text::{lines, lossy, number};

/// One value with all of its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) section: String,
    pub(super) key: String,
    pub(super) line: u32,
    /// The parts that are not empty, each with its line; comments are left out.
    pub(super) values: Vec<(u32, String)>,
}

/// Reads a file. What is no entry is passed over, as each of these tools reports it by itself.
pub(super) fn read(bytes: &[u8]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut section = String::new();
    let mut is_open = false;
    for (index, raw) in lines(bytes).enumerate() {
        let line = number(index + 1);
        let text = lossy(raw);
        let bare = text.trim();
        if bare.is_empty() || bare.starts_with(['#', ';']) {
            continue;
        }
        if text.starts_with([' ', '\t']) && is_open {
            if let Some(entry) = entries.last_mut() {
                entry.values.push((line, bare.to_owned()));
            }
        } else if let Some(name) = bare.strip_prefix('[') {
            name.trim_end_matches(']').trim().clone_into(&mut section);
            is_open = false;
        } else if let Some((key, value)) = bare.split_once(['=', ':']) {
            let value = value.trim();
            let values = if value.is_empty() { Vec::new() } else { vec![(line, value.to_owned())] };
            let key = key.trim().to_lowercase();
            entries.push(Entry { section: section.clone(), key, line, values });
            is_open = true;
        }
    }
    entries
}
