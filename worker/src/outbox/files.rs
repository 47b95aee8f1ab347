//! How the files of an outbox are opened and cut into lines.
//!
//! The directory is ours and the files are the agent's: they are opened without following links, never blocking, and
//! only if the agent owns them.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use cantus_proto::limits::{OUTBOX_LINE_BYTES_MAX, OUTBOX_LINES_MAX};
use rustix::fs::{Mode, OFlags, openat};
use serde_json::Value;

/// What is read of one file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Lines that say something.
    pub(super) lines_max: usize,
    /// Of one line.
    pub(super) line_bytes_max: usize,
    /// Of all.
    pub(super) bytes_max: usize,
}

/// Of a file in which each line is read by people.
pub(super) const PLAIN: Bounds = Bounds {
    lines_max: OUTBOX_LINES_MAX,
    line_bytes_max: OUTBOX_LINE_BYTES_MAX,
    bytes_max: 1024 * 1024,
};

/// The directory.
#[derive(Debug)]
pub(super) struct Files {
    directory: OwnedFd,
    owner: u32,
}

impl Files {
    pub(super) fn open(path: &Path, owner: u32) -> Result<Self, std::io::Error> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self { directory: rustix::fs::open(path, flags, Mode::empty())?, owner })
    }

    /// The values of a file's lines; what cannot be read becomes a finding.
    pub(super) fn lines(
        &self,
        name: &str,
        bounds: Bounds,
        findings: &mut Vec<String>,
    ) -> Vec<Value> {
        let content = self.content(name, bounds, findings);
        values(name, &content, bounds, findings)
    }

    /// As [`Files::lines`], while the agent may still be at its last line: that one is left for later.
    pub(super) fn whole_lines(
        &self,
        name: &str,
        bounds: Bounds,
        findings: &mut Vec<String>,
    ) -> Vec<Value> {
        let content = self.content(name, bounds, findings);
        values(name, whole(&content), bounds, findings)
    }

    /// The whole lines from `offset` on, at most `bytes_max`, and where the next look begins.
    pub(super) fn since(&self, name: &str, offset: u64, bytes_max: usize) -> (Vec<u8>, u64) {
        let Ok(Some((file, size))) = self.file(name) else { return (Vec::new(), offset) };
        // Written anew: what it says now was not read yet.
        let offset = if size < offset { 0 } else { offset };
        let mut content = vec![0; bytes_max];
        let mut length = 0;
        while let Ok(read @ 1..) = file.read_at(&mut content[length..], offset + length as u64) {
            length += read;
        }
        content.truncate(length);
        let kept = whole(&content).len();
        // A line that alone fills the room is passed over.
        let kept = if kept == 0 && length == bytes_max { length } else { kept };
        content.truncate(kept);
        (content, offset + kept as u64)
    }

    fn content(&self, name: &str, bounds: Bounds, findings: &mut Vec<String>) -> Vec<u8> {
        let mut content = Vec::new();
        let read = self.file(name).and_then(|file| {
            let Some((file, _)) = file else { return Ok(0) };
            let limit = bounds.bytes_max as u64 + 1;
            file.take(limit).read_to_end(&mut content).map_err(|error| error.to_string())
        });
        if let Err(reason) = read {
            findings.push(format!("{name} was not read: {reason}"));
        }
        if content.len() > bounds.bytes_max {
            content.truncate(bounds.bytes_max);
            content.truncate(whole(&content).len());
            let most = bounds.bytes_max;
            findings.push(format!("{name} has more than {most} bytes; the rest was left out"));
        }
        content
    }

    /// The file and its size; nothing when there is none.
    fn file(&self, name: &str) -> Result<Option<(File, u64)>, String> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = match openat(&self.directory, name, flags, Mode::empty()) {
            Ok(opened) => opened,
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            Err(rustix::io::Errno::LOOP) => return Err("it is a link".to_owned()),
            Err(error) => return Err(error.to_string()),
        };
        let stat = rustix::fs::fstat(&opened).map_err(|error| error.to_string())?;
        if !rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file() {
            return Err("it is not a file".to_owned());
        }
        if stat.st_uid != self.owner {
            return Err("it belongs to another user".to_owned());
        }
        Ok(Some((File::from(opened), u64::try_from(stat.st_size).unwrap_or_default())))
    }
}

/// Up to the end of the last line that has an end.
fn whole(content: &[u8]) -> &[u8] {
    let end = content.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    &content[..end]
}

pub(super) fn values(
    name: &str,
    content: &[u8],
    bounds: Bounds,
    findings: &mut Vec<String>,
) -> Vec<Value> {
    let mut values = Vec::new();
    let mut lines =
        content.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    for (number, line) in (1..).zip(lines.by_ref().take(bounds.lines_max)) {
        if line.len() > bounds.line_bytes_max {
            let most = bounds.line_bytes_max;
            findings
                .push(format!("unreadable line {number} of {name}: it has more than {most} bytes"));
            continue;
        }
        match serde_json::from_slice(line) {
            Ok(value) => values.push(value),
            Err(error) => findings.push(format!("unreadable line {number} of {name}: {error}")),
        }
    }
    if lines.next().is_some() {
        let most = bounds.lines_max;
        findings.push(format!("{name} has more than {most} lines; the rest was left out"));
    }
    values
}
