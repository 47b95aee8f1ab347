//! What becomes of a result: verdicts, conflicts, repairs, and a head that moves.

use cantus_proto::evidence::{Ending, SigningKey, TestCounts, attest};
use cantus_proto::ids::Blob;
use cantus_proto::message::{
    AttemptKind, Claim, ClaimKind, Commits, Evidence, FailureKind, Isolation, LeaseEvent, Work,
};
use cantus_proto::plan::Plan;

use super::super::event::{Action, Event, Inspection};
use super::super::record::{Fact, ItemFact};
use super::super::run::RunState;
use super::super::{Settings, text};
use super::world::{
    Held, World, blob, candidate, commit, digest, failed, plan, settings, tree, work,
};

fn claims_all_tests_pass(head: &str) -> cantus_proto::message::WorkResult {
    let claim = Claim {
        id: "C1".to_owned(),
        text: "all tests pass".to_owned(),
        criterion: None,
        kind: ClaimKind::Observation,
        receipt: None,
    };
    cantus_proto::message::WorkResult { claims: vec![claim], ..work(head) }
}

/// A verifier has the candidate of `a`, which was claimed to be fine.
fn verifying(plan: Plan) -> (World, Held) {
    let mut world = World::with(settings(), plan);
    let worker = world.take("a");
    world.say(&worker, LeaseEvent::Result(claims_all_tests_pass("w1")));
    world.inspect("a", &["src/lib.rs"]);
    world.merge("a", "t", "start");
    let verifier = world.take("a");
    (world, verifier)
}

fn landings(world: &World) -> usize {
    world.actions.iter().filter(|action| matches!(action, Action::Land(_))).count()
}

#[test]
fn a_repair_gets_contract_defect_and_diff_and_nothing_else_b13() {
    let (mut world, verifier) = verifying(plan("a"));
    world.say(&verifier, LeaseEvent::Evidence(verifier.checked(Ending::Exit(1))));
    assert_eq!(world.state("a"), "Queued");
    let repair = (*world.published("a").last().unwrap()).clone();
    assert_eq!((repair.number.0, &repair.contract), (3, &super::world::contract("a")));
    let Work::Repair(defect) = &repair.work else { panic!("{:?}", repair.work) };
    assert_eq!(defect.summary, "AC-01: exit code 1");
    assert_eq!(
        defect.findings,
        ["AC-01: exit code 1", "1 claims of the result are refuted by this verification"]
    );
    let work = Commits { bundle: blob("w1"), base: commit("start"), head: commit("w1") };
    assert_eq!(defect.work, Some(work));
    // Nothing of the producer's words is in the message; they stay with the item, refuted (W11).
    let message = format!("{repair:?}");
    assert!(!message.contains("all tests pass") && !message.contains(verifier.container.as_str()));
    assert_eq!(world.item("a").claims()[0].text, "all tests pass");
    let refuted = "refuted: AC-01: exit code 1";
    assert_eq!(world.outcomes("a"), [refuted, refuted, "open"]);
    world.complete("a");
    assert_eq!(world.item("a").attempts[2].kind, AttemptKind::Repair);
}

#[test]
fn a_repair_that_fails_is_followed_by_another_repair() {
    let (mut world, verifier) = verifying(plan("a"));
    world.say(&verifier, LeaseEvent::Evidence(verifier.checked(Ending::Exit(1))));
    let repair = world.take("a");
    world.say(&repair, failed("no idea"));
    let again = world.take("a");
    assert_eq!(again.attempt.work, repair.attempt.work);
    world.say(&again, failed("no idea"));
    assert!(
        world.parked()[0].reason.contains("3 of 3 tries are used up; the last: failed: no idea")
    );
}

#[test]
fn counts_decide_over_the_exit_code_w11() {
    let (mut world, verifier) = verifying(plan("a"));
    let mut receipts = verifier.receipts(verifier.candidate(), Ending::Exit(0));
    receipts[0].counts = Some(TestCounts { passed: 612, errors: 1, ..TestCounts::default() });
    world.say(&verifier, LeaseEvent::Evidence(verifier.evidence(&receipts)));
    let Work::Repair(defect) = &world.published("a").last().unwrap().work else { panic!() };
    assert!(defect.summary.contains("612 passed, 0 failed, 1 errors"), "{}", defect.summary);
    assert_eq!(landings(&world), 0);
}

