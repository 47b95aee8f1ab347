//! Budgets: reserved before dispatch, settled after, warned at 80 %, stopped at 100 %.

use cantus_proto::evidence::Ending;
use cantus_proto::message::{
    Failed, FailureKind, HeartbeatReply, LeaseEvent, ModelTokens, Pulse, Usage, WorkResult,
};
use cantus_proto::plan::{Plan, RunBudgets};
use cantus_proto::units::MicroUsd;

use super::super::record::{DemandKind, Fact, ItemFact, Resource, Warning};
use super::super::rules::{Price, Prices};
use super::super::{Settings, rules::Rules};
use super::world::{
    Held, LEASE_MS, START, World, commit, plan, run_id, settings, submission, work,
};

fn with(line: &str, change: impl Fn(&mut Plan)) -> World {
    let mut plan = plan(line);
    change(&mut plan);
    World::with(settings(), plan)
}

/// Items without a token budget, under these limits of the run.
fn limited(line: &str, budgets: RunBudgets) -> World {
    with(line, |plan| plan.budgets = budgets)
}

fn tokens(count: u64) -> Option<Usage> {
    Some(Usage { input_tokens: count, ..Usage::default() })
}

fn used(held: &Held, count: u64) -> LeaseEvent {
    let name = format!("{} {}", held.attempt.item, held.attempt.number);
    LeaseEvent::Result(WorkResult { usage: tokens(count), ..work(&name) })
}

fn pulse(count: u64) -> Pulse {
    // It has an artifact, so that no other rule says anything.
    let changed = vec![b"src/file".to_vec()];
    Pulse { usage: tokens(count), changed, changed_count: 1, ..Pulse::default() }
}

fn warnings(world: &World) -> Vec<Warning> {
    let facts = world.journal.iter().filter_map(|record| match &record.fact {
        Fact::RunWarned(warning) | Fact::Item(_, ItemFact::Warned(warning)) => Some(*warning),
        _ => None,
    });
    facts.collect()
}

#[test]
fn work_gets_what_verification_leaves_and_what_attempts_before_left() {
    let mut world = World::of("a");
    let first = world.take("a");
    assert_eq!(first.attempt.limits.wall_clock_ms, 450_000, "three quarters of ten minutes");
    assert_eq!(first.attempt.limits.tokens_max, Some(750));
    world.now = world.now.plus(60_000);
    let failed = Failed { usage: tokens(100), ..Failed::new(FailureKind::Agent, "no") };
    world.say(&first, LeaseEvent::Failed(failed));
    let second = world.take("a");
    assert_eq!(second.attempt.limits.wall_clock_ms, 390_000);
    assert_eq!(second.attempt.limits.tokens_max, Some(650));
    world.say(&second, used(&second, 650));
    world.inspect("a", &["src/file"]);
    world.merge("a", "a", "start");
    let check = world.take("a");
    assert_eq!(check.attempt.limits.wall_clock_ms, 150_000, "its own quarter, whatever work took");
    assert_eq!(check.attempt.limits.tokens_max, None);
    world.say(&check, LeaseEvent::Evidence(check.checked(Ending::Exit(1))));
    assert_eq!(world.state("a"), "Parked", "all tokens are used");
    assert_eq!(
        world.parked()[0].reason,
        "the token budget of 1000 is used up: 750 spent; requeue for as much again"
    );
    world.requeue("a");
    assert_eq!(world.published("a").last().unwrap().limits.tokens_max, Some(750));
}

#[test]
fn a_second_look_at_one_tree_has_what_the_first_left() {
    let mut world = World::of("a");
    world.offer("a");
    let check = world.take("a");
    world.now = world.now.plus(100_000);
    world.say(&check, LeaseEvent::Evidence(check.evidence(&[])));
    assert_eq!(world.published("a").last().unwrap().limits.wall_clock_ms, 50_000);
}

#[test]
fn a_run_reserves_what_it_gives_and_gives_back_what_was_not_used() {
    let budgets = RunBudgets { token_budget: Some(1_000), ..RunBudgets::default() };
    let mut world = limited("a, b, c", budgets);
    let given = |world: &World, id: &str| world.published(id)[0].limits.tokens_max;
    assert_eq!((given(&world, "a"), given(&world, "b")), (Some(750), Some(250)));
    assert_eq!(world.state("c"), "Ready", "it waits for what others have not used");
    let first = world.take("a");
    world.say(&first, used(&first, 100));
    assert_eq!(given(&world, "c"), Some(650));
    let account = world.run().account;
    assert_eq!((account.tokens, account.tokens_reserved), (100, 900));
}

#[test]
fn a_run_that_waits_holds_up_no_other() {
    let mut first = plan("a, b");
    first.budgets = RunBudgets { max_agents: Some(1), ..RunBudgets::default() };
    let mut world = World::with(settings(), first);
    world.step(submission("other", plan("z")));
    assert_eq!(world.order(), ["a", "z"]);
    world.produce("a");
    assert_eq!(world.order(), ["a", "z", "b"], "a place is free again");
}

