//! The figures of SPEC B17 with exact values.

use cantus_proto::ids::{AttemptNumber, CriterionId, LearningId};
use cantus_proto::message::AttemptKind::{Produce, Repair, Verify};
use cantus_proto::message::{
    Claim, ClaimKind, Exit, FailureKind, Learning, LearningCheck, ModelTokens, Receipt, Usage,
    WorkResult,
};
use cantus_proto::units::MicroUsd;

use super::super::words::*;
use super::story::Story;
use crate::record::ItemFact::{Approved, HeadMoved, Learned, LearningsChecked, Requeued, Saved};
use crate::record::{Ending, Refuter, Resource, Spent};
use crate::report::{Amount, BudgetUse, Ratio, Recovery, ScopeDelta, Total, VerificationWaste};
use crate::scope_delta::Rule;

fn ratio(part: u64, of: u64) -> Ratio {
    Ratio { part, of }
}

#[test]
fn ratios_say_when_there_was_nothing_to_count() {
    assert_eq!(ratio(7, 9).to_string(), "7 of 9 (77 %)");
    assert_eq!(ratio(999, 1_000).percent(), Some(99));
    assert_eq!(ratio(0, 0).to_string(), "-");
    assert_eq!(ratio(0, 0).percent(), None);
}

#[test]
fn success_and_passes_count_tries_and_not_verifications() {
    let mut story = Story::of("first, third, fourth, helped, parked, untried");
    story.complete("first");
    for (item, failures) in [("third", 2), ("fourth", 3)] {
        for _ in 0..failures {
            story.fail(item, FailureKind::Agent, "no");
        }
        story.complete(item);
    }
    story.begin("helped", Produce).deliver("helped", work("helped"));
    story.refute("helped", Refuter::Gate, &[Rule::OutOfScope]);
    story.fact("helped", Approved(AttemptNumber(1), "ada".to_owned()));
    story.merge("helped", "helped").prove("helped");
    story.fail("parked", FailureKind::Agent, "no").park("parked", "no");
    let metrics = story.report().metrics;
    assert_eq!(metrics.verified, ratio(4, 6));
    assert_eq!(metrics.interventions, ratio(1, 6));
    assert_eq!(metrics.pass_at_1, ratio(1, 5), "what a person let through does not pass");
    assert_eq!(metrics.pass_at_3, ratio(2, 5));
    let mut reports = Story::with(plan("a"), |submission| submission.repository = None);
    reports.begin("a", Produce).deliver("a", work("a"));
    reports.fact("a", crate::record::ItemFact::Reported);
    assert_eq!(reports.report().metrics.pass_at_1, ratio(0, 0));
}

#[test]
fn findings_are_kept_out_or_let_through() {
    let mut story = Story::of("a, b");
    story.begin("a", Produce).deliver("a", work("a"));
    story.refute("a", Refuter::Gate, &[Rule::OutOfScope, Rule::TestRemoved]);
    story.begin("a", Repair).deliver("a", work("a 2"));
    story.refute("a", Refuter::Gate, &[Rule::OutOfScope]);
    story.begin("b", Produce).deliver("b", work("b"));
    story.refute("b", Refuter::Gate, &[Rule::DependencyAdded]);
    story.fact("b", Approved(AttemptNumber(1), "ada".to_owned()));
    let metrics = story.report().metrics;
    assert_eq!(metrics.scope_delta, ScopeDelta { kept_out: 3, let_through: 1 });
    let blocks = [(Rule::OutOfScope, 2), (Rule::TestRemoved, 1)];
    assert_eq!(metrics.unsafe_blocks, blocks.into());
}

