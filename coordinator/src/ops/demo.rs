//! `cantus demo`: a whole installation for one run of the examples, from start to nothing left.
//!
//! It types the commands that a person would type, and shows them.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use anyhow::Context as _;

use crate::config::Home;

/// The run's name.
const RUN: &str = "demo";
/// Containers that work and that verify.
const WORKERS: u32 = 3;
/// See [`WORKERS`].
const VERIFIERS: u32 = 2;
/// What is worth a second look afterwards: item, and what to see there.
const STORIES: [(&str, &str); 3] = [
    (
        "table-wrap",
        "its first result added a dependency that the contract forbids; a gate kept it out",
    ),
    ("chart-bars", "it said \"all tests pass\" with no receipt; the verification refuted that"),
    ("export", "it failed twice, proposed to be split, and its parts landed before the whole"),
];

/// What the flags say.
#[derive(Debug, Clone)]
pub struct Options {
    /// The directory with `inkwell/`, `inkwell.plan.yaml` and `agent/`.
    pub examples: PathBuf,
    /// Leave everything for a look around.
    pub keep: bool,
    /// Where to write the run's report as HTML.
    pub report: Option<PathBuf>,
}

/// Runs the demo. The answer is whether everything landed and the audit passed.
///
/// # Errors
/// When a part cannot be started; what was started is ended again.
pub fn demo(options: &Options) -> anyhow::Result<bool> {
    let examples = options.examples.canonicalize().with_context(|| {
        format!(
            "there are no examples at {}: name their directory with --examples",
            options.examples.display()
        )
    })?;
    let directory = tempfile::Builder::new().prefix("cantus-demo.").tempdir()?;
    let stage = Stage::new(directory.path(), &examples, options.report.as_deref())?;
    stage.prepare()?;
    println!(
        "A library of our own, {WORKERS} workers, {VERIFIERS} verifiers, one bus: each in a container.\n"
    );
    let ran = stage.run();
    if options.keep {
        let kept = directory.keep();
        println!("\nKept: {0}\nEnd it with: cantus down --home {0}/home", kept.display());
        return ran;
    }
    let ended = stage.cantus(&["down"]);
    let landed = ran?;
    anyhow::ensure!(ended?.success(), "`cantus down` failed; call it again with the home above");
    println!("\nNothing is left: no container, no volume, no socket.");
    Ok(landed)
}

struct Stage {
    home: Home,
    report: Option<PathBuf>,
    repository: PathBuf,
    examples: PathBuf,
    this: PathBuf,
}

impl Stage {
    fn new(directory: &Path, examples: &Path, report: Option<&Path>) -> anyhow::Result<Self> {
        Ok(Self {
            report: report.map(std::path::absolute).transpose()?,
            home: Home::find(Some(directory.join("home")), |_| None)?,
            repository: directory.join("inkwell.git"),
            examples: examples.to_owned(),
            this: std::env::current_exe().context("cannot find this program's own file")?,
        })
    }

    /// Home, configuration and a repository made from the example's files.
    fn prepare(&self) -> anyhow::Result<()> {
        self.home.make()?;
        let mut bytes = [0; 4];
        getrandom::fill(&mut bytes)?;
        let instance = format!("demo-{}", cantus_proto::ids::hex(&bytes));
        std::fs::write(self.home.dir().join("instance"), instance)?;
        let port = std::net::TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let agent = serde_json::to_string(&self.examples.join("agent"))?;
        let image = "cantus/base:bookworm";
        let config = format!(
            "version: 1\nbus: {{port: {port}}}\ncoordinator:\n  window_seconds: 1\n  routing: {{fast: sketch, \
             strong: engrave}}\nroles:\n  worker:\n    kind: worker\n    image: {image}\n    \
             slots: {WORKERS}\n    command: [python3, /agent/agent.py]\n    usage: none\n    mounts:\n      - {{source: \
             {agent}, target: /agent}}\n  verifier:\n    kind: verifier\n    image: {image}\n    slots: {VERIFIERS}\n"
        );
        std::fs::write(self.home.config_file(), config)?;
        let source = self.examples.join("inkwell");
        let work_tree = format!("--work-tree={}", source.display());
        let git_dir = format!("--git-dir={}", self.repository.display());
        git(&[
            "init",
            "--quiet",
            "--bare",
            "--initial-branch=main",
            &self.repository.display().to_string(),
        ])?;
        let index = self.repository.join("demo-index");
        let index = [("GIT_INDEX_FILE", index.as_os_str())];
        git_with(
            &[&git_dir, &work_tree, "-c", "core.bare=false", "add", "--all", "."],
            &index,
            &source,
        )?;
        git_with(
            &[
                &git_dir,
                &work_tree,
                "-c",
                "core.bare=false",
                "commit",
                "--quiet",
                "-m",
                "inkwell, as it began",
            ],
            &index,
            &source,
        )
    }

