//! Judges the paths of a scope, and whether deliverables are inside of it.

use super::super::codes;
use super::super::scope::pattern_covers;
use super::super::sink::{At, Sink, shown};
use crate::contract::AllowedScope;

/// What decides how work is checked: a change here can switch the checks off.
const CONTROLS: &[&str] = &[
    ".buildkite/pipeline.yml",
    ".ci/run",
    ".circleci/config.yml",
    ".drone.yml",
    ".forgejo/workflows/x.yml",
    ".gitattributes",
    ".gitea/workflows/x.yml",
    ".githooks/pre-commit",
    ".github/workflows/x.yml",
    ".gitlab-ci.yml",
    ".gitmodules",
    ".husky/pre-commit",
    ".pre-commit-config.yaml",
    ".travis.yml",
    ".woodpecker.yml",
    "Jenkinsfile",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
];

/// What pins dependencies: a change here brings in code that nobody reads.
const LOCKFILES: &[&str] = &[
    "Cargo.lock",
    "Gemfile.lock",
    "Pipfile.lock",
    "bun.lock",
    "composer.lock",
    "flake.lock",
    "go.sum",
    "mix.lock",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "pdm.lock",
    "pnpm-lock.yaml",
    "poetry.lock",
    "uv.lock",
    "yarn.lock",
];

/// Judges one path of the scope. Refused ones are told and give `false`.
pub(in super::super) fn judge(path: &str, at: At, plan: Option<&str>, sink: &mut Sink<'_>) -> bool {
    let shown = shown(path);
    let mut refuse = |code, reason: &str, hint: &str| {
        sink.add(code, at, format!("the scope path {shown} {reason}"), hint);
    };
    let body = path.strip_suffix('/').unwrap_or(path);
    if path.starts_with('/') || has_drive(path) {
        refuse(
            codes::PATH_ABSOLUTE,
            "is absolute",
            "write it relative to the root of the repository, as `src/`",
        );
    } else if body.split('/').any(|component| component == "..") {
        refuse(
            codes::PATH_PARENT,
            "leaves its directory by `..`",
            "write the path itself, as `src/`",
        );
    } else if body == "." {
        refuse(
            codes::PATH_MALFORMED,
            "names no path",
            "list what may be touched; `**` is the whole repository",
        );
    } else if body.split('/').any(|component| matches!(component, "" | ".")) {
        refuse(codes::PATH_MALFORMED, "has an empty or `.` component", "leave it out, as `src/a`");
    } else if path.contains('\\') || path.starts_with('!') || path.trim() != path {
        let hint = "separate by `/`, without spaces around it; what may not be touched is left out";
        refuse(codes::PATH_MALFORMED, "has a backslash, a leading `!` or a space at its end", hint);
    } else if body.split('/').any(|component| component.eq_ignore_ascii_case(".git")) {
        refuse(
            codes::PATH_GIT,
            "is inside git's own directory",
            "remove it: no result can hold it",
        );
    } else {
        return judge_risk(path, at, plan, sink);
    }
    false
}

