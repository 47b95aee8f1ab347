//! One case per rule of judging a receipt.

use super::super::counts::TestCounts;
use super::super::samples::{receipt, trust, verifier_key};
use super::*;

fn ended(ending: Ending) -> Receipt {
    Receipt { ending, ..receipt(0) }
}

#[test]
fn exit_code_and_counts_decide() {
    let counts = |failed, errors| Some(TestCounts { passed: 612, failed, errors, skipped: 0 });
    assert_eq!(judge(&receipt(0)), Judgement::Passed);
    assert_eq!(judge(&Receipt { counts: counts(0, 0), ..receipt(0) }), Judgement::Passed);
    // W11: the run says that it is clean, and its own summary says otherwise.
    let unclean = judge(&Receipt { counts: counts(0, 1), ..receipt(0) });
    let Judgement::Failed(why) = unclean else { panic!("{unclean:?}") };
    assert_eq!(why, "612 passed, 0 failed, 1 errors, 0 skipped, although the exit code is 0");
    let failed = judge(&Receipt { counts: counts(2, 0), ..ended(Ending::Exit(1)) });
    let why = "exit code 1; 612 passed, 2 failed, 0 errors, 0 skipped".to_owned();
    assert_eq!(failed, Judgement::Failed(why));
    assert_eq!(
        judge(&ended(Ending::Signal(11))),
        Judgement::Failed("ended by signal 11".to_owned())
    );
}

#[test]
fn a_check_that_could_not_run_is_inconclusive() {
    for ending in [
        Ending::TimedOut,
        Ending::Signal(9),
        Ending::Exit(137),
        Ending::Exit(126),
        Ending::Exit(127),
    ] {
        let judgement = judge(&ended(ending));
        assert!(matches!(judgement, Judgement::Inconclusive(_)), "{ending:?} {judgement:?}");
        attest(&ended(ending), &verifier_key()).unwrap_err();
    }
}

#[test]
fn a_checker_must_not_change_what_it_checks() {
    let changed = Receipt { changed_files: vec!["a".to_owned(), "b c".to_owned()], ..receipt(0) };
    let why = "the checker changed tracked files: a, b c".to_owned();
    assert_eq!(judge(&changed), Judgement::Failed(why));
}

#[test]
fn what_is_attested_opens_and_names_its_receipt() {
    for (ending, outcome) in
        [(Ending::Exit(0), Outcome::Passed), (Ending::Exit(1), Outcome::Failed)]
    {
        let evidence = attest(&ended(ending), &verifier_key()).unwrap();
        let opened = dsse::open(&evidence.statement, trust().verifier()).unwrap();
        let result = TestResult::decode(&opened.payload).unwrap();
        assert_eq!(result.outcome, outcome);
        assert_eq!(result.receipt, Digest::of(&evidence.receipt));
        let opened = dsse::open(&evidence.receipt, trust().verifier()).unwrap();
        assert_eq!(Receipt::decode(&opened.payload).unwrap(), ended(ending));
    }
}