#[test]
fn a_run_whose_tokens_are_gone_parks_the_rest_at_exactly_its_budget() {
    for (spent, state) in [(999, "Queued"), (1_000, "Parked"), (1_001, "Parked")] {
        let budgets = RunBudgets { token_budget: Some(1_000), ..RunBudgets::default() };
        let mut world = with("a, b: a", |plan| {
            plan.budgets = budgets;
            for item in &mut plan.items {
                let contract = std::sync::Arc::make_mut(&mut item.contract);
                contract.budgets.token_budget = None;
            }
        });
        let held = world.take("a");
        assert_eq!(held.attempt.limits.tokens_max, Some(500), "an equal share");
        world.say(&held, used(&held, spent));
        world.inspect("a", &["src/file"]);
        world.merge("a", "a", "start");
        world.verify("a", Ending::Exit(0));
        world.land("a");
        assert_eq!(world.state("b"), state, "{spent}");
        if state == "Parked" {
            let reason = format!("the run's token budget of 1000 is used up: {spent} spent");
            assert_eq!(world.parked()[0].reason, reason, "overshoot is told");
        }
    }
}

#[test]
fn most_of_a_budget_warns_once_and_all_of_it_stops() {
    let mut world = World::of("a");
    let held = world.take("a");
    let beat = |world: &mut World, count| world.beat_with(&held, pulse(count));
    assert_eq!(beat(&mut world, 599), HeartbeatReply::GoOn(vec![]));
    let HeartbeatReply::GoOn(demands) = beat(&mut world, 600) else { panic!("it goes on") };
    assert!(demands[0].starts_with("600 of 750 tokens are used: commit"), "{demands:?}");
    assert_eq!(beat(&mut world, 749), HeartbeatReply::GoOn(demands));
    let warning = Warning { resource: Resource::Tokens, spent: 600, budget: 750 };
    assert_eq!(warnings(&world), [warning]);
    let HeartbeatReply::Stop(why) = beat(&mut world, 750) else { panic!("it stops") };
    assert!(why.contains("over budget: 750 of 750 reserved tokens are used"), "{why}");
    assert_eq!(world.state("a"), "Parked");
    assert_eq!(world.item("a").attempts[0].spent.as_ref().unwrap().tokens, Some(750));
    let demanded = world.item("a").attempts[0].demands();
    assert_eq!(demanded.iter().map(|(_, d)| d.kind).collect::<Vec<_>>(), [DemandKind::Budget]);
}

#[test]
fn what_is_not_measured_is_refused_and_kept_where_a_budget_is_w21() {
    let mut world = World::of("a");
    let held = world.take("a");
    let result = WorkResult { usage: None, ..work("a 1") };
    world.say(&held, LeaseEvent::Result(result));
    assert_eq!(world.state("a"), "Parked");
    assert!(world.parked()[0].reason.contains("was not measured: let the agent write usage.jsonl"));
    assert_eq!(world.item("a").saved[0].commits.head, commit("a 1"));
    let free = with("a", |plan| {
        let contract = std::sync::Arc::make_mut(&mut plan.items[0].contract);
        contract.budgets.token_budget = None;
    });
    let mut world = free;
    let held = world.take("a");
    world.say(&held, LeaseEvent::Result(WorkResult { usage: None, ..work("a 1") }));
    assert_eq!(world.state("a"), "Gating", "nobody asked");
    assert_eq!(world.run().account.unknown, 0);
}

fn priced() -> Settings {
    let price = Price { input: MicroUsd(3_000_000), output: MicroUsd(15_000_000) };
    let prices = Prices {
        date: "2026-01-01".to_owned(),
        models: [("known".to_owned(), price)].into_iter().collect(),
    };
    Settings { rules: Rules { prices, ..Rules::default() }, ..settings() }
}

fn unpriced(model: &str) -> Option<Usage> {
    let (input_tokens, output_tokens) = (1_000, 100);
    let unpriced = vec![ModelTokens { model: model.to_owned(), input_tokens, output_tokens }];
    Some(Usage { input_tokens, output_tokens, cost: MicroUsd(0), unpriced })
}

#[test]
fn a_model_without_a_price_is_refused_where_money_is_limited_w21() {
    for (model, state) in [("known", "Gating"), ("unknown", "Parked"), ("", "Parked")] {
        let mut plan = plan("a");
        plan.budgets.cost_budget = Some(MicroUsd(10_000_000));
        std::sync::Arc::make_mut(&mut plan.items[0].contract).budgets.token_budget = None;
        let mut world = World::with(priced(), plan);
        let held = world.take("a");
        assert_eq!(held.attempt.limits.cost_max, Some(MicroUsd(10_000_000)));
        world.say(&held, LeaseEvent::Result(WorkResult { usage: unpriced(model), ..work("a 1") }));
        assert_eq!(world.state("a"), state, "{model}");
        if state == "Gating" {
            assert_eq!(world.run().account.cost, MicroUsd(4_500));
        } else {
            assert!(world.parked()[0].reason.contains(&format!("price of model {model:?}")));
        }
    }
}