    fn run(&self) -> anyhow::Result<bool> {
        anyhow::ensure!(self.cantus(&["up"])?.success(), "`cantus up` failed; its words are above");
        let plan = self.examples.join("inkwell.plan.yaml").display().to_string();
        let repository = self.repository.display().to_string();
        let landed =
            self.cantus(&["submit", &plan, "--repository", &repository, "--run", RUN, "--watch"])?;
        println!("\nWhat landed, with the digest of each commit's evidence:\n");
        let format = "%h  %<(40,trunc)%s  %<(15)%(trailers:key=Cantus-Item,valueonly,separator=)  \
                      %(trailers:key=Cantus-Evidence,valueonly,separator=)";
        let git_dir = format!("--git-dir={repository}");
        show(&["git", "log", "--first-parent", "main"]);
        git(&[&git_dir, "log", "--first-parent", &format!("--format={format}"), "main"])?;
        for (item, what) in STORIES {
            println!("\nOne to look at, {item}: {what}.\n");
            self.cantus(&["item", RUN, item])?;
        }
        println!("\nAnd offline, with nothing but the repository and the trusted keys:\n");
        let audited = self.cantus(&["audit", &repository])?;
        println!(
            "\nThe run as its report tells it: what was kept out, demanded, split, learned and paid for.\n"
        );
        let html = self.report.as_ref().map(|path| path.display().to_string());
        let html = html.iter().flat_map(|path| ["--html", path.as_str()]);
        let reported = self.cantus(&["report", RUN].into_iter().chain(html).collect::<Vec<_>>())?;
        Ok(landed.success() && audited.success() && reported.success())
    }

    fn cantus(&self, arguments: &[&str]) -> anyhow::Result<ExitStatus> {
        let shown: Vec<&str> = std::iter::once("cantus").chain(arguments.iter().copied()).collect();
        show(&shown);
        Command::new(&self.this)
            .args(arguments)
            .arg("--home")
            .arg(self.home.dir())
            .status()
            .with_context(|| format!("cannot run {}", self.this.display()))
    }
}

/// The command as a person would type it: paths by their last part.
fn show(arguments: &[&str]) {
    let last = |argument: &&str| match argument.rsplit_once('/') {
        Some((_, name)) if argument.starts_with('/') => name.to_owned(),
        _ => (*argument).to_owned(),
    };
    println!("$ {}", arguments.iter().map(last).collect::<Vec<_>>().join(" "));
}

fn git(arguments: &[&str]) -> anyhow::Result<()> {
    git_with(arguments, &[], Path::new("/"))
}

fn git_with(
    arguments: &[&str],
    environment: &[(&str, &std::ffi::OsStr)],
    directory: &Path,
) -> anyhow::Result<()> {
    let status = Command::new("git")
        .args(arguments)
        .current_dir(directory)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .envs([
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_PAGER", "cat"),
        ])
        .envs([("GIT_AUTHOR_NAME", "inkwell"), ("GIT_AUTHOR_EMAIL", "inkwell@localhost")])
        .envs([("GIT_COMMITTER_NAME", "inkwell"), ("GIT_COMMITTER_EMAIL", "inkwell@localhost")])
        .envs(environment.iter().copied())
        .status()
        .context("cannot run git: install it")?;
    anyhow::ensure!(status.success(), "git {} failed", arguments.join(" "));
    Ok(())
}
