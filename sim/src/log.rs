//! Event logs: a header with the seed, then one line for each event with a digest of the state after it.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use crate::seed::live;

/// First words of every log; the version changes with what a line means.
const HEADER: &str = "cantus-sim 1 seed ";

/// Runs the seed once more and writes its log.
pub(crate) fn write(seed: u64, directory: &Path) -> io::Result<PathBuf> {
    let path = directory.join(format!("cantus-sim-{seed}.log"));
    let mut file = BufWriter::new(File::create(&path)?);
    writeln!(file, "{HEADER}{seed}")?;
    let mut failed = Ok(());
    let outcome = live(
        seed,
        Some(&mut |line| {
            if failed.is_ok() {
                failed = writeln!(file, "{line}");
            }
        }),
    );
    failed?;
    if let Some((invariant, text)) = outcome.trouble {
        writeln!(file, "invariant {invariant}: {}", text.replace('\n', " "))?;
    }
    file.flush()?;
    Ok(path)
}

/// Runs the log's seed again; answers with the number of lines if all are the same.
pub(crate) fn replay(path: &Path) -> Result<usize, String> {
    let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines: io::Result<Vec<String>> = BufReader::new(file).lines().collect();
    let lines = lines.map_err(|error| format!("{}: {error}", path.display()))?;
    let seed = lines.first().and_then(|line| line.strip_prefix(HEADER)?.parse::<u64>().ok());
    let Some(seed) = seed else {
        return Err(format!(
            "{} is no event log: its first line is not `{HEADER}…`",
            path.display()
        ));
    };
    let expected: Vec<&String> =
        lines[1..].iter().filter(|line| !line.starts_with("invariant ")).collect();
    let (mut place, mut difference) = (0, None);
    let outcome = live(
        seed,
        Some(&mut |line| {
            if difference.is_none() && expected.get(place).is_none_or(|known| **known != line) {
                let known = expected.get(place).map_or("the end", |known| known.as_str());
                difference = Some(format!("line {}: {known:?} is now {line:?}", place + 2));
            }
            place += 1;
        }),
    );
    if let Some(difference) = difference {
        return Err(difference);
    }
    if place != expected.len() {
        return Err(format!("line {}: the run ends, the log does not", place + 2));
    }
    if let Some((invariant, text)) = outcome.trouble {
        println!("seed {seed}: invariant {invariant}: {text}");
    }
    Ok(place)
}
