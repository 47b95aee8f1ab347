//! Diagnostics of a plan: the same lines from `lint` and from a refused `submit`.

use cantus_proto::wire::v1::Diagnostic;

use crate::cli::paint::{Ink, Paint};
use crate::cli::text;

/// One line each, as compilers print them, so that editors find the place; then one that counts them.
pub(in crate::cli) fn list(file: &str, diagnostics: &[Diagnostic], paint: Paint) -> String {
    let lines: String = diagnostics.iter().map(|diagnostic| line(diagnostic, paint)).collect();
    lines + &verdict(file, diagnostics, paint)
}

/// `plan.yaml:3:7: error[P003]: …what (hint)`.
pub(in crate::cli) fn line(diagnostic: &Diagnostic, paint: Paint) -> String {
    let Diagnostic { file, line, column, code, error, message, hint } = diagnostic;
    let place = match (line, column) {
        (0, _) => text::safe(file),
        (line, column) => format!("{}:{line}:{column}", text::safe(file)),
    };
    let (word, ink) = if *error { ("error", Ink::Bad) } else { ("warning", Ink::Warning) };
    let kind = paint.ink(ink, &format!("{word}[{}]", text::safe(code)));
    let hint = if hint.is_empty() { String::new() } else { format!(" ({})", text::safe(hint)) };
    format!("{}: {kind}: {}{hint}\n", paint.ink(Ink::Strong, &place), text::safe(message))
}

fn verdict(file: &str, diagnostics: &[Diagnostic], paint: Paint) -> String {
    let errors = diagnostics.iter().filter(|diagnostic| diagnostic.error).count();
    let warnings = diagnostics.len() - errors;
    let told = match (errors, warnings) {
        (0, 0) => paint.ink(Ink::Good, "no errors, no warnings"),
        (0, warnings) => format!("no errors, {}", text::count(warnings, "warning")),
        (errors, 0) => paint.ink(Ink::Bad, &format!("refused: {}", text::count(errors, "error"))),
        (errors, warnings) => {
            let errors = text::count(errors, "error");
            paint.ink(Ink::Bad, &format!("refused: {errors}, {}", text::count(warnings, "warning")))
        }
    };
    format!("{}: {told}\n", text::safe(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_that_editors_know() {
        let mut diagnostic = Diagnostic {
            file: "plan.yaml".to_owned(),
            line: 3,
            column: 7,
            code: "P003".to_owned(),
            error: true,
            message: "`version` is missing".to_owned(),
            hint: "write `version: 1`".to_owned(),
        };
        let mut warning = Diagnostic { error: false, line: 0, ..diagnostic.clone() };
        warning.hint.clear();
        assert_eq!(
            list("plan.yaml", &[diagnostic.clone(), warning], Paint::NEVER),
            "plan.yaml:3:7: error[P003]: `version` is missing (write `version: 1`)\n\
             plan.yaml: warning[P003]: `version` is missing\n\
             plan.yaml: refused: 1 error, 1 warning\n"
        );
        diagnostic.file = "a\u{1b}b\nc".to_owned();
        assert!(line(&diagnostic, Paint::NEVER).starts_with("a\\u{1b}b\\nc:3:7: error"));
        assert_eq!(list("p", &[], Paint::NEVER), "p: no errors, no warnings\n");
    }

    #[test]
    fn the_compiler_prints_the_same_line() {
        let compiled = cantus_proto::plan::compile::compile("plan.yaml", "versoin: 1\nitems: []\n");
        let found = &compiled.diagnostics[0];
        let shown = line(&crate::view::diagnostic(found), Paint::NEVER);
        assert_eq!(shown, format!("{found}\n"));
    }
}