#[test]
fn a_lost_attempt_costs_what_it_told_or_its_share_of_the_time() {
    let mut silent = World::of("a");
    silent.take("a");
    silent.advance(LEASE_MS);
    let spent = silent.item("a").attempts[0].spent.clone().unwrap();
    assert_eq!((spent.tokens, spent.estimated), (Some(750 * LEASE_MS / 450_000), true));
    let mut told = World::of("a");
    let held = told.take("a");
    told.beat_with(&held, pulse(500));
    told.advance(LEASE_MS);
    let spent = told.item("a").attempts[0].spent.clone().unwrap();
    assert_eq!((spent.tokens, spent.estimated), (Some(500), true));
    assert_eq!(told.published("a")[1].limits.tokens_max, Some(250));
    assert_eq!(
        told.published("a")[1].limits.wall_clock_ms,
        450_000,
        "machines' time is not charged"
    );
}

#[test]
fn the_runs_time_warns_then_stops_work_and_lets_verdicts_come() {
    let budgets = RunBudgets { wall_clock_minutes: Some(5), ..RunBudgets::default() };
    let mut world = limited("a, b, c: b", budgets);
    let held = world.take("b");
    assert_eq!(held.attempt.limits.wall_clock_ms, 300_000, "no longer than the run");
    world.offer("a");
    for _ in 0..30 {
        world.advance(10_000);
        world.beat(&held);
        if world.state("b") != "Working" {
            break;
        }
    }
    assert_eq!(world.now, START.plus(300_000));
    let warning = Warning { resource: Resource::WallClock, spent: 240_000, budget: 300_000 };
    let run_warnings: Vec<Warning> = world.run().warnings.clone();
    assert_eq!(run_warnings, [warning]);
    assert_eq!(world.states(), "a VerifyQueued, b Parked, c Blocked");
    assert_eq!(world.item("b").attempts[0].outcome.as_ref().unwrap().name(), "over budget");
    world.verify("a", Ending::Exit(0));
    world.land("a");
    assert_eq!(world.states(), "a Landed, b Parked, c Blocked");
    assert_eq!(world.core.wake_at(), None);
    world.requeue("b");
    assert_eq!(world.state("b"), "Parked", "there is no time left");
}

#[test]
fn idling_costs_nothing_w22() {
    let mut world = limited("a", RunBudgets { token_budget: Some(10), ..RunBudgets::default() });
    let held = world.take("a");
    world.say(&held, used(&held, 1));
    world.inspect("a", &["src/file"]);
    world.merge("a", "a", "start");
    world.verify("a", Ending::Exit(0));
    let records = world.journal.len();
    world.advance(3 * 3_600_000);
    assert_eq!(world.journal.len(), records);
    assert_eq!(world.run().account.tokens, 1);
}

#[test]
fn the_account_is_the_same_after_a_restart() {
    let budgets = RunBudgets { token_budget: Some(1_000), ..RunBudgets::default() };
    let mut world = limited("a, b, c", budgets);
    let first = world.take("a");
    world.say(&first, used(&first, 100));
    let before = world.core.runs()[&run_id("run")].account;
    world.restart();
    assert_eq!(world.run().account, before);
}

#[test]
fn who_is_cancelled_at_work_still_costs() {
    let mut world = World::of("a, b");
    let held = world.take("a");
    world.beat_with(&held, pulse(300));
    world.cancel("a");
    let spent = world.item("a").attempts[0].spent.clone().unwrap();
    assert_eq!((spent.tokens, spent.estimated), (Some(300), true));
    let held = world.take("b");
    world.beat_with(&held, pulse(200));
    world.step(super::super::event::Event::Cancelled(run_id("run"), None));
    assert_eq!((world.run().account.tokens, world.run().account.tokens_reserved), (500, 0));
}

#[test]
fn items_without_limits_of_their_own_share_what_the_run_has() {
    let budgets = RunBudgets { cost_budget: Some(MicroUsd(900)), ..RunBudgets::default() };
    let mut world = limited("a, b, c", budgets);
    let given = |world: &World, id: &str| world.published(id)[0].limits.cost_max;
    for id in ["a", "b", "c"] {
        assert_eq!(given(&world, id), Some(MicroUsd(300)), "{id}");
    }
    let held = world.take("a");
    world.say(&held, used(&held, 1));
    assert_eq!(world.run().account.cost_reserved, MicroUsd(600), "nothing was spent");
}