#[test]
fn tokens_and_money_are_known_estimated_or_unknown_but_never_zero_for_unknown() {
    let mut story = Story::of("told, priced, silent, lost, settled, open");
    let usage =
        |unpriced| Usage { input_tokens: 100, output_tokens: 20, cost: MicroUsd(5), unpriced };
    let told = |story: &mut Story, id: &str, usage| {
        story.begin(id, Produce).deliver(id, WorkResult { usage, ..work(id) });
    };
    let rest = ModelTokens { model: "m".to_owned(), input_tokens: 1, output_tokens: 1 };
    told(&mut story, "told", Some(usage(vec![])));
    told(&mut story, "priced", Some(usage(vec![rest])));
    told(&mut story, "silent", None);
    story.begin("lost", Produce).end("lost", Ending::Lost, "gone");
    let lost = Spent { tokens: Some(40), cost: None, estimated: true, phases: vec![] };
    story.settle("lost", 1, lost);
    told(&mut story, "settled", Some(usage(vec![])));
    let settled = Spent { tokens: Some(7), cost: Some(MicroUsd(9)), ..Spent::default() };
    story.settle("settled", 1, settled);
    story.begin("open", Produce);
    // A verification has no use for models, and what nobody took cost nothing.
    story.fact("told", crate::record::ItemFact::Gated).merge("told", "told").begin("told", Verify);
    story.end("told", Ending::Inconclusive, "no").queue("told", Verify);
    story.end("told", Ending::Unclaimed, "no");
    let metrics = story.report().metrics;
    assert_eq!(metrics.tokens, Total { sum: 120 + 120 + 40 + 7, estimated: 40, unknown: 1 });
    assert_eq!(metrics.cost, Total { sum: 5 + 9, estimated: 0, unknown: 3 });
}

#[test]
fn budgets_are_shown_with_what_went_beyond_them() {
    let mut story = Story::with(plan("a, b"), |submission| {
        let plan = std::sync::Arc::make_mut(&mut submission.plan);
        plan.budgets.token_budget = Some(500);
        plan.budgets.wall_clock_minutes = Some(1);
    });
    let usage = Some(Usage { input_tokens: 1_100, ..Usage::default() });
    story.begin("a", Produce).at(30).fail_open("a");
    story.settle("a", 1, Spent { tokens: Some(9), ..Spent::default() });
    story.park("a", "no").fact("a", Requeued);
    story.begin("a", Produce).at(90).deliver("a", WorkResult { usage, ..work("a") });
    let known = |sum| Total { sum, ..Total::default() };
    let a = Some(crate::event::ItemIndex(0));
    let expected = [
        (None, Resource::WallClock, known(90_000), 60_000),
        (None, Resource::Tokens, known(1_109), 500),
        // Put back, an item's budgets begin anew; b was never begun.
        (a, Resource::WallClock, known(60_000), 450_000),
        (a, Resource::Tokens, known(1_100), 750),
    ]
    .map(|(item, resource, spent, budget)| BudgetUse { item, resource, spent, budget });
    let budgets = story.report().budgets;
    assert_eq!(budgets, expected);
    let overshoot: Vec<u64> = budgets.iter().map(BudgetUse::overshoot).collect();
    assert_eq!(overshoot, [30_000, 609, 0, 350]);
}

#[test]
fn verifications_that_decide_nothing_or_are_outrun_are_waste() {
    let mut story = Story::of("a, b");
    story.offer("a", Produce).begin("a", Verify).at(10).end("a", Ending::Inconclusive, "no");
    story.begin("a", Verify).at(13).verified("a").fact("a", HeadMoved(commit("later")));
    let merged = crate::record::ItemFact::Merged(Box::new(candidate("a later", "later")));
    story.fact("a", merged).begin("a", Verify).at(20).verified("a").land("a");
    story.offer("b", Produce).begin("b", Verify).at(25);
    story.refute("b", Refuter::Verdict(AttemptNumber(2)), &[]);
    story.offer("b", Repair).begin("b", Verify);
    let metrics = story.report().metrics;
    let waste = VerificationWaste {
        undecided: ratio(1, 4),
        outrun: ratio(1, 4),
        wasted_ms: 13_000,
        all_ms: 25_000,
    };
    assert_eq!(metrics.verification_waste, waste);
    assert_eq!(metrics.repeated_checks, 1, "another tree is another check");
}