#[test]
fn a_check_that_cannot_run_never_passes_and_is_parked_in_the_end_w13_g9() {
    for ending in [Ending::TimedOut, Ending::Exit(127), Ending::Exit(137), Ending::Signal(9)] {
        let mut world = World::of("a, b: a");
        world.offer("a");
        world.verify("a", ending);
        assert_eq!(world.states(), "a VerifyQueued, b Waiting", "{ending:?}");
        world.verify("a", ending);
        assert_eq!(world.states(), "a Parked, b Blocked", "{ending:?}");
        let reason = &world.parked()[0].reason;
        assert!(
            reason.starts_with("2 verifications decided nothing; another needs a hypothesis"),
            "{reason}"
        );
        assert_eq!((world.item("a").tries(), landings(&world)), (1, 0));
    }
}

#[test]
fn one_verification_in_vain_does_not_hold_against_the_next() {
    let (mut world, verifier) = verifying(plan("a"));
    let missing = Evidence { envelopes: vec![], ..verifier.checked(Ending::Exit(0)) };
    world.say(&verifier, LeaseEvent::Evidence(missing));
    assert_eq!(world.outcomes("a")[1], "inconclusive: AC-01: there is no evidence");
    world.verify("a", Ending::Exit(0));
    world.land("a");
    assert_eq!(world.run_state(), RunState::Completed);
}

#[test]
fn evidence_for_another_tree_proves_nothing_and_both_are_named_g1() {
    let (mut world, verifier) = verifying(plan("a"));
    let other = candidate("other", "start");
    let evidence = verifier.evidence(&verifier.receipts(&other, Ending::Exit(0)));
    world.say(&verifier, LeaseEvent::Evidence(evidence));
    let outcome = &world.outcomes("a")[1];
    assert!(outcome.starts_with("inconclusive"), "{outcome}");
    assert!(
        outcome.contains(tree("other").as_str()) && outcome.contains(tree("t").as_str()),
        "{outcome}"
    );
    assert_eq!((world.state("a"), landings(&world)), ("VerifyQueued".to_owned(), 0));
}

#[test]
fn old_evidence_is_no_evidence_for_new_work_q40() {
    let (mut world, verifier) = verifying(plan("a"));
    let old = verifier.checked(Ending::Exit(0));
    world.say(&verifier, LeaseEvent::Evidence(verifier.checked(Ending::Exit(1))));
    let worker = world.take("a");
    world.say(&worker, LeaseEvent::Result(work("w2")));
    world.inspect("a", &["src/lib.rs"]);
    world.merge("a", "t2", "start");
    // Its first verifier says it again, and then the new one says what the first one said.
    assert_eq!(world.say(&verifier, LeaseEvent::Evidence(old.clone())), 0);
    let next = world.take("a");
    world.say(&next, LeaseEvent::Evidence(old));
    assert!(world.outcomes("a")[3].contains("evidence is for tree"), "{:?}", world.outcomes("a"));
    assert_eq!(landings(&world), 0);
    world.verify("a", Ending::Exit(0));
    world.land("a");
}

#[test]
fn a_key_that_nobody_trusts_proves_nothing() {
    let (mut world, verifier) = verifying(plan("a"));
    let stranger = SigningKey::from_bytes(&[9; 32]);
    let receipts = verifier.receipts(verifier.candidate(), Ending::Exit(0));
    let envelopes = receipts.iter().map(|receipt| attest(receipt, &stranger).unwrap()).collect();
    let evidence = Evidence { envelopes, ..verifier.checked(Ending::Exit(0)) };
    world.say(&verifier, LeaseEvent::Evidence(evidence));
    assert!(world.outcomes("a")[1].contains("statement not believed"), "{:?}", world.outcomes("a"));
    assert_eq!(landings(&world), 0);
}

