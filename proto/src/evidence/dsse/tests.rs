//! Golden bytes of an envelope, and everything that must not open.

use super::super::samples::{coordinator_key, stranger_key, trust, verifier_key};
use super::*;

/// Made with Python's `cryptography` from the key of 32 bytes 0x01.
const GOLDEN: &str = concat!(
    r#"{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[{"keyid":""#,
    "7ab6b86cb2c9684b0ddc10896153aa2595decf4d4327a5ff1a8ab7422c828b12",
    r#"","sig":""#,
    "veLg0e+f4poyS3YRJakfMGqcWCOKpK/odygGjhTkwZv0V+Om/OfLlEQ57kTgEM0N02igz2ne/YdGZ1SOWajECA==",
    r#""}]}"#
);

fn reason(envelope: &str) -> DsseError {
    open(envelope.as_bytes(), trust().verifier()).unwrap_err()
}

#[test]
fn pae_is_the_published_vector() {
    assert_eq!(
        pae("http://example.com/HelloWorld", b"hello world"),
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    );
    assert_eq!(pae("é", b""), "DSSEv1 2 é 0 ".as_bytes());
}

#[test]
fn the_bytes_of_an_envelope_stay() {
    assert_eq!(String::from_utf8(sign(b"{}", &verifier_key())).unwrap(), GOLDEN);
    let opened = open(GOLDEN.as_bytes(), trust().verifier()).unwrap();
    assert_eq!(
        opened,
        Opened { payload: b"{}".to_vec(), signer: verifier_key().verifying_key().id() }
    );
}

#[test]
fn a_changed_payload_signature_or_type_does_not_open() {
    assert!(matches!(reason(&GOLDEN.replace("e30=", "W10=")), DsseError::Changed { .. }));
    let other = String::from_utf8(sign(b"[]", &verifier_key())).unwrap();
    let signature = |json: &str| json.split(r#""sig":""#).nth(1).unwrap().to_owned();
    let swapped = GOLDEN.replace(&signature(GOLDEN), &signature(&other));
    assert!(matches!(reason(&swapped), DsseError::Changed { .. }));
    let typed = reason(&GOLDEN.replace("vnd.in-toto", "vnd.other"));
    assert!(matches!(typed, DsseError::PayloadType { .. }), "{typed}");
}

#[test]
fn the_key_decides_and_the_key_id_does_not() {
    let id = |key: &SigningKey| key.verifying_key().id().to_string();
    let (mine, theirs) = (id(&verifier_key()), id(&stranger_key()));
    let lying = String::from_utf8(sign(b"{}", &stranger_key())).unwrap().replace(&theirs, &mine);
    assert!(matches!(reason(&lying), DsseError::Changed { .. }));
    for hint in [theirs.as_str(), "", "anything"] {
        let envelope = GOLDEN.replace(&mine, hint);
        assert!(open(envelope.as_bytes(), trust().verifier()).is_ok(), "{hint}");
    }
    let without = GOLDEN.replace(&format!(r#""keyid":"{mine}","#), "");
    assert!(open(without.as_bytes(), trust().verifier()).is_ok());
    let stranger = String::from_utf8(sign(b"{}", &stranger_key())).unwrap();
    let text = reason(&stranger).to_string();
    assert!(text.contains(&theirs) && text.contains("1 trusted keys"), "{text}");
    // A coordinator's key says nothing about tests.
    let wrong_kind = String::from_utf8(sign(b"{}", &coordinator_key())).unwrap();
    assert!(matches!(reason(&wrong_kind), DsseError::Untrusted { .. }));
}

#[test]
fn signatures_of_others_do_no_harm() {
    let others = GOLDEN.replace(
        r#""signatures":["#,
        r#""signatures":[{"keyid":"rsa","sig":"AAAA"},{"sig":"","cert":"x"},"#,
    );
    assert!(open(others.as_bytes(), trust().verifier()).is_ok());
}

#[test]
fn what_is_no_envelope_is_named() {
    assert!(matches!(reason("{}"), DsseError::Json(_)));
    assert!(matches!(
        reason(&GOLDEN.replace("e30=", "e30")),
        DsseError::Base64 { field: "payload", .. }
    ));
    assert!(matches!(reason(&GOLDEN.replace("e30=", "e31=")), DsseError::Base64 { .. }));
    assert!(matches!(reason(&GOLDEN.replace("e30=", "e3 0=")), DsseError::Base64 { .. }));
    assert!(matches!(reason(&GOLDEN.replace("e30=", "_-8=")), DsseError::Base64 { .. }));
    assert!(matches!(
        reason(&GOLDEN.replace(r#""sig":""#, r#""sig":"%"#)),
        DsseError::Base64 { field: "sig", .. }
    ));
    let none = r#"{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[]}"#;
    assert!(matches!(reason(none), DsseError::Signatures { count: 0 }));
    let many = vec![r#"{"sig":"AA=="}"#; 17].join(",");
    assert!(matches!(
        reason(&none.replace("[]", &format!("[{many}]"))),
        DsseError::Signatures { count: 17 }
    ));
    assert!(matches!(reason(&" ".repeat(ENVELOPE_BYTES_MAX + 1)), DsseError::TooLarge { .. }));
}
