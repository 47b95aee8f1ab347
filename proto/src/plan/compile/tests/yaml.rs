//! What is wrong with the file itself: encoding, syntax, keys, nesting, aliases.

use super::*;
use crate::plan::bounds::{DEPTH_MAX, PLAN_BYTES_MAX};

#[test]
fn a_file_that_holds_nothing() {
    for text in ["", "\n", "# only a comment\n", "---\n", "~\n", "null", "\u{feff}"] {
        assert_found(text, &[(1, 1, "Y001")]);
    }
}

#[test]
fn bytes_that_are_not_utf8() {
    let of = |bytes: &[u8]| {
        let compiled = compile_bytes("plan.yaml", bytes);
        assert!(compiled.plan.is_none());
        (found(&compiled), compiled.diagnostics[0].message.clone())
    };
    assert_eq!(of(b"goal: g\n# \xc3\xa9\xff").0, [(2, 4, "Y002")]);
    assert!(of(b"\xff\xfeg\0").1.contains("UTF-16"));
    assert_eq!(compile_bytes("c.yaml", EXAMPLE.as_bytes()), compile("c.yaml", EXAMPLE));
}

#[test]
fn a_byte_order_mark_and_carriage_returns_change_nothing() {
    assert_compiles(&format!("\u{feff}{EXAMPLE}"));
    assert_compiles(&EXAMPLE.replace('\n', "\r\n"));
    let json = r#"{"version": 1, "items": []}"#;
    assert_compiles(json);
}

#[test]
fn a_file_that_is_too_large() {
    let compiled = compile("plan.yaml", &" ".repeat(PLAN_BYTES_MAX + 1));
    assert_eq!(found(&compiled), [(1, 1, "Y003")]);
}

#[test]
fn text_that_is_not_yaml() {
    assert_found("goal: [a\n", &[(2, 1, "Y004")]);
    assert_found("version: 1\nitems: *none\n", &[(2, 8, "Y004")]);
    assert_found("goal: a: b\n", &[(1, 8, "Y004")]);
    let tabs = assert_found("version: 1\nitems:\n\t- id: a\n", &[(3, 2, "Y004")]);
    assert!(tabs.diagnostics[0].hint.contains("spaces"), "{}", tabs.diagnostics[0]);
}

#[test]
fn a_second_document() {
    assert_found("version: 1\nitems: []\n---\nversion: 1\n", &[(3, 1, "Y005")]);
    assert_compiles("---\nversion: 1\nitems: []\n...\n");
}

#[test]
fn a_key_that_stands_twice() {
    assert_found("version: 1\nitems: []\nversion: 1\n", &[(3, 1, "Y006")]);
    assert_found("version: 1\nitems: []\nitems: [7]\n", &[(3, 1, "Y006")]);
    assert_found(&plan_of(&["id: a, id: b"]), &[(4, 11, "Y006")]);
}

#[test]
fn nesting_that_is_too_deep() {
    let deep = usize::from(DEPTH_MAX) + 1;
    for text in ["[".repeat(1000), "- ".repeat(100_000), "{a: ".repeat(100)] {
        let compiled = compile("plan.yaml", &text);
        assert_eq!(compiled.diagnostics.len(), 1);
        assert_eq!(compiled.diagnostics[0].code, "Y007");
    }
    assert_found(&"- ".repeat(deep), &[(1, 2 * u32::from(DEPTH_MAX) + 1, "Y007")]);
    let mut chain = "a0: &a0 [x]\n".to_owned();
    for n in 1..200 {
        chain.push_str(&format!("a{n}: &a{n} [*a{}]\n", n - 1));
    }
    assert_eq!(compile("plan.yaml", &chain).diagnostics[0].code, "Y007");
}

#[test]
fn aliases_are_followed_and_never_expanded() {
    let shared = "version: 1\nitems:\n- &a {id: a, contract: &c {goal: g, deliverables: &l [r], acceptance_criteria: \
        [{id: A, statement: s, checker: test -f a}], allowed_scope: {paths: [src/]}, non_goals: *l, \
        budgets: {wall_clock_minutes: 1, token_budget: 1}}}\n- {id: b, needs: [a], contract: *c}\n";
    let plan = assert_compiles(shared);
    assert_eq!(plan.items[0].contract, plan.items[1].contract);
    assert_found(&format!("{shared}- *a\n"), &[(3, 11, "P010")]);
    assert_found("version: 1\nitems: [&a [*a]]\n", &[(2, 13, "Y008")]);
    assert_found("version: &i 1\nitems: &x [*x]\n", &[(2, 12, "Y008")]);

    let mut bomb = "version: 1\nx0: &x0 [l, l, l, l, l, l, l, l, l]\n".to_owned();
    for n in 1..10 {
        bomb.push_str(&format!("x{n}: &x{n} [{}]\n", format!("*x{}, ", n - 1).repeat(9)));
    }
    bomb.push_str("items: [{id: a, needs: *x9}]\n");
    assert!(compile("plan.yaml", &bomb).plan.is_none());
}

#[test]
fn tags_are_refused() {
    assert_found("version: !!int 1\nitems: []\n", &[(1, 10, "Y009")]);
    assert_found("version: 1\nitems: !x []\n", &[(2, 8, "Y009")]);
}

#[test]
fn keys_are_words() {
    assert_found("version: 1\n? [a]\n: b\n", &[(2, 3, "Y010")]);
    assert_found("version: &v 1\n*v : b\n", &[(2, 1, "Y010")]);
    assert_found("version: 1\nitems: []\n<<: 1\n", &[(3, 1, "P002")]);
}

#[test]
fn damaged_text_never_breaks_the_compiler() {
    // A small generator of its own, so that a failure can be repeated.
    let mut state = 7_u64;
    let mut draw = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let pieces = [
        "[", "]", "{", "}", ":", ": ", "- ", "\n", "\t", "&a ", "*a", "\"", "'", "|", ">", "#",
        "é", "!", "%", "? ", "\0",
    ];
    let plan = plan_of(&["id: a", "id: b, needs: [a]"]);
    for source in [EXAMPLE, plan.as_str()] {
        let chars: Vec<char> = source.chars().collect();
        for _ in 0..300 {
            let mut text = chars.clone();
            for _ in 0..=draw(3) {
                let at = draw(text.len());
                let end = (at + draw(4)).min(text.len());
                text.splice(at..end, pieces[draw(pieces.len())].chars());
            }
            let text: String = text.into_iter().collect();
            let compiled = compile("plan.yaml", &text);
            assert!(compiled.plan.is_some() || !compiled.diagnostics.is_empty(), "{text}");
            assert!(compiled.diagnostics.is_sorted(), "{text}");
        }
    }
}