#[test]
fn process_isolation_lands_by_policy_alone() {
    for allow_process_isolation in [false, true] {
        let mut world = World::with(Settings { allow_process_isolation, ..settings() }, plan("a"));
        world.offer("a");
        let verifier = world.take("a");
        let mut receipts = verifier.receipts(verifier.candidate(), Ending::Exit(0));
        receipts[0].binding.isolation = Isolation::Process;
        world.say(&verifier, LeaseEvent::Evidence(verifier.evidence(&receipts)));
        let expected = if allow_process_isolation { "Landing" } else { "VerifyQueued" };
        assert_eq!(world.state("a"), expected);
    }
}

#[test]
fn the_log_of_a_verification_is_kept_with_its_attempt() {
    let (mut world, verifier) = verifying(plan("a"));
    let log = |word: &str| -> Option<Blob> { Some(blob(word)) };
    let evidence = Evidence { log: log("log"), ..verifier.checked(Ending::Exit(1)) };
    world.say(&verifier, LeaseEvent::Evidence(evidence));
    let repair = world.take("a");
    let body = LeaseEvent::Failed(cantus_proto::message::Failed {
        log: log("more"),
        ..cantus_proto::message::Failed::new(FailureKind::Timeout, "wall clock")
    });
    world.say(&repair, body.clone());
    let logs: Vec<_> = world.item("a").attempts.iter().map(|attempt| attempt.log.clone()).collect();
    assert_eq!(logs, [None, log("log"), log("more"), None]);
    assert_eq!(world.say(&repair, body), 0);
}

#[test]
fn a_conflict_is_redone_once_on_the_new_base_then_a_person_looks_w8() {
    let mut world = World::of("a, b");
    world.produce("a");
    let first = world.item("a").work().unwrap().1.head.clone();
    world.conflict("a", "other", &["src/lib.rs"]);
    let redo = (*world.published("a").last().unwrap()).clone();
    let Work::Repair(defect) = &redo.work else { panic!("{:?}", redo.work) };
    assert_eq!(redo.base_min, commit("other"));
    assert_eq!(defect.work.as_ref().map(|work| &work.head), Some(&first));
    assert!(defect.summary.contains("src/lib.rs"), "{}", defect.summary);
    world.produce("a");
    let second = world.item("a").work().unwrap().1.head.clone();
    world.conflict("a", "another", &["src/lib.rs"]);
    assert_eq!(world.states(), "a Parked, b Queued");
    let record = world.parked()[0];
    assert!(record.reason.contains("redo it by hand or requeue it"), "{}", record.reason);
    let kept: Vec<_> = record.kept.iter().map(|commits| commits.head.clone()).collect();
    assert_eq!(kept, [first, second], "all work is kept");
    // A person puts it back: it begins anew, from where the target was at the start or later.
    world.requeue("a");
    let anew = *world.published("a").last().unwrap();
    assert_eq!((&anew.work, &anew.base_min), (&Work::Produce, &commit("start")));
}

#[test]
fn when_the_head_moves_the_same_tree_needs_no_second_verification_w9_g14() {
    let (mut world, verifier) = verifying(plan("a"));
    world.say(&verifier, LeaseEvent::Evidence(verifier.checked(Ending::Exit(0))));
    world.moved("a", "moved");
    assert_eq!(world.state("a"), "Merging");
    let before = world.published("a").len();
    world.merge("a", "t", "moved");
    assert_eq!((world.state("a"), world.published("a").len()), ("Landing".to_owned(), before));
    let Some(Action::Land(land)) = world.actions.last() else { panic!() };
    assert_eq!((&land.candidate.base, &land.candidate.tree), (&commit("moved"), &tree("t")));
    world.land("a");
    assert_eq!(world.run_state(), RunState::Completed);
}

