//! Bytes as lines: what several rules need, without a word about what the lines mean.

/// Bytes at the start of a file in which git, too, looks for a NUL to tell binaries from text.
const BINARY_PROBE_BYTES: usize = 8_000;

/// Raw bytes as text, for names and messages.
pub(super) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Whether this is no text, as git tells it.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(BINARY_PROBE_BYTES).any(|byte| *byte == 0)
}

/// The lines, without their ends; the last one may lack it.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let empty = bytes.is_empty();
    let lines = bytes.split(|byte| *byte == b'\n');
    lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line)).filter(move |_| !empty)
}

/// A count as a line number; no weighed file has more lines than that.
pub(super) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Where the lines of a text begin, to tell the line of many bytes.
pub(super) struct Lines(Vec<usize>);

impl Lines {
    pub(super) fn of(bytes: &[u8]) -> Self {
        let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        Self(std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect())
    }

    /// The line, from 1, of this byte.
    pub(super) fn at(&self, byte: usize) -> u32 {
        number(self.0.partition_point(|start| *start <= byte))
    }
}
