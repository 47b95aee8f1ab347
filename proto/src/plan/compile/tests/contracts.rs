//! What is wrong with a contract: its parts, budgets, criteria, checkers, scope.

use super::*;
use crate::plan::bounds::{CHECKER_BYTES_MAX, LIST_MAX, TEXT_BYTES_MAX};
use crate::units::MicroUsd;

/// A contract without fault; each case changes one of its lines.
const LINES: [&str; 8] = [
    "goal: g",
    "deliverables: [a report]",
    "acceptance_criteria:",
    "  - id: A",
    "    statement: s",
    "    checker: test -f a",
    "allowed_scope: {paths: [src/]}",
    "budgets: {wall_clock_minutes: 1, token_budget: 1}",
];

/// The contract with this line (from 1) in place of its own; an empty one removes it.
fn with(number: usize, line: &str) -> String {
    let mut lines = LINES.to_vec();
    lines[number - 1] = line;
    lines.join("\n") + "\n"
}

#[track_caller]
fn assert_line(number: usize, line: &str, expected: &[(u32, &'static str)]) -> Compiled {
    let at = u32::try_from(number).unwrap();
    let expected: Vec<Found> = expected.iter().map(|(column, code)| (at, *column, *code)).collect();
    assert_found(&with(number, line), &expected)
}

#[test]
fn the_example_of_the_specification_compiles() {
    let compiled = compile("dir/empty-password.yaml", EXAMPLE);
    assert_eq!(compiled.diagnostics, []);
    let plan = compiled.plan.unwrap();
    let [item] = plan.items.as_slice() else { panic!("one item") };
    assert_eq!(
        (item.id.as_str(), item.role.as_str(), item.attempts_max),
        ("empty-password", "worker", 3)
    );
    let contract = &item.contract;
    assert_eq!(contract.goal, "Empty passwords are refused at login");
    assert_eq!(contract.deliverables.len(), 2);
    assert_eq!(contract.acceptance_criteria[1].id.as_str(), "AC-02");
    assert_eq!(contract.acceptance_criteria[1].checker, "pytest tests/auth");
    assert_eq!(contract.allowed_scope.paths, ["src/auth/validator.ts", "tests/auth/"]);
    assert_eq!(contract.allowed_scope.tools, ["read", "edit", "bash:test"]);
    assert_eq!(
        (contract.budgets.wall_clock_minutes, contract.budgets.token_budget),
        (45, Some(350_000))
    );
    assert_eq!((contract.budgets.max_agents, contract.budgets.verification_ratio), (2, 0.25));
    assert_eq!((contract.non_goals.len(), contract.forbidden_actions.len()), (3, 3));
}

#[test]
fn a_single_contract_has_an_id() {
    let id = |file, text: &str| compile(file, text).plan.unwrap().items[0].id.as_str().to_owned();
    let plain = LINES.join("\n");
    assert_eq!(id("a/b.c.yaml", &plain), "b.c");
    assert_eq!(id("<stdin>", &plain), "contract");
    assert_eq!(id("x.yaml", &format!("version: 1\nid: mine\n{plain}")), "mine");
    assert_eq!(found(&compile(&format!("{}.yaml", "x".repeat(100)), &plain)), [(1, 1, "P009")]);
    assert_found(&format!("id: ''\n{plain}"), &[(1, 5, "P008")]);
    assert_found(&format!("version: 2\n{plain}"), &[(1, 10, "P005")]);
    assert_found(&format!("role: r\n{plain}"), &[(1, 1, "P002")]);
}

#[test]
fn parts_that_are_missing() {
    assert_found(&with(1, "non_goals: []"), &[(1, 1, "P003")]);
    assert_found("goal: g\n", &[(1, 1, "C001"), (1, 1, "C005"), (1, 1, "P003"), (1, 1, "P003")]);
}

#[test]
fn texts_are_texts() {
    assert_line(1, "goal:", &[(1, "P004")]);
    assert_line(1, "goal: 5", &[(7, "P004")]);
    assert_line(1, "goal: ' '", &[(7, "P016")]);
    assert_line(1, &format!("goal: {}", "x".repeat(TEXT_BYTES_MAX + 1)), &[(7, "P017")]);
    assert_line(1, "goal: \"a\\0b\"", &[(7, "P018")]);
    assert_line(1, "goal: \"a\\u0085b\"", &[(7, "P018")]);
    assert_line(2, "deliverables: report", &[(15, "P004")]);
    assert_line(2, "deliverables: [a, 7, [b]]", &[(19, "P004"), (22, "P004")]);
    assert_line(2, &format!("deliverables: [{}]", "a, ".repeat(LIST_MAX + 1)), &[(15, "P019")]);
    assert_line(6, &format!("    checker: {}", "x".repeat(CHECKER_BYTES_MAX + 1)), &[(14, "P017")]);
    let folded = assert_found(&with(1, "goal: >\n  two\n  lines\n"), &[]).plan.unwrap();
    assert_eq!(folded.items[0].contract.goal, "two lines");
}

#[test]
fn deliverables_are_inside_the_scope() {
    assert_line(2, "deliverables: []", &[(15, "C005")]);
    assert_found(&with(2, ""), &[(1, 1, "C005")]);
    assert_line(
        2,
        "deliverables: [src/a.rs new, src/, src, ./src/a, '`src/a.rs`: new', see lib/b.rs]",
        &[],
    );
    let compiled = assert_line(
        2,
        "deliverables: [src/a.rs, lib/b.rs changed, README.md]",
        &[(26, "C004"), (44, "C004")],
    );
    assert!(
        compiled.diagnostics[0].message.contains("\"lib/b.rs\""),
        "{}",
        compiled.diagnostics[0]
    );
    assert_line(2, "deliverables: [src/../lib/b.rs, /src/a.rs]", &[(16, "C004"), (33, "C004")]);
    // Where the scope itself is refused, nothing more is said about what is inside of it.
    assert_found(
        &with(7, "allowed_scope: {paths: [../x]}").replace("a report", "x/y.rs"),
        &[(7, 25, "S002")],
    );
    assert_found(&with(7, "allowed_scope: {paths: []}"), &[]);
    assert_found(
        &with(7, "allowed_scope: {paths: []}").replace("a report", "src/y.rs"),
        &[(2, 16, "C004")],
    );
}

#[test]
fn criteria_have_checkers_and_ids() {
    assert_found(
        &with(3, "acceptance_criteria: []\nnon_goals:")
            .replace("  - id: A\n    statement: s\n    checker: test -f a", "  - x"),
        &[(3, 22, "C001")],
    );
    let without = LINES
        .iter()
        .enumerate()
        .filter(|(n, _)| !(2..=5).contains(n))
        .map(|(_, l)| *l)
        .collect::<Vec<_>>();
    assert_found(&without.join("\n"), &[(1, 1, "C001")]);
    assert_found(&with(6, ""), &[(4, 5, "C002")]);
    assert_line(6, "    checker:", &[(5, "C002")]);
    assert_line(6, "    checker: ''", &[(14, "C002")]);
    assert_line(6, "    checker: ~", &[(14, "C002")]);
    assert_found(&with(5, ""), &[(4, 5, "P003")]);
    let compiled = assert_found(&with(5, "    statment: s"), &[(4, 5, "P003"), (5, 5, "P002")]);
    assert_eq!(compiled.diagnostics[1].hint, "did you mean `statement`?");
}

#[test]
fn criterion_ids_are_unique() {
    let twice = "    checker: test -f a\n  - {id: A, statement: t, checker: test -f b}";
    let compiled = assert_found(&with(6, twice), &[(7, 10, "C003")]);
    assert!(compiled.diagnostics[0].message.contains("line 4"), "{}", compiled.diagnostics[0]);
    assert_line(4, "  - id: ''", &[(9, "P008")]);
}

#[test]
fn budgets_are_bounded_and_above_zero() {
    let of = |budgets: &str, expected: &[(u32, &'static str)]| {
        assert_line(8, &format!("budgets: {{{budgets}}}"), expected);
    };
    of("wall_clock_minutes: 0, token_budget: 0", &[(31, "C006"), (48, "C006")]);
    of("wall_clock_minutes: -5, token_budget: 1", &[(31, "C006")]);
    of("wall_clock_minutes: 1441, token_budget: 1", &[(31, "C007")]);
    of(
        "wall_clock_minutes: 1, token_budget: 99999999999999999999999999999999999999999999",
        &[(48, "C007")],
    );
    of("wall_clock_minutes: 1, token_budget: 1000000001", &[(48, "C007")]);
    of("wall_clock_minutes: 1440, token_budget: 1000000000, max_agents: 64", &[]);
    of("wall_clock_minutes: 1, token_budget: 1, max_agents: 65", &[(63, "C007")]);
    of("wall_clock_minutes: 1, token_budget: 1, max_agents: 0", &[(63, "C006")]);
    for odd in ["1.5", "'45'", "1e2", "1_000", "045", "0x10", ".inf", "many", "[1]", ""] {
        let column = if odd.is_empty() { 11 } else { 31 };
        of(&format!("wall_clock_minutes: {odd}, token_budget: 1"), &[(column, "P004")]);
    }
    of("token_budget: 1", &[(10, "P003")]);
    of("token_budget: 0", &[(10, "P003"), (25, "C006")]);
    of("", &[(10, "P003")]);
    assert_found(&with(8, ""), &[(1, 1, "P003")]);
    assert_line(8, "budgets: 5", &[(10, "P004")]);
    let compiled = assert_line(
        8,
        "budgets: {wall_clock_minutes: 1, token_budgt: 1, dollars: 5}",
        &[(34, "P002"), (50, "P002")],
    );
    assert_eq!(compiled.diagnostics[0].hint, "did you mean `token_budget`?");
    assert_eq!(
        compiled.diagnostics[1].hint,
        "remove it; the keys are wall_clock_minutes, token_budget, cost_usd, max_agents, \
         verification_ratio, first_artifact_ratio"
    );
    let compiled =
        assert_line(8, "budgets: {wall_clock_minutes: 1, token_budget: 0}", &[(48, "C006")]);
    assert_eq!(
        compiled.diagnostics[0].to_string(),
        "plan.yaml:8:48: error[C006]: `token_budget` is 0: nothing could be done, and it never means \
         unlimited (write a number from 1 to 1000000000; without the key it is not limited)"
    );
}

#[test]
fn tokens_and_money_need_not_be_limited() {
    let compiled = assert_line(8, "budgets: {wall_clock_minutes: 7}", &[]);
    let budgets = &compiled.plan.unwrap().items[0].contract.budgets;
    assert_eq!((budgets.token_budget, budgets.cost_budget), (None, None));
    assert_eq!((budgets.wall_clock_minutes, budgets.first_artifact_ratio), (7, 0.30));
}

#[test]
fn money_is_an_amount_of_dollars() {
    let of = |cost: &str, expected: &[(u32, &'static str)]| {
        assert_line(8, &format!("budgets: {{wall_clock_minutes: 1, cost_usd: {cost}}}"), expected)
    };
    for (written, micro) in [
        ("1", 1_000_000),
        ("0.1", 100_000),
        ("12.345678", 12_345_678),
        ("0.000001", 1),
        ("1e2", 100_000_000),
        ("1000000", 1_000_000_000_000),
    ] {
        let budgets = of(written, &[]).plan.unwrap().items[0].contract.budgets.clone();
        assert_eq!(budgets.cost_budget, Some(MicroUsd(micro)), "{written}");
    }
    for nothing in ["0", "0.0", "-0.5", "0.0000004"] {
        of(nothing, &[(44, "C006")]);
    }
    for much in ["1000000.01", "1000001", "1e300"] {
        of(much, &[(44, "C007")]);
    }
    for odd in ["$5", "'5'", "5 USD", ".inf", ".nan", "[5]"] {
        of(odd, &[(44, "P004")]);
    }
    of("", &[(34, "P004")]);
}

#[test]
fn the_first_artifact_is_due_between_a_quarter_and_three_tenths() {
    let of = |ratio: &str, expected: &[(u32, &'static str)]| {
        let line = format!("budgets: {{wall_clock_minutes: 1, first_artifact_ratio: {ratio}}}");
        assert_line(8, &line, expected)
    };
    for (written, ratio) in [("0.25", 0.25), ("0.28", 0.28), ("0.30", 0.30), (".3", 0.3)] {
        let plan = of(written, &[]).plan.unwrap();
        assert_eq!(plan.items[0].contract.budgets.first_artifact_ratio, ratio);
    }
    for ratio in ["0.2499", "0.3001", "0", "-0.3", "1", "30"] {
        of(ratio, &[(56, "C017")]);
    }
    for odd in ["30%", "'0.3'", ".inf"] {
        of(odd, &[(56, "P004")]);
    }
}

#[test]
fn the_verification_ratio_is_a_share() {
    let of = |ratio: &str, expected: &[(u32, &'static str)]| {
        let line = format!(
            "budgets: {{wall_clock_minutes: 1, token_budget: 1, verification_ratio: {ratio}}}"
        );
        assert_line(8, &line, expected);
    };
    for ratio in ["0.20", "0.30", "0.25", ".25", "2.5e-1"] {
        of(ratio, &[]);
    }
    for ratio in ["0", "0.0", "-0.2", "1", "1.0", "25"] {
        of(ratio, &[(71, "C008")]);
    }
    for ratio in ["0.19", "0.31", "0.999"] {
        of(ratio, &[(71, "C009")]);
    }
    for ratio in [".nan", ".inf", "25%", "'0.25'", "1/4", "nan", "inf"] {
        of(ratio, &[(71, "P004")]);
    }
}

#[test]
fn checkers_are_judged() {
    assert_line(6, "    checker: true", &[(14, "C010")]);
    assert_line(6, "    checker: pytest || true", &[(14, "C010")]);
    assert_line(6, "    checker: pytest | tee log", &[(14, "C011")]);
    let compiled = assert_line(6, "    checker: curl -f https://example.org", &[(14, "C012")]);
    assert!(compiled.diagnostics[0].message.contains("verifiers have none"));
    let forbidden =
        format!("{}forbidden_actions: [network_egress]\n", with(6, "    checker: wget x"));
    let compiled = assert_found(&forbidden, &[(6, 14, "C012")]);
    assert!(compiled.diagnostics[0].message.contains("forbids"));
}

#[test]
fn ambiguities_are_marked() {
    let compiled = assert_line(1, "goal: Clean up the parser, properly, etc.", &[(7, "C013")]);
    assert_eq!(compiled.diagnostics[0].message, "`goal` is vague: “clean up”, “etc”, “properly”");
    assert_line(1, "goal: the parser is fast as needed", &[(7, "C013")]);
    assert_line(1, "goal: breakfast is served fast-forward", &[]);
    assert_line(5, "    statement: the list is sorted quickly", &[(16, "C013")]);
    assert_line(5, "    statement: it is sorted and/or unique", &[(16, "C014")]);
    assert_line(5, "    statement: it is sorted and unique", &[(16, "C014")]);
    assert_line(5, "    statement: a handy oracle", &[]);
}

#[test]
fn forbidden_actions_are_spelt_right() {
    let text =
        LINES.join("\n") + "\nforbidden_actions: [network_egres, spend_money, network_egress]\n";
    let compiled = assert_found(&text, &[(9, 21, "C016")]);
    assert_eq!(compiled.diagnostics[0].hint, "did you mean `network_egress`?");
}

#[test]
fn a_contract_fits_into_a_message() {
    let checker = format!("    checker: {}", "x".repeat(CHECKER_BYTES_MAX));
    let more: String = (0..20)
        .map(|n| {
            format!("\n  - {{id: B{n}, statement: s, checker: {}}}", "x".repeat(CHECKER_BYTES_MAX))
        })
        .collect();
    assert_found(&with(6, &format!("{checker}{more}")), &[(1, 1, "C015")]);
}

#[test]
fn scope_paths_stay_in_the_tree() {
    let of = |paths: &str, expected: &[(u32, &'static str)]| {
        assert_line(7, &format!("allowed_scope: {{paths: [{paths}]}}"), expected);
    };
    of("/", &[(25, "S001")]);
    of("/etc/passwd, 'C:/x'", &[(25, "S001"), (38, "S001")]);
    of(".., ../x, a/../b, a/..", &[(25, "S002"), (29, "S002"), (35, "S002"), (43, "S002")]);
    of(
        "., ./, ./a, a//b, a/./b",
        &[(25, "S003"), (28, "S003"), (32, "S003"), (37, "S003"), (43, "S003")],
    );
    of("'a\\b', '!a', ' a'", &[(25, "S003"), (32, "S003"), (38, "S003")]);
    of(".git, .git/hooks/, sub/.GIT/x", &[(25, "S004"), (31, "S004"), (44, "S004")]);
    of("a..b, .gitx, '[id].tsx', a.git/", &[]);
    assert_line(7, "allowed_scope: {tools: []}", &[(16, "P003")]);
    assert_found(&with(7, ""), &[(1, 1, "P003")]);
    assert_line(7, "allowed_scope: {paths: src/}", &[(24, "P004")]);
    assert_line(7, "allowed_scope: {paths: ['']}", &[(25, "P016")]);
}

#[test]
fn risky_scopes_are_marked() {
    let of = |paths: &str, expected: &[(u32, &'static str)]| {
        let expected: Vec<Found> =
            expected.iter().map(|(column, code)| (7, *column, *code)).collect();
        let text = with(7, &format!("allowed_scope: {{paths: [{paths}]}}"));
        assert_eq!(found(&compile("/outside/plan.yaml", &text)), expected, "{paths}");
    };
    of("'**', '*', '**/*'", &[(25, "S005"), (31, "S005"), (36, "S005")]);
    of(
        ".github/, .github/workflows/ci.yml, .gitlab-ci.yml, Jenkinsfile",
        &[(25, "S006"), (35, "S006"), (61, "S006"), (77, "S006")],
    );
    of(".gitattributes, '.*'", &[(25, "S006"), (41, "S006")]);
    of("Cargo.lock, web/package-lock.json, '*.lock'", &[(25, "S007"), (37, "S007"), (60, "S007")]);
    of("src/lock.rs, .githubx/", &[]);
}

#[test]
fn the_plan_itself_is_out_of_scope() {
    let text = with(7, "allowed_scope: {paths: [src/, plans/, '**']}");
    assert_eq!(found(&compile("plans/p.yaml", &text)), [(7, 31, "S008"), (7, 39, "S008")]);
    assert_eq!(found(&compile("./src/p.yaml", &text)), [(7, 25, "S008"), (7, 39, "S008")]);
    assert_eq!(found(&compile("/tmp/p.yaml", &text)), [(7, 39, "S005")]);
    let plan = format!("version: 1\nrepository: repo\nitems:\n- {{id: a, {CONTRACT}}}\n").replace(
        "{paths: [src/]}}",
        "{paths: ['pla?.yaml']}, budgets: {wall_clock_minutes: 1, token_budget: 1}}",
    );
    assert_eq!(
        found(&compile("repo/plan.yaml", &plan)).iter().map(|f| f.2).collect::<Vec<_>>(),
        ["S008"]
    );
    assert_eq!(found(&compile("plan.yaml", &plan)), []);
}
