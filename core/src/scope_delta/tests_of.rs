//! Which files are tests, and in which language: the common conventions, by path alone.
//!
//! Tests inside the source files of Rust are found by their attributes, in [`super::weakening`].

/// A language whose tests can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Language {
    Rust,
    Python,
    /// And TypeScript.
    JavaScript,
    Go,
    /// And Kotlin, Groovy and Scala as far as they look like it.
    Java,
}

/// Ends of names of files that hold no text worth reading.
const BINARY_ENDS: [&str; 48] = [
    "7z", "a", "avi", "bin", "bmp", "bz2", "class", "db", "dll", "doc", "docx", "dylib", "ear",
    "eot", "exe", "gif", "gz", "ico", "jar", "jpeg", "jpg", "lockb", "mov", "mp3", "mp4", "o",
    "ogg", "otf", "pdf", "png", "pptx", "pyc", "so", "sqlite", "tar", "tgz", "tiff", "ttf", "war",
    "wasm", "wav", "webm", "webp", "woff", "woff2", "xlsx", "xz", "zip",
];

/// Directories that hold tests, and what they rest on, in any language.
const TEST_DIRECTORIES: [&str; 14] = [
    "__tests__",
    "androidtest",
    "cypress",
    "e2e",
    "functionaltest",
    "integration-tests",
    "integration_tests",
    "integrationtest",
    "spec",
    "specs",
    "test",
    "testfixtures",
    "tests",
    "unit-tests",
];

/// The last component of a path.
pub(super) fn name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

/// What follows the last dot of a name, in lower case.
fn end(path: &[u8]) -> String {
    let name = name(path);
    let dot = name.iter().rposition(|byte| *byte == b'.').map_or(name.len(), |at| at + 1);
    String::from_utf8_lossy(&name[dot..]).to_lowercase()
}

/// Whether its name says that it is no text.
pub(super) fn is_binary(path: &[u8]) -> bool {
    BINARY_ENDS.binary_search(&end(path).as_str()).is_ok()
}

/// The language of a file, where its tests can be read.
pub(super) fn language(path: &[u8]) -> Option<Language> {
    Some(match end(path).as_str() {
        "rs" => Language::Rust,
        "py" | "pyi" => Language::Python,
        "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" | "vue" | "svelte" => {
            Language::JavaScript
        }
        "go" => Language::Go,
        "java" | "kt" | "kts" | "groovy" | "scala" => Language::Java,
        _ => return None,
    })
}

/// Whether a file is a test, or what only tests use, by where it is and what it is called.
pub(super) fn is_test(path: &[u8]) -> bool {
    match language(path) {
        // The go tool runs these and no others.
        Some(Language::Go) => name(path).ends_with(b"_test.go"),
        Some(_) => is_runner_name(path) || is_in_test_directory(path),
        None => is_runner_name(path),
    }
}

fn is_in_test_directory(path: &[u8]) -> bool {
    let mut components: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    components.pop();
    let component = |component: &&[u8]| String::from_utf8_lossy(component).to_lowercase();
    components.iter().map(component).any(|name| TEST_DIRECTORIES.contains(&name.as_str()))
}

/// Names by which runners find tests: `test_x`, `x_test`, `x.test`, `x.spec`, `XTest`, `XIT` and the like.
pub(super) fn is_runner_name(path: &[u8]) -> bool {
    let name = String::from_utf8_lossy(name(path)).into_owned();
    let Some((stem, end)) = name.rsplit_once('.') else { return false };
    match end {
        "py" if matches!(stem, "conftest" | "test" | "tests") => return true,
        "rs" if matches!(stem, "test" | "tests") => return true,
        "md" | "txt" | "rst" | "json" | "yaml" | "yml" | "toml" | "xml" | "html" | "css"
        | "lock" => {
            return false;
        }
        _ => {}
    }
    let dotted = |word: &&str| matches!(*word, "test" | "tests" | "spec" | "cy" | "e2e");
    stem.split('.').skip(1).any(|word| dotted(&word))
        || stem.starts_with("test_")
        || ["_test", "_tests", "_spec", "Test", "Tests", "TestCase", "Spec"]
            .iter()
            .any(|word| stem.ends_with(word) && stem.len() > word.len())
        || (matches!(end, "java" | "kt") && (stem.starts_with("Test") || stem.ends_with("IT")))
}
