//! Which files declare dependencies, and which lock them: by name alone.

use super::{Declared, Unreadable, go, java, javascript, python, rust};
use crate::scope_delta::tests_of::name;
use crate::scope_delta::text::lossy;

/// A file about dependencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manifest {
    Cargo,
    PyProject,
    Pipfile,
    Requirements,
    SetupPy,
    SetupCfg,
    PackageJson,
    GoMod,
    GoWork,
    Pom,
    Gradle,
    GradleCatalog,
    /// Known by its name only.
    Unread,
    /// Generated: which versions were chosen.
    Lock,
}

const LOCKS: [&str; 30] = [
    "Cargo.lock",
    "Gemfile.lock",
    "Gopkg.lock",
    "MODULE.bazel.lock",
    "Package.resolved",
    "Pipfile.lock",
    "Podfile.lock",
    "buildscript-gradle.lockfile",
    "bun.lock",
    "bun.lockb",
    "cabal.project.freeze",
    "composer.lock",
    "conan.lock",
    "conda-lock.yml",
    "deno.lock",
    "flake.lock",
    "go.sum",
    "go.work.sum",
    "gradle.lockfile",
    "mix.lock",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "packages.lock.json",
    "pdm.lock",
    "pnpm-lock.yaml",
    "poetry.lock",
    "pubspec.lock",
    "stack.yaml.lock",
    "uv.lock",
    "yarn.lock",
];

const UNREAD: [&str; 28] = [
    "Directory.Packages.props",
    "Gemfile",
    "MODULE.bazel",
    "Package.swift",
    "Podfile",
    "Project.toml",
    "WORKSPACE",
    "WORKSPACE.bazel",
    "build.sbt",
    "build.zig.zon",
    "composer.json",
    "conanfile.py",
    "conanfile.txt",
    "cpanfile",
    "deno.json",
    "deno.jsonc",
    "deps.edn",
    "elm.json",
    "environment.yaml",
    "environment.yml",
    "flake.nix",
    "mix.exs",
    "packages.config",
    "project.clj",
    "pubspec.yaml",
    "rebar.config",
    "stack.yaml",
    "vcpkg.json",
];

const UNREAD_ENDS: [&str; 7] =
    [".cabal", ".csproj", ".fsproj", ".gemspec", ".opam", ".podspec", ".vbproj"];

/// What this path is, when it is about dependencies.
pub(super) fn manifest(path: &[u8]) -> Option<Manifest> {
    if is_lock(path) {
        return Some(Manifest::Lock);
    }
    let file = lossy(name(path));
    Some(match file.as_str() {
        "Cargo.toml" => Manifest::Cargo,
        "pyproject.toml" => Manifest::PyProject,
        "Pipfile" => Manifest::Pipfile,
        "setup.py" => Manifest::SetupPy,
        "setup.cfg" => Manifest::SetupCfg,
        "package.json" => Manifest::PackageJson,
        "go.mod" => Manifest::GoMod,
        "go.work" => Manifest::GoWork,
        "pom.xml" => Manifest::Pom,
        _ if file.ends_with(".gradle") || file.ends_with(".gradle.kts") => Manifest::Gradle,
        _ if file.ends_with(".versions.toml") => Manifest::GradleCatalog,
        _ if is_requirements(path, &file) => Manifest::Requirements,
        _ if UNREAD.contains(&file.as_str()) => Manifest::Unread,
        _ if UNREAD_ENDS.iter().any(|end| file.ends_with(end)) => Manifest::Unread,
        _ => return None,
    })
}

/// `requirements.txt`, `requirements-dev.txt`, `dev-requirements.in`, `requirements/dev.txt`, `constraints.txt`.
fn is_requirements(path: &[u8], file: &str) -> bool {
    let Some(stem) = file.strip_suffix(".txt").or_else(|| file.strip_suffix(".in")) else {
        return false;
    };
    let directory = lossy(path).to_lowercase();
    let directory = directory.rsplit('/').nth(1).unwrap_or_default().to_owned();
    stem.contains("requirements") || stem == "constraints" || directory == "requirements"
}

/// Whether a generated lock of dependencies is meant.
pub(in crate::scope_delta) fn is_lock(path: &[u8]) -> bool {
    let file = lossy(name(path));
    LOCKS.contains(&file.as_str())
        || file.ends_with(".lockfile")
        || (file.starts_with("pylock.") && file.ends_with(".toml"))
}

impl Manifest {
    /// All that the file declares.
    pub(super) fn read(self, bytes: &[u8]) -> Result<Vec<Declared>, Unreadable> {
        match self {
            Self::Cargo => rust::manifest(bytes),
            Self::PyProject => python::pyproject(bytes),
            Self::Pipfile => python::pipfile(bytes),
            Self::Requirements => Ok(python::requirements(bytes)),
            Self::SetupPy => Ok(python::setup_py(bytes)),
            Self::SetupCfg => Ok(python::setup_cfg(bytes)),
            Self::PackageJson => javascript::package(bytes),
            Self::GoMod | Self::GoWork => Ok(go::module(bytes)),
            Self::Pom => java::pom(bytes),
            Self::Gradle => Ok(java::gradle(bytes)),
            Self::GradleCatalog => java::catalog(bytes),
            Self::Unread | Self::Lock => Ok(Vec::new()),
        }
    }
}
