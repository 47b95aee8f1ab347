//! What is wrong with a plan: keys, types, ids, needs, sizes.

use std::fmt::Write as _;

use super::*;
use crate::plan::bounds::{CONTRACTS_BYTES_MAX, DIAGNOSTICS_MAX, TEXT_BYTES_MAX};
use crate::plan::{Effort, RunBudgets};
use crate::units::MicroUsd;

fn ids(plan: &Plan) -> Vec<&str> {
    plan.items.iter().map(|item| item.id.as_str()).collect()
}

#[test]
fn a_whole_plan_compiles_with_its_defaults() {
    let text = format!(
        "version: 1\nrepository: ../shop\ntarget: main\nlanding: fast-forward\n\
         defaults:\n  role: rust\n  complexity: S\n  priority: -2\n  attempts_max: 5\n  non_goals: [n]\n  \
         forbidden_actions: [network_egress]\n  allowed_scope: {{tools: [read]}}\n  \
         budgets: {{wall_clock_minutes: 5, token_budget: 9, cost_usd: 0.5, max_agents: 2, verification_ratio: 0.3, \
         first_artifact_ratio: 0.25}}\n  effort: low\n\
         budgets: {{wall_clock_minutes: 600, token_budget: 900, cost_usd: 2.50, max_agents: 3}}\n\
         items:\n- {{id: a, {CONTRACT}}}\n- {{id: b, needs: [a], role: go, verifier: v, complexity: XL, \
         effort: high, priority: 7, attempts_max: 1, {CONTRACT}}}\n"
    );
    let plan = assert_compiles(&text);
    assert_eq!(
        (plan.repository.as_deref(), plan.target.as_deref()),
        (Some("../shop"), Some("main"))
    );
    assert_eq!(plan.landing, LandingStyle::FastForward);
    let [a, b] = plan.items.as_slice() else { panic!("two items") };
    assert_eq!(
        (a.role.as_str(), a.verifier.as_str(), a.complexity.as_str()),
        ("rust", "verifier", "S")
    );
    assert_eq!((a.priority, a.attempts_max, a.needs.len()), (-2, 5, 0));
    assert_eq!((b.role.as_str(), b.verifier.as_str(), b.complexity.as_str()), ("go", "v", "XL"));
    assert_eq!((b.priority, b.attempts_max, b.needs.as_slice()), (7, 1, &[a.id.clone()][..]));
    assert_eq!(a.contract.budgets.token_budget, Some(9));
    assert_eq!(a.contract.budgets.cost_budget, Some(MicroUsd(500_000)));
    assert_eq!((a.contract.budgets.max_agents, a.contract.budgets.first_artifact_ratio), (2, 0.25));
    assert_eq!((a.effort, b.effort), (Some(Effort::Low), Some(Effort::High)));
    assert_eq!(
        plan.budgets,
        RunBudgets {
            wall_clock_minutes: Some(600),
            token_budget: Some(900),
            cost_budget: Some(MicroUsd(2_500_000)),
            max_agents: Some(3)
        }
    );
    assert_eq!(a.contract.allowed_scope.tools, ["read"]);
    assert_eq!(
        (&*a.contract.non_goals[0], &*a.contract.forbidden_actions[0]),
        ("n", "network_egress")
    );

    // What items depend on may also come after them.
    let (head, items) = text.split_once("items:").unwrap();
    let swapped = format!("version: 1\nitems:{items}{}", head.replace("version: 1\n", ""));
    assert_eq!(assert_compiles(&swapped), plan);
}

#[test]
fn what_is_not_said_is_built_in() {
    let plan = assert_compiles(&plan_of(&["id: a"]));
    let item = &plan.items[0];
    assert_eq!(
        (item.role.as_str(), item.verifier.as_str(), item.complexity.as_str()),
        ("worker", "verifier", "M")
    );
    assert_eq!((item.priority, item.attempts_max, plan.landing), (0, 3, LandingStyle::Merge));
    assert_eq!((item.effort, plan.budgets), (None, RunBudgets::default()));
    assert_eq!(
        (item.contract.budgets.max_agents, item.contract.budgets.verification_ratio),
        (1, 0.25)
    );
}

#[test]
fn an_empty_plan_is_valid() {
    assert_eq!(assert_compiles("version: 1\nitems: []\n").items, []);
}

#[test]
fn neither_a_plan_nor_a_contract() {
    assert_found("just text\n", &[(1, 1, "P001")]);
    assert_found("- id: a\n", &[(1, 1, "P001")]);
    assert_found("services: {}\n", &[(1, 1, "P001")]);
}

