//! Tools that are not ours check what we sign, and we read what they write: the OpenSSL command line.
//!
//! The same for securesystemslib is in the workspace's `tests/`, as it needs a Python environment.

use std::path::Path;
use std::process::{Command, Output};

use super::attest::attest;
use super::dsse::{PAYLOAD_TYPE, pae};
use super::keys::{SigningKey, VerifyingKey};
use super::samples::{receipt, verifier_key};

fn openssl(directory: &Path, arguments: &[&str]) -> Output {
    let output = Command::new("openssl").current_dir(directory).args(arguments).output();
    output.expect("the openssl command is missing: install it (Debian: apt-get install openssl)")
}

fn ok(output: &Output) -> String {
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "openssl failed: {out}{err}");
    out.into_owned()
}

/// The payload and first signature of an envelope, taken apart without our parser.
fn taken_apart(envelope: &[u8]) -> (Vec<u8>, Vec<u8>) {
    use base64::Engine as _;
    let json: serde_json::Value = serde_json::from_slice(envelope).unwrap();
    let bytes = |value: &serde_json::Value| {
        base64::engine::general_purpose::STANDARD.decode(value.as_str().unwrap()).unwrap()
    };
    (bytes(&json["payload"]), bytes(&json["signatures"][0]["sig"]))
}

#[test]
fn openssl_verifies_our_envelopes() {
    let directory = tempfile::tempdir().unwrap();
    let write =
        |name: &str, bytes: &[u8]| std::fs::write(directory.path().join(name), bytes).unwrap();
    let evidence = attest(&receipt(0), &verifier_key()).unwrap();
    write("key.pem", verifier_key().verifying_key().to_pem().as_bytes());
    let verify = "pkeyutl -verify -pubin -inkey key.pem -rawin -in pae.bin -sigfile sig.bin";
    let arguments: Vec<_> = verify.split(' ').collect();
    for envelope in [&evidence.statement, &evidence.receipt] {
        let (payload, signature) = taken_apart(envelope);
        write("pae.bin", &pae(PAYLOAD_TYPE, &payload));
        write("sig.bin", &signature);
        assert!(ok(&openssl(directory.path(), &arguments)).contains("Verified Successfully"));
        write("pae.bin", &pae(PAYLOAD_TYPE, &[&payload[..], b" "].concat()));
        assert!(!openssl(directory.path(), &arguments).status.success());
    }
}

#[test]
fn openssl_reads_our_keys_and_we_read_its() {
    let directory = tempfile::tempdir().unwrap();
    let run =
        |arguments: &str| ok(&openssl(directory.path(), &arguments.split(' ').collect::<Vec<_>>()));
    std::fs::write(directory.path().join("ours.pem"), verifier_key().to_pem()).unwrap();
    let public = run("pkey -in ours.pem -pubout");
    assert_eq!(public, verifier_key().verifying_key().to_pem());
    let theirs = SigningKey::from_pem(&run("genpkey -algorithm ed25519")).unwrap();
    std::fs::write(directory.path().join("theirs.pem"), theirs.to_pem()).unwrap();
    let public = VerifyingKey::from_pem(&run("pkey -in theirs.pem -pubout")).unwrap();
    assert_eq!(public, theirs.verifying_key());
    let foreign = run("genpkey -algorithm x25519");
    assert!(SigningKey::from_pem(&foreign).is_err());
}
