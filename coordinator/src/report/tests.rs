//! The forms of the report, held by golden files: a change must be seen.
//!
//! After a change that is meant: `CANTUS_GOLDEN=write cargo test -p cantus-coordinator report`, and look at the files.

use std::path::PathBuf;

use super::{html, json, markdown, samples, terminal};
use crate::cli::paint::{self, Paint};

#[track_caller]
fn golden(name: &str, found: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/report/golden").join(name);
    if std::env::var_os("CANTUS_GOLDEN").is_some_and(|value| value == "write") {
        std::fs::write(&path, found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    let differs = expected.lines().zip(found.lines()).find(|(expected, found)| expected != found);
    assert_eq!(differs, None, "{name} differs");
    assert_eq!(expected.len(), found.len(), "{name} has another length");
}

#[test]
fn the_forms_of_a_rich_run_are_as_they_were() {
    let sample = samples::ended();
    let (run, report) = (sample.run(), sample.report());
    golden("ended.md", &markdown::report(run, &report));
    golden("ended.html", &html::report(run, &report));
    golden("ended.txt", &terminal::report(run, &report, None, Paint::NEVER));
    golden("ended.json", &format!("{:#}\n", json::report(run, &report)));
    let sample = samples::running();
    golden("running.md", &markdown::report(sample.run(), &sample.report()));
}

#[test]
fn nothing_that_an_agent_writes_is_obeyed() {
    let sample = samples::ended();
    let (run, report) = (sample.run(), sample.report());
    let page = html::report(run, &report);
    for bad in ["<script", "<b>&", "\u{1b}", "\u{202e}", "href"] {
        assert!(!page.contains(bad), "{bad:?}");
    }
    assert!(page.contains("&lt;script&gt;alert(&#39;x&#39;)"));
    let markdown = markdown::report(run, &report);
    for bad in ["<script", "**no**", "[click](", "\u{1b}"] {
        assert!(!markdown.contains(bad), "{bad:?}");
    }
    assert!(!terminal::report(run, &report, None, Paint::NEVER).contains('\u{1b}'));
}

#[test]
fn a_page_needs_nothing_else() {
    let sample = samples::ended();
    let page = html::report(sample.run(), &sample.report());
    for outside in ["src=", "url(", "@import", "<link", "<iframe", "http-equiv=\"refresh"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn lines_fit_the_terminal() {
    let sample = samples::ended();
    let (run, report) = (sample.run(), sample.report());
    for width in [40, 80, 120] {
        for line in terminal::report(run, &report, Some(width), Paint::ALWAYS).lines() {
            assert!(paint::columns(line) <= width, "{line}");
        }
    }
}

#[test]
fn unknown_is_told_and_never_zero() {
    use super::words::{amount, number, total};
    use cantus_core::record::Resource::{Cost, Tokens};
    use cantus_core::report::{Amount, Total};
    assert_eq!(total(Tokens, Total::default()), "0");
    let unknown = Total { unknown: 2, ..Total::default() };
    assert_eq!(total(Cost, unknown), "unknown (2 attempts)");
    let mixed = Total { sum: 1_234_567, estimated: 1_000, unknown: 1 };
    assert_eq!(total(Tokens, mixed), "1,234,567 (1,000 of it estimated, 1 attempt unknown)");
    assert_eq!(amount(Cost, Amount::Unknown), "unknown");
    assert_eq!(amount(Cost, Amount::Estimated(60_000)), "about $0.06");
    assert_eq!([0, 999, 1_000, 100_000].map(number), ["0", "999", "1,000", "100,000"]);
}