#[test]
fn unknown_keys_come_with_what_was_meant() {
    let compiled = assert_found("version: 1\nitem: []\n", &[(1, 1, "P003"), (2, 1, "P002")]);
    assert_eq!(compiled.diagnostics[1].hint, "did you mean `items`?");
    let compiled = assert_found(
        &plan_of(&["id: a, attempt_max: 3, colour: red"]),
        &[(4, 11, "P002"), (4, 27, "P002")],
    );
    assert_eq!(compiled.diagnostics[0].hint, "did you mean `attempts_max`?");
    assert_eq!(compiled.diagnostics[0].message, "item \"a\": the item has no key \"attempt_max\"");
    assert_found("version: 1\ndefaults: {goal: x}\nitems: []\n", &[(2, 12, "P002")]);
    assert_found(
        "version: 1\ndefaults: {allowed_scope: {paths: [a]}}\nitems: []\n",
        &[(2, 28, "P002")],
    );
    assert_found("version: 1\nitems: []\ngoal: g\n", &[(3, 1, "P002")]);
}

#[test]
fn required_keys() {
    assert_found("items: []\n", &[(1, 1, "P003")]);
    assert_found("version: 1\n", &[(1, 1, "P003")]);
    assert_found("version: 1\nitems:\n- {}\n", &[(3, 3, "P003"), (3, 3, "P003")]);
    assert_found("version: 1\nitems:\n- {id: a}\n", &[(3, 3, "P003")]);
}

#[test]
fn types_are_said() {
    let cases: &[(&str, &str)] = &[
        ("version: one\nitems: []\n", "`version` is text, expected a whole number such as 45"),
        ("version: '1'\nitems: []\n", "`version` is text, expected a whole number such as 45"),
        ("version: 1.0\nitems: []\n", "`version` is a number, expected a whole number such as 45"),
        ("version: 1\nitems: {}\n", "`items` is a mapping, expected a list such as `[a, b]`"),
        ("version: 1\nitems:\n", "`items` is nothing, expected a list such as `[a, b]`"),
        (
            "version: 1\nitems: [a]\n",
            "item number 1: the item is text, expected a mapping of keys and values",
        ),
        (
            "version: 1\ndefaults: []\nitems: []\n",
            "`defaults`: the mapping is a list, expected a mapping of keys and values",
        ),
        ("version: 1\ntarget: 1.10\nitems: []\n", "`target` is a number, expected text"),
        ("version: 1\ntarget: true\nitems: []\n", "`target` is a truth value, expected text"),
        ("version: 1\ntarget: [main]\nitems: []\n", "`target` is a list, expected text"),
    ];
    for (text, message) in cases {
        let compiled = compile("plan.yaml", text);
        let [diagnostic] = compiled.diagnostics.as_slice() else { panic!("{text}: {compiled:#?}") };
        assert_eq!((diagnostic.code, diagnostic.message.as_str()), ("P004", *message), "{text}");
    }
    assert_found("version: 1\nitems:\n", &[(2, 1, "P004")]);
    assert_found(
        &plan_of(&["id: a, needs: b, attempts_max: 2.5"]),
        &[(4, 18, "P004"), (4, 35, "P004")],
    );
    assert_found(&plan_of(&["id: [a]"]), &[(4, 8, "P004")]);
}

#[test]
fn what_is_refused_once_is_not_also_missing() {
    for defaults in ["7", "{budgets: 7}"] {
        let text = format!("version: 1\ndefaults: {defaults}\nitems:\n- {{id: a, {CONTRACT}}}\n");
        let column = if defaults == "7" { 11 } else { 21 };
        assert_found(&text, &[(2, column, "P004")]);
    }
    let text = format!(
        "version: 1\ndefaults: {{budgets: {{wall_clock_minutes: 0}}}}\nitems:\n- {{id: a, {CONTRACT}}}\n"
    );
    assert_found(&text, &[(2, 42, "C006")]);
}

