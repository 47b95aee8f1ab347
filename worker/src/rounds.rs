//! The agent's rounds: it works, the project's checks run, and what fails is given back to it (SPEC E7).
//!
//! Success is silent. What still fails after the last round is handed in with a finding; the verifier decides.

use std::path::Path;

use cantus_proto::evidence::receipt::checker_argv;
use cantus_proto::limits::LOG_BYTES_MAX;
use cantus_proto::message::Receipt;
use cantus_runner::capture::Log;
use cantus_runner::checks::{Check, point::failure};
use cantus_runner::helper::Helpers;
use cantus_runner::jail::{Ending, Ran};
use cantus_runner::lease::Lease;
use cantus_runner::text::{chain, tail};

use crate::adapter;
use crate::desk::{self, Desk};
use crate::phases::Phases;
use crate::prompt::{self, Feedback, Prompt};
use crate::watch::Watch;

/// Times that the agent is started again because a check fails: what it cannot mend in two, it will not in three.
const ROUNDS_MAX: u32 = 2;

/// Kept of the output of all rounds and checks together, in bytes: it is one artifact.
const LOG_ALL_BYTES_MAX: u64 = 4 * LOG_BYTES_MAX;

/// Most of one check's output that the agent is shown, in bytes: the end says why.
const FEEDBACK_BYTES_MAX: usize = 16 * 1024;

/// Most of one check's output in a finding, in bytes.
const FINDING_BYTES_MAX: usize = 600;

/// What all rounds need.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    pub(crate) lease: &'a Lease,
    pub(crate) helpers: Helpers<'a>,
    pub(crate) command: &'a [String],
    pub(crate) desk: &'a Desk,
    /// The refuted work, on a repair.
    pub(crate) diff: &'a str,
    pub(crate) watch: &'a Watch<'a>,
}

/// What the rounds left.
#[derive(Debug)]
pub(crate) struct Done {
    /// How the agent ended at last.
    pub(crate) ran: Ran,
    pub(crate) receipts: Vec<Receipt>,
    pub(crate) log: Log,
    pub(crate) findings: Vec<String>,
}

/// One check that failed.
struct Failure {
    /// As `lint exited with code 1`.
    what: String,
    command: String,
    output: Vec<u8>,
}

/// Runs the agent, and again while checks fail; an error means that it never ran.
pub(crate) async fn run(session: &Session<'_>, phases: &mut Phases) -> Result<Done, String> {
    let lease = session.lease;
    session.prompt(None)?;
    let (ran, receipt) = phases.time("agent", session.agent(None)).await?;
    let mut done = Done::new(ran, receipt);
    for round in 1.. {
        if session.desk.checks.is_empty() || !ended_well(&done.ran) {
            break;
        }
        let failures = phases.time("checks", session.check(&mut done)).await;
        if failures.is_empty() || done.ran.stopped {
            break;
        }
        if round > ROUNDS_MAX || lease.left().is_zero() {
            done.findings.extend(failures.iter().map(Failure::finding));
            break;
        }
        let again = async {
            session.feedback(&failures, round)?;
            session.agent(Some(&session.desk.feedback)).await
        };
        match phases.time("agent", again).await {
            Ok((ran, receipt)) => done.add(ran, receipt),
            Err(reason) => {
                done.findings.push(format!("the agent was not started again: {reason}"));
                done.findings.extend(failures.iter().map(Failure::finding));
                break;
            }
        }
    }
    Ok(done)
}

fn ended_well(ran: &Ran) -> bool {
    !ran.stopped && !ran.timed_out && ran.ending == Ending::Exit(0)
}

impl Session<'_> {
    fn prompt(&self, feedback: Option<&Feedback>) -> Result<(), String> {
        let attempt = &self.lease.attempt;
        let defect = adapter::defect(self.lease).map(|defect| (defect, self.diff));
        let prompt = Prompt { attempt, defect, checks: &self.desk.checks, feedback };
        desk::write(&self.desk.prompt, &prompt::render(&prompt))
    }

    async fn agent(&self, feedback: Option<&Path>) -> Result<(Ran, Receipt), String> {
        self.lease.note("the agent works");
        let ran = adapter::run(self.lease, self.command, self.desk, feedback).await;
        let ran = ran.map_err(|error| chain(&error))?;
        self.watch.receipt();
        self.reap().await;
        Ok(ran)
    }

    async fn reap(&self) {
        if let Err(error) = self.helpers.reap(&[]).await {
            tracing::warn!(error = chain(&error), "some of the agent's processes may be left");
        }
    }

    /// Tells the agent of the next round what failed.
    fn feedback(&self, failures: &[Failure], round: u32) -> Result<(), String> {
        let texts: Vec<String> = failures.iter().map(Failure::section).collect();
        desk::write(&self.desk.feedback, &texts.join("\n"))?;
        let failed = failures.iter().map(|failure| failure.what.clone()).collect();
        self.prompt(Some(&Feedback { round: round + 1, rounds: ROUNDS_MAX + 1, failed }))
    }

    /// Runs all checks on the workspace, and removes the files that they leave there.
    async fn check(&self, done: &mut Done) -> Vec<Failure> {
        let before = self.helpers.loose_files().await;
        let mut failures = Vec::new();
        for check in &self.desk.checks {
            self.lease.note(&format!("the project's {} runs", check.name));
            failures.extend(self.check_one(check, done).await);
            if done.ran.stopped {
                break;
            }
        }
        self.reap().await;
        let removed = match before {
            Ok(before) => self.helpers.remove_new(before).await,
            Err(error) => Err(error),
        };
        if let Err(error) = removed {
            let error = chain(&error);
            done.findings.push(format!("files that the checks left may be in the result: {error}"));
        }
        failures
    }

    async fn check_one(&self, check: &Check, done: &mut Done) -> Option<Failure> {
        let argv = checker_argv(&check.command);
        let purpose = check.name.as_str();
        let limit = check.limit.min(self.lease.left());
        let command = check.command.clone();
        let (ran, receipt) =
            match adapter::execute(self.lease, &argv, self.desk, purpose, limit).await {
                Ok(ran) => ran,
                Err(error) => {
                    let what = format!("{purpose} cannot run: {}", chain(&error));
                    return Some(Failure { what, command, output: Vec::new() });
                }
            };
        self.watch.receipt();
        done.log.add(format!("\n== {purpose}: {command}\n").as_bytes());
        done.log.add(&ran.log);
        done.receipts.push(receipt);
        done.ran.stopped |= ran.stopped;
        failure(check, &ran).map(|what| Failure { what, command, output: ran.log })
    }
}

impl Done {
    fn new(ran: Ran, receipt: Receipt) -> Self {
        let mut log = Log::new(LOG_ALL_BYTES_MAX);
        log.add(&ran.log);
        Self { ran, receipts: vec![receipt], log, findings: Vec::new() }
    }

    fn add(&mut self, ran: Ran, receipt: Receipt) {
        self.log.add(b"\n== the agent, once more\n");
        self.log.add(&ran.log);
        self.receipts.push(receipt);
        self.ran = ran;
    }
}

impl Failure {
    fn finding(&self) -> String {
        let end = tail(&self.output, FINDING_BYTES_MAX);
        format!("checks failed: {}; at its end: {}", self.what, end.trim())
    }

    fn section(&self) -> String {
        let end = tail(&self.output, FEEDBACK_BYTES_MAX);
        format!("# {}\n\n{}\n{}", self.what, prompt::fenced(&self.command), prompt::fenced(&end))
    }
}
