//! The plan that a command line names: read within bounds, compiled, and its repository found from here.
//!
//! The coordinator runs elsewhere, perhaps with another working directory, so relative paths are made absolute.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use cantus_proto::plan::Compiled;
use cantus_proto::plan::bounds::PLAN_BYTES_MAX;
use cantus_proto::plan::compile::compile_bytes;
use cantus_proto::wire::v1::Diagnostic;

use super::error::CliError;
use crate::view;

/// The name that stands for standard input.
const STDIN: &str = "-";
/// What standard input is called in diagnostics.
const STDIN_SHOWN: &str = "<stdin>";

/// A file as it was read.
#[derive(Debug)]
pub(super) struct PlanFile {
    /// For diagnostics.
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    /// What relative paths in it are relative to.
    directory: PathBuf,
}

/// Reads a plan, or standard input for `-`. One that is larger than a plan may be is read just so far that the
/// compiler refuses it.
pub(super) fn read(path: &Path) -> Result<PlanFile, CliError> {
    let failed = |source| CliError::Read { path: path.to_owned(), source };
    let limit = PLAN_BYTES_MAX as u64 + 1;
    let mut bytes = Vec::new();
    if path.as_os_str() == STDIN {
        io::stdin().lock().take(limit).read_to_end(&mut bytes).map_err(failed)?;
        return Ok(PlanFile { name: STDIN_SHOWN.to_owned(), bytes, directory: PathBuf::from(".") });
    }
    File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)).map_err(failed)?;
    let directory = path.parent().map(Path::to_owned).unwrap_or_default();
    Ok(PlanFile { name: path.to_string_lossy().into_owned(), bytes, directory })
}

impl PlanFile {
    /// Compiles it; also gives the diagnostics as the API has them.
    pub(super) fn compile(&self) -> (Compiled, Vec<Diagnostic>) {
        let compiled = compile_bytes(&self.name, &self.bytes);
        let diagnostics = compiled.diagnostics.iter().map(view::diagnostic).collect();
        (compiled, diagnostics)
    }

    /// The repository to ask for, nothing when the plan's own word will do.
    ///
    /// A path in the plan is relative to the plan's file, one on the command line to the working directory.
    pub(super) fn repository(&self, flag: Option<&str>, planned: Option<&str>) -> String {
        match (flag, planned) {
            (Some(flag), _) if is_path(flag) => absolute(Path::new(flag)),
            (Some(flag), _) => flag.to_owned(),
            (None, Some(planned)) if is_path(planned) => absolute(&self.directory.join(planned)),
            (None, _) => String::new(),
        }
    }
}

/// Whether a location is a path here, and neither a URL nor git's `host:path`.
fn is_path(location: &str) -> bool {
    let host = location.split('/').next().is_some_and(|first| first.contains(':'));
    !location.is_empty() && !location.contains("://") && !host
}

/// The path from the root, without links where it exists; the coordinator says what is wrong with it if not.
fn absolute(path: &Path) -> String {
    let found = path.canonicalize().or_else(|_| std::path::absolute(path));
    found.unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_from_where_they_were_written() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("repo/plans")).unwrap();
        let file = root.join("repo/plans/plan.yaml");
        std::fs::write(&file, "version: 1\nrepository: ..\nitems: []\n").unwrap();
        let read = read(&file).unwrap();
        let (compiled, diagnostics) = read.compile();
        assert!(diagnostics.is_empty());
        let planned = compiled.plan.unwrap().repository;
        let repository = root.join("repo");
        assert_eq!(read.repository(None, planned.as_deref()), repository.to_str().unwrap());
        assert_eq!(
            read.repository(repository.to_str(), planned.as_deref()),
            repository.to_str().unwrap()
        );
        assert_eq!(read.repository(None, None), "");
        assert_eq!(
            read.repository(None, Some("gone")),
            root.join("repo/plans/gone").to_str().unwrap()
        );
        for elsewhere in ["https://host/x", "git@host:x/y", "host:x"] {
            assert_eq!(read.repository(Some(elsewhere), None), elsewhere);
            assert_eq!(read.repository(None, Some(elsewhere)), "");
        }
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let error = read(Path::new("/no/such/plan.yaml")).unwrap_err().to_string();
        assert!(error.contains("read /no/such/plan.yaml"), "{error}");
        assert!(read(Path::new("/")).is_err());
    }
}