#[test]
fn the_run_has_budgets_of_its_own() {
    let of = |budgets: &str, expected: &[(u32, &'static str)]| {
        let expected: Vec<Found> =
            expected.iter().map(|(column, code)| (2, *column, *code)).collect();
        assert_found(&format!("version: 1\nbudgets: {budgets}\nitems: []\n"), &expected)
    };
    let partial = of("{cost_usd: 3}", &[]).plan.unwrap().budgets;
    assert_eq!(
        partial,
        RunBudgets { cost_budget: Some(MicroUsd(3_000_000)), ..RunBudgets::default() }
    );
    assert_eq!(of("{}", &[]).plan.unwrap().budgets, RunBudgets::default());
    of(
        "{wall_clock_minutes: 0, token_budget: 0, cost_usd: 0, max_agents: 0}",
        &[(31, "C006"), (48, "C006"), (61, "C006"), (76, "C006")],
    );
    of(
        "{wall_clock_minutes: 43200, token_budget: 1000000000000, cost_usd: 1000000, max_agents: 1024}",
        &[],
    );
    of(
        "{wall_clock_minutes: 43201, token_budget: 1000000000001, cost_usd: 1000001, max_agents: 1025}",
        &[(31, "C007"), (52, "C007"), (77, "C007"), (98, "C007")],
    );
    of("5", &[(10, "P004")]);
    let compiled = of("{verification_ratio: 0.25, max_agent: 1}", &[(11, "P002"), (37, "P002")]);
    assert_eq!(
        compiled.diagnostics[0].hint,
        "remove it; the keys are wall_clock_minutes, token_budget, cost_usd, max_agents"
    );
    assert_eq!(compiled.diagnostics[1].hint, "did you mean `max_agents`?");
    let compiled = assert_found("version: 1\nbudget: {}\nitems: []\n", &[(2, 1, "P002")]);
    assert_eq!(compiled.diagnostics[0].hint, "did you mean `budgets`?");
}

#[test]
fn an_item_with_more_than_its_run_is_marked() {
    let contract =
        |budgets: &str| CONTRACT.replace("{goal", &format!("{{budgets: {budgets}, goal"));
    let head = "defaults: {budgets: {wall_clock_minutes: 5, cost_usd: 0.5}}\n";
    let run = "budgets: {wall_clock_minutes: 4, token_budget: 9, cost_usd: 0.25, max_agents: 1}\n";
    let items = format!(
        "items:\n- {{id: a, {CONTRACT}}}\n- {{id: b, {}}}\n- {{id: c, {}}}\n",
        contract("{token_budget: 10, max_agents: 2}"),
        contract("{wall_clock_minutes: 4, token_budget: 9, cost_usd: 0.25, max_agents: 1}"),
    );
    // Wherever the run's budgets stand: defaults are told of once, not with each item that has them.
    let orders = [
        (format!("version: 1\n{head}{run}{items}"), 2, 6),
        (format!("version: 1\n{items}{run}{head}"), 7, 4),
    ];
    for (text, defaults, item) in orders {
        let compiled = assert_found(&text, &{
            let mut expected = [
                (defaults, 42, "P024"),
                (defaults, 55, "P024"),
                (item, 46, "P024"),
                (item, 62, "P024"),
            ];
            expected.sort();
            expected
        });
        let mut said: Vec<String> =
            compiled.diagnostics.iter().map(|d| d.message.clone()).collect();
        said.sort();
        assert_eq!(
            said,
            [
                "`defaults`: `cost_usd` is 0.5, more than the 0.25 of the whole run",
                "`defaults`: `wall_clock_minutes` is 5, more than the 4 of the whole run",
                "item \"b\": `max_agents` is 2, more than the 1 of the whole run",
                "item \"b\": `token_budget` is 10, more than the 9 of the whole run",
            ]
        );
        assert!(compiled.plan.is_some(), "a warning refuses nothing");
    }
}

#[test]
fn values_out_of_their_range() {
    assert_found("version: 2\nitems: []\n", &[(1, 10, "P005")]);
    assert_found("version: 1\nlanding: squash\nitems: []\n", &[(2, 10, "P006")]);
    assert_found(&plan_of(&["id: a, complexity: m"]), &[(4, 23, "P006")]);
    let compiled = assert_found(&plan_of(&["id: a, effort: max"]), &[(4, 19, "P006")]);
    assert_eq!(compiled.diagnostics[0].hint, "write one of low, medium, high");
    assert_found("version: 1\ndefaults: {effort: 3}\nitems: []\n", &[(2, 20, "P004")]);
    for attempts in ["0", "-1", "21", "99999999999999999999999999999999999999999999"] {
        assert_found(&plan_of(&[&format!("id: a, attempts_max: {attempts}")]), &[(4, 25, "P007")]);
    }
    assert_found(&plan_of(&["id: a, priority: 1000001"]), &[(4, 21, "P007")]);
    assert_found("version: 1\ndefaults: {attempts_max: 0}\nitems: []\n", &[(2, 26, "P007")]);
}

#[test]
fn locations_and_targets() {
    for repository in ["-x", "--upload-pack=x", "ext::sh -c x", "fd::7", "'a\tb'"] {
        assert_found(
            &format!("version: 1\nrepository: {repository}\nitems: []\n"),
            &[(2, 13, "P020")],
        );
    }
    for repository in [
        ".",
        "/srv/r.git",
        "https://example.org/r",
        "git@example.org:r",
        "ssh://[::1]/r",
        "'C::x/y z'",
    ] {
        let refused = repository.contains("C::");
        let expected: &[Found] = if refused { &[(2, 13, "P020")] } else { &[] };
        assert_found(&format!("version: 1\nrepository: {repository}\nitems: []\n"), expected);
    }
    for target in [
        "a..b",
        "a b",
        "'-x'",
        "a/",
        "refs/tags/v",
        "x.lock",
        "a^",
        "HEAD",
        ".a",
        "'@'",
        "a//b",
        "'a@{1}'",
    ] {
        assert_found(&format!("version: 1\ntarget: {target}\nitems: []\n"), &[(2, 9, "P021")]);
    }
    for target in ["main", "refs/heads/main", "feature/é-1", "v1.x"] {
        assert_compiles(&format!("version: 1\ntarget: {target}\nitems: []\n"));
    }
}

#[test]
fn ids_are_kept_byte_for_byte() {
    let kept = [
        "a.b",
        "a*b",
        "a>b",
        "a:b",
        "a/b",
        "a%2Fb",
        "a b",
        "'",
        "\u{1f3bc}",
        "é",
        "e\u{301}",
        "..",
        "~",
        "1.10",
        "1.1",
        "A",
        "a",
    ];
    let items: Vec<String> =
        kept.iter().map(|id| format!("id: {id:?}").replace("\\u{301}", "\u{301}")).collect();
    let items: Vec<&str> = items.iter().map(String::as_str).collect();
    assert_eq!(ids(&assert_compiles(&plan_of(&items))), kept);
    assert_eq!(
        ids(&assert_compiles(&plan_of(&["id: 1.10", "id: 1.1, needs: [1.10]", "id: true"]))),
        ["1.10", "1.1", "true"]
    );
}

#[test]
fn ids_that_cannot_be() {
    assert_found(&plan_of(&["id: ''", "id: ''"]), &[(4, 8, "P008"), (5, 8, "P008")]);
    assert_found(&plan_of(&["id: , needs: []"]), &[(4, 4, "P008")]);
    assert_found(&plan_of(&["id: ~"]), &[(4, 8, "P004")]);
    let long = assert_found(&plan_of(&[&format!("id: {}", "x".repeat(1000))]), &[(4, 8, "P009")]);
    assert_eq!(
        long.diagnostics[0].message,
        "item number 1: item id has 1000 bytes, the limit is 80"
    );
    assert_eq!(long.diagnostics[0].hint, "shorten it");
    assert_found(
        &plan_of(&["id: \"a\\nb\"", "id: c, role: '', needs: ['']"]),
        &[(4, 8, "P009"), (5, 17, "P008"), (5, 29, "P008")],
    );
}

#[test]
fn ids_are_unique() {
    let compiled = assert_found(
        &plan_of(&["id: a", "id: b", "id: a", "id: \"a\""]),
        &[(6, 8, "P010"), (7, 8, "P010")],
    );
    assert_eq!(compiled.diagnostics[0].message, "the item id \"a\" stands on line 4 already");
}

#[test]
fn needs_are_items() {
    let compiled = assert_found(
        &plan_of(&["id: parser", "id: b, needs: [parsr, zzz, parser, parser]"]),
        &[(5, 19, "P011"), (5, 26, "P011"), (5, 39, "P014")],
    );
    assert_eq!(
        compiled.diagnostics[0].message,
        "item \"b\": it needs \"parsr\", which is no item of the plan"
    );
    assert_eq!(compiled.diagnostics[0].hint, "did you mean \"parser\"?");
    assert_eq!(compiled.diagnostics[1].hint, "add that item, or remove the need");
    let twice = assert_found(&plan_of(&["id: a", "id: b, needs: [a, a]"]), &[(5, 22, "P014")]);
    assert_eq!(twice.plan.unwrap().items[1].needs.len(), 1);
}

#[test]
fn cycles_are_named() {
    assert_found(&plan_of(&["id: a, needs: [a]"]), &[(4, 19, "P012")]);
    let two =
        assert_found(&plan_of(&["id: a, needs: [b]", "id: b, needs: [a]"]), &[(4, 19, "P013")]);
    assert_eq!(
        two.diagnostics[0].message,
        "2 items need each other in a circle: \"a\" → \"b\" → \"a\""
    );
    // Two cycles, one behind the other, with items before, between and after that are none of it.
    let compiled = assert_found(
        &plan_of(&[
            "id: z",
            "id: a, needs: [z, m, b]",
            "id: b, needs: [a]",
            "id: m, needs: [c]",
            "id: d, needs: [c]",
            "id: c, needs: [z, d]",
            "id: last, needs: [a, d]",
        ]),
        &[(5, 25, "P013"), (8, 19, "P013")],
    );
    assert!(compiled.diagnostics[1].message.ends_with("\"d\" → \"c\" → \"d\""), "{compiled:#?}");
}

#[test]
fn a_cycle_of_a_thousand_is_shortened_in_the_middle() {
    let items: Vec<String> =
        (0..1000).map(|n| format!("id: i{n}, needs: [i{}]", (n + 1) % 1000)).collect();
    let items: Vec<&str> = items.iter().map(String::as_str).collect();
    let compiled = assert_found(&plan_of(&items), &[(4, 20, "P013")]);
    assert_eq!(
        compiled.diagnostics[0].message,
        "1000 items need each other in a circle: \"i0\" → \"i1\" → \"i2\" → \"i3\" → … 992 more … → \
         \"i996\" → \"i997\" → \"i998\" → \"i999\" → \"i0\""
    );
}

#[test]
fn all_is_said_at_once_and_in_order() {
    let text = "version: 3\nlanding: maybe\nitems:\n- {id: a, needs: [x], role: 7, contract: {goal: [], budgets: 5}}\n- {id: a}\n";
    assert_found(
        text,
        &[
            (1, 10, "P005"),
            (2, 10, "P006"),
            (4, 19, "P011"),
            (4, 42, "C001"),
            (4, 42, "C005"),
            (4, 42, "P003"),
            (4, 49, "P004"),
            (4, 62, "P004"),
            (5, 3, "P003"),
            (5, 8, "P010"),
        ],
    );
}

#[test]
fn diagnostics_are_bounded_and_the_rest_is_counted() {
    let mut text = "version: 1\nitems:\n".to_owned();
    for n in 0..DIAGNOSTICS_MAX + 5 {
        writeln!(text, "- {{id: a{n}}}").unwrap();
    }
    let compiled = compile("plan.yaml", &text);
    let last = compiled.diagnostics.last().unwrap();
    assert_eq!((compiled.diagnostics.len(), last.code), (DIAGNOSTICS_MAX + 1, "P022"));
    assert_eq!(last.message, "5 more errors are not shown");

    let needs = "b, ".repeat(DIAGNOSTICS_MAX + 3);
    let compiled = compile("plan.yaml", &plan_of(&["id: b", &format!("id: a, needs: [{needs}]")]));
    let last = compiled.diagnostics.last().unwrap();
    assert_eq!((last.code, &*last.message), ("P023", "2 more warnings are not shown"));
    assert!(compiled.plan.is_some());
}

#[test]
fn sizes_are_bounded_after_aliases_and_defaults() {
    // Defaults multiply: many texts of the largest size in each of many items.
    let texts = format!("{}, ", "x".repeat(TEXT_BYTES_MAX)).repeat(60);
    let mut text = format!(
        "version: 1\ndefaults: {{non_goals: [{texts}], budgets: {{wall_clock_minutes: 1, token_budget: 1}}}}\n\
         items:\n- &a {{id: a, {CONTRACT}}}\n"
    );
    text.push_str(&"- *a\n".repeat(CONTRACTS_BYTES_MAX / (TEXT_BYTES_MAX * 60) + 10));
    let codes: Vec<_> =
        compile("plan.yaml", &text).diagnostics.into_iter().map(|d| d.code).collect();
    assert_eq!(codes, ["P015"]);
}

#[test]
fn a_layered_plan_of_many_items_compiles() {
    let mut text =
        "version: 1\ndefaults: {budgets: {wall_clock_minutes: 5, token_budget: 9}}\nitems:\n"
            .to_owned();
    for n in 0..4_000_usize {
        let needs = if n < 100 {
            String::new()
        } else {
            format!("i{}, i{}", n - 100, (n - n % 100) - 100 + (n + 1) % 100)
        };
        writeln!(text, "- {{id: i{n}, needs: [{needs}], {CONTRACT}}}").unwrap();
    }
    assert_eq!(assert_compiles(&text).items.len(), 4_000);
}