fn judge_risk(path: &str, at: At, plan: Option<&str>, sink: &mut Sink<'_>) -> bool {
    if let Some(plan) = plan.filter(|plan| pattern_covers(path, plan.as_bytes())) {
        let message =
            format!("the scope path {} holds the plan {} itself", shown(path), shown(plan));
        let hint =
            "narrow the scope, or keep the plan outside of the repository: items may not edit it";
        sink.add(codes::SCOPE_PLAN, at, message, hint);
        return false;
    }
    let mut warn = |code, holds: &str, hint: &str| {
        sink.add(code, at, format!("the scope path {} holds {holds}", shown(path)), hint);
    };
    if path.split('/').all(|component| matches!(component, "" | "*" | "**")) {
        warn(
            codes::SCOPE_WHOLE,
            "the whole repository",
            "name the files and directories that the work needs",
        );
        return true;
    }
    if let Some(control) = CONTROLS.iter().find(|file| holds(path, file)) {
        let top =
            control.split_once('/').map_or((*control).to_owned(), |(top, _)| format!("{top}/"));
        let hint = "leave it out unless the item is about it: it decides how work is checked";
        warn(codes::SCOPE_CONTROLS, &format!("`{top}`"), hint);
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    if let Some(lock) =
        LOCKFILES.iter().find(|file| **file == name || pattern_covers(path, file.as_bytes()))
    {
        let hint = "leave it out unless the item is about dependencies";
        warn(codes::SCOPE_LOCKFILE, &format!("the lockfile `{lock}`"), hint);
    }
    true
}

/// Whether the path covers this file, or is inside the directory that stands for it.
fn holds(path: &str, file: &str) -> bool {
    let inside = file.split_once('/').is_some_and(|(top, _)| {
        path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    inside || pattern_covers(path, file.as_bytes())
}

fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// Tells of a deliverable that begins with a path outside the scope.
pub(in super::super) fn deliverable(text: &str, at: At, scope: &AllowedScope, sink: &mut Sink<'_>) {
    let Some(path) = leading_path(text, scope) else { return };
    let bare = path.strip_prefix("./").unwrap_or(path);
    let bare = bare.strip_suffix('/').unwrap_or(bare);
    if scope.covers(bare.as_bytes()) || scope.covers(format!("{bare}/x").as_bytes()) {
        return;
    }
    let message =
        format!("the deliverable begins with {}, which is outside the allowed scope", shown(path));
    let hint = "add the path to `allowed_scope.paths`; if it is no path, begin with another word";
    sink.add(codes::DELIVERABLE_OUTSIDE, at, message, hint);
}

/// The first word, if it looks like a path: it has a `/`, a file extension, or is a path of the scope.
fn leading_path<'t>(text: &'t str, scope: &AllowedScope) -> Option<&'t str> {
    let word = text.split_whitespace().next()?;
    let word = word.trim_start_matches(['`', '"', '\'', '(']);
    let word = word.trim_end_matches(['`', '"', '\'', ')', ',', ';', ':', '.', '!']);
    let is_path = word.contains('/') && !word.contains("://") && word != "and/or";
    (is_path || has_extension(word) || scope.paths.iter().any(|path| path == word)).then_some(word)
}

/// `.name`, or `name.ext` of letters and digits; not a version number or an abbreviation such as `e.g`.
fn has_extension(word: &str) -> bool {
    let Some((stem, extension)) = word.rsplit_once('.') else { return false };
    if stem.is_empty() {
        return !extension.is_empty();
    }
    let plausible = (1..=8).contains(&extension.len())
        && extension.starts_with(|c: char| c.is_ascii_alphabetic())
        && extension.bytes().all(|b| b.is_ascii_alphanumeric());
    let abbreviation =
        stem.len() == 1 && extension.len() == 1 && !matches!(extension, "c" | "h" | "r");
    plausible
        && !abbreviation
        && (stem.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '*')))
}

/// The plan's path inside the repository, where it can be told from the names given.
///
/// A relative `file` without a `repository` (or with `.`) is taken as relative to the repository's root.
pub(in super::super) fn plan_in_repository(file: &str, repository: Option<&str>) -> Option<String> {
    if file.starts_with(['<', '-']) {
        return None;
    }
    let file = file.strip_prefix("./").unwrap_or(file);
    let root = repository.map(|root| root.strip_prefix("./").unwrap_or(root).trim_end_matches('/'));
    let inside = match root {
        None | Some("." | "") => file,
        Some(root) => file.strip_prefix(root)?.strip_prefix('/')?,
    };
    let outside = inside.starts_with('/') || inside.split('/').any(|component| component == "..");
    (!outside).then(|| inside.to_owned())
}

#[cfg(test)]
mod tests;
