//! Names stay apart, and the server's configuration is what it was.

use super::*;

#[test]
fn tokens_are_safe_and_come_back() {
    let texts = [
        "", "a", "a.b", "a*", "a>", "..", ".", "/", "a b", "=", "=2E", "é", "e\u{301}", "🎼",
        "\"q\"", "%41", "a:b", "-", "A", "x\0y",
    ];
    let mut seen = std::collections::BTreeSet::new();
    for text in texts {
        let token = token(text);
        assert!(!token.is_empty());
        assert!(token.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-=".contains(&b)), "{token}");
        assert_eq!(untoken(&token).as_deref(), Some(text));
        assert!(seen.insert(token), "{text:?} is not kept apart");
    }
}

#[test]
fn forged_tokens_are_refused() {
    for forged in ["", "a.b", "=2e", "=41", "=4", "=ZZ", "=FF", "a=", "é", "=+1"] {
        assert_eq!(untoken(forged), None, "{forged:?}");
    }
}

#[test]
fn ids_cannot_add_tokens_to_a_subject() {
    let subject = work(
        &RoleName::new("a.>").unwrap(),
        &RunId::new("r.*").unwrap(),
        &ItemId::new("x y.z").unwrap(),
        AttemptNumber(3),
    );
    assert_eq!(subject, "cantus.work.a=2E=3E.normal.r=2E=2A.x=20y=2Ez.3");
}

#[test]
fn the_server_configuration_is_as_reviewed() {
    let role = RoleName::new("code r").unwrap();
    let check = RoleName::new("check").unwrap();
    let users = [
        (BusUser::Coordinator, "c\"\\".to_owned()),
        (BusUser::Pool, "p".to_owned()),
        (BusUser::Worker(role), "w".to_owned()),
        (BusUser::Verifier(check), "v".to_owned()),
    ];
    let config = server_config(4222, Some(8222), "/data", &users);
    assert_eq!(config, include_str!("golden_server.conf"), "\n{config}");
}
