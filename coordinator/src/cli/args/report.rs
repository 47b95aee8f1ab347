//! Arguments of `cantus report` and `cantus export`.

use std::path::PathBuf;

use clap::Args;

use super::ServerArgs;

/// Help of `cantus report`.
pub(super) const REPORT: &str = "\
Measured from the journal alone: a run has the same report wherever and whenever it is asked for. What each
figure means is in docs/REPORT.md.

Examples:
  cantus report nightly
  cantus report nightly --html nightly.html       one page for people, without anything else
  cantus report nightly --markdown - | less
  cantus report nightly --json | jq .metrics";

/// Help of `cantus export`.
pub(super) const EXPORT: &str = "\
Writes task.yaml, state.json, plan.json, memory/, evidence/, artifacts/, checkpoints/, traces/ and reports/. The
directory is written whole or not at all; an earlier export in its place is replaced.

Examples:
  cantus export nightly
  cantus export nightly --out /srv/exports/nightly";

/// `cantus report`
#[derive(Debug, Clone, Args)]
pub struct ReportArgs {
    /// The run
    pub run: String,
    /// Write it as Markdown; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Write it as one HTML page; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// See the struct.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// `cantus export`
#[derive(Debug, Clone, Args)]
pub struct ExportArgs {
    /// The run
    pub run: String,
    /// A new or empty directory, or an earlier export, which is replaced
    #[arg(long, default_value = ".harness", value_name = "DIR")]
    pub out: PathBuf,
    /// Talk to a coordinator over TCP instead of the socket in the home, as http://HOST:PORT
    #[arg(long, env = "CANTUS_CONNECT", hide_env_values = true, value_name = "URL")]
    pub connect: Option<String>,
}
