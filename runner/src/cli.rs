//! The command line of `cantus-worker` and `cantus-verifier`: the same for both.
//!
//! People and pools use `lease` and `salvage`. The other commands are this binary run again as the agent's user.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Flags and command.
#[derive(Debug, Parser)]
#[command(version, about = "Serves one lease of a Cantus role")]
pub struct Cli {
    /// How the agent is kept apart: `process` is for development and benchmarks only.
    #[arg(long, value_enum, default_value_t = IsolationArg::Container, global = true)]
    pub isolation: IsolationArg,
    /// Directory for workspace, temporary files and mirrors in `process` isolation.
    #[arg(long, value_name = "DIR", global = true)]
    pub root: Option<PathBuf>,
    /// Directory of the mirrors, when it is not `mirror` below the root.
    #[arg(long, value_name = "DIR", global = true)]
    pub mirrors: Option<PathBuf>,
    /// What to do; `lease` when nothing is given.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// See [`cantus_proto::message::Isolation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IsolationArg {
    /// A container without network.
    Container,
    /// A plain process.
    Process,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve one lease, then end.
    Lease,
    /// Save what a lease that ended without a hand-in left in its workspace.
    Salvage,
    /// Make a workspace (run by the entry process as the agent's user).
    #[command(hide = true)]
    WorkspacePrepare(PrepareArgs),
    /// Collect the work in a workspace (run by the entry process as the agent's user).
    #[command(hide = true)]
    WorkspaceCollect(CollectArgs),
    /// Say what there is of the work so far (run by the entry process as the agent's user).
    #[command(hide = true)]
    WorkspacePulse(PulseArgs),
    /// Name the files that nobody tracks, or remove those that are new (run by the entry process as the agent's user).
    #[command(hide = true)]
    WorkspaceLoose(LooseArgs),
    /// Run the project's quick checks at a write or commit (run by the agent, or by its git).
    #[command(hide = true)]
    Check(CheckArgs),
    /// Compare a checkout with its listing (run by the entry process as the agent's user).
    #[command(hide = true)]
    WorkspaceCompare(CompareArgs),
    /// End all processes of the agent's user (run by the entry process as that user).
    #[command(hide = true)]
    Reap(ReapArgs),
}

/// Of `workspace-prepare`. A bundle comes on stdin.
#[derive(Debug, Clone, Args)]
pub struct PrepareArgs {
    /// The workspace root.
    #[arg(long)]
    pub work: PathBuf,
    /// The tree, directly below it.
    #[arg(long)]
    pub tree: PathBuf,
    /// Objects of the mirror.
    #[arg(long)]
    pub objects: PathBuf,
    /// The commit to check out.
    #[arg(long)]
    pub commit: String,
    /// Directory to make for HOME and TMPDIR.
    #[arg(long)]
    pub room: PathBuf,
    /// A bundle comes on stdin.
    #[arg(long)]
    pub bundle: bool,
    /// The bundle's work gets this ref.
    #[arg(long)]
    pub bundle_ref: Option<String>,
    /// Print the diff from this commit to the bundle's work.
    #[arg(long)]
    pub diff_base: Option<String>,
    /// Program that the repository's pre-commit hook runs.
    #[arg(long)]
    pub commit_check: Option<PathBuf>,
    /// The tree that the commit must have; its listing is printed.
    #[arg(long, requires = "listing_sha256")]
    pub listing_tree: Option<String>,
    /// The digest that the listing must have.
    #[arg(long)]
    pub listing_sha256: Option<String>,
}

/// Of `workspace-collect`.
#[derive(Debug, Clone, Args)]
pub struct CollectArgs {
    /// The workspace root.
    #[arg(long)]
    pub work: PathBuf,
    /// The tree, directly below it.
    #[arg(long)]
    pub tree: PathBuf,
    /// Objects of the mirror.
    #[arg(long)]
    pub objects: PathBuf,
    /// Where the attempt began.
    #[arg(long)]
    pub base: String,
    /// See [`crate::workspace::collect::Limits`].
    #[arg(long)]
    pub bytes_max: u64,
    /// See [`crate::workspace::collect::Limits`].
    #[arg(long)]
    pub files_max: u32,
    /// A directory to make and remove.
    #[arg(long)]
    pub scratch: PathBuf,
}

/// Of `workspace-pulse`.
#[derive(Debug, Clone, Args)]
pub struct PulseArgs {
    /// The tree.
    #[arg(long)]
    pub tree: PathBuf,
    /// Where the attempt began.
    #[arg(long)]
    pub base: String,
}

/// Of `workspace-loose`.
#[derive(Debug, Clone, Args)]
pub struct LooseArgs {
    /// The tree.
    #[arg(long)]
    pub tree: PathBuf,
    /// The names that were there before come on stdin; what is new is removed.
    #[arg(long)]
    pub remove_new: bool,
}

/// Of `check`.
#[derive(Debug, Clone, Args)]
pub struct CheckArgs {
    /// When.
    #[arg(value_enum, default_value_t = Point::Write)]
    pub point: Point,
    /// The file that names the checks.
    #[arg(long)]
    pub checks: PathBuf,
}

/// A moment at which an agent is checked while it works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Point {
    /// Something was written.
    Write,
    /// Something is to be committed.
    Commit,
}

/// Of `workspace-compare`. The listing comes on stdin.
#[derive(Debug, Clone, Args)]
pub struct CompareArgs {
    /// The checkout.
    #[arg(long)]
    pub tree: PathBuf,
}

/// Of `reap`.
#[derive(Debug, Clone, Args)]
pub struct ReapArgs {
    /// Remove what the user owns directly in this directory, too.
    #[arg(long)]
    pub wipe: Vec<PathBuf>,
}
