//! `cantus audit`: see [`crate::audit`]; here it only gets its keys and its words.

use crate::audit::{self, AuditOutcome};
use crate::cli::args::AuditArgs;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::render::audit as render;
use crate::cli::{json, trust};
use crate::config::Home;

/// See the module. Nothing to audit is no pass.
pub(in crate::cli) fn audit(
    home: &Home,
    args: &AuditArgs,
    output: &mut Output<'_>,
) -> anyhow::Result<Exit> {
    let trust = trust::read(args.trust.as_deref(), home)?;
    let report = audit::audit(&args.repo, args.range.as_deref(), &trust);
    let report = report.map_err(|error| CliError::Audit(Box::new(error)))?;
    if args.json {
        output.json(&json::audit(&report), false)?;
    } else {
        output.print(&render::report(&report, output.paint))?;
    }
    Ok(match report.outcome() {
        AuditOutcome::Passed => Exit::Ok,
        AuditOutcome::Failed | AuditOutcome::Empty => Exit::Failed,
    })
}
