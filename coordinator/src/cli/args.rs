//! The command line: every command, its arguments and its help. What they do is elsewhere.
//!
//! The help is written for reading: a person should be able to learn Cantus from it.

use std::path::PathBuf;

use cantus_proto::message::Isolation;
use clap::{Args, Parser, Subcommand, ValueEnum};

use super::time::{self, Given};

mod examples;
mod report;

pub use report::{ExportArgs, ReportArgs};

/// Heading of the options that every command has.
const EVERYWHERE: &str = "Options of every command";

/// Carries a plan to verified commits: a team of coding agents on one git repository.
///
/// A plan is a YAML file of items, each with a contract: what is to be achieved, and the commands that
/// check it. Workers produce results in containers, verifiers run the checkers on the exact tree that
/// would land, and only what they prove lands on the target branch, with signed evidence beside it.
#[derive(Debug, Parser)]
#[command(name = "cantus", version, after_help = examples::CANTUS, verbatim_doc_comment)]
pub struct Cli {
    /// State of the installation [default: $XDG_STATE_HOME/cantus or ~/.local/state/cantus]
    #[arg(long, global = true, env = "CANTUS_HOME", hide_env_values = true, value_name = "DIR")]
    #[arg(help_heading = EVERYWHERE)]
    pub home: Option<PathBuf>,
    /// What to log: warn, info, debug or a filter [default: warn; info for up, serve and pool]
    #[arg(long, global = true, env = "CANTUS_LOG", hide_env_values = true, value_name = "LEVEL")]
    #[arg(help_heading = EVERYWHERE)]
    pub log: Option<String>,
    /// When to use colours; `auto` is on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    #[arg(help_heading = EVERYWHERE)]
    pub color: ColorChoice,
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal that can.
    #[default]
    Auto,
    /// Also into a pipe.
    Always,
    /// Not at all.
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show what Cantus does, on the examples: a run with repairs, refusals and an audit
    #[command(after_help = examples::DEMO)]
    Demo(DemoArgs),
    /// Start everything on this machine: bus, coordinator and a pool of containers
    #[command(after_help = examples::UP)]
    Up(UpArgs),
    /// Stop everything that `up` started, and leave nothing behind
    Down(DownArgs),
    /// Write a first configuration to the home
    #[command(after_help = examples::INIT)]
    Init(InitArgs),
    /// Check a plan or contract without starting anything; needs no coordinator
    #[command(after_help = examples::LINT)]
    Lint(LintArgs),
    /// Start a run of a plan or contract
    #[command(after_help = examples::SUBMIT)]
    Submit(SubmitArgs),
    /// Follow a run until it has ended
    #[command(after_help = examples::WATCH)]
    Watch(WatchArgs),
    /// Show all runs, or one with its items
    Status(StatusArgs),
    /// Show the queue of each role: depth, oldest age, in flight, retries, parked
    Queue(QueueArgs),
    /// Show one item: contract, attempts with their reasons, claims, findings, saved work
    #[command(after_help = examples::ITEM)]
    Item(ItemArgs),
    /// Print the log of an attempt at an item
    #[command(after_help = examples::LOGS)]
    Logs(LogsArgs),
    /// Cancel a run, or one item with all that needs it; running work is stopped
    Cancel(CancelArgs),
    /// Put a parked or cancelled item back, to be tried again from attempt 1
    Requeue(RequeueArgs),
    /// Let through what the gates kept out of an item's newest result; it is still verified
    #[command(after_help = examples::APPROVE)]
    Approve(ApproveArgs),
    /// Have a parked item's present result checked once more, for a reason
    #[command(after_help = examples::RETRY)]
    Retry(RetryArgs),
    /// Show a run as it was at any moment, from its journal
    #[command(after_help = examples::REPLAY)]
    Replay(ReplayArgs),
    /// List, check and export the signed evidence of an item
    #[command(after_help = examples::EVIDENCE)]
    Evidence(EvidenceArgs),
    /// Say what a run came to: its class, figures, costs, and who or what caused each failure
    #[command(after_help = report::REPORT)]
    Report(ReportArgs),
    /// Write a run as files: task, state, memory, evidence, artifacts, traces, reports
    #[command(after_help = report::EXPORT)]
    Export(ExportArgs),
    /// Check that each landed commit has valid evidence for its exact tree; needs no coordinator
    #[command(after_help = examples::AUDIT)]
    Audit(AuditArgs),
    /// Run the coordinator alone, in the foreground
    #[command(after_help = examples::SERVE)]
    Serve(ServeArgs),
    /// Run a pool of containers for a coordinator here or elsewhere, in the foreground
    #[command(after_help = examples::POOL)]
    Pool(PoolArgs),
}

