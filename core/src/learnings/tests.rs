//! Tests of learnings: exact values, and the edges.

use std::sync::Arc;

use cantus_proto::ids::{AttemptNumber, RoleName, RunId};

use super::entry::overlap;
use super::*;
use crate::tests::samples;

fn learning(rule: &str) -> Learning {
    Learning {
        id: LearningId::of(rule),
        context: String::new(),
        discovery: String::new(),
        rule: rule.to_owned(),
        check: None,
    }
}

fn origin(role: &str, path: &str) -> Origin {
    Origin {
        role: RoleName::new(role).unwrap(),
        paths: vec![path.to_owned()],
        ..Origin::of(&RunId::new("run").unwrap(), &samples::item(), AttemptNumber(1))
    }
}

/// Absorbs these rules, each a moment later than the one before.
fn memory(found: &[(&str, &str, &str)]) -> Memory {
    let mut memory = Memory::default();
    for (at, (rule, role, path)) in (1..).zip(found) {
        memory.absorb(&learning(rule), origin(role, path), Millis(at));
    }
    memory
}

fn picked(memory: &Memory) -> Vec<String> {
    let rule = |id: &LearningId| memory.get(id).unwrap().learning.rule.clone();
    memory.pick(&samples::item()).iter().map(rule).collect()
}

#[test]
fn the_same_rule_is_known_and_confirmed() {
    let mut memory = Memory::default();
    let place = || origin("worker", "src/");
    assert!(memory.absorb(&learning("Run make first"), place(), Millis(5)));
    assert!(!memory.absorb(&learning("run  MAKE first"), origin("other", "docs/"), Millis(3)));
    // The same attempt again.
    assert!(!memory.absorb(&learning("Run make first"), origin("other", "docs/"), Millis(4)));
    let known: Vec<&Entry> = memory.entries().collect();
    assert_eq!(known.len(), 1);
    assert_eq!(
        (known[0].seen, known[0].at, &known[0].origin),
        (2, Millis(5), &origin("other", "docs/"))
    );
    assert_eq!(known[0].learning.rule, "Run make first");
}

#[test]
fn what_says_nothing_or_too_much_is_not_kept() {
    let mut memory = Memory::default();
    let mut absorb =
        |rule: &str| memory.absorb(&learning(rule), origin("worker", "src/"), Millis(1));
    assert!(!absorb("  "));
    assert!(!absorb(&"x".repeat(4_097)));
    assert!(absorb(&"x".repeat(4_096)));
}

#[test]
fn the_least_confirmed_and_then_the_oldest_goes() {
    let mut memory = Memory::default();
    let mut absorb = |rule: usize, at| {
        let rule = format!("rule {rule}");
        let origin = Origin { attempt: AttemptNumber(at), ..origin("worker", "src/") };
        memory.absorb(&learning(&rule), origin, Millis(u64::from(at)))
    };
    for rule in 0..LEARNINGS_MAX {
        assert!(absorb(rule, 100));
    }
    // All but these two are found again; the older of the two goes, then the other, then each newcomer.
    for rule in (0..LEARNINGS_MAX).filter(|rule| ![7, 8].contains(rule)) {
        absorb(rule, 101);
    }
    assert!(absorb(1_000, 300));
    assert!(absorb(1_001, 300));
    assert!(absorb(1_002, 300));
    let has = |rule: usize| memory.get(&LearningId::of(&format!("rule {rule}"))).is_some();
    assert_eq!(memory.entries().count(), LEARNINGS_MAX);
    assert_eq!([0, 7, 8, 1_002].map(has), [true, false, false, true]);
    assert_eq!(u32::from(has(1_000)) + u32::from(has(1_001)), 1);
}

#[test]
fn scope_goes_before_role_before_confirmation_before_age() {
    let mut memory = memory(&[
        ("elsewhere", "other", "docs/"),
        ("role", "worker", "docs/"),
        ("scope, old", "other", "src/parser/"),
        ("scope, new", "other", "**"),
        ("both", "worker", "src"),
    ]);
    assert_eq!(picked(&memory), ["both", "scope, new", "scope, old", "role", "elsewhere"]);
    let applied = LearningCheck { id: LearningId::of("scope, old"), applied: true };
    memory.checked(std::slice::from_ref(&applied));
    assert_eq!(picked(&memory)[1..3], ["scope, old", "scope, new"]);
}

#[test]
fn an_attempt_is_told_twelve_at_most_and_four_kibibytes() {
    let rules: Vec<String> = (0..20).map(|n| format!("rule {n:02}")).collect();
    let found: Vec<_> = rules.iter().map(|rule| (rule.as_str(), "worker", "src/")).collect();
    let told = picked(&memory(&found));
    assert_eq!((told.len(), told[0].as_str(), told[11].as_str()), (12, "rule 19", "rule 08"));
    let short = "short".to_owned();
    let long = ["a", "b", "c"].map(|letter| letter.repeat(2_000));
    let found: Vec<_> = [&long[0], &long[1], &short, &long[2]]
        .map(|rule| (rule.as_str(), "worker", "src/"))
        .to_vec();
    // The newest first; what does not fit makes room for what does.
    let told = picked(&memory(&found));
    assert_eq!(told, [long[2].clone(), short, long[1].clone()]);
    assert!(Memory::default().pick(&samples::item()).is_empty());
}

#[test]
fn checks_are_counted_and_told() {
    let mut memory = memory(&[("a", "worker", "src/"), ("b", "worker", "src/")]);
    let check = |rule: &str, applied| LearningCheck { id: LearningId::of(rule), applied };
    let checks = [check("a", true), check("b", false), check("unknown", true)];
    memory.checked(&checks);
    let counts = |rule: &str| {
        let entry = memory.get(&LearningId::of(rule)).unwrap();
        (entry.applied, entry.ignored)
    };
    assert_eq!((counts("a"), counts("b")), ((1, 0), (0, 1)));
    let ids = ["b", "unknown", "a"].map(LearningId::of);
    let texts: Vec<String> = memory.texts(&ids).into_iter().map(|known| known.rule).collect();
    assert_eq!(texts, ["b", "a"]);
    let with_check = Learning { check: Some("make".to_owned()), ..learning("c") };
    memory.absorb(&with_check, origin("worker", "src/"), Millis(9));
    assert_eq!(memory.checkable(&["a", "c", "unknown"].map(LearningId::of)), [with_check.id]);
    assert_eq!(applied(&checks), "applied 2 of 3");
    assert_eq!(applied(&[]), "applied 0 of 0");
}

#[test]
fn scopes_overlap_as_far_as_they_are_plain() {
    for (a, b) in [("src/", "src/a.rs"), ("src", "src"), ("**", "x"), ("src/*.rs", "src/b/")] {
        assert!(overlap(a, b) && overlap(b, a), "{a} {b}");
    }
    for (a, b) in [("src/", "srcs/"), ("src/a.rs", "src/b.rs"), ("docs/", "src/*.rs")] {
        assert!(!overlap(a, b) && !overlap(b, a), "{a} {b}");
    }
    let mut item = samples::item();
    Arc::make_mut(&mut item.contract).allowed_scope.paths = vec!["docs/".to_owned()];
    let memory = memory(&[("in src", "other", "src/"), ("in docs", "other", "docs/a.md")]);
    assert_eq!(memory.pick(&item)[0], LearningId::of("in docs"));
}