fn claim(id: &str, kind: ClaimKind, receipt: Option<&str>, criterion: Option<&str>) -> Claim {
    Claim {
        id: id.to_owned(),
        text: "so it is".to_owned(),
        criterion: criterion.map(|id| CriterionId::new(id).unwrap()),
        kind,
        receipt: receipt.map(digest),
    }
}

#[test]
fn claims_that_the_ledger_does_not_call_verified_are_unsupported() {
    let receipt = Receipt {
        argv: vec!["true".to_owned()],
        exit: Exit::Code(0),
        timed_out: false,
        stdout_sha256: digest("output"),
        stderr_sha256: digest(""),
        duration_ms: 1,
        purpose: "agent".to_owned(),
        environment: Default::default(),
        output_truncated: false,
    };
    let claims = vec![
        claim("cited", ClaimKind::Observation, Some("output"), None),
        claim("cites another's", ClaimKind::Observation, Some("elsewhere"), None),
        claim("about", ClaimKind::Observation, None, Some("AC-01")),
        claim("about nothing", ClaimKind::Observation, None, Some("AC-99")),
        claim("words", ClaimKind::Observation, None, None),
        claim("honest", ClaimKind::Hypothesis, None, None),
    ];
    let result = WorkResult { receipts: vec![receipt], claims, ..work("a") };
    let mut story = Story::of("a");
    story.begin("a", Produce).deliver("a", result);
    assert_eq!(story.report().metrics.unsupported_claims, ratio(5, 6));
    story.fact("a", crate::record::ItemFact::Gated).merge("a", "a").prove("a");
    assert_eq!(story.report().metrics.unsupported_claims, ratio(4, 6));
}

#[test]
fn lost_work_is_recovered_when_its_item_lands() {
    let mut story = Story::of("a, b");
    let commits = crate::results::commits(&work("saved")).unwrap();
    for id in ["a", "a", "b"] {
        story.begin(id, Produce).end(id, Ending::Lost, "gone");
    }
    story.fact("a", Saved(AttemptNumber(1), commits, "lost".to_owned()));
    story.complete("a").park("b", "no");
    let recovery = story.report().metrics.recovery;
    assert_eq!(recovery, Recovery { recovered: ratio(2, 3), saved: 1 });
}

#[test]
fn learnings_are_counted_in_the_newest_look() {
    let check = |rule: &str, applied| LearningCheck { id: LearningId::of(rule), applied };
    let learned = |rule: &str| {
        Learned(
            AttemptNumber(1),
            Box::new(Learning {
                id: LearningId::of(rule),
                context: "tests".to_owned(),
                discovery: "found".to_owned(),
                rule: rule.to_owned(),
                check: None,
            }),
        )
    };
    let mut story = Story::of("a, b");
    story.offer("a", Produce).fact("a", learned("one")).fact("a", learned("two"));
    story.begin("a", Verify);
    let old = vec![check("one", false), check("two", false)];
    story.fact("a", LearningsChecked(AttemptNumber(2), old));
    story.end("a", Ending::Inconclusive, "no").begin("a", Verify);
    let new = vec![check("one", true), check("two", false)];
    story.fact("a", LearningsChecked(AttemptNumber(3), new));
    story.offer("b", Produce).fact("b", learned("one")).begin("b", Verify);
    story.fact("b", LearningsChecked(AttemptNumber(2), vec![check("one", true)]));
    let metrics = story.report().metrics;
    assert_eq!(metrics.learnings_applied, ratio(2, 3));
    assert_eq!(metrics.learnings_new, 2);
}

#[test]
fn an_estimate_of_money_is_one() {
    let mut story = Story::of("a");
    story.begin("a", Produce).end("a", Ending::Lost, "gone");
    let spent = Spent { tokens: None, cost: Some(MicroUsd(3)), estimated: true, phases: vec![] };
    story.settle("a", 1, spent);
    let attempt = &story.item("a").attempts[0];
    assert_eq!(crate::report::tokens(attempt), Amount::Unknown);
    assert_eq!(crate::report::cost(attempt), Amount::Estimated(3));
}
