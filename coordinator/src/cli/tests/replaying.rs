//! The past of a run on the command line, from a journal that the real core wrote.

use serde_json::Value;

use super::fake::{Answers, Fake};
use super::{Exit, Ran, cantus};
use crate::replay::tests::{entries_of, past};

fn fake() -> Fake {
    let past = past();
    Fake::start(Answers {
        journal: entries_of(&past, "nightly"),
        artifact: vec![past.plan],
        ..Answers::default()
    })
}

async fn replay(fake: &Fake, line: &[&str]) -> Ran {
    cantus(fake.home(), &[&["replay", "nightly"], line].concat()).await
}

#[tokio::test]
async fn any_moment_is_shown_as_status_shows_it() {
    let fake = fake();
    let then = replay(&fake, &["--at", "4"]).await;
    assert_eq!(
        then.out,
        "after sequence 4, 2026-11-30T18:14:23Z\n\
         run nightly  running\n\
         spent 0 tokens (750 reserved)\n\
         ● base     working      1/2     0.0s  worker-1 on alpha\n\
         └─ · next  waiting                    needs base\n\
         [░░░░░░░░░░░░░░░░░░░░░░░░]  0/2  0%  2m00s  1 working, 1 waiting\n",
        "{then:?}"
    );
    let end = replay(&fake, &[]).await;
    assert!(end.out.contains("run nightly  failed") && end.exit == Exit::Ok, "{end:?}");
    let time = replay(&fake, &["--until", "2026-11-30T18:14:53Z"]).await;
    assert!(time.out.contains("base     working      1/2      30s"), "{time:?}");
    let json = replay(&fake, &["--until", "2026-11-30T18:14:53Z", "--json"]).await;
    let document: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(
        (&document["sequence"], &document["items"][0]["state"]),
        (&4.into(), &"working".into())
    );
    let item = replay(&fake, &["--at", "4", "--item", "base"]).await;
    assert!(item.out.contains("item base of run nightly: ● working for 0.0s"), "{item:?}");
    assert!(item.out.contains("1. produce  leased"), "{item:?}");
    let asked = fake.asked.lock().unwrap().clone();
    assert!(asked[0] == "journal nightly" && asked[1].starts_with("artifact "), "{asked:?}");
}

#[tokio::test]
async fn points_are_listed_and_compared() {
    let fake = fake();
    let list = replay(&fake, &["--list", "--at", "5"]).await;
    let lines: Vec<&str> = list.out.lines().collect();
    assert_eq!(
        lines[..4],
        [
            "SEQ  TIME                  ITEM   WHAT",
            "  2  2026-11-30T18:12:23Z  (run)  submitted with 2 items",
            "  2  2026-11-30T18:12:23Z  base   attempt 1 (produce) queued",
            "  4  2026-11-30T18:14:23Z  base   attempt 1 leased by worker-1 on alpha",
        ],
    );
    let none = replay(&fake, &["--list", "--item", "next"]).await;
    assert_eq!(none.out, "nothing was decided about it up to there\n");
    let diff = replay(&fake, &["--diff", "4", "7"]).await;
    let title =
        "run nightly from sequence 4, 2026-11-30T18:14:23Z to sequence 7, 2026-11-30T18:17:23Z\n";
    assert!(diff.out.starts_with(title), "{diff:?}");
    for said in [
        "(run)  state            running",
        "base   state            working",
        "base   attempt 1        produce leased  produce failed",
        "base   attempt 2        -               produce failed",
        "next   state            waiting",
    ] {
        assert!(diff.out.contains(said), "{said}\n{}", diff.out);
    }
    let same = replay(&fake, &["--diff", "4", "2026-11-30T18:14:30Z"]).await;
    assert!(same.out.ends_with("\nnothing is otherwise\n"), "{same:?}");
    let json = replay(&fake, &["--diff", "4", "7", "--item", "next", "--json"]).await;
    let document: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(document["changes"].as_array().unwrap().len(), 1, "{document}");
    assert_eq!(document["changes"][0]["before"], "waiting");
}

#[tokio::test]
async fn what_was_not_is_told() {
    let fake = fake();
    let early = replay(&fake, &["--at", "1"]).await;
    assert_eq!(early.exit, Exit::Usage);
    assert!(
        early.notes.contains("run nightly was not there yet: it began with sequence 2"),
        "{early:?}"
    );
    let late = replay(&fake, &["--diff", "4", "70"]).await;
    assert!(late.exit == Exit::Usage && late.notes.contains("70 is still to come"), "{late:?}");
    let nobody = replay(&fake, &["--item", "nobody"]).await;
    assert!(
        nobody.exit == Exit::Usage && nobody.notes.contains("has no item \"nobody\""),
        "{nobody:?}"
    );
    let unknown = Fake::start(Answers::default());
    let unknown = replay(&unknown, &[]).await;
    assert!(unknown.exit == Exit::Usage && unknown.notes.contains("no such run"), "{unknown:?}");
    let past = past();
    let torn = Fake::start(Answers {
        journal: entries_of(&past, "nightly"),
        artifact: vec![b"another plan".to_vec()],
        ..Answers::default()
    });
    let torn = replay(&torn, &[]).await;
    assert!(
        torn.exit == Exit::Internal
            && torn.notes.contains("the plan of run nightly cannot be fetched"),
        "{torn:?}"
    );
}