/// Where the coordinator is.
#[derive(Debug, Clone, Default, Args)]
pub struct ServerArgs {
    /// Talk to a coordinator over TCP instead of the socket in the home, as http://HOST:PORT
    #[arg(long, env = "CANTUS_CONNECT", hide_env_values = true, value_name = "URL")]
    pub connect: Option<String>,
    /// Print JSON for programs: one document
    #[arg(long)]
    pub json: bool,
}

/// How workers and verifiers are kept apart from the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IsolationChoice {
    /// Each in its own container without a network.
    Container,
    /// As plain processes, for development and benchmarks; what they do lands only where the coordinator has
    /// --allow-process-isolation
    Process,
}

impl From<IsolationChoice> for Isolation {
    fn from(choice: IsolationChoice) -> Self {
        match choice {
            IsolationChoice::Container => Self::Container,
            IsolationChoice::Process => Self::Process,
        }
    }
}

/// `cantus demo`
#[derive(Debug, Clone, Args)]
pub struct DemoArgs {
    /// Directory with the demo's plan and repository
    #[arg(long, default_value = "examples", value_name = "DIR")]
    pub examples: PathBuf,
    /// Keep the demo's repository and state, to look around in it; otherwise nothing is left
    #[arg(long)]
    pub keep: bool,
    /// Write the run's report to this file, as HTML
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}

/// `cantus up`
#[derive(Debug, Clone, Args)]
pub struct UpArgs {
    /// How workers and verifiers are kept apart from this machine
    #[arg(long, value_enum, default_value = "container", value_name = "KIND")]
    pub isolation: IsolationChoice,
    /// Let results land whose checkers ran without a container; the evidence says so
    #[arg(long)]
    pub allow_process_isolation: bool,
}

/// `cantus down`
#[derive(Debug, Clone, Default, Args)]
pub struct DownArgs {
    /// Keep the bus's volume, so that runs go on at the next `up`; otherwise they are gone, landed commits stay
    #[arg(long)]
    pub keep_journal: bool,
}

/// `cantus init`
#[derive(Debug, Clone, Default, Args)]
pub struct InitArgs {
    /// Write it anew if there is one already
    #[arg(long)]
    pub force: bool,
}

/// `cantus serve`
#[derive(Debug, Clone, Default, Args)]
pub struct ServeArgs {
    /// Also listen on TCP; whoever can reach it can steer every run
    #[arg(long, value_name = "ADDR:PORT")]
    pub listen: Option<std::net::SocketAddr>,
    /// The bus, as nats://HOST:PORT [default: that of the home]
    #[arg(long, env = "CANTUS_BUS", hide_env_values = true, value_name = "URL")]
    pub bus: Option<String>,
    /// Let results land whose checkers ran without a container; the evidence says so
    #[arg(long)]
    pub allow_process_isolation: bool,
}

/// `cantus pool`
#[derive(Debug, Clone, Args)]
pub struct PoolArgs {
    /// Name of this host, unique among the pools of one coordinator [default: the machine's name]
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
    /// The bus, as nats://HOST:PORT [default: that of the home]
    #[arg(long, env = "CANTUS_BUS", hide_env_values = true, value_name = "URL")]
    pub bus: Option<String>,
    /// How workers and verifiers are kept apart from this machine
    #[arg(long, value_enum, default_value = "container", value_name = "KIND")]
    pub isolation: IsolationChoice,
    /// Roles to serve, separated by commas [default: all of the configuration]
    #[arg(long, value_delimiter = ',', value_name = "ROLE,…")]
    pub roles: Vec<String>,
}

/// `cantus lint`
#[derive(Debug, Clone, Args)]
pub struct LintArgs {
    /// Plan or contract (YAML); `-` reads standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Print JSON for programs: one document
    #[arg(long)]
    pub json: bool,
}

