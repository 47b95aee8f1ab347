//! The start of both binaries: flags, environment, what a process gives up, and what its end means.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tracing_subscriber::EnvFilter;

use crate::cli::{Cli, Command};
use crate::helper;
use crate::jail;
use crate::lease::{HandInError, Lease, LeaseError};
use crate::salvage::salvage;
use crate::settings::Settings;
use crate::text::chain;

/// Nothing was lost, but nothing was done: no bus, no settings.
const EXIT_FAILED: u8 = 1;
/// The lease ended without a hand-in: salvage has to follow.
const EXIT_UNSAVED: u8 = 3;

/// What this process is to do.
#[derive(Debug)]
pub enum Order {
    /// Serve a lease.
    Lease(Box<Settings>),
    /// It is done already.
    Exit(ExitCode),
}

/// Why a process ends early.
#[derive(Debug, thiserror::Error)]
pub enum EntryError {
    /// Before or instead of a lease.
    #[error(transparent)]
    Lease(#[from] LeaseError),
    /// With a lease.
    #[error(transparent)]
    HandIn(#[from] HandInError),
}

/// Reads the command line and does everything but serving a lease, which is what the binaries differ in.
#[must_use]
pub fn begin(name: &'static str) -> Order {
    let matches = Cli::command().name(name).bin_name(name).get_matches();
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    // Before anything else runs, and before there is a second thread.
    if let Err(error) = jail::shut_in() {
        return fail("the process cannot give up its privileges", &error);
    }
    if let Some(code) = cli.command.as_ref().and_then(helper::serve) {
        return Order::Exit(code);
    }
    let variables: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    let filter = variables.get(&OsString::from("CANTUS_LOG")).and_then(|text| text.to_str());
    let filter =
        EnvFilter::try_new(filter.unwrap_or("info")).unwrap_or_else(|_| EnvFilter::new("info"));
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    logs.with_ansi(false).init();
    let executable = match std::env::current_exe() {
        Ok(path) => path,
        Err(error) => return fail("this program cannot be found", &error),
    };
    let settings = match Settings::read(&cli, &variables, executable) {
        Ok(settings) => settings,
        Err(error) => return fail("the settings are refused", &error),
    };
    if !matches!(cli.command, Some(Command::Salvage)) {
        return Order::Lease(Box::new(settings));
    }
    let saved = match runtime() {
        Ok(runtime) => runtime.block_on(salvage(&settings)),
        Err(error) => return fail("no threads or timers can be had", &error),
    };
    match saved {
        Ok(()) => Order::Exit(ExitCode::SUCCESS),
        Err(error) => fail("the work was not saved; it is where it was", &error),
    }
}

/// Serves one lease: `serve` does the attempt and hands it in.
#[must_use]
pub fn serve<S>(settings: Settings, serve: S) -> ExitCode
where
    S: AsyncFnOnce(Lease) -> Result<(), HandInError>,
{
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => {
            tracing::error!(%error, "no threads or timers can be had");
            return EXIT_FAILED.into();
        }
    };
    let served: Result<(), EntryError> = runtime.block_on(async {
        let drain = drain().map_err(|source| LeaseError::System { what: "signals", source })?;
        match Lease::take(settings, drain).await? {
            Some(lease) => Ok(serve(lease).await?),
            None => {
                tracing::info!("drained");
                Ok(())
            }
        }
    });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(error = chain(&error), "ended without a hand-in");
            match error {
                EntryError::HandIn(_) | EntryError::Lease(LeaseError::Unsaved(_)) => {
                    EXIT_UNSAVED.into()
                }
                EntryError::Lease(_) => EXIT_FAILED.into(),
            }
        }
    }
}

/// Ends a process that cannot serve what it was made for, before it takes anything.
#[must_use]
pub fn refuse(what: &str, error: &dyn std::error::Error) -> ExitCode {
    tracing::error!(error = chain(error), "{what}");
    EXIT_FAILED.into()
}

/// Turns true at the first SIGTERM or SIGINT: take no more work, finish what was begun.
fn drain() -> Result<watch::Receiver<bool>, std::io::Error> {
    let (sender, receiver) = watch::channel(false);
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        sender.send_replace(true);
        // Kept, so that nobody takes its end for an order.
        std::future::pending::<()>().await;
    });
    Ok(receiver)
}

/// One thread is enough for one lease: all that computes is in other processes.
fn runtime() -> Result<tokio::runtime::Runtime, std::io::Error> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

fn fail(what: &str, error: &dyn std::error::Error) -> Order {
    // Logs may not be there yet.
    let _ = std::io::Write::write_fmt(
        &mut std::io::stderr(),
        format_args!("{what}: {}\n", chain(error)),
    );
    Order::Exit(EXIT_FAILED.into())
}