#[test]
fn when_the_head_moves_another_tree_is_verified_again_w9_g14() {
    let (mut world, verifier) = verifying(plan("a"));
    world.say(&verifier, LeaseEvent::Evidence(verifier.checked(Ending::Exit(0))));
    world.moved("a", "moved");
    world.merge("a", "t2", "moved");
    assert_eq!((world.state("a"), landings(&world)), ("VerifyQueued".to_owned(), 1));
    // Also when only the second name of the tree tells them apart.
    world.verify("a", Ending::Exit(0));
    world.moved("a", "moved again");
    let mut twin = candidate("t2", "moved again");
    twin.listing_sha256 = digest("another listing");
    world.step(Event::Merged(world.effect("a"), super::super::event::Merge::Clean(twin)));
    assert_eq!((world.state("a"), landings(&world)), ("VerifyQueued".to_owned(), 2));
    let verifier = world.verify("a", Ending::Exit(0));
    assert_eq!(verifier.candidate().listing_sha256, digest("another listing"));
    world.land("a");
    assert_eq!(world.item("a").tries(), 1, "a head that moves costs no try");
}

#[test]
fn after_a_repair_the_old_proof_is_worth_nothing() {
    let (mut world, verifier) = verifying(plan("a"));
    world.say(&verifier, LeaseEvent::Evidence(verifier.checked(Ending::Exit(0))));
    world.moved("a", "moved");
    world.conflict("a", "moved", &["src/lib.rs"]);
    world.produce("a");
    world.merge("a", "t", "moved");
    assert_eq!(world.state("a"), "VerifyQueued");
}

#[test]
fn an_effect_that_fails_parks_its_item_and_keeps_the_work() {
    let mut world = World::of("a, b: a, c");
    world.produce("a");
    world.step(Event::EffectFailed(world.effect("a"), "no space left on device".to_owned()));
    assert_eq!(world.states(), "a Parked, b Blocked, c Queued");
    assert_eq!(world.parked()[0].kept.len(), 1);
    world.requeue("a");
    world.complete("a");
}

#[test]
fn an_item_is_landed_only_when_the_target_has_it_and_until_then_its_work_is_known_w5() {
    let (mut world, verifier) = verifying(plan("a, b: a"));
    world.say(&verifier, LeaseEvent::Evidence(verifier.checked(Ending::Exit(0))));
    assert_eq!(world.states(), "a Landing, b Waiting");
    world.restart();
    let Some(Action::Land(land)) = world.actions.first() else { panic!("{:?}", world.actions) };
    assert_eq!((&land.head, &land.candidate.tree), (&commit("w1"), &tree("t")));
    world.land("a");
    assert_eq!(world.states(), "a Landed, b Queued");
}

#[test]
fn a_result_that_the_hub_refuses_is_repaired_whatever_it_says() {
    for reasons in [vec![], vec!["the bundle's objects are broken".to_owned()]] {
        let mut world = World::of("a");
        let worker = world.take("a");
        world.say(&worker, LeaseEvent::Result(work("w")));
        world.step(Event::Inspected(world.effect("a"), Inspection::Refused(reasons)));
        assert_eq!(world.state("a"), "Queued");
        assert!(matches!(world.published("a").last().unwrap().work, Work::Repair(_)));
        assert!(world.outcomes("a")[0].starts_with("kept out: the "), "{:?}", world.outcomes("a"));
    }
}

#[test]
fn what_goes_into_the_journal_is_bounded() {
    let mut world = World::of("a");
    world.produce("a");
    let paths: Vec<String> =
        (0..50).map(|n| format!("src/{n}/{}", "\u{1}".repeat(4_000))).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    world.conflict("a", "other", &paths);
    let worker = world.take("a");
    world.say(&worker, failed(&"é".repeat(30_000)));
    let limit = text::TEXT_BYTES_MAX + 100;
    for record in &world.journal {
        match &record.fact {
            Fact::Item(_, ItemFact::Refuted(refutation)) => {
                let findings = &refutation.defect.findings;
                assert!(findings.iter().all(|finding| finding.len() <= limit));
                assert!(findings[0].contains("bytes more"), "{}", findings[0]);
            }
            Fact::Item(_, ItemFact::Ended(_, _, reason)) => assert!(reason.len() <= limit),
            _ => {}
        }
    }
}