/// `cantus submit`
#[derive(Debug, Clone, Args)]
pub struct SubmitArgs {
    /// Plan or contract (YAML); `-` reads standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Repository to land in: a path or URL, instead of the plan's
    #[arg(long, value_name = "PATH|URL")]
    pub repository: Option<String>,
    /// Branch to land on, instead of the plan's
    #[arg(long, value_name = "BRANCH")]
    pub target: Option<String>,
    /// Name of the run [default: chosen by the coordinator]
    #[arg(long, value_name = "ID")]
    pub run: Option<String>,
    /// Follow the run until it has ended, as `cantus watch` does
    #[arg(long)]
    pub watch: bool,
    /// See the struct.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// `cantus watch`
#[derive(Debug, Clone, Args)]
pub struct WatchArgs {
    /// The run
    pub run: String,
    /// See the struct.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// `cantus status`
#[derive(Debug, Clone, Args)]
pub struct StatusArgs {
    /// One run, with its items
    pub run: Option<String>,
    /// See the struct.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// `cantus queue`
#[derive(Debug, Clone, Args)]
pub struct QueueArgs {
    /// See the struct.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// `cantus item`
#[derive(Debug, Clone, Args)]
pub struct ItemArgs {
    /// The run
    pub run: String,
    /// The item
    pub item: String,
    /// See the struct.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// `cantus logs`
#[derive(Debug, Clone, Args)]
pub struct LogsArgs {
    /// The run
    pub run: String,
    /// The item
    pub item: String,
    /// Number of the attempt, as `cantus item` lists them [default: the newest that has a log]
    #[arg(long, value_name = "N")]
    pub attempt: Option<u32>,
    /// Talk to a coordinator over TCP instead of the socket in the home, as http://HOST:PORT
    #[arg(long, env = "CANTUS_CONNECT", hide_env_values = true, value_name = "URL")]
    pub connect: Option<String>,
}

/// `cantus cancel`
#[derive(Debug, Clone, Args)]
pub struct CancelArgs {
    /// The run
    pub run: String,
    /// One item of it; all that needs it is blocked
    pub item: Option<String>,
    /// See the struct.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// `cantus requeue`
#[derive(Debug, Clone, Args)]
pub struct RequeueArgs {
    /// The run
    pub run: String,
    /// The item
    pub item: String,
    /// See the struct.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// `cantus approve`
#[derive(Debug, Clone, Args)]
pub struct ApproveArgs {
    /// The run
    pub run: String,
    /// The item
    pub item: String,
    /// Who approves, for the record [default: your login name]
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// See the struct.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// `cantus retry`
#[derive(Debug, Clone, Args)]
pub struct RetryArgs {
    /// The run
    pub run: String,
    /// The item
    pub item: String,
    /// What another run of the same checks would tell apart
    #[arg(long, value_name = "TEXT")]
    pub hypothesis: String,
    /// See the struct.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// A point of a run's past, as people name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// A sequence of the journal.
    Sequence(u64),
    /// Milliseconds since 1970.
    At(u64),
    /// So many milliseconds before now.
    Ago(u64),
}

fn moment(text: &str) -> Result<Point, String> {
    Ok(match time::given(text)? {
        Given::At(at_ms) => Point::At(at_ms),
        Given::Ago(ms) => Point::Ago(ms),
    })
}

fn point(text: &str) -> Result<Point, String> {
    match text.parse() {
        Ok(sequence) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
            Ok(Point::Sequence(sequence))
        }
        _ => moment(text).map_err(|why| format!("{why}; a sequence of --list is a number")),
    }
}

/// `cantus replay`
#[derive(Debug, Clone, Args)]
pub struct ReplayArgs {
    /// The run
    pub run: String,
    /// One item, as `cantus item` shows it; of --list and --diff, what is about it
    #[arg(long, value_name = "ITEM")]
    pub item: Option<String>,
    /// After this sequence of the journal, as --list names them [default: now]
    #[arg(long, value_name = "SEQ", conflicts_with = "until")]
    pub at: Option<u64>,
    /// At this time: RFC 3339, or -10m for ten minutes ago
    #[arg(long, value_name = "TIME", value_parser = moment, allow_hyphen_values = true)]
    pub until: Option<Point>,
    /// What became otherwise between two points, each a sequence or a time
    #[arg(long, num_args = 2, value_names = ["A", "B"], value_parser = point)]
    #[arg(allow_hyphen_values = true, conflicts_with_all = ["at", "until", "list"])]
    pub diff: Option<Vec<Point>>,
    /// All points, with what was decided at each; with --at or --until, those up to there
    #[arg(long)]
    pub list: bool,
    /// See the struct.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// `cantus evidence`
#[derive(Debug, Clone, Args)]
pub struct EvidenceArgs {
    /// The run
    pub run: String,
    /// The item
    pub item: String,
    /// Write the envelopes to this new or empty directory, with SHA256SUMS
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Keys to believe [default: trust.json in the home]
    #[arg(long, value_name = "FILE")]
    pub trust: Option<PathBuf>,
    /// See the struct.
    #[command(flatten)]
    pub server: ServerArgs,
}

/// `cantus audit`
#[derive(Debug, Clone, Args)]
pub struct AuditArgs {
    /// Top directory of a repository, or a bare one
    pub repo: PathBuf,
    /// What to audit: A..B, a commit or a branch [default: HEAD, from the first landed commit on]
    pub range: Option<String>,
    /// Keys to believe [default: trust.json in the home]
    #[arg(long, value_name = "FILE")]
    pub trust: Option<PathBuf>,
    /// Print JSON for programs: one document
    #[arg(long)]
    pub json: bool,
}

impl Command {
    /// What is logged when nobody says: processes that run for long tell what they do.
    #[must_use]
    pub fn default_log(&self) -> &'static str {
        match self {
            Self::Up(_) | Self::Serve(_) | Self::Pool(_) => "info",
            _ => "warn",
        }
    }
}

#[cfg(test)]
mod tests;
